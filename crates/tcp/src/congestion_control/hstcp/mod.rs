//! HighSpeed TCP: the larger the window, the more it grows per round trip and the less a loss takes.
//!
//! Source: RFC 3649: its table of windows (appendix B), and b(w) of §5. Equal to Reno below 38 segments.
//! An ACK counts a(w) whatever it covers, as in the traces: with delayed ACKs it grows half as fast as the RFC says.
//! `era = "rfc3649"` has the formulas in place of the table (see `rfc3649`).
//! Leaves out: limited slow start [RFC 3742].

mod decrease;
mod rfc3649;

use lasthop_registry::{params, words};

use super::linux::{self, Framed, Law, MIN_WINDOW, Window};
use super::{AckSample, CongestionControl, CongestionEvent, Context};
use decrease::decrease;

words! {
    /// The version of HighSpeed TCP.
    pub enum HstcpEra {
        /// The formulas, with a window that is a real number.
        Rfc3649 = "rfc3649",
        /// A current Linux kernel: the table, in whole segments.
        Linux = "linux",
        /// Linux 2.6.16 to 2.6.22.
        Linux26 = "linux-2.6",
    }
}

params! {
    /// Parameters of HighSpeed TCP.
    pub struct Params {
        /// Which version: rfc3649, or linux or linux-2.6, which differ in slow start only.
        pub era: HstcpEra = HstcpEra::Linux,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let frame = match self.era {
            HstcpEra::Rfc3649 => return Box::new(rfc3649::Hstcp::new(context)),
            HstcpEra::Linux => linux::KernelEra::Linux,
            HstcpEra::Linux26 => linux::KernelEra::Linux26,
        };
        Framed::boxed(Hstcp { row: 0 }, context, frame)
    }
}

/// The largest window, in segments, at which an ACK counts 1, 2, 3, … [RFC 3649 appendix B]
const WINDOWS: [u32; 73] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036,
    5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614, 14424, 15265, 16137,
    17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193, 29557, 30975, 32450, 33986, 35586,
    37253, 38992, 40808, 42707, 44694, 46776, 48961, 51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401,
    79517, 84035, 89053, 94717,
];
#[derive(Debug)]
struct Hstcp {
    /// of `WINDOWS`: an ACK counts `row + 1`
    row: usize,
}

impl Hstcp {
    fn find_row(&mut self, cwnd: u32) {
        while cwnd > WINDOWS[self.row] && self.row + 1 < WINDOWS.len() {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= WINDOWS[self.row - 1] {
            self.row -= 1;
        }
    }
}

impl Law for Hstcp {
    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if window.in_slow_start() {
            window.slow_start(ack);
            return;
        }
        self.find_row(window.cwnd);
        window.count = window.count.saturating_add(self.row as u32 + 1);
        if window.count >= window.cwnd {
            window.count -= window.cwnd;
            window.cwnd += 1;
        }
    }

    /// The decrease of the row reached, in 256ths.
    fn ssthresh(&mut self, _: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        let share = (256.0 * decrease(f64::from(WINDOWS[self.row]))).floor() as u64;
        let lost = (u64::from(lost_at) * share) >> 8;
        (lost_at - lost as u32).max(MIN_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decrease_falls_from_a_half_to_a_tenth() {
        assert_eq!(decrease(38.0), 0.5);
        assert!((decrease(83_000.0) - 0.1).abs() < 1e-12);
        // RFC 3649 appendix B: b(1058) = 0.33
        assert!((decrease(1058.0) - 0.33).abs() < 0.005);
    }

    #[test]
    fn the_row_follows_the_window_both_ways() {
        let mut hstcp = Hstcp { row: 0 };
        for (cwnd, row) in [(38, 0), (39, 1), (118, 1), (119, 2), (1000, 7), (118, 1), (10, 0), (200_000, 72)] {
            hstcp.find_row(cwnd);
            assert_eq!(hstcp.row, row, "at {cwnd}");
        }
    }
}
