//! A segment: the header fields that matter, and the length of the payload.

use core::fmt;
use core::num::NonZeroU8;
use core::ops::BitOr;

use lasthop_units::Ecn;

use crate::SeqNumber;

/// The control bits. [RFC 9293 §3.1]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// None set.
    pub const NONE: Flags = Flags(0);
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement field is valid.
    pub const ACK: Flags = Flags(0x10);
    /// ECN-Echo. [RFC 3168 §6.1]
    pub const ECE: Flags = Flags(0x40);
    /// Congestion Window Reduced. [RFC 3168 §6.1]
    pub const CWR: Flags = Flags(0x80);

    /// True if all bits of `other` are set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// True if any bit of `other` is set.
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// Accurate ECN, the bit that RFC 3540 called NS. [RFC 9768 §3.1]
    pub const AE: Flags = Flags(0x100);

    /// The bits as in the header, from FIN (1) to AE (256).
    pub const fn bits(self) -> u16 {
        self.0
    }
    /// From the bits as in the header.
    pub const fn from_bits(bits: u16) -> Flags {
        Flags(bits)
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    /// As tcpdump has them: `[S.]`, `[P.]`, `[FE]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LETTERS: [(Flags, char); 8] = [
            (Flags::SYN, 'S'),
            (Flags::FIN, 'F'),
            (Flags::RST, 'R'),
            (Flags::PSH, 'P'),
            (Flags::ECE, 'E'),
            (Flags::CWR, 'W'),
            (Flags::AE, 'A'),
            (Flags::ACK, '.'),
        ];
        let letters: String =
            LETTERS.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, letter)| letter).collect();
        write!(f, "[{letters}]")
    }
}

/// The timestamps option. [RFC 7323 §3.2]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval, in ticks of the sender's timestamp clock.
    pub value: u32,
    /// TSecr: the value echoed.
    pub echo: u32,
}

/// One block that the receiver holds: `left` up to, not including, `right`. [RFC 2018 §3]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First number of the block.
    pub left: SeqNumber,
    /// Number after the last of the block.
    pub right: SeqNumber,
}

/// Up to four SACK blocks, kept in place.
#[derive(Clone, Copy, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; 4],
    count: u8,
}

impl SackBlocks {
    /// No blocks.
    pub const NONE: SackBlocks =
        SackBlocks { blocks: [SackBlock { left: SeqNumber(0), right: SeqNumber(0) }; 4], count: 0 };

    /// Adds a block; false, and no change, when there are four already.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(place) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *place = block;
        self.count += 1;
        true
    }
    /// The blocks, newest first.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}
impl Eq for SackBlocks {}
impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// The AccECN option: up to three counters of payload bytes, modulo 2^24, by the ECN field under which they arrived.
///
/// ```text
///   order 0 (kind 172):  ECT(0), CE, ECT(1)        order 1 (kind 174):  ECT(1), CE, ECT(0)
/// ```
/// Counters may be missing from the end: the option takes 11, 8, 5 or 2 bytes. [RFC 9768 §3.2.3]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccEcn {
    /// 1, twice the order and four times the number of counters
    form: NonZeroU8,
    counters: [[u8; 3]; 3],
}

impl AccEcn {
    /// The option with these counters, at most three, in its order.
    pub fn new(ect1_first: bool, counters: &[u32]) -> AccEcn {
        let count = counters.len().min(3);
        let form = NonZeroU8::MIN | (u8::from(ect1_first) << 1 | (count as u8) << 2);
        let mut places = [[0; 3]; 3];
        for (place, counter) in places.iter_mut().zip(counters) {
            let [_, high, middle, low] = counter.to_be_bytes();
            *place = [high, middle, low];
        }
        AccEcn { form, counters: places }
    }

    /// True for order 1: the counter of ECT(1) is the first.
    pub fn ect1_first(&self) -> bool {
        self.form.get() & 2 != 0
    }

    /// Number of counters.
    pub fn count(&self) -> usize {
        usize::from(self.form.get() >> 2)
    }

    /// The counters in their order; `None` for those left out.
    pub fn counters(&self) -> [Option<u32>; 3] {
        let mut found = [None; 3];
        for (place, &[high, middle, low]) in found.iter_mut().zip(&self.counters).take(self.count()) {
            *place = Some(u32::from_be_bytes([0, high, middle, low]));
        }
        found
    }

    /// The counters of ECT(1), CE and ECT(0), whatever the order.
    pub fn by_codepoint(&self) -> [Option<u32>; 3] {
        let [first, ce, last] = self.counters();
        if self.ect1_first() { [first, ce, last] } else { [last, ce, first] }
    }

    /// Bytes of the option with `count` counters.
    const fn bytes(count: usize) -> u32 {
        2 + 3 * count as u32
    }
}

impl fmt::Debug for AccEcn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccECN{}{:?}", u8::from(self.ect1_first()), self.counters())
    }
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub seq: SeqNumber,
    /// Acknowledgement number; valid with [`Flags::ACK`].
    pub ack: SeqNumber,
    /// Length of the payload in bytes.
    pub payload: u32,
    /// Window field, not yet scaled.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// The ECN field of the IP header that it travels under. [RFC 3168 §5]
    pub ecn: Ecn,
    /// On a SYN: SACK permitted. [RFC 2018 §2]
    pub sack_permitted: bool,
    /// On a SYN: largest segment that its sender accepts, in bytes, options counted as data. [RFC 6691]
    pub mss: Option<u16>,
    /// On a SYN: shift of the window field. [RFC 7323 §2.2]
    pub window_scale: Option<u8>,
    /// True if options take no bytes on the wire, as in ns-2, where every header has 40 bytes.
    pub options_are_free: bool,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// Blocks above the acknowledgement number, newest first; at most three beside timestamps.
    pub sack: SackBlocks,
    /// AccECN option. [RFC 9768 §3.2.3]
    pub accecn: Option<AccEcn>,
}

/// Bytes of an IPv4 header without options.
const IP_HEADER: u32 = 20;
/// Bytes of a TCP header without options.
const TCP_HEADER: u32 = 20;
/// Bytes of the timestamps option with the two NOPs that go before it.
pub(crate) const TIMESTAMPS_OPTION: u32 = 12;
/// Bytes of the SACK option with so many blocks, with the NOPs that align it. [RFC 2018 §3]
pub(crate) const fn sack_bytes(blocks: usize) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks as u32 }
}
/// Bytes of the AccECN option with `count` counters off a SYN, with the NOPs that align it.
pub(crate) const fn accecn_bytes(count: usize) -> u32 {
    AccEcn::bytes(count).next_multiple_of(4)
}
/// Most bytes that options can take. [RFC 9293 §3.1]
pub(crate) const MOST_OPTION_BYTES: u32 = 40;
/// Bytes of both headers without options.
pub(crate) const HEADERS: u32 = IP_HEADER + TCP_HEADER;

impl Segment {
    /// Bytes of the TCP header with its options, padded to whole words.
    pub fn header_bytes(&self) -> u32 {
        if self.options_are_free {
            return TCP_HEADER;
        }
        TCP_HEADER + if self.flags.contains(Flags::SYN) { self.syn_option_bytes() } else { self.option_bytes() }
    }

    /// Off a SYN each option is aligned by NOPs: 12 bytes of timestamps, 4 to 12 of AccECN, 4 + 8n of SACK.
    fn option_bytes(&self) -> u32 {
        let timestamps = if self.timestamps.is_some() { TIMESTAMPS_OPTION } else { 0 };
        let sack = sack_bytes(usize::from(self.sack.count));
        let accecn = self.accecn.map_or(0, |option| accecn_bytes(option.count()));
        timestamps + accecn + sack
    }

    /// On a SYN options are packed: MSS 4, window scale 3, SACK permitted 2, timestamps 10, AccECN 11.
    fn syn_option_bytes(&self) -> u32 {
        let bytes = 4 * u32::from(self.mss.is_some())
            + 3 * u32::from(self.window_scale.is_some())
            + 2 * u32::from(self.sack_permitted)
            + 10 * u32::from(self.timestamps.is_some())
            + self.accecn.map_or(0, |option| AccEcn::bytes(option.count()));
        bytes.next_multiple_of(4)
    }

    /// Bytes of the IPv4 packet that carries this segment.
    pub fn ip_bytes(&self) -> u32 {
        IP_HEADER + self.header_bytes() + self.payload
    }

    /// True for a pure acknowledgement: no payload, no SYN, FIN or RST.
    pub fn is_pure_ack(&self) -> bool {
        self.payload == 0
            && self.flags.contains(Flags::ACK)
            && !self.flags.intersects(Flags::SYN | Flags::FIN | Flags::RST)
    }

    /// Sequence numbers that it takes: payload, SYN and FIN. [RFC 9293 §3.4, SEG.LEN]
    pub fn sequence_length(&self) -> u32 {
        self.payload + u32::from(self.flags.contains(Flags::SYN)) + u32::from(self.flags.contains(Flags::FIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack() -> Segment {
        Segment { flags: Flags::ACK, ..Segment::default() }
    }

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 88, "{}", size_of::<Segment>());
    }

    #[test]
    fn headers_have_the_lengths_seen_on_the_wire() {
        assert_eq!(ack().ip_bytes(), 40);
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        assert_eq!(Segment { timestamps, payload: 1448, ..ack() }.ip_bytes(), 1500);
        let mut sack = SackBlocks::NONE;
        (0..3).for_each(|_| assert!(sack.push(SackBlock::default())));
        // 20 + 12 + 4 + 24 = 60, the longest header there is
        assert_eq!(Segment { timestamps, sack, ..ack() }.header_bytes(), 60);
        // MSS 4 + SACK permitted 2 + timestamps 10 + window scale 3 = 19, padded to 20
        let syn = Segment {
            flags: Flags::SYN,
            mss: Some(1460),
            sack_permitted: true,
            window_scale: Some(7),
            timestamps,
            ..Segment::default()
        };
        assert_eq!(syn.header_bytes(), 40);
        assert_eq!(Segment { options_are_free: true, ..syn }.ip_bytes(), 40);
    }

    #[test]
    fn accecn_has_four_lengths_and_two_orders() {
        // [RFC 9768 §3.2.3]: 11, 8, 5 and 2 bytes, aligned to whole words
        let bytes = |counters: &[u32]| {
            let accecn = Some(AccEcn::new(true, counters));
            Segment { accecn, ..ack() }.header_bytes() - 20
        };
        assert_eq!([bytes(&[1, 0, 1]), bytes(&[1, 0]), bytes(&[1]), bytes(&[])], [12, 8, 8, 4]);
        let option = AccEcn::new(false, &[0x0100_0007, 2]);
        assert_eq!(option.counters(), [Some(7), Some(2), None], "modulo 2^24");
        assert_eq!(option.by_codepoint(), [None, Some(2), Some(7)], "ECT(1), CE, ECT(0)");
        assert_eq!(AccEcn::new(true, &[9, 8, 7]).by_codepoint(), [Some(9), Some(8), Some(7)]);
        // SYN+ACK: MSS 4 + SACK permitted 2 + window scale 3 + AccECN 11 = 20
        let flags = Flags::SYN | Flags::ACK;
        let (mss, window_scale, accecn) = (Some(1460), Some(7), Some(AccEcn::new(true, &[1, 0, 1])));
        let syn_ack = Segment { flags, mss, window_scale, sack_permitted: true, accecn, ..Segment::default() };
        assert_eq!(syn_ack.header_bytes(), 40);
    }

    #[test]
    fn a_fifth_block_does_not_fit() {
        let mut sack = SackBlocks::NONE;
        (0..4).for_each(|_| assert!(sack.push(SackBlock::default())));
        assert!(!sack.push(SackBlock::default()));
    }

    #[test]
    fn a_pure_ack_has_nothing_else() {
        assert!(ack().is_pure_ack());
        assert!(!Segment { payload: 1, ..ack() }.is_pure_ack());
        assert!(!Segment { flags: Flags::ACK | Flags::FIN, ..ack() }.is_pure_ack());
        assert_eq!(format!("{:?}", Flags::SYN | Flags::ACK), "[S.]");
    }
}
