//! The tables of a recording, a line for each column.

use lasthop_units::{DataRate, Duration, Time};

use super::table::{Batch, Cell, Column, Loss, Perhaps, Raw, Rows, Serial, Table, table};
use crate::detail::{CaState, Host, Passage, PpduKind};
use crate::{DropReason, FlowId, Hold, LinkId, NodeId, Outcome, QueueLayer};

table! {
    /// A PPDU on the air; those of a channel in the order in which they begin.
    "ppdu": Ppdu, Ppdus, PPDU {
        /// its number, counted from 0
        ppdu: Serial,
        /// when it begins
        start_ns: Time,
        /// how long it lasts
        duration_ns: Duration,
        /// for how long after its end its Duration field reserves the medium
        nav_ns: Duration,
        /// who sends it
        node: NodeId,
        /// for whom it is; null for a beacon and a CTS-to-self
        to: Option<NodeId>,
        /// who has begun the exchange that it belongs to
        initiator: NodeId,
        /// the link of the data that the exchange is about; null for a beacon
        link: Option<LinkId>,
        /// on which channel, counted from 0
        channel: u32,
        /// what it is
        kind: PpduKind,
        /// modulation and coding scheme; null where its mode has none, as control frames and all before 802.11n
        mcs: Option<u32>,
        /// spatial streams
        nss: u32,
        /// guard interval; 0 for DSSS
        gi_ns: u32,
        /// width of the channel that it fills
        width_mhz: u32,
        /// PHY rate
        rate_bps: DataRate,
        /// length of its PSDU
        bytes: u32,
        /// how many MPDUs it holds
        mpdus: u32,
        /// of these, how many its receiver decoded; null if the recording ends before it does
        decoded: Option<u32>,
        /// what the first that was not was lost to
        lost_to: Option<Loss>,
        /// a number for the exchange or TXOP that it belongs to: the same for PPDUs a SIFS apart
        exchange: Serial,
        /// of its MPDUs, how many were sent before; of what announces data, how many of those that follow
        retried: u32,
    }
}

table! {
    /// Packets of a flow, numbered one after another, that a data PPDU held, told at its end.
    "carries": Carried, Carries, CARRIES {
        /// which PPDU
        ppdu: Serial,
        /// which flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// number of the first packet; each direction of a flow counts from 1
        packet: Serial,
        /// how many packets, numbered on from there
        packets: u32,
        /// bytes of IP packets with data
        data_bytes: u32,
        /// bytes of pure TCP ACKs
        ack_bytes: u32,
        /// whether its receiver decoded their MPDUs
        decoded: bool,
    }
}

table! {
    /// A TCP segment as its host sends it, or as it arrives.
    "segment": Segment, Segments, SEGMENT {
        /// when
        t_ns: Time,
        /// which flow
        flow: FlowId,
        /// which connection of the flow, counted from 0
        connection: u32,
        /// the host at which this happens
        host: Host,
        /// true if the host sends it, false if it has arrived there
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
        /// SACK blocks
        sack_blocks: u32,
        /// left edge of the newest
        sack_left: Option<Serial>,
        /// right edge of the newest
        sack_right: Option<Serial>,
        /// whether some of it had been sent before; null where it arrives
        again: Option<bool>,
        /// true from the station to the server
        up: bool,
        /// number of its packet, counted from 1 in each direction of the flow
        packet: Serial,
    }
}

table! {
    /// A change of what bounds the sender of a flow, or of where its congestion control stands. Connections of a flow that
    /// has several at once are not told apart.
    "window": Window, Windows, WINDOW {
        /// when
        t_ns: Time,
        /// which flow
        flow: FlowId,
        /// congestion window in segments
        cwnd_segments: f64,
        /// slow-start threshold in segments; null as long as it is infinite
        ssthresh_segments: Perhaps,
        /// bytes in flight
        flight_bytes: u64,
        /// where its congestion control stands, as Linux calls it
        ca_state: CaState,
    }
}

table! {
    /// A sample of the RTT that a sender of a flow takes.
    "rtt": Rtt, Rtts, RTT {
        /// when
        t_ns: Time,
        /// which flow
        flow: FlowId,
        /// the sample
        rtt_ns: Duration,
        /// the RTT that the controller works with, where it has one of its own
        controller_rtt_ns: Option<Duration>,
    }
}

table! {
    /// The contents of a node's interface queue, at each change.
    "queue": Queue, Queues, QUEUE {
        /// when
        t_ns: Time,
        /// whose
        node: NodeId,
        /// all packets
        packets: u32,
        /// of these, pure TCP ACKs
        tcp_acks: u32,
    }
}

table! {
    /// A packet that is dropped.
    "drop": Drop, Drops, DROP {
        /// when
        t_ns: Time,
        /// by whom; the AP for its wired link
        node: NodeId,
        /// where it waited
        layer: QueueLayer,
        /// why
        reason: DropReason,
        /// of which flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// its number, counted from 1 in each direction of the flow
        packet: Serial,
        /// whether it is a pure TCP ACK
        tcp_ack: bool,
        /// whether it had arrived all the same, and only its acknowledgement had not
        arrived: bool,
    }
}

table! {
    /// A backoff that is drawn; that of a newcomer counts only if its wait is interrupted.
    "backoff": Backoff, Backoffs, BACKOFF {
        /// when
        t_ns: Time,
        /// by whom
        node: NodeId,
        /// for which of its channel access functions, the one with the highest priority first
        function: u32,
        /// how many slots
        slots: u32,
        /// from which contention window
        cw: u32,
    }
}

table! {
    /// A change of what the ends of a flow wait for.
    "waits": Wait, Waits, WAITS {
        /// when
        t_ns: Time,
        /// which flow
        flow: FlowId,
        /// what keeps the sender from sending more
        hold: Hold,
        /// whether an end awaits an answer until a timer sends again what is not acknowledged
        awaits_answer: bool,
        /// whether an end withholds an ACK
        withholds_ack: bool,
    }
}

table! {
    /// A change of the rate at which a rate control starts.
    "rate": Rate, Rates, RATE {
        /// when
        t_ns: Time,
        /// of which link
        link: LinkId,
        /// the new rate
        rate_bps: DataRate,
        /// whether it is lower than the one before
        down: bool,
        /// what became of the attempt before the change
        after: Outcome,
    }
}

table! {
    /// A packet that gets somewhere.
    "step": Step, Steps, STEP {
        /// when
        t_ns: Time,
        /// where to: from its host (`sent`), into and out of a queue, off the MAC, onto the wire, to its host (`received`)
        what: Passage,
        /// at which node; the AP for its wired link, the station for both hosts
        node: NodeId,
        /// of which flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// its number, counted from 1 in each direction of the flow
        packet: Serial,
    }
}

/// All tables.
pub static TABLES: [&Table; 11] =
    [&PPDU, &CARRIES, &SEGMENT, &WINDOW, &RTT, &QUEUE, &DROP, &BACKOFF, &WAITS, &RATE, &STEP];

/// Names for several tables at once.
pub static GROUPS: [(&str, &[&Table]); 4] =
    [("air", &[&PPDU, &CARRIES]), ("tcp", &[&SEGMENT, &WINDOW, &RTT]), ("queue", &[&QUEUE, &DROP]), ("all", &TABLES)];

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
        assert_eq!(names("air"), Some(vec!["ppdu", "carries"]));
        assert_eq!(names("queue"), Some(vec!["queue", "drop"]));
        assert_eq!(names("segment"), Some(vec!["segment"]));
        assert_eq!(names("all").map(|all| all.len()), Some(11));
        assert_eq!(names("sky"), None);
    }
}
