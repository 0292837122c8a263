//! Algorithms of a caller: plug-ins for names in a scenario file that lasthop does not have.

use std::sync::Arc;

use lasthop_link::QueueMaker;
use lasthop_link::queue_discipline::QueueDisciplineKind;
use lasthop_registry::{Finds, ParamError, Parameters, Plugged, Shape, Value, find_foreign};
use lasthop_tcp::congestion_control::{Algorithm, ControlMaker};
use lasthop_wifi::rate_control::{RateControlKind, RateControlMaker};

use crate::code::Found;
use crate::description::Description;

/// A plug-in's answer to a name: none, the maker of such an algorithm, or an error in its parameters.
pub type Answer<T> = Result<Option<Arc<T>>, ParamError>;

/// Provides algorithms for names that lasthop does not have.
/// `choice` is the value at `path` of the scenario: a name, or a table whose `kind` is the name. A plug-in reads its
/// parameters from it like built-in algorithms: with [`params!`](lasthop_registry::params) and
/// [`read_table`](lasthop_registry::read_table), whose errors name the place and the known keys. Each connection, queue
/// and link of each run gets its own object, with the random numbers passed to it, so that a seed gives the same result
/// again.
pub trait Plugins {
    /// A congestion control.
    ///
    /// # Errors
    /// A wrong parameter.
    fn congestion_control(&self, name: &str, choice: &Value, path: &str) -> Answer<ControlMaker> {
        let _ = (name, choice, path);
        Ok(None)
    }

    /// A queue discipline.
    ///
    /// # Errors
    /// A wrong parameter.
    fn queue_discipline(&self, name: &str, choice: &Value, path: &str) -> Answer<QueueMaker> {
        let _ = (name, choice, path);
        Ok(None)
    }

    /// A rate control.
    ///
    /// # Errors
    /// A wrong parameter.
    fn rate_control(&self, name: &str, choice: &Value, path: &str) -> Answer<RateControlMaker> {
        let _ = (name, choice, path);
        Ok(None)
    }
}

/// No plug-ins.
pub(crate) struct Nobody;

impl Plugins for Nobody {}

struct Finder<'a> {
    plugins: &'a dyn Plugins,
    code: &'a Found,
}

impl Finds for Finder<'_> {
    fn find(&self, kind: &str, name: &str, choice: &Value, path: &str) -> Result<Option<Value>, ParamError> {
        if let Some(value) = self.code.find(kind, name, choice, path)? {
            return Ok(Some(value));
        }
        let plugins = self.plugins;
        Ok(if kind == Algorithm::REGISTRY.kind {
            plugged(name, choice, plugins.congestion_control(name, choice, path)?)
        } else if kind == QueueDisciplineKind::REGISTRY.kind {
            plugged(name, choice, plugins.queue_discipline(name, choice, path)?)
        } else if kind == RateControlKind::REGISTRY.kind {
            plugged(name, choice, plugins.rate_control(name, choice, path)?)
        } else {
            None
        })
    }
}

fn plugged<T: ?Sized + Send + Sync + 'static>(name: &str, choice: &Value, maker: Option<Arc<T>>) -> Option<Value> {
    maker.map(|maker| Plugged::new(name, choice.clone(), maker).into_value())
}

/// Puts the algorithms of `plugins` in place of names in a scenario that lasthop does not have, and notes the
/// scenario's own code in `code`.
pub(crate) fn find_in(root: &mut Value, plugins: &dyn Plugins, code: &Found) -> Result<(), ParamError> {
    find_foreign(root, &Shape::Table(Description::fields()), "", &Finder { plugins, code })
}
