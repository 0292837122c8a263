//! The interface of schedulers.

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

use crate::multi_user::settings::MultiUser;
use crate::phy::{ModeId, Phy};

/// The facts about an access point that its scheduler receives at the start of a run.
pub struct SchedulerContext {
    /// number of stations that can take part
    pub stations: usize,
    /// the settings of the access point
    pub of: MultiUser,
    /// random numbers of its own
    pub random: Stream,
}

/// Makes the scheduler of an access point.
pub type SchedulerMaker = dyn Fn(SchedulerContext) -> Box<dyn Scheduler> + Send + Sync;

/// The use of the medium that an access point has won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// data of its own queue, for one station or several [802.11ax-2021 §26.5.1]
    Queue,
    /// a trigger for the lengths of stations' queues: a BSRP [802.11ax-2021 §26.5.2, §9.3.1.22]
    Question,
    /// a trigger for stations' data: a Basic trigger [802.11ax-2021 §26.5.2, §9.3.1.22]
    Data,
}

/// A medium that an access point has won.
#[derive(Clone, Copy, Debug)]
pub struct Won<'a> {
    /// now
    pub now: Time,
    /// whether packets wait in its queue
    pub has_data: bool,
    /// bytes that each station has reported last, in the order of stations: the Queue Size of its QoS Control
    /// [802.11ax-2021 §9.2.4.5.6]
    pub reported: &'a [u64],
}

impl Won<'_> {
    /// Returns whether any station has reported data.
    pub fn has_reports(&self) -> bool {
        self.reported.iter().any(|bytes| *bytes > 0)
    }
}

/// Data that wait for a station, or at it.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// the station
    pub station: NodeId,
    /// its place among the stations of the access point that take part, from 0
    pub place: usize,
    /// mode of its latest PSDU, for the whole channel; a unit has the same constellation, code and streams on fewer subcarriers
    pub mode: ModeId,
    /// estimate of the bytes: of its packets in the queue, at most 256; uplink: from its report, or a guess if there is none
    pub bytes: u64,
}

/// Times of an exchange in addition to its data.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// longest time of data in a PPDU, `max_duration` of the aggregation
    pub longest: Duration,
    /// contention, preamble and acknowledgement of a PPDU for one
    pub one: Duration,
    /// the same of a PPDU for several, with the triggers of its answers
    pub several: Duration,
}

/// The stations among which a scheduler chooses.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// now
    pub now: Time,
    /// the PHY of the BSS
    pub phy: &'a Phy,
    /// stations with data. Downlink: first the one whose turn it is by the queue, then those with MPDUs that need another
    /// attempt, then the others in the queue's order, or in turn. Uplink: in turn.
    pub waiting: &'a [Waiting],
    /// largest number of users: `max_users` of the scenario
    pub most: u32,
    /// times of the exchange
    pub around: Around,
    /// whether the numbers of bytes are known; uplink without BSRP: they are not
    pub is_known: bool,
}

/// The choice of the stations that a PPDU serves.
pub trait Scheduler: Send {
    /// The use of the medium that its access point has won. It is called only if stations may be asked.
    fn turn(&mut self, won: &Won<'_>) -> Turn;

    /// The stations to which data go, as indices of `offer.waiting`, each at most once; one alone has a PPDU of its own.
    /// As many of them are served as there are units of one size.
    fn downlink(&mut self, offer: &Offer<'_>) -> Vec<usize>;

    /// The stations whose data are asked for, like [`downlink`](Self::downlink).
    fn uplink(&mut self, offer: &Offer<'_>) -> Vec<usize>;

    /// Called when an exchange begins, or when a question brought no data to ask for.
    fn on_turn(&mut self, now: Time, turn: Turn) {
        let _ = (now, turn);
    }

    /// Called with the bytes for which a station, by its place, was given airtime.
    fn on_grant(&mut self, now: Time, place: usize, bytes: u64) {
        let _ = (now, place, bytes);
    }

    /// Called with the airtime of a downlink PPDU, and the places of its stations, which have equal units.
    fn on_downlink(&mut self, airtime: Duration, places: &[usize]) {
        let _ = (airtime, places);
    }

    /// The places of all stations in the order in which they are asked and served; `None`: in turn.
    fn order(&self) -> Option<Vec<usize>> {
        None
    }

    /// Returns whether the access point contends for another question as long as stations report data.
    fn asks_on(&self) -> bool {
        true
    }

    /// The reason for which it cannot continue, if code from outside has failed and left the run.
    fn failure(&self) -> Option<&str> {
        None
    }
}
