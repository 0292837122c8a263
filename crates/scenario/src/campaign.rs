//! Many seeds on several threads. Each run is one seed on one thread, or on several if there are more threads than
//! seeds and its channels do not influence one another. The number of threads does not change results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use lasthop_units::Time;

use crate::ResolvedScenario;
use crate::in_parts::run_controlled;
use crate::run::{Control, Keep, RUN_THREAD, RunOutcome};

struct Shared {
    scenario: Arc<ResolvedScenario>,
    seeds: Vec<u64>,
    keep: Keep,
    next: AtomicUsize,
    controls: Vec<Control>,
    finished: Mutex<Vec<RunOutcome>>,
}

/// Runs of several seeds, until all are done or cancelled.
pub struct Campaign {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Campaign {
    /// Starts `seeds` on at most `jobs` threads.
    pub fn start(scenario: impl Into<Arc<ResolvedScenario>>, seeds: Vec<u64>, jobs: usize, keep: Keep) -> Campaign {
        let threads = jobs.clamp(1, seeds.len().max(1));
        let shared = Arc::new(Shared {
            controls: seeds.iter().map(|_| Control { threads: jobs / seeds.len(), ..Control::default() }).collect(),
            scenario: scenario.into(),
            seeds,
            keep,
            next: AtomicUsize::new(0),
            finished: Mutex::new(Vec::new()),
        });
        let threads = (0..threads).map(|_| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name(RUN_THREAD.into())
                .spawn(move || shared.work())
                .expect("the system can start a thread")
        });
        let threads = threads.collect();
        Campaign { shared, threads }
    }

    /// The fraction done, from 0 to 1, over all seeds.
    pub fn progress(&self) -> f64 {
        let whole = self.shared.scenario.description.duration.as_nanos() as f64;
        let done = |c: &Control| (c.reached_ns.load(Ordering::Relaxed) as f64 / whole).min(1.0);
        let sum: f64 = self.shared.controls.iter().map(done).sum();
        sum / self.shared.controls.len().max(1) as f64
    }

    /// Asks all threads to stop soon; finished seeds are kept.
    pub fn cancel(&self) {
        self.shared.next.store(self.shared.seeds.len(), Ordering::Relaxed);
        self.shared.controls.iter().for_each(|c| c.cancelled.store(true, Ordering::Relaxed));
    }

    /// The seeds finished since the last call.
    pub fn take_finished(&self) -> Vec<RunOutcome> {
        std::mem::take(&mut *self.shared.finished())
    }

    /// Whether every thread has ended.
    pub fn is_done(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }
}

impl Shared {
    fn finished(&self) -> MutexGuard<'_, Vec<RunOutcome>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&seed) = self.seeds.get(index) else { return };
            let Some(outcome) = outcome(&self.scenario, seed, &self.keep, &self.controls[index]) else { return };
            self.finished().push(outcome);
        }
    }
}

/// Runs one seed on this thread; `tell` is called from time to time with the time reached.
pub fn run_here(
    scenario: &Arc<ResolvedScenario>,
    seed: u64,
    keep: &Keep,
    tell: impl Fn(Time) + Send + Sync + 'static,
) -> RunOutcome {
    let control = Control { teller: Some(Box::new(tell)), ..Control::default() };
    outcome(scenario, seed, keep, &control).expect("nobody cancels")
}

/// Runs one seed; `None` if it was cancelled.
pub(crate) fn outcome(
    scenario: &Arc<ResolvedScenario>,
    seed: u64,
    keep: &Keep,
    control: &Control,
) -> Option<RunOutcome> {
    let run = AssertUnwindSafe(|| run_controlled(scenario, seed, keep, control));
    let result = match catch_unwind(run) {
        Ok(Ok(result)) => Ok(result?),
        Ok(Err(sentence)) => Err(sentence),
        Err(panic) => Err(sentence_of(panic.as_ref())),
    };
    Some(RunOutcome { seed, result })
}

fn sentence_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("the simulation stopped: {}", text.unwrap_or("an assertion failed"))
}
