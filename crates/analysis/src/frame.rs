//! Conversion of a captured packet to a frame of the air, or to a packet of a wire.

use std::net::IpAddr;

use lasthop_wire::capture::LinkType;
use lasthop_wire::ieee80211::{Data, DataKind, Frame, FrameFlags, Msdus};
use lasthop_wire::ip::{Ip, protocol};
use lasthop_wire::radiotap::{Flags, Radiotap};
use lasthop_wire::tcp::{Tcp, TcpFlags, Timestamps};
use lasthop_wire::{EtherType, Ethernet, Udp, parse_linux_cooked, parse_llc_snap};

use crate::input::Captured;

/// Bytes of the FCS.
const FCS: usize = 4;

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
}

/// The content of a captured packet.
#[derive(Debug)]
pub(crate) enum Seen<'a> {
    Air(Heard<'a>),
    Wired(Packet),
    /// neither; an ARP request, say
    Other,
    /// of an unsupported link type
    Foreign,
}

/// Counts of a file's content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileSeen {
    pub packets: u64,
    pub heard: u64,
    pub wired: u64,
    /// packets that do not parse
    pub unread: u64,
    /// packets of unsupported link types
    pub foreign: u64,
}

impl FileSeen {
    /// Counts a packet that was read.
    pub(crate) fn count(&mut self, seen: &Result<Seen<'_>, lasthop_wire::Error>) {
        self.packets += 1;
        match seen {
            Ok(Seen::Air(_)) => self.heard += 1,
            Ok(Seen::Wired(_)) => self.wired += 1,
            Ok(Seen::Other) => {}
            Ok(Seen::Foreign) => self.foreign += 1,
            Err(_) => self.unread += 1,
        }
    }
}

/// An end of a connection.
pub(crate) type End = (IpAddr, u16);

/// A packet of TCP or UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub from: End,
    pub to: End,
    pub transport: Transport,
}

/// The fields read from its transport header.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transport {
    Tcp(Segment),
    Udp {
        /// bytes of payload
        bytes: u32,
    },
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub seq: u32,
    pub ack: u32,
    pub flags: TcpFlags,
    pub payload: u32,
    /// as in the header, not scaled
    pub window: u16,
    pub window_scale: Option<u8>,
    pub timestamps: Option<Timestamps>,
    pub sack: [Option<(u32, u32)>; 4],
}

/// Reads a packet; the caller counts errors.
pub(crate) fn read(packet: &Captured) -> Result<Seen<'_>, lasthop_wire::Error> {
    let bytes = packet.bytes.as_slice();
    match packet.link_type {
        LinkType::RADIOTAP => {
            let (radiotap, frame) = Radiotap::parse(bytes)?;
            let original = packet.original_length.saturating_sub(bytes.len() - frame.len());
            heard(radiotap, frame, original)
        }
        LinkType::IEEE_802_11 => heard(Radiotap::default(), bytes, packet.original_length),
        LinkType::ETHERNET => {
            let (header, payload) = Ethernet::parse(bytes)?;
            Ok(if is_ip(header.ether_type) { wired(payload) } else { Seen::Other })
        }
        LinkType::LINUX_SLL | LinkType::LINUX_SLL2 => {
            let (ether_type, payload) = parse_linux_cooked(bytes, packet.link_type == LinkType::LINUX_SLL2)?;
            Ok(if is_ip(ether_type) { wired(payload) } else { Seen::Other })
        }
        LinkType::RAW_IP => Ok(wired(bytes)),
        _ => Ok(Seen::Foreign),
    }
}

fn is_ip(ether_type: EtherType) -> bool {
    matches!(ether_type, EtherType::IPV4 | EtherType::IPV6)
}

fn wired<'a>(bytes: &[u8]) -> Seen<'a> {
    transport_of(bytes).map_or(Seen::Other, Seen::Wired)
}

fn heard(radiotap: Radiotap, bytes: &[u8], original: usize) -> Result<Seen<'_>, lasthop_wire::Error> {
    if radiotap.no_psdu.is_some() || original > LONGEST_FRAME {
        return Ok(Seen::Other);
    }
    let flags = radiotap.flags.unwrap_or_default();
    let has_fcs = flags.contains(Flags::FCS_AT_END);
    let body = if has_fcs { original.saturating_sub(FCS) } else { original };
    let bytes = &bytes[..bytes.len().min(body)];
    let is_padded = flags.contains(Flags::PADDED_HEADER);
    let frame = if is_padded { Frame::parse_padded(bytes)? } else { Frame::parse(bytes)? };
    Ok(Seen::Air(Heard { radiotap, frame, length: (body + FCS) as u32, is_good: !flags.contains(Flags::BAD_FCS) }))
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
    if data.kind == DataKind::Null {
        return Content::Whole;
    }
    if data.flags.contains(FrameFlags::PROTECTED) {
        return Content::Protected;
    }
    if !data.qos.is_some_and(|qos| qos.is_amsdu) {
        take_msdu(data.body, &mut take);
        return Content::Whole;
    }
    let mut content = Content::Whole;
    for msdu in Msdus::new(data.body) {
        match msdu {
            Ok(msdu) => {
                take_msdu(msdu.bytes, &mut take);
                let is_whole = msdu.bytes.len() == usize::from(msdu.length);
                content = if is_whole { content } else { Content::CutOff };
            }
            Err(_) => content = Content::CutOff,
        }
    }
    content
}

fn take_msdu(bytes: &[u8], take: &mut impl FnMut(Packet)) {
    if let Ok(Some((EtherType::IPV4 | EtherType::IPV6, packet))) = parse_llc_snap(bytes)
        && let Some(packet) = transport_of(packet)
    {
        take(packet);
    }
}

/// The transport header of an IP packet, if it is TCP or UDP.
fn transport_of(bytes: &[u8]) -> Option<Packet> {
    let (ip, payload) = Ip::parse(bytes).ok()?;
    if ip.is_later_fragment() {
        return None;
    }
    let addresses = ip.addresses();
    let (source, destination) = (addresses.source(), addresses.destination());
    let (ports, transport) = match ip.protocol() {
        protocol::TCP => {
            let segment = Tcp::parse(payload).ok()?;
            let header = &segment.header;
            let bytes = ip.payload_length().saturating_sub(segment.header_length) as u32;
            let mut sack = [None; 4];
            for (place, block) in sack.iter_mut().zip(header.options.sack.as_slice()) {
                *place = Some(*block);
            }
            let read = Segment {
                seq: header.sequence,
                ack: header.acknowledgement,
                flags: header.flags,
                payload: bytes,
                window: header.window,
                window_scale: header.options.window_scale,
                timestamps: header.options.timestamps,
                sack,
            };
            ((header.source_port, header.destination_port), Transport::Tcp(read))
        }
        protocol::UDP => {
            let (header, _) = Udp::parse(payload).ok()?;
            ((header.source_port, header.destination_port), Transport::Udp { bytes: header.payload_length.into() })
        }
        _ => return None,
    };
    Some(Packet { from: (source, ports.0), to: (destination, ports.1), transport })
}
