//! The metrics since the last reading, for a caller that reads some of them again and again.
//!
//! They are those of a run over a window that begins with the last reading. Only the metrics that are read are restarted
//! and reported.

use core::any::Any;

use lasthop_units::Time;

use crate::metric::{Metric, Metrics, OverTime, QUANTITIES, Sampled};
use crate::{Definition, FlowId, Form, Layout, LinkId, NodeId, Observer, Record, Report, Scope, Series, Watcher};

/// An event before whose successor a run pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// the sender of a flow has taken an RTT sample from an ACK
    Ack(FlowId),
    /// an attempt on a link has ended
    Attempt(LinkId),
    /// a TXOP of a node has ended
    Txop(NodeId),
}

/// An observer whose metrics cover the time since the last reading.
pub struct Recent {
    metrics: Metrics,
    sampled: Sampled,
    report: Report,
    series: Series,
    since: Time,
    /// metrics whose summaries are read, as bits in the order of [`QUANTITIES`]
    summaries: u32,
    /// metrics whose samples are read
    samples: u32,
    awaited: Option<Awaited>,
    has_come: bool,
}

impl Recent {
    /// The metrics of these quantities, of everything in `layout`; the run pauses after each event that is `awaited`.
    pub fn new<'a>(
        layout: &Layout,
        quantities: impl Iterator<Item = &'a Definition> + Clone,
        awaited: Option<Awaited>,
    ) -> Recent {
        let bits = |in_summary: bool| {
            let wanted = quantities.clone().filter(move |quantity| quantity.presence.in_summary() == in_summary);
            wanted.map(bit_of).fold(0, |bits, bit| bits | bit)
        };
        Recent {
            metrics: Metrics::new(layout),
            sampled: Sampled::new(layout),
            report: Report::new(layout),
            series: Series::default(),
            since: Time::ZERO,
            summaries: bits(true),
            samples: bits(false),
            awaited,
            has_come: false,
        }
    }

    /// Whether a metric has this quantity, as a number.
    pub fn knows(quantity: &Definition) -> bool {
        let has_rows =
            matches!(quantity.scope, Scope::Totals | Scope::Medium | Scope::Flow | Scope::Node | Scope::Link);
        bit_of(quantity) != 0 && quantity.form != Form::List && has_rows
    }

    /// All quantities that it has, in the order of their metrics.
    pub fn quantities() -> impl Iterator<Item = &'static Definition> {
        QUANTITIES.iter().flat_map(|of| of.iter().copied()).filter(|quantity| Recent::knows(quantity))
    }

    /// Computes the values since the last reading up to `now`, and starts the next window. A window of no length has no values; its
    /// events belong to the next one.
    pub fn read(&mut self, now: Time) {
        let covered = now.since(self.since);
        self.report.clear();
        self.series.clear();
        self.has_come = false;
        if now > self.since {
            self.metrics.report_of(self.summaries, now, covered, &mut self.report);
            self.sampled.sample_of(self.samples, now, covered, &mut self.series);
            self.metrics.start_of(self.summaries, now);
            self.since = now;
        }
    }

    /// The number of a quantity of an entity at the last reading; `None` if it had none.
    pub fn number(&self, quantity: &Definition, entity: u32) -> Option<f64> {
        match quantity.presence.in_summary() {
            true => self.report.number(quantity, entity as usize),
            false => self.series.number(quantity, entity),
        }
    }
}

fn bit_of(quantity: &Definition) -> u32 {
    let place = QUANTITIES.iter().position(|of| of.iter().any(|one| one.is(quantity)));
    place.map_or(0, |place| 1 << place)
}

impl Observer for Recent {
    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        matches!(self.awaited, Some(Awaited::Txop(_)))
    }

    #[inline(always)]
    fn pauses(&self) -> bool {
        self.has_come
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.metrics.observe(at, &record);
        self.sampled.observe(at, &record);
        self.has_come |= match (self.awaited, &record) {
            (Some(Awaited::Ack(awaited)), Record::Rtt { flow, .. }) => awaited == *flow,
            (Some(Awaited::Attempt(awaited)), Record::Attempt { link, .. }) => awaited == *link,
            (Some(Awaited::Txop(awaited)), Record::TxopEnded { node }) => awaited == *node,
            _ => false,
        };
    }
}

impl Watcher for Recent {}

/// The metrics of all agents of a scenario, each over the time since its own last reading.
#[derive(Default)]
pub struct Readers(pub Vec<Recent>);

impl Observer for Readers {
    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        self.0.iter().any(Recent::awaits_txops)
    }

    #[inline(always)]
    fn pauses(&self) -> bool {
        self.0.iter().any(Recent::pauses)
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        for reader in &mut self.0 {
            reader.observe(at, record);
        }
    }
}

impl Watcher for Readers {
    fn readers(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::goodput;
    use crate::{Transport, metric};

    fn layout() -> Layout {
        Layout {
            flows: vec![(Transport::Tcp, true)],
            nodes: 2,
            aps: 1,
            links: 2,
            channels: 1,
            several_users: Vec::new(),
            interferers: false,
        }
    }

    #[test]
    fn a_reading_covers_the_time_since_the_one_before() {
        let at = |ms| Time::ZERO + lasthop_units::Duration::from_millis(ms);
        let queue = metric::queue::QUEUE_LENGTH.definition();
        let goodput = goodput::GOODPUT.definition();
        let mut recent = Recent::new(&layout(), [queue, goodput].into_iter(), None);
        recent.observe(at(1), Record::Delivered { flow: FlowId(0), bytes: 1250 });
        recent.observe(at(2), Record::Queue { node: NodeId(1), packets: 3, tcp_acks: 0 });
        recent.read(at(10));
        // 1250 B in 10 ms are 1 Mbit/s.
        assert_eq!(recent.number(goodput, 0), Some(1e6));
        assert_eq!((recent.number(queue, 1), recent.number(queue, 0)), (Some(3.0), Some(0.0)));
        recent.read(at(15));
        assert_eq!((recent.number(goodput, 0), recent.number(queue, 1)), (Some(0.0), Some(3.0)));
        recent.observe(at(15), Record::Delivered { flow: FlowId(0), bytes: 1250 });
        recent.read(at(15));
        assert_eq!(recent.number(goodput, 0), None, "the window has no length");
        recent.read(at(25));
        assert_eq!(recent.number(goodput, 0), Some(1e6), "its events are not lost");
    }

    #[test]
    fn only_the_awaited_event_pauses() {
        let sample = |flow| Record::Rtt { flow: FlowId(flow), sample: lasthop_units::Duration::ZERO, controller: None };
        let layout = Layout { flows: vec![(Transport::Tcp, true); 2], ..layout() };
        let mut recent = Recent::new(&layout, std::iter::empty(), Some(Awaited::Ack(FlowId(1))));
        recent.observe(Time::ZERO, sample(0));
        assert!(!recent.pauses());
        recent.observe(Time::ZERO, sample(1));
        assert!(recent.pauses());
        recent.read(Time::ZERO);
        assert!(!recent.pauses());
    }
}
