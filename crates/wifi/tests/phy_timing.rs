//! Durations against arithmetic done separately from this code: every row of `data/phy_timing.csv`.
//!
//! Columns: slot, SIFS, DIFS in us; W = CWmin + 1; m doublings from CWmin to CWmax; air times in us of
//! IP packets of 1500, 40 and 52 bytes, of Ack, RTS and CTS. OFDM rows send data at 54 Mbit/s and control
//! frames at 24; 11b rows data at 11 and control frames at the rate in their name.

use lasthop_units::{Bytes, DataRate, Duration};
use lasthop_wifi::phy::frame_size::{ACK, CTS, RTS, data_mpdu};
use lasthop_wifi::phy::{Phy, PhyOptions, Preamble, Standard};

/// The PHY of a row, and the rates of its data and control frames in units of 100 kbit/s.
fn row_phy(name: &str) -> (Phy, u64, u64) {
    let plain = |standard| PhyOptions::new(Standard::named(standard).unwrap());
    let b = |preamble, basic: &[u64]| PhyOptions {
        preamble: Some(preamble),
        basic_rates: Some(basic.iter().map(|r| DataRate::from_100kbps(*r)).collect()),
        ..plain("802.11b")
    };
    let (options, data, control) = match name {
        "11b_long_ack1" => (b(Preamble::Long, &[10]), 110, 10),
        "11b_long_ack2" => (b(Preamble::Long, &[10, 20]), 110, 20),
        "11b_short_ack2" => (b(Preamble::Short, &[10, 20]), 110, 20),
        "11b_short_ack11" => (b(Preamble::Short, &[10, 20, 55, 110]), 110, 110),
        "11a_54" => (plain("802.11a"), 540, 240),
        "11g_54_short" | "11g_54_ns2" => (plain("802.11g"), 540, 240),
        "11g_54_longslot" => (PhyOptions { short_slot: Some(false), ..plain("802.11g") }, 540, 240),
        _ => panic!("no scenario for row {name}"),
    };
    (options.resolve("bss").unwrap(), data, control)
}

#[test]
fn every_time_is_that_of_the_table() {
    let rows: Vec<&str> = include_str!("data/phy_timing.csv").lines().skip(1).collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let name = row.split(',').next().unwrap();
        // The note between quotes holds commas; numbers are the last eleven fields.
        let mut numbers: Vec<f64> = row.rsplit(',').take(11).map(|f| f.parse().unwrap()).collect();
        numbers.reverse();
        let (phy, data, control) = row_phy(name);
        let data = phy.mode_of_rate(DataRate::from_100kbps(data)).unwrap();
        let response = phy.control_response_mode(data);
        assert_eq!(phy.mode(response).rate, DataRate::from_100kbps(control), "{name}");

        // The row for ns-2 omits the signal extension.
        let extension = if name == "11g_54_ns2" { Duration::from_micros(6) } else { Duration::ZERO };
        let us = |mode, psdu| (phy.ppdu_duration(mode, psdu) - extension).as_micros_f64();
        let doublings = f64::from((phy.cw_max() + 1) / (phy.cw_min() + 1)).log2();
        let found = [
            phy.slot().as_micros_f64(),
            phy.sifs().as_micros_f64(),
            phy.difs().as_micros_f64(),
            f64::from(phy.cw_min() + 1),
            doublings,
            us(data, data_mpdu(Bytes(1500))),
            us(data, data_mpdu(Bytes(40))),
            us(data, data_mpdu(Bytes(52))),
            us(response, ACK),
            us(response, RTS),
            us(response, CTS),
        ];
        for (column, (found, expected)) in found.iter().zip(&numbers).enumerate() {
            // The table has six digits, and the last nanosecond is rounded up.
            assert!((found - expected).abs() <= 5e-6 * expected + 1e-3, "{name}, column {column}: {found}, {expected}");
        }
    }
}
