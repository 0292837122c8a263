//! Several simulations of a task, each stepped by one of a few threads.
//!
//! A thread owns its worlds for as long as it lives; a step sends it their actions and receives their numbers. So worlds
//! never move between threads, and the result does not depend on how many there are.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::{Task, World};
use crate::run::RUN_THREAD;

/// The results of a step of all worlds, in their order.
#[derive(Clone, Debug, Default)]
pub struct Stepped {
    /// observations, row by row
    pub observations: Vec<f64>,
    /// rewards, row by row
    pub rewards: Vec<f64>,
    /// whether the run of a world is over
    pub ended: Vec<bool>,
    /// the first world that cannot continue, and why
    pub failure: Option<(usize, String)>,
}

/// An order to a thread.
enum Order {
    /// restart these of its worlds: index among its own, and seed
    Reset(Vec<(usize, u64)>),
    /// step them: the numbers of all of its worlds, or none; those that have ended are left alone
    Step(Option<Vec<f64>>),
}

struct Worker {
    orders: Sender<Order>,
    results: Receiver<Stepped>,
    /// its first world
    first: usize,
    count: usize,
    thread: Option<JoinHandle<()>>,
}

/// Worlds of one task.
pub struct Worlds {
    task: Arc<Task>,
    workers: Vec<Worker>,
    count: usize,
}

impl Worlds {
    /// `count` worlds on at most `threads` threads; they begin with the first [`reset`](Self::reset).
    pub fn new(task: Arc<Task>, count: usize, threads: usize) -> Worlds {
        let threads = threads.clamp(1, count.max(1));
        let begin = |index: usize| index * count / threads;
        let worker = |index: usize| {
            let (first, count) = (begin(index), begin(index + 1) - begin(index));
            let ((orders, inbox), (outbox, results)) = (channel(), channel());
            let task = Arc::clone(&task);
            let body = move || work(&task, count, &inbox, &outbox);
            let thread = std::thread::Builder::new().name(RUN_THREAD.into()).spawn(body);
            Worker { orders, results, first, count, thread: Some(thread.expect("a thread can be started")) }
        };
        let workers = (0..threads).map(worker).collect();
        Worlds { task, workers, count }
    }

    /// The task.
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// The number of worlds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Restarts worlds, each with its seed. The result has the first observation of each of all worlds.
    pub fn reset(&self, seeds: &[(usize, u64)]) -> Stepped {
        self.all(|worker| {
            let own = seeds.iter().filter(|(world, _)| (worker.first..worker.first + worker.count).contains(world));
            Order::Reset(own.map(|(world, seed)| (world - worker.first, *seed)).collect())
        })
    }

    /// Steps all worlds that have not ended. `actions` has a row for each world.
    ///
    /// # Panics
    /// If `actions` has another number of numbers.
    pub fn step(&self, actions: Option<&[f64]>) -> Stepped {
        let width = self.task.controls().len();
        assert!(actions.is_none_or(|all| all.len() == self.count * width), "a row of actions for each world");
        self.all(|worker| {
            let rows = worker.first * width..(worker.first + worker.count) * width;
            Order::Step(actions.map(|all| all[rows].to_vec()))
        })
    }

    fn all(&self, order: impl Fn(&Worker) -> Order) -> Stepped {
        for worker in &self.workers {
            worker.orders.send(order(worker)).expect("a worker lives as long as its worlds");
        }
        let mut all = Stepped::default();
        for worker in &self.workers {
            let Ok(mut own) = worker.results.recv() else {
                all.failure.get_or_insert((worker.first, "its thread has stopped".into()));
                continue;
            };
            all.observations.append(&mut own.observations);
            all.rewards.append(&mut own.rewards);
            all.ended.append(&mut own.ended);
            all.failure = all.failure.or(own.failure.map(|(world, why)| (worker.first + world, why)));
        }
        all
    }
}

impl Drop for Worlds {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            // A thread whose orders have ended ends too.
            worker.orders = channel().0;
            let thread = worker.thread.take();
            thread.map(JoinHandle::join);
        }
    }
}

/// The work of a thread: orders until there are no more.
fn work(task: &Arc<Task>, count: usize, orders: &Receiver<Order>, results: &Sender<Stepped>) {
    let mut worlds: Vec<Option<World>> = (0..count).map(|_| None).collect();
    while let Ok(order) = orders.recv() {
        let kinds = task.rewards();
        let mut rewards = vec![0.0; count * kinds];
        match order {
            Order::Reset(seeds) => {
                for (world, seed) in seeds {
                    worlds[world] = None;
                    worlds[world] = Some(World::new(Arc::clone(task), seed));
                }
            }
            Order::Step(actions) => {
                let width = task.controls().len();
                for (index, world) in worlds.iter_mut().enumerate() {
                    if let Some(world) = world.as_mut().filter(|world| !world.has_ended()) {
                        let action = actions.as_ref().map(|all| &all[index * width..(index + 1) * width]);
                        world.step(action);
                        rewards[index * kinds..(index + 1) * kinds].copy_from_slice(world.rewards());
                    }
                }
            }
        }
        let mut stepped = Stepped { rewards, ..Stepped::default() };
        for (index, world) in worlds.iter().enumerate() {
            match world {
                Some(world) => {
                    stepped.observations.extend(world.observation());
                    stepped.ended.push(world.has_ended());
                    if let (Some(why), None) = (world.failure(), &stepped.failure) {
                        stepped.failure = Some((index, why.into()));
                    }
                }
                None => {
                    stepped.observations.extend(std::iter::repeat_n(0.0, task.seen().len()));
                    stepped.ended.push(true);
                }
            }
        }
        if results.send(stepped).is_err() {
            return;
        }
    }
}
