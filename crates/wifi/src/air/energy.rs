//! Bursts of interferers on the air: their power at each receiver, and the PPDUs that they meet.
//!
//! A burst is energy to a receiver: it is never received, and disturbs a PPDU by the ratio of powers alone, whatever
//! `capture` is. The preamble of a PPDU is found, and its header is read, if the PPDU is stronger than all bursts
//! together by 4 dB, the least SNR at which ns-3 detects a preamble (`ThresholdPreambleDetectionModel`); its MPDUs are
//! judged by the error model. The power of a burst at a receiver is taken when it begins. Left out: fading of interferers.

use std::sync::Arc;

use lasthop_observe::NodeId;
use lasthop_units::{Db, Duration, Time};

use super::carrier_sense::{Begun, Signal};
use super::interference::{Other, Span};
use crate::channel::{Movement, milliwatts};
use crate::interferer::{Burst, Bursts, Interferers};

/// Length of the list of bursts from which on those that have no more effect are removed.
const MANY: usize = 64;

/// An interferer.
struct Source {
    bursts: Bursts,
    next: Option<Burst>,
    /// Power at each node, if no node moves.
    power_mw: Vec<f64>,
}

/// A burst that is on the air, or that has overlapped a PPDU which still is.
#[derive(Clone, Copy)]
struct Sent {
    by: u32,
    start: Time,
    end: Time,
    /// factor on the power of its interferer
    level: f64,
}

/// The interferers of a medium and their bursts.
pub(crate) struct Energy {
    nodes: usize,
    sources: Vec<Source>,
    movement: Option<(Arc<dyn Movement>, Duration)>,
    sent: Vec<Sent>,
    /// Channels of the nodes that each interferer reaches.
    pub channels: Vec<Vec<u32>>,
}

impl Energy {
    /// The interferers of a medium whose nodes are on these channels.
    pub(crate) fn new(of: Interferers, channels: &[u32], seed: u64) -> Energy {
        let source = |one: &crate::interferer::Interferer| {
            let mut bursts = Bursts::new(seed, one);
            Source { next: bursts.next(), bursts, power_mw: one.power.iter().map(|power| milliwatts(*power)).collect() }
        };
        let reached = |one: &crate::interferer::Interferer| {
            let heard = channels.iter().zip(&one.power).filter(|(_, power)| power.0 > f64::NEG_INFINITY);
            let mut all: Vec<u32> = heard.map(|(channel, _)| *channel).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        Energy {
            nodes: channels.len(),
            channels: of.all.iter().map(reached).collect(),
            sources: of.all.iter().map(source).collect(),
            movement: of.movement,
            sent: Vec::new(),
        }
    }

    /// The start of the next burst of each interferer.
    pub(crate) fn next_starts(&self) -> impl Iterator<Item = (u32, Time)> {
        (0..).zip(&self.sources).filter_map(|(by, source)| Some((by, source.next?.start)))
    }

    /// Begins the burst of an interferer that is due; `open_since`: no PPDU on the air began before this time. Returns its
    /// start and end as receivers see it, and the start of the next.
    pub(crate) fn begin(&mut self, now: Time, by: u32, open_since: Time) -> (Begun, Option<Time>) {
        let source = &mut self.sources[by as usize];
        let Burst { start, duration, level } = source.next.expect("a burst that begins was due");
        assert!(start == now, "a burst begins at its time");
        source.next = source.bursts.next();
        let (end, next) = (start + duration, source.next.map(|burst| burst.start));
        if self.sent.len() >= MANY {
            self.sent.retain(|one| one.end > open_since);
        }
        self.sent.push(Sent { by, start, end, level: libm::pow(10.0, level.0 / 10.0) });
        let from = Interferers::number(self.nodes, by);
        (Begun { from, start, header_ends: start, end, signal: Signal::Energy }, next)
    }

    /// The power in milliwatts at a node of the burst that an interferer began last.
    pub(crate) fn power_of_last(&self, by: u32, node: NodeId) -> f64 {
        let last = self.sent.iter().rfind(|one| one.by == by).expect("it has begun one");
        self.power_mw(last, node)
    }

    /// The power of this burst relative to its interferer's.
    pub(crate) fn level_of_last(&self, by: u32) -> Db {
        let last = self.sent.iter().rfind(|one| one.by == by).expect("it has begun one");
        Db(10.0 * libm::log10(last.level))
    }

    fn power_mw(&self, burst: &Sent, node: NodeId) -> f64 {
        let at_start = self.sources[burst.by as usize].power_mw[node.index()];
        let tx = Interferers::number(self.nodes, burst.by);
        let power_mw = match &self.movement {
            Some((movement, interval)) if at_start > 0.0 && movement.moves(tx, node) => {
                let step = burst.start.as_nanos() / interval.as_nanos() * interval.as_nanos();
                milliwatts(movement.mean_power(Time::from_nanos(step), tx, node))
            }
            _ => at_start,
        };
        power_mw * burst.level
    }

    /// Returns whether any burst has been on the air during `span`.
    pub(crate) fn is_in(&self, span: Span) -> bool {
        self.sent.iter().any(|one| one.start < span.to && one.end > span.from)
    }

    /// The bursts during `span`, as `node` has heard them.
    pub(super) fn heard_in(&self, span: Span, node: NodeId) -> impl Iterator<Item = Other> + '_ {
        let during = self.sent.iter().filter(move |one| one.start < span.to && one.end > span.from);
        let heard = during.map(move |one| Other::energy(one.start, one.end, self.power_mw(one, node)));
        heard.filter(|other| other.power_mw > 0.0)
    }
}
