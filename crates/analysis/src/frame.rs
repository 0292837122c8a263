//! Conversion of a captured packet to a frame of the air, or to a packet of a wire.

use std::collections::BTreeMap;

use lasthop_wire::capture::LinkType;
use lasthop_wire::ieee80211::{Data, DataKind, Frame, FrameFlags, Msdus, fcs_is_good};
use lasthop_wire::radiotap::{Flags, Radiotap};
use lasthop_wire::{EtherType, Layer, LeftOut, Part, parse_linux_cooked};

use crate::fcs::{FCS, Fcs};
use crate::header::behind_header;
use crate::input::Captured;
use crate::packet::Packet;

/// No frame is longer. [802.11-2020 §9.2.4.8.1, and the FCS]
const LONGEST_FRAME: usize = 1 << 15;

/// A frame that a radio heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<'a> {
    pub radiotap: Radiotap,
    pub frame: Frame<'a>,
    /// bytes on the air, FCS included
    pub length: u32,
    /// whether its FCS is correct, as far as is known
    pub is_good: bool,
    /// its Retry bit
    pub is_retry: bool,
}

/// The content of a captured packet.
#[derive(Debug)]
pub(crate) enum Seen<'a> {
    Air(Heard<'a>),
    Wired(Packet),
    /// neither: an ARP request, say; or a PPDU without a frame
    Other(Option<LeftOut>),
    /// of an unsupported link type
    Foreign,
}

/// Counts of a file's content.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileSeen {
    pub packets: u64,
    pub heard: u64,
    pub wired: u64,
    /// packets that do not parse
    pub unread: u64,
    /// packets of unsupported link types
    pub foreign: u64,
    /// contents that are neither TCP nor UDP
    pub left_out: BTreeMap<LeftOut, u64>,
}

impl FileSeen {
    /// Counts a packet that was read.
    pub(crate) fn count(&mut self, seen: &Result<Seen<'_>, lasthop_wire::Error>) {
        self.packets += 1;
        match seen {
            Ok(Seen::Air(_)) => self.heard += 1,
            Ok(Seen::Wired(_)) => self.wired += 1,
            Ok(Seen::Other(_)) => {}
            Ok(Seen::Foreign) => self.foreign += 1,
            Err(_) => self.unread += 1,
        }
    }
}

/// Reads a packet, whose frames end with an FCS according to `fcs`; the caller counts errors.
pub(crate) fn read<'a>(packet: &'a Captured, fcs: &Fcs) -> Result<Seen<'a>, lasthop_wire::Error> {
    let (link_type, radiotap, frame) = behind_header(packet)?;
    let original = packet.original_length.saturating_sub(packet.bytes.len() - frame.len());
    match link_type {
        LinkType::IEEE_802_11 => heard(radiotap, frame, original, fcs),
        other => wired(other, Part::of(frame, original)),
    }
}

/// Reads a packet of a wire.
fn wired(link_type: LinkType, part: Part<'_>) -> Result<Seen<'_>, lasthop_wire::Error> {
    let (layer, part) = match link_type {
        LinkType::ETHERNET => (Layer::Ethernet, part),
        LinkType::LINUX_SLL | LinkType::LINUX_SLL2 => cooked(part, link_type == LinkType::LINUX_SLL2)?,
        LinkType::NULL | LinkType::LOOP => (Layer::Family, part),
        LinkType::PPP | LinkType::PPP_HDLC => (Layer::Ppp, part),
        LinkType::PPP_ETHER => (Layer::PppoeSession, part),
        raw if raw.is_raw_ip() => (Layer::Ip, part),
        _ => return Ok(Seen::Foreign),
    };
    Ok(match Packet::within(layer, part)? {
        Ok(packet) => Seen::Wired(packet),
        Err(left_out) => Seen::Other(Some(left_out)),
    })
}

/// The protocol behind Linux's header of any interface.
fn cooked(part: Part<'_>, is_second_version: bool) -> Result<(Layer, Part<'_>), lasthop_wire::Error> {
    /// LLC, in the place of a type. [LINKTYPE_LINUX_SLL]
    const LLC: EtherType = EtherType(4);
    let (ether_type, rest) = parse_linux_cooked(part.bytes, is_second_version)?;
    let layer = if ether_type == LLC { Layer::Llc } else { Layer::Typed(ether_type) };
    Ok((layer, Part::of(rest, part.length - (part.bytes.len() - rest.len()))))
}

fn heard<'a>(radiotap: Radiotap, bytes: &'a [u8], original: usize, fcs: &Fcs) -> Result<Seen<'a>, lasthop_wire::Error> {
    if radiotap.no_psdu.is_some() || original > LONGEST_FRAME {
        return Ok(Seen::Other(None));
    }
    let flags = radiotap.flags.unwrap_or_default();
    let has_fcs = fcs.is_there(flags.contains(Flags::FCS_AT_END));
    let body = if has_fcs { original.saturating_sub(FCS) } else { original };
    // Without radiotap's flags the FCS itself is the only sign of a damaged frame.
    let is_bad = match radiotap.flags {
        Some(flags) => flags.contains(Flags::BAD_FCS),
        None => has_fcs && fcs_is_good(bytes, original) == Some(false),
    };
    let is_retry = bytes.get(1).is_some_and(|flags| FrameFlags(*flags).contains(FrameFlags::RETRY));
    let bytes = &bytes[..bytes.len().min(body)];
    let is_padded = flags.contains(Flags::PADDED_HEADER);
    let frame = if is_padded { Frame::parse_padded(bytes)? } else { Frame::parse(bytes)? };
    Ok(Seen::Air(Heard { radiotap, frame, length: (body + FCS) as u32, is_good: !is_bad, is_retry }))
}

/// The extent to which a data frame's packets of TCP and UDP could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// all were read
    Whole,
    /// packets after the first were not captured
    CutOff,
    /// encrypted
    Protected,
}

/// Passes each packet of TCP or UDP in a data frame to `take`.
pub(crate) fn packets_of(data: &Data<'_>, mut take: impl FnMut(Packet)) -> Content {
    msdus_of(data, |msdu| msdu.into_iter().for_each(&mut take))
}

/// Passes each MSDU of a data frame to `take`: its packet of TCP or UDP, or its name.
pub(crate) fn msdus_of(data: &Data<'_>, mut take: impl FnMut(Result<Packet, LeftOut>)) -> Content {
    if data.kind == DataKind::Null {
        return Content::Whole;
    }
    if data.flags.contains(FrameFlags::PROTECTED) {
        return Content::Protected;
    }
    if data.sequence.fragment > 0 {
        take(Err(LeftOut::LaterFragment));
        return Content::Whole;
    }
    if !data.qos.is_some_and(|qos| qos.is_amsdu) {
        take(packet_of(data.body, data.body.len()));
        return Content::Whole;
    }
    let mut content = Content::Whole;
    for msdu in Msdus::new(data.body) {
        match msdu {
            Ok(msdu) => {
                let length = usize::from(msdu.length);
                take(packet_of(msdu.bytes, length));
                content = if msdu.bytes.len() == length { content } else { Content::CutOff };
            }
            Err(_) => content = Content::CutOff,
        }
    }
    content
}

/// The packet of an MSDU.
fn packet_of(bytes: &[u8], length: usize) -> Result<Packet, LeftOut> {
    Packet::within(Layer::Llc, Part::of(bytes, length)).unwrap_or(Err(LeftOut::Unparsed))
}
