//! The recording of a run: its tables, its interval of time, and the recorder of its rows.

use std::fmt;
use std::sync::Arc;

pub use lasthop_observe::recording::{Batch, Cells, Chosen, Column, GROUPS, NONE, Sink, TABLES, Table, Values};
use lasthop_observe::recording::{Span, Tape};
use lasthop_units::{Duration, Time};

use crate::ResolvedScenario;

/// Names for the rows of a recording, which have numbers.
#[derive(Clone, Debug)]
pub struct Names {
    /// of nodes
    pub nodes: Vec<String>,
    /// ids of flows
    pub flows: Vec<String>,
    /// "sender->receiver" of links
    pub links: Vec<String>,
}

/// Keeps recordings.
pub trait Recorder: Send + Sync {
    /// Begins the recording of a seed.
    ///
    /// # Errors
    /// A sentence that says why it cannot be kept.
    fn begin(&self, seed: u64, chosen: Chosen, names: Names) -> Result<Box<dyn Sink>, String>;
}

/// The parts of each run that are recorded.
#[derive(Clone)]
pub struct Recording {
    /// its tables
    pub chosen: Chosen,
    /// its start
    pub from: Duration,
    /// its length; `None` for all until the end
    pub length: Option<Duration>,
    /// its recorder
    pub recorder: Arc<dyn Recorder>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recording { chosen, from, length, .. } = self;
        f.debug_struct("Recording").field("chosen", chosen).field("from", from).field("length", length).finish()
    }
}

impl Recording {
    /// The tape of the run of `seed` of a scenario.
    pub(crate) fn tape(&self, scenario: &ResolvedScenario, seed: u64) -> Result<Tape, String> {
        let from = Time::ZERO + self.from;
        let end = Time::ZERO + scenario.description.duration;
        let until = self.length.map_or(end, |length| end.min(from + length));
        let chosen = if scenario.has_interferers() { self.chosen } else { self.chosen.without_interferers() };
        let sink = self.recorder.begin(seed, chosen, scenario.names())?;
        Ok(Tape::new(&scenario.layout(), chosen, Span { from, until }, sink))
    }
}

impl ResolvedScenario {
    /// Names of its nodes, flows and links.
    pub(crate) fn names(&self) -> Names {
        let link = |index| {
            let (sender, receiver) = self.link_ends(index);
            format!("{sender}->{receiver}")
        };
        Names {
            nodes: self.nodes.iter().map(|node| node.name.clone()).collect(),
            flows: self.flows.iter().map(|flow| flow.id.clone()).collect(),
            links: (0..self.layout().links).map(link).collect(),
        }
    }
}
