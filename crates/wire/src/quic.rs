//! Headers of QUIC, as far as they are not encrypted. [RFC 8999; RFC 9000 §17; RFC 9369 §3.2]
//!
//! ```text
//! long   1 1 type 2 ....  | version 4 | length, destination | length, source | token, length | encrypted
//! short  0 1 spin . ..... | destination | encrypted
//! ```
//!
//! A datagram holds one packet or several, of which only the last may have a short header. [RFC 9000 §12.2]

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QuicKind {
    /// Initial.
    Initial,
    /// 0-RTT.
    ZeroRtt,
    /// Handshake.
    Handshake,
    /// Retry.
    Retry,
    /// Version Negotiation.
    VersionNegotiation,
    /// A long header of a version with unknown kinds.
    OtherLong,
    /// 1-RTT, with a short header.
    Short,
}

impl QuicKind {
    /// All kinds, in their order.
    pub const ALL: [QuicKind; 7] = [
        QuicKind::Initial,
        QuicKind::ZeroRtt,
        QuicKind::Handshake,
        QuicKind::Retry,
        QuicKind::VersionNegotiation,
        QuicKind::OtherLong,
        QuicKind::Short,
    ];
}

/// A connection ID: up to 20 bytes. [RFC 9000 §17.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId {
    bytes: [u8; 20],
    length: u8,
}

impl ConnectionId {
    fn of(id: &[u8]) -> Option<ConnectionId> {
        let mut bytes = [0; 20];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        Some(ConnectionId { bytes, length: id.len() as u8 })
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// The headers of a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quic {
    /// Packets of each kind, in the order of [`QuicKind::ALL`].
    pub packets: [u8; QuicKind::ALL.len()],
    /// The version of its long headers, if it is known here.
    pub version: Option<u32>,
    /// The spin bit of a short header. [RFC 9000 §17.4]
    pub spin: Option<bool>,
    /// The destination of its first Initial.
    pub initial_id: Option<ConnectionId>,
}

/// Version 2. [RFC 9369 §3.1]
const VERSION_2: u32 = 0x6b33_43cf;
/// Bits of the first byte.
const LONG: u8 = 0x80;
const FIXED: u8 = 0x40;
const SPIN: u8 = 0x20;

/// Whether RFC 9000 gives the headers of a version: versions 1 and 2, drafts, and versions that force a negotiation.
fn is_known(version: u32) -> bool {
    matches!(version, 1 | VERSION_2 | 0xff00_0000..=0xff00_00ff) || forces_negotiation(version)
}

/// Whether a version is reserved, so that its server must offer others. [RFC 9000 §15]
fn forces_negotiation(version: u32) -> bool {
    version & 0x0f0f_0f0f == 0x0a0a_0a0a
}

impl Quic {
    /// Reads the headers of a datagram of which these bytes were captured; `None` if it cannot be QUIC.
    pub fn parse(datagram: &[u8]) -> Option<Quic> {
        let mut quic = Quic::default();
        let mut rest = datagram;
        while let Some(&first) = rest.first() {
            if first & FIXED == 0 && first & LONG == 0 {
                break;
            }
            if first & LONG == 0 {
                quic.spin = Some(first & SPIN != 0);
                quic.count(QuicKind::Short);
                break;
            }
            let Some(behind) = quic.long(first, rest) else { break };
            rest = behind;
        }
        (quic != Quic::default()).then_some(quic)
    }

    /// The number of packets of a kind.
    pub fn of(&self, kind: QuicKind) -> u8 {
        self.packets[kind as usize]
    }

    fn count(&mut self, kind: QuicKind) {
        let count = &mut self.packets[kind as usize];
        *count = count.saturating_add(1);
    }

    /// Reads a packet with a long header; returns the bytes behind it, or `None` if the datagram ends with it or it is
    /// not one.
    fn long<'a>(&mut self, first: u8, packet: &'a [u8]) -> Option<&'a [u8]> {
        let (version, rest) = packet.get(1..)?.split_first_chunk()?;
        let version = u32::from_be_bytes(*version);
        let (destination, rest) = id(rest)?;
        let (_source, rest) = id(rest)?;
        if version == 0 {
            // The list of versions is not empty. [RFC 8999 §6]
            if rest.len() >= 4 {
                self.count(QuicKind::VersionNegotiation);
            }
            return None;
        }
        if !is_known(version) || first & FIXED == 0 {
            return None;
        }
        self.version.get_or_insert(version);
        let kind = kind_of(version, first);
        self.count(kind);
        let rest = match kind {
            QuicKind::Initial => {
                self.initial_id = self.initial_id.or(ConnectionId::of(destination));
                let (token, rest) = variable(rest)?;
                rest.get(usize::try_from(token).ok()?..)?
            }
            QuicKind::ZeroRtt | QuicKind::Handshake => rest,
            _ => return None,
        };
        let (length, rest) = variable(rest)?;
        rest.get(usize::try_from(length).ok()?..)
    }
}

/// The kind that bits 4 and 5 name, in another order in version 2. [RFC 9000 §17.2; RFC 9369 §3.2]
fn kind_of(version: u32, first: u8) -> QuicKind {
    const KINDS: [QuicKind; 4] = [QuicKind::Initial, QuicKind::ZeroRtt, QuicKind::Handshake, QuicKind::Retry];
    let bits = usize::from(first >> 4 & 0b11);
    match version {
        VERSION_2 => KINDS[(bits + 3) % 4],
        version if forces_negotiation(version) => QuicKind::OtherLong,
        _ => KINDS[bits],
    }
}

/// A connection ID behind its length.
fn id(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    (length <= 20).then_some(())?;
    rest.split_at_checked(length.into())
}

/// A variable-length integer. [RFC 9000 §16]
fn variable(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, _) = bytes.split_first()?;
    let (number, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    let value = number.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    Some((value & !(0b11 << (8 * number.len() - 2)), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a long header and this payload.
    fn long(first: u8, version: u32, token: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![first];
        bytes.extend(version.to_be_bytes());
        bytes.extend([3, 1, 2, 3, 0]);
        bytes.extend(token);
        bytes.extend([0x40, payload.len() as u8]);
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn coalesced_packets_are_counted_by_kind() {
        let mut datagram = long(0xc3, 1, &[2, 9, 9], &[7; 100]);
        datagram.extend(long(0xe1, 1, &[], &[7; 20]));
        datagram.extend([0x60; 30]);
        let quic = Quic::parse(&datagram).unwrap();
        assert_eq!(quic.packets, [1, 0, 1, 0, 0, 0, 1]);
        assert_eq!((quic.version, quic.spin), (Some(1), Some(true)));
        assert_eq!(quic.initial_id.unwrap().as_slice(), [1, 2, 3]);
        // The beginning that a capture keeps has the first packet.
        assert_eq!(Quic::parse(&datagram[..40]).unwrap().packets, [1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn kinds_have_other_numbers_in_version_2() {
        for (first, kind) in
            [(0xd0, QuicKind::Initial), (0xe0, QuicKind::ZeroRtt), (0xf0, QuicKind::Handshake), (0xc0, QuicKind::Retry)]
        {
            let quic = Quic::parse(&long(first, VERSION_2, &[0], &[7; 20])).unwrap();
            assert_eq!(quic.of(kind), 1, "{kind:?}");
        }
        assert_eq!(Quic::parse(&long(0xf0, 1, &[], &[7; 20])).unwrap().of(QuicKind::Retry), 1);
        let negotiation = [&long(0x80, 0, &[], &[])[..10], &[0, 0, 0, 1]].concat();
        assert_eq!(Quic::parse(&negotiation).unwrap().of(QuicKind::VersionNegotiation), 1);
        assert_eq!(Quic::parse(&long(0xc0, 0x1a2a_3a4a, &[], &[7; 20])).unwrap().of(QuicKind::OtherLong), 1);
    }

    #[test]
    fn other_datagrams_are_not_quic() {
        // RTP, DNS, DTLS, a long header of an unknown version, a connection ID of 21 bytes.
        let mut long_id = long(0xc0, 1, &[0], &[0; 30]);
        long_id[5] = 21;
        for datagram in [
            &[0x80, 0x60, 0, 1][..],
            &[0x12, 0x34, 1, 0],
            &[0x16, 0xfe, 0xfd],
            &long(0xc0, 77, &[0], &[0; 9]),
            &long_id,
            &[],
        ] {
            assert_eq!(Quic::parse(datagram), None, "{datagram:02x?}");
        }
    }
}
