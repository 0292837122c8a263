//! Bianchi's saturation throughput of 802.11b at 11 Mbit/s, long preambles, for a growing number of stations.
//!
//! `cargo run -p lasthop-theory --example saturation`

use lasthop_theory::bianchi::{Backoff, FixedPoint, SlotTimes};
use lasthop_units::{Bytes, Duration};

/// aCWmin 31, aCWmax 1023, unlimited retries. [802.11-2020 §16.3.4]
const BACKOFF: Backoff = Backoff { window: 32, doublings: 5, attempts: None };

/// Slots of a payload of 1500 B, which with 36 B of MAC and LLC headers takes 192 us + 1536 * 8 / 11 us = 1310 us, rounded up;
/// an Ack at 1 Mbit/s takes 304 us; SIFS is 10 us, DIFS 50 us.
const TIMES: SlotTimes = SlotTimes {
    idle: Duration::from_micros(20),
    success: Duration::from_micros(1310 + 10 + 304 + 50),
    collision: Duration::from_micros(1310 + 50),
};

fn saturation(stations: u32) -> (FixedPoint, f64) {
    let point = BACKOFF.solve(stations);
    (point, point.throughput_bps(&TIMES, Bytes(1500)))
}

fn main() {
    println!("stations  p       Mbit/s");
    for stations in [1, 2, 5, 10, 20, 50] {
        let (point, throughput) = saturation(stations);
        println!("{stations:8}  {:.4}  {:.3}", point.p, throughput / 1e6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_alone_waits_its_mean_backoff() {
        let (point, throughput) = saturation(1);
        // It sends once in (32 + 1) / 2 slots, of which 15.5 are idle: 12,000 bit in 1674 us + 15.5 * 20 us.
        assert_eq!(point.p, 0.0);
        assert!((throughput / (12_000.0 / 1984e-6) - 1.0).abs() < 1e-9, "{throughput}");
    }

    #[test]
    fn collisions_grow_with_the_number_of_stations() {
        let p = [2, 5, 10, 20, 50].map(|n| saturation(n).0.p);
        assert!(p.is_sorted() && p[0] > 0.0, "{p:?}");
    }
}
