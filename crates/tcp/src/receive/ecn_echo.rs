//! Reports of received marks in ACKs.
//!
//! - Classic: ECE on every ACK from a mark on, until the sender sets CWR. [RFC 3168 §6.1.3]
//! - DCTCP: ECE reports exactly the segments that the ACK covers; where the marks begin or end while an ACK is
//!   withheld, earlier data is acknowledged first. [RFC 8257 §3.2]
//! - Accurate: the ACE field counts marked packets, modulo 8 [RFC 9768 §3.2.2]; an option counts bytes (`byte_counters`).

use lasthop_units::Ecn;

use super::byte_counters::ByteCounters;
use crate::congestion_control::{MarkReports, Needs};
use crate::ecn::{Feedback, handshake_code, with_ace};
use crate::segment::Flags;

/// Most marked packets between two ACKs before one goes out at once. [RFC 9768 §3.2.2.5.1]
const MARKS_UNREPORTED: u32 = 2;
/// Start of the counter of marked packets. [RFC 9768 §3.2.1]
const FIRST_COUNT: u32 = 5;

/// Effect of an arrival on ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    Nothing,
    /// the sender is to learn of it at once
    Tell,
    /// likewise, and a withheld ACK goes out before, with these flags
    TellApart(Flags),
}

/// A receiver's reports of CE marks to the sender, with the marks not yet reported.
#[derive(Clone, Debug, Default)]
pub(super) enum EcnEcho {
    #[default]
    Off,
    Classic {
        demands_cwr: bool,
    },
    Dctcp {
        marked: bool,
    },
    Accurate {
        count: u32,
        unreported: u32,
        marked: bool,
        /// ECN field of the peer's SYN+ACK, if that is not yet answered
        handshake: Option<Ecn>,
        /// for the option, if it may be sent
        bytes: Option<Box<ByteCounters>>,
    },
}

impl EcnEcho {
    /// `syn_ack_ecn` is the ECN field of the peer's SYN+ACK, if this side opened; `bytes` are for the option, if it may be sent.
    pub fn new(needs: Needs, feedback: Feedback, syn_ack_ecn: Option<Ecn>, bytes: Option<ByteCounters>) -> Self {
        match feedback {
            Feedback::Off => EcnEcho::Off,
            Feedback::Classic if needs.marks == MarkReports::EachPacket => EcnEcho::Dctcp { marked: false },
            Feedback::Classic => EcnEcho::Classic { demands_cwr: false },
            Feedback::Accurate => {
                let count = FIRST_COUNT + u32::from(syn_ack_ecn == Some(Ecn::Ce));
                let bytes = bytes.map(Box::new);
                EcnEcho::Accurate { count, unreported: 0, marked: false, handshake: syn_ack_ecn, bytes }
            }
        }
    }

    /// Flags of a segment that acknowledges.
    pub fn flags(&self) -> Flags {
        match self {
            EcnEcho::Classic { demands_cwr: true } | EcnEcho::Dctcp { marked: true } => Flags::ECE,
            EcnEcho::Accurate { handshake: Some(arrived), .. } => with_ace(handshake_code(*arrived)),
            EcnEcho::Accurate { count, .. } => with_ace(*count as u8),
            _ => Flags::NONE,
        }
    }

    /// Takes note of such a segment sent.
    pub fn on_ack_sent(&mut self) {
        if let EcnEcho::Accurate { unreported, handshake, .. } = self {
            *unreported = 0;
            *handshake = None;
        }
    }

    /// The counters for the option, if it may be sent.
    pub fn bytes(&self) -> Option<&ByteCounters> {
        match self {
            EcnEcho::Accurate { bytes, .. } => bytes.as_deref(),
            _ => None,
        }
    }

    pub fn bytes_mut(&mut self) -> Option<&mut ByteCounters> {
        match self {
            EcnEcho::Accurate { bytes, .. } => bytes.as_deref_mut(),
            _ => None,
        }
    }

    /// Packets that arrived with a mark.
    pub fn marked_packets(&self) -> u32 {
        match self {
            EcnEcho::Accurate { count, .. } => count - FIRST_COUNT,
            _ => 0,
        }
    }

    /// Takes in a packet without data or FIN: its mark counts, and asks for no ACK. [RFC 9768 §3.2.1]
    pub fn on_control(&mut self, ecn: Ecn) {
        if let EcnEcho::Accurate { count, unreported, .. } = self {
            *count += u32::from(ecn == Ecn::Ce);
            *unreported += u32::from(ecn == Ecn::Ce);
        }
    }

    /// Takes in data that had arrived before; with the option in use it counts like any other. [RFC 9768 §3.2.1]
    pub fn on_data_again(&mut self, ecn: Ecn, length: u32) {
        if self.bytes().is_some() {
            self.on_control(ecn);
        }
        if let Some(bytes) = self.bytes_mut() {
            bytes.count(ecn, length);
        }
    }

    /// Has the next ACK report how a repeated SYN+ACK arrived. [RFC 9768 §3.2.2.1]
    pub fn on_syn_ack_again(&mut self, ecn: Ecn) {
        if let EcnEcho::Accurate { handshake, .. } = self {
            *handshake = Some(ecn);
        }
    }

    /// Takes in a packet with `length` bytes of data under `ecn`, and with CWR where `flags` has it.
    pub fn on_data(&mut self, ecn: Ecn, flags: Flags, length: u32) -> Reaction {
        let before = self.flags();
        let is_marked = ecn == Ecn::Ce;
        match self {
            EcnEcho::Off => Reaction::Nothing,
            EcnEcho::Classic { demands_cwr } => {
                let had_cwr = flags.contains(Flags::CWR);
                let demanded = core::mem::replace(demands_cwr, is_marked || (*demands_cwr && !had_cwr));
                if had_cwr || *demands_cwr != demanded { Reaction::Tell } else { Reaction::Nothing }
            }
            EcnEcho::Dctcp { marked } => {
                if core::mem::replace(marked, is_marked) == is_marked {
                    return Reaction::Nothing;
                }
                Reaction::TellApart(before)
            }
            EcnEcho::Accurate { count, unreported, marked, bytes, .. } => {
                let changes = bytes.as_mut().is_some_and(|bytes| bytes.count(ecn, length));
                let begins = changes || !core::mem::replace(marked, is_marked) && is_marked;
                *count += u32::from(is_marked);
                *unreported += u32::from(is_marked);
                if begins || *unreported >= MARKS_UNREPORTED { Reaction::Tell } else { Reaction::Nothing }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_echoes_until_the_sender_has_answered() {
        let mut echo = EcnEcho::Classic { demands_cwr: false };
        assert_eq!(echo.on_data(Ecn::Ect0, Flags::ACK, 1000), Reaction::Nothing);
        assert_eq!(echo.on_data(Ecn::Ce, Flags::ACK, 1000), Reaction::Tell);
        assert_eq!(echo.on_data(Ecn::Ect0, Flags::ACK, 1000), Reaction::Nothing);
        assert_eq!(echo.flags(), Flags::ECE);
        assert_eq!(echo.on_data(Ecn::Ect0, Flags::CWR, 1000), Reaction::Tell);
        assert_eq!(echo.flags(), Flags::NONE);
        echo.on_data(Ecn::Ce, Flags::CWR, 1000);
        assert_eq!(echo.flags(), Flags::ECE, "a mark on the segment that answers is a new one");
    }

    #[test]
    fn dctcp_receiver_echoes_each_change_of_marks() {
        let mut echo = EcnEcho::Dctcp { marked: false };
        assert_eq!(echo.on_data(Ecn::Ect0, Flags::ACK, 1000), Reaction::Nothing);
        assert_eq!(echo.on_data(Ecn::Ce, Flags::ACK, 1000), Reaction::TellApart(Flags::NONE));
        assert_eq!(echo.on_data(Ecn::Ce, Flags::CWR, 1000), Reaction::Nothing, "CWR means nothing here");
        assert_eq!(echo.on_data(Ecn::Ect0, Flags::ACK, 1000), Reaction::TellApart(Flags::ECE));
    }

    #[test]
    fn the_accurate_counter_begins_at_five_and_wraps() {
        let mut echo =
            EcnEcho::Accurate { count: FIRST_COUNT, unreported: 0, marked: false, handshake: None, bytes: None };
        assert_eq!(echo.flags(), with_ace(5));
        assert_eq!(echo.on_data(Ecn::Ce, Flags::ACK, 1000), Reaction::Tell, "the first");
        echo.on_ack_sent();
        assert_eq!(echo.on_data(Ecn::Ce, Flags::ACK, 1000), Reaction::Nothing);
        assert_eq!(echo.on_data(Ecn::Ce, Flags::ACK, 1000), Reaction::Tell, "two unreported");
        assert_eq!(echo.flags(), with_ace(0), "5 + 3 = 8");
    }

    #[test]
    fn accurate_receiver_reports_each_mark_after_an_unmarked_segment() {
        // RFC 9768 §3.2.2.5.1: "whenever a data packet marked CE arrives after the previous packet was not CE".
        let mut echo =
            EcnEcho::Accurate { count: FIRST_COUNT, unreported: 0, marked: false, handshake: None, bytes: None };
        for _ in 0..3 {
            assert_eq!(echo.on_data(Ecn::Ect1, Flags::ACK, 1000), Reaction::Nothing);
            assert_eq!(echo.on_data(Ecn::Ce, Flags::ACK, 1000), Reaction::Tell);
            echo.on_ack_sent();
        }
    }
}
