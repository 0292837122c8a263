//! Resource units of HE, and PPDUs of several users. [802.11ax-2021 §27.3.2, §27.3.11.8, §27.4.3]
//!
//! ```text
//! 20 MHz   9 x 26   or  4 x 52   or  2 x 106  or  1 x 242 tones; two of these blocks make 484 tones, four with the 26
//!          tones between them 996
//! HE MU    preamble 16 | L-SIG 4 | RL-SIG 4 | HE-SIG-A 8 | HE-SIG-B 4 each | HE-STF 4 | HE-LTFs | symbols of the longest user
//! HE TB    preamble 16 | L-SIG 4 | RL-SIG 4 | HE-SIG-A 8 |                   HE-STF 8 | HE-LTFs | symbols as the trigger says
//! ```
//!
//! All symbols of a PPDU have one guard interval; in an HE TB PPDU 1.6 or 3.2 us. Each user has its own MCS, streams and
//! LDPC code. Left out: convolutional codes on small units, midambles, packet extension, several users in one unit
//! (MU-MIMO), punctured channels.

use lasthop_units::{Bytes, DataRate, Duration};

use super::air_time::{
    HE_STF_TRIGGERED, OFDM_PREAMBLE, SERVICE_BITS, SIG_A, SIG_B, SIGNAL_EXTENSION, STF, he_ltf, ltfs,
};
use super::ldpc::LdpcCode;
use super::{ChannelWidth, ModeId, Phy};

/// Sizes of resource units, by their tones (subcarriers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ru {
    /// 26
    Tones26,
    /// 52
    Tones52,
    /// 106
    Tones106,
    /// 242: all of 20 MHz
    Tones242,
    /// 484: all of 40 MHz
    Tones484,
    /// 996: all of 80 MHz
    Tones996,
    /// 2 x 996: all of 160 MHz
    Tones2x996,
}

/// Bits of a user of a block of the HE-SIG-B field. [802.11ax-2021 Table 27-28]
const SIG_B_USER: u32 = 21;
/// CRC and tail of a block. [802.11ax-2021 §27.3.11.8.2]
const SIG_B_CRC_AND_TAIL: u32 = 4 + 6;
/// Data subcarriers of the HE-SIG-B field in 20 MHz. [802.11ax-2021 Table 27-14]
const SIG_B_SUBCARRIERS: u32 = 52;
/// The highest MCS of the HE-SIG-B field. [802.11ax-2021 Table 27-20]
const SIG_B_HIGHEST_MCS: u8 = 5;

impl Ru {
    /// All sizes, in rising order.
    pub const ALL: [Ru; 7] =
        [Ru::Tones26, Ru::Tones52, Ru::Tones106, Ru::Tones242, Ru::Tones484, Ru::Tones996, Ru::Tones2x996];

    /// Number of its tones.
    pub const fn tones(self) -> u32 {
        [26, 52, 106, 242, 484, 996, 1992][self as usize]
    }
    /// N_SD: data subcarriers. [802.11ax-2021 Table 27-14]
    pub const fn data_subcarriers(self) -> u32 {
        [24, 48, 102, 234, 468, 980, 1960][self as usize]
    }
    /// N_SD,short: data subcarriers in a segment of the last symbol. [802.11ax-2021 Table 27-33]
    const fn segment_subcarriers(self) -> u32 {
        [6, 12, 24, 60, 120, 240, 492][self as usize]
    }
    /// The largest number of them in a channel. [802.11ax-2021 Table 27-8]
    pub fn in_channel(self, width: ChannelWidth) -> u32 {
        let blocks = u32::from(width.mhz()) / 20;
        match self {
            // 80 MHz have 26 tones more between their halves.
            Ru::Tones26 => 9 * blocks + blocks / 4,
            Ru::Tones52 => 4 * blocks,
            Ru::Tones106 => 2 * blocks,
            Ru::Tones242 => blocks,
            Ru::Tones484 => blocks / 2,
            Ru::Tones996 => blocks / 4,
            Ru::Tones2x996 => blocks / 8,
        }
    }
    /// All of a channel.
    pub fn whole(width: ChannelWidth) -> Ru {
        [Ru::Tones242, Ru::Tones484, Ru::Tones996, Ru::Tones2x996][width as usize]
    }
    /// The size that serves the most of `users` with units of one size, and their number. Some units of 26
    /// tones may stay unused.
    pub fn equal(width: ChannelWidth, users: u32) -> (Ru, u32) {
        let fits = |ru: &&Ru| ru.in_channel(width) > 0 && ru.in_channel(width) <= users.max(1);
        let smallest = *Ru::ALL.iter().find(fits).unwrap_or(&Ru::whole(width));
        (smallest, smallest.in_channel(width).min(users.max(1)))
    }
}

/// The part of a PPDU for one of its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuPart {
    /// MCS and streams: those of a mode of the whole channel
    pub mode: ModeId,
    /// its unit
    pub ru: Ru,
    /// its PSDU
    pub psdu: Bytes,
}

impl Phy {
    /// Returns whether it sends PPDUs of several users: 802.11ax.
    pub fn has_several_users(&self) -> bool {
        self.choice.is_some_and(|_| self.modes.iter().any(|mode| mode.class == super::ModulationClass::He))
    }

    /// Data bits in a symbol of a mode on a resource unit, and the code.
    fn on_ru(&self, mode: ModeId, ru: Ru) -> (u32, LdpcCode) {
        let mode = self.mode(mode);
        let bits = mode.modulation.coded_bits() * u32::from(mode.streams);
        let coded = ru.data_subcarriers() * bits;
        (mode.code_rate.of(coded), LdpcCode::new(mode.code_rate, coded, ru.segment_subcarriers() * bits))
    }

    /// N_SYM of a user.
    fn symbols_on_ru(&self, part: &RuPart) -> u32 {
        let (bits, code) = self.on_ru(part.mode, part.ru);
        code.symbols(SERVICE_BITS + 8 * part.psdu.0 as u32, bits)
    }

    /// Symbols of HE-SIG-B for users with units of these sizes, in order of frequency, of which the slowest has `lowest`.
    ///
    /// Odd and even blocks of 20 MHz have content channels of their own; a unit wider than a block is listed in the one
    /// with fewer users. Each has the allocation (8 bits for each of its blocks, one for the central 26 tones of 80 MHz), then
    /// users two by two. It is sent at the MCS of the slowest user, but at no more than MCS 5.
    fn sig_b_symbols(&self, rus: impl Iterator<Item = Ru>, lowest: ModeId) -> u32 {
        let width = self.channel_width().unwrap_or(ChannelWidth::Mhz20);
        let (mut users, mut before, mut wide) = ([0_u32; 2], 0, 0);
        let channels: usize = if width == ChannelWidth::Mhz20 { 1 } else { 2 };
        for ru in rus {
            if ru > Ru::Tones242 {
                wide += 1;
            } else {
                // A block holds 9, 4, 2 or 1 of them: 36 parts.
                users[before / 36 % channels] += 1;
                before += [4, 9, 18, 36][ru as usize];
            }
        }
        for _ in 0..wide {
            let fewer = usize::from(channels == 2 && users[1] < users[0]);
            users[fewer] += 1;
        }
        let blocks = u32::from(width.mhz()) / 20;
        let common = 8 * blocks.div_ceil(2) + u32::from(blocks >= 4) + SIG_B_CRC_AND_TAIL;
        let of_users =
            |n: u32| (n / 2) * (2 * SIG_B_USER + SIG_B_CRC_AND_TAIL) + (n % 2) * (SIG_B_USER + SIG_B_CRC_AND_TAIL);
        let bits = common + users.into_iter().map(of_users).max().unwrap_or(0);
        let modes = || self.modes.iter().filter(|mode| mode.streams == 1);
        let highest = self.mode(lowest).mcs.map_or(0, |mcs| mcs.min(SIG_B_HIGHEST_MCS));
        let scheme = modes().find(|mode| mode.mcs == Some(highest)).unwrap_or(self.mode(lowest));
        bits.div_ceil(scheme.code_rate.of(SIG_B_SUBCARRIERS * scheme.modulation.coded_bits()))
    }

    /// Time on the air of an HE MU PPDU with these parts, in order of frequency; as long as its longest user needs.
    ///
    /// # Panics
    /// Without a part.
    pub fn he_mu_duration(&self, parts: &[RuPart]) -> Duration {
        let lowest = parts.iter().map(|part| part.mode).min_by_key(|id| self.mode(*id).mcs).expect("it has users");
        let sig_b = SIG_B * u64::from(self.sig_b_symbols(parts.iter().map(|part| part.ru), lowest));
        let guard = self.mode(lowest).guard_interval;
        self.around_ru_data(parts, guard, STF) + sig_b + self.ru_data(parts, guard)
    }

    /// Time on the air of an HE TB PPDU of these parts.
    pub fn he_tb_duration(&self, parts: &[RuPart]) -> Duration {
        let guard = self.triggered_guard_interval();
        self.around_ru_data(parts, guard, HE_STF_TRIGGERED) + self.ru_data(parts, guard)
    }

    /// The longest PSDU of a part of an HE MU or HE TB PPDU that has `data` for its symbols.
    pub fn longest_on_ru(&self, mode: ModeId, ru: Ru, data: Duration, triggered: bool) -> Bytes {
        let guard = self.guard_interval_of_ru(mode, triggered);
        let symbols = data.as_nanos() / (USEFUL + guard).as_nanos();
        let bits = u64::from(self.on_ru(mode, ru).0) * symbols;
        let mut psdu = Bytes(bits.saturating_sub(u64::from(SERVICE_BITS)) / 8);
        // The code may need a symbol more for the last bits.
        while psdu.0 > 0 && u64::from(self.symbols_on_ru(&RuPart { mode, ru, psdu })) > symbols {
            psdu = Bytes(psdu.0 - 1);
        }
        psdu
    }

    /// The longest time of whole symbols of an HE TB PPDU within `data`.
    pub fn whole_symbols(&self, data: Duration) -> Duration {
        let symbol = USEFUL + self.triggered_guard_interval();
        symbol * (data.as_nanos() / symbol.as_nanos())
    }

    /// The guard interval of HE TB PPDUs: 3.2 us in a BSS that uses it, else 1.6 us. [802.11ax-2021 §27.3.11.10]
    fn triggered_guard_interval(&self) -> Duration {
        let own = self.guard_interval().map_or(Duration::ZERO, |guard| guard.duration());
        own.max(Duration::from_nanos(1600))
    }

    /// Duration of everything but the symbols and HE-SIG-B.
    fn around_ru_data(&self, parts: &[RuPart], guard: Duration, stf: Duration) -> Duration {
        let streams = parts.iter().map(|part| self.mode(part.mode).streams).max().unwrap_or(1);
        let extension = if self.is_lower_band() { SIGNAL_EXTENSION } else { Duration::ZERO };
        OFDM_PREAMBLE + SIG_B + SIG_A + stf + he_ltf(guard) * ltfs(streams) + extension
    }

    /// PHY rate of a mode of the whole channel on a resource unit.
    pub fn rate_on_ru(&self, mode: ModeId, ru: Ru, triggered: bool) -> DataRate {
        let symbol = USEFUL + self.guard_interval_of_ru(mode, triggered);
        DataRate::from_bps(u64::from(self.on_ru(mode, ru).0) * 1_000_000_000 / symbol.as_nanos())
    }

    /// Guard interval of an HE TB PPDU, or of an HE MU PPDU whose users have modes with the one of `mode`.
    pub fn guard_interval_of_ru(&self, mode: ModeId, triggered: bool) -> Duration {
        if triggered { self.triggered_guard_interval() } else { self.mode(mode).guard_interval }
    }

    /// Time of the symbols of a part of an HE MU or HE TB PPDU, without padding.
    pub fn data_on_ru(&self, part: &RuPart, triggered: bool) -> Duration {
        let guard = self.guard_interval_of_ru(part.mode, triggered);
        self.ru_data(std::slice::from_ref(part), guard)
    }

    fn ru_data(&self, parts: &[RuPart], guard: Duration) -> Duration {
        let symbols = parts.iter().map(|part| self.symbols_on_ru(part)).max().unwrap_or(0);
        (USEFUL + guard) * u64::from(symbols)
    }

    /// Time that an HE MU or HE TB PPDU for parts in these modes and units of one size takes besides its symbols.
    pub fn ru_overhead(&self, modes: &[ModeId], ru: Ru, triggered: bool) -> Duration {
        let parts: Vec<RuPart> = modes.iter().map(|&mode| RuPart { mode, ru, psdu: Bytes(0) }).collect();
        let (all, guard) = if triggered {
            (self.he_tb_duration(&parts), self.triggered_guard_interval())
        } else {
            (self.he_mu_duration(&parts), self.mode(modes[0]).guard_interval)
        };
        all - self.ru_data(&parts, guard)
    }
}

/// T_DFT,HE. [802.11ax-2021 Table 27-12]
const USEFUL: Duration = Duration::from_nanos(12_800);

#[cfg(test)]
mod tests {
    use super::super::{GuardInterval, PhyOptions, Standard};
    use super::*;

    fn phy(width: ChannelWidth, streams: u8, guard_interval: GuardInterval) -> Phy {
        let options = PhyOptions {
            channel_width: Some(width),
            spatial_streams: Some(streams),
            guard_interval: Some(guard_interval),
            ..PhyOptions::new(Standard::named("802.11ax").unwrap())
        };
        options.resolve("bss").unwrap()
    }

    const WIDTHS: [ChannelWidth; 4] =
        [ChannelWidth::Mhz20, ChannelWidth::Mhz40, ChannelWidth::Mhz80, ChannelWidth::Mhz160];

    #[test]
    fn units_are_as_many_as_in_the_standard() {
        // [802.11ax-2021 Table 27-8]
        let of = |ru: Ru| WIDTHS.map(|width| ru.in_channel(width));
        assert_eq!(of(Ru::Tones26), [9, 18, 37, 74]);
        assert_eq!(of(Ru::Tones52), [4, 8, 16, 32]);
        assert_eq!(of(Ru::Tones106), [2, 4, 8, 16]);
        assert_eq!(of(Ru::Tones242), [1, 2, 4, 8]);
        assert_eq!(of(Ru::Tones484), [0, 1, 2, 4]);
        assert_eq!(of(Ru::Tones996), [0, 0, 1, 2]);
        assert_eq!(of(Ru::Tones2x996), [0, 0, 0, 1]);
    }

    #[test]
    fn equal_units_serve_as_many_users_as_they_can() {
        let of = |users| Ru::equal(ChannelWidth::Mhz80, users);
        assert_eq!([1, 2, 3].map(of), [(Ru::Tones996, 1), (Ru::Tones484, 2), (Ru::Tones484, 2)]);
        assert_eq!([4, 7, 8, 16].map(of), [(Ru::Tones242, 4), (Ru::Tones242, 4), (Ru::Tones106, 8), (Ru::Tones52, 16)]);
        assert_eq!([36, 37, 50].map(of), [(Ru::Tones52, 16), (Ru::Tones26, 37), (Ru::Tones26, 37)]);
        assert_eq!(Ru::equal(ChannelWidth::Mhz20, 3), (Ru::Tones106, 2));
    }

    #[test]
    fn two_users_of_1536_bytes_last_as_in_ns_3() {
        // ns-3.44's tx-duration-test, testHeMuTxDuration: 1493.6 us, with an HE-LTF of 8 us where the standard has 7.2 us
        // with a guard interval of 0.8 us. 12304 bits: 105.2 symbols of 117; two symbols of HE-SIG-B: 49 bits of 26.
        let phy = phy(ChannelWidth::Mhz40, 1, GuardInterval::Us0_8);
        let part = |psdu| RuPart { mode: phy.mode_of_mcs(0).unwrap(), ru: Ru::Tones242, psdu: Bytes(psdu) };
        let expected = Duration::from_nanos(1_493_600 - 800);
        assert_eq!(phy.he_mu_duration(&[part(1536), part(1536)]), expected);
        assert_eq!(phy.he_mu_duration(&[part(1536), part(100)]), expected, "the longest user counts");
    }

    #[test]
    fn a_user_of_all_tones_has_the_symbols_of_a_ppdu_for_one() {
        for width in WIDTHS {
            let phy = phy(width, 2, GuardInterval::Us1_6);
            for mcs in 0..12 {
                let mode = phy.mode_of_mcs(mcs).unwrap();
                for psdu in [100, 1536, 20_000, 100_000].map(Bytes) {
                    let part = RuPart { mode, ru: Ru::whole(width), psdu };
                    let data = phy.ppdu_duration(mode, psdu) - phy.header_duration(mode);
                    assert_eq!(phy.ru_data(&[part], GuardInterval::Us1_6.duration()), data, "{width:?} {mcs} {psdu:?}");
                    // HE-STF of 8 us instead of 4.
                    assert_eq!(phy.he_tb_duration(&[part]), phy.ppdu_duration(mode, psdu) + Duration::from_micros(4));
                }
            }
        }
    }

    #[test]
    fn sig_b_grows_with_users_and_shrinks_with_the_mcs() {
        let phy = phy(ChannelWidth::Mhz80, 1, GuardInterval::Us3_2);
        let symbols = |ru: Ru, users: usize, mcs| {
            phy.sig_b_symbols(std::iter::repeat_n(ru, users), phy.mode_of_mcs(mcs).unwrap())
        };
        // Each content channel: 16 + 1 + 10 bits; two users 52 bits: 79 bits at 26, 208 bits a symbol.
        assert_eq!((symbols(Ru::Tones242, 4, 0), symbols(Ru::Tones242, 4, 5)), (4, 1));
        // Eight users of 106 tones: four in each: 27 + 104 = 131 bits.
        assert_eq!((symbols(Ru::Tones106, 8, 0), symbols(Ru::Tones106, 8, 11)), (6, 1));
        // Two wide units are listed in one channel each: 27 + 31 = 58 bits.
        assert_eq!(symbols(Ru::Tones484, 2, 0), 3);
        let narrow = super::tests::phy(ChannelWidth::Mhz20, 1, GuardInterval::Us3_2);
        // One content channel: 8 + 10 bits, nine users: 4 * 52 + 31: 257 bits.
        assert_eq!(narrow.sig_b_symbols(std::iter::repeat_n(Ru::Tones26, 9), narrow.mode_of_mcs(0).unwrap()), 10);
    }

    #[test]
    fn the_longest_psdu_fits_and_one_byte_more_does_not() {
        for width in WIDTHS {
            let phy = phy(width, 2, GuardInterval::Us0_8);
            for (ru, mcs, us, triggered) in
                [(Ru::Tones26, 0, 3000, true), (Ru::Tones52, 7, 1234, false), (Ru::Tones242, 11, 5000, true)]
            {
                let (mode, data) = (phy.mode_of_mcs(mcs).unwrap(), Duration::from_micros(us));
                let longest = phy.longest_on_ru(mode, ru, data, triggered);
                let guard = Duration::from_nanos(if triggered { 1600 } else { 800 });
                let lasts = |psdu| phy.ru_data(&[RuPart { mode, ru, psdu }], guard);
                assert!(lasts(longest) <= data && lasts(Bytes(longest.0 + 1)) > data, "{width:?} {ru:?}");
            }
        }
    }

    #[test]
    fn a_triggered_ppdu_has_a_long_guard_interval() {
        let of = |guard| {
            let phy = phy(ChannelWidth::Mhz20, 1, guard);
            phy.he_tb_duration(&[RuPart { mode: phy.mode_of_mcs(0).unwrap(), ru: Ru::Tones242, psdu: Bytes(8) }])
        };
        // 80 bits: one symbol; 40 us, an HE-LTF of 8 or 16 us, a symbol of 14.4 or 16 us.
        assert_eq!(of(GuardInterval::Us0_8), Duration::from_nanos(40_000 + 8000 + 14_400));
        assert_eq!(of(GuardInterval::Us3_2), Duration::from_nanos(40_000 + 16_000 + 16_000));
    }
}
