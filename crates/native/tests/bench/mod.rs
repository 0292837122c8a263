#![allow(dead_code, reason = "each test file uses some of it")]
//! Libraries for tests, made by the machine's C compiler, and a controller that compares two.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Moment, Needs, Prior,
};
use lasthop_units::Duration;

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file in the tests' own folder; tests run side by side, and may need one of the same name.
fn fresh(name: &str, ending: &str) -> PathBuf {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}.{ending}", std::process::id()))
}

/// A shared library of some sources; `None`, with a message, where there is no compiler.
pub fn compiled(name: &str, sources: &[PathBuf]) -> Option<PathBuf> {
    let library = fresh(name, "so");
    let include = root().join("python/lasthop/include");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC", "-I"]);
    let Ok(done) = cc.arg(include).args(sources).arg("-o").arg(&library).arg("-lm").output() else {
        eprintln!("skipped: there is no C compiler `cc`");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(library)
}

/// One of the examples.
pub fn example(name: &str) -> Option<PathBuf> {
    let folder = root().join("examples/controllers/c");
    let parts: &[&str] =
        if name == "cubic" { &["cubic.c", "cubic_linux.c", "cubic_linux_2_6.c"] } else { &["newreno.c"] };
    compiled(name, &parts.iter().map(|part| folder.join(part)).collect::<Vec<_>>())
}

/// A library of a text.
pub fn of_text(name: &str, text: &str) -> Option<PathBuf> {
    let source = fresh(name, "c");
    std::fs::write(&source, text).expect("the tests' own folder can be written");
    compiled(name, &[source])
}

/// Number of calls by function.
pub type Counts = Arc<Mutex<BTreeMap<&'static str, u64>>>;

/// Two controllers that receive the same calls, and must be the same after each, to the last bit.
#[derive(Debug)]
pub struct Twins {
    pub both: [Box<dyn CongestionControl>; 2],
    /// destination of `count` at the end
    pub told: Counts,
    pub count: BTreeMap<&'static str, u64>,
    /// result of each for the last ACK
    pub observed: [bool; 2],
}

impl Twins {
    pub fn new(both: [Box<dyn CongestionControl>; 2], told: Counts) -> Twins {
        let twins = Twins { both, told, count: BTreeMap::new(), observed: [false; 2] };
        twins.compare("init");
        twins
    }

    fn count(&mut self, what: &'static str) {
        *self.count.entry(what).or_default() += 1;
    }

    fn tell(&mut self, what: &'static str, tell: impl Fn(&mut dyn CongestionControl)) {
        self.count(what);
        self.both.iter_mut().for_each(|one| tell(&mut **one));
        self.compare(what);
    }

    fn compare(&self, what: &str) {
        let state = |one: &dyn CongestionControl| {
            let windows = (one.cwnd().to_bits(), one.ssthresh().to_bits());
            (windows, one.rtt(), one.pacing_rate(), one.needs(), one.owns_recovery())
        };
        let [built_in, library] = &self.both;
        assert_eq!(state(&**built_in), state(&**library), "after {what}: {built_in:?} {library:?}");
    }
}

impl Drop for Twins {
    fn drop(&mut self) {
        let mut told = self.told.lock().unwrap();
        self.count.iter().for_each(|(what, count)| *told.entry(what).or_default() += count);
    }
}

impl CongestionControl for Twins {
    fn needs(&self) -> Needs {
        self.both[0].needs()
    }
    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        self.tell("established", |one| one.on_established(at, rtt));
    }
    fn on_transmit_start(&mut self, at: &Moment) {
        self.tell("transmit start", |one| one.on_transmit_start(at));
    }
    fn observe(&mut self, ack: &AckSample) -> bool {
        self.observed = [self.both[0].observe(ack), self.both[1].observe(ack)];
        self.count("observe");
        self.compare("observe");
        self.observed.contains(&true)
    }
    fn on_ack(&mut self, ack: &AckSample) {
        let observed = if ack.observed { self.observed } else { [false; 2] };
        for (one, observed) in self.both.iter_mut().zip(observed) {
            one.on_ack(&AckSample { observed, ..*ack });
        }
        self.count(if ack.in_recovery { "ack in recovery" } else { "ack" });
        self.compare("ack");
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        let what = if event.cause == CongestionCause::Ecn { "mark" } else { "loss" };
        self.tell(what, |one| one.on_congestion(event));
    }
    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.tell(if event.repeated { "repeated timeout" } else { "timeout" }, |one| one.on_timeout(event));
    }
    fn on_recovery_exit(&mut self, at: &Moment) {
        self.tell("recovery exit", |one| one.on_recovery_exit(at));
    }
    fn on_spurious(&mut self, at: &Moment, prior: &Prior) {
        self.tell("spurious", |one| one.on_spurious(at, prior));
    }
    fn on_idle(&mut self, restart_window: f64) {
        self.tell("idle", |one| one.on_idle(restart_window));
    }
    fn set_window(&mut self, segments: f64) {
        self.tell("set window", |one| one.set_window(segments));
    }
    fn set_ssthresh(&mut self, segments: f64) {
        self.tell("set ssthresh", |one| one.set_ssthresh(segments));
    }
    fn cwnd(&self) -> f64 {
        self.both[0].cwnd()
    }
    fn ssthresh(&self) -> f64 {
        self.both[0].ssthresh()
    }
    fn rtt(&self) -> Option<Duration> {
        self.both[0].rtt()
    }
}
