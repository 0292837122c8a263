//! Durations of the parts of a PPDU.
//!
//! ```text
//! DSSS   | preamble and PLCP header  192 or 96 us | 8 L bits at the rate                  |
//! OFDM   | preamble 16 us | SIGNAL 4 us | symbols of 4 us: SERVICE 16, 8 L, tail 6, padding | 2.4 GHz: 6 us silence |
//! HT     | preamble 16 | L-SIG 4 | HT-SIG 8    | HT-STF 4  | HT-LTFs 4 each  |              symbols: as below | 2.4 GHz: 6 |
//! VHT    | preamble 16 | L-SIG 4 | VHT-SIG-A 8 | VHT-STF 4 | VHT-LTFs 4 each | VHT-SIG-B 4 | symbols: as below |
//! HE     | preamble 16 | L-SIG 4 | RL-SIG 4 | HE-SIG-A 8 | HE-STF 4 | HE-LTFs | symbols: SERVICE 16, 8 L, padding | 2.4 GHz: 6 |
//! ```
//!
//! HT and VHT symbols, with SERVICE 16, 8 L, tails of 6 for each encoder and padding, last 4 us, or 3.6 us
//! with the short guard interval; then the data field is filled up to whole 4 us. HE symbols last
//! 12.8 us and the guard interval.

use lasthop_units::Duration;

use super::mode::{Coding, Mode, Modulation, ModulationClass};
use super::preamble::Preamble;
use super::standard::Band;

/// Long PLCP preamble and header: 144 + 48 us at 1 Mbit/s. [802.11-2020 §16.2.2.2]
const DSSS_LONG: Duration = Duration::from_micros(192);
/// Short PLCP preamble and header: 72 us at 1 Mbit/s + 24 us at 2 Mbit/s. [802.11-2020 §16.2.2.3]
const DSSS_SHORT: Duration = Duration::from_micros(96);
/// T_PREAMBLE + T_SIGNAL on 20 MHz, in all PPDUs from OFDM on. [802.11-2020 Table 17-5]
pub(super) const OFDM_PREAMBLE: Duration = Duration::from_micros(20);
/// T_SYM on 20 MHz, and of HT and VHT with the long guard interval. [802.11-2020 Tables 17-5, 19-6, 21-5]
pub(super) const OFDM_SYMBOL: Duration = Duration::from_micros(4);
/// SERVICE bits before the PSDU. [802.11-2020 §17.3.5]
pub(super) const SERVICE_BITS: u32 = 16;
/// Tail bits after the PSDU, for each convolutional encoder. [802.11-2020 §17.3.5]
const TAIL_BITS: u32 = 6;
/// HT-SIG, VHT-SIG-A and HE-SIG-A, two symbols each. [802.11-2020 Tables 19-6, 21-5; 802.11ax-2021 Table 27-12]
pub(super) const SIG_A: Duration = Duration::from_micros(8);
/// HT-STF, VHT-STF and HE-STF. [same]
pub(super) const STF: Duration = Duration::from_micros(4);
/// HT-LTF and VHT-LTF. [802.11-2020 Tables 19-6, 21-5]
const LTF: Duration = Duration::from_micros(4);
/// HE-STF of an HE TB PPDU. [802.11ax-2021 Table 27-12]
pub(super) const HE_STF_TRIGGERED: Duration = Duration::from_micros(8);
/// VHT-SIG-B, and of HE RL-SIG and a symbol of HE-SIG-B. [802.11-2020 Table 21-5; 802.11ax-2021 Table 27-12]
pub(super) const SIG_B: Duration = Duration::from_micros(4);
/// aSignalExtension: silence that supplies a receiver in the 2.4 GHz band with the time that SIFS lacks.
/// [802.11-2020 §10.3.8]
pub(super) const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

/// Durations of the PPDUs of a mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct AirTime {
    /// Time from the start of a PPDU until its receiver knows that one has come.
    pub known_after_ns: u64,
    /// Time from the start of a PPDU to its data field.
    pub before_data_ns: u64,
    /// Duration of everything except the data field.
    pub around_data_ns: u64,
    /// T_SYM; zero if there are no symbols.
    pub symbol_ns: u64,
    /// True if the data field is filled up to whole symbols of 4 us.
    pub fills_up: bool,
    /// SERVICE and tail bits.
    pub framing_bits: u32,
}

impl AirTime {
    pub fn of(mode: &Mode, preamble: Preamble, band: Band) -> AirTime {
        if mode.class == ModulationClass::Dsss {
            // The short header itself is sent at 2 Mbit/s: 1 Mbit/s always has the long one. [802.11-2020 §16.2.2.3]
            let short = preamble == Preamble::Short && mode.modulation != Modulation::Dbpsk;
            let header_ns = if short { DSSS_SHORT } else { DSSS_LONG }.as_nanos();
            return AirTime {
                known_after_ns: header_ns,
                before_data_ns: header_ns,
                around_data_ns: header_ns,
                symbol_ns: 0,
                fills_up: false,
                framing_bits: 0,
            };
        }
        let extension = if band == Band::Ghz2 { SIGNAL_EXTENSION } else { Duration::ZERO };
        let symbol = symbol(mode);
        let tail_bits = match mode.coding {
            Coding::Convolutional { encoders } => TAIL_BITS * encoders,
            Coding::Ldpc(_) | Coding::None => 0,
        };
        AirTime {
            known_after_ns: OFDM_PREAMBLE.as_nanos(),
            before_data_ns: (OFDM_PREAMBLE + after_signal(mode)).as_nanos(),
            around_data_ns: (OFDM_PREAMBLE + after_signal(mode) + extension).as_nanos(),
            symbol_ns: symbol.as_nanos(),
            // T_SYM * ceil(T_SYMS N_SYM / T_SYM) with the short guard interval. [802.11-2020 §19.4.3, §21.4.3]
            fills_up: symbol < OFDM_SYMBOL,
            framing_bits: SERVICE_BITS + tail_bits,
        }
    }
}

/// T_SYM, guard interval included. [802.11-2020 Tables 17-5, 19-6, 21-5; 802.11ax-2021 Table 27-12]
fn symbol(mode: &Mode) -> Duration {
    let useful_ns = if mode.class == ModulationClass::He { 12_800 } else { 3200 };
    Duration::from_nanos(useful_ns) + mode.guard_interval
}

/// Duration of the fields between L-SIG and the data field: [802.11-2020 §19.4.3, §21.4.3; 802.11ax-2021 §27.4.3].
fn after_signal(mode: &Mode) -> Duration {
    let ltfs = ltfs(mode.streams);
    match mode.class {
        ModulationClass::Dsss | ModulationClass::ErpOfdm | ModulationClass::Ofdm => Duration::ZERO,
        ModulationClass::Ht => SIG_A + STF + LTF * ltfs,
        ModulationClass::Vht => SIG_A + STF + LTF * ltfs + SIG_B,
        ModulationClass::He => SIG_B + SIG_A + STF + he_ltf(mode.guard_interval) * ltfs,
    }
}

/// N_HT-DLTF, N_VHT-LTF, N_HE-LTF by streams. [802.11-2020 Tables 19-13, 21-13; 802.11ax-2021 Table 27-16]
pub(super) fn ltfs(streams: u8) -> u64 {
    [1, 2, 4, 4, 6, 6, 8, 8][usize::from(streams) - 1]
}

/// T_HE-LTF-SYM: 2x (6.4 us) before guard intervals of 0.8 and 1.6 us, 4x (12.8 us) before 3.2 us, with the
/// same guard interval. [802.11ax-2021 §27.3.11.10, Table 27-12]
pub(super) fn he_ltf(guard_interval: Duration) -> Duration {
    let useful_ns = if guard_interval > Duration::from_nanos(1600) { 12_800 } else { 6400 };
    Duration::from_nanos(useful_ns) + guard_interval
}
