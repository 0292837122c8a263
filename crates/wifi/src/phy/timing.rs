//! Times on the air and between frames.
//!
//! ```text
//! DSSS   | preamble and PLCP header  192 or 96 us | 8 L bits at the rate                  |
//! OFDM   | preamble 16 us | SIGNAL 4 us | symbols of 4 us: SERVICE 16, 8 L, tail 6, padding | ERP: 6 us silence |
//! ```

use lasthop_units::{Bytes, Duration};

use super::{ModeId, Modulation, ModulationClass, Phy, Preamble, frame_size};

/// Long PLCP preamble and header: 144 + 48 us at 1 Mbit/s. [802.11-2020 §16.2.2.2]
const DSSS_LONG: Duration = Duration::from_micros(192);
/// Short ones: 72 us at 1 Mbit/s + 24 us at 2 Mbit/s. [802.11-2020 §16.2.2.3]
const DSSS_SHORT: Duration = Duration::from_micros(96);
/// T_PREAMBLE + T_SIGNAL on 20 MHz. [802.11-2020 Table 17-5]
const OFDM_PREAMBLE: Duration = Duration::from_micros(20);
/// T_SYM on 20 MHz. [802.11-2020 Table 17-5]
const OFDM_SYMBOL: Duration = Duration::from_micros(4);
/// SERVICE and tail bits round the PSDU. [802.11-2020 §17.3.5]
const OFDM_SERVICE_AND_TAIL_BITS: u64 = 16 + 6;
/// aSignalExtension: silence that gives an ERP-OFDM receiver the time that SIFS lacks. [802.11-2020 §10.3.8]
const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

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
    /// A DSSS frame ends with its last bit: TXTIME of the standard, whose LENGTH field counts whole
    /// microseconds, rounds up [802.11-2020 §16.3.4]; ns-2, ns-3 and the closed forms do not, and a
    /// transmitter stops when its bits are out. OFDM: TXTIME as written. [802.11-2020 §17.4.3, §18.5.3.2]
    pub fn ppdu_duration(&self, mode: ModeId, psdu: Bytes) -> Duration {
        let row = self.mode(mode);
        let ofdm = || {
            let bits = OFDM_SERVICE_AND_TAIL_BITS + 8 * psdu.0;
            OFDM_PREAMBLE + OFDM_SYMBOL * bits.div_ceil(u64::from(row.bits_per_symbol))
        };
        match row.class {
            ModulationClass::Dsss => self.rx_start_delay(mode) + row.rate.time_for(psdu),
            ModulationClass::Ofdm => ofdm(),
            ModulationClass::ErpOfdm => ofdm() + SIGNAL_EXTENSION,
            ModulationClass::Ht | ModulationClass::Vht | ModulationClass::He => unreachable!("no standard has it yet"),
        }
    }

    /// aRxPHYStartDelay: from the start of a PPDU until its receiver knows that one has come.
    /// [802.11-2020 §15-§18, PHY characteristics]
    pub fn rx_start_delay(&self, mode: ModeId) -> Duration {
        let row = self.mode(mode);
        match (row.class, self.preamble) {
            (ModulationClass::Ofdm | ModulationClass::ErpOfdm, _) => OFDM_PREAMBLE,
            (ModulationClass::Ht | ModulationClass::Vht | ModulationClass::He, _) => {
                unreachable!("no standard has it yet")
            }
            // The short header itself is sent at 2 Mbit/s: 1 Mbit/s has the long one always. [802.11-2020 §16.2.2.3]
            (ModulationClass::Dsss, Preamble::Short) if row.modulation != Modulation::Dbpsk => DSSS_SHORT,
            (ModulationClass::Dsss, _) => DSSS_LONG,
        }
    }

    /// Time on the air of the Ack that answers a frame sent in `frame`.
    pub fn ack_duration(&self, frame: ModeId) -> Duration {
        self.ppdu_duration(self.control_response_mode(frame), frame_size::ACK)
    }

    /// ACKTimeout and CTSTimeout: how long after its frame a sender waits for a response in mode
    /// `response` to begin. [802.11-2020 §10.3.2.11]
    pub fn ack_timeout(&self, response: ModeId) -> Duration {
        self.sifs + self.slot + self.rx_start_delay(response)
    }

    /// EIFS after a frame sent in `frame` that could not be decoded: SIFS, the longest Ack that may
    /// answer it, which is sent at the lowest mandatory rate of its class, and DIFS. [802.11-2020 §10.3.2.3.7]
    pub fn eifs(&self, frame: ModeId) -> Duration {
        let class = self.mode(frame).class;
        let lowest = self.modes.iter().position(|m| m.class == class && m.mandatory);
        let lowest = ModeId(lowest.expect("every class has a mandatory mode") as u16);
        self.sifs + self.ppdu_duration(lowest, frame_size::ACK) + self.difs()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PhyOptions, Standard};
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
        // 192 us + 1536 * 8 / 11 us = 1309.0909 us, the nanosecond begun counted.
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
}
