//! A first look at a packet, for packets of which only ends and sizes are needed: it reads nothing after the ports,
//! and leaves rare cases to [`read`](crate::frame::read).
//!
//! ```text
//!  radiotap: length, flags, channel | 802.11: type, addresses | LLC SNAP | IPv4: lengths, addresses | ports, flags
//! ```

use std::net::{IpAddr, Ipv4Addr};

use lasthop_wire::capture::LinkType;
use lasthop_wire::radiotap::{Flags, Radiotap};
use lasthop_wire::tcp::{Mptcp, TcpFlags};
use lasthop_wire::{ConnectionId, MacAddress, is_tunnel};

use crate::echo::{Content, Numbered};
use crate::fcs::{FCS, Fcs};
use crate::input::Captured;
use crate::packet::End;

/// The result of a first look at a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glance {
    /// an RTS, CTS or Ack to a receiver: neither a data frame nor a beacon
    Frame { mhz: Option<u16>, is_answer: bool, receiver: MacAddress },
    /// a data frame without packets of TCP or UDP
    Data { mhz: Option<u16>, between: Between },
    /// a data frame with one packet
    Packet { mhz: Option<u16>, between: Between, packet: Brief },
    /// a packet of a wire
    Wired(Brief),
    /// it must be read in full: A-MSDUs, IPv6, extension headers, and anything unknown
    Read,
}

/// Transmitter, receiver and BSSID of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Between {
    pub transmitter: MacAddress,
    pub receiver: MacAddress,
    pub bssid: MacAddress,
    pub frame: Numbered,
}

/// The fields of a packet that distinguish flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brief {
    pub from: End,
    pub to: End,
    pub is_tcp: bool,
    /// bytes of payload
    pub bytes: u32,
    /// of a datagram
    pub content: Content,
    pub opens: bool,
    /// the option that opens a subflow of MPTCP, and whether its segment is an answer
    pub subflow: Option<(Mptcp, bool)>,
    /// the destination of an Initial packet of QUIC
    pub initial_id: Option<ConnectionId>,
}

/// LLC and SNAP of an IPv4 packet. [RFC 1042]
const LLC_IPV4: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Longer packets are read in full.
const LONGEST: usize = 1 << 15;
/// Radiotap: bits of the present word, and of the flags.
const TSFT: u32 = 1;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
/// A 0-length PSDU, which no frame follows.
const ZERO_LENGTH: u32 = 1 << 26;
const MORE: u32 = 1 << 31;

/// Frame Control: the bits that matter.
const TYPE: u8 = 0b1111;
const DATA: u8 = 0b1000;
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const QOS: u8 = 0x80;
const NULL: u8 = 0x40;
const DS: u8 = 0b11;
const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;
const A_MSDU: u8 = 0x80;

/// Looks at packets, and knows which headers of radiotap are complete.
#[derive(Debug, Default)]
pub(crate) struct Glancer {
    /// the present fields, and the matching length
    whole: Vec<(u32, usize)>,
}

/// Number of header forms remembered: a sniffer writes one for each kind of frame.
const MOST_KINDS: usize = 64;

impl Glancer {
    /// Looks at a packet, whose frames end with an FCS according to `fcs`.
    pub(crate) fn glance(&mut self, captured: &Captured, fcs: &Fcs) -> Glance {
        let bytes = captured.bytes.as_slice();
        let seen = match captured.link_type {
            LinkType::RADIOTAP => self.radiotap(bytes, captured.original_length, fcs),
            LinkType::ETHERNET if bytes.get(12..14) == Some(&[8, 0]) => brief(&bytes[14..]).map(Glance::Wired),
            LinkType::RAW_IP => brief(bytes).map(Glance::Wired),
            _ => None,
        };
        seen.unwrap_or(Glance::Read)
    }

    /// Whether a header's length fits these fields.
    fn is_whole(&mut self, present: u32, length: usize, bytes: &[u8]) -> bool {
        if self.whole.contains(&(present, length)) {
            return true;
        }
        let is_whole = Radiotap::parse(bytes).is_ok();
        if is_whole && self.whole.len() < MOST_KINDS {
            self.whole.push((present, length));
        }
        is_whole
    }

    fn radiotap(&mut self, bytes: &[u8], original: usize, fcs: &Fcs) -> Option<Glance> {
        let length = u16_le(bytes, 2)?;
        let present: &[u8; 4] = bytes.get(4..8)?.first_chunk()?;
        let present = u32::from_le_bytes(*present);
        if bytes[0] != 0 || present & (ZERO_LENGTH | MORE) != 0 || original > LONGEST || bytes.len() < length {
            return None;
        }
        if !self.is_whole(present, length, bytes) {
            return None;
        }
        let mut at = 8;
        at += if present & TSFT != 0 { 8 } else { 0 };
        let flags = Flags(if present & FLAGS != 0 { *bytes.get(at)? } else { 0 });
        at += usize::from(present & FLAGS != 0) + usize::from(present & RATE != 0);
        let mhz = if present & CHANNEL != 0 { Some(u16_le(bytes, at.next_multiple_of(2))? as u16) } else { None };
        if flags.contains(Flags::PADDED_HEADER) || flags.contains(Flags::BAD_FCS) {
            return None;
        }
        // Without flags the FCS is checked, which takes reading in full.
        let has_fcs = fcs.is_there(flags.contains(Flags::FCS_AT_END));
        if has_fcs && present & FLAGS == 0 {
            return None;
        }
        let behind = if has_fcs { FCS } else { 0 };
        let body = (original - length).checked_sub(behind)?;
        let frame = bytes.get(length..)?;
        air(&frame[..frame.len().min(body)], mhz)
    }
}

fn u16_le(bytes: &[u8], at: usize) -> Option<usize> {
    let pair = bytes.get(at..at + 2)?;
    Some(usize::from(u16::from_le_bytes([pair[0], pair[1]])))
}

fn u16_be(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

fn air(frame: &[u8], mhz: Option<u16>) -> Option<Glance> {
    let (&control, &flags) = (frame.first()?, frame.get(1)?);
    if control & 0b11 != 0 || frame.len() < 10 {
        return None;
    }
    let address = |at: usize| Some(MacAddress(*frame.get(at..at + 6)?.first_chunk()?));
    if control & TYPE != DATA {
        let least = match control {
            RTS => 16,
            CTS | ACK => 10,
            _ => return None,
        };
        let receiver = address(4)?;
        return (frame.len() >= least).then_some(Glance::Frame { mhz, is_answer: control != RTS, receiver });
    }
    let (receiver, transmitter) = (address(4)?, address(10)?);
    let bssid = match flags & DS {
        1 => receiver,
        2 => transmitter,
        _ => return None,
    };
    let sequence = u16::from_le_bytes([*frame.get(22)?, *frame.get(23)?]);
    let (number, is_later_fragment) = (sequence >> 4, sequence & 0x0f != 0);
    let between = Between { transmitter, receiver, bssid, frame: Numbered { number, is_retry: flags & RETRY != 0 } };
    if control & NULL != 0 || flags & PROTECTED != 0 {
        return Some(Glance::Data { mhz, between });
    }
    if is_later_fragment {
        return None;
    }
    let has_qos = control & QOS != 0;
    let body = if has_qos { 26 } else { 24 };
    if flags & ORDER != 0 || (has_qos && frame.get(24)? & A_MSDU != 0) {
        return None;
    }
    if frame.get(body..body + LLC_IPV4.len())? != LLC_IPV4 {
        return None;
    }
    let packet = brief(&frame[body + LLC_IPV4.len()..])?;
    Some(Glance::Packet { mhz, between, packet })
}

/// Whether options may include one that opens a subflow of MPTCP: those of 12 bytes are time stamps alone.
fn has_mptcp(options: &[u8]) -> bool {
    const STAMPS: [u8; 4] = [1, 1, 8, 10];
    const MPTCP: u8 = 30;
    !(options.is_empty() || options.len() == 12 && options.starts_with(&STAMPS)) && options.contains(&MPTCP)
}

/// Whether a datagram may be of QUIC with a long header.
fn has_long_header(datagram: &[u8]) -> bool {
    const LONG: u8 = 0x80;
    datagram.get(8).is_some_and(|first| first & LONG != 0)
}

/// An IPv4 packet of TCP or UDP, except for later fragments.
fn brief(ip: &[u8]) -> Option<Brief> {
    let (version, header) = (ip.first()? >> 4, usize::from(ip[0] & 15) * 4);
    let whole = usize::from(u16_be(ip, 2)?);
    let fragment = u16_be(ip, 6)? & 0x1fff;
    if version != 4 || header < 20 || whole < header || fragment != 0 {
        return None;
    }
    let protocol = ip[9];
    let transport = ip.get(header..)?;
    let ports = (u16_be(transport, 0)?, u16_be(transport, 2)?);
    let address = |at: usize| Some(IpAddr::V4(Ipv4Addr::from(*ip.get(at..at + 4)?.first_chunk::<4>()?)));
    let (from, to) = ((address(12)?, ports.0), (address(16)?, ports.1));
    let (bytes, opens) = match protocol {
        TCP => {
            let (header_4, flags) = (usize::from(transport.get(12)? >> 4), TcpFlags(u16::from(*transport.get(13)?)));
            if header_4 < 5 || transport.len() < header_4 * 4 || has_mptcp(&transport[20..header_4 * 4]) {
                return None;
            }
            let opens = flags.contains(TcpFlags::SYN) && !flags.contains(TcpFlags::ACK);
            ((whole - header).checked_sub(header_4 * 4)?, opens)
        }
        UDP if is_tunnel(ports.1) || has_long_header(transport) => return None,
        UDP => (usize::from(u16_be(transport, 4)?).checked_sub(8).filter(|_| transport.len() >= 8)?, false),
        _ => return None,
    };
    let (is_tcp, bytes) = (protocol == TCP, bytes as u32);
    let content = if is_tcp { Content::default() } else { Content::of(&transport[8..], bytes) };
    Some(Brief { from, to, is_tcp, bytes, content, opens, subflow: None, initial_id: None })
}
