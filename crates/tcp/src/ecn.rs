//! Agreement on explicit congestion notification.
//!
//! ```text
//!   SYN   AE CWR ECE        SYN+ACK   AE CWR ECE
//!   none   0   0   0        none       0   0   0
//!   RFC 3168  0   1   1     RFC 3168   0   0   1
//!   accurate  1   1   1     accurate: how the SYN arrived, 0 1 0 without a mark
//! ```
//! Source: RFC 3168 §6.1.1, RFC 9768 §3.1 and §3.2.2.3. The option is in `receive::byte_counters`.

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
            (_, EcnUse::OnAccurate) => wish(Feedback::Classic, Feedback::Accurate),
            (_, EcnUse::PassiveAccurate) => wish(Feedback::Off, Feedback::Accurate),
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

    /// The feedback agreed on by the peer's SYN and this side. An accurate SYN reads as classic where only that is known.
    /// Combinations that are not in use yet read as a request for accurate feedback. [RFC 9768 §3.1.3]
    pub fn answer_to(self, syn: Flags) -> Feedback {
        match (self.accepts, ace(syn)) {
            (Feedback::Off, _) | (_, 0b000) => Feedback::Off,
            (Feedback::Accurate, 0b011) => Feedback::Classic,
            (Feedback::Accurate, _) => Feedback::Accurate,
            (Feedback::Classic, 0b011 | 0b111) => Feedback::Classic,
            (Feedback::Classic, _) => Feedback::Off,
        }
    }

    /// The feedback to which the peer's SYN+ACK has agreed.
    pub fn agreed_by(self, syn_ack: Flags) -> Feedback {
        let bits = ace(syn_ack);
        match (self.asks, bits) {
            // [RFC 9768 §3.1.2, table 2]: 0b111 is a reflection, 0b001 is classic; 0b101 is reserved, and reads as accurate
            // [§3.1.3].
            (Feedback::Off, _) | (_, 0b000 | 0b111) => Feedback::Off,
            (_, 0b001) => Feedback::Classic,
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

/// The ECN field that such a code reports, if it is one. [RFC 9768 §3.2.2.1, table 4]
pub(crate) fn handshake_ecn(code: u8) -> Option<Ecn> {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().find(|ecn| handshake_code(*ecn) == code)
}

/// True if the path has changed the ECN field of a packet in a way that no congestion explains: only ECT becomes CE.
/// [RFC 9768 §3.2.2.3]
pub(crate) fn is_mangled(sent: Ecn, arrived: Ecn) -> bool {
    sent != arrived && (sent == Ecn::NotEct || arrived != Ecn::Ce)
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
        use EcnUse::{Accurate, Off, On, OnAccurate, Passive, PassiveAccurate};
        for (client, server, both) in [
            (Off, On, Feedback::Off),
            (Passive, On, Feedback::Off),
            (On, Off, Feedback::Off),
            (On, Passive, Feedback::Classic),
            (On, Accurate, Feedback::Classic),
            (Accurate, Passive, Feedback::Classic),
            (Accurate, Off, Feedback::Off),
            (Accurate, Accurate, Feedback::Accurate),
            (Accurate, PassiveAccurate, Feedback::Accurate),
            (Accurate, OnAccurate, Feedback::Accurate),
            (OnAccurate, Accurate, Feedback::Classic),
            (PassiveAccurate, Accurate, Feedback::Off),
        ] {
            assert_eq!(agreement(client, server), (both, both), "{client:?} {server:?}");
        }
    }

    #[test]
    fn server_answers_each_syn_as_the_tables_say() {
        // [RFC 9768 §3.1.2, table 2, and §3.1.3]: AE CWR ECE of the SYN, and the feedback of an AccECN server
        let accurate = Feedback::Accurate;
        let rows = [Feedback::Off, accurate, accurate, Feedback::Classic, accurate, accurate, accurate, accurate];
        for (bits, expected) in (0..8).zip(rows) {
            assert_eq!(wish(EcnUse::Accurate).answer_to(with_ace(bits)), expected, "{bits:03b}");
        }
    }

    #[test]
    fn client_reads_each_syn_ack_as_the_tables_say() {
        // [RFC 9768 §3.1.2, table 2]: AE CWR ECE of the SYN+ACK; 101 is reserved, and reads as accurate [§3.1.3]
        let accurate = Feedback::Accurate;
        let rows = [Feedback::Off, Feedback::Classic, accurate, accurate, accurate, accurate, accurate, Feedback::Off];
        for (bits, expected) in (0..8).zip(rows) {
            assert_eq!(wish(EcnUse::Accurate).agreed_by(with_ace(bits)), expected, "{bits:03b}");
        }
    }

    #[test]
    fn only_marking_is_no_mangling() {
        // [RFC 9768 §3.2.2.3]
        use Ecn::{Ce, Ect0, Ect1, NotEct};
        for (sent, fine) in [(NotEct, &[NotEct][..]), (Ect0, &[Ect0, Ce]), (Ect1, &[Ect1, Ce]), (Ce, &[Ce])] {
            for arrived in [NotEct, Ect0, Ect1, Ce] {
                assert_eq!(is_mangled(sent, arrived), !fine.contains(&arrived), "{sent:?} {arrived:?}");
            }
        }
        assert_eq!([0, 1, 5, 7].map(handshake_ecn), [None; 4], "no codes of a handshake");
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
