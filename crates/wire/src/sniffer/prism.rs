//! Prism headers: the time, channel, signal and rate of a frame, each as an item with a number. [LINKTYPE_IEEE802_11_PRISM]
//!
//! ```text
//! code 4 | length 4 | device 16 | items: number 4, status 2, length 2, value 4
//! ```
//!
//! All fields are in the byte order of the capturing host. A header has no flag for an FCS.

use super::{channel, dbm, told};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::radiotap::Radiotap;

/// Codes of the header: of most drivers, and of wlan-ng.
const CODES: [u32; 2] = [0x44, 0x41];
/// Bytes before the items.
const FIXED: usize = 24;
/// Bytes of an item.
const ITEM: usize = 12;

/// Reads a Prism header, or the AVS header that some drivers write instead; returns its fields as radiotap, and the
/// frame that follows.
///
/// # Errors
/// If bytes end within the header, or if its code or length is impossible.
pub fn parse_prism(bytes: &[u8]) -> Result<(Radiotap, &[u8]), Error> {
    const PART: &str = "Prism header";
    if bytes.starts_with(&super::avs::MAGIC) {
        return super::parse_avs(bytes);
    }
    let mut at = Cursor::new(bytes);
    let code: [u8; 4] = at.array(PART)?;
    let is_little = CODES.contains(&u32::from_le_bytes(code));
    let number = |bytes| if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
    if !CODES.contains(&number(code)) {
        return Err(Error::value(0, "Prism code", number(code), "it is 68 or 65"));
    }
    let length = number(at.array(PART)?) as usize;
    if length < FIXED {
        return Err(Error::value(4, "Prism length", length as u64, "it is 24 or more"));
    }
    let (header, frame) = bytes.split_at_checked(length).ok_or_else(|| Error::short(0, PART, length, bytes.len()))?;
    let mut radiotap = Radiotap::default();
    for item in header[FIXED..].as_chunks::<ITEM>().0 {
        let &[a, b, c, d, status_0, status_1, _, _, e, f, g, h] = item;
        // With status 0, the same in either byte order, the value is valid.
        if [status_0, status_1] == [0, 0] {
            set(&mut radiotap, number([a, b, c, d]), number([e, f, g, h]));
        }
    }
    Ok((told(radiotap), frame))
}

/// Sets the field of an item. Both families of drivers number items from 1 on, in different bits.
fn set(radiotap: &mut Radiotap, item: u32, value: u32) {
    let number = match (item & 0xffff, item >> 16) {
        (0x44, number) => number,
        (low, 0) if low & 0xfff == 0x41 => low >> 12,
        _ => return,
    };
    match number {
        2 => radiotap.tsft_us = Some(value.into()),
        3 => radiotap.channel = channel(value),
        6 => radiotap.signal_dbm = dbm(value.cast_signed()),
        7 => radiotap.noise_dbm = dbm(value.cast_signed()),
        8 => radiotap.rate_500kbps = u8::try_from(value).ok(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(order: fn(u32) -> [u8; 4], items: &[(u32, u16, i32)]) -> Vec<u8> {
        let mut bytes = [order(0x44), order((FIXED + ITEM * items.len()) as u32)].concat();
        bytes.extend([0; 16]);
        for &(item, status, value) in items {
            bytes.extend(order(item));
            bytes.extend(status.to_be_bytes());
            bytes.extend([0, 4]);
            bytes.extend(order(value.cast_unsigned()));
        }
        bytes.extend(b"frame");
        bytes
    }

    #[test]
    fn items_are_read_in_either_byte_order_and_numbering() {
        let told = Radiotap {
            tsft_us: Some(7),
            channel: channel(6),
            signal_dbm: Some(-60),
            rate_500kbps: Some(22),
            ..Radiotap::default()
        };
        let items = [(0x2_0044, 0, 7), (0x3_0044, 0, 6), (0x6_0044, 0, -60), (0x7_0044, 1, -90), (0x8_0044, 0, 22)];
        assert_eq!(parse_prism(&header(u32::to_le_bytes, &items)), Ok((told, &b"frame"[..])));
        assert_eq!(parse_prism(&header(u32::to_be_bytes, &items)), Ok((told, &b"frame"[..])));
        let other = [(0x2041, 0, 7), (0x3041, 0, 6), (0x6041, 0, -60), (0x8041, 0, 22)];
        assert_eq!(parse_prism(&header(u32::to_le_bytes, &other)), Ok((told, &b"frame"[..])));
    }

    #[test]
    fn a_signal_of_a_drivers_own_scale_is_not_in_dbm() {
        let (read, _) = parse_prism(&header(u32::to_le_bytes, &[(0x6_0044, 0, 42)])).map(|r| (r.0, ())).unwrap();
        assert_eq!(read.signal_dbm, None);
    }

    #[test]
    fn a_header_that_is_cut_off_or_too_short_is_refused() {
        let bytes = header(u32::to_le_bytes, &[(0x2_0044, 0, 7)]);
        assert!(parse_prism(&bytes[..30]).is_err() && parse_prism(&bytes[..3]).is_err());
        let mut short = bytes;
        short[4] = 23;
        assert_eq!(parse_prism(&short).unwrap_err().to_string(), "byte 4: Prism length is 23, but it is 24 or more");
    }
}
