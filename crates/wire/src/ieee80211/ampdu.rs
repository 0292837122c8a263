//! A-MPDUs: MPDUs behind delimiters. [802.11-2020 §9.7.1]
//!
//! ```text
//!  bit 0     1          2 … 3               4 … 15              16 … 23    24 … 31
//! +---------+----------+-------------------+-------------------+----------+------------+----------+-------------+
//! | EOF     | Reserved | length, high bits | length, low bits  | CRC-8    | 0x4e       | MPDU     | pad to 4    |
//! +---------+----------+-------------------+-------------------+----------+------------+----------+-------------+
//! ```

use crate::crc::delimiter_crc;
use crate::error::Error;

/// Bytes of a delimiter. [802.11-2020 §9.7.1]
pub const AMPDU_DELIMITER: usize = 4;
/// The last byte of a delimiter, the letter N. [802.11-2020 §9.7.1]
const SIGNATURE: u8 = 0x4e;
/// Longest MPDU that 14 bits of length can express. [802.11-2020 §9.7.1]
const LONGEST: usize = 0x3fff;

/// The delimiter before an MPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delimiter {
    /// EOF: this MPDU is the only one, or padding follows.
    pub end_of_frame: bool,
    /// Length of the MPDU with its FCS in bytes, at most 16383; above 4095 not in HT PPDUs. 0: no MPDU.
    pub length: u16,
}

/// An MPDU of an A-MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu<'a> {
    /// The delimiter before it.
    pub delimiter: Delimiter,
    /// Its offset in bytes from the beginning of the A-MPDU.
    pub offset: usize,
    /// The frame with its FCS.
    pub bytes: &'a [u8],
}

impl Delimiter {
    /// The four bytes, with their CRC.
    pub fn bytes(self) -> [u8; AMPDU_DELIMITER] {
        let bits = u16::from(self.end_of_frame) | self.length >> 12 << 2 | self.length << 4;
        let [low, high] = bits.to_le_bytes();
        [low, high, delimiter_crc([low, high]), SIGNATURE]
    }

    /// Reads a delimiter from four bytes; `None` if its CRC or its signature is wrong.
    pub fn parse(bytes: [u8; AMPDU_DELIMITER]) -> Option<Delimiter> {
        let [low, high, crc, signature] = bytes;
        let bits = u16::from_le_bytes([low, high]);
        let delimiter = Delimiter { end_of_frame: bits & 1 == 1, length: (bits >> 2 & 0b11) << 12 | bits >> 4 };
        (signature == SIGNATURE && crc == delimiter_crc([low, high])).then_some(delimiter)
    }
}

/// Appends delimiter and MPDU, which ends with its FCS, to an A-MPDU that begins at `start` of `out`, after the padding
/// of the subframe before it.
///
/// # Panics
/// If the MPDU has more than 16383 bytes.
pub fn append_mpdu(mpdu: &[u8], end_of_frame: bool, start: usize, out: &mut Vec<u8>) {
    assert!(mpdu.len() <= LONGEST, "an MPDU of an A-MPDU has at most {LONGEST} bytes");
    out.resize(start + (out.len() - start).next_multiple_of(4), 0);
    out.extend_from_slice(&Delimiter { end_of_frame, length: mpdu.len() as u16 }.bytes());
    out.extend_from_slice(mpdu);
}

/// The MPDUs of an A-MPDU, in their order.
///
/// Delimiters of length 0 are skipped. A delimiter that is wrong, or longer than the rest, is an error; reading resumes
/// at the next four bytes that are a delimiter, as receivers do.
#[derive(Clone, Debug)]
pub struct Mpdus<'a> {
    bytes: &'a [u8],
    at: usize,
    /// True if an error was returned since the last good delimiter.
    lost: bool,
}

impl<'a> Mpdus<'a> {
    /// The MPDUs of the A-MPDU in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Mpdus { bytes, at: 0, lost: false }
    }

    /// The MPDU behind the delimiter at the present offset, if both are complete.
    fn read(&self) -> Result<Mpdu<'a>, Error> {
        let rest = &self.bytes[self.at..];
        let Some((head, behind)) = rest.split_first_chunk() else {
            return Err(Error::short(self.at, "A-MPDU delimiter", AMPDU_DELIMITER, rest.len()));
        };
        let Some(delimiter) = Delimiter::parse(*head) else {
            let found = u32::from_le_bytes(*head);
            return Err(Error::value(self.at, "A-MPDU delimiter", found, "its CRC or its signature does not fit"));
        };
        let (offset, length) = (self.at + AMPDU_DELIMITER, usize::from(delimiter.length));
        let bytes = behind.get(..length).ok_or_else(|| Error::short(offset, "MPDU", length, behind.len()))?;
        Ok(Mpdu { delimiter, offset, bytes })
    }
}

impl<'a> Iterator for Mpdus<'a> {
    type Item = Result<Mpdu<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.bytes.len() {
            let read = self.read();
            let end = read.map_or(self.at + AMPDU_DELIMITER, |mpdu| mpdu.offset + mpdu.bytes.len());
            self.at = end.next_multiple_of(4);
            match read {
                Ok(mpdu) => {
                    self.lost = false;
                    if !mpdu.bytes.is_empty() {
                        return Some(Ok(mpdu));
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut self.lost, true) {
                        return Some(Err(error));
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delimiter_reads_back_and_carries_the_letter_n() {
        for length in [0, 1, 14, 1538, 4095, 4096, 11_454, 16_383] {
            for end_of_frame in [false, true] {
                let delimiter = Delimiter { end_of_frame, length };
                assert_eq!(delimiter.bytes()[3], b'N');
                assert_eq!(Delimiter::parse(delimiter.bytes()), Some(delimiter));
            }
        }
        // 4097 = 1 * 4096 + 1: high bits at 2 and 3, low bits from 4 on.
        assert_eq!(Delimiter { end_of_frame: true, length: 4097 }.bytes()[..2], [0b0001_0101, 0]);
    }

    #[test]
    fn any_flipped_bit_of_a_delimiter_shows() {
        let good = Delimiter { end_of_frame: false, length: 1538 }.bytes();
        for bit in 0..32 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Delimiter::parse(bad), None, "bit {bit}");
        }
    }

    fn ampdu() -> Vec<u8> {
        let mut bytes = vec![0xee];
        append_mpdu(b"first", false, 1, &mut bytes);
        append_mpdu(b"", false, 1, &mut bytes);
        append_mpdu(b"third", true, 1, &mut bytes);
        bytes.split_off(1)
    }

    #[test]
    fn subframes_are_padded_but_the_last() {
        let bytes = ampdu();
        assert_eq!(bytes.len(), (4 + 5 + 3) + 4 + (4 + 5));
        let mpdus: Vec<_> = Mpdus::new(&bytes).map(|mpdu| mpdu.unwrap()).collect();
        assert_eq!(
            mpdus.iter().map(|mpdu| (mpdu.offset, mpdu.bytes)).collect::<Vec<_>>(),
            [(4, &b"first"[..]), (20, b"third")]
        );
        assert!(mpdus[1].delimiter.end_of_frame);
    }

    #[test]
    fn reading_goes_on_at_the_next_good_delimiter() {
        let mut bytes = ampdu();
        bytes[0] ^= 1;
        let mpdus: Vec<_> = Mpdus::new(&bytes).collect();
        assert_eq!(mpdus.len(), 2);
        assert!(mpdus[0].is_err_and(|error| error.offset == 0));
        assert_eq!(mpdus[1].unwrap().bytes, b"third");
        let cut: Vec<_> = Mpdus::new(&bytes[..22]).collect();
        assert!(cut[1].is_err_and(|error| error == Error::short(20, "MPDU", 5, 2)));
    }
}
