//! Decisions of rate controls, and their causes: collisions, noise, interference.
//!
//! A rate control sees that a frame failed, not why; here both are known. A decision is a change of the rate at which
//! frames start. A change to a lower rate is attributed to the attempt just before it; since some algorithms judge
//! windows of attempts, all failures since the previous change are counted, too.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Layout, Outcome, Places, Record, Report};

crate::quantities! {
    /// Changes of the rate at which frames start, to a higher one.
    UP: Link, u64, Summary => "rate_changes_up", Count, One, "rate changes, up";
    /// Changes to a lower rate just after an attempt that was lost to a collision.
    DOWN_AFTER_COLLISION: Link, u64, Summary
        => "rate_changes_down_after_collision", Count, One, "rate changes, down after a collision";
    /// Changes to a lower rate just after an attempt that was lost to noise.
    DOWN_AFTER_NOISE: Link, u64, Summary
        => "rate_changes_down_after_noise", Count, One, "rate changes, down after noise";
    /// Changes to a lower rate just after an attempt that was lost to interference.
    DOWN_AFTER_INTERFERENCE: Link, u64, Summary
        => "rate_changes_down_after_interference", Count, One, "rate changes, down after interference";
    /// Changes to a lower rate just after an attempt that succeeded.
    DOWN_AFTER_SUCCESS: Link, u64, Summary
        => "rate_changes_down_after_success", Count, One, "rate changes, down after a success";
    /// Attempts that were lost to collisions between a change to a lower rate and the change before it: the losses that
    /// an algorithm with a window of attempts had seen.
    COLLISIONS_BEFORE_DOWN: Link, u64, Summary
        => "failures_before_rate_down_collision", Count, One, "collisions before rate changes down";
    /// Attempts that were lost to noise between a change to a lower rate and the change before it.
    NOISE_BEFORE_DOWN: Link, u64, Summary
        => "failures_before_rate_down_noise", Count, One, "losses to noise before rate changes down";
    /// Attempts that were lost to interference between a change to a lower rate and the change before it.
    INTERFERENCE_BEFORE_DOWN: Link, u64, Summary
        => "failures_before_rate_down_interference", Count, One, "losses to interference before rate changes down";
}

/// Numbers of attempts by outcome.
#[derive(Clone, Copy, Debug, Default)]
struct ByOutcome {
    success: u64,
    collision: u64,
    noise: u64,
    interference: u64,
    unknown: u64,
}

impl ByOutcome {
    fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Success => &mut self.success,
            Outcome::Collision => &mut self.collision,
            Outcome::Noise => &mut self.noise,
            Outcome::Interference | Outcome::Interferer => &mut self.interference,
            Outcome::Unknown => &mut self.unknown,
        } += 1;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    up: u64,
    /// Changes down, by the attempt just before.
    down: ByOutcome,
    /// Attempts since the last change.
    since: ByOutcome,
    /// Failures before changes down, since the previous change.
    behind: ByOutcome,
}

impl Link {
    fn change(&mut self, down: bool, after: Outcome) {
        let since = std::mem::take(&mut self.since);
        if down {
            self.down.add(after);
            self.behind.collision += since.collision;
            self.behind.noise += since.noise;
            self.behind.interference += since.interference;
        } else {
            self.up += 1;
        }
    }
}

/// Decisions of the rate control of each link, and the attempts behind them.
#[derive(Clone)]
pub struct RateDecisions {
    links: Vec<Link>,
}

impl Metric for RateDecisions {
    fn new(layout: &Layout) -> Self {
        RateDecisions { links: vec![Link::default(); layout.links] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        match *record {
            Record::Attempt { link, outcome, .. } => self.links[link.index()].since.add(outcome),
            Record::RateChange { link, down, after, .. } => self.links[link.index()].change(down, after),
            _ => {}
        }
    }

    fn start(&mut self, _: Time) {
        self.links.fill(Link::default());
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (link, row) in self.links.iter().zip(&mut report.links) {
            row.put(UP, link.up);
            row.put(DOWN_AFTER_COLLISION, link.down.collision);
            row.put(DOWN_AFTER_NOISE, link.down.noise);
            row.put(DOWN_AFTER_INTERFERENCE, link.down.interference);
            row.put(DOWN_AFTER_SUCCESS, link.down.success);
            row.put(COLLISIONS_BEFORE_DOWN, link.behind.collision);
            row.put(NOISE_BEFORE_DOWN, link.behind.noise);
            row.put(INTERFERENCE_BEFORE_DOWN, link.behind.interference);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkId, NodeId};
    use lasthop_units::DataRate;

    fn layout() -> Layout {
        Layout {
            flows: Vec::new(),
            nodes: 2,
            links: 2,
            channels: 1,
            aps: 1,
            several_users: Vec::new(),
            interferers: false,
        }
    }
    fn attempt(outcome: Outcome) -> Record {
        let rate = DataRate::from_bps(11_000_000);
        Record::Attempt { link: LinkId(0), node: NodeId(1), rate, mpdus: 1, acknowledged: 0, retry: false, outcome }
    }
    fn change(down: bool, after: Outcome) -> Record {
        Record::RateChange { link: LinkId(0), rate: DataRate::from_bps(1_000_000), down, after }
    }
    fn report(metric: &mut RateDecisions) -> Report {
        let mut report = Report::new(&layout());
        metric.report(Time::ZERO, Duration::from_secs(1), &mut report);
        report
    }

    #[test]
    fn a_change_down_is_put_down_to_the_attempt_before_and_to_all_that_failed_since_the_last() {
        let mut metric = RateDecisions::new(&layout());
        let (success, collision, noise) = (Outcome::Success, Outcome::Collision, Outcome::Noise);
        let told = [
            attempt(noise),
            attempt(success),
            change(false, success),
            attempt(collision),
            attempt(collision),
            attempt(noise),
            change(true, noise),
            attempt(collision),
            change(true, collision),
            attempt(Outcome::Interference),
        ];
        told.iter().for_each(|record| metric.observe(Time::ZERO, record));
        let report = report(&mut metric);
        let get = |quantity| report.links[0].get(quantity).unwrap();
        assert_eq!(get(UP), 1);
        let down = [DOWN_AFTER_COLLISION, DOWN_AFTER_NOISE, DOWN_AFTER_INTERFERENCE, DOWN_AFTER_SUCCESS].map(get);
        assert_eq!(down, [1, 1, 0, 0]);
        // The first loss to noise came before the change up, the interference after the last change.
        let behind = [COLLISIONS_BEFORE_DOWN, NOISE_BEFORE_DOWN, INTERFERENCE_BEFORE_DOWN].map(get);
        assert_eq!(behind, [3, 1, 0]);
        assert_eq!(report.links[1].get(UP), Some(0));
    }

    #[test]
    fn the_warm_up_does_not_count() {
        let mut metric = RateDecisions::new(&layout());
        metric.observe(Time::ZERO, &change(true, Outcome::Noise));
        metric.start(Time::ZERO);
        assert_eq!(report(&mut metric).links[0].get(DOWN_AFTER_NOISE), Some(0));
    }
}
