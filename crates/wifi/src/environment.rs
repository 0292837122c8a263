//! The world around a medium, as the medium uses it.

use lasthop_engine::Turn;
use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::detail::Detail;
use lasthop_observe::{NodeId, Record};
use lasthop_units::Time;

use crate::edca::AccessCategory;
use crate::phy::ModeId;

/// A frame for all that hear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupFrame {
    /// its number, the host's own
    pub number: u32,
    /// length of its MPDU in bytes, FCS included
    pub bytes: u32,
    /// the mode in which it is sent, once
    pub mode: ModeId,
}

/// The result of an attempt at an MPDU that expected an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempted {
    /// it was acknowledged
    Acknowledged,
    /// it was not; there may be another attempt
    Lost,
    /// the attempts before were in vain, and there is none any more
    GivenUp,
    /// no attempt: one before that had counted as lost was received, as a later BlockAck shows
    Confirmed,
}

/// Events that the medium schedules for itself.
#[derive(Clone, Copy, Debug)]
pub enum MediumEvent {
    /// a backoff ends
    Backoff {
        /// the turn in which it was scheduled
        turn: Turn,
    },
    /// a channel access function starts at the boundary to which it is committed
    Start {
        /// its number
        function: u32,
    },
    /// a PPDU ends
    PpduEnds(u32),
    /// an acknowledgement that nothing could disturb ends; the node that sends it
    AnswerEnds(NodeId),
    /// a receiver sends its CTS or ACK, or a sender its data after a CTS
    Respond(NodeId),
    /// the NAV that an RTS set may be taken back
    NavTimeout {
        /// its node
        by: NodeId,
        /// only if nothing was heard since
        since: Time,
    },
    /// a receiver may by now recognise PPDUs whose preambles it has missed
    Recognises {
        /// the view of the receiver
        view: u32,
    },
    /// a recipient has waited long enough for an MPDU that is missing
    Reorder {
        /// sender of the agreement
        sender: u32,
        /// number of the agreement at that sender
        agreement: u32,
    },
    /// a driver learns of the end of an A-MPDU
    Completion {
        /// its sender
        sender: u32,
    },
    /// the shaper of a queue may let a packet go
    ShaperOpens {
        /// the channel access function
        function: u32,
    },
    /// a beacon of this BSS is due
    Beacon(u32),
    /// an access point may ask its stations for data; its BSS
    AsksStations(u32),
    /// an interferer, by its number, begins a burst
    BurstBegins(u32),
    /// it ends the burst
    BurstEnds(u32),
    /// the time of MU EDCA of a channel access function is over, if it was not prolonged
    MuEdcaEnds {
        /// its number
        function: u32,
    },
    /// a channel access function may count again
    Release {
        /// its number
        function: u32,
    },
    /// a BSS leaves its channel, or waits for the end of an exchange
    Moves(u32),
}

/// Events to come, each with its time: [`Medium::handle`](crate::Medium::handle) is called with each event at its time,
/// and with events of one time in the order of their turns.
pub trait Agenda {
    /// Schedules `event` at `at`, after all events already scheduled for that time.
    fn schedule(&mut self, at: Time, event: MediumEvent);
    /// The place that an event scheduled now would have among those of its time. An event scheduled in it later comes
    /// where it would have come if it had been scheduled now.
    fn turn(&mut self) -> Turn;
    /// Schedules `event` at `at` in a `turn` that was given out before.
    fn schedule_in_turn(&mut self, at: Time, turn: Turn, event: MediumEvent);
}

/// The world around a medium.
pub trait Environment<B>: Agenda {
    /// True if an observer reads [`Step`](lasthop_observe::Step)s.
    const READS_STEPS: bool = false;
    /// True if an observer reads [`Detail`]s.
    const READS_DETAILS: bool = false;
    /// True if an observer reads those [`Detail`]s that are for captures.
    const READS_FRAMES: bool = false;
    /// Whether an observer reads steps, decided during the run.
    #[inline(always)]
    fn reads_steps(&self) -> bool {
        Self::READS_STEPS
    }
    /// Whether an observer reads details for captures, decided during the run.
    #[inline(always)]
    fn reads_frames(&self) -> bool {
        Self::READS_FRAMES
    }
    /// Whether an observer awaits the ends of TXOPs.
    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        false
    }
    /// Whether an observer reads the order of events of one time, as recordings of details do.
    #[inline(always)]
    fn reads_order(&self) -> bool {
        Self::READS_DETAILS
    }
    /// Delivers `packet`, which arrived at `node`. Must not call the medium before it returns.
    fn deliver(&mut self, now: Time, node: NodeId, packet: Packet<B>);
    /// Returns a packet of a back-pressured socket or a saturated source, if there is one. Called when `node` has
    /// nothing left to send in `category`, or at all if it has no categories. After a `None` the medium calls this
    /// again when the node next says that it has data, or when an exchange of this node has ended.
    fn pull(&mut self, now: Time, node: NodeId, category: Option<AccessCategory>) -> Option<Packet<B>>;
    /// Whether a saturated source would answer [`pull`](Self::pull). Segments of a back-pressured socket are not foreseen.
    fn is_saturated(&self, node: NodeId, category: Option<AccessCategory>) -> bool {
        let _ = (node, category);
        false
    }
    /// Called when `node` is done with a packet that was handed to it: it was acknowledged, given up or dropped;
    /// `refused` if it was dropped while a packet of the same flow came in.
    fn released(&mut self, now: Time, node: NodeId, packet: &PacketMeta, refused: bool) {
        let _ = (now, node, packet, refused);
    }
    /// Reports the result of an attempt of `node` at the MPDU of a packet, in `mode`.
    #[inline(always)]
    fn attempted(&mut self, now: Time, node: NodeId, packet: &PacketMeta, mode: ModeId, result: Attempted) {
        let _ = (now, node, packet, mode, result);
    }
    /// Reports the end of the [group frame](crate::GroupFrame) of this number, and the nodes that decoded it.
    fn group_ended(&mut self, now: Time, number: u32, decoded: &[NodeId]) {
        let _ = (now, number, decoded);
    }
    /// Takes a packet that a queue dropped, which was reported already.
    fn discarded(&mut self, packet: Packet<B>) {
        drop(packet);
    }
    /// Reports a record.
    fn observe(&mut self, at: Time, record: Record);
    /// Reports an event that only a recording or a capture reads.
    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        let _ = (at, detail);
    }
}
