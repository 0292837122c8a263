//! The modes without an MCS, which several standards share.

use lasthop_units::{DataRate, Dbm, Duration};

use crate::phy::code_rate::CodeRate;
use crate::phy::mode::{Coding, Mode, Modulation, ModulationClass};

/// A DSSS or HR/DSSS mode; noise enters over `bandwidth_hz`.
const fn dsss(rate_100kbps: u64, modulation: Modulation, bits: u32, bandwidth_hz: f64, sensitivity_dbm: f64) -> Mode {
    Mode {
        rate: DataRate::from_100kbps(rate_100kbps),
        class: ModulationClass::Dsss,
        modulation,
        code_rate: CodeRate::Uncoded,
        bits_per_symbol: bits,
        coding: Coding::None,
        mcs: None,
        streams: 1,
        antennas_per_stream: 1.0,
        guard_interval: Duration::ZERO,
        bandwidth_hz,
        sensitivity: Dbm(sensitivity_dbm),
        mandatory: false,
    }
}

/// An OFDM mode on 20 MHz: a symbol lasts 4 us. [802.11-2020 Table 17-4]
const fn ofdm(class: ModulationClass, mbps: u64, modulation: Modulation, code: CodeRate, sensitivity_dbm: f64) -> Mode {
    Mode {
        rate: DataRate::from_100kbps(mbps * 10),
        class,
        modulation,
        code_rate: code,
        bits_per_symbol: (mbps * 4) as u32,
        coding: Coding::Convolutional { encoders: 1 },
        mcs: None,
        streams: 1,
        antennas_per_stream: 1.0,
        guard_interval: Duration::from_nanos(800),
        bandwidth_hz: 20e6,
        sensitivity: Dbm(sensitivity_dbm),
        mandatory: false,
    }
}

/// The four DSSS and HR/DSSS modes. Sensitivities: 2 Mbit/s at a frame error rate of 8 % for 1024 bytes
/// [802.11-2020 §15.4], 11 Mbit/s likewise [802.11-2020 §16.3.8]. The standard sets none for 1 and 5.5 Mbit/s; they
/// carry half the bits per symbol and so need half the power, 3 dB less.
pub(in crate::phy) const fn dsss_modes(bandwidth_hz: f64) -> [Mode; 4] {
    [
        dsss(10, Modulation::Dbpsk, 1, bandwidth_hz, -83.0).mandatory(),
        dsss(20, Modulation::Dqpsk, 2, bandwidth_hz, -80.0).mandatory(),
        dsss(55, Modulation::Cck, 4, bandwidth_hz, -79.0).mandatory(),
        dsss(110, Modulation::Cck, 8, bandwidth_hz, -76.0).mandatory(),
    ]
}

/// The eight OFDM modes. Sensitivities: packet error rate of 10 % for 1000 bytes. [802.11-2020 Table 17-18]
pub(super) const fn ofdm_modes(class: ModulationClass) -> [Mode; 8] {
    use CodeRate::{Half, ThreeQuarters, TwoThirds};
    use Modulation::{Bpsk, Qam16, Qam64, Qpsk};
    [
        ofdm(class, 6, Bpsk, Half, -82.0).mandatory(),
        ofdm(class, 9, Bpsk, ThreeQuarters, -81.0),
        ofdm(class, 12, Qpsk, Half, -79.0).mandatory(),
        ofdm(class, 18, Qpsk, ThreeQuarters, -77.0),
        ofdm(class, 24, Qam16, Half, -74.0).mandatory(),
        ofdm(class, 36, Qam16, ThreeQuarters, -70.0),
        ofdm(class, 48, Qam64, TwoThirds, -66.0),
        ofdm(class, 54, Qam64, ThreeQuarters, -65.0),
    ]
}
