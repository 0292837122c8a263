//! One station that always has packets and sends them in A-MPDUs: the cost of a PPDU, and the throughput.
//!
//! TXTIME by the formulas of HT-mixed, VHT and HE PPDUs for one user [802.11-2020 §19.4.3, §21.4.3; 802.11ax-2021
//! §27.4.3], written again from the standard. No other station sends, nothing is lost: each exchange is AIFS, a
//! backoff, the A-MPDU, SIFS and its Block Ack. Left out: the combinations of VHT that need more encoders than their
//! rate implies (some tail bits), the extra segment of LDPC in frames of less than ten codewords, packet extension, the
//! limit of a TXOP.

use lasthop_units::{Bytes, Duration};

/// A format of PPDUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// HT-mixed, convolutional code
    HtMixed,
    /// VHT for one user, convolutional code
    Vht,
    /// HE for one user, LDPC, 2x HE-LTFs up to a guard interval of 1.6 us, then 4x
    HeSu,
}

/// The PHY parameters of a PPDU's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ppdu {
    /// Its format.
    pub format: Format,
    /// N_SD: 52, 108, 234, 468 subcarriers of HT and VHT; 234, 468, 980, 1960 of HE.
    pub subcarriers: u64,
    /// N_BPSCS: 1, 2, 4, 6, 8 or 10 coded bits a subcarrier.
    pub coded_bits: u64,
    /// R, as numerator and denominator.
    pub code_rate: (u64, u64),
    /// N_SS.
    pub streams: u64,
    /// T_GI.
    pub guard_interval: Duration,
}

impl Ppdu {
    /// N_DBPS: `floor(N_SD N_BPSCS N_SS R)`.
    pub fn bits_per_symbol(&self) -> u64 {
        self.subcarriers * self.coded_bits * self.streams * self.code_rate.0 / self.code_rate.1
    }

    /// Rate of the PSDU's bits, bit/s: `N_DBPS / (T_DFT + T_GI)`.
    pub fn rate_bps(&self) -> f64 {
        self.bits_per_symbol() as f64 / self.symbol().as_secs_f64()
    }

    fn symbol(&self) -> Duration {
        let useful_ns = if self.format == Format::HeSu { 12_800 } else { 3200 };
        Duration::from_nanos(useful_ns) + self.guard_interval
    }

    /// Preamble and signal fields: 16 us of legacy training, L-SIG, then
    /// HT-SIG 8, HT-STF 4, HT-LTFs; VHT-SIG-A 8, VHT-STF 4, VHT-LTFs, VHT-SIG-B 4; RL-SIG 4, HE-SIG-A 8, HE-STF 4, HE-LTFs.
    pub fn preamble(&self) -> Duration {
        let us = Duration::from_micros;
        // As many as streams, but even from three on; at most eight.
        let ltfs = if self.streams > 1 { self.streams.next_multiple_of(2) } else { 1 };
        let he_ltf = match self.guard_interval.as_nanos() {
            0..=1600 => Duration::from_nanos(6400) + self.guard_interval,
            _ => Duration::from_nanos(12_800) + self.guard_interval,
        };
        match self.format {
            Format::HtMixed => us(16 + 4 + 8 + 4) + us(4) * ltfs,
            Format::Vht => us(16 + 4 + 8 + 4 + 4) + us(4) * ltfs,
            Format::HeSu => us(16 + 4 + 4 + 8 + 4) + he_ltf * ltfs,
        }
    }

    /// TXTIME of a PSDU in the 5 GHz band: SERVICE of 16 bits, PSDU, six tail bits for each encoder; with
    /// T_GI = 0.4 us the symbols are filled up to whole 4 us.
    pub fn duration(&self, psdu: Bytes) -> Duration {
        let bits = 16 + 8 * psdu.0 + 6 * self.encoders();
        let data = self.symbol() * bits.div_ceil(self.bits_per_symbol());
        let whole = Duration::from_micros(4 * data.as_nanos().div_ceil(4000));
        self.preamble() + if self.guard_interval < Duration::from_nanos(800) { whole } else { data }
    }

    /// N_ES: an encoder for each 300 (HT) or 540 Mbit/s (VHT) begun, at the rate with T_GI = 0.8 us.
    fn encoders(&self) -> u64 {
        let long_mbps = self.bits_per_symbol() as f64 / 4.0;
        match self.format {
            Format::HtMixed => libm::ceil(long_mbps / 300.0) as u64,
            Format::Vht => libm::ceil(long_mbps / 540.0) as u64,
            Format::HeSu => 0,
        }
    }
}

/// The PSDU of an A-MPDU: each MPDU with a delimiter of 4 bytes, all except the last filled up to whole 4 bytes.
/// [802.11-2020 §9.7.1]
pub fn ampdu_bytes(mpdus: u64, mpdu: Bytes) -> Bytes {
    let subframe = 4 + mpdu.0;
    Bytes((mpdus - 1) * subframe.next_multiple_of(4) + subframe)
}

/// The cost of an exchange besides its A-MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// AIFS of the access category.
    pub aifs: Duration,
    /// The mean of a first backoff.
    pub mean_backoff: Duration,
    /// SIFS.
    pub sifs: Duration,
    /// The PPDU of the Block Ack.
    pub block_ack: Duration,
}

/// Throughput in bit/s of exchanges that carry `payload` bytes in an A-MPDU of `psdu` bytes:
/// `8 P / (AIFS + E[backoff] + TXTIME + SIFS + T_BA)`.
pub fn saturated_bps(ppdu: &Ppdu, overhead: &Overhead, psdu: Bytes, payload: Bytes) -> f64 {
    let air = ppdu.duration(psdu) + overhead.sifs + overhead.block_ack;
    let cycle = overhead.aifs + overhead.mean_backoff + air;
    8.0 * payload.0 as f64 / cycle.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 MHz, two streams, 64-QAM 5/6, short guard interval.
    const HT_300: Ppdu = Ppdu {
        format: Format::HtMixed,
        subcarriers: 108,
        coded_bits: 6,
        code_rate: (5, 6),
        streams: 2,
        guard_interval: Duration::from_nanos(400),
    };
    /// AIFS of best effort: 16 + 3 * 9 us; 7.5 slots; a Block Ack of 32 bytes at 24 Mbit/s.
    const BEST_EFFORT: Overhead = Overhead {
        aifs: Duration::from_micros(43),
        mean_backoff: Duration::from_nanos(67_500),
        sifs: Duration::from_micros(16),
        block_ack: Duration::from_micros(32),
    };

    #[test]
    fn three_hundred_megabits_are_three_hundred_megabits() {
        assert_eq!((HT_300.bits_per_symbol(), HT_300.preamble()), (1080, Duration::from_micros(40)));
        assert!((HT_300.rate_bps() - 300e6).abs() < 1.0);
    }

    #[test]
    fn no_more_than_42_packets_of_1500_bytes_go_into_65535() {
        assert_eq!((ampdu_bytes(42, Bytes(1538)), ampdu_bytes(43, Bytes(1538))), (Bytes(64_846), Bytes(66_390)));
    }

    #[test]
    fn the_last_subframe_unfilled_saves_a_symbol_with_16_packets() {
        // 16 + 8 * 24702 + 6 bits: 183.00 symbols of 1080; filled up, 24704 bytes take 184: 658.8 and 662.4 us.
        let of = |psdu| HT_300.duration(psdu).as_nanos();
        assert_eq!((of(ampdu_bytes(16, Bytes(1538))), of(Bytes(24_704))), (40_000 + 660_000, 40_000 + 664_000));
    }

    #[test]
    fn vht_at_867_megabits_by_hand() {
        let vht = Ppdu { format: Format::Vht, subcarriers: 234, coded_bits: 8, ..HT_300 };
        // 64 MPDUs: 63 * 1544 + 1542 = 98814 bytes; 16 + 790512 + 12 bits: 253.4 symbols of 3120; 254 * 3.6 = 914.4,
        // filled up 916 us; 36 us and two VHT-LTFs.
        let psdu = ampdu_bytes(64, Bytes(1538));
        assert_eq!(vht.duration(psdu), Duration::from_micros(44 + 916));
        // 64 * 12000 bits in 43 + 67.5 + 960 + 16 + 32 us.
        let found = saturated_bps(&vht, &BEST_EFFORT, psdu, Bytes(64 * 1500));
        assert!((found * 1118.5e-6 / 768_000.0 - 1.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn he_at_1201_megabits_by_hand() {
        let guard_interval = Duration::from_nanos(800);
        let he = Ppdu { format: Format::HeSu, subcarriers: 980, coded_bits: 10, guard_interval, ..HT_300 };
        // 256 MPDUs: 255 * 1544 + 1542 = 395262 bytes; 16 + 3162096 bits: 193.6 symbols of 16333; 36 us and two
        // HE-LTFs of 7.2 us.
        let psdu = ampdu_bytes(256, Bytes(1538));
        assert_eq!(he.duration(psdu), Duration::from_nanos(36_000 + 14_400 + 194 * 13_600));
        // A Block Ack for 256 frames has 56 bytes: 40 us at 24 Mbit/s.
        let overhead = Overhead { block_ack: Duration::from_micros(40), ..BEST_EFFORT };
        let found = saturated_bps(&he, &overhead, psdu, Bytes(256 * 1500));
        assert!((found * 2855.3e-6 / 3_072_000.0 - 1.0).abs() < 1e-12, "{found}");
    }
}
