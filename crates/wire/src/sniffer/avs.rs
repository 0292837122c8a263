//! AVS headers, of which all fields are in network byte order. [LINKTYPE_IEEE802_11_AVS]
//!
//! ```text
//! version 4 | length 4 | MAC time 8 | host time 8 | PHY 4 | channel 4 | rate 4 | antenna 4 | priority 4
//! kind of signal 4 | signal 4 | noise 4 | preamble 4 | encoding 4 | version 2: sequence 4, drops 4, receiver 6, padding 2
//! ```
//!
//! A header has no flag for an FCS.

use super::{channel, dbm, told};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::radiotap::{Flags, Radiotap};

/// The beginning of the version.
pub(super) const MAGIC: [u8; 3] = [0x80, 0x21, 0x10];
/// Bytes of the first version.
const LEAST: usize = 64;
/// Signals are in dBm.
const IN_DBM: u32 = 2;
/// The short preamble of DSSS.
const SHORT_PREAMBLE: u32 = 1;

/// Reads an AVS header; returns its fields as radiotap, and the frame that follows.
///
/// # Errors
/// If bytes end within the header, or if its version or length is impossible.
pub fn parse_avs(bytes: &[u8]) -> Result<(Radiotap, &[u8]), Error> {
    const PART: &str = "AVS header";
    let mut at = Cursor::new(bytes);
    let version = at.u32_be(PART)?;
    if !bytes.starts_with(&MAGIC) {
        return Err(Error::value(0, "AVS version", version, "its first three bytes are 80 21 10"));
    }
    let length = at.u32_be(PART)? as usize;
    if length < LEAST {
        return Err(Error::value(4, "AVS length", length as u64, "it is 64 or more"));
    }
    let (_, frame) = bytes.split_at_checked(length).ok_or_else(|| Error::short(0, PART, length, bytes.len()))?;
    let tsft_us = u64::from_be_bytes(at.array(PART)?);
    at.take(8, PART)?;
    let [_phy, number, rate_100kbps, antenna, _priority, kind, signal, noise, preamble, _encoding] = {
        let mut words = [0; 10];
        for word in &mut words {
            *word = at.u32_be(PART)?;
        }
        words
    };
    let in_dbm = |value: u32| dbm(value.cast_signed()).filter(|_| kind == IN_DBM);
    let radiotap = Radiotap {
        tsft_us: Some(tsft_us).filter(|&time| time > 0),
        flags: (preamble == SHORT_PREAMBLE).then_some(Flags::SHORT_PREAMBLE),
        rate_500kbps: u8::try_from(rate_100kbps / 5).ok().filter(|_| rate_100kbps.is_multiple_of(5)),
        channel: channel(number),
        signal_dbm: in_dbm(signal),
        noise_dbm: in_dbm(noise),
        antenna: u8::try_from(antenna).ok(),
        ..Radiotap::default()
    };
    Ok((told(radiotap), frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_network_order_and_rates_in_100_kbps() {
        let mut bytes = vec![0x80, 0x21, 0x10, 0x01, 0, 0, 0, 64];
        bytes.extend(9_u64.to_be_bytes());
        bytes.extend([0; 8]);
        for word in [4, 11, 110, 1, 0, IN_DBM, (-55_i32).cast_unsigned(), (-95_i32).cast_unsigned(), SHORT_PREAMBLE, 1]
        {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(b"frame");
        let told = Radiotap {
            tsft_us: Some(9),
            flags: Some(Flags::SHORT_PREAMBLE),
            rate_500kbps: Some(22),
            channel: channel(11),
            signal_dbm: Some(-55),
            noise_dbm: Some(-95),
            antenna: Some(1),
            ..Radiotap::default()
        };
        assert_eq!(parse_avs(&bytes), Ok((told, &b"frame"[..])));
        assert_eq!(super::super::parse_prism(&bytes), Ok((told, &b"frame"[..])));
        assert!(parse_avs(&bytes[..63]).is_err());
        bytes[7] = 63;
        assert!(parse_avs(&bytes).is_err());
    }
}
