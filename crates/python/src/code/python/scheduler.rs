//! A scheduler of several users that is a class in Python.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_units::{Duration, Time};
use lasthop_wifi::multi_user::MultiUser;
use lasthop_wifi::multi_user::scheduler::{self as schedulers, Scheduler, SchedulerKind, SchedulerMaker, Turn};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::class::Class;
use super::instance::Instance;
use super::source::{Source, shown};

impl Class for SchedulerKind {
    const BASE: &'static str = "MultiUserScheduler";

    fn maker(source: Arc<Source>) -> Result<Arc<SchedulerMaker>, String> {
        let random = Stream::new(0, "multi_user_scheduler", 0);
        let trial = SchedulerContext { stations: 1, of: MultiUser::default(), random };
        Instance::new(&source, trial).check()?;
        Ok(Arc::new(move |context| Box::new(Own::new(&source, context))))
    }
}

/// The argument of a scheduler at the start.
#[pyclass(name = "SchedulerContext", module = "lasthop._core")]
pub(super) struct SchedulerContext {
    stations: usize,
    of: MultiUser,
    random: Stream,
}

#[pymethods]
impl SchedulerContext {
    /// Number of stations that can take part; their places are from 0 to one less.
    #[getter]
    fn stations(&self) -> usize {
        self.stations
    }
    /// Largest number of users of a PPDU.
    #[getter]
    fn max_users(&self) -> u32 {
        self.of.max_users
    }
    /// Whether stations are asked for the lengths of their queues.
    #[getter]
    fn bsrp(&self) -> bool {
        self.of.bsrp
    }
    /// A random number from 0 up to 1; the same seed gives the same numbers.
    fn random(&mut self) -> f64 {
        self.random.unit()
    }
}

/// A medium that the access point has won.
#[pyclass(frozen, name = "Won", module = "lasthop._core")]
pub(super) struct Won {
    now: Time,
    has_data: bool,
    reported: Vec<u64>,
}

#[pymethods]
impl Won {
    /// Now, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.now.since(Time::ZERO))
    }
    /// Whether packets wait in the queue of the access point.
    #[getter]
    fn has_data(&self) -> bool {
        self.has_data
    }
    /// Bytes that each station has reported last, by place.
    #[getter]
    fn reported(&self) -> Vec<u64> {
        self.reported.clone()
    }
}

/// A station with data.
#[pyclass(frozen, name = "User", module = "lasthop._core")]
#[derive(Clone)]
pub(super) struct User {
    place: usize,
    bytes: u64,
    rate_bps: u64,
}

#[pymethods]
impl User {
    /// Place of the station among those that can take part.
    #[getter]
    fn place(&self) -> usize {
        self.place
    }
    /// Estimate of the bytes that wait.
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Rate of its mode over the whole channel, in bit/s.
    #[getter]
    fn rate_bps(&self) -> u64 {
        self.rate_bps
    }
}

/// The stations among which a scheduler chooses.
#[pyclass(frozen, name = "Offer", module = "lasthop._core")]
pub(super) struct Offer {
    now: Time,
    users: Vec<User>,
    most: u32,
    around: schedulers::Around,
    is_known: bool,
}

#[pymethods]
impl Offer {
    /// Now, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        seconds(self.now.since(Time::ZERO))
    }
    /// Stations with data. Downlink: first the one whose turn it is by the queue.
    #[getter]
    fn users(&self) -> Vec<User> {
        self.users.clone()
    }
    /// Largest number of users of a PPDU.
    #[getter]
    fn max_users(&self) -> u32 {
        self.most
    }
    /// Whether `bytes` are known; without BSRP those of stations are not.
    #[getter]
    fn is_known(&self) -> bool {
        self.is_known
    }
    /// Longest time of data, in seconds.
    #[getter]
    fn longest_s(&self) -> f64 {
        seconds(self.around.longest)
    }
    /// Time of contention and acknowledgement of a PPDU for one, in seconds.
    #[getter]
    fn around_one_s(&self) -> f64 {
        seconds(self.around.one)
    }
    /// Time of contention and acknowledgement of a PPDU for several, in seconds.
    #[getter]
    fn around_several_s(&self) -> f64 {
        seconds(self.around.several)
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e9
}

/// A scheduler of an access point. Where a method returns None, `airtime` decides.
struct Own {
    instance: Instance,
    airtime: Box<dyn Scheduler>,
}

impl Own {
    fn new(source: &Arc<Source>, context: schedulers::SchedulerContext) -> Own {
        let schedulers::SchedulerContext { stations, of, random } = context;
        let unused = Stream::new(0, "multi_user_scheduler", 0);
        let airtime = SchedulerKind::default().build(schedulers::SchedulerContext { stations, of, random: unused });
        Own { instance: Instance::new(source, SchedulerContext { stations, of, random }), airtime }
    }

    /// The indices that a method chooses; `None` if it leaves the choice.
    fn chosen(&self, method: &str, offer: &schedulers::Offer<'_>) -> Option<Vec<usize>> {
        let users: Vec<User> = offer
            .waiting
            .iter()
            .map(|of| User { place: of.place, bytes: of.bytes, rate_bps: offer.phy.mode(of.mode).rate.as_bps() })
            .collect();
        let (count, most) = (users.len(), offer.most);
        let shown_to = Offer { now: offer.now, users, most, around: offer.around, is_known: offer.is_known };
        let (chosen, gave) = self.instance.ask(|scheduler| {
            let answer = scheduler.call_method1(method, (shown_to,))?;
            let gave = shown(&answer);
            if answer.is_none() {
                return Ok((None, gave));
            }
            let wrong =
                |_| PyTypeError::new_err(format!("{method} gave {gave}; a list of indices of offer.users, or None"));
            Ok((Some(answer.extract::<Vec<usize>>().map_err(wrong)?), gave.clone()))
        });
        let chosen = chosen?;
        let is_again = |(n, user): (usize, &usize)| chosen[..n].contains(user);
        if chosen.is_empty() || chosen.iter().any(|user| *user >= count) || chosen.iter().enumerate().any(is_again) {
            let what =
                format!("{method} gave {gave}; indices of offer.users, from 0 to {}, each at most once", count - 1);
            self.instance.fail(&what);
        }
        Some(chosen)
    }
}

impl Scheduler for Own {
    fn turn(&mut self, won: &schedulers::Won<'_>) -> Turn {
        let shown_to = Won { now: won.now, has_data: won.has_data, reported: won.reported.to_vec() };
        let turn = self.instance.ask(|scheduler| {
            let answer = scheduler.call_method1(intern!(scheduler.py(), "turn"), (shown_to,))?;
            if answer.is_none() {
                return Ok(None);
            }
            let wrong = || {
                PyTypeError::new_err(format!("turn gave {}; \"queue\", \"question\", \"data\" or None", shown(&answer)))
            };
            match answer.extract::<String>().map_err(|_| wrong())?.as_str() {
                "queue" => Ok(Some(Turn::Queue)),
                "question" => Ok(Some(Turn::Question)),
                "data" => Ok(Some(Turn::Data)),
                _ => Err(wrong()),
            }
        });
        turn.unwrap_or_else(|| self.airtime.turn(won))
    }

    fn downlink(&mut self, offer: &schedulers::Offer<'_>) -> Vec<usize> {
        self.chosen("downlink", offer).unwrap_or_else(|| self.airtime.downlink(offer))
    }

    fn uplink(&mut self, offer: &schedulers::Offer<'_>) -> Vec<usize> {
        self.chosen("uplink", offer).unwrap_or_else(|| self.airtime.uplink(offer))
    }

    fn on_turn(&mut self, now: Time, turn: Turn) {
        self.airtime.on_turn(now, turn);
    }

    fn on_grant(&mut self, now: Time, place: usize, bytes: u64) {
        let now_s = seconds(now.since(Time::ZERO));
        self.instance.ask(|scheduler| {
            scheduler.call_method1(intern!(scheduler.py(), "on_grant"), (now_s, place, bytes)).map(drop)
        });
    }

    fn failure(&self) -> Option<&str> {
        self.instance.failure()
    }
}
