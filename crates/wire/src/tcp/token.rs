//! Tokens of MPTCP connections: the first 32 bits of the hash of a key. [RFC 6824 §3.2; RFC 8684 §3.2]
//!
//! A key has eight bytes, so that it fills one block of SHA-1 and of SHA-256: bytes, a one bit, zeros, the length.

/// Bits of a key.
const KEY_BITS: u32 = 64;

/// The words of the only block.
fn block(key: u64) -> [u32; 16] {
    let mut words = [0; 16];
    (words[0], words[1]) = ((key >> 32) as u32, key as u32);
    words[2] = 1 << 31;
    words[15] = KEY_BITS;
    words
}

/// The first word of SHA-1. [FIPS 180-4 §6.1.2]
pub(super) fn sha1(key: u64) -> u32 {
    let first = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut words = [0; 80];
    words[..16].copy_from_slice(&block(key));
    for t in 16..80 {
        words[t] = (words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = first;
    for (t, word) in words.iter().enumerate() {
        let (f, k) = match t / 20 {
            0 => (b & c ^ !b & d, 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => (b & c ^ b & d ^ c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k).wrapping_add(*word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    first[0].wrapping_add(a)
}

/// The first word of SHA-256. [FIPS 180-4 §6.2.2]
pub(super) fn sha256(key: u64) -> u32 {
    let first =
        [0x6a09_e667_u32, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    let mut words = [0; 64];
    words[..16].copy_from_slice(&block(key));
    for t in 16..64 {
        let (x, y): (u32, u32) = (words[t - 15], words[t - 2]);
        let small_0 = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
        let small_1 = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
        words[t] = small_1.wrapping_add(words[t - 7]).wrapping_add(small_0).wrapping_add(words[t - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = first;
    for (word, k) in words.iter().zip(K) {
        let large_1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let one = h.wrapping_add(large_1).wrapping_add(e & f ^ !e & g).wrapping_add(k).wrapping_add(*word);
        let large_0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let two = large_0.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
    }
    first[0].wrapping_add(a)
}

/// Constants of SHA-256. [FIPS 180-4 §4.2.2]
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_first_words_of_the_hashes() {
        // sha1sum and sha256sum of the eight bytes.
        assert_eq!((sha1(0), sha256(0)), (0x05fe_4057, 0xaf55_70f5));
        let key = 0x0102_0304_0506_0708;
        assert_eq!((sha1(key), sha256(key)), (0xdd57_83bc, 0x6684_0dda));
    }
}
