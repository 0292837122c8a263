//! Times on the air and between frames.

use lasthop_units::{Bytes, Duration};

use super::air_time::OFDM_SYMBOL;
use super::{Answers, Coding, ModeId, Phy, frame_size};

impl Phy {
    /// aSIFSTime.
    pub fn sifs(&self) -> Duration {
        self.sifs
    }
    /// aSlotTime.
    pub fn slot(&self) -> Duration {
        self.slot
    }
    /// SIFS and one slot. [802.11-2020 §10.3.7]
    pub fn pifs(&self) -> Duration {
        self.sifs + self.slot
    }
    /// SIFS and two slots. [802.11-2020 §10.3.7]
    pub fn difs(&self) -> Duration {
        self.sifs + self.slot * 2
    }

    /// Time on the air of a PPDU with `psdu` bytes, to the nanosecond.
    ///
    /// A DSSS frame ends with its last bit: TXTIME of the standard, whose LENGTH field counts whole microseconds,
    /// rounds up [802.11-2020 §16.3.4]; ns-2, ns-3 and the closed forms do not, and a transmitter stops after its last
    /// bit. For other frames this is TXTIME as written.
    /// [802.11-2020 §17.4.3, §18.5.3.2, §19.4.3, §21.4.3; 802.11ax-2021 §27.4.3]
    #[inline]
    pub fn ppdu_duration(&self, mode: ModeId, psdu: Bytes) -> Duration {
        let (row, air) = (&self.modes[mode.index()], &self.air_times[mode.index()]);
        if air.symbol_ns == 0 {
            return Duration::from_nanos(air.around_data_ns) + row.rate.time_for(psdu);
        }
        let bits = air.framing_bits + 8 * psdu.0 as u32;
        let symbols = match &row.coding {
            Coding::Ldpc(code) => code.symbols(bits, row.bits_per_symbol),
            _ => bits.div_ceil(row.bits_per_symbol),
        };
        let data_ns = u64::from(symbols) * air.symbol_ns;
        let whole_ns = if air.fills_up { data_ns.next_multiple_of(OFDM_SYMBOL.as_nanos()) } else { data_ns };
        Duration::from_nanos(air.around_data_ns + whole_ns)
    }

    /// aRxPHYStartDelay: time from the start of a PPDU until its receiver knows that one has come; with OFDM and later
    /// standards until the end of L-SIG. [802.11-2020 §15-§18, PHY characteristics]
    pub fn rx_start_delay(&self, mode: ModeId) -> Duration {
        Duration::from_nanos(self.air_times[mode.index()].known_after_ns)
    }

    /// Time from the start of a PPDU to its data field: preamble and PHY header, with training fields.
    pub fn header_duration(&self, mode: ModeId) -> Duration {
        Duration::from_nanos(self.air_times[mode.index()].before_data_ns)
    }

    /// Time on the air of the Ack that answers a frame sent in `frame`.
    pub fn ack_duration(&self, frame: ModeId) -> Duration {
        self.answers[frame.index()].ack
    }

    /// Computes the times that follow a frame sent in `frame`.
    pub(super) fn reckon_answers(&self, frame: ModeId) -> Answers {
        let mode = self.control_response_mode(frame);
        Answers {
            ack: self.ppdu_duration(mode, frame_size::ACK),
            block_ack: self.ppdu_duration(mode, self.block_ack_bytes()),
            eifs: self.reckon_eifs(mode),
        }
    }

    fn reckon_eifs(&self, response: ModeId) -> Duration {
        let class = self.mode(response).class;
        let lowest = self.modes.iter().position(|m| m.class == class && m.mandatory);
        let lowest = ModeId(lowest.expect("every class has a mandatory mode") as u16);
        self.sifs + self.ppdu_duration(lowest, frame_size::ACK) + self.difs()
    }

    /// ACKTimeout and CTSTimeout: the time that a sender waits after its frame for a response in mode `response` to
    /// begin. [802.11-2020 §10.3.2.11]
    pub fn ack_timeout(&self, response: ModeId) -> Duration {
        self.sifs + self.slot + self.rx_start_delay(response)
    }

    /// Time on the air of the BlockAck that answers an A-MPDU sent in `frame`.
    pub fn block_ack_duration(&self, frame: ModeId) -> Duration {
        self.answers[frame.index()].block_ack
    }

    /// EIFS after a frame sent in `frame` that could not be decoded: SIFS, the longest Ack that may answer it, and
    /// DIFS. That Ack is sent at the lowest mandatory rate of the frame's class, or of OFDM after a frame with an MCS.
    /// [802.11-2020 §10.3.2.3.7]
    pub fn eifs(&self, frame: ModeId) -> Duration {
        self.answers[frame.index()].eifs
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PhyOptions, Preamble, Standard};
    use super::*;
    use lasthop_units::DataRate;

    fn phy(name: &str, preamble: Option<Preamble>) -> Phy {
        let options = PhyOptions { preamble, ..PhyOptions::new(Standard::named(name).unwrap()) };
        options.resolve("bss").unwrap()
    }
    fn mode(phy: &Phy, rate_100kbps: u64) -> ModeId {
        phy.mode_of_rate(DataRate::from_100kbps(rate_100kbps)).unwrap()
    }
    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn a_dsss_frame_lasts_to_its_last_bit() {
        let b = phy("802.11b", None);
        // 192 us + 1536 * 8 / 11 us = 1309.0909 us, rounded up to whole nanoseconds.
        assert_eq!(b.ppdu_duration(mode(&b, 110), Bytes(1536)), Duration::from_nanos(1_309_091));
    }

    #[test]
    fn one_megabit_never_has_the_short_preamble() {
        let b = phy("802.11b", Some(Preamble::Short));
        assert_eq!(b.ppdu_duration(mode(&b, 10), Bytes(14)), us(192 + 112));
        assert_eq!(b.ppdu_duration(mode(&b, 20), Bytes(14)), us(96 + 56));
    }

    #[test]
    fn an_ofdm_frame_fills_whole_symbols() {
        let a = phy("802.11a", None);
        // 22 + 8 * 238 = 1926 bits: 8.9 symbols of 216.
        assert_eq!(a.ppdu_duration(mode(&a, 540), Bytes(238)), us(20 + 4 * 9));
        // 22 bits fit a symbol of 24, 30 do not.
        assert_eq!(a.ppdu_duration(mode(&a, 60), Bytes(0)), us(24));
        assert_eq!(a.ppdu_duration(mode(&a, 60), Bytes(1)), us(28));
    }

    #[test]
    fn erp_ofdm_adds_the_signal_extension() {
        let (a, g) = (phy("802.11a", None), phy("802.11g", None));
        assert_eq!(g.ppdu_duration(mode(&g, 540), Bytes(1536)), a.ppdu_duration(mode(&a, 540), Bytes(1536)) + us(6));
    }

    #[test]
    fn eifs_has_an_ack_at_the_lowest_rate_of_the_class() {
        let (a, b, g) = (phy("802.11a", None), phy("802.11b", None), phy("802.11g", None));
        assert_eq!(a.eifs(mode(&a, 540)), us(16 + 44 + 34));
        assert_eq!(b.eifs(mode(&b, 110)), us(10 + 304 + 50));
        assert_eq!(g.eifs(mode(&g, 540)), us(10 + 50 + 28));
        assert_eq!(g.eifs(mode(&g, 110)), us(10 + 304 + 28));
    }

    #[test]
    fn an_ack_is_given_up_when_its_preamble_should_be_over() {
        let (a, b, g) = (phy("802.11a", None), phy("802.11b", Some(Preamble::Short)), phy("802.11g", None));
        assert_eq!(a.ack_timeout(mode(&a, 240)), us(16 + 9 + 20));
        assert_eq!(b.ack_timeout(mode(&b, 110)), us(10 + 20 + 96));
        assert_eq!(b.ack_timeout(mode(&b, 10)), us(10 + 20 + 192));
        assert_eq!(g.ack_timeout(mode(&g, 240)), us(10 + 9 + 20));
    }

    #[test]
    fn inter_frame_spaces_are_sifs_and_slots() {
        let all = ["802.11a", "802.11b", "802.11g"].map(|n| phy(n, None));
        assert_eq!(all.each_ref().map(Phy::difs), [us(34), us(50), us(28)]);
        assert_eq!(all.each_ref().map(Phy::pifs), [us(25), us(30), us(19)]);
    }

    use super::super::{ChannelWidth, GuardInterval};

    fn wide(name: &str, width: ChannelWidth, streams: u8, guard_interval: GuardInterval) -> Phy {
        let options = PhyOptions {
            channel_width: Some(width),
            spatial_streams: Some(streams),
            guard_interval: Some(guard_interval),
            ..PhyOptions::new(Standard::named(name).unwrap())
        };
        options.resolve("bss").unwrap()
    }
    fn last_with(name: &str, width: ChannelWidth, streams: u8, gi: GuardInterval, mcs: u8, psdu: u64) -> Duration {
        let phy = wide(name, width, streams, gi);
        phy.ppdu_duration(phy.mode_of_mcs(mcs).unwrap(), Bytes(psdu))
    }

    #[test]
    fn ht_frames_last_as_in_the_standards_formulas() {
        use ChannelWidth::{Mhz20, Mhz40};
        use GuardInterval::{Long, Short};
        let ht = |width, streams, gi, mcs, psdu| last_with("802.11n", width, streams, gi, mcs, psdu);
        // 36 us before the data; 16 + 12000 + 6 bits: 462.4 symbols of 26.
        assert_eq!(ht(Mhz20, 1, Long, 0, 1500), us(36 + 4 * 463));
        // 46.2 symbols of 260, 47 of 3.6 us: 169.2 us fill 43 of 4 us.
        assert_eq!(ht(Mhz20, 1, Short, 7, 1500), us(36 + 4 * 43));
        // Two streams, two HT-LTFs; 16 + 12336 + 6 bits: 11.4 symbols of 1080, 12 of 3.6 us: 43.2 us.
        assert_eq!(ht(Mhz40, 2, Short, 15, 1542), us(40 + 44));
        // 16 + 518768 + 6 bits: 480.4 symbols, 481 of 3.6 us: 1731.6 us.
        assert_eq!(ht(Mhz40, 2, Short, 15, 64_846), us(40 + 1732));
        // Three streams have four HT-LTFs; 405 Mbit/s two encoders: 16 + 80000 + 12 bits: 49.4 symbols of 1620.
        assert_eq!(ht(Mhz40, 3, Long, 23, 10_000), us(48 + 4 * 50));
        // Four streams, 540 Mbit/s: 16 + 524280 + 12 bits: 242.7 symbols of 2160.
        assert_eq!(ht(Mhz40, 4, Long, 31, 65_535), us(48 + 4 * 243));
    }

    #[test]
    fn vht_frames_have_sig_b_and_the_encoders_of_the_tables() {
        use ChannelWidth::{Mhz20, Mhz80, Mhz160};
        use GuardInterval::{Long, Short};
        let vht = |width, streams, gi, mcs, psdu| last_with("802.11ac", width, streams, gi, mcs, psdu);
        // 40 us before the data; 16 + 12352 + 6 bits: 39.7 symbols of 312.
        assert_eq!(vht(Mhz20, 1, Long, 8, 1544), us(40 + 4 * 40));
        // 433.3 Mbit/s, one encoder: 16 + 12352 + 6 bits: 7.9 symbols of 1560, 8 of 3.6 us: 28.8 us.
        assert_eq!(vht(Mhz80, 1, Short, 9, 1544), us(40 + 32));
        // 866.7 Mbit/s, two encoders, two VHT-LTFs: 16 + 800000 + 12 bits: 256.4 symbols of 3120, 257 of 3.6: 925.2.
        assert_eq!(vht(Mhz80, 2, Short, 9, 100_000), us(44 + 928));
        // 80 MHz, seven streams, MCS 7: six encoders although four would do, 36 bits of tail; eight VHT-LTFs. 16 + 8 *
        // 100337 + 36 bits = 98.0 symbols of 8190 and 128 bits more: 99 symbols.
        assert_eq!(vht(Mhz80, 7, Long, 7, 100_337), us(68 + 4 * 99));
        assert_eq!(vht(Mhz80, 7, Long, 7, 100_321), us(68 + 4 * 98));
        assert_eq!(vht(Mhz80, 7, Long, 7, 100_320), us(68 + 4 * 98));
        // 6933.3 Mbit/s: 16 + 8000000 + 72 bits: 320.5 symbols of 24960, 321 of 3.6 us: 1155.6.
        assert_eq!(vht(Mhz160, 8, Short, 9, 1_000_000), us(68 + 1156));
    }

    #[test]
    fn he_frames_have_long_symbols_and_training_by_the_guard_interval() {
        use ChannelWidth::{Mhz20, Mhz80, Mhz160};
        use GuardInterval::{Us0_8, Us1_6, Us3_2};
        let he = |width, streams, gi, mcs, psdu| last_with("802.11ax", width, streams, gi, mcs, psdu).as_nanos();
        // 36 us and an HE-LTF of 7.2 us; 16 + 12352 bits: 6.3 symbols of 1950 at 13.6 us.
        assert_eq!(he(Mhz20, 1, Us0_8, 11, 1544), 36_000 + 7200 + 7 * 13_600);
        // 16 us each; 105.7 symbols of 117 at 16 us.
        assert_eq!(he(Mhz20, 1, Us3_2, 0, 1544), 36_000 + 16_000 + 106 * 16_000);
        // Two HE-LTFs; 16 + 3162112 bits: 193.6 symbols of 16333.
        assert_eq!(he(Mhz80, 2, Us0_8, 11, 395_264), 36_000 + 2 * 7200 + 194 * 13_600);
        assert_eq!(he(Mhz80, 2, Us1_6, 11, 395_264), 36_000 + 2 * 8000 + 194 * 14_400);
        // Eight of them; 16 + 8000000 bits: 61.2 symbols of 130666.
        assert_eq!(he(Mhz160, 8, Us0_8, 11, 1_000_000), 36_000 + 8 * 7200 + 62 * 13_600);
    }

    #[test]
    fn the_lower_band_has_short_spaces_and_the_signal_extension() {
        let on =
            |channel| PhyOptions { channel: Some(channel), ..PhyOptions::new(Standard::named("802.11n").unwrap()) };
        let (low, high) = (on(6).resolve("bss").unwrap(), on(36).resolve("bss").unwrap());
        assert_eq!((low.sifs(), high.sifs(), low.slot(), high.slot()), (us(10), us(16), us(9), us(9)));
        for mode in (0..low.modes().len() as u16).map(ModeId) {
            assert_eq!(low.ppdu_duration(mode, Bytes(777)), high.ppdu_duration(mode, Bytes(777)) + us(6));
        }
    }

    #[test]
    fn a_block_ack_at_24_megabits_lasts_32_us() {
        let n = wide("802.11n", ChannelWidth::Mhz40, 2, GuardInterval::Short);
        let fast = n.mode_of_mcs(15).unwrap();
        // 16 + 8 * 32 + 6 = 278 bits: 2.9 symbols of 96.
        assert_eq!((n.block_ack_duration(fast), n.ack_duration(fast)), (us(20 + 12), us(28)));
        // 56 bytes: 470 bits.
        let ax = wide("802.11ax", ChannelWidth::Mhz80, 2, GuardInterval::Us0_8);
        assert_eq!(ax.block_ack_duration(ax.mode_of_mcs(11).unwrap()), us(20 + 20));
        assert_eq!(n.eifs(fast), us(16 + 44 + 34));
        assert_eq!(n.ack_timeout(n.control_response_mode(fast)), us(16 + 9 + 20));
    }
}
