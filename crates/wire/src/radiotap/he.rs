//! The HE field. [radiotap.org, HE]

use super::bits::{KnownBits, part, placed};
use crate::cursor::Cursor;
use crate::error::Error;

/// The format of an HE PPDU. [802.11ax-2021 §27.3.4]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeFormat {
    /// For one user.
    #[default]
    Su,
    /// For one user, with extended range.
    ExtendedRangeSu,
    /// For several users.
    Mu,
    /// In response to a trigger frame.
    TriggerBased,
}

/// Known properties of an HE PPDU; in one for several users, of the captured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct He {
    /// Format.
    pub format: HeFormat,
    /// BSS colour, 0 to 63.
    pub bss_color: Option<u8>,
    /// Beam change.
    pub beam_change: Option<bool>,
    /// True if it is sent to an AP.
    pub uplink: Option<bool>,
    /// HE-MCS, 0 to 11.
    pub mcs: Option<u8>,
    /// Dual carrier modulation.
    pub dcm: Option<bool>,
    /// LDPC instead of BCC.
    pub ldpc: Option<bool>,
    /// True if LDPC added an OFDM symbol segment.
    pub ldpc_extra_symbol: Option<bool>,
    /// Space-time block coding.
    pub stbc: Option<bool>,
    /// Spatial reuse, 0 to 15; a trigger-based PPDU has four, others the first.
    pub spatial_reuse: [Option<u8>; 4],
    /// STA-ID of the user, in PPDUs for several.
    pub sta_id: Option<u16>,
    /// Bandwidth or RU: 0 to 3 for 20, 40, 80 and 160 MHz; 4 to 10 for RUs of 26, 52, 106, 242, 484, 996 and 2 × 996 tones.
    pub bandwidth: Option<u8>,
    /// Doppler.
    pub doppler: Option<bool>,
    /// True if it is in the secondary 80 MHz.
    pub secondary_80_mhz: Option<bool>,
    /// Offset of the RU within its 80 MHz, in RUs of its size.
    pub ru_offset: Option<u8>,
    /// Guard interval: 0, 1, 2 for 0.8, 1.6 and 3.2 µs.
    pub guard_interval: Option<u8>,
    /// LTF size: 0 unknown; 1, 2, 3 for 1x, 2x and 4x.
    pub ltf_size: u8,
    /// LTF symbols: 0 to 4 for 1, 2, 4, 6 and 8.
    pub ltf_symbols: Option<u8>,
    /// Pre-FEC padding factor.
    pub pre_fec_padding: Option<u8>,
    /// Beamformed.
    pub beamformed: Option<bool>,
    /// Packet extension disambiguity.
    pub pe_disambiguity: Option<bool>,
    /// TXOP as in HE-SIG-A, 0 to 127.
    pub txop: Option<u8>,
    /// Midamble every 20 symbols instead of every 10.
    pub midamble_20: Option<bool>,
    /// Space-time streams; 0 unknown.
    pub space_time_streams: u8,
}

/// `words[n]` is `data{n + 1}` of the definition.
const fn place(known: (usize, u16), value: (usize, u16)) -> KnownBits {
    KnownBits { known, value }
}

const FORMAT: u16 = 0x0003;
const BSS_COLOR: KnownBits = place((0, 0x0004), (2, 0x003f));
const BEAM_CHANGE: KnownBits = place((0, 0x0008), (2, 0x0040));
const UPLINK: KnownBits = place((0, 0x0010), (2, 0x0080));
const MCS: KnownBits = place((0, 0x0020), (2, 0x0f00));
const DCM: KnownBits = place((0, 0x0040), (2, 0x1000));
const CODING: KnownBits = place((0, 0x0080), (2, 0x2000));
const LDPC_EXTRA: KnownBits = place((0, 0x0100), (2, 0x4000));
const STBC: KnownBits = place((0, 0x0200), (2, 0x8000));
const SPATIAL_REUSE: [KnownBits; 4] = [
    place((0, 0x0400), (3, 0x000f)),
    place((0, 0x0800), (3, 0x00f0)),
    place((0, 0x1000), (3, 0x0f00)),
    place((0, 0x2000), (3, 0xf000)),
];
/// In a PPDU for several users the bit of the second spatial reuse means that the STA-ID is known.
const STA_ID: KnownBits = place((0, 0x0800), (3, 0x7ff0));
const BANDWIDTH: KnownBits = place((0, 0x4000), (4, 0x000f));
const DOPPLER: KnownBits = place((0, 0x8000), (5, 0x0010));
const SECONDARY_80: KnownBits = place((1, 0x0001), (1, 0x8000));
const GUARD_INTERVAL: KnownBits = place((1, 0x0002), (4, 0x0030));
const LTF_SYMBOLS: KnownBits = place((1, 0x0004), (4, 0x0700));
const PRE_FEC: KnownBits = place((1, 0x0008), (4, 0x3000));
const BEAMFORMED: KnownBits = place((1, 0x0010), (4, 0x4000));
const PE_DISAMBIGUITY: KnownBits = place((1, 0x0020), (4, 0x8000));
const TXOP: KnownBits = place((1, 0x0040), (5, 0x7f00));
const MIDAMBLE: KnownBits = place((1, 0x0080), (5, 0x8000));
const RU_OFFSET: KnownBits = place((1, 0x4000), (1, 0x3f00));
const LTF_SIZE: (usize, u16) = (4, 0x00c0);
const STREAMS: (usize, u16) = (5, 0x000f);

/// Bandwidths in MHz, by code.
const BANDWIDTHS: [u16; 4] = [20, 40, 80, 160];
/// Tones of RUs, by the codes from 4 on.
const TONES: [u16; 7] = [26, 52, 106, 242, 484, 996, 1992];
/// The RU that each bandwidth is, counted from the first.
const WHOLE: usize = 3;
/// Guard intervals in ns, by code.
const GUARD_INTERVALS: [u16; 3] = [800, 1600, 3200];

impl He {
    /// A PPDU for one user over the whole of its channel, with LDPC, without DCM, STBC or beamforming.
    ///
    /// `bandwidth_mhz` is 20, 40, 80 or 160, `guard_interval_ns` 800, 1600 or 3200; any other is left unknown.
    pub fn single_user(mcs: u8, streams: u8, bandwidth_mhz: u16, guard_interval_ns: u16) -> He {
        let code = |values: &[u16], value| values.iter().position(|&v| v == value).map(|code| code as u8);
        He {
            mcs: Some(mcs),
            dcm: Some(false),
            ldpc: Some(true),
            stbc: Some(false),
            bandwidth: code(&BANDWIDTHS, bandwidth_mhz),
            guard_interval: code(&GUARD_INTERVALS, guard_interval_ns),
            beamformed: Some(false),
            space_time_streams: streams,
            ..He::default()
        }
    }

    /// Bandwidth in MHz, if it is known and not an RU.
    pub fn bandwidth_mhz(&self) -> Option<u16> {
        self.bandwidth.and_then(|code| BANDWIDTHS.get(usize::from(code)).copied())
    }

    /// Tones of its RU, or of its whole bandwidth, if that is known.
    pub fn tones(&self) -> Option<u16> {
        let code = usize::from(self.bandwidth?);
        TONES.get(code.checked_sub(BANDWIDTHS.len()).unwrap_or(code + WHOLE)).copied()
    }

    /// The code of an RU of so many tones, for `bandwidth`.
    pub fn code_of_tones(tones: u16) -> Option<u8> {
        TONES.iter().position(|own| *own == tones).map(|place| (BANDWIDTHS.len() + place) as u8)
    }

    /// Guard interval in ns, if it is known.
    pub fn guard_interval_ns(&self) -> Option<u16> {
        self.guard_interval.and_then(|code| GUARD_INTERVALS.get(usize::from(code)).copied())
    }

    pub(super) fn read(value: &mut Cursor<'_>) -> Result<He, Error> {
        let mut words = [0; 6];
        for word in &mut words {
            *word = value.u16_le("HE")?;
        }
        Ok(He::of(&words))
    }

    fn of(words: &[u16; 6]) -> He {
        let format = HeFormat::of(words[0] & FORMAT);
        let spatial_reuse = SPATIAL_REUSE.map(|place| place.get(words));
        let [first, ..] = spatial_reuse;
        He {
            format,
            bss_color: BSS_COLOR.get(words),
            beam_change: BEAM_CHANGE.get(words),
            uplink: UPLINK.get(words),
            mcs: MCS.get(words),
            dcm: DCM.get(words),
            ldpc: CODING.get(words),
            ldpc_extra_symbol: LDPC_EXTRA.get(words),
            stbc: STBC.get(words),
            spatial_reuse: if format == HeFormat::TriggerBased { spatial_reuse } else { [first, None, None, None] },
            sta_id: if format == HeFormat::Mu { STA_ID.get(words) } else { None },
            bandwidth: BANDWIDTH.get(words),
            doppler: DOPPLER.get(words),
            secondary_80_mhz: SECONDARY_80.get(words),
            ru_offset: RU_OFFSET.get(words),
            guard_interval: GUARD_INTERVAL.get(words),
            ltf_size: part(words[LTF_SIZE.0], LTF_SIZE.1) as u8,
            ltf_symbols: LTF_SYMBOLS.get(words),
            pre_fec_padding: PRE_FEC.get(words),
            beamformed: BEAMFORMED.get(words),
            pe_disambiguity: PE_DISAMBIGUITY.get(words),
            txop: TXOP.get(words),
            midamble_20: MIDAMBLE.get(words),
            space_time_streams: part(words[STREAMS.0], STREAMS.1) as u8,
        }
    }

    /// The six words. A STA-ID is written only in PPDUs for several users, further spatial reuses only in trigger-based
    /// ones.
    fn words(&self) -> [u16; 6] {
        let mut words = [self.format as u16, 0, 0, 0, 0, 0];
        BSS_COLOR.put(&mut words, self.bss_color);
        BEAM_CHANGE.put(&mut words, self.beam_change);
        UPLINK.put(&mut words, self.uplink);
        MCS.put(&mut words, self.mcs);
        DCM.put(&mut words, self.dcm);
        CODING.put(&mut words, self.ldpc);
        LDPC_EXTRA.put(&mut words, self.ldpc_extra_symbol);
        STBC.put(&mut words, self.stbc);
        let reuses = if self.format == HeFormat::TriggerBased { 4 } else { 1 };
        for (place, value) in SPATIAL_REUSE.iter().zip(self.spatial_reuse).take(reuses) {
            place.put(&mut words, value);
        }
        STA_ID.put(&mut words, self.sta_id.filter(|_| self.format == HeFormat::Mu));
        BANDWIDTH.put(&mut words, self.bandwidth);
        DOPPLER.put(&mut words, self.doppler);
        SECONDARY_80.put(&mut words, self.secondary_80_mhz);
        RU_OFFSET.put(&mut words, self.ru_offset);
        GUARD_INTERVAL.put(&mut words, self.guard_interval);
        LTF_SYMBOLS.put(&mut words, self.ltf_symbols);
        PRE_FEC.put(&mut words, self.pre_fec_padding);
        BEAMFORMED.put(&mut words, self.beamformed);
        PE_DISAMBIGUITY.put(&mut words, self.pe_disambiguity);
        TXOP.put(&mut words, self.txop);
        MIDAMBLE.put(&mut words, self.midamble_20);
        words[LTF_SIZE.0] |= placed(self.ltf_size.into(), LTF_SIZE.1);
        words[STREAMS.0] |= placed(self.space_time_streams.into(), STREAMS.1);
        words
    }

    pub(super) fn bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        for (pair, word) in bytes.chunks_exact_mut(2).zip(self.words()) {
            pair.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

impl HeFormat {
    /// The format with a number of two bits.
    const fn of(number: u16) -> HeFormat {
        match number {
            0 => HeFormat::Su,
            1 => HeFormat::ExtendedRangeSu,
            2 => HeFormat::Mu,
            _ => HeFormat::TriggerBased,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_definition() {
        // Known: MCS 0020, DCM 0040, coding 0080, STBC 0200, bandwidth 4000; GI 0002, TxBF 0010. MCS 11 and LDPC: 2b00.
        // 80 MHz with 1600 ns: 2 + 10. Two streams.
        let he = He::single_user(11, 2, 80, 1600);
        assert_eq!(he.words(), [0x42e0, 0x0012, 0x2b00, 0, 0x0012, 0x0002]);
        assert_eq!((he.bandwidth_mhz(), he.guard_interval_ns()), (Some(80), Some(1600)));
    }

    #[test]
    fn one_bit_means_sta_id_or_spatial_reuse_by_format() {
        let mu = He { format: HeFormat::Mu, sta_id: Some(0x7ff), ..He::default() };
        assert_eq!(mu.words()[3], 0x7ff0);
        assert_eq!(He::of(&mu.words()), mu);
        let triggered =
            He { format: HeFormat::TriggerBased, spatial_reuse: [Some(1), Some(2), None, Some(4)], ..He::default() };
        assert_eq!(triggered.words()[3], 0x4021);
        assert_eq!(He::of(&triggered.words()), triggered);
    }
}
