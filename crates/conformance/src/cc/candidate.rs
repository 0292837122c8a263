//! The subject of a test: a controller of any origin, its constructor, and its promises.

use std::ops::Range;

use lasthop_tcp::congestion_control::{Algorithm, CongestionControl, Context, LongRun, Promise};
use lasthop_tcp::{Config, Endpoint, Profile};

use crate::failure::{Command, Failure, Trial};

/// A controller under test.
#[derive(Clone)]
pub struct Candidate<'a> {
    /// its name in failures
    pub name: String,
    /// makes one for a connection
    pub build: &'a dyn Fn(&Context) -> Box<dyn CongestionControl>,
    /// its promises for single events
    pub promise: Promise,
    /// its promises on a plain bottleneck
    pub long_run: LongRun,
    /// the command in failures that repeats the test
    pub command: Command,
}

impl<'a> Candidate<'a> {
    /// A controller with the promises of RFC 5681, and equal shares.
    pub fn new(name: &str, build: &'a dyn Fn(&Context) -> Box<dyn CongestionControl>) -> Candidate<'a> {
        Candidate {
            name: name.to_string(),
            build,
            promise: Promise::RFC5681,
            long_run: LongRun::RENO,
            command: |_, rule, seed| format!("lasthop_conformance::cc::{rule}(&candidate, {seed}..{seed} + 1)"),
        }
    }

    /// A controller of the registry, with its promises there; `build` makes one of it.
    pub fn registered(
        algorithm: &Algorithm,
        build: &'a dyn Fn(&Context) -> Box<dyn CongestionControl>,
    ) -> Candidate<'a> {
        let (promise, long_run) = (algorithm.promise(), algorithm.long_run());
        Candidate { promise, long_run, ..Candidate::new(algorithm.name(), build) }
    }

    /// The configuration of its endpoints: a Linux kernel whose segments all have the same payload, as without accurate ECN, and
    /// of which every second one is acknowledged, as RFC 5681 supposes.
    pub fn config(&self) -> Config {
        Config { push_sends: false, ..Profile::Linux612.config() }
    }

    /// An endpoint with this controller.
    pub(super) fn endpoint(&self, config: &Config, iss: u32) -> Endpoint {
        Endpoint::with_control(config, iss, (self.build)(&Context::new(config, iss)))
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
