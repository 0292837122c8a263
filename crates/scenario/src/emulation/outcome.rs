//! An emulation from its start to its result, with its observers; the caller provides the carrier of packets.

use lasthop_observe::account::Account;
use lasthop_observe::recording::Tape;
use lasthop_observe::{TimeSeries, Watcher};

use super::{Emulation, EmulationPlan};
use crate::certificate::Carried;
use crate::run::{Clock, Told, Watchers, result_of};
use crate::{Keep, ResolvedScenario, RunResult, account};

/// Carries packets between a network and real hosts.
pub trait Carrier {
    /// Runs `emulation` to its end.
    ///
    /// # Errors
    /// A sentence that says why the emulation could not run.
    fn carry<O: Watcher>(&mut self, emulation: &mut Emulation<O>) -> Result<Carried, String>;
}

/// Emulates `scenario` under `seed`: `carrier` carries the flows of `plan`.
///
/// # Errors
/// A sentence that says why there is no result: the carrier failed, a file could not be written, something was not
/// conserved. A run whose certificate is not valid has a result.
pub fn emulate(
    scenario: &ResolvedScenario,
    seed: u64,
    plan: &EmulationPlan,
    keep: &Keep,
    carrier: &mut impl Carrier,
) -> Result<(RunResult, Carried), String> {
    let clock = Clock::start();
    let with_nodes = plan.stack.as_ref().map(|_| scenario.roaming());
    let scenario = with_nodes.as_ref().unwrap_or(scenario);
    let series = keep.interval.map(|interval| scenario.time_series(interval));
    let books = keep.account.then(|| account::of(scenario));
    let tape = keep.recording.as_ref().map(|recording| recording.tape(scenario, seed)).transpose()?;
    let capture = keep.captures.as_ref().map(|captures| captures.begin(scenario, seed)).transpose()?;
    let of = Of { scenario, seed, plan };
    let watchers: Watchers = (series, (books, (tape, (capture, scenario.readers()))));
    let (told, (series, (books, (tape, (capture, _))))) = of.watched_by(watchers, carrier)?;
    tape.map_or(Ok(()), Tape::close)?;
    capture.map_or(Ok(()), |capture| capture.close())?;
    Ok(told.result(series, books, &clock))
}

/// The subject of the emulation.
#[derive(Clone, Copy)]
struct Of<'a> {
    scenario: &'a ResolvedScenario,
    seed: u64,
    plan: &'a EmulationPlan,
}

impl<'a> Of<'a> {
    fn watched_by<O: Watcher>(self, observer: O, carrier: &mut impl Carrier) -> Result<(Ended<'a>, O), String> {
        let mut emulation = Emulation::new(self.scenario, self.seed, self.plan, observer);
        let carried = carrier.carry(&mut emulation)?;
        if let Some(failure) = emulation.observer().failure() {
            return Err(failure.to_string());
        }
        let (finished, observer) = emulation.finish()?.without_observer();
        Ok((Ended { of: self, finished, carried }, observer))
    }
}

struct Ended<'a> {
    of: Of<'a>,
    finished: crate::Finished,
    carried: Carried,
}

impl Ended<'_> {
    fn result(self, series: Option<TimeSeries>, books: Option<Account>, clock: &Clock) -> (RunResult, Carried) {
        let Ended { of, finished, carried } = self;
        let balance = books.map(|books| books.close(finished.end));
        let (channels, wall_s) = (&finished.channels[..], clock.seconds());
        let told = Told { balance: balance.as_ref(), channels, carried: Some(&carried), wall_s };
        (result_of(of.scenario, of.seed, (finished.report, finished.events), &told, series), carried)
    }
}
