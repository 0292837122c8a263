//! The tables of a recording, a line for each column.

use lasthop_units::{DataRate, Duration, Time};

use super::quic::LossTrigger;
use super::table::{Batch, Cell, Column, Loss, Perhaps, QuicEvent, Raw, Rows, Serial, Table, table};
use crate::detail::{CaState, Host, Passage, PpduKind, QuicFrameKind, QuicSpace};
use crate::{DropReason, FlowId, Hold, LinkId, NodeId, Outcome, QueueLayer};

table! {
    /// A PPDU on the air, in the order in which the PPDUs of a channel begin.
    "ppdu": Ppdu, Ppdus, PPDU {
        /// number, from 0
        ppdu: Serial,
        /// start
        start_ns: Time,
        /// duration
        duration_ns: Duration,
        /// time after its end for which its Duration field reserves the medium
        nav_ns: Duration,
        /// sender
        node: NodeId,
        /// receiver; null for a beacon and a CTS-to-self
        to: Option<NodeId>,
        /// initiator of its exchange
        initiator: NodeId,
        /// link of the data of its exchange; null for a beacon
        link: Option<LinkId>,
        /// channel, from 0; one to which BSSs move has the next number
        channel: u32,
        /// frame type
        kind: PpduKind,
        /// modulation and coding scheme; null for control frames and for all frames before 802.11n
        mcs: Option<u32>,
        /// spatial streams
        nss: u32,
        /// guard interval; 0 for DSSS
        gi_ns: u32,
        /// channel width
        width_mhz: u32,
        /// PHY rate
        rate_bps: DataRate,
        /// length of the PSDU
        bytes: u32,
        /// number of MPDUs
        mpdus: u32,
        /// number of MPDUs that the receiver decoded; null if the recording ends before the PPDU
        decoded: Option<u32>,
        /// cause of loss of the first MPDU that was not decoded
        lost_to: Option<Loss>,
        /// number of its exchange or TXOP: the same for PPDUs a SIFS apart
        exchange: Serial,
        /// number of its MPDUs that were sent before; for a frame that announces data, of the MPDUs that follow
        retried: u32,
        /// tones of the resource unit of a part of a PPDU of several users, which has a line for each part; else null
        ru_tones: Option<u32>,
        /// place of the unit among those of its size, in order of frequency, from 0
        ru_place: Option<u32>,
    }
}

table! {
    /// Packets of a flow, numbered one after another, in a data PPDU, recorded at its end.
    "carries": Carried, Carries, CARRIES {
        /// number of the PPDU
        ppdu: Serial,
        /// flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// number of the first packet; each direction of a flow counts from 1
        packet: Serial,
        /// number of packets, numbered on from there
        packets: u32,
        /// bytes of IP packets with data
        data_bytes: u32,
        /// bytes of pure TCP ACKs
        ack_bytes: u32,
        /// whether the receiver decoded their MPDUs
        decoded: bool,
    }
}

table! {
    /// A TCP segment that a host sends or that arrives at one.
    "segment": Segment, Segments, SEGMENT {
        /// time
        t_ns: Time,
        /// flow
        flow: FlowId,
        /// connection of the flow, from 0
        connection: u32,
        /// host
        host: Host,
        /// true if the host sends it, false if it arrives there
        sent: bool,
        /// sequence number
        seq: Serial,
        /// acknowledgement number
        ack: Serial,
        /// bytes of payload
        len: u32,
        /// window field, not scaled
        window: u32,
        /// control bits as in the header, FIN the lowest
        flags: u32,
        /// number of SACK blocks
        sack_blocks: u32,
        /// left edge of the newest SACK block
        sack_left: Option<Serial>,
        /// right edge of the newest SACK block
        sack_right: Option<Serial>,
        /// whether some of its data was sent before; null if it arrives
        again: Option<bool>,
        /// true from the station to the server
        up: bool,
        /// number of its packet, from 1 in each direction of the flow
        packet: Serial,
        /// bytes of its IP packet; of a capture with an IPv4 header without options
        packet_bytes: u32,
    }
}

table! {
    /// A frame of a QUIC packet that a host sends or that arrives at one, an ACK with a row for each of its ranges, the newest
    /// first; or a packet that its sender declares lost.
    "quic": Quic, Quics, QUIC {
        /// time
        t_ns: Time,
        /// flow
        flow: FlowId,
        /// connection of the flow, from 0
        connection: u32,
        /// host
        host: Host,
        /// event of the packet there
        event: QuicEvent,
        /// packet number space
        space: QuicSpace,
        /// packet number
        number: Serial,
        /// length of the QUIC packet; 0 if it is lost
        bytes: u32,
        /// kind of the frame, by qlog's name; null if the packet is lost
        frame: Option<QuicFrameKind>,
        /// stream of the frame; of frames about a number of streams 0 for bidirectional ones, 2 for others
        stream: Option<u32>,
        /// offset of data, limit of a frame that sets or reports one, connection ID, error code of a connection, or type of an unknown frame
        offset: u64,
        /// bytes of data or padding, sequence number of a connection ID, or error code of a stream
        len: u32,
        /// whether the data is the last of its stream
        fin: bool,
        /// first packet of the range that an ACK acknowledges
        acked_first: Option<Serial>,
        /// last packet of that range
        acked_last: Option<Serial>,
        /// rule by which the packet was declared lost; null for others
        trigger: Option<LossTrigger>,
        /// true from the station to the server
        up: bool,
        /// number of its IP packet, from 1 in each direction of the flow; 0 if it is lost
        packet: Serial,
    }
}

table! {
    /// A change of a sender's limits or of its state of congestion control. Simultaneous connections of a flow are not
    /// distinguished.
    "window": Window, Windows, WINDOW {
        /// time
        t_ns: Time,
        /// flow
        flow: FlowId,
        /// congestion window in segments
        cwnd_segments: f64,
        /// slow-start threshold in segments; null while it is infinite
        ssthresh_segments: Perhaps,
        /// bytes in flight
        flight_bytes: u64,
        /// state of congestion control, by Linux's name
        ca_state: CaState,
    }
}

table! {
    /// An RTT sample of a sender.
    "rtt": Rtt, Rtts, RTT {
        /// time
        t_ns: Time,
        /// flow
        flow: FlowId,
        /// the sample
        rtt_ns: Duration,
        /// the controller's own RTT, if it has one
        controller_rtt_ns: Option<Duration>,
    }
}

table! {
    /// The length of a node's interface queue, at each change.
    "queue": Queue, Queues, QUEUE {
        /// time
        t_ns: Time,
        /// node
        node: NodeId,
        /// number of packets
        packets: u32,
        /// number of pure TCP ACKs among them
        tcp_acks: u32,
    }
}

table! {
    /// A dropped packet.
    "drop": Drop, Drops, DROP {
        /// time
        t_ns: Time,
        /// node; the AP for its wired link
        node: NodeId,
        /// queue in which it waited
        layer: QueueLayer,
        /// reason
        reason: DropReason,
        /// flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// number, from 1 in each direction of the flow
        packet: Serial,
        /// whether it is a pure TCP ACK
        tcp_ack: bool,
        /// whether it had arrived, and only its acknowledgement was lost
        arrived: bool,
    }
}

table! {
    /// A backoff that is drawn; a newcomer's counts only if its wait is interrupted.
    "backoff": Backoff, Backoffs, BACKOFF {
        /// time
        t_ns: Time,
        /// node
        node: NodeId,
        /// number of its channel access function, the one with the highest priority first
        function: u32,
        /// number of slots
        slots: u32,
        /// contention window
        cw: u32,
    }
}

table! {
    /// A change of the reasons why the ends of a flow wait.
    "waits": Wait, Waits, WAITS {
        /// time
        t_ns: Time,
        /// flow
        flow: FlowId,
        /// reason why the sender sends no more
        hold: Hold,
        /// whether an end awaits an answer until a retransmission timer expires
        awaits_answer: bool,
        /// whether an end withholds an ACK
        withholds_ack: bool,
    }
}

table! {
    /// A change of the rate at which a rate control starts.
    "rate": Rate, Rates, RATE {
        /// time
        t_ns: Time,
        /// link
        link: LinkId,
        /// the new rate
        rate_bps: DataRate,
        /// whether it is lower than the one before
        down: bool,
        /// outcome of the attempt before the change
        after: Outcome,
    }
}

table! {
    /// A burst of an interferer.
    "interferer": Burst, Bursts, INTERFERER {
        /// start
        start_ns: Time,
        /// duration
        duration_ns: Duration,
        /// its number in the scenario, from 0
        interferer: u32,
        /// its power relative to the interferer's `power`
        level_db: f64,
    }
}

table! {
    /// A packet that passes a place on its way.
    "step": Step, Steps, STEP {
        /// time
        t_ns: Time,
        /// place: sent by its host, into or out of a queue, done by the MAC, into or out of the wire, received by its host
        what: Passage,
        /// node; the AP for its wired link, the station for both hosts
        node: NodeId,
        /// flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// number, from 1 in each direction of the flow
        packet: Serial,
    }
}

/// All tables.
pub static TABLES: [&Table; 13] =
    [&PPDU, &CARRIES, &SEGMENT, &QUIC, &WINDOW, &RTT, &QUEUE, &DROP, &BACKOFF, &WAITS, &RATE, &STEP, &INTERFERER];

/// Names for several tables at once.
pub static GROUPS: [(&str, &[&Table]); 4] = [
    ("air", &[&PPDU, &CARRIES, &INTERFERER]),
    ("tcp", &[&SEGMENT, &WINDOW, &RTT]),
    ("queue", &[&QUEUE, &DROP]),
    ("all", &TABLES),
];

/// Some of the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen(u16);

impl Chosen {
    /// The tables of a group, or the one of this name.
    pub fn named(name: &str) -> Option<Chosen> {
        let group = GROUPS.iter().find(|(of, _)| *of == name).map(|(_, tables)| *tables);
        let alone = || TABLES.iter().position(|table| table.name == name).map(|place| &TABLES[place..=place]);
        let of = |tables: &[&Table]| tables.iter().fold(Chosen::default(), |all, table| all.and(Chosen::bit(table)));
        group.or_else(alone).map(of)
    }

    fn bit(table: &Table) -> Chosen {
        let place = TABLES.iter().position(|of| of.name == table.name).expect("all tables are listed");
        Chosen(1 << place)
    }

    /// These tables and others.
    #[must_use]
    pub fn and(self, others: Chosen) -> Chosen {
        Chosen(self.0 | others.0)
    }

    /// The same for a scenario without interferers: the group `air` leaves their table out.
    #[must_use]
    pub fn without_interferers(self) -> Chosen {
        let others = self.0 & !Chosen::bit(&INTERFERER).0;
        let is_all = TABLES.iter().all(|table| self.has(table));
        if others == 0 || is_all { self } else { Chosen(others) }
    }

    /// Whether `table` is among these.
    pub fn has(self, table: &Table) -> bool {
        self.0 & Chosen::bit(table).0 != 0
    }

    /// These tables, in their order.
    pub fn tables(self) -> impl Iterator<Item = &'static Table> {
        TABLES.into_iter().filter(move |table| self.has(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_group_or_of_a_table() {
        let names = |name: &str| Chosen::named(name).map(|c| c.tables().map(|t| t.name).collect::<Vec<_>>());
        assert_eq!(names("air"), Some(vec!["ppdu", "carries", "interferer"]));
        assert_eq!(names("queue"), Some(vec!["queue", "drop"]));
        assert_eq!(names("segment"), Some(vec!["segment"]));
        assert_eq!(names("all").map(|all| all.len()), Some(13));
        assert_eq!(names("sky"), None);
    }
}
