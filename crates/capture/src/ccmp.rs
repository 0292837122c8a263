//! Data frames that CCMP protects, as a sniffer without the key sees them. [802.11-2020 §12.5.3]
//!
//! ```text
//! | MAC header | PN0 | PN1 | 0 | key | PN2 | PN3 | PN4 | PN5 | encrypted body and MIC | FCS |
//! ```
//!
//! No key exists, so the encrypted octets are arbitrary: they follow from the packet number, and no reader can decrypt
//! them.

use std::collections::BTreeMap;

use lasthop_observe::NodeId;

/// Octets of the CCMP header. [802.11-2020 §12.5.3.2]
const HEADER: usize = 8;
/// The octet of the key: Ext IV, and key 0. [802.11-2020 §12.5.3.2]
const EXTENDED_IV: u8 = 1 << 5;

/// The RSN element of an AP with CCMP for all frames and a pre-shared key. [802.11-2020 §9.4.2.24]
#[rustfmt::skip]
pub(crate) const RSN: [u8; 22] = [
    48, 20, 1, 0, // element, length, version
    0x00, 0x0f, 0xac, 4, // group cipher: CCMP
    1, 0, 0x00, 0x0f, 0xac, 4, // one pairwise cipher: CCMP
    1, 0, 0x00, 0x0f, 0xac, 2, // one key management: PSK
    0, 0, // capabilities
];

/// The packet numbers assigned so far: one sequence for each sender and receiver. [802.11-2020 §12.5.3.3.2]
#[derive(Default)]
pub(crate) struct PacketNumbers {
    used: BTreeMap<(NodeId, NodeId), u64>,
    /// numbers of frames that may be sent again, by their ends, TID and sequence number
    sent: BTreeMap<(NodeId, NodeId, u8, u16), u64>,
}

impl PacketNumbers {
    /// The packet number of a frame; one that is sent `again` keeps its number.
    pub(crate) fn of(&mut self, (from, to): (NodeId, NodeId), tid: u8, number: u16, again: bool) -> u64 {
        let frame = (from, to, tid, number);
        if again && let Some(packet_number) = self.sent.get(&frame) {
            return *packet_number;
        }
        let used = self.used.entry((from, to)).or_default();
        *used += 1;
        self.sent.insert(frame, *used);
        *used
    }
}

/// Appends a protected body of `length` octets, header and MIC included, as far as `snap` stores it.
pub(crate) fn append_protected(packet_number: u64, length: usize, snap: usize, out: &mut Vec<u8>) {
    let [pn0, pn1, pn2, pn3, pn4, pn5, ..] = packet_number.to_le_bytes();
    let end = (out.len() + length).min(snap.max(out.len() + HEADER));
    out.extend_from_slice(&[pn0, pn1, 0, EXTENDED_IV, pn2, pn3, pn4, pn5]);
    let mut state = packet_number;
    while out.len() < end {
        out.extend_from_slice(&mixed(&mut state).to_le_bytes());
    }
    out.truncate(end);
}

/// The next output of SplitMix64. [Steele, Lea, Flood 2014]
fn mixed(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_that_is_sent_again_keeps_its_packet_number() {
        let (mut numbers, ends) = (PacketNumbers::default(), (NodeId(1), NodeId(0)));
        let mut of = |tid, number, again| numbers.of(ends, tid, number, again);
        // Two TIDs share one sequence, and a sequence number that comes round again has another packet number.
        assert_eq!([of(0, 7, false), of(6, 7, false), of(0, 8, false)], [1, 2, 3]);
        assert_eq!([of(0, 7, true), of(6, 7, true), of(0, 7, false), of(0, 7, true)], [1, 2, 4, 4]);
        assert_eq!(numbers.of((NodeId(0), NodeId(1)), 0, 0, false), 1);
    }

    #[test]
    fn header_holds_the_packet_number_in_two_parts() {
        let mut out = vec![1, 2];
        append_protected(0x0605_0403_0201, 40, 100, &mut out);
        assert_eq!(out[..10], [1, 2, 0x01, 0x02, 0, 0x20, 0x03, 0x04, 0x05, 0x06]);
        assert_eq!(out.len(), 42);
        assert!(out[10..].iter().any(|octet| *octet != 0));
        let mut short = vec![1, 2];
        append_protected(9, 40, 20, &mut short);
        assert_eq!(short.len(), 20);
    }
}
