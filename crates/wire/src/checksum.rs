//! The Internet checksum. [RFC 1071]

/// A ones' complement sum that is built piece by piece.
///
/// Zeros add nothing, and the order of words does not matter, so a payload of zeros needs only be counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    /// Adds bytes that begin at an even offset: words with the higher byte first, an odd last byte filled up by zero.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks::<4>();
        // Words of 32 bits sum up as their halves do, since 2^16 is 1 modulo 2^16 - 1. [RFC 1071 §2 (C)]
        let sum: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
        let mut last = [0; 4];
        last[..tail.len()].copy_from_slice(tail);
        self.0 += sum + u64::from(u32::from_be_bytes(last));
    }

    /// The complement of the sum: the value for the field, or zero if the field was included in the sum and is correct.
    pub(crate) fn value(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> u16 {
        let mut sum = Checksum::default();
        sum.add(bytes);
        sum.value()
    }

    #[test]
    fn the_example_of_the_rfc_has_its_sum() {
        // [RFC 1071 §3]: 0001 f203 f4f5 f6f7 sum up to ddf2.
        assert_eq!(of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn an_odd_byte_is_the_higher_one() {
        // 0102 + 0300 = 0402
        assert_eq!(of(&[1, 2, 3]), !0x0402);
        assert_eq!(of(&[]), 0xffff);
    }

    #[test]
    fn words_of_32_bits_sum_up_as_the_16_bits_of_the_definition() {
        let bytes: Vec<u8> = (0..61_u32).map(|i| (i * i * 37 + 201) as u8).collect();
        for length in 0..bytes.len() {
            let mut sum = 0u32;
            for pair in bytes[..length].chunks(2) {
                sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u32::from(low));
                sum = (sum & 0xffff) + (sum >> 16);
            }
            assert_eq!(of(&bytes[..length]), !(sum as u16), "{length} bytes");
        }
    }
}
