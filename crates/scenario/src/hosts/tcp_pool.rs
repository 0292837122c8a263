//! Several TCP connections of one flow at a time, each with an endpoint at either end.
//!
//! A connection is numbered when it is opened and forgotten when both ends have closed it, without their TIME-WAIT. The
//! queue of the sender's own host is not watched (`own_queue`): what these flows send from a station is requests.

use std::collections::VecDeque;

use lasthop_engine::Stream;
use lasthop_observe::{FlowId, Hold, Observer, Record};
use lasthop_tcp::{Config, Endpoint, Segment, State};
use lasthop_units::Time;

use super::Side;
use super::flow::Waiting;

/// A request and its answer, in bytes of their streams.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    request_ends: u64,
    answer: u64,
    answer_ends: u64,
    answered: bool,
}

/// One of them.
pub(super) struct Connection {
    number: u32,
    /// by [`Side`]
    ends: [Endpoint; 2],
    exchanges: VecDeque<Exchange>,
    /// bytes of all requests, and of all answers to them
    asked: u64,
    promised: u64,
    closing: bool,
    pub(super) opened_at: Time,
    delivered: u64,
    timeouts: u64,
    acks_missing: u64,
    rtt_samples: u64,
}

/// See the module.
pub(super) struct Pool {
    flow: FlowId,
    config: Config,
    /// Initial sequence numbers.
    iss: Stream,
    connections: Vec<Connection>,
    opened: u32,
    armed: [Time; 2],
    delivered: u64,
    written: u64,
}

impl Connection {
    fn end(&mut self, side: Side) -> &mut Endpoint {
        &mut self.ends[side as usize]
    }

    /// Requests without their whole answer.
    fn unanswered(&self) -> usize {
        self.exchanges.len()
    }

    fn is_over(&self) -> bool {
        self.ends.iter().all(|end| matches!(end.state(), State::Closed | State::TimeWait))
    }

    fn has_failed(&self) -> bool {
        self.ends.iter().any(|end| end.failure().is_some())
    }

    /// The server answers the requests that have arrived in full; how many bytes.
    fn answer(&mut self) -> u64 {
        let arrived = self.end(Side::Sender).delivered_bytes();
        let mut written = 0;
        for exchange in self.exchanges.iter_mut().filter(|e| !e.answered && e.request_ends <= arrived) {
            exchange.answered = true;
            written += exchange.answer;
        }
        if written > 0 {
            self.end(Side::Sender).write(written);
        }
        written
    }

    /// Whether the oldest answer has arrived in full; answered once, with its size.
    fn take_answer(&mut self) -> Option<u64> {
        let arrived = self.end(Side::Receiver).delivered_bytes();
        let first = self.exchanges.front()?;
        if arrived < first.answer_ends {
            return None;
        }
        self.exchanges.pop_front().map(|exchange| exchange.answer)
    }
}

impl Pool {
    pub(super) fn new(flow: FlowId, config: Config, iss: Stream) -> Pool {
        let armed = [Time::NEVER; 2];
        Pool { flow, config, iss, connections: Vec::new(), opened: 0, armed, delivered: 0, written: 0 }
    }

    /// A new connection that `side` opens.
    pub(super) fn open(&mut self, now: Time, side: Side) -> u32 {
        let mut endpoint = || Endpoint::new(&self.config, (self.iss.bits() >> 32) as u32);
        let mut ends = [endpoint(), endpoint()];
        let (opener, listener) = (side as usize, 1 - side as usize);
        ends[listener].listen();
        ends[opener].connect(now);
        self.opened += 1;
        self.connections.push(Connection {
            number: self.opened,
            ends,
            exchanges: VecDeque::new(),
            asked: 0,
            promised: 0,
            closing: false,
            opened_at: now,
            delivered: 0,
            timeouts: 0,
            acks_missing: 0,
            rtt_samples: 0,
        });
        self.opened
    }

    /// The open connection with the fewest unanswered requests, and how many; the oldest of several.
    pub(super) fn idlest(&self) -> Option<(u32, usize)> {
        let open = self.connections.iter().filter(|c| !c.closing);
        open.map(|c| (c.number, c.unanswered())).min_by_key(|&(number, unanswered)| (unanswered, number))
    }

    /// Connections that nobody has begun to close.
    pub(super) fn open_connections(&self) -> usize {
        self.connections.iter().filter(|c| !c.closing).count()
    }

    fn get(&mut self, number: u32) -> Option<&mut Connection> {
        self.connections.iter_mut().find(|c| c.number == number)
    }

    /// The receiver asks over this connection for `answer` bytes.
    pub(super) fn ask(&mut self, number: u32, request: u64, answer: u64) {
        let Some(connection) = self.get(number) else { return };
        connection.asked += request;
        connection.promised += answer;
        let (request_ends, answer_ends) = (connection.asked, connection.promised);
        connection.exchanges.push_back(Exchange { request_ends, answer, answer_ends, answered: false });
        connection.end(Side::Receiver).write(request);
    }

    /// The sender writes all it will write on this connection.
    pub(super) fn send_and_close(&mut self, now: Time, number: u32, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
        let Some(connection) = self.get(number) else { return };
        connection.promised = bytes;
        connection.closing = true;
        let sender = connection.end(Side::Sender);
        sender.write(bytes);
        sender.close(now);
    }

    /// The receiver closes all connections.
    pub(super) fn close_all(&mut self, now: Time) {
        for connection in self.connections.iter_mut().filter(|c| !c.closing) {
            connection.closing = true;
            connection.end(Side::Receiver).close(now);
        }
    }

    /// Gives up connections that one end has given up; true if one of them was in use.
    pub(super) fn drop_failed(&mut self) -> bool {
        let lost = self.connections.iter().any(|c| c.has_failed() && !c.closing);
        self.connections.retain(|c| !c.has_failed());
        lost
    }

    /// A segment arrives at `side`.
    pub(super) fn arrive(
        &mut self,
        now: Time,
        side: Side,
        segment: &Segment,
        number: u32,
        observer: &mut impl Observer,
    ) {
        let flow = self.flow;
        // Otherwise it is a straggler of a connection that is over.
        let Some(index) = self.connections.iter().position(|c| c.number == number) else { return };
        let connection = &mut self.connections[index];
        connection.end(side).handle_segment(now, segment);
        if side == Side::Sender {
            self.written = self.written.saturating_add(connection.answer());
        }
        connection.report(now, flow, side, observer);
        if connection.end(side).state() == State::CloseWait {
            connection.closing = true;
            connection.end(side).close(now);
        }
        let delivered = connection.end(Side::Receiver).delivered_bytes();
        if delivered > connection.delivered {
            let bytes = delivered - connection.delivered;
            connection.delivered = delivered;
            self.delivered += bytes;
            observer.observe(now, Record::Delivered { flow, bytes });
        }
    }

    /// The next answer that has arrived in full: its size.
    pub(super) fn take_answer(&mut self) -> Option<u64> {
        self.connections.iter_mut().find_map(Connection::take_answer)
    }

    /// Forgets the next connection on which all that the sender wrote is acknowledged; when it was opened.
    pub(super) fn take_completed(&mut self) -> Option<Time> {
        let done = |c: &mut Connection| c.promised > 0 && c.ends[0].acked_bytes() >= c.promised;
        let connection = self.connections.iter_mut().find_map(|c| done(c).then_some(c))?;
        connection.promised = 0;
        Some(connection.opened_at)
    }

    /// Forgets what is over.
    pub(super) fn tidy(&mut self) {
        self.connections.retain(|c| !c.is_over());
    }

    /// The next segment of `side`; with `held_back` none with data of the sender.
    pub(super) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        observer: &mut impl Observer,
    ) -> Option<(Segment, u32)> {
        let flow = self.flow;
        for connection in &mut self.connections {
            let end = connection.end(side);
            let before = end.counters().segments_retransmitted;
            let segment = if held_back { end.poll_control(now) } else { end.poll_transmit(now) };
            let Some(segment) = segment else { continue };
            if segment.payload > 0 && side == Side::Sender {
                let retransmission = end.counters().segments_retransmitted > before;
                observer.observe(now, Record::SegmentSent { flow, retransmission });
            }
            return Some((segment, connection.number));
        }
        None
    }

    pub(super) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        let due = self.connections.iter_mut().map(|c| c.end(side).poll_timeout()).min()?;
        let armed = &mut self.armed[side as usize];
        (due < *armed).then(|| {
            *armed = due;
            due
        })
    }

    pub(super) fn timer_fires(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        // Events that were overtaken by an earlier one come and find nothing due.
        if self.armed[side as usize] <= now {
            self.armed[side as usize] = Time::NEVER;
        }
        for connection in &mut self.connections {
            if connection.end(side).poll_timeout() <= now {
                connection.end(side).handle_timeout(now);
                connection.report(now, self.flow, side, observer);
            }
        }
    }

    /// What the ends of all connections wait for: the first that waits for anything but its application.
    pub(super) fn waiting(&self, now: Time) -> Waiting {
        let idle = Waiting { hold: Hold::Application, awaits_answer: false, withholds_ack: false };
        self.connections.iter().map(|c| Waiting::of([&c.ends[0], &c.ends[1]], now)).fold(idle, |sum, of| Waiting {
            hold: if sum.hold == Hold::Application { of.hold } else { sum.hold },
            awaits_answer: sum.awaits_answer || of.awaits_answer,
            withholds_ack: sum.withholds_ack || of.withholds_ack,
        })
    }

    pub(super) fn check_conservation(&self) -> Result<(), String> {
        if self.delivered <= self.written {
            return Ok(());
        }
        Err(format!("flow {}: {} bytes were delivered, {} written", self.flow.0, self.delivered, self.written))
    }
}

impl Connection {
    /// What changed at the data's sender.
    fn report(&mut self, now: Time, flow: FlowId, side: Side, observer: &mut impl Observer) {
        if side == Side::Receiver {
            return;
        }
        let sender = &self.ends[Side::Sender as usize];
        let counters = sender.counters();
        if sender.rtt_samples() != self.rtt_samples {
            self.rtt_samples = sender.rtt_samples();
            if let Some(sample) = sender.latest_rtt() {
                observer.observe(now, Record::Rtt { flow, sample, controller: sender.controller_rtt() });
            }
        }
        for _ in self.timeouts..counters.timeouts {
            observer.observe(now, Record::Timeout { flow });
        }
        self.timeouts = counters.timeouts;
        if counters.ack_losses_detected > self.acks_missing {
            let missing = counters.ack_losses_detected - self.acks_missing;
            self.acks_missing = counters.ack_losses_detected;
            observer.observe(now, Record::AckLoss { flow, missing });
        }
        let (cwnd, ssthresh) = (sender.cwnd_segments(), sender.ssthresh_segments());
        observer.observe(now, Record::Window { flow, cwnd, ssthresh, flight_bytes: sender.flight_size_bytes() });
    }
}
