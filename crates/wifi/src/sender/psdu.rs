//! What a sender is asked for, and what it gives: a PSDU for an opportunity to send.

use lasthop_observe::{LinkId, NodeId};
use lasthop_units::{Duration, Time};

use crate::ids::ExchangeId;
use crate::phy::ModeId;
use crate::ppdu::{Part, Ppdu, PpduKind, To};

/// An opportunity to send: won, or granted by somebody who has won.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// the radio that sends
    pub radio: NodeId,
    /// when its PPDU begins
    pub at: Time,
    /// with its response it must end by then, or is not sent; the same receiver as before. `None`: it comes first
    pub by: Option<Time>,
    /// when the TXOP ends, which only the first MPDU of a first PPDU may exceed
    pub txop_ends: Option<Time>,
}

/// A PSDU of one sender, for one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Psdu {
    pub kind: PpduKind,
    pub part: Part,
    /// the sender's agreement that it belongs to, where it has any
    pub agreement: u32,
    /// lengths of the MPDUs of an A-MPDU; empty if it is something else
    pub lengths: Vec<u32>,
    /// whether RTS/CTS is to precede it
    pub rts: bool,
    /// time on the air of its PPDU
    pub airtime: Duration,
    /// the same of the response to it
    pub response: Duration,
}

impl Psdu {
    /// None yet.
    pub(crate) fn new(radio: NodeId) -> Psdu {
        let part = Part { from: radio, to: To::Nobody, link: LinkId(0), mode: ModeId::default(), bytes: 0 };
        Psdu {
            kind: PpduKind::Data,
            part,
            agreement: 0,
            lengths: Vec::new(),
            rts: false,
            airtime: Duration::ZERO,
            response: Duration::ZERO,
        }
    }

    /// Its PPDU, sent at `at`.
    #[inline(always)]
    pub(crate) fn ppdu(&self, at: Time, sifs: Duration, exchange: ExchangeId) -> Ppdu {
        let reserves_until = at + self.airtime + sifs + self.response;
        Ppdu { kind: self.kind, first: self.part, more: None, airtime: self.airtime, reserves_until, exchange }
    }
}
