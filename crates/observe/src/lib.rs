//! Events of a run as typed records, and the metrics computed from them.
//!
//! Models emit [`Record`]s and know no metric; a metric reads records and knows no model. A run whose observer is `()`
//! compiles to nothing here.

pub mod account;
mod collector;
pub mod detail;
mod histogram;
mod joined;
pub mod metric;
mod places;
mod quantity;
mod recent;
mod record;
pub mod recording;
mod report;
mod sizes;
mod step;
mod time_series;

pub use collector::Collector;
pub use histogram::{Histogram, PROBABILITIES};
pub use joined::EndedPart;
pub use lasthop_units::Hold;
pub use places::Places;
pub use quantity::{Definition, Form, Kind, Presence, Quantity, Scope, Shown, Unit, presence, scope};
pub use recent::{Awaited, Readers, Recent};
pub use record::{DropReason, FlowId, LinkId, NodeId, Outcome, QueueLayer, Record, Transport};
pub use report::{Cell, Layout, Report, Row, Series, SeriesBlock, Value};
/// For the test that limits the size of frequently handled objects.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;
pub use step::{End, Payload, Start, Step};
pub use time_series::TimeSeries;

use core::any::Any;

use detail::{Detail, FrameFacts, PacketFacts};
use lasthop_units::Time;

/// Receives the events of a run.
pub trait Observer {
    /// Whether it reads [`Step`]s; otherwise they are not computed.
    const READS_STEPS: bool = false;
    /// Whether it reads [`Detail`]s; otherwise they are not computed.
    const READS_DETAILS: bool = false;
    /// Whether it reads those [`Detail`]s that are for captures, and the others too.
    const READS_FRAMES: bool = false;
    /// Whether it reads [`Step`]s: called before the larger part of the work for them.
    #[inline(always)]
    fn reads_steps(&self) -> bool {
        Self::READS_STEPS
    }
    /// Whether it reads the [`Detail`]s that are for captures: called before these are computed.
    #[inline(always)]
    fn reads_frames(&self) -> bool {
        Self::READS_FRAMES
    }
    /// Whether it reads, of steps and details, the reasons why ends wait: called before these are computed.
    #[inline(always)]
    fn reads_waits(&self) -> bool {
        Self::READS_STEPS || Self::READS_DETAILS
    }
    /// Whether it reads details of segments: called before these are computed.
    #[inline(always)]
    fn reads_segments(&self) -> bool {
        Self::READS_DETAILS
    }
    /// Whether it reads [`Record::TxopEnded`].
    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        false
    }
    /// Whether the run is to pause before the next event.
    #[inline(always)]
    fn pauses(&self) -> bool {
        false
    }
    /// `record` happened at `at`.
    fn observe(&mut self, at: Time, record: Record);
    /// `detail` happened at `at`.
    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        let _ = (at, detail);
    }
    /// For captures: a packet at one of its hosts, whose datagram has this payload; [`Detail::Packet`] is one whose
    /// payload is zeros.
    #[inline(always)]
    fn packet(&mut self, at: Time, facts: &PacketFacts, payload: &[u8]) {
        let _ = (at, facts, payload);
    }
    /// For captures: the bytes of a frame that a host made itself, without its FCS.
    #[inline(always)]
    fn frame(&mut self, facts: &FrameFacts, bytes: &[u8]) {
        let _ = (facts, bytes);
    }
}

/// An observer that counts from the end of the warm-up on, or takes samples from time to time.
pub trait Watcher: Observer {
    /// The warm-up is over.
    fn start(&mut self, now: Time) {
        let _ = now;
    }
    /// The time of its next [`sample`](Self::sample).
    fn next_sample(&self) -> Time {
        Time::NEVER
    }
    /// Takes a sample at that time, before any event of the same instant.
    fn sample(&mut self, now: Time) {
        let _ = now;
    }
    /// The reason why its data could not be kept, so that the run is of no use.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// The [`Readers`] of a scenario's agents, if it has them; of two observers, the second one has them.
    fn readers(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

/// No observer.
impl Observer for () {
    #[inline(always)]
    fn observe(&mut self, _: Time, _: Record) {}
}
impl Watcher for () {}

/// An observer that is optional at run time.
impl<O: Observer> Observer for Option<O> {
    const READS_STEPS: bool = O::READS_STEPS;
    const READS_DETAILS: bool = O::READS_DETAILS;
    const READS_FRAMES: bool = O::READS_FRAMES;
    #[inline(always)]
    fn reads_steps(&self) -> bool {
        self.as_ref().is_some_and(O::reads_steps)
    }
    #[inline(always)]
    fn reads_frames(&self) -> bool {
        self.as_ref().is_some_and(O::reads_frames)
    }
    #[inline(always)]
    fn reads_waits(&self) -> bool {
        self.as_ref().is_some_and(O::reads_waits)
    }
    #[inline(always)]
    fn reads_segments(&self) -> bool {
        self.as_ref().is_some_and(O::reads_segments)
    }
    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        self.as_ref().is_some_and(O::awaits_txops)
    }
    #[inline(always)]
    fn pauses(&self) -> bool {
        self.as_ref().is_some_and(O::pauses)
    }
    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        if let Some(observer) = self {
            observer.observe(at, record);
        }
    }
    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        if let Some(observer) = self {
            observer.detail(at, detail);
        }
    }
    #[inline(always)]
    fn packet(&mut self, at: Time, facts: &PacketFacts, payload: &[u8]) {
        if let Some(observer) = self {
            observer.packet(at, facts, payload);
        }
    }
    #[inline(always)]
    fn frame(&mut self, facts: &FrameFacts, bytes: &[u8]) {
        if let Some(observer) = self {
            observer.frame(facts, bytes);
        }
    }
}
impl<O: Watcher> Watcher for Option<O> {
    fn start(&mut self, now: Time) {
        if let Some(observer) = self {
            observer.start(now);
        }
    }
    fn next_sample(&self) -> Time {
        self.as_ref().map_or(Time::NEVER, O::next_sample)
    }
    fn sample(&mut self, now: Time) {
        if let Some(observer) = self {
            observer.sample(now);
        }
    }
    fn failure(&self) -> Option<&str> {
        self.as_ref().and_then(O::failure)
    }
    fn readers(&mut self) -> Option<&mut dyn Any> {
        self.as_mut().and_then(O::readers)
    }
}

/// Two observers.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const READS_STEPS: bool = A::READS_STEPS || B::READS_STEPS;
    const READS_DETAILS: bool = A::READS_DETAILS || B::READS_DETAILS;
    const READS_FRAMES: bool = A::READS_FRAMES || B::READS_FRAMES;
    #[inline(always)]
    fn reads_steps(&self) -> bool {
        self.0.reads_steps() || self.1.reads_steps()
    }
    #[inline(always)]
    fn reads_frames(&self) -> bool {
        self.0.reads_frames() || self.1.reads_frames()
    }
    #[inline(always)]
    fn reads_waits(&self) -> bool {
        self.0.reads_waits() || self.1.reads_waits()
    }
    #[inline(always)]
    fn reads_segments(&self) -> bool {
        self.0.reads_segments() || self.1.reads_segments()
    }
    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        self.0.awaits_txops() || self.1.awaits_txops()
    }
    #[inline(always)]
    fn pauses(&self) -> bool {
        self.0.pauses() || self.1.pauses()
    }
    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.0.observe(at, record);
        self.1.observe(at, record);
    }
    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        self.0.detail(at, detail);
        self.1.detail(at, detail);
    }
    #[inline(always)]
    fn packet(&mut self, at: Time, facts: &PacketFacts, payload: &[u8]) {
        self.0.packet(at, facts, payload);
        self.1.packet(at, facts, payload);
    }
    #[inline(always)]
    fn frame(&mut self, facts: &FrameFacts, bytes: &[u8]) {
        self.0.frame(facts, bytes);
        self.1.frame(facts, bytes);
    }
}
impl<A: Watcher, B: Watcher> Watcher for (A, B) {
    fn start(&mut self, now: Time) {
        self.0.start(now);
        self.1.start(now);
    }
    fn next_sample(&self) -> Time {
        self.0.next_sample().min(self.1.next_sample())
    }
    fn sample(&mut self, now: Time) {
        if self.0.next_sample() <= now {
            self.0.sample(now);
        }
        if self.1.next_sample() <= now {
            self.1.sample(now);
        }
    }
    fn failure(&self) -> Option<&str> {
        self.0.failure().or(self.1.failure())
    }
    fn readers(&mut self) -> Option<&mut dyn Any> {
        self.1.readers()
    }
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
