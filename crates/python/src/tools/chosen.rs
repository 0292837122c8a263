//! A congestion control chosen on a command line: a built-in one, or code; and the message if it gives up.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use lasthop_registry::{Parameter, Plugged, Value};
use lasthop_scenario as engine;
use lasthop_tcp::congestion_control::{
    AckSample, Algorithm, CongestionControl, CongestionEvent, Context, ControlMaker, GaveUp, Moment, Needs, Prior,
};
use lasthop_units::{DataRate, Duration};
use pyo3::prelude::*;

use super::interruptible::{interruptible, interruptible_here};
use crate::code::{Loader, raise_if_kept};
use crate::diagnostic::scenario_error;

/// A scenario in which a choice is read as usual.
const SCENARIO: &str = "[bss]\nstandard = \"802.11g\"\n[[station]]\n";
const KEY: &str = "tcp.congestion_control";

type Slot = Arc<Mutex<Option<String>>>;

/// A choice that was read, with its code loaded.
#[derive(Clone)]
pub(crate) struct Chosen {
    text: String,
    algorithm: Algorithm,
    is_python: bool,
    failure: Slot,
}

impl Chosen {
    /// Reads `text`: a name such as `cubic`, or a table such as `{ kind = "python", file = "mine.py", class = "Mine"
    /// }`.
    ///
    /// # Errors
    /// A message about the choice.
    pub(crate) fn read(text: &str) -> PyResult<Chosen> {
        let read = engine::resolve(SCENARIO, "", &[(KEY.into(), text.into())])
            .and_then(|scenario| scenario.load_code(&Loader).map(|()| scenario));
        raise_if_kept()?;
        let scenario = read.map_err(|error| scenario_error(about_choice(error, text)))?;
        let is_python = scenario.code().iter().any(|code| code.language.is_interpreted());
        let algorithm = scenario.congestion_control().clone();
        Ok(Chosen { text: text.into(), algorithm, is_python, failure: Slot::default() })
    }

    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Does `work`, which uses these controllers; Ctrl-C ends it.
    ///
    /// # Errors
    /// Those of [`interruptible`].
    pub(crate) fn interruptible<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<T> {
        if self.is_python { interruptible_here(work) } else { interruptible(py, work) }
    }

    /// The algorithm, for code that knows its promises.
    pub(crate) fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// A controller for one connection, whose reason for giving up is kept.
    pub(crate) fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        Box::new(Kept { inner: self.algorithm.build(context), failure: Arc::clone(&self.failure) })
    }

    /// The maker of such controllers, as a value that replaces a name.
    pub(crate) fn into_value(self) -> Value {
        let written = self.algorithm.to_value().unwrap_or_else(|| Value::text(self.algorithm.name()));
        let name = self.algorithm.name().to_string();
        let maker: Arc<ControlMaker> = Arc::new(move |context: &Context| self.build(context));
        Plugged::new(name, written, maker).into_value()
    }

    /// Does `work`, which uses these controllers. If they are in Python it holds the interpreter throughout.
    ///
    /// # Errors
    /// The reason why one gave up.
    pub(crate) fn attempt<T>(&self, work: impl FnOnce() -> T) -> Result<T, String> {
        let caught = || catch_unwind(AssertUnwindSafe(work));
        match if self.is_python { Python::attach(|_| caught()) } else { caught() } {
            Ok(done) => Ok(done),
            Err(thrown) if thrown.is::<GaveUp>() => {
                let why = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(why.unwrap_or_else(|| format!("{} has given up and does not say why", self.text)))
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// The same error, about a choice by itself instead of one in a scenario.
fn about_choice(error: engine::Diagnostic, text: &str) -> engine::Diagnostic {
    match error.key.strip_prefix(KEY) {
        Some(below) => engine::Diagnostic::new(engine::Origin::Nowhere, format!("{text}{below}"), *error.fault),
        None => error,
    }
}

/// A controller that leaves behind its reason for giving up.
struct Kept {
    inner: Box<dyn CongestionControl>,
    failure: Slot,
}

/// Prints the controller itself, without the slot.
impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(why) = self.inner.failure() {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
        }
    }
}

impl CongestionControl for Kept {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }
    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        self.inner.on_established(at, rtt);
    }
    fn on_transmit_start(&mut self, at: &Moment) {
        self.inner.on_transmit_start(at);
    }
    fn observe(&mut self, ack: &AckSample) -> bool {
        self.inner.observe(ack)
    }
    fn on_ack(&mut self, ack: &AckSample) {
        self.inner.on_ack(ack);
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.inner.on_congestion(event);
    }
    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.inner.on_timeout(event);
    }
    fn on_recovery_exit(&mut self, at: &Moment) {
        self.inner.on_recovery_exit(at);
    }
    fn on_spurious(&mut self, at: &Moment, prior: &Prior) {
        self.inner.on_spurious(at, prior);
    }
    fn on_idle(&mut self, restart_window: f64) {
        self.inner.on_idle(restart_window);
    }
    fn set_window(&mut self, segments: f64) {
        self.inner.set_window(segments);
    }
    fn set_ssthresh(&mut self, segments: f64) {
        self.inner.set_ssthresh(segments);
    }
    fn owns_recovery(&self) -> bool {
        self.inner.owns_recovery()
    }
    fn holds_back(&self) -> bool {
        self.inner.holds_back()
    }
    fn cwnd(&self) -> f64 {
        self.inner.cwnd()
    }
    fn ssthresh(&self) -> f64 {
        self.inner.ssthresh()
    }
    fn pacing_rate(&self) -> Option<DataRate> {
        self.inner.pacing_rate()
    }
    fn longest_send(&self) -> Option<Duration> {
        self.inner.longest_send()
    }
    fn rtt(&self) -> Option<Duration> {
        self.inner.rtt()
    }
    fn failure(&self) -> Option<&str> {
        self.inner.failure()
    }
}
