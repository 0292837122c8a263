//! PPI: fields with types before a packet of any link type; those of 802.11 are read. [PPI Packet Header format 1.0.7]
//!
//! ```text
//! version 1 | flags 1 | length 2 | link type 4 | fields: type 2, length 2, content
//! ```
//!
//! All fields have the lowest byte first.

use super::told;
use crate::capture::LinkType;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::radiotap::{AmpduStatus, Channel, Flags, Mcs, Radiotap};

/// Flag of the header: fields begin at multiples of four.
const ALIGNED: u8 = 1;
/// Types of fields.
const COMMON: u16 = 2;
const N_MAC: u16 = 3;
const N_MAC_AND_PHY: u16 = 4;

/// Reads a PPI header; returns its fields as radiotap, and the packet that follows, with its link type.
///
/// # Errors
/// If bytes end within the header, or if its version, its length or the length of a field is impossible.
pub fn parse_ppi(bytes: &[u8]) -> Result<(LinkType, Radiotap, &[u8]), Error> {
    const PART: &str = "PPI header";
    let mut at = Cursor::new(bytes);
    let [version, flags] = at.array(PART)?;
    if version != 0 {
        return Err(Error::value(0, "PPI version", version, "it is 0"));
    }
    let length = usize::from(at.u16_le(PART)?);
    let number = at.u32_le(PART)?;
    let link_type = u16::try_from(number).map(LinkType);
    let link_type = link_type.map_err(|_| Error::value(4, "PPI link type", number, "it is 65535 or less"))?;
    if length < at.at() {
        return Err(Error::value(2, "PPI length", length as u64, "it is 8 or more"));
    }
    let (header, packet) = bytes.split_at_checked(length).ok_or_else(|| Error::short(0, PART, length, bytes.len()))?;
    let mut fields = Cursor::new(header);
    fields.take(at.at(), PART)?;
    let mut radiotap = Radiotap::default();
    while !fields.rest().is_empty() {
        let (kind, length) = (fields.u16_le(PART)?, fields.u16_le(PART)?);
        let content = Cursor::new(fields.take(length.into(), "PPI field")?);
        match kind {
            COMMON => common(&mut radiotap, content)?,
            N_MAC => n_mac(&mut radiotap, content).map(drop)?,
            N_MAC_AND_PHY => n_mac_and_phy(&mut radiotap, content)?,
            _ => {}
        }
        // The last field need not be padded.
        if flags & ALIGNED != 0 && !fields.rest().is_empty() {
            fields.align(4, "padding of a PPI field")?;
        }
    }
    Ok((link_type, told(radiotap), packet))
}

/// The field of all 802.11 frames. [PPI §4.1.2]
fn common(radiotap: &mut Radiotap, mut at: Cursor<'_>) -> Result<(), Error> {
    const PART: &str = "PPI 802.11-Common";
    const HAS_FCS: u16 = 1;
    const IN_MS: u16 = 2;
    const BAD_FCS: u16 = 4;
    /// Values that stand for unknown.
    const NO_TIME: u64 = 0;
    const NO_DBM: i8 = -128;
    let time = at.u64_le(PART)?;
    let flags = at.u16_le(PART)?;
    let rate = at.u16_le(PART)?;
    let channel = Channel { mhz: at.u16_le(PART)?, flags: at.u16_le(PART)? };
    at.take(2, PART)?;
    let [signal, noise] = at.array(PART)?.map(u8::cast_signed);
    let time_us = if flags & IN_MS != 0 { time.saturating_mul(1000) } else { time };
    let set = |flag, to: Flags| if flags & flag != 0 { to.0 } else { 0 };
    radiotap.tsft_us = Some(time_us).filter(|&time| time != NO_TIME);
    radiotap.flags = Some(Flags(set(HAS_FCS, Flags::FCS_AT_END) | set(BAD_FCS, Flags::BAD_FCS)));
    radiotap.rate_500kbps = u8::try_from(rate).ok();
    radiotap.channel = Some(channel).filter(|channel| channel.mhz > 0);
    radiotap.signal_dbm = Some(signal).filter(|&signal| signal != NO_DBM && signal != 0);
    radiotap.noise_dbm = Some(noise).filter(|&noise| noise != NO_DBM && noise != 0);
    Ok(())
}

/// The MAC's part of 802.11n; returns its flags. [PPI §4.1.3]
fn n_mac(radiotap: &mut Radiotap, mut at: Cursor<'_>) -> Result<u32, Error> {
    const PART: &str = "PPI 802.11n MAC";
    const AGGREGATE: u32 = 0x10;
    const MORE: u32 = 0x20;
    let (flags, reference) = (at.u32_le(PART)?, at.u32_le(PART)?);
    if flags & AGGREGATE != 0 {
        let is_last = Some(flags & MORE == 0);
        radiotap.ampdu = Some(AmpduStatus { reference, is_last, ..AmpduStatus::default() });
    }
    Ok(flags)
}

/// MAC and PHY of 802.11n, with the MCS. [PPI §4.1.4]
fn n_mac_and_phy(radiotap: &mut Radiotap, at: Cursor<'_>) -> Result<(), Error> {
    const PART: &str = "PPI 802.11n MAC+PHY";
    const GREENFIELD: u32 = 0x01;
    const WIDE: u32 = 0x02;
    const SHORT_GUARD: u32 = 0x04;
    /// MCS of frames without one.
    const NO_MCS: u8 = 0xff;
    /// Rates of frames without MCS, in units of 500 kbit/s: some sniffers write this field for them too.
    const LEGACY: [u8; 12] = [2, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108];
    let flags = n_mac(radiotap, at)?;
    let mut rest = at;
    rest.take(9, PART)?;
    let index = rest.u8(PART)?;
    if index != NO_MCS && radiotap.rate_500kbps.is_none_or(|rate| !LEGACY.contains(&rate)) {
        let mixed = Mcs::mixed(index, if flags & WIDE != 0 { 40 } else { 20 }, flags & SHORT_GUARD != 0);
        radiotap.mcs = Some(Mcs { greenfield: Some(flags & GREENFIELD != 0), ldpc: None, stbc_streams: None, ..mixed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: u16, content: &[u8]) -> Vec<u8> {
        [&kind.to_le_bytes(), &(content.len() as u16).to_le_bytes(), content].concat()
    }

    fn header(link_type: u32, fields: &[Vec<u8>]) -> Vec<u8> {
        let fields = fields.concat();
        let length = 8 + fields.len() as u16;
        let head = [&[0, 0], &length.to_le_bytes()[..], &link_type.to_le_bytes()].concat();
        [&head[..], &fields, b"packet"].concat()
    }

    fn common_field(flags: u8, rate: u8) -> Vec<u8> {
        let mut content = 7_u64.to_le_bytes().to_vec();
        content.extend([flags, 0, rate, 0, 0x3c, 0x14, 0x40, 1, 0, 0, 0xc4, 0x80]);
        field(COMMON, &content)
    }

    #[test]
    fn the_common_field_has_time_flags_rate_channel_and_signal() {
        let (link_type, read, packet) =
            parse_ppi(&header(105, &[common_field(1, 108)])).map(|r| (r.0, r.1, r.2.to_vec())).unwrap();
        let told = Radiotap {
            tsft_us: Some(7),
            flags: Some(Flags::FCS_AT_END),
            rate_500kbps: Some(108),
            channel: Some(Channel { mhz: 5180, flags: 0x0140 }),
            signal_dbm: Some(-60),
            ..Radiotap::default()
        };
        assert_eq!((link_type, read, packet.as_slice()), (LinkType::IEEE_802_11, told, &b"packet"[..]));
        let in_ms = parse_ppi(&header(105, &[common_field(2 | 4, 0)])).unwrap().1;
        assert_eq!((in_ms.tsft_us, in_ms.rate_500kbps, in_ms.flags), (Some(7000), None, Some(Flags::BAD_FCS)));
    }

    #[test]
    fn fields_of_802_11n_have_the_mcs_and_the_ampdu() {
        let mut content = vec![0; 48];
        // 40 MHz, short guard interval, an MPDU of an aggregate with more behind it.
        content[0] = 0x02 | 0x04 | 0x10 | 0x20;
        content[4] = 9;
        content[9] = 15;
        let (_, read, _) = parse_ppi(&header(105, &[common_field(0, 0), field(N_MAC_AND_PHY, &content)]))
            .map(|r| (0, r.1, 0))
            .unwrap();
        let mcs = read.mcs.unwrap();
        assert_eq!((mcs.index, mcs.bandwidth, mcs.short_guard_interval), (Some(15), Some(1), Some(true)));
        let ampdu = read.ampdu.unwrap();
        assert_eq!((ampdu.reference, ampdu.is_last), (9, Some(false)));
    }

    #[test]
    fn other_link_types_follow_and_lengths_are_checked() {
        let bytes = header(1, &[field(99, &[1, 2, 3])]);
        assert_eq!(parse_ppi(&bytes), Ok((LinkType::ETHERNET, Radiotap::default(), &b"packet"[..])));
        assert!(parse_ppi(&bytes[..9]).is_err() && parse_ppi(&bytes[..2]).is_err());
        // The lower half alone is 802.11.
        assert!(parse_ppi(&header(0x0001_0069, &[])).is_err());
        let mut long = bytes;
        long[10] = 200;
        assert!(parse_ppi(&long).is_err());
    }
}
