//! Runs of any scenarios on several threads, submitted one by one: the base of a campaign of many points.
//!
//! Threads are started as there is work for them, and wait for more until the pool is dropped. A caller that waits for
//! outcomes sleeps meanwhile.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ResolvedScenario;
use crate::campaign::outcome;
use crate::run::{Control, Keep, RUN_THREAD, RunOutcome};

/// A submitted run.
struct Task {
    ticket: u64,
    scenario: Arc<ResolvedScenario>,
    seed: u64,
    keep: Keep,
}

/// A run in progress: its position, and its length in nanoseconds.
struct Running {
    control: Control,
    whole_ns: f64,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Task>,
    /// one for each thread
    running: Vec<Option<Arc<Running>>>,
    finished: Vec<(u64, RunOutcome)>,
    idle: usize,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// signalled when a run is submitted, or when there will be no more
    given: Condvar,
    /// signalled when a run is finished
    came: Condvar,
}

/// Threads that run submitted scenarios; dropping it stops them.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    most: usize,
}

impl Pool {
    /// A pool of at most `jobs` threads.
    pub fn new(jobs: usize) -> Pool {
        Pool { shared: Arc::default(), threads: Mutex::default(), most: jobs.max(1) }
    }

    /// Submits a run, whose outcome comes with the same `ticket`. A cancelled pool ignores it.
    pub fn submit(&self, ticket: u64, scenario: Arc<ResolvedScenario>, seed: u64, keep: Keep) {
        let mut state = self.shared.lock();
        if state.closed {
            return;
        }
        state.waiting.push_back(Task { ticket, scenario, seed, keep });
        if state.waiting.len() > state.idle && state.running.len() < self.most {
            self.add_thread(&mut state);
        }
        drop(state);
        self.shared.given.notify_one();
    }

    /// The outcomes since the last call, each with its ticket; waits up to `longest` for the first.
    pub fn take_finished(&self, longest: Duration) -> Vec<(u64, RunOutcome)> {
        let state = self.shared.lock();
        let nothing = |state: &mut State| state.finished.is_empty();
        let waited = self.shared.came.wait_timeout_while(state, longest, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.finished)
    }

    /// The finished part of the runs in progress, as a number of runs.
    pub fn fraction(&self) -> f64 {
        let done = |r: &Arc<Running>| (r.control.reached_ns.load(Ordering::Relaxed) as f64 / r.whole_ns).min(1.0);
        self.shared.lock().running.iter().flatten().map(done).sum()
    }

    /// Removes runs that have not begun and asks the rest to stop soon; finished outcomes can still be taken.
    pub fn cancel(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.waiting.clear();
        state.running.iter().flatten().for_each(|r| r.control.cancelled.store(true, Ordering::Relaxed));
        drop(state);
        self.shared.given.notify_all();
    }

    /// Cancels, and waits for the threads to end.
    pub fn close(&self) {
        self.cancel();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }

    /// Starts one more thread; if the system refuses, the existing threads do the work.
    fn add_thread(&self, state: &mut State) {
        let (shared, index) = (Arc::clone(&self.shared), state.running.len());
        match std::thread::Builder::new().name(RUN_THREAD.into()).spawn(move || shared.work(index)) {
            Ok(thread) => {
                state.running.push(None);
                self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
            }
            Err(error) => assert!(!state.running.is_empty(), "the system can start a thread: {error}"),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of thread `index` until the pool is closed.
    fn work(&self, index: usize) {
        while let Some((task, running)) = self.next(index) {
            let outcome = outcome(&task.scenario, task.seed, &task.keep, &running.control);
            let mut state = self.lock();
            state.running[index] = None;
            if let Some(outcome) = outcome {
                state.finished.push((task.ticket, outcome));
                self.came.notify_all();
            }
        }
    }

    /// Waits for a run; `None` once there will be none.
    fn next(&self, index: usize) -> Option<(Task, Arc<Running>)> {
        let mut state = self.lock();
        state.idle += 1;
        let none = |state: &mut State| state.waiting.is_empty() && !state.closed;
        state = self.given.wait_while(state, none).unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        let task = state.waiting.pop_front()?;
        let whole_ns = task.scenario.description.duration.as_nanos() as f64;
        let running = Arc::new(Running { control: Control::default(), whole_ns });
        state.running[index] = Some(Arc::clone(&running));
        Some((task, running))
    }
}
