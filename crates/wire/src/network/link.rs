//! Headers of links: Ethernet, LLC, PPP, PPPoE, and BSD's address family.

use super::layer::{Layer, Step};
use super::left_out::LeftOut;
use crate::error::Error;
use crate::link_layer::EtherType;
use crate::part::Part;

/// Ethernet II, or 802.3 with a length.
pub(super) fn ethernet(part: Part<'_>) -> Result<Step<'_>, Error> {
    let ([.., high, low], rest) = part.split::<14>("Ethernet header")?;
    Ok(Step::Down(Layer::Typed(EtherType(u16::from_be_bytes([high, low]))), rest))
}

/// A tag, whose type names the next protocol. [802.1Q-2018 §9.3]
pub(super) fn vlan(part: Part<'_>) -> Result<Step<'_>, Error> {
    let ([.., high, low], rest) = part.split::<4>("VLAN tag")?;
    Ok(Step::Down(Layer::Typed(EtherType(u16::from_be_bytes([high, low]))), rest))
}

/// LLC: SNAP with a type, or IP by its own number. [RFC 1042; 802.11-2020 Annex M]
pub(super) fn llc(part: Part<'_>) -> Result<Step<'_>, Error> {
    /// DSAP, SSAP and control of SNAP, and of IP.
    const SNAP: [u8; 3] = [0xaa, 0xaa, 3];
    const IP: [u8; 3] = [6, 6, 3];
    /// Organisations that leave the type to Ethernet: RFC 1042, and the bridge tunnel of 802.1H.
    const OF_ETHERNET: [[u8; 3]; 2] = [[0, 0, 0], [0, 0, 0xf8]];
    let (llc, rest) = part.split::<3>("LLC")?;
    match llc {
        IP => Ok(Step::Down(Layer::Ip, rest)),
        SNAP => {
            let ([a, b, c, high, low], rest) = rest.split::<5>("SNAP")?;
            if !OF_ETHERNET.contains(&[a, b, c]) {
                return Step::left_out(LeftOut::Snap([a, b, c]));
            }
            Ok(Step::Down(Layer::Typed(EtherType(u16::from_be_bytes([high, low]))), rest))
        }
        [dsap, ..] => Step::left_out(LeftOut::Llc(dsap)),
    }
}

/// PPP; address and control may be compressed, and so may the protocol [RFC 1661 §2, §6.5, §6.6]. A serial line may have
/// the HDLC of Cisco instead, with a type.
pub(super) fn ppp(part: Part<'_>) -> Result<Step<'_>, Error> {
    const PART: &str = "PPP header";
    if let [0x0f | 0x8f, 0, ..] = part.bytes {
        let ([.., high, low], rest) = part.split::<4>("Cisco HDLC header")?;
        return Ok(Step::Down(Layer::Typed(EtherType(u16::from_be_bytes([high, low]))), rest));
    }
    let part = if part.bytes.starts_with(&[0xff, 3]) { part.after(2, PART)? } else { part };
    let ([first], rest) = part.split::<1>(PART)?;
    // Only the lower byte of a protocol is odd.
    let (protocol, rest) = if first & 1 == 1 {
        (first.into(), rest)
    } else {
        let (protocol, rest) = part.split::<2>(PART)?;
        (u16::from_be_bytes(protocol), rest)
    };
    match protocol {
        0x0021 | 0x0057 => Ok(Step::Down(Layer::Ip, rest)),
        0x0281 => Ok(Step::Down(Layer::Typed(EtherType::MPLS), rest)),
        _ => Step::left_out(LeftOut::Ppp(protocol)),
    }
}

/// A PPPoE session. [RFC 2516 §4]
pub(super) fn pppoe_session(part: Part<'_>) -> Result<Step<'_>, Error> {
    let ([version_and_type, code, _, _, high, low], rest) = part.split::<6>("PPPoE header")?;
    if version_and_type != 0x11 {
        return Err(Error::value(0, "PPPoE version and type", version_and_type, "they are 1 and 1"));
    }
    if code != 0 {
        return Step::left_out(LeftOut::Type(EtherType::PPPOE_DISCOVERY));
    }
    Ok(Step::Down(Layer::Ppp, rest.first(u16::from_be_bytes([high, low]).into())))
}

/// BSD's address family, in the byte order of some host. [LINKTYPE_NULL; LINKTYPE_LOOP]
pub(super) fn family(part: Part<'_>) -> Result<Step<'_>, Error> {
    let (family, rest) = part.split::<4>("address family")?;
    match u32::from_le_bytes(family).min(u32::from_be_bytes(family)) {
        // IPv4; IPv6 of Linux, Windows, NetBSD, FreeBSD and macOS.
        2 | 10 | 23 | 24 | 28 | 30 => Ok(Step::Down(Layer::Ip, rest)),
        other => Step::left_out(LeftOut::Family(other)),
    }
}
