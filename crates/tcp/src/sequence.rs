//! Sequence numbers: 32 bits on the wire, which wrap, and 64-bit offsets inside, which do not.
//!
//! Offset 0 is the SYN; byte `k` of the stream (from 0) is offset `k + 1`; a FIN takes the offset after
//! the last byte. [RFC 9293 §3.4]

/// A sequence number as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// The number `bytes` later, modulo 2^32.
    pub const fn plus(self, bytes: u32) -> SeqNumber {
        SeqNumber(self.0.wrapping_add(bytes))
    }

    /// The distance from `other` to `self`; negative if `self` lies before. Right within 2^31.
    pub const fn distance_from(self, other: SeqNumber) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
}

/// One direction's numbering: the first number, from which offsets count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbering(pub SeqNumber);

impl Numbering {
    /// The wire number of an offset.
    pub fn number(self, offset: u64) -> SeqNumber {
        self.0.plus(offset as u32)
    }

    /// The offset of a wire number that lies within 2^31 of `near`; `None` if it is before the start.
    pub fn offset(self, number: SeqNumber, near: u64) -> Option<u64> {
        near.checked_add_signed(i64::from(number.distance_from(self.number(near))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_cross_the_wrap() {
        assert_eq!(SeqNumber(5).distance_from(SeqNumber(u32::MAX)), 6);
        assert_eq!(SeqNumber(u32::MAX).distance_from(SeqNumber(5)), -6);
    }

    #[test]
    fn offsets_survive_many_wraps() {
        let numbering = Numbering(SeqNumber(u32::MAX - 10));
        for offset in [0, 11, 1 << 32, (7 << 32) + 123] {
            let number = numbering.number(offset);
            assert_eq!(numbering.offset(number, offset + 1_000_000), Some(offset));
            assert_eq!(numbering.offset(number, offset.saturating_sub(1_000_000)), Some(offset));
        }
        assert_eq!(numbering.offset(SeqNumber(u32::MAX - 11), 0), None);
    }
}
