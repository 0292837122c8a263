//! Hybla: grows with time as a connection with an RTT of 25 ms would.
//!
//! Source: Caini, Firrincieli 2004; integers by `docs/model/congestion-control-rules.md`. rho = RTT / 25 ms, at least 1; an ACK adds
//! 2^rho - 1 in slow start and rho^2 / cwnd above it, in 1/128 segments. The window starts at rho once the RTT is known.
//! Leaves out: pacing and packet spacing, which the paper demands.

use lasthop_registry::{ParamError, params};

use super::linux::{Clock, Framed, KernelEra, Law, Phase, Window};
use super::{AckSample, CongestionControl, Context, Moment};
use lasthop_units::Duration;

params! {
    /// Parameters of Hybla.
    pub struct Params {
        /// Which clock: linux (µs) or linux-2.6 (ms).
        pub era: KernelEra = KernelEra::Linux,
        /// RTT of the reference connection.
        pub rtt0: Duration = Duration::from_millis(25),
    }
    check |params, path| {
        if params.rtt0 < Duration::from_millis(1) {
            return Err(ParamError::new(format!("{path}.rtt0"), "must be 1 ms or more"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let rtt0 = match self.era {
            KernelEra::Linux => self.rtt0.as_nanos() / 1000,
            KernelEra::Linux26 => Clock::new(context.tick).covering(self.rtt0),
        } as u32;
        Framed::boxed(Hybla { rtt0, on: true, rho8: 8, least: 0, parts: 0 }, context, self.era)
    }
}

/// 1 in the fixed-point numbers here.
const UNIT: u32 = 128;
/// The parts of `UNIT` are so many bits.
const UNIT_BITS: u32 = UNIT.ilog2();
/// The largest window.
const LARGEST: u32 = 65_535;

#[derive(Debug)]
struct Hybla {
    /// in units of the smoothed RTT
    rtt0: u32,
    /// Reno outside `Open`.
    on: bool,
    /// rho in eighths
    rho8: u32,
    /// least smoothed RTT, eightfold
    least: u32,
    /// growth in 1/128 segments that is less than a whole one yet
    parts: u32,
}

impl Hybla {
    fn set_rho(&mut self, srtt8: u32) {
        self.rho8 = (srtt8 / self.rtt0).max(8);
        self.least = srtt8;
    }

    /// In 1/128 segments.
    fn increase(&self, window: &Window) -> u32 {
        if window.cwnd < window.ssthresh {
            power_of_two(self.rho8) - UNIT
        } else {
            // rho^2 in 1/128 is rho8^2 * 2
            let square = 2 * u64::from(self.rho8) * u64::from(self.rho8);
            (square / u64::from(window.cwnd.max(1))).min(u64::from(LARGEST * UNIT)) as u32
        }
    }
}

/// 2^(rho8/8) in 1/128, its fraction rounded down: three square roots give the eighth root of 128^8 2^i. The whole part
/// is 16 at most.
fn power_of_two(rho8: u32) -> u32 {
    let fraction = 1u64 << (8 * UNIT_BITS + rho8 % 8);
    (fraction.isqrt().isqrt().isqrt() as u32) << (rho8 / 8).min(16)
}

impl Law for Hybla {
    fn begin(&mut self, window: &mut Window, _: &Moment) {
        if window.srtt8 > 0 {
            self.set_rho(window.srtt8);
            window.cwnd = self.rho8 >> 3;
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if window.srtt8 < self.least {
            self.set_rho(window.srtt8);
        }
        if !self.on {
            return window.reno(ack);
        }
        let slow_start = window.cwnd < window.ssthresh;
        let increase = self.increase(window);
        if !slow_start && increase < UNIT {
            window.count += 1;
        }
        self.parts += increase;
        if self.parts % UNIT < increase % UNIT {
            // The fractions make a whole one.
            window.count = 0;
        }
        window.cwnd = window.cwnd.saturating_add(self.parts / UNIT);
        self.parts %= UNIT;
        if window.era == KernelEra::Linux && increase == 0 && window.count >= window.cwnd {
            window.cwnd += 1;
            window.count = 0;
        }
        if slow_start {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(LARGEST);
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, _: &Moment) {
        self.on = to == Phase::Open;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_rounded_down() {
        for i in 0..128 {
            let exact = 128.0 * libm::exp2(f64::from(i % 8) / 8.0);
            assert_eq!(power_of_two(i), (exact.floor() as u32) << (i / 8), "{i}");
        }
        assert_eq!(power_of_two(1000 * 8), UNIT << 16);
    }
}
