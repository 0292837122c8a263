//! What a medium asks of the world around it.

use lasthop_engine::Turn;
use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::detail::Detail;
use lasthop_observe::{NodeId, Record};
use lasthop_units::Time;

use crate::access::edca::AccessCategory;

/// What the medium asks to be told of.
#[derive(Clone, Copy, Debug)]
pub enum MediumEvent {
    /// a backoff ends
    Backoff {
        /// the turn in which it was asked for
        turn: Turn,
    },
    /// a channel access function starts at the boundary to which it is committed
    Start {
        /// which
        function: u32,
    },
    /// a PPDU ends
    PpduEnds(u32),
    /// an acknowledgement ends that nothing could disturb; who sends it
    AnswerEnds(NodeId),
    /// a receiver sends its CTS or ACK, or a sender its data after a CTS
    Respond(NodeId),
    /// the NAV that an RTS set may be taken back
    NavTimeout {
        /// whose
        view: u32,
        /// only if nothing was heard since
        since: Time,
    },
    /// a receiver may know PPDUs by now whose preambles it has missed
    Recognises {
        /// whose view
        view: u32,
    },
    /// a recipient has waited long enough for an MPDU that is missing
    Reorder {
        /// whose agreement
        sender: u32,
        /// which of its agreements
        agreement: u32,
    },
    /// a beacon of this BSS is due
    Beacon(u32),
}

/// What is to happen, and when: [`Medium::handle`](crate::Medium::handle) is called with each event at its time, and at
/// one time in the order of their turns.
pub trait Agenda {
    /// `event` is due at `at`, after all that was scheduled for that time before.
    fn schedule(&mut self, at: Time, event: MediumEvent);
    /// The place that an event would have now among those of its time. An event that is scheduled in it later comes
    /// where it would have come if it had been scheduled now.
    fn turn(&mut self) -> Turn;
    /// `event` is due at `at` in a `turn` that was given out before.
    fn schedule_in_turn(&mut self, at: Time, turn: Turn, event: MediumEvent);
}

/// The world around a medium.
pub trait Environment<B>: Agenda {
    /// Whether somebody observes [`Step`](lasthop_observe::Step)s.
    const READS_STEPS: bool = false;
    /// Whether somebody observes [`Detail`]s.
    const READS_DETAILS: bool = false;
    /// Whether somebody observes those [`Detail`]s that are for captures.
    const READS_FRAMES: bool = false;
    /// `packet` arrived at `node`. Must not call the medium before it returns.
    fn deliver(&mut self, now: Time, node: NodeId, packet: Packet<B>);
    /// `node` has nothing left to send in `category`, or at all where it knows none: a packet of a back-pressured
    /// socket or a saturated source, if there is one. After a `None` it is asked again when it next says that it has data, or
    /// when an exchange of this node has ended.
    fn pull(&mut self, now: Time, node: NodeId, category: Option<AccessCategory>) -> Option<Packet<B>>;
    /// `node` is done with a packet that was handed to it: it was acknowledged, given up or dropped; `refused` if it
    /// was dropped while a packet of the same flow came in.
    fn released(&mut self, now: Time, node: NodeId, packet: &PacketMeta, refused: bool) {
        let _ = (now, node, packet, refused);
    }
    /// A queue dropped a packet, which was told already: what it carried.
    fn discarded(&mut self, body: B) {
        drop(body);
    }
    /// Something happened.
    fn observe(&mut self, at: Time, record: Record);
    /// Something happened that only a recording or a capture reads.
    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        let _ = (at, detail);
    }
}
