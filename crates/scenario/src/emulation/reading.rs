//! The state of a real flow as read from its packets: retransmissions, in-order data, and the reason why its sender
//! waits.
//!
//! Both ends are seen: a packet as it leaves its host and as it reaches the other. The only guess is the reason why a
//! sender with data stops sending; windows reveal two of the possible reasons.

use std::collections::BTreeMap;

use lasthop_observe::detail::TcpHeader;
use lasthop_observe::{FlowId, Hold, Step};
use lasthop_units::{Duration, Time};
use lasthop_wire::tcp::TcpFlags;

const SYN: u16 = TcpFlags::SYN.0;
const FIN: u16 = TcpFlags::FIN.0;
const ACK: u16 = TcpFlags::ACK.0;

/// The effect of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// bytes that have become in order at the receiver
    pub(super) delivered: u64,
    /// duration of a transfer, once its every byte is acknowledged
    pub(super) completed: Option<Duration>,
}

/// A flow, as read from its packets.
#[derive(Debug)]
pub(super) struct Reading {
    /// whether its data goes up
    up: bool,
    /// bytes of each of its transfers
    size: Option<u64>,
    connections: BTreeMap<u32, Connection>,
}

/// One connection of a flow, for data in the direction of the flow.
#[derive(Debug)]
struct Connection {
    opened_at: Time,
    /// sequence number of the first byte, once the sender's SYN was seen
    first: Option<u32>,
    /// end of sent data, counted from the first byte
    sent: u64,
    /// end of in-order data at the receiver
    in_order: u64,
    /// data beyond it: start to end
    islands: BTreeMap<u64, u64>,
    /// end of data acknowledged at the sender
    acknowledged: u64,
    /// end of data that the receiver has acknowledged
    answered: u64,
    /// end of the window known to the sender
    window_ends: u64,
    receiver_scale: u8,
    segment: u64,
    opened: bool,
    closed: bool,
    completed: bool,
}

impl Connection {
    fn new(opened_at: Time) -> Connection {
        Connection {
            opened_at,
            first: None,
            sent: 0,
            in_order: 0,
            islands: BTreeMap::new(),
            acknowledged: 0,
            answered: 0,
            window_ends: 0,
            receiver_scale: 0,
            segment: 0,
            opened: false,
            closed: false,
            completed: false,
        }
    }

    /// The position of `number` in the stream, near `about`: numbers wrap, positions do not. None before the first
    /// byte.
    fn place(&self, number: u32, about: u64) -> Option<u64> {
        let offset = number.wrapping_sub(self.first?);
        about.checked_add_signed(i64::from(offset.wrapping_sub(about as u32) as i32))
    }

    /// The sender sends data; true if some of it was sent before.
    fn sends(&mut self, header: &TcpHeader) -> bool {
        if header.flags & SYN != 0 {
            let again = self.first.is_some();
            self.first = Some(header.seq.wrapping_add(1));
            return again;
        }
        self.closed |= header.flags & FIN != 0;
        // A packet without data may have a number beyond a FIN, which is not a byte.
        let Some(start) = self.place(header.seq, self.sent).filter(|_| header.payload > 0) else { return false };
        let end = start + u64::from(header.payload);
        let again = start < self.sent;
        self.segment = self.segment.max(header.payload.into());
        self.sent = self.sent.max(end);
        again
    }

    /// Data reaches the receiver. Returns the bytes that are in order now.
    fn receives(&mut self, header: &TcpHeader) -> u64 {
        let Some(start) = self.place(header.seq, self.in_order).filter(|_| header.payload > 0) else { return 0 };
        let end = start + u64::from(header.payload);
        let before = self.in_order;
        if start > before {
            let island = self.islands.entry(start).or_insert(end);
            *island = end.max(*island);
            return 0;
        }
        self.in_order = before.max(end);
        while let Some(island) = self.islands.first_entry().filter(|island| *island.key() <= self.in_order) {
            self.in_order = self.in_order.max(island.remove());
        }
        self.in_order - before
    }

    /// The receiver sends an acknowledgement.
    fn answers(&mut self, header: &TcpHeader) {
        if header.flags & SYN != 0 {
            self.receiver_scale = header.options.and_then(|options| options.window_scale).unwrap_or(0);
        }
        if let Some(place) = self.acknowledgement(header, self.answered) {
            self.answered = self.answered.max(place.min(self.sent));
        }
    }

    /// An acknowledgement reaches the sender.
    fn hears(&mut self, header: &TcpHeader) {
        self.opened = true;
        let Some(place) = self.acknowledgement(header, self.acknowledged) else { return };
        // A FIN has a sequence number but no byte.
        self.acknowledged = self.acknowledged.max(place.min(self.sent));
        let scale = if header.flags & SYN != 0 { 0 } else { self.receiver_scale };
        self.window_ends = self.window_ends.max(place + (u64::from(header.window) << scale));
    }

    fn acknowledgement(&self, header: &TcpHeader, about: u64) -> Option<u64> {
        if header.flags & ACK == 0 { None } else { self.place(header.ack, about) }
    }

    fn hold(&self) -> Hold {
        if !self.opened {
            Hold::Opening
        } else if self.closed || self.completed {
            Hold::Application
        } else if self.sent + self.segment > self.window_ends {
            Hold::ReceiveWindow
        } else {
            Hold::CongestionWindow
        }
    }
}

impl Reading {
    /// A flow without packets so far; `size`: bytes of each transfer, where known.
    pub(super) fn new(up: bool, size: Option<u64>) -> Reading {
        Reading { up, size, connections: BTreeMap::new() }
    }

    fn connection(&mut self, header: &TcpHeader, now: Time) -> &mut Connection {
        self.connections.entry(header.connection).or_insert_with(|| Connection::new(now))
    }

    /// A segment leaves its host, up or down. For one with data in the direction of the flow, whether it was sent
    /// before.
    pub(super) fn sent(&mut self, now: Time, header: &TcpHeader, up: bool) -> Option<bool> {
        let of_data = up == self.up;
        let connection = self.connection(header, now);
        if !of_data {
            connection.answers(header);
            return None;
        }
        let again = connection.sends(header);
        (header.payload > 0).then_some(again)
    }

    /// A segment reaches the other host.
    pub(super) fn arrived(&mut self, now: Time, header: &TcpHeader, up: bool) -> News {
        let (of_data, size) = (up == self.up, self.size);
        let connection = self.connection(header, now);
        if of_data {
            return News { delivered: connection.receives(header), completed: None };
        }
        connection.hears(header);
        let done = !connection.completed && size.is_some_and(|size| connection.acknowledged >= size);
        connection.completed |= done;
        News { delivered: 0, completed: done.then(|| now.since(connection.opened_at)) }
    }

    /// Bytes that the connections have sent and that are not acknowledged at the sender.
    pub(super) fn flight_bytes(&self) -> u64 {
        self.connections.values().map(|connection| connection.sent.saturating_sub(connection.acknowledged)).sum()
    }

    /// The reason why its ends wait: that of the newest connection that is not done.
    pub(super) fn waits(&self, flow: FlowId) -> Step {
        let busy = || self.connections.values().rev();
        let hold = busy().map(Connection::hold).find(|hold| *hold != Hold::Application).unwrap_or(Hold::Application);
        Step::Waits {
            flow,
            hold,
            awaits_answer: busy().any(|of| !of.opened || of.sent > of.acknowledged),
            withholds_ack: busy().any(|of| of.in_order > of.answered),
        }
    }

    /// # Errors
    /// A sentence, if more has arrived than was sent.
    pub(super) fn check_conservation(&self, id: &str) -> Result<(), String> {
        let wrong = self.connections.iter().find(|(_, of)| of.in_order > of.sent || of.acknowledged > of.in_order);
        wrong.map_or(Ok(()), |(number, of)| {
            Err(format!(
                "flow {id}: of connection {number} {} bytes were sent, {} arrived and {} are acknowledged",
                of.sent, of.in_order, of.acknowledged
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation; the sender's SYN has number `first` - 1.
    struct Talk {
        reading: Reading,
        first: u32,
        now: Time,
    }

    impl Talk {
        fn new(first: u32, size: Option<u64>) -> Talk {
            let mut talk = Talk { reading: Reading::new(true, size), first, now: Time::ZERO };
            let syn = TcpHeader { seq: first.wrapping_sub(1), flags: SYN, ..talk.header(0, 0, 0) };
            assert_eq!(talk.reading.sent(talk.now, &syn, true), None);
            talk.reading.arrived(talk.now, &syn, true);
            talk.answer(0, 1000);
            talk
        }

        fn header(&self, start: u64, payload: u32, ack: u64) -> TcpHeader {
            TcpHeader {
                connection: 0,
                seq: self.first.wrapping_add(start as u32),
                ack: self.first.wrapping_add(ack as u32),
                window: 1000,
                flags: ACK,
                payload,
                options: None,
            }
        }

        fn send(&mut self, start: u64, payload: u32) -> Option<bool> {
            self.reading.sent(self.now, &self.header(start, payload, 0), true)
        }

        fn receive(&mut self, start: u64, payload: u32) -> u64 {
            let header = TcpHeader { seq: self.first.wrapping_add(start as u32), ..self.header(0, payload, 0) };
            self.reading.arrived(self.now, &header, true).delivered
        }

        fn answer(&mut self, ack: u64, window: u16) -> News {
            let header = TcpHeader { window, ..self.header(0, 0, ack) };
            self.reading.sent(self.now, &header, false);
            self.now += Duration::from_millis(1);
            self.reading.arrived(self.now, &header, false)
        }
    }

    #[test]
    fn data_beyond_a_hole_is_delivered_once_when_the_hole_fills() {
        // Numbers wrap in the middle.
        let mut talk = Talk::new(u32::MAX - 150, None);
        for start in [0, 100, 200, 300] {
            assert_eq!(talk.send(start, 100), Some(false));
        }
        assert_eq!(talk.receive(0, 100), 100);
        assert_eq!(talk.receive(200, 100), 0);
        assert_eq!(talk.receive(300, 100), 0);
        assert_eq!(talk.send(100, 100), Some(true));
        assert_eq!(talk.receive(100, 100), 300);
        assert_eq!(talk.receive(100, 100), 0);
        assert_eq!(talk.send(400, 100), Some(false));
    }

    #[test]
    fn a_transfer_is_complete_once_its_last_byte_is_acknowledged() {
        let mut talk = Talk::new(7, Some(200));
        talk.send(0, 100);
        talk.send(100, 100);
        assert_eq!(talk.reading.flight_bytes(), 200);
        talk.receive(0, 100);
        talk.receive(100, 100);
        assert_eq!(talk.answer(100, 1000).completed, None);
        let news = talk.answer(200, 1000);
        assert_eq!(news.completed, Some(Duration::from_millis(3)));
        assert_eq!(talk.answer(200, 1000).completed, None);
        assert_eq!(talk.reading.flight_bytes(), 0);
    }

    #[test]
    fn full_and_open_windows_are_distinct() {
        let hold = |talk: &Talk| match talk.reading.waits(FlowId(0)) {
            Step::Waits { hold, .. } => hold,
            other => panic!("{other:?}"),
        };
        let mut talk = Talk::new(1, None);
        talk.send(0, 600);
        assert_eq!(hold(&talk), Hold::ReceiveWindow);
        talk.receive(0, 600);
        talk.answer(600, 5000);
        talk.send(600, 600);
        assert_eq!(hold(&talk), Hold::CongestionWindow);
    }

    #[test]
    fn a_fin_is_no_byte() {
        let mut talk = Talk::new(1, None);
        talk.send(0, 100);
        talk.receive(0, 100);
        let fin = TcpHeader { flags: FIN | ACK, ..talk.header(100, 0, 0) };
        talk.reading.sent(talk.now, &fin, true);
        // An acknowledgement after the FIN has the number behind it, and so has its answer.
        let after = talk.header(101, 0, 0);
        talk.reading.sent(talk.now, &after, true);
        talk.answer(101, 1000);
        assert_eq!(talk.reading.flight_bytes(), 0);
        assert!(talk.reading.check_conservation("sta1.up").is_ok());
    }

    #[test]
    fn more_acknowledged_than_arrived_is_an_error() {
        let mut talk = Talk::new(1, None);
        talk.send(0, 100);
        assert!(talk.reading.check_conservation("sta1.up").is_ok());
        talk.answer(100, 1000);
        assert!(talk.reading.check_conservation("sta1.up").unwrap_err().contains("sta1.up"));
    }
}
