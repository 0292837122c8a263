//! Each rule of controllers finds a defect: Reno with one thing wrong.

use std::cell::Cell;

use lasthop_conformance::cc::{Candidate, RULES, suite};
use lasthop_tcp::congestion_control::{
    AckSample, Algorithm, CongestionControl, CongestionEvent, Context, Convergence, Draws, LongRun,
};

/// The defect.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    StartsWithTwoSegments,
    IgnoresLosses,
    HalvesAtEachTimeout,
    GrowsUnused,
    VanishesAtTimeouts,
    NeverHasMoreThan(f64),
}

#[derive(Debug)]
struct Broken {
    reno: Box<dyn CongestionControl>,
    defect: Defect,
}

impl CongestionControl for Broken {
    fn on_ack(&mut self, ack: &AckSample) {
        let unused = self.defect == Defect::GrowsUnused;
        self.reno.on_ack(&AckSample {
            app_limited: ack.app_limited && !unused,
            in_recovery: ack.in_recovery && !unused,
            ..*ack
        });
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        if self.defect != Defect::IgnoresLosses {
            self.reno.on_congestion(event);
        }
    }
    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.reno.on_timeout(event);
        match self.defect {
            Defect::HalvesAtEachTimeout => self.reno.set_ssthresh((event.window / 2.0).max(2.0)),
            Defect::VanishesAtTimeouts => self.reno.set_window(0.0),
            _ => {}
        }
    }
    fn set_window(&mut self, segments: f64) {
        self.reno.set_window(segments);
    }
    fn set_ssthresh(&mut self, segments: f64) {
        self.reno.set_ssthresh(segments);
    }
    fn cwnd(&self) -> f64 {
        match self.defect {
            Defect::NeverHasMoreThan(most) => self.reno.cwnd().min(most),
            _ => self.reno.cwnd(),
        }
    }
    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }
}

/// Reno, whose window at the start is that of the context.
fn reno(context: &Context, defect: Defect) -> Box<dyn CongestionControl> {
    let initial_window = if defect == Defect::StartsWithTwoSegments { 2.0 } else { context.initial_window };
    let newreno = Algorithm::all().into_iter().find(|one| one.name() == "newreno").expect("it is registered");
    Box::new(Broken { reno: newreno.build(&Context { initial_window, ..*context }), defect })
}

/// Checks that the rule is broken, first at the first of its seeds at which it may be.
fn breaks(rule_name: &str, long_run: LongRun, build: &dyn Fn(&Context) -> Box<dyn CongestionControl>) {
    let candidate = Candidate { long_run, ..Candidate::new("broken", build) };
    let rule = RULES.iter().find(|rule| rule.name == rule_name).expect("a rule of that name");
    let failure = (rule.test)(&candidate, rule.seeds.clone()).expect_err(rule_name);
    assert_eq!((failure.subject.as_str(), failure.rule), ("broken", rule_name));
    assert!(rule.seeds.contains(&failure.seed), "{failure}");
    // The command names rule and seed, and that seed alone repeats the failure.
    assert!(failure.command.contains(&format!("{rule_name}(&candidate, {0}..{0} + 1)", failure.seed)), "{failure}");
    assert_eq!((rule.test)(&candidate, failure.seed..failure.seed + 1), Err(failure));
}

fn breaks_by(defect: Defect, rules: &[&str]) {
    for rule in rules {
        breaks(rule, LongRun::RENO, &|context| reno(context, defect));
    }
}

#[test]
fn reno_itself_breaks_nothing() {
    let build = |context: &Context| reno(context, Defect::None);
    assert_eq!(suite(&Candidate::new("reno", &build)), []);
}

#[test]
fn defects_of_single_events_are_found() {
    breaks_by(Defect::StartsWithTwoSegments, &["starts_as_told_and_doubles_in_slow_start"]);
    breaks_by(Defect::IgnoresLosses, &["shrinks_on_loss_and_never_below_two_segments", "a_loss_leaves_its_share"]);
    breaks_by(Defect::HalvesAtEachTimeout, &["repeated_timeout_holds_ssthresh"]);
    breaks_by(Defect::GrowsUnused, &["holds_a_window_that_is_not_used", "no_window_grows_that_is_not_used"]);
    breaks_by(Defect::VanishesAtTimeouts, &["no_path_drives_it_out_of_bounds", "no_arithmetic_wraps"]);
}

#[test]
fn a_window_of_ten_segments_does_not_fill_the_bottleneck() {
    breaks_by(Defect::NeverHasMoreThan(10.0), &["one_flow_uses_the_bottleneck"]);
}

#[test]
fn unequal_shares_are_found() {
    // Every second connection of the dumbbell, whose numbers differ by one, is a timid one.
    let uneven = |context: &Context| {
        let is_odd = matches!(context.draws, Draws::Seeded(iss) if iss % 2 == 1);
        reno(context, if is_odd { Defect::NeverHasMoreThan(10.0) } else { Defect::None })
    };
    breaks("equal_flows_come_to_equal_shares", LongRun::RENO, &uneven);
}

#[test]
fn reno_does_not_favour_late_comers() {
    let long_run = LongRun { convergence: Convergence::LateComersGain, ..LongRun::RENO };
    breaks("late_comers_gain_where_it_is_said", long_run, &|context| reno(context, Defect::None));
}

#[test]
fn controller_that_counts_connections_is_not_repeatable() {
    let count = Cell::new(0);
    let build = |context: &Context| {
        count.set(count.get() + 1);
        reno(context, Defect::NeverHasMoreThan(10.0 + f64::from(count.get())))
    };
    let candidate = Candidate::new("counting", &build);
    let rule = RULES.iter().find(|rule| rule.name == "the_same_seed_gives_the_same_result").expect("a rule");
    assert_eq!((rule.test)(&candidate, 5..6).expect_err("two runs differ").step, 0);
}
