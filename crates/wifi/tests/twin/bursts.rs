//! Bursts of interferers.

use super::Config;
use super::air::{Transmission, linear};

/// A burst of an interferer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    pub by: usize,
    pub start: u64,
    pub end: u64,
}

/// Interferers, and receivers among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Interferers {
    /// In the order of their starts.
    pub bursts: Vec<Burst>,
    /// Their starts and ends, in order.
    pub changes: Vec<u64>,
    pub longest_ns: u64,
    /// `power_db[k][i]`: power of interferer `k` at node `i`.
    pub power_db: Vec<Vec<f64>>,
    /// Ratio from which on a frame is found and its header read, and the one from which on its data arrive.
    pub header_db: f64,
    pub data_db: f64,
    pub t_header_ns: u64,
}

impl Interferers {
    pub fn new(
        bursts: Vec<Burst>,
        power_db: Vec<Vec<f64>>,
        (header_db, data_db): (f64, f64),
        t_header_ns: u64,
    ) -> Self {
        let mut changes: Vec<u64> = bursts.iter().flat_map(|burst| [burst.start, burst.end]).collect();
        changes.sort_unstable();
        let longest_ns = bursts.iter().map(|burst| burst.end - burst.start).max().unwrap_or(0);
        Interferers { bursts, changes, longest_ns, power_db, header_db, data_db, t_header_ns }
    }

    /// Bursts that began by `now`, the latest first, except those that have long ended.
    fn until(&self, now: u64) -> impl Iterator<Item = &Burst> {
        let begun = &self.bursts[..self.bursts.partition_point(|burst| burst.start <= now)];
        begun.iter().rev().take_while(move |burst| burst.start + self.longest_ns >= now)
    }

    /// Sum of powers at `node`.
    pub fn power_at(&self, node: usize, now: u64) -> f64 {
        let on = self.until(now).filter(|burst| now < burst.end);
        on.map(|burst| linear(self.power_db[burst.by][node])).sum()
    }

    /// The first start or end of a burst after `now`.
    pub fn next_change(&self, now: u64) -> Option<u64> {
        self.changes.get(self.changes.partition_point(|at| *at <= now)).copied()
    }

    /// Returns whether a burst begins now.
    pub fn begin(&self, now: u64) -> bool {
        self.until(now).next().is_some_and(|burst| burst.start == now)
    }

    /// Returns whether a burst ends now.
    pub fn end(&self, now: u64) -> bool {
        self.until(now).any(|burst| burst.end == now)
    }

    /// The times at which `node` could not receive `t` for bursts.
    pub fn spoil(&self, config: &Config, node: usize, t: &Transmission) -> Vec<(u64, u64)> {
        let carrier = config.carrier.as_ref().expect("powers are known");
        let signal = linear(carrier.power_db[t.from][node]);
        let header_ends = (t.start + self.t_header_ns).min(t.end);
        let inside = &self.changes[self.changes.partition_point(|at| *at <= t.start)..];
        let changes = inside.iter().copied().take_while(|at| *at < t.end);
        let mut edges: Vec<u64> = changes.chain([t.start, header_ends, t.end]).collect();
        edges.sort_unstable();
        let least = |at: u64| linear(if at < header_ends { self.header_db } else { self.data_db });
        let lost = |span: &[u64]| span[0] < span[1] && signal < least(span[0]) * self.power_at(node, span[0]);
        edges.windows(2).filter(|span| lost(span)).map(|span| (span[0], span[1])).collect()
    }
}
