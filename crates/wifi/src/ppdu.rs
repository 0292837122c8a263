//! PPDUs and their parts.

use std::num::NonZeroU32;

pub(crate) use lasthop_observe::detail::PpduKind;
use lasthop_observe::{LinkId, NodeId};
use lasthop_units::{Bytes, Duration, Time};

use crate::ids::ExchangeId;
use crate::phy::error_model::FrameKind;
use crate::phy::{ModeId, Ru, frame_size};

pub(crate) const ACK_BYTES: u32 = frame_size::ACK.0 as u32;
pub(crate) const CTS_BYTES: u32 = frame_size::CTS.0 as u32;
pub(crate) const RTS_BYTES: u32 = frame_size::RTS.0 as u32;
pub(crate) const CF_END_BYTES: u32 = frame_size::CF_END.0 as u32;
/// Bytes of an MPDU besides the IP packet.
pub(crate) const DATA_OVERHEAD: u32 = frame_size::data_mpdu(Bytes(0)).0 as u32;
/// The same with a QoS Control field. [802.11-2020 §9.2.4.5]
pub(crate) const QOS_DATA_OVERHEAD: u32 = frame_size::qos_data_mpdu(Bytes(0)).0 as u32;
/// The QoS Control field.
pub(crate) const QOS_CONTROL: u32 = QOS_DATA_OVERHEAD - DATA_OVERHEAD;
/// The frame check sequence of an MPDU.
pub(crate) const FCS_BYTES: u32 = 4;
/// A beacon with the elements that a plain BSS sends: an assumption, real ones have 100 to 300 bytes.
pub(crate) const BEACON_BYTES: u32 = 120;

/// Receiver of a part of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    One(NodeId),
    /// no particular node
    Nobody,
}

impl To {
    /// The receiver, where there is one.
    #[inline(always)]
    pub(crate) fn one(self) -> Option<NodeId> {
        match self {
            To::One(node) => Some(node),
            To::Nobody => None,
        }
    }
}

/// The part of a PPDU from one radio to one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub from: NodeId,
    pub to: To,
    /// the link of the exchange's data frame; without meaning for a beacon
    pub link: LinkId,
    pub mode: ModeId,
    pub bytes: u32,
    /// the unit of the channel that it fills; `None`: all of it
    pub ru: Option<Ru>,
}

/// A PPDU to be sent. Parts that begin and end together form one PPDU; with several receivers it has more than the
/// first part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ppdu {
    pub kind: PpduKind,
    pub first: Part,
    /// place of the other parts, among those kept by the air
    pub more: Option<MoreParts>,
    /// time on the air
    pub airtime: Duration,
    /// end of the reservation in its Duration field
    pub reserves_until: Time,
    /// the exchange it belongs to; once that is over, without meaning
    pub exchange: ExchangeId,
    /// the radio that began this exchange
    pub initiator: NodeId,
    /// whether this exchange has several users
    pub of_several: bool,
}

impl Ppdu {
    /// The radio that sends it.
    #[inline(always)]
    pub(crate) fn from(&self) -> NodeId {
        self.first.from
    }

    /// Its kind for error models.
    pub(crate) fn frame_kind(&self) -> FrameKind {
        match self.kind {
            PpduKind::Data | PpduKind::Ampdu | PpduKind::QosNull => FrameKind::Data,
            PpduKind::Ack | PpduKind::BlockAck => FrameKind::Ack,
            PpduKind::MultiStaBlockAck => FrameKind::Ack,
            PpduKind::Rts
            | PpduKind::Cts
            | PpduKind::CtsToSelf
            | PpduKind::BlockAckReq
            | PpduKind::CfEnd
            | PpduKind::MuBar
            | PpduKind::Bsrp
            | PpduKind::Trigger => FrameKind::Control,
            PpduKind::Beacon => FrameKind::Management,
        }
    }

    /// The link on which the PPDU itself goes, or its first part.
    pub(crate) fn own_link(&self) -> Option<LinkId> {
        self.own_link_of(&self.first)
    }

    /// The link on which a part of it goes.
    pub(crate) fn own_link_of(&self, part: &Part) -> Option<LinkId> {
        match self.kind {
            PpduKind::Beacon | PpduKind::MuBar | PpduKind::Bsrp | PpduKind::Trigger | PpduKind::MultiStaBlockAck => {
                None
            }
            // Link 2k leads to the AP, 2k + 1 back.
            PpduKind::Cts | PpduKind::Ack | PpduKind::BlockAck => Some(LinkId(part.link.0 ^ 1)),
            PpduKind::Rts
            | PpduKind::CtsToSelf
            | PpduKind::Data
            | PpduKind::Ampdu
            | PpduKind::QosNull
            | PpduKind::BlockAckReq
            | PpduKind::CfEnd => Some(part.link),
        }
    }
}

/// A place in the air's list of further parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoreParts(pub NonZeroU32);
