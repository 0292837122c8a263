//! The performance anomaly of 802.11b: one slow host slows all [Heusse 2003].
//!
//! The paper's own approximation: `N` hosts, `N - 1` of them at the fast rate, take turns; contention
//! and collisions are estimated from CWmin alone, without doubling. Beside it,
//! [`crate::multirate`] answers the same question from the fixed point. Written from the formulas as
//! they are commonly cited; `t_cont` has not been compared with the printed paper.

use lasthop_units::{Bytes, Duration};

/// The cell of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// `N`: hosts, one of them slow.
    pub hosts: u32,
    /// `CW_min`, slots (31 in 802.11b).
    pub cw_min: u32,
    /// `SLOT`.
    pub slot: Duration,
    /// `t_tr + t_ov` of a fast host: DIFS, preamble and frame, SIFS, preamble and ACK.
    pub fast: Duration,
    /// The same of the slow host.
    pub slow: Duration,
}

/// The paper's results for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anomaly {
    /// `U_f`: share of the channel of one fast host.
    pub fast_share: f64,
    /// `U_s`: share of the channel of the slow host.
    pub slow_share: f64,
    /// `X_f = X_s`: throughput of each host, bit/s.
    pub throughput_bps: f64,
}

impl Cell {
    /// Probability of a collision, `P_c(N) = 1 - (1 - 1/CW_min)^(N-1)`.
    pub fn collision_probability(&self) -> f64 {
        1.0 - libm::pow(1.0 - 1.0 / f64::from(self.cw_min), f64::from(self.hosts) - 1.0)
    }

    /// Mean time in contention in seconds, `t_cont(N) ~ SLOT (1 + P_c(N))/(2N) CW_min/2`.
    pub fn contention_s(&self) -> f64 {
        let share = (1.0 + self.collision_probability()) / (2.0 * f64::from(self.hosts));
        self.slot.as_secs_f64() * share * f64::from(self.cw_min) / 2.0
    }

    /// Shares and throughput. With `T_f`, `T_s` the exchanges of a fast and the slow host, `t_cont`
    /// included, and `t_jam = 2/N T_s + (1 - 2/N) T_f` the mean length of a collision of a pair:
    ///
    /// `U_f = T_f / (T_s + (N-1) T_f + P_c(N) t_jam N)`, `U_s` likewise with `T_s`, and
    /// `X_f = U_f s_d/T_f = X_s = U_s s_d/T_s`, where `s_d` is `payload`.
    ///
    /// For two hosts or more.
    pub fn anomaly(&self, payload: Bytes) -> Anomaly {
        assert!(self.hosts >= 2, "the anomaly takes a slow host and a fast one");
        let n = f64::from(self.hosts);
        let fast = self.fast.as_secs_f64() + self.contention_s();
        let slow = self.slow.as_secs_f64() + self.contention_s();
        let jam = 2.0 / n * slow + (1.0 - 2.0 / n) * fast;
        let cycle = slow + (n - 1.0) * fast + self.collision_probability() * jam * n;
        Anomaly { fast_share: fast / cycle, slow_share: slow / cycle, throughput_bps: 8.0 * payload.0 as f64 / cycle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 802.11b, long preamble, ACK at 2 Mbit/s: 50 + 192 + 1536*8/rate + 10 + 248 us.
    fn cell(hosts: u32, slow_mbps: f64) -> Cell {
        let exchange = |mbps: f64| Duration::from_secs_f64((500.0 + 1536.0 * 8.0 / mbps) * 1e-6);
        Cell { hosts, cw_min: 31, slot: Duration::from_micros(20), fast: exchange(11.0), slow: exchange(slow_mbps) }
    }

    #[test]
    fn all_hosts_get_less_than_the_slow_rate() {
        for hosts in 2..20 {
            let anomaly = cell(hosts, 1.0).anomaly(Bytes(1500));
            assert!(anomaly.throughput_bps < 1e6);
            assert!(anomaly.slow_share > anomaly.fast_share);
        }
    }

    #[test]
    fn two_hosts_by_hand() {
        // P_c = 1/31 = 0.032258; t_cont = 20*(1.032258/4)*15.5 = 80.0 us; T_f = 1617.09 + 80 = 1697.09,
        // T_s = 12788 + 80 = 12868; t_jam = T_s; cycle = 14565.09 + 0.064516*12868 = 15395.28 us.
        let anomaly = cell(2, 1.0).anomaly(Bytes(1500));
        assert!((anomaly.throughput_bps / (12_000.0 / 15_395.28e-6) - 1.0).abs() < 1e-6);
        assert!((anomaly.slow_share - 12_868.0 / 15_395.28).abs() < 1e-6);
    }
}
