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
    /// If channels change: for each of them, the part of the power of each interferer that falls into it, and the channel of each node.
    shares: Vec<Vec<f64>>,
    of_nodes: Vec<u32>,
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
        let known =
            if of.shares.is_empty() { of.all.iter().map(reached).collect() } else { vec![Vec::new(); of.all.len()] };
        let mut energy = Energy {
            nodes: channels.len(),
            channels: known,
            shares: Vec::new(),
            of_nodes: channels.to_vec(),
            sources: of.all.iter().map(source).collect(),
            movement: of.movement,
            sent: Vec::new(),
        };
        of.shares.iter().for_each(|shares| energy.add_channel(shares));
        energy
    }

    /// Adds a channel, with the part of the power of each interferer that falls into it.
    fn add_channel(&mut self, shares: &[Db]) {
        let channel = self.shares.len() as u32;
        let shares: Vec<f64> = shares.iter().map(|share| libm::pow(10.0, share.0 / 10.0)).collect();
        let reached = |by: &usize| shares[*by] > 0.0 && self.sources[*by].power_mw.iter().any(|power| *power > 0.0);
        for by in (0..shares.len()).filter(reached).collect::<Vec<_>>() {
            self.channels[by].push(channel);
        }
        self.shares.push(shares);
    }

    /// Adds a channel that no node has had yet. Returns the interferers that are on the air there.
    pub(crate) fn opens(&mut self, now: Time, channel: u32, shares: &[Db]) -> Vec<u32> {
        if (channel as usize) < self.shares.len() {
            return Vec::new();
        }
        assert!(channel as usize == self.shares.len(), "channels have numbers in the order in which nodes have them");
        self.add_channel(shares);
        let sends = |by: &u32| self.channels[*by as usize].contains(&channel) && self.on_air(now, *by).is_some();
        (0..self.sources.len() as u32).filter(sends).collect()
    }

    /// Nodes are on another channel from now on.
    pub(crate) fn move_to(&mut self, nodes: &[NodeId], channel: u32) {
        nodes.iter().for_each(|node| self.of_nodes[node.index()] = channel);
    }

    /// The burst of an interferer that is on the air, as receivers see it.
    pub(crate) fn on_air(&self, now: Time, by: u32) -> Option<Begun> {
        let last = self.sent.iter().rfind(|one| one.by == by).filter(|one| one.end > now)?;
        let from = Interferers::number(self.nodes, by);
        Some(Begun { from, start: now, header_ends: now, end: last.end, signal: Signal::Energy })
    }

    /// Number of interferers.
    pub(crate) fn count(&self) -> u32 {
        self.sources.len() as u32
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
        let share = self.shares.get(self.of_nodes[node.index()] as usize).map_or(1.0, |of| of[burst.by as usize]);
        power_mw * burst.level * share
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
