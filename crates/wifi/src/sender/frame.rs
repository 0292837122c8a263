//! An MSDU that is acknowledged by itself.

use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::{LinkId, NodeId};
use lasthop_units::Time;

use super::rates::Rates;
use crate::phy::ModeId;

/// The MSDU that a sender tries to send.
pub(crate) struct Frame<B> {
    pub meta: PacketMeta,
    /// Gone once the receiver has it: what arrives again is a duplicate, acknowledged and discarded.
    pub(super) body: Option<B>,
    pub(super) to: NodeId,
    pub(super) link: LinkId,
    /// of the latest attempt
    pub(super) mode: ModeId,
    pub(super) rts: bool,
    pub(super) rates: Rates,
    /// attempts so far
    pub(super) attempts: u32,
    /// when it came to the head of the queue
    pub(super) since: Time,
    /// whether it has been on the air; kept for recordings only
    pub(crate) was_sent: bool,
}

impl<B> Frame<B> {
    /// `packet` at the head of the queue, for the node `to`, over `link`.
    #[inline(always)]
    pub(super) fn new(now: Time, packet: Packet<B>, to: NodeId, link: LinkId) -> Frame<B> {
        let Packet { meta, body } = packet;
        let (mode, rates) = (ModeId::default(), Rates::default());
        let (attempts, was_sent) = (0, false);
        Frame { meta, body: Some(body), to, link, mode, rts: false, rates, attempts, since: now, was_sent }
    }

    /// Whether it has not arrived yet.
    pub(crate) fn is_under_way(&self) -> bool {
        self.body.is_some()
    }
}

/// What becomes of what was sent, after an attempt that failed: it is tried again, or something of it was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Tried,
    GivenUp,
}
