//! The cubic function in whole numbers.
//!
//! Source: RFC 9438 §4.2; units and rounding by `docs/model/congestion-control-rules.md`. Time is in ticks of 1/1024 s; K is
//! cut to whole ticks, the distance from the origin to whole segments. Recorded kernels have a K that is up to 0.15 % off.

use super::super::linux::Clock;
use super::params::Params;

/// Ticks per second, as a power of two.
const TICK_SHIFT: u32 = 10;

/// Constants derived from the parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arithmetic {
    /// C in 1/1024 segments/s^3
    c: u64,
    /// in 1/1024
    beta: u32,
    /// Windows of ACKs for a segment of Reno's growth, in eighths.
    reno_eighths: u32,
}

impl Arithmetic {
    pub fn new(params: &Params) -> Self {
        let beta = libm::round(params.beta * 1024.0).clamp(1.0, 1023.0) as u32;
        // C is a multiple of 10/1024 in the traces.
        let c = 10 * (libm::round(params.c * 102.4) as u64).clamp(1, 1 << 36);
        Arithmetic { c, beta, reno_eighths: 8 * (1024 + beta) / 3 / (1024 - beta) }
    }

    /// beta times a window.
    pub fn reduced(&self, window: u32) -> u32 {
        (u64::from(window) * u64::from(self.beta) / 1024) as u32
    }

    /// The window after a mark with ABE: 0.85 of it. [RFC 8511 §3]
    pub fn eased(window: u32) -> u32 {
        (u64::from(window) * 17 / 20) as u32
    }

    /// (1 + beta) / 2 times a window.
    pub fn given_way(&self, window: u32) -> u32 {
        (u64::from(window) * u64::from(1024 + self.beta) / 2048) as u32
    }

    /// ACKs or segments for one segment of Reno's growth. [RFC 9438 §4.3]
    pub fn reno_per_segment(&self, cwnd: u32) -> u64 {
        ((u64::from(cwnd) * u64::from(self.reno_eighths)) >> 3).max(1)
    }

    /// K = cbrt((W_max - cwnd) / C), in ticks. [RFC 9438 §4.2 (2)]
    pub fn k(&self, below: u32) -> u64 {
        let per_segment = (1u64 << (TICK_SHIFT + 3 * TICK_SHIFT)) / self.c;
        cube_root(per_segment.saturating_mul(u64::from(below)))
    }

    /// Ticks of the cubic function in so many ticks of a clock.
    pub fn ticks(jiffies: u64, clock: Clock) -> u64 {
        ((u128::from(jiffies) << TICK_SHIFT) / u128::from(clock.hz())).min(1 << 41) as u64
    }

    /// W(t): the origin, less the distance from it before K, plus it after. [RFC 9438 §4.2 (1)]
    pub fn target(&self, origin: u32, k: u64, t: u64) -> u32 {
        let offset = u128::from(t.abs_diff(k));
        let distance = u128::from(self.c).saturating_mul(offset * offset * offset) >> (TICK_SHIFT + 3 * TICK_SHIFT);
        let distance = distance.min(u128::from(u32::MAX)) as u32;
        if t < k { origin.saturating_sub(distance) } else { origin.saturating_add(distance) }
    }
}

/// The whole part of a cube root, bit by bit from the highest that it can have.
fn cube_root(a: u64) -> u64 {
    let (a, mut root) = (u128::from(a), 0u64);
    for bit in (0..22).rev() {
        let longer = root | 1 << bit;
        if u128::from(longer).pow(3) <= a {
            root = longer;
        }
    }
    root
}

/// Reno's window with the same decrease, and the segments or ACKs counted towards its next segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct RenoWindow {
    window: u32,
    credit: u64,
}

impl RenoWindow {
    /// Begins with the window and the credit of the present ACK.
    pub fn new(window: u32, credit: u32) -> Self {
        RenoWindow { window, credit: u64::from(credit) }
    }

    pub fn count(&mut self, acked: u32) {
        self.credit += u64::from(acked);
    }

    /// Adds one segment for each `per_segment` counted; the last is due only when more than its price is there.
    pub fn grow(&mut self, per_segment: u64) {
        let due = self.credit.saturating_sub(1) / per_segment;
        self.credit -= due * per_segment;
        self.window = self.window.saturating_add(due.min(u64::from(u32::MAX)) as u32);
    }

    /// The price of a segment of `cwnd` that catches up with it within a window; `None` where it is not ahead.
    pub fn price(&self, cwnd: u32) -> Option<u32> {
        (self.window > cwnd).then(|| cwnd / (self.window - cwnd))
    }
}

/// The price of a segment with which the window is at `target` a window later; a hundred windows if that is not larger.
pub(super) fn price_of(target: u32, cwnd: u32) -> u32 {
    if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_root_is_rounded_down() {
        let numbers = (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, (1 << bit) + 12_345, 3 << bit]);
        let cubes = (1..=1000u64).map(|i| i * 2642).flat_map(|i| [i.pow(3) - 1, i.pow(3), i.pow(3) + 1]);
        for a in numbers.chain(cubes).chain([u64::MAX]) {
            let root = u128::from(cube_root(a));
            assert!(root.pow(3) <= u128::from(a) && (root + 1).pow(3) > u128::from(a), "{a}: {root}");
        }
    }

    #[test]
    fn k_of_300_segments_is_nine_seconds() {
        // cbrt(300 / 0.4) = 9.0856 s; C is 410/1024 here, so 9.0827 s, which are 9300.6 ticks
        let k = Arithmetic::new(&Params::default()).k(300);
        assert_eq!(k, 9300);
    }

    #[test]
    fn reno_grows_by_one_for_each_full_price_and_keeps_the_rest() {
        let mut reno = RenoWindow::new(10, 1);
        reno.count(20);
        reno.grow(10);
        assert_eq!((reno.window, reno.credit), (12, 1));
        // ten are enough only with one more
        reno.count(9);
        reno.grow(10);
        assert_eq!((reno.window, reno.price(10)), (12, Some(5)));
    }
}
