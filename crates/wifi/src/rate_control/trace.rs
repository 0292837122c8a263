//! A list of rates, one for each interval, whatever is lost: a replay of an observed link.
//!
//! After its end the list restarts. Among several modes of a rate, it uses the one with the fewest streams, then the
//! narrowest, then the one with the longest guard interval, as `fixed` does. Left out: choices of a rate control for
//! single frames within an interval, such as lower rates for retries and probes.

use lasthop_registry::ParamError;
use lasthop_units::{DataRate, Duration, Time};

use super::fixed;
use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::simplest;
use super::rate_chain::RateChain;
use crate::phy::ModeId;

/// The shortest interval; a shorter one would be one of single frames.
const SHORTEST: Duration = Duration::from_millis(1);

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// The rates of the intervals, in turn.
        pub rates: Vec<DataRate> = Vec::new(),
        /// Length of an interval, at least 1 ms.
        pub interval: Duration = Duration::from_millis(100),
    }
    check |this, path| {
        if this.rates.is_empty() {
            let message = "\"trace\" needs rates: { kind = \"trace\", interval = \"100 ms\", rates = [\"54 Mbit/s\", \"48 Mbit/s\"] }";
            return Err(ParamError::new(path, message));
        }
        if this.interval < SHORTEST {
            return Err(ParamError::new(format!("{path}.interval"), format!("a rate holds for {SHORTEST} at least")));
        }
        Ok(())
    }
}

/// The rate control.
pub struct Trace {
    modes: Vec<ModeId>,
    interval: Duration,
}

impl Trace {
    pub(super) fn new(params: &Params, peer: &PeerModes, path: &str) -> Result<Trace, ParamError> {
        let mode = |(place, rate): (usize, &DataRate)| fixed::of_rate(*rate, peer, &format!("{path}.rates[{place}]"));
        let mut modes: Vec<ModeId> = params.rates.iter().enumerate().map(mode).collect::<Result<_, _>>()?;
        if modes.is_empty() {
            modes.extend(simplest(peer).last());
        }
        Ok(Trace { modes, interval: params.interval })
    }

    fn mode_at(&self, now: Time) -> ModeId {
        let intervals = now.as_nanos() / self.interval.as_nanos().max(1);
        self.modes[(intervals % self.modes.len() as u64) as usize]
    }
}

impl RateControl for Trace {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        RateChain::single(self.mode_at(frame.now), u8::MAX)
    }
    fn on_tx_status(&mut self, _status: &TxStatus) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::{frame, peer, phy};
    use super::super::{FrameInfo, RateControlKind, trace};
    use lasthop_units::{DataRate, Time};

    fn of(rates: &[u64]) -> RateControlKind {
        let rates = rates.iter().map(|mbps| DataRate::from_100kbps(mbps * 10)).collect();
        RateControlKind::Trace(trace::Params { rates, ..trace::Params::default() })
    }

    #[test]
    fn each_rate_holds_for_an_interval_and_the_list_begins_anew() {
        let phy = phy("802.11a");
        let mut control = of(&[54, 6, 24]).build(&peer(&phy), "bss.rate_control").unwrap();
        let mut rate_at = |ms: u64| {
            let now = Time::from_nanos(ms * 1_000_000);
            phy.mode(control.rates_for(&FrameInfo { now, ..frame(0) }).first()).rate.as_mbps_f64()
        };
        assert_eq!([0, 99, 100, 250, 300, 410].map(&mut rate_at), [54.0, 54.0, 6.0, 24.0, 54.0, 6.0]);
    }

    #[test]
    fn a_rate_that_the_link_lacks_is_named_with_its_place() {
        let phy = phy("802.11b");
        let error = of(&[11, 54]).build(&peer(&phy), "bss.rate_control").err().unwrap().to_string();
        assert!(error.starts_with("bss.rate_control.rates[1]: 54 Mbit/s is not among the rates"), "{error}");
    }
}
