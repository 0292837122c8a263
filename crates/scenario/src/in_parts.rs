//! Runs to their end: of a scenario as a whole, or of its channels one by one or on several threads, where these do not
//! influence one another.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use lasthop_observe::{Report, TimeSeries};
use lasthop_units::{Duration, Time};

use crate::ResolvedScenario;
use crate::resolved::Part;
use crate::run::{Clock, Control, Keep, RUN_THREAD, RunResult, Told, result_of, run_simulation_telling, run_whole};
use crate::simulation::{Finished, Simulation};

/// Runs `scenario` under `seed`. With `interval`, time series are kept.
///
/// # Errors
/// A sentence that says why the result cannot be trusted: something was not conserved.
pub fn run(scenario: &ResolvedScenario, seed: u64, interval: Option<Duration>) -> Result<RunResult, String> {
    run_to_end(scenario, seed, &Keep { interval, ..Keep::default() })
}

/// The same as [`run`], without time series and with an account of time.
///
/// # Errors
/// The same as [`run`].
pub fn run_with_account(scenario: &ResolvedScenario, seed: u64) -> Result<RunResult, String> {
    run_to_end(scenario, seed, &Keep { account: true, ..Keep::default() })
}

fn run_to_end(scenario: &ResolvedScenario, seed: u64, keep: &Keep) -> Result<RunResult, String> {
    let scenario = Arc::new(scenario.clone());
    run_controlled(&scenario, seed, keep, &Control::default()).map(|r| r.expect("nobody cancels"))
}

/// The same as [`run`]; `Ok(None)` if it was cancelled.
pub(crate) fn run_controlled(
    scenario: &Arc<ResolvedScenario>,
    seed: u64,
    keep: &Keep,
    control: &Control,
) -> Result<Option<RunResult>, String> {
    let checked = scenario.check_simulable().and_then(|()| scenario.check_loaded());
    checked.map_err(|error| error.to_string())?;
    if keep.is_of_metrics() && !scenario.parts().is_empty() {
        return run_parts(scenario, seed, keep.interval, control);
    }
    run_whole(scenario, seed, keep, control)
}

/// A finished part with its time series; `None` if the run was cancelled, or a sentence that says why it failed.
type Outcome = Result<Option<(Finished, Option<TimeSeries>)>, String>;

/// The parts of a run under way.
struct Parts<'a> {
    all: &'a [Part],
    seed: u64,
    interval: Option<Duration>,
    control: &'a Control,
    next: AtomicUsize,
    /// simulated nanoseconds of all parts so far
    reached_ns: AtomicU64,
}

/// Runs each part of `scenario`; the result is the same for any number of threads.
///
/// # Errors
/// The sentence of the first part that failed.
fn run_parts(
    scenario: &Arc<ResolvedScenario>,
    seed: u64,
    interval: Option<Duration>,
    control: &Control,
) -> Result<Option<RunResult>, String> {
    let clock = Clock::start();
    let all = scenario.parts();
    let (next, reached_ns) = (AtomicUsize::new(0), AtomicU64::new(0));
    let outcomes = Parts { all, seed, interval, control, next, reached_ns }.outcomes();
    let finished: Option<Vec<_>> = outcomes.into_iter().collect::<Result<_, _>>()?;
    let Some(finished) = finished else { return Ok(None) };
    let (summary, series) = joined(scenario, finished);
    let told = Told { balance: None, channels: &[], carried: None, wall_s: clock.seconds() };
    Ok(Some(result_of(scenario, seed, summary, &told, series)))
}

impl Parts<'_> {
    /// Runs all parts, the calling thread among others; outcomes are in the order of parts.
    fn outcomes(self) -> Vec<Outcome> {
        let others = self.control.threads.clamp(1, self.all.len()) - 1;
        let mut outcomes = thread::scope(|scope| {
            let spawn = |_| thread::Builder::new().name(RUN_THREAD.into()).spawn_scoped(scope, || self.work());
            // If the system refuses a thread, the existing ones do the work.
            let threads: Vec<_> = (0..others).map_while(|number| spawn(number).ok()).collect();
            let mut outcomes = self.work();
            for thread in threads {
                outcomes.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            outcomes
        });
        outcomes.sort_by_key(|(place, _)| *place);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// Runs parts until none is left.
    fn work(&self) -> Vec<(usize, Outcome)> {
        let mut outcomes = Vec::new();
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = self.all.get(place) else { return outcomes };
            outcomes.push((place, self.run(part)));
        }
    }

    fn run(&self, part: &Part) -> Outcome {
        let reached = AtomicU64::new(0);
        let tell = |until: Time| self.tell(&reached, until);
        match self.interval {
            None => {
                let simulation = Simulation::watched_by(Arc::clone(&part.scenario), self.seed, ());
                Ok(run_simulation_telling(simulation, self.control, tell)?.map(|finished| (finished, None)))
            }
            Some(interval) => {
                let series = Some(part.scenario.time_series(interval));
                let simulation = Simulation::watched_by(Arc::clone(&part.scenario), self.seed, series);
                Ok(run_simulation_telling(simulation, self.control, tell)?.map(Finished::without_observer))
            }
        }
    }

    /// Reports the mean of the times that the parts have reached.
    fn tell(&self, reached: &AtomicU64, until: Time) {
        let gained = until.as_nanos() - reached.swap(until.as_nanos(), Ordering::Relaxed);
        let sum = self.reached_ns.fetch_add(gained, Ordering::Relaxed) + gained;
        self.control.tell(Time::from_nanos(sum / self.all.len() as u64));
    }
}

/// The summary of the whole run, the number of its events and its time series.
fn joined(
    scenario: &ResolvedScenario,
    parts: Vec<(Finished, Option<TimeSeries>)>,
) -> ((Report, u64), Option<TimeSeries>) {
    let places = || scenario.parts().iter().map(|part| &part.places);
    let series: Vec<_> = parts.iter().filter_map(|(_, series)| series.as_ref()).zip(places()).collect();
    let series = TimeSeries::joined(&series);
    let events = parts.iter().map(|(part, _)| part.events).sum();
    let (layout, description) = (scenario.layout(), &scenario.description);
    let ended = parts.into_iter().zip(places()).map(|((part, _), places)| (places, part.metrics, part.report));
    let (end, covered) = (Time::ZERO + description.duration, description.duration - description.warmup);
    ((Report::joined(&layout, end, covered, ended), events), series)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// All but the number of events and the wall-clock time.
    fn told(run: Option<RunResult>) -> (Value, String) {
        let run = run.expect("nobody cancels");
        let mut told: Value = serde_json::from_str(&run.json()).unwrap();
        assert!(told.as_object_mut().unwrap().remove("simulator").is_some());
        (told, format!("{:?}", run.series()))
    }

    fn resolved(text: &str) -> Arc<ResolvedScenario> {
        Arc::new(crate::resolve(text, "parts.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    /// Two to four BSSs on up to three channels.
    fn scenario() -> impl Strategy<Value = String> {
        let bss = (0_usize..3, 0_usize..3, 1_usize..4, 0_usize..4, 0_usize..4, 0_usize..4);
        let channel = prop_oneof![
            Just(""),
            Just("path_loss = \"log_distance\"\nerror_model = \"nist\"\n"),
            Just(
                "path_loss = \"log_distance\"\nerror_model = \"yans\"\ncapture = { threshold = \"10 dB\" }\nfading = { kind = \"rayleigh\" }\n"
            ),
            Just(
                "path_loss = \"log_distance\"\nerror_model = \"nist\"\nfading = \"jakes\"\nshadowing = { deviation = \"4 dB\" }\n"
            ),
            Just(
                "path_loss = \"log_distance\"\nerror_model = \"nist\"\nfading = { kind = \"gauss_markov\", doppler = \"9 Hz\" }\ndelay_profile = \"tgac_b\"\nantenna_correlation = 0.4\n"
            ),
            Just("error_model = { kind = \"fixed\", frame_error_rate = 0.1 }\n"),
        ];
        (prop::collection::vec(bss, 2..5), channel).prop_map(|(all, channel)| {
            let mut text = format!("duration = \"600 ms\"\nwarmup = \"150 ms\"\n[channel]\n{channel}");
            for (index, (number, standard, ..)) in all.iter().enumerate() {
                let (standard, width) = [("802.11a", ""), ("802.11n", ""), ("802.11ax", "")][*standard];
                let x = 12 * index;
                text += &format!("[[bss]]\nname = \"b{index}\"\nstandard = \"{standard}\"\nchannel = {}\n{width}", [36, 40, 44][*number]);
                text += &format!("ap = {{ position = [\"{x} m\", \"0 m\"] }}\n");
            }
            for (index, &(_, _, stations, kind, control, rates)) in all.iter().enumerate() {
                let rates = ["", "rate_control = \"minstrel_ht\"\n", "rate_control = \"arf\"\n", ""][rates];
                let rates = if rates.contains("minstrel") && all[index].1 == 0 { "" } else { rates };
                text += &format!("[[station]]\nname = \"s{index}\"\nbss = \"b{index}\"\ncount = {stations}\ndistance = \"7 m\"\n{rates}");
                let control = ["cubic", "newreno", "bbr", "vegas"][control];
                let traffic = [
                    format!("direction = \"both\"\ncongestion_control = \"{control}\"\n"),
                    "direction = \"up\"\ntransport = \"udp\"\nrate = \"4 Mbit/s\"\n".into(),
                    format!("direction = \"down\"\ncongestion_control = \"{control}\"\n"),
                    "direction = \"up\"\ntraffic = \"ping\"\n".into(),
                ];
                text += &format!("[[flow]]\nstation = \"s{index}*\"\n{}", traffic[kind]);
            }
            text
        })
    }

    /// Under this seed data and ACKs of `b3` share a queue of its access point if they are hashed by their numbers in the part.
    #[test]
    fn flows_that_share_a_queue_in_the_whole_share_it_in_their_part() {
        let crowd = (0..3).map(|at| {
            format!(
                "[[bss]]\nname = \"b{at}\"\nstandard = \"802.11a\"\nchannel = 36\nap = {{ position = [\"{} m\", \"0 m\"] }}\n\
                 [[station]]\nname = \"s{at}\"\nbss = \"b{at}\"\ncount = {}\ndistance = \"7 m\"\n\
                 [[flow]]\nstation = \"s{at}*\"\ntransport = \"udp\"\nrate = \"4 Mbit/s\"\n",
                12 * at,
                [3, 1, 3][at]
            )
        });
        let text = format!(
            "duration = \"600 ms\"\nwarmup = \"150 ms\"\n{}[[bss]]\nname = \"b3\"\nstandard = \"802.11n\"\nchannel = 40\n\
             ap = {{ position = [\"36 m\", \"0 m\"] }}\n[[station]]\nname = \"s3\"\nbss = \"b3\"\ncount = 1\ndistance = \"7 m\"\n\
             [[flow]]\nstation = \"s3*\"\ndirection = \"both\"\ncongestion_control = \"cubic\"\n",
            crowd.collect::<String>()
        );
        let scenario = resolved(&text);
        let whole = told(run_whole(&scenario, 721, &Keep::default(), &Control::default()).unwrap());
        assert_eq!(told(run_parts(&scenario, 721, None, &Control::default()).unwrap()), whole);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn parts_give_what_the_whole_gives_on_any_number_of_threads(text in scenario(), seed in 0_u64..1000) {
            let scenario = resolved(&text);
            prop_assume!(!scenario.parts().is_empty());
            let interval = Some(Duration::from_millis(40));
            let whole = told(run_whole(&scenario, seed, &Keep { interval, ..Keep::default() }, &Control::default()).unwrap());
            for threads in [1, 3] {
                let control = Control { threads, ..Control::default() };
                let parts = told(run_parts(&scenario, seed, interval, &control).unwrap());
                prop_assert_eq!(&parts.0, &whole.0);
                prop_assert_eq!(&parts.1, &whole.1);
            }
        }
    }

    #[test]
    fn channels_that_something_may_join_are_no_parts() {
        let text = |error_model: &str| {
            format!(
                "[channel]\nerror_model = \"{error_model}\"\n[[bss]]\nname = \"a\"\nstandard = \"802.11a\"\nchannel = 36\n\
                 [[bss]]\nname = \"b\"\nstandard = \"802.11a\"\nchannel = 40\n[[station]]\nbss = \"a\"\n"
            )
        };
        assert_eq!(resolved(&text("none")).parts().len(), 2);
        assert!(resolved(&text("gilbert_elliott")).parts().is_empty());
        let cake = |isolation: &str| {
            let wired = format!("[wired]\nqueue = {{ kind = \"cake\", isolation = \"{isolation}\" }}\n");
            resolved(&(text("none") + &wired)).parts().len()
        };
        assert_eq!(["triple_isolate", "flows", "hosts", "srchost", "dsthost"].map(cake), [2, 2, 0, 0, 0]);
        assert!(resolved(&text("none").replace("40", "36")).parts().is_empty());
    }
}
