//! A single MSDU with its own acknowledgement.

use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::{LinkId, NodeId};
use lasthop_units::{Bytes, Duration, Time};

use super::rates::Rates;
use crate::phy::{ModeId, Phy};

/// The MSDU that a sender tries to send.
pub(crate) struct Frame<B> {
    pub meta: PacketMeta,
    /// `None` once the receiver has it: a later copy is a duplicate, acknowledged and discarded.
    pub(super) packet: Option<Packet<B>>,
    /// bytes of its MPDU around the IP packet
    pub(crate) overhead: u32,
    pub(super) to: NodeId,
    pub(super) link: LinkId,
    /// mode of the latest attempt
    pub(super) mode: ModeId,
    pub(super) rts: bool,
    pub(super) rates: Rates,
    /// attempts so far
    pub(super) attempts: u32,
    /// time at which it came to the head of the queue
    pub(super) since: Time,
    /// whether it has been on the air; kept for recordings only
    pub(crate) was_sent: bool,
}

impl<B> Frame<B> {
    /// A frame for `packet` at the head of the queue, with this `overhead`, for the node `to`, over `link`.
    #[inline(always)]
    pub(super) fn new(now: Time, packet: Packet<B>, overhead: u32, to: NodeId, link: LinkId) -> Frame<B> {
        let (meta, packet) = (packet.meta, Some(packet));
        let (mode, rates) = (ModeId::default(), Rates::default());
        let (attempts, was_sent) = (0, false);
        Frame { meta, packet, overhead, to, link, mode, rts: false, rates, attempts, since: now, was_sent }
    }

    /// Returns whether it has not arrived yet.
    pub(crate) fn is_under_way(&self) -> bool {
        self.packet.is_some()
    }
}

/// Time on the air of a frame and of its Ack: most frames of a sender are as long as the one before, and in its mode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Airtimes {
    of: Option<(ModeId, Bytes)>,
    frame: Duration,
    ack: Duration,
}

impl Airtimes {
    /// Those of a frame of so many bytes in a mode of `phy`, always the same one.
    #[inline(always)]
    pub(super) fn of(&mut self, mode: ModeId, bytes: Bytes, phy: &Phy) -> (Duration, Duration) {
        if self.of != Some((mode, bytes)) {
            *self = Airtimes {
                of: Some((mode, bytes)),
                frame: phy.ppdu_duration(mode, bytes),
                ack: phy.ack_duration(mode),
            };
        }
        (self.frame, self.ack)
    }
}

/// Fate of a transmission after a failed attempt: it will be retried, or something in it was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Tried,
    GivenUp,
}
