//! The subject of a test: a queue discipline of any origin, and its exceptions from the promises of all.

use std::ops::Range;

use lasthop_engine::Stream;
use lasthop_link::{Below, QueueDiscipline, QueueDisciplineKind};

use crate::failure::{Command, Failure, Trial};

/// The packets whose order is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// all of a flow
    OfFlows,
    /// the data of a flow, and its pure ACKs
    OfDataAndAcks,
}

/// A queue discipline under test.
#[derive(Clone)]
pub struct Candidate<'a> {
    /// its name in failures
    pub name: String,
    /// makes an empty one, with its random draws from a seed
    pub build: &'a dyn Fn(u64) -> Box<dyn QueueDiscipline<u64>>,
    /// packets that leave in the order in which they came
    pub order: Order,
    /// whether it finds the packets of a station and TID everywhere; a FIFO below it would not be searched
    pub finds_wanted: bool,
    /// the command in failures that repeats the test
    pub command: Command,
}

impl<'a> Candidate<'a> {
    /// A discipline that keeps all promises.
    pub fn new(name: &str, build: &'a dyn Fn(u64) -> Box<dyn QueueDiscipline<u64>>) -> Candidate<'a> {
        let command: Command =
            |_, rule, seed| format!("lasthop_conformance::queue::{rule}(&candidate, {seed}..{seed} + 1)");
        Candidate { name: name.to_string(), build, order: Order::OfFlows, finds_wanted: true, command }
    }

    /// Runs a rule once for each seed, up to the first failure.
    pub(super) fn try_each(
        &self,
        rule: &'static str,
        seeds: Range<u64>,
        test: impl Fn(&Trial) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let command = self.command;
        seeds.into_iter().try_for_each(|seed| test(&Trial { subject: &self.name, rule, seed, command }))
    }
}

/// Makes queues of a kind of the registry above a driver, as in a node.
pub fn registered(kind: &QueueDisciplineKind, below: Below) -> impl Fn(u64) -> Box<dyn QueueDiscipline<u64>> {
    move |seed| kind.build_above(below, Stream::new(seed, "queue", 0))
}
