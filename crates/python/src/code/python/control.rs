//! A congestion control that is a class in Python.
//!
//! The window is an attribute of the instance. It is read after each call, so that the engine's queries between two
//! calls need no interpreter.

use std::fmt;
use std::sync::Arc;

use lasthop_registry::Language;
use lasthop_scenario::Code;
use lasthop_tcp::Config;
use lasthop_tcp::congestion_control::{
    AckSample, Algorithm, CongestionControl, CongestionEvent, Context, ControlMaker, MarkReports, Moment, Needs, Prior,
    give_up,
};
use lasthop_units::{DataRate, Duration};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::class::Class;
use super::source::{Source, shown};
use super::told;
use crate::code::{bpf, c};

impl Class for Algorithm {
    const BASE: &'static str = "CongestionControl";

    fn maker(source: Arc<Source>) -> Result<Arc<ControlMaker>, String> {
        let traits = Traits::of(&source)?;
        let trial = build(&source, traits, &Context::new(&Config::default(), 0));
        if let Some(why) = trial.failure() {
            return Err(why.to_string());
        }
        Ok(Arc::new(move |context: &Context| Box::new(build(&source, traits, context))))
    }

    fn load_compiled(code: &Code) -> Result<Arc<ControlMaker>, String> {
        if code.language == Language::C { c::congestion_control(code) } else { bpf::congestion_control(code) }
    }
}

/// The properties of a class, for all its instances.
#[derive(Clone, Copy)]
struct Traits {
    needs: Needs,
    owns_recovery: bool,
    observes: bool,
    heeds_starts: bool,
    tells_rtt: bool,
}

impl Traits {
    /// The properties given by the attributes of the class.
    ///
    /// # Errors
    /// An attribute with a wrong value.
    fn of(source: &Source) -> Result<Traits, String> {
        Python::attach(|py| {
            let is = |name: &str| source.attribute::<bool>(py, name);
            let marks = match source.attribute::<String>(py, "marks")?.as_str() {
                "as_configured" => MarkReports::AsConfigured,
                "each_packet" => MarkReports::EachPacket,
                "counted" => MarkReports::Counted,
                other => {
                    return Err(format!(
                        "{}: marks = \"{other}\"; one of: as_configured, each_packet, counted",
                        source.name()
                    ));
                }
            };
            Ok(Traits {
                needs: Needs {
                    paced: is("paced")?,
                    rate_samples: is("rate_samples")?,
                    marks,
                    is_scalable: is("is_scalable")?,
                    eases_marks: is("eases_marks")?,
                },
                owns_recovery: is("owns_recovery")?,
                observes: source.overrides(py, "observe"),
                heeds_starts: source.overrides(py, "on_transmit_start"),
                tells_rtt: source.overrides(py, "rtt_ns"),
            })
        })
    }
}

/// A controller of one connection.
struct Control {
    source: Arc<Source>,
    traits: Traits,
    /// None if it could not be made.
    instance: Option<Instance>,
    window: f64,
    ssthresh: f64,
    pacing_rate: Option<DataRate>,
    failure: Option<String>,
}

/// The instance, and objects for frequent calls.
struct Instance {
    object: Py<PyAny>,
    on_ack: Py<PyAny>,
    ack: Py<told::Ack>,
    /// a tuple of the ACK alone
    arguments: Py<PyTuple>,
}

impl Instance {
    fn new(py: Python<'_>, source: &Source, context: &Context) -> PyResult<Instance> {
        let context = Bound::new(py, told::Context(*context))?;
        let object = source.instance(context.as_any())?;
        let ack = Py::new(py, told::Ack(AckSample::default()))?;
        let arguments = PyTuple::new(py, [&ack])?.unbind();
        Ok(Instance { on_ack: object.getattr("on_ack")?.unbind(), object: object.unbind(), ack, arguments })
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("file", &self.source.name()).field("window", &self.window).finish()
    }
}

/// A controller of the class for `context`. If it cannot be made, its first call gives up.
fn build(source: &Arc<Source>, traits: Traits, context: &Context) -> Control {
    let mut control = Control {
        source: Arc::clone(source),
        traits,
        instance: None,
        window: context.initial_window,
        ssthresh: context.initial_ssthresh,
        pacing_rate: None,
        failure: None,
    };
    Python::attach(|py| match Instance::new(py, source, context) {
        Ok(instance) => {
            control.instance = Some(instance);
            control.failure = control.read(py, "__init__").err();
        }
        Err(error) => control.failure = Some(source.sentence(py, &error)),
    });
    control
}

impl Control {
    /// Calls `call` with the instance, and reads its attributes afterwards.
    fn tell(&mut self, method: &str, call: impl FnOnce(Python<'_>, &Instance) -> PyResult<()>) {
        if self.failure.is_none() {
            self.failure = Python::attach(|py| {
                let instance = self.instance.as_ref().expect("one that was not made has failed");
                call(py, instance).map_err(|error| self.source.sentence(py, &error))?;
                self.read(py, method)
            })
            .err();
        }
        if self.failure.is_some() {
            give_up();
        }
    }

    /// Reads window, threshold and rate from the instance.
    fn read(&mut self, py: Python<'_>, method: &str) -> Result<(), String> {
        let Some(instance) = &self.instance else { return Ok(()) };
        let object = instance.object.bind(py);
        let sentence = |error: PyErr| self.source.sentence(py, &error);
        let number = |name: &Bound<'_, pyo3::types::PyString>, must: &str| {
            let value = object.getattr(name).map_err(sentence)?;
            let wrong = |_| format!("{}: {name} is {} after {method}; {must}", self.source.name(), shown(&value));
            value.extract::<f64>().map_err(wrong)
        };
        let window = number(intern!(py, "window"), "it is a number of segments, 1 or more")?;
        let ssthresh = number(intern!(py, "ssthresh"), "it is a number of segments, or infinite")?;
        let paced = intern!(py, "pacing_rate");
        let is_paced = !object.getattr(paced).map_err(sentence)?.is_none();
        let rate = if is_paced { Some(number(paced, "it is in bit/s, or None")?) } else { None };
        let wrong = |what: &str, value: f64, must: &str| {
            Err(format!("{}: {what} is {value} after {method}; {must}", self.source.name()))
        };
        if !(window >= 1.0 && window.is_finite()) {
            return wrong("window", window, "it is a number of segments, 1 or more");
        }
        if ssthresh.is_nan() || ssthresh < 0.0 {
            return wrong("ssthresh", ssthresh, "it is a number of segments, or infinite");
        }
        let pacing_rate = rate.map(|bps| (bps, told::rate_of(bps)));
        if let Some((bps, None)) = pacing_rate {
            return wrong("pacing_rate", bps, "it is in bit/s, or None");
        }
        (self.window, self.ssthresh) = (window, ssthresh);
        self.pacing_rate = pacing_rate.and_then(|(_, rate)| rate);
        Ok(())
    }

    fn set(&mut self, attribute: &str, value: f64) {
        self.tell(attribute, |py, instance| instance.object.bind(py).setattr(attribute, value));
    }
}

impl CongestionControl for Control {
    fn needs(&self) -> Needs {
        self.traits.needs
    }

    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        let rtt = rtt.map(Duration::as_secs_f64);
        self.tell("on_established", |py, it| {
            it.object.bind(py).call_method1("on_established", (rtt, told::Moment(*at))).map(drop)
        });
    }

    fn on_transmit_start(&mut self, at: &Moment) {
        if self.traits.heeds_starts {
            self.tell("on_transmit_start", |py, it| {
                it.object.bind(py).call_method1("on_transmit_start", (told::Moment(*at),)).map(drop)
            });
        }
    }

    fn observe(&mut self, ack: &AckSample) -> bool {
        if self.traits.observes {
            self.tell("observe", |py, it| {
                it.ack.bind(py).borrow_mut().0 = *ack;
                it.object.bind(py).call_method1(intern!(py, "observe"), it.arguments.bind(py)).map(drop)
            });
        }
        self.traits.observes
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.tell("on_ack", |py, it| {
            it.ack.bind(py).borrow_mut().0 = *ack;
            it.on_ack.bind(py).call1(it.arguments.bind(py)).map(drop)
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.tell("on_congestion", |py, it| {
            it.object.bind(py).call_method1("on_congestion", (told::Event(*event),)).map(drop)
        });
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.tell("on_timeout", |py, it| {
            it.object.bind(py).call_method1("on_timeout", (told::Event(*event),)).map(drop)
        });
    }

    fn on_recovery_exit(&mut self, at: &Moment) {
        self.tell("on_recovery_exit", |py, it| {
            it.object.bind(py).call_method1("on_recovery_exit", (told::Moment(*at),)).map(drop)
        });
    }

    fn on_spurious(&mut self, at: &Moment, prior: &Prior) {
        self.tell("on_spurious", |py, it| {
            let told = (told::Prior(*prior), told::Moment(*at));
            it.object.bind(py).call_method1("on_spurious", told).map(drop)
        });
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.tell("on_idle", |py, it| it.object.bind(py).call_method1("on_idle", (restart_window,)).map(drop));
    }

    fn set_window(&mut self, segments: f64) {
        self.set("window", segments);
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.set("ssthresh", segments);
    }

    fn owns_recovery(&self) -> bool {
        self.traits.owns_recovery
    }

    fn cwnd(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        self.pacing_rate
    }

    fn rtt(&self) -> Option<Duration> {
        let instance = self.instance.as_ref().filter(|_| self.traits.tells_rtt)?;
        let told = Python::attach(|py| instance.object.bind(py).getattr("rtt_ns")?.extract::<Option<u64>>());
        told.ok().flatten().map(Duration::from_nanos)
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
