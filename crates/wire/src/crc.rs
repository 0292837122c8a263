//! The two checks of 802.11: CRC-32 of a frame, CRC-8 of an A-MPDU delimiter.
//!
//! Both are sent with the lowest bit of a byte first, so both registers here are reflected.

/// x^32+x^26+x^23+x^22+x^16+x^12+x^11+x^10+x^8+x^7+x^5+x^4+x^2+x+1, lowest power in the highest bit. [802.11-2020 §9.2.4.8]
const POLYNOMIAL: u32 = 0xedb8_8320;

/// `TABLES[k][b]` is the contribution of byte `b` if `k` bytes follow it in a group of eight.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut register = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            register = register >> 1 ^ if register & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        tables[0][byte] = register;
        byte += 1;
    }
    let mut following = 1;
    while following < 8 {
        byte = 0;
        while byte < 256 {
            let before = tables[following - 1][byte];
            tables[following][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        following += 1;
    }
    tables
}

/// The frame check sequence, over bytes in several pieces. [802.11-2020 §9.2.4.8]
#[derive(Clone, Copy, Debug)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Crc32(u32::MAX)
    }
}

impl Crc32 {
    /// Continues with `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        let (groups, tail) = bytes.as_chunks::<8>();
        for group in groups {
            let low = self.0 ^ u32::from_le_bytes([group[0], group[1], group[2], group[3]]);
            let mixed = low.to_le_bytes();
            self.0 = TABLES[7][usize::from(mixed[0])]
                ^ TABLES[6][usize::from(mixed[1])]
                ^ TABLES[5][usize::from(mixed[2])]
                ^ TABLES[4][usize::from(mixed[3])]
                ^ TABLES[3][usize::from(group[4])]
                ^ TABLES[2][usize::from(group[5])]
                ^ TABLES[1][usize::from(group[6])]
                ^ TABLES[0][usize::from(group[7])];
        }
        for &byte in tail {
            self.0 = self.0 >> 8 ^ TABLES[0][usize::from(self.0 as u8 ^ byte)];
        }
    }

    /// Continues with `count` zeros, in a time that grows with the logarithm of `count`.
    ///
    /// A zero multiplies the register by x^8, so `count` of them multiply it by x^(8 count), which is found by
    /// squaring.
    pub fn add_zeros(&mut self, count: usize) {
        let mut power = ONE >> 8;
        let mut left = count;
        while left > 0 {
            if left & 1 == 1 {
                self.0 = times(self.0, power);
            }
            power = times(power, power);
            left >>= 1;
        }
    }

    /// The check of all that was added; in the frame its lowest byte comes first.
    pub fn value(self) -> u32 {
        !self.0
    }
}

/// The polynomial 1.
const ONE: u32 = 1 << 31;

/// The product of two polynomials modulo that of the CRC.
fn times(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    for power in (0..32).rev() {
        if a >> power & 1 == 1 {
            product ^= b;
        }
        b = b >> 1 ^ if b & 1 == 1 { POLYNOMIAL } else { 0 };
    }
    product
}

/// The FCS of `frame`. [802.11-2020 §9.2.4.8]
pub fn fcs(frame: &[u8]) -> u32 {
    let mut crc = Crc32::default();
    crc.add(frame);
    crc.value()
}

/// Appends the FCS of the bytes in `out` from `start` on.
///
/// # Panics
/// If `start` is beyond the end of `out`.
pub fn append_fcs(out: &mut Vec<u8>, start: usize) {
    let check = fcs(&out[start..]);
    out.extend_from_slice(&check.to_le_bytes());
}

/// The check of an A-MPDU delimiter over its first two bytes, the same as that of HT-SIG: x^8 + x^2 + x + 1, begun with
/// ones, complemented. [802.11-2020 §9.7.1, §19.3.9.4.4]
pub fn delimiter_crc(bytes: [u8; 2]) -> u8 {
    crc8(&bytes)
}

fn crc8(bytes: &[u8]) -> u8 {
    const REFLECTED: u8 = 0xe0;
    let mut register = 0xff_u8;
    for &byte in bytes {
        register ^= byte;
        for _ in 0..8 {
            register = register >> 1 ^ if register & 1 == 1 { REFLECTED } else { 0 };
        }
    }
    !register
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_have_the_check_value_of_crc_32() {
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn the_digits_have_the_check_value_of_crc_8_rohc_complemented() {
        // CRC-8/ROHC has the same polynomial, start and order of bits, and no complement; its check value is d0.
        assert_eq!(crc8(b"123456789"), !0xd0);
    }

    /// The shift register of the standard: takes bits one by one; returns c7 to c0, complemented.
    /// [802.11-2020 §19.3.9.4.4]
    fn c7_to_c0(bits: impl IntoIterator<Item = bool>) -> [bool; 8] {
        let mut c = [true; 8];
        for bit in bits {
            let back = c[0] ^ bit;
            c.rotate_left(1);
            c[7] = back;
            c[6] ^= back;
            c[5] ^= back;
        }
        c.map(|bit| !bit)
    }

    #[test]
    fn the_example_of_the_standard_has_its_check() {
        // [802.11-2020 §19.3.9.4.4]: these 34 bits of an HT-SIG have the CRC 1010 1000, c7 first.
        let bits = "1111000100100110000000001110000000";
        let check = c7_to_c0(bits.chars().map(|bit| bit == '1'));
        assert_eq!(check.map(u8::from), [1, 0, 1, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn every_delimiter_has_the_check_of_the_shift_register() {
        for bits in 0..=u16::MAX {
            let check = c7_to_c0((0..16).map(|place| bits >> place & 1 == 1));
            let byte = (0..8).fold(0, |byte, place| byte | u8::from(check[place]) << place);
            assert_eq!(delimiter_crc(bits.to_le_bytes()), byte, "{bits:04x}");
        }
    }

    #[test]
    fn one_byte_at_a_time_equals_eight() {
        let bytes: Vec<u8> = (0..100_u32).map(|i| (i * 89 + i * i) as u8).collect();
        for length in 0..bytes.len() {
            let mut one_by_one = Crc32::default();
            bytes[..length].iter().for_each(|&byte| one_by_one.add(&[byte]));
            assert_eq!(fcs(&bytes[..length]), one_by_one.value(), "{length} bytes");
        }
    }

    #[test]
    fn counted_zeros_equal_real_zeros() {
        for count in [0, 1, 2, 3, 7, 8, 255, 1448, 65_535] {
            let mut counted = Crc32::default();
            counted.add(b"header");
            let mut written = counted;
            counted.add_zeros(count);
            written.add(&vec![0; count]);
            assert_eq!(counted.value(), written.value(), "{count} zeros");
        }
    }

    #[test]
    fn a_frame_with_its_fcs_leaves_the_remainder_of_the_standard() {
        // [802.11-2020 §9.2.4.8]: at the receiver the remainder is 1100 0111 0000 0100 1101 1101 0111 1011, highest power first.
        let mut frame = b"any frame".to_vec();
        append_fcs(&mut frame, 0);
        assert_eq!((!fcs(&frame)).reverse_bits(), 0xc704_dd7b);
    }
}
