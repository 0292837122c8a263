//! PPDUs of every rate.

use lasthop_wire::Radiotap;
use lasthop_wire::radiotap::{He, Mcs, Vht};

use crate::tshark::frames::in_ppdu;

/// Data bits of a subcarrier by MCS, in sixths. [802.11ax-2021 §27.5]
const SIXTHS: [u64; 12] = [3, 6, 9, 12, 18, 24, 27, 30, 36, 40, 45, 50];

/// A rate in Mbit/s, to six places as tshark prints it, from data subcarriers, MCS, streams and symbol in ns.
fn rate(subcarriers: u64, mcs: u8, streams: u8, symbol_ns: u64) -> f64 {
    let bits = subcarriers * SIXTHS[usize::from(mcs)] * u64::from(streams);
    bits as f64 / 6.0 * 1000.0 / symbol_ns as f64
}

/// PPDUs of every MCS, width, guard interval and number of streams, with their rates.
pub fn every_rate() -> Vec<(Radiotap, f64)> {
    let mut all = Vec::new();
    for (short, symbol_ns) in [(false, 4000), (true, 3600)] {
        for index in 0..32 {
            for (mhz, subcarriers) in [(20, 52), (40, 108)] {
                let mcs = Some(Mcs::mixed(index, mhz, short));
                all.push((Radiotap { mcs, ..in_ppdu() }, rate(subcarriers, index % 8, index / 8 + 1, symbol_ns)));
            }
        }
        for (mhz, subcarriers) in [(20, 52), (40, 108), (80, 234), (160, 468)] {
            for (mcs, streams) in (0..9).flat_map(|mcs| (1..=8).map(move |streams| (mcs, streams))) {
                // Its bits do not fill the encoders, so there is no such MCS. [802.11-2020 §21.5]
                if (mhz, mcs) == (80, 6) && matches!(streams, 3 | 7) {
                    continue;
                }
                let vht = Some(Vht::single_user(mcs, streams, mhz, short));
                all.push((Radiotap { vht, ..in_ppdu() }, rate(subcarriers, mcs, streams, symbol_ns)));
            }
        }
    }
    for (mhz, subcarriers) in [(20, 234), (40, 468), (80, 980), (160, 1960)] {
        for (mcs, streams) in (0..12).flat_map(|mcs| (1..=8).map(move |streams| (mcs, streams))) {
            for guard_ns in [800, 1600, 3200] {
                let he = Some(He::single_user(mcs, streams, mhz, guard_ns));
                let symbol_ns = 12_800 + u64::from(guard_ns);
                all.push((Radiotap { he, ..in_ppdu() }, rate(subcarriers, mcs, streams, symbol_ns)));
            }
        }
    }
    all
}
