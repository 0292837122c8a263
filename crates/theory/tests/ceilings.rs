//! The ceilings of one exchange and of one TCP flow, and HighSpeed TCP, row by row.

use crate::table;

use lasthop_theory::ampdu::{Format, Overhead, Ppdu, ampdu_bytes, saturated_bps};
use lasthop_theory::bianchi::Backoff;
use lasthop_theory::exchange::{TcpRound, Timestamps, udp_goodput_bps};
use lasthop_theory::sqrt_p::HighSpeed;
use lasthop_units::{Bytes, Duration};
use table::{Row, SIX_DIGITS, assert_near, phy, rows};

const PACKET: Bytes = Bytes(1500);

fn timestamps(row: &Row) -> Timestamps {
    if row.text("tcp_ts") == "ts" { Timestamps::On } else { Timestamps::Off }
}

/// MPDUs in an A-MPDU for the rows of 802.11n.
fn aggregated(row: &Row) -> Option<u32> {
    row.text("phy").strip_prefix("11n_300_ampdu")?.parse().ok()
}

/// With A-MPDUs a round is one A-MPDU of data and one of the ACKs for all of it.
fn round(row: &Row) -> TcpRound {
    let payload = timestamps(row).payload(PACKET);
    TcpRound {
        data: row.time("Td_us"),
        ack: row.time("Ta_us"),
        data_exchanges: aggregated(row).map_or(row.count("segments_per_ack"), |_| 1),
        payload: Bytes(payload.0 * u64::from(aggregated(row).unwrap_or(1))),
    }
}

#[test]
fn every_row_of_the_tcp_table() {
    let table = rows("tcp_goodput_max");
    assert_eq!(table.len(), 60);
    for row in table {
        let what = format!("{} {} {}", row.text("phy"), row.text("tcp_ts"), row.text("segments_per_ack"));
        assert_eq!(timestamps(&row).payload(PACKET), Bytes(row.number("mss") as u64));
        assert_eq!(timestamps(&row).ack_packet(), Bytes(row.number("ack_ip_bytes") as u64));
        let round = round(&row);
        let serial = round.serial_backoff_bps(row.time("mean_backoff_us")) / 1e6;
        assert_near(serial, row.number("goodput_Mbps_serial_backoff"), SIX_DIGITS, &what);
        assert_near(round.zero_backoff_bps() / 1e6, row.number("goodput_Mbps_zero_backoff"), SIX_DIGITS, &what);
        if aggregated(&row).is_some() {
            continue;
        }
        let phy = phy(row.text("phy"));
        let backoff = Backoff { window: phy.count("W"), doublings: phy.count("m"), attempts: None };
        let dcf = round.two_station_dcf_bps(&backoff, phy.time("slot")) / 1e6;
        assert_near(dcf, row.number("goodput_Mbps_two_station_dcf"), SIX_DIGITS, &what);
        assert!(serial < dcf && dcf * 1e6 < round.zero_backoff_bps(), "{what}");
    }
}

#[test]
fn every_row_of_the_aggregation_table() {
    for row in rows("ampdu_300") {
        // An MPDU of 1500 bytes: 26 of MAC header, 8 of LLC/SNAP, 4 of FCS, and the packet.
        let payload = if row.text("kind").starts_with("ip1500") { 1500 } else { 1462 };
        let all = Bytes(payload * row.number("mpdus") as u64);
        // AIFS 43, SIFS 16 and Block Ack 32 (ACK 28) us; 7.5 slots of 9 us.
        let response = if row.text("kind").ends_with("noagg") { 28 } else { 32 };
        let exchange = row.time("t_ppdu_us") + Duration::from_micros(43 + 16 + response);
        let backoff = Duration::from_nanos(67_500);
        assert_near((exchange + backoff).as_micros_f64(), row.number("cycle_us"), SIX_DIGITS, row.text("kind"));
        let rate = udp_goodput_bps(all, exchange, backoff) / 1e6;
        assert_near(rate, row.number("payload_Mbps"), SIX_DIGITS, row.text("kind"));
        assert_near(rate / 300.0, row.number("efficiency_of_300"), SIX_DIGITS, row.text("kind"));
        let bound = udp_goodput_bps(all, exchange, Duration::ZERO) / 1e6;
        assert_near(bound, row.number("payload_Mbps_zero_backoff"), SIX_DIGITS, row.text("kind"));
    }
}

/// 802.11n at 300 Mbit/s: 40 MHz, two streams, 64-QAM 5/6, short guard interval.
const HT_300: Ppdu = Ppdu {
    format: Format::HtMixed,
    subcarriers: 108,
    coded_bits: 6,
    code_rate: (5, 6),
    streams: 2,
    guard_interval: Duration::from_nanos(400),
};

#[test]
fn every_row_of_the_aggregation_table_from_the_formulas_of_ht() {
    let us = Duration::from_micros;
    let mean_backoff = Duration::from_nanos(67_500);
    let overhead = Overhead { aifs: us(43), mean_backoff, sifs: us(16), block_ack: us(32) };
    for row in rows("ampdu_300") {
        let what = format!("{} {}", row.text("kind"), row.text("mpdus"));
        let (psdu, mpdus) = (Bytes(row.number("psdu_bytes") as u64), row.number("mpdus") as u64);
        assert_eq!(HT_300.duration(psdu), row.time("t_ppdu_us"), "{what}");
        if what.contains("noagg") {
            continue;
        }
        let (mpdu, payload) = if what.starts_with("ip1500") { (1538, 1500) } else { (1500, 1462) };
        let rate = saturated_bps(&HT_300, &overhead, psdu, Bytes(payload * mpdus)) / 1e6;
        assert_near(rate, row.number("payload_Mbps"), SIX_DIGITS, &what);
        // The table fills up the last of several subframes too, which the standard does not.
        let unfilled = ampdu_bytes(mpdus, Bytes(mpdu));
        assert!((0..=2).contains(&(psdu.0 - unfilled.0)), "{what}");
    }
}

#[test]
fn every_row_of_the_highspeed_table() {
    let highspeed = HighSpeed::default();
    for row in rows("hstcp_rfc3649_ab") {
        let (w, what) = (row.number("w"), row.text("w"));
        assert_near(highspeed.loss_rate(w), row.number("p"), SIX_DIGITS, what);
        assert_near(highspeed.window(row.number("p")), w, SIX_DIGITS, what);
        assert_near(highspeed.decrease(w), row.number("b"), SIX_DIGITS, what);
        assert_near(highspeed.increase(w), row.number("a"), SIX_DIGITS, what);
    }
}
