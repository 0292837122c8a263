//! Stations with different frame times in one saturated BSS.
//!
//! All stations have the same backoff, hence one `tau` and one `p` [Bianchi 2000]; a slot lasts as long
//! as the longest frame in it. Own derivation; with one class it is [`crate::bianchi`].

use lasthop_units::{Bytes, Duration};

use crate::bianchi::{FixedPoint, power};

/// Stations that share their frame times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Their number.
    pub stations: u32,
    /// `T_s` of a frame of this class.
    pub success: Duration,
    /// `T_c` of a collision in which a frame of this class is the longest.
    pub collision: Duration,
}

/// Throughput of each station, the same for all, in bit/s: every station wins equally many slots,
///
/// `tau (1 - tau)^(n-1) E[P] / E[slot]`
///
/// `point` is solved for the stations of all classes together; `idle_slot` is `sigma`.
pub fn throughput_per_station_bps(point: &FixedPoint, classes: &[Class], idle_slot: Duration, payload: Bytes) -> f64 {
    let stations: u32 = classes.iter().map(|class| class.stations).sum();
    assert_eq!(stations, point.stations, "the fixed point is one for all classes together");
    let win = point.success() / f64::from(stations);
    win * 8.0 * payload.0 as f64 / mean_slot_s(point, classes, idle_slot)
}

fn mean_slot_s(point: &FixedPoint, classes: &[Class], idle_slot: Duration) -> f64 {
    let win = point.success() / f64::from(point.stations);
    let successes_s: f64 = classes.iter().map(|c| f64::from(c.stations) * win * c.success.as_secs_f64()).sum();
    point.idle() * idle_slot.as_secs_f64() + successes_s + collisions_s(point, classes)
}

/// Mean time that a slot spends on collisions. With the classes in order of length, a collision has its
/// longest frame in the first `c` of them if two or more of their `k` stations send and none of the
/// rest does: `(1 - (1-tau)^k - k tau (1-tau)^(k-1)) (1-tau)^(n-k)`.
fn collisions_s(point: &FixedPoint, classes: &[Class]) -> f64 {
    let mut by_length = classes.to_vec();
    by_length.sort_by_key(|class| class.collision);
    let silent = |stations| power(1.0 - point.tau, stations);
    let (mut sum, mut shorter, mut k) = (0.0, 0.0, 0);
    for class in by_length.iter().filter(|class| class.stations > 0) {
        k += class.stations;
        let two_or_more = 1.0 - silent(k) - f64::from(k) * point.tau * silent(k - 1);
        let up_to_here = two_or_more * silent(point.stations - k);
        sum += (up_to_here - shorter) * class.collision.as_secs_f64();
        shorter = up_to_here;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bianchi::{Backoff, SlotTimes};

    #[test]
    fn equal_classes_give_the_throughput_of_one() {
        let us = Duration::from_micros;
        let point = Backoff { window: 16, doublings: 6, attempts: Some(7) }.solve(10);
        let class = |stations| Class { stations, success: us(326), collision: us(282) };
        let times = SlotTimes { idle: us(9), success: us(326), collision: us(282) };
        let one = point.throughput_bps(&times, Bytes(1500));
        for classes in [vec![class(10)], vec![class(1), class(9)], vec![class(3), class(0), class(7)]] {
            let all = 10.0 * throughput_per_station_bps(&point, &classes, us(9), Bytes(1500));
            assert!((all / one - 1.0).abs() < 1e-12);
        }
    }
}
