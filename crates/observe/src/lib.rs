//! What happened, as typed records, and the metrics that add them up.
//!
//! Models emit [`Record`]s and know no metric; a metric reads records and knows no model. A run whose observer is `()` compiles to nothing here.

pub mod account;
mod collector;
mod histogram;
pub mod metric;
mod quantity;
mod record;
mod report;
mod step;

pub use collector::Collector;
pub use histogram::{Histogram, PROBABILITIES};
pub use quantity::{Definition, Form, Kind, Presence, Quantity, Scope, Shown, Unit, presence, scope};
pub use record::{DropReason, FlowId, LinkId, NodeId, Outcome, QueueLayer, Record, Transport};
pub use report::{Cell, Layout, Report, Row, Series, SeriesBlock, Value};
pub use step::{End, Hold, Payload, Start, Step};

use lasthop_units::Time;

/// Somebody who is told what happens.
pub trait Observer {
    /// Whether it reads [`Step`]s; where it does not, nobody works them out.
    const READS_STEPS: bool = false;
    /// `record` happened at `at`.
    fn observe(&mut self, at: Time, record: Record);
}

/// An observer that counts from the end of the warm-up on.
pub trait Watcher: Observer {
    /// The warm-up is over.
    fn start(&mut self, now: Time) {
        let _ = now;
    }
}

impl Watcher for () {}

/// Nobody watches.
impl Observer for () {
    fn observe(&mut self, _: Time, _: Record) {}
}
