//! Delays of hand-overs: counts of durations in cells of one part in 64.

use lasthop_units::Duration;

/// Cells of each power of two.
const CELLS: u64 = 64;

/// Durations, with any quantile known to within 1/64 of itself.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// number of durations in each cell
    counts: Vec<u64>,
    count: u64,
    most: Duration,
}

/// The cell of `nanos`: one for each value below 64 ns, and 64 for each power of two above.
fn cell_of(nanos: u64) -> usize {
    let power = (nanos.max(1).ilog2()).saturating_sub(CELLS.ilog2());
    (u64::from(power) * CELLS + (nanos >> power)) as usize
}

/// The middle of a cell in nanoseconds.
fn middle_of(cell: usize) -> u64 {
    let cell = cell as u64;
    let power = (cell / CELLS).saturating_sub(1);
    let start = (cell - power * CELLS) << power;
    start + ((1 << power) >> 1)
}

impl Lateness {
    /// Adds a duration.
    pub fn add(&mut self, late: Duration) {
        let cell = cell_of(late.as_nanos());
        if cell >= self.counts.len() {
            self.counts.resize(cell + 1, 0);
        }
        self.counts[cell] += 1;
        self.count += 1;
        self.most = self.most.max(late);
    }

    /// The duration that a share `probability` of all does not exceed; zero if there are none.
    pub fn quantile(&self, probability: f64) -> Duration {
        let rank = (self.count as f64 * probability).ceil() as u64;
        let mut seen = 0;
        let cell = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank && seen > 0
        });
        cell.map_or(Duration::ZERO, |cell| Duration::from_nanos(middle_of(cell)).min(self.most))
    }

    /// The longest duration.
    pub fn most(&self) -> Duration {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_is_within_a_64th_of_the_middle_of_its_cell() {
        let mut nanos = 1u64;
        while nanos < 1 << 40 {
            let middle = middle_of(cell_of(nanos));
            assert!(middle.abs_diff(nanos) * CELLS <= nanos, "{nanos} ns fell to {middle} ns");
            nanos += 1 + nanos / 37;
        }
    }

    #[test]
    fn cells_follow_one_another() {
        for nanos in 1..100_000 {
            let step = cell_of(nanos) - cell_of(nanos - 1);
            assert!(step <= 1, "{nanos}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_durations() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.99), Duration::ZERO);
        (1..=1000).for_each(|micros| lateness.add(Duration::from_micros(micros)));
        let near = |p: f64, micros: f64| {
            let got = lateness.quantile(p).as_nanos() as f64 / 1e3;
            assert!((got / micros - 1.0).abs() < 0.016, "{p}: {got} us");
        };
        near(0.5, 500.0);
        near(0.99, 990.0);
        assert_eq!(lateness.most(), Duration::from_millis(1));
        assert_eq!(lateness.quantile(1.0).max(lateness.most()), lateness.most());
    }
}
