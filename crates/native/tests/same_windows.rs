//! NewReno and CUBIC in C have the windows of the built-in ones, to the last bit, in every era.

mod bench;

use std::path::Path;
use std::sync::Arc;

use bench::{Counts, Twins};
use lasthop_conformance::cc::dumbbell::{Bottleneck, Dumbbell, Pair, seconds};
use lasthop_conformance::cc::{self, Candidate};
use lasthop_native::{Library, Setting};
use lasthop_registry::{Parameter, Value};
use lasthop_tcp::congestion_control::{Algorithm, CongestionControl, Context, Growth, GrowthMode};
use lasthop_tcp::{Config, EcnUse, Endpoint, Profile};
use lasthop_units::Duration;

/// A controller of the registry, and one of a library, with the same parameters.
struct Subject {
    name: String,
    built_in: Algorithm,
    library: Arc<Library>,
    settings: Vec<(String, Setting)>,
    told: Counts,
}

impl Subject {
    fn new(library: &Arc<Library>, kind: &str, parameters: &[(&str, Value)]) -> Subject {
        let mut table = vec![("kind".to_string(), Value::text(kind))];
        table.extend(parameters.iter().map(|(key, value)| (key.to_string(), value.clone())));
        let setting = |value: &Value| match value {
            Value::Float(number) => Setting::Number(*number),
            Value::Bool(flag) => Setting::Number(f64::from(*flag)),
            Value::Text(text) => Setting::Text(text.to_string()),
            value => panic!("{value:?} is not a parameter of a library"),
        };
        Subject {
            name: format!("{kind} {parameters:?}"),
            built_in: Algorithm::parse(&Value::Table(table), "").expect("parameters of the registry"),
            library: library.clone(),
            settings: parameters.iter().map(|(key, value)| (key.to_string(), setting(value))).collect(),
            told: Counts::default(),
        }
    }

    fn twins(&self, context: &Context) -> Box<dyn CongestionControl> {
        let library = self.library.controller(context, &self.settings).expect("its parameters are known");
        Box::new(Twins::new([self.built_in.build(context), library], self.told.clone()))
    }

    fn told(&self, what: &str) -> u64 {
        self.told.lock().unwrap().get(what).copied().unwrap_or(0)
    }
}

/// Calls that must have happened, or the comparison shows little.
const TOLD: [&str; 13] = [
    "established",
    "transmit start",
    "observe",
    "ack",
    "ack in recovery",
    "loss",
    "mark",
    "timeout",
    "repeated timeout",
    "recovery exit",
    "spurious",
    "idle",
    "set window",
];

fn era(word: &str) -> (&'static str, Value) {
    ("era", Value::text(word))
}

/// Every era, with the parameters that profiles and scenarios choose; nothing where there is no compiler.
fn subjects() -> Vec<Subject> {
    let open = |path: &Path| Arc::new(Library::open(path).expect("an example is a library"));
    let (Some(newreno), Some(cubic)) = (bench::example("newreno"), bench::example("cubic")) else { return Vec::new() };
    let (newreno, cubic) = (open(&newreno), open(&cubic));
    let beta_2_6 = Value::Float(819.0 / 1024.0);
    vec![
        Subject::new(&newreno, "newreno", &[era("rfc5681")]),
        Subject::new(&newreno, "newreno", &[("increase", Value::Float(0.31)), ("beta", Value::Float(0.8))]),
        Subject::new(&newreno, "newreno", &[era("linux")]),
        Subject::new(&newreno, "newreno", &[era("linux-2.6")]),
        Subject::new(&cubic, "cubic", &[era("rfc9438")]),
        Subject::new(&cubic, "cubic", &[("c", Value::Float(4.0)), ("fast_convergence", Value::Bool(false))]),
        Subject::new(&cubic, "cubic", &[era("linux"), ("hystart", Value::text("classic"))]),
        Subject::new(&cubic, "cubic", &[era("linux"), ("reno_friendly", Value::Bool(false))]),
        Subject::new(&cubic, "cubic", &[era("linux-2.6"), ("beta", beta_2_6)]),
    ]
}

/// Every profile, and growth that no profile has.
fn configurations() -> Vec<Config> {
    let profiles = [Profile::Ns2, Profile::Linux26, Profile::Linux313, Profile::Linux].map(|profile| profile.config());
    let mixed = Growth { slow_start: GrowthMode::PerByte, avoidance: GrowthMode::PerAck };
    let per_ack = Config { growth: Growth::both(GrowthMode::PerAck), ..profiles[3].clone() };
    let mixed = Config { growth: mixed, ..profiles[1].clone() };
    profiles.into_iter().chain([per_ack, mixed]).collect()
}

/// Paths with losses of all kinds, and one that marks.
fn paths() -> Vec<Bottleneck> {
    let rtt = Duration::from_millis(40);
    vec![
        Bottleneck::wired(20e6, rtt, 1.0),
        Bottleneck { loss: 0.02, seed: 3, ..Bottleneck::wired(8e6, rtt, 0.5) },
        // so many losses that the timer expires again and again
        Bottleneck { loss: 0.25, seed: 5, ..Bottleneck::lossy(0.25, rtt) },
        Bottleneck::marking(20e6, rtt, 20),
    ]
}

/// A transfer without end.
fn run(subject: &Subject, config: &Config, path: &Bottleneck) {
    Dumbbell::of_pairs(path.clone(), vec![pair(subject, config)]).run_until(seconds(8.0));
}

/// Transfers with pauses; in the midst of each the way back becomes so long that the timer expires spuriously.
fn run_with_pauses(subject: &Subject, config: &Config, path: &Bottleneck) {
    let mut world = Dumbbell::idle(path.clone(), vec![pair(subject, config)]);
    for turn in 0..4 {
        let start = 4.0 * f64::from(turn);
        world.write(0, 400_000);
        world.run_until(seconds(start + 0.1));
        world.flows[0].longer_way = Duration::from_millis(700);
        world.run_until(seconds(start + 0.8));
        world.flows[0].longer_way = Duration::ZERO;
        world.run_until(seconds(start + 4.0));
    }
}

fn pair(subject: &Subject, config: &Config) -> Pair {
    let control = subject.twins(&Context::new(config, 1000));
    let sender = Endpoint::with_control(config, 1000, control);
    Pair { sender, receiver: Endpoint::new(config, 2000), start: seconds(0.0) }
}

#[test]
fn every_era_has_the_windows_of_the_built_in_one() {
    let subjects = subjects();
    for subject in &subjects {
        for config in configurations() {
            for path in paths() {
                let ecn = if path.marks_above < usize::MAX { EcnUse::On } else { EcnUse::Off };
                let ecn = Config { ecn, abe: config.growth.avoidance == GrowthMode::PerByte, ..config.clone() };
                run(subject, &ecn, &path);
                run_with_pauses(subject, &ecn, &path);
            }
        }
        for what in TOLD {
            assert!(subject.told(what) > 3, "{}: {what} {}", subject.name, subject.told(what));
        }
    }
}

#[test]
fn no_storm_of_events_parts_them() {
    for subject in &subjects() {
        let build = |context: &Context| subject.twins(context);
        let candidate = Candidate::new(&subject.name, &build);
        cc::no_path_drives_it_out_of_bounds(&candidate, 0..2).unwrap_or_else(|failure| panic!("{failure}"));
        cc::no_arithmetic_wraps(&candidate, 0..1).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(subject.told("spurious") > 10 && subject.told("set window") > 10, "{}", subject.name);
    }
}

#[test]
fn segments_of_both_endpoints_are_cut_alike() {
    for subject in &subjects() {
        let mut twins = subject.twins(&Context::new(&Profile::Linux.config(), 1));
        for segments in [12.7, 1.2, 7.0, 3e9] {
            twins.set_window(segments);
            twins.set_ssthresh(segments);
            twins.on_idle((segments / 2.5).max(1.0));
        }
        twins.set_ssthresh(f64::INFINITY);
    }
}

#[test]
fn controller_in_c_keeps_the_promises_of_all_controllers() {
    let Some(path) = bench::example("newreno") else { return };
    let library = Arc::new(Library::open(&path).unwrap());
    let build = |context: &Context| library.controller(context, &[]).unwrap();
    let broken = cc::suite(&Candidate::new("newreno.so", &build));
    assert!(broken.is_empty(), "{broken:?}");
}
