//! The account of a run at any moment of it, to see when time went where.

use std::sync::Arc;

use lasthop_observe::Watcher;
use lasthop_units::Time;
use serde_json::Value as Json;

use crate::run::Watchers;
use crate::run_tables::RunTables;
use crate::simulation::Simulation;
use crate::{ResolvedScenario, account};

/// A run that keeps an account, which can be read at any moment.
pub struct AccountSoFar {
    // It has the account and the agents' metrics. Its type is compiled already, which saves compiling another.
    simulation: Simulation<Watchers>,
    scenario: Arc<ResolvedScenario>,
}

impl AccountSoFar {
    /// `scenario` under `seed` at time zero.
    pub fn new(scenario: Arc<ResolvedScenario>, seed: u64) -> AccountSoFar {
        let watchers = (None, (Some(account::of(&scenario)), (None, (None, scenario.readers()))));
        AccountSoFar { simulation: Simulation::watched_by(Arc::clone(&scenario), seed, watchers), scenario }
    }

    /// Runs to `until` or the end, whichever comes first. Returns the account from the end of the warm-up to then, as
    /// "account" of a result has it. A transmission on the air counts by what has happened so far. An error if the run
    /// went wrong.
    pub fn until(&mut self, until: Time) -> Result<Json, String> {
        self.simulation.run_until(until);
        if let Some(failure) = self.simulation.failure().or(self.simulation.observer().failure()) {
            return Err(failure.to_string());
        }
        let (_, (books, _)) = self.simulation.observer();
        let balance = books.clone().map(|books| books.close(until.min(self.simulation.end())));
        Ok(balance.map_or(Json::Null, |balance| account::json(&self.scenario, &balance, self.simulation.channels())))
    }

    /// "flows", "totals" and so on of a result, from the end of the warm-up to now; `None` during the warm-up.
    pub fn tables(&self) -> Option<RunTables> {
        self.simulation.tables()
    }

    /// The time at which the run ends.
    pub fn end(&self) -> Time {
        self.simulation.end()
    }
}
