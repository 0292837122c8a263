//! On and off: packets at the flow's rate for a time, then none for a time.
//!
//! The same as OnOffApplication of ns-3 and Exponential of ns-2: it begins with an on-time; packets of equal size at
//! equal intervals, the first at the start of the on-time, the last before its end. Both times are drawn again for
//! each period, from exponential distributions or constant.

use lasthop_engine::Stream;
use lasthop_registry::{params, refuse, words};
use lasthop_units::Duration;

use super::bounds::LONGEST;
use super::distribution::exponential;
use super::source::{Offer, Source};

words! {
    /// The distribution of periods.
    pub enum Periods {
        /// drawn from an exponential distribution
        Exponential = "exponential",
        /// all the same
        Constant = "constant",
    }
}

params! {
    /// Parameters of `on_off`; the rate while on is the flow's.
    pub struct Params {
        /// Length of an on-period, or its mean.
        pub on: Duration = Duration::from_secs(1),
        /// Length of an off-period, or its mean.
        pub off: Duration = Duration::from_secs(1),
        /// "exponential" or "constant".
        pub periods: Periods = Periods::Exponential,
    }
    check |this, path| {
        if this.on < Duration::from_micros(1) || this.on > LONGEST {
            return refuse(path, "on", "an on-time has from 1 us to 1000000 s");
        }
        if this.off > LONGEST {
            return refuse(path, "off", "an off-time has at most 1000000 s");
        }
        Ok(())
    }
}

/// An application that alternates between on-times, with packets at a constant rate, and off-times.
pub(crate) struct OnOff {
    params: Params,
    draws: Stream,
    /// Size of each packet.
    bytes: u32,
    /// Interval between packets.
    interval: Duration,
    next: Duration,
    on_until: Duration,
}

impl OnOff {
    /// Writes of `bytes` every `interval` while on.
    pub(crate) fn new(params: Params, mut draws: Stream, bytes: u32, interval: Duration) -> OnOff {
        let on_until = period(&params, &mut draws, params.on);
        OnOff { params, draws, bytes, interval, next: Duration::ZERO, on_until }
    }
}

fn period(params: &Params, draws: &mut Stream, length: Duration) -> Duration {
    match params.periods {
        Periods::Exponential => exponential(draws, length),
        Periods::Constant => length,
    }
}

impl Source for OnOff {
    fn next(&mut self) -> Option<Offer> {
        while self.next >= self.on_until {
            let starts = self.on_until + period(&self.params, &mut self.draws, self.params.off);
            self.on_until = starts + period(&self.params, &mut self.draws, self.params.on);
            self.next = starts;
        }
        let offer = Offer { at: self.next, bytes: self.bytes };
        self.next += self.interval;
        Some(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{offers, rate_bps};
    use super::*;

    fn source(periods: Periods) -> OnOff {
        let params = Params { on: Duration::from_secs(1), off: Duration::from_secs(3), periods };
        OnOff::new(params, Stream::new(1, "test", 0), 1000, Duration::from_millis(100))
    }

    #[test]
    fn constant_periods_repeat() {
        // Ten packets from 0 s, ten from 4 s.
        let times: Vec<u64> =
            offers(&mut source(Periods::Constant), 8).iter().map(|o| o.at.as_nanos() / 1_000_000).collect();
        let on = |start: u64| (0..10).map(move |n| start + 100 * n);
        assert_eq!(times, on(0).chain(on(4000)).collect::<Vec<_>>());
    }

    #[test]
    fn exponential_periods_are_on_for_their_share_of_the_time() {
        // An on-time of mean 1 s begins with a packet and so has 1/(1 - e^-0.1) = 10.51 on average, of 8000 bits, in
        // 4 s: 21.02 kbit/s. 5000 cycles deviate by sqrt(2)/71, say 2 %: three deviations.
        let rate = rate_bps(&mut source(Periods::Exponential), 20_000);
        assert!((rate / 21_017.0 - 1.0).abs() < 0.06, "{rate}");
    }
}
