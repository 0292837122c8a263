//! Headers between a link and IP: Ethernet II, and LLC with SNAP. [RFC 1042; 802.11-2020 Annex M]

use crate::address::MacAddress;
use crate::cursor::Cursor;
use crate::error::Error;

/// Protocol of a frame's payload. [RFC 9542 Appendix B]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: EtherType = EtherType(0x0800);
    /// ARP.
    pub const ARP: EtherType = EtherType(0x0806);
    /// IPv6.
    pub const IPV6: EtherType = EtherType(0x86dd);
    /// A tag of a VLAN, before the type itself.
    pub(crate) const VLAN: EtherType = EtherType(0x8100);
    /// Ethernet in a tunnel.
    pub(crate) const TRANSPARENT_ETHERNET: EtherType = EtherType(0x6558);
    /// Labels of MPLS.
    pub(crate) const MPLS: EtherType = EtherType(0x8847);
    /// Labels of MPLS for a group.
    pub(crate) const MPLS_MULTICAST: EtherType = EtherType(0x8848);
    /// PPP in a tunnel.
    pub(crate) const PPP: EtherType = EtherType(0x880b);
    /// Discovery stage of PPPoE.
    pub(crate) const PPPOE_DISCOVERY: EtherType = EtherType(0x8863);
    /// Session stage of PPPoE.
    pub(crate) const PPPOE_SESSION: EtherType = EtherType(0x8864);
    /// The least type: a number below it is the length of an 802.3 frame.
    pub(crate) const LEAST: u16 = 1536;
}

/// The header of an Ethernet II frame, with at most one VLAN tag.
///
/// A type below 1536 is the length of an 802.3 frame, whose payload begins with LLC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ethernet {
    /// Destination.
    pub destination: MacAddress,
    /// Source.
    pub source: MacAddress,
    /// Priority, eligibility and VLAN of a tag, if there is one.
    pub vlan: Option<u16>,
    /// Protocol of its payload.
    pub ether_type: EtherType,
}

impl Ethernet {
    /// Reads the header at the front of `bytes`; returns it with the bytes that follow.
    ///
    /// # Errors
    /// If bytes end within the header.
    pub fn parse(bytes: &[u8]) -> Result<(Ethernet, &[u8]), Error> {
        const PART: &str = "Ethernet header";
        let mut at = Cursor::new(bytes);
        let (destination, source) = (MacAddress(at.array(PART)?), MacAddress(at.array(PART)?));
        let mut ether_type = EtherType(at.u16_be(PART)?);
        let mut vlan = None;
        if ether_type == EtherType::VLAN {
            vlan = Some(at.u16_be(PART)?);
            ether_type = EtherType(at.u16_be(PART)?);
        }
        Ok((Ethernet { destination, source, vlan, ether_type }, at.rest()))
    }

    /// Appends the header: 14 bytes, 18 with a tag.
    pub fn append(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.destination.0);
        out.extend_from_slice(&self.source.0);
        if let Some(vlan) = self.vlan {
            out.extend_from_slice(&EtherType::VLAN.0.to_be_bytes());
            out.extend_from_slice(&vlan.to_be_bytes());
        }
        out.extend_from_slice(&self.ether_type.0.to_be_bytes());
    }
}

/// Reads Linux's header of a packet of any interface, `tcpdump -i any`; returns the type of its payload and the bytes
/// that follow. [LINKTYPE_LINUX_SLL; LINKTYPE_LINUX_SLL2]
///
/// # Errors
/// If bytes end within the header.
pub fn parse_linux_cooked(bytes: &[u8], is_second_version: bool) -> Result<(EtherType, &[u8]), Error> {
    const PART: &str = "Linux cooked header";
    let mut at = Cursor::new(bytes);
    if is_second_version {
        let ether_type = EtherType(at.u16_be(PART)?);
        at.take(18, PART)?;
        return Ok((ether_type, at.rest()));
    }
    at.take(14, PART)?;
    Ok((EtherType(at.u16_be(PART)?), at.rest()))
}

/// LLC for SNAP, and SNAP with the code of RFC 1042, without the type.
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// Appends LLC and SNAP with a type: 8 bytes. [RFC 1042]
pub fn append_llc_snap(ether_type: EtherType, out: &mut Vec<u8>) {
    out.extend_from_slice(&SNAP);
    out.extend_from_slice(&ether_type.0.to_be_bytes());
}

/// Reads LLC and SNAP at the front of `bytes`; returns the type and the bytes that follow. `None` if it is another LLC.
///
/// # Errors
/// If bytes end within them.
pub fn parse_llc_snap(bytes: &[u8]) -> Result<Option<(EtherType, &[u8])>, Error> {
    const PART: &str = "LLC and SNAP";
    let mut at = Cursor::new(bytes);
    if at.array::<6>(PART)? != SNAP {
        return Ok(None);
    }
    let ether_type = EtherType(at.u16_be(PART)?);
    Ok(Some((ether_type, at.rest())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethernet_reads_back_with_and_without_a_tag() {
        for vlan in [None, Some(0x2001)] {
            let header = Ethernet {
                destination: MacAddress([1; 6]),
                source: MacAddress([2; 6]),
                vlan,
                ether_type: EtherType::IPV6,
            };
            let mut bytes = Vec::new();
            header.append(&mut bytes);
            assert_eq!(bytes.len(), if vlan.is_some() { 18 } else { 14 });
            assert_eq!(bytes[bytes.len() - 2..], [0x86, 0xdd]);
            bytes.push(9);
            assert_eq!(Ethernet::parse(&bytes), Ok((header, &[9][..])));
        }
        assert!(Ethernet::parse(&[0; 13]).is_err());
    }

    #[test]
    fn another_llc_is_not_snap() {
        let mut bytes = Vec::new();
        append_llc_snap(EtherType::IPV4, &mut bytes);
        assert_eq!(bytes, [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        assert_eq!(parse_llc_snap(&bytes), Ok(Some((EtherType::IPV4, &[][..]))));
        bytes[0] = 0x42;
        assert_eq!(parse_llc_snap(&bytes), Ok(None));
        assert!(parse_llc_snap(&bytes[..5]).is_err());
    }
}
