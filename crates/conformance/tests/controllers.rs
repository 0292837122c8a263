//! Every controller of the registry keeps the promises of all and its own. `CONTROLLER` and `SEED` choose one of them,
//! as a failure shows; `-- --nocapture` prints the measurements.

use lasthop_conformance::cc::dumbbell::jain;
use lasthop_conformance::cc::{self, Candidate, RULES, Rule};
use lasthop_registry::{Parameter, Value};
use lasthop_tcp::congestion_control::{Algorithm, CongestionControl, Context};

fn chosen<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Every controller, and with `eras` every era of controllers with eras.
fn subjects(eras: bool) -> Vec<(String, Algorithm)> {
    let mut all: Vec<_> = Algorithm::all().into_iter().map(|one| (one.name().to_string(), one)).collect();
    for index in 0..if eras { all.len() } else { 0 } {
        for era in ["linux", "linux-2.6", "ns-2"] {
            let kind = all[index].1.name();
            let table = [("kind", kind), ("era", era)].map(|(key, word)| (key.to_string(), Value::text(word)));
            let parsed = Algorithm::parse(&Value::Table(table.into()), "").ok();
            all.extend(parsed.map(|one| (format!("{kind}/{era}"), one)));
        }
    }
    all.retain(|(name, _)| chosen("CONTROLLER").is_none_or(|only: String| only == *name));
    all
}

fn with_candidate<T>((name, algorithm): &(String, Algorithm), test: impl Fn(&Candidate) -> T) -> T {
    let build = |context: &Context| -> Box<dyn CongestionControl> { algorithm.build(context) };
    let command = |subject: &str, rule: &str, seed| {
        format!("CONTROLLER={subject} SEED={seed} cargo test -p lasthop-conformance --test all controllers {rule}")
    };
    test(&Candidate { name: name.clone(), command, ..Candidate::registered(algorithm, &build) })
}

fn rule(name: &str) -> &'static Rule {
    RULES.iter().find(|rule| rule.name == name).unwrap_or_else(|| panic!("no rule is called {name}"))
}

/// Tests every controller against a rule.
fn hold_all(rule: &Rule, eras: bool) {
    let seeds = chosen("SEED").map_or(rule.seeds.clone(), |seed: u64| seed..seed + 1);
    let failures: Vec<String> = subjects(eras)
        .iter()
        .filter_map(|subject| with_candidate(subject, |candidate| (rule.test)(candidate, seeds.clone())).err())
        .map(|failure| failure.to_string())
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

macro_rules! hold {
    ($( $rule:ident, eras: $eras:literal; )*) => {
        $( #[test] fn $rule() { hold_all(rule(stringify!($rule)), $eras); } )*

        #[test]
        fn every_rule_is_tested() {
            assert_eq!(RULES.iter().map(|rule| rule.name).collect::<Vec<_>>(), [$( stringify!($rule) ),*]);
        }
    };
}

hold! {
    starts_as_told_and_doubles_in_slow_start, eras: false;
    shrinks_on_loss_and_never_below_two_segments, eras: false;
    repeated_timeout_holds_ssthresh, eras: false;
    holds_a_window_that_is_not_used, eras: false;
    no_path_drives_it_out_of_bounds, eras: true;
    no_arithmetic_wraps, eras: true;
    one_flow_uses_the_bottleneck, eras: false;
    a_loss_leaves_its_share, eras: false;
    equal_flows_come_to_equal_shares, eras: false;
    late_comers_gain_where_it_is_said, eras: false;
    the_same_seed_gives_the_same_result, eras: false;
    no_window_grows_that_is_not_used, eras: false;
}

/// The numbers of the documentation.
#[test]
#[ignore = "prints what each controller comes to, for docs/validation.md"]
fn measure() {
    for subject in subjects(false) {
        with_candidate(&subject, |candidate| {
            println!("{}: {:.3} of the bottleneck", candidate.name, cc::utilisation(candidate, 1));
            if candidate.long_run.keeps.is_some() {
                let kept = cc::kept_by_losses(candidate, 1).into_iter();
                let (low, high) = kept.fold((f64::MAX, 0.0), |(low, high): (f64, f64), k| (low.min(k), high.max(k)));
                println!("{}: a loss leaves {low:.2} to {high:.2}", candidate.name);
            }
            for flows in [2, 4] {
                let index = jain(&cc::shares(candidate, flows, candidate.long_run.buffer_bdps, 1));
                println!("{}, {flows} flows: Jain's index {index:.3}", candidate.name);
            }
        });
    }
}
