//! Spatial streams at a receiver that separates them by their channels: minimum mean square error.
//!
//! Each stream is sent by an antenna of its own with its share of the power. The SINR of a stream after the receiver is
//! `1 / [(I + γ H* H)⁻¹]_ii - 1`: streams whose channels are alike cannot be separated. [Paulraj, Nabar, Gore 2003 §7.4]

use super::complex::Complex;

/// The most streams of a standard.
const MOST: usize = 8;

/// The channel from sending antennas to receiving ones: `at(receiver, sender)`.
pub(super) struct Channel<F: Fn(usize, usize) -> Complex> {
    pub receivers: usize,
    pub at: F,
}

impl<F: Fn(usize, usize) -> Complex> Channel<F> {
    /// The SINR of each of the first `streams` senders, which have `sinr` each over a channel of gain 1.
    pub(super) fn sinrs(&self, streams: usize, sinr: f64, mut tell: impl FnMut(f64)) {
        if streams == 1 {
            return tell(sinr * (0..self.receivers).map(|rx| (self.at)(rx, 0).power()).sum::<f64>());
        }
        let mut matrix = [[Complex::default(); MOST]; MOST];
        for (i, row) in matrix.iter_mut().enumerate().take(streams) {
            for (j, entry) in row.iter_mut().enumerate().take(streams) {
                let product = |rx: usize| (self.at)(rx, i).conjugate() * (self.at)(rx, j);
                let sum = (0..self.receivers).map(product).fold(Complex::default(), |sum, one| sum + one);
                *entry = sum.scaled(sinr);
            }
            row[i].re += 1.0;
        }
        for stream in 0..streams {
            tell(1.0 / inverse_diagonal(&matrix, streams, stream) - 1.0);
        }
    }
}

/// `[A⁻¹]_ii` of a Hermitian positive definite matrix: `i` is eliminated last, and its pivot is the inverse.
fn inverse_diagonal(matrix: &[[Complex; MOST]; MOST], n: usize, last: usize) -> f64 {
    let place = |k: usize| {
        if k == n - 1 {
            last
        } else if k == last {
            n - 1
        } else {
            k
        }
    };
    let mut a = [[Complex::default(); MOST]; MOST];
    for (i, row) in a.iter_mut().enumerate().take(n) {
        for (j, entry) in row.iter_mut().enumerate().take(n) {
            *entry = matrix[place(i)][place(j)];
        }
    }
    for k in 0..n - 1 {
        let pivot = a[k][k].re;
        let (above, below) = a.split_at_mut(k + 1);
        for row in below.iter_mut().take(n - k - 1) {
            let factor = row[k].scaled(-1.0 / pivot);
            for (entry, from) in row.iter_mut().zip(&above[k]).take(n).skip(k + 1) {
                *entry = *entry + factor * *from;
            }
        }
    }
    1.0 / a[n - 1][n - 1].re
}

#[cfg(test)]
mod tests {
    use super::super::draws::complex_normal;
    use super::*;
    use lasthop_engine::Stream;

    fn sinrs(rows: &[&[(f64, f64)]], sinr: f64) -> Vec<f64> {
        let at = |rx: usize, tx: usize| Complex { re: rows[rx][tx].0, im: rows[rx][tx].1 };
        let mut found = Vec::new();
        Channel { receivers: rows.len(), at }.sinrs(rows[0].len(), sinr, |one| found.push(one));
        found
    }
    fn near(found: &[f64], expected: &[f64]) {
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9 * e.max(1.0)), "{found:?} {expected:?}");
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn orthogonal_streams_do_not_disturb_and_equal_ones_cannot_be_told_apart() {
        near(&sinrs(&[&[(1.0, 0.0), (0.0, 0.0)], &[(0.0, 0.0), (0.0, 2.0)]], 10.0), &[10.0, 40.0]);
        near(&sinrs(&[&[(1.0, 0.0), (1.0, 0.0)], &[(0.0, 1.0), (0.0, -1.0)]], 10.0), &[20.0, 20.0]);
        // Equal channels of power 2: each is 20 over 1 + 20.
        near(&sinrs(&[&[(1.0, 0.0), (1.0, 0.0)], &[(0.0, 1.0), (0.0, 1.0)]], 10.0), &[20.0 / 21.0, 20.0 / 21.0]);
        // One stream at two antennas: the powers add up.
        near(&sinrs(&[&[(0.6, 0.8)], &[(1.0, 1.0)]], 10.0), &[30.0]);
        // By hand, [1 1; 0 1]: A = [11 10; 10 21], det 131: 131/21 - 1 and 131/11 - 1.
        near(&sinrs(&[&[(1.0, 0.0), (1.0, 0.0)], &[(0.0, 0.0), (1.0, 0.0)]], 10.0), &[110.0 / 21.0, 120.0 / 11.0]);
    }

    #[test]
    fn as_many_streams_as_antennas_leave_each_the_diversity_of_one_antenna() {
        // Without noise to speak of, the SINR of a stream among n at n antennas is exponential, and at n + 1 gamma of
        // shape 2. [Paulraj, Nabar, Gore 2003 §7.4]
        let n = 40_000;
        let mut stream = Stream::new(1, "test", 0);
        for (streams, receivers, expected) in [(2, 2, 0.095_163), (3, 3, 0.095_163), (2, 3, 0.004_679)] {
            let mut low = 0;
            for _ in 0..n {
                let entries: Vec<Complex> = (0..streams * receivers).map(|_| complex_normal(&mut stream)).collect();
                let mut first = None;
                let at = |rx: usize, tx: usize| entries[rx * streams + tx];
                Channel { receivers, at }.sinrs(streams, 1e7, |sinr| _ = first.get_or_insert(sinr));
                low += u32::from(first.unwrap() < 1e6);
            }
            let found = f64::from(low) / f64::from(n);
            assert!(
                (found - expected).abs() < 5.0 * (expected / f64::from(n)).sqrt(),
                "{streams} {receivers}: {found}"
            );
        }
    }
}
