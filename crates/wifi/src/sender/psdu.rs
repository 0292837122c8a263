//! Opportunities to send, and the PSDUs that senders make for them.

use lasthop_observe::{LinkId, NodeId, Outcome};
use lasthop_units::{Bytes, Db, Duration, Time};

use crate::ids::ExchangeId;
use crate::phy::ModeId;
use crate::ppdu::{Part, Ppdu, PpduKind, To};

/// An opportunity to send, won or granted by a winner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    /// the radio that sends
    pub radio: NodeId,
    /// start of its PPDU
    pub at: Time,
    /// latest end of PPDU and response, for the same receiver as before; if they would end later, nothing is sent.
    /// `None`: the PPDU is the first
    pub by: Option<Time>,
    /// end of the TXOP, which only the first MPDU of a first PPDU may exceed
    pub txop_ends: Option<Time>,
    /// the agreement that is served, if it was chosen before
    pub agreement: Option<usize>,
    /// the longest PSDU, if it shares a PPDU with others; nothing is sent that does not fit
    pub most: Option<Bytes>,
}

impl Grant {
    /// An opportunity that `radio` has won.
    #[inline(always)]
    pub(crate) fn first(radio: NodeId, at: Time, txop_ends: Option<Time>) -> Grant {
        Grant { radio, at, by: None, txop_ends, agreement: None, most: None }
    }
}

/// A PSDU of one sender, for one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Psdu {
    pub kind: PpduKind,
    pub part: Part,
    /// the sender's agreement that it belongs to, if it has any
    pub agreement: u32,
    /// lengths of the MPDUs of an A-MPDU; empty if it is something else
    pub lengths: Vec<u32>,
    /// whether an Ack answers its MPDU
    pub is_legacy: bool,
    /// whether RTS/CTS is to precede it
    pub rts: bool,
    /// time on the air of its PPDU
    pub airtime: Duration,
    /// time on the air of the response
    pub response: Duration,
    /// time after the response that its Duration field covers too: a SIFS and the next exchange of the TXOP, or the rest of
    /// the TXOP [802.11-2020 §9.2.5.2]
    pub follows: Duration,
}

/// Result of an A-MPDU, as its sender knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tried {
    /// outcome of the whole
    pub outcome: Outcome,
    /// why the first lost MPDU was lost, if others arrived
    pub lost_to: Option<Outcome>,
    /// start of the exchange
    pub began: Time,
    /// signal-to-noise ratio at which the sender hears its peer, if it changes with time
    pub snr: Option<Db>,
}

impl Psdu {
    /// An empty PSDU.
    pub(crate) fn new(radio: NodeId) -> Psdu {
        let part = Part { from: radio, to: To::Nobody, link: LinkId(0), mode: ModeId::default(), bytes: 0, ru: None };
        Psdu {
            kind: PpduKind::Data,
            part,
            agreement: 0,
            lengths: Vec::new(),
            is_legacy: false,
            rts: false,
            airtime: Duration::ZERO,
            response: Duration::ZERO,
            follows: Duration::ZERO,
        }
    }

    /// Empties it, for another exchange.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.is_legacy, self.rts, self.follows) = (false, false, Duration::ZERO);
        self.lengths.clear();
    }

    /// Its PPDU, sent at `at`.
    #[inline(always)]
    pub(crate) fn ppdu(&self, at: Time, sifs: Duration, exchange: ExchangeId) -> Ppdu {
        let reserves_until = at + self.airtime + sifs + self.response + self.follows;
        let (first, airtime, initiator) = (self.part, self.airtime, self.part.from);
        let (more, of_several) = (None, false);
        Ppdu { kind: self.kind, first, more, airtime, reserves_until, exchange, initiator, of_several }
    }
}
