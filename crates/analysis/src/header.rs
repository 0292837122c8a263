//! The headers that sniffers write before frames of the air.

use lasthop_wire::capture::LinkType;
use lasthop_wire::{Radiotap, parse_avs, parse_ppi, parse_prism};

use crate::input::Captured;

/// The header of a packet's sniffer, as radiotap, and the bytes behind it with their link type: 802.11, or that of a wire.
pub(crate) fn behind_header(packet: &Captured) -> Result<(LinkType, Radiotap, &[u8]), lasthop_wire::Error> {
    let bytes = packet.bytes.as_slice();
    let of_air = |(radiotap, frame)| (LinkType::IEEE_802_11, radiotap, frame);
    match packet.link_type {
        LinkType::RADIOTAP => Radiotap::parse(bytes).map(of_air),
        LinkType::AVS => parse_avs(bytes).map(of_air),
        LinkType::PRISM => parse_prism(bytes).map(of_air),
        LinkType::PPI => parse_ppi(bytes),
        other => Ok((other, Radiotap::default(), bytes)),
    }
}
