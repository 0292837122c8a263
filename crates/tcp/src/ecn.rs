//! Agreement on explicit congestion notification.
//!
//! ```text
//!   SYN   AE CWR ECE        SYN+ACK   AE CWR ECE
//!   none   0   0   0        none       0   0   0
//!   RFC 3168  0   1   1     RFC 3168   0   0   1
//!   accurate  1   1   1     accurate: how the SYN arrived, 0 1 0 without a mark
//! ```
//! Source: RFC 3168 §6.1.1, RFC 9768 §3.1. Leaves out: the AccECN options.

use lasthop_units::Ecn;

use crate::config::{Config, EcnUse};
use crate::congestion_control::{MarkReports, Needs};
use crate::segment::Flags;

/// The kind of report by which the sender learns of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Feedback {
    /// No ECN.
    #[default]
    Off,
    /// One bit, until the sender has answered. [RFC 3168 §6.1.3]
    Classic,
    /// A counter of marked packets. [RFC 9768 §3.2]
    Accurate,
}

/// The kinds of feedback that this side supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// requested in the own SYN
    asks: Feedback,
    /// agreed to at most
    accepts: Feedback,
}

impl Wish {
    /// The wish of an endpoint. A controller that depends on marks asks for them whatever the key says.
    pub fn of(config: &Config, needs: Needs) -> Wish {
        let wish = |asks, accepts| Wish { asks, accepts };
        match (needs.marks, config.ecn) {
            (MarkReports::Counted, _) | (_, EcnUse::Accurate) => wish(Feedback::Accurate, Feedback::Accurate),
            (MarkReports::EachPacket, _) | (_, EcnUse::On) => wish(Feedback::Classic, Feedback::Classic),
            (_, EcnUse::Passive) => wish(Feedback::Off, Feedback::Classic),
            (_, EcnUse::Off) => wish(Feedback::Off, Feedback::Off),
        }
    }

    /// Returns whether the own SYN asks for accurate feedback.
    pub fn is_accurate(self) -> bool {
        self.asks == Feedback::Accurate
    }

    /// Flags of the own SYN.
    pub fn syn_flags(self) -> Flags {
        match self.asks {
            Feedback::Off => Flags::NONE,
            Feedback::Classic => Flags::ECE | Flags::CWR,
            Feedback::Accurate => Flags::AE | Flags::CWR | Flags::ECE,
        }
    }

    /// The feedback agreed on by the peer's SYN and this side. An accurate SYN reads as classic where only that is
    /// known.
    pub fn answer_to(self, syn: Flags) -> Feedback {
        if !syn.contains(Flags::ECE | Flags::CWR) {
            return Feedback::Off;
        }
        match self.accepts {
            Feedback::Accurate if syn.contains(Flags::AE) => Feedback::Accurate,
            Feedback::Accurate | Feedback::Classic => Feedback::Classic,
            Feedback::Off => Feedback::Off,
        }
    }

    /// The feedback to which the peer's SYN+ACK has agreed.
    pub fn agreed_by(self, syn_ack: Flags) -> Feedback {
        let bits = ace(syn_ack);
        match (self.asks, bits) {
            // [RFC 9768 §3.1.2, table 2]: 0b111 is a reflection, 0b101 and 0b001 are classic.
            (Feedback::Off, _) | (_, 0b000 | 0b111) => Feedback::Off,
            (_, 0b001) | (Feedback::Accurate, 0b101) => Feedback::Classic,
            (Feedback::Accurate, _) => Feedback::Accurate,
            (Feedback::Classic, _) => Feedback::Off,
        }
    }
}

/// Flags of a SYN+ACK; `syn_ecn` is the field that the SYN arrived with.
pub(crate) fn syn_ack_flags(agreed: Feedback, syn_ecn: Ecn) -> Flags {
    match agreed {
        Feedback::Off => Flags::NONE,
        Feedback::Classic => Flags::ECE,
        Feedback::Accurate => with_ace(handshake_code(syn_ecn)),
    }
}

/// The code by which an answer reports the ECN field of a SYN or SYN+ACK. [RFC 9768 §3.1.1, tables 2 and 3]
pub(crate) fn handshake_code(arrived: Ecn) -> u8 {
    match arrived {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The ACE field. [RFC 9768 §3.1]
pub(crate) fn ace(flags: Flags) -> u8 {
    (flags.bits() >> 6 & 0b111) as u8
}

/// Flags with that ACE field, and nothing else.
pub(crate) fn with_ace(value: u8) -> Flags {
    Flags::from_bits(u16::from(value & 0b111) << 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(ecn: EcnUse) -> Wish {
        Wish::of(&Config { ecn, ..Config::default() }, Needs::NONE)
    }

    /// The feedback at both ends once the client's SYN and the answer are through.
    fn agreement(client: EcnUse, server: EcnUse) -> (Feedback, Feedback) {
        let at_server = wish(server).answer_to(wish(client).syn_flags());
        (wish(client).agreed_by(syn_ack_flags(at_server, Ecn::NotEct)), at_server)
    }

    #[test]
    fn both_ends_come_to_the_same_and_the_lesser_of_both() {
        use EcnUse::{Accurate, Off, On, Passive};
        for (client, server, both) in [
            (Off, On, Feedback::Off),
            (Passive, On, Feedback::Off),
            (On, Off, Feedback::Off),
            (On, Passive, Feedback::Classic),
            (On, Accurate, Feedback::Classic),
            (Accurate, Passive, Feedback::Classic),
            (Accurate, Off, Feedback::Off),
            (Accurate, Accurate, Feedback::Accurate),
        ] {
            assert_eq!(agreement(client, server), (both, both), "{client:?} {server:?}");
        }
    }

    #[test]
    fn a_reflected_syn_is_no_agreement() {
        for ecn in [EcnUse::On, EcnUse::Accurate] {
            assert_eq!(wish(ecn).agreed_by(wish(ecn).syn_flags() | Flags::AE), Feedback::Off);
        }
        assert_eq!(wish(EcnUse::On).agreed_by(Flags::ECE | Flags::CWR), Feedback::Off, "[RFC 3168 §6.1.1]");
    }

    #[test]
    fn syn_ack_encodes_the_ecn_field_of_the_syn() {
        assert_eq!(syn_ack_flags(Feedback::Accurate, Ecn::NotEct), Flags::CWR);
        assert_eq!(syn_ack_flags(Feedback::Accurate, Ecn::Ce), Flags::AE | Flags::CWR);
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(ace(with_ace(handshake_code(ecn))), handshake_code(ecn));
        }
    }
}
