//! The settings in force that knobs have changed.

use std::collections::BTreeMap;

use lasthop_observe::{LinkId, NodeId};
use lasthop_units::Duration;
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::rate_control::RateChain;
use lasthop_wifi::{AccessCategory, EdcaParameters};

use crate::ResolvedScenario;
use crate::knob::Setting;
use crate::resolved::Range;

/// A TXOP limit is a multiple of this. [802.11-2020 §9.4.2.28]
const TXOP_UNIT: Duration = Duration::from_micros(32);

/// The channel access parameters, rates and channels in force, as far as a knob has changed them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// of each node, by access category; a node without categories has one set. Empty before the first change.
    access: Vec<[EdcaParameters; 4]>,
    /// of links whose rates are held
    chains: BTreeMap<LinkId, Chain>,
    /// The frequencies of all channels that a BSS has had, in the order of their numbers in the medium. Empty before the first move.
    channels: Vec<Range>,
}

/// The rates that knobs have given a link.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    rates: [Option<ModeId>; RateChain::MAX],
    tries: [Option<u8>; RateChain::MAX],
}

impl Settings {
    /// Changes a parameter of channel access. Returns those that are in force from now on: CWmax is never below CWmin.
    pub(crate) fn access(
        &mut self,
        scenario: &ResolvedScenario,
        (node, category): (NodeId, Option<AccessCategory>),
        setting: Setting,
        value: f64,
    ) -> EdcaParameters {
        if self.access.is_empty() {
            self.access = (0..scenario.nodes.len()).map(|node| scenario.initial_access(node)).collect();
        }
        let own = &mut self.access[node.index()][category.map_or(0, AccessCategory::index)];
        match setting {
            Setting::CwMin => own.cw_min = value as u32,
            Setting::CwMax => own.cw_max = value as u32,
            Setting::Aifsn => own.aifsn = value as u8,
            Setting::TxopLimit => own.txop_limit = TXOP_UNIT * (value * 1e9 / TXOP_UNIT.as_nanos() as f64 + 0.5) as u64,
            _ => unreachable!("no other setting belongs to an access category"),
        }
        EdcaParameters { cw_max: own.cw_max.max(own.cw_min), ..*own }
    }

    /// The number in the medium of the channel to which an access point moves: the one nearest to `number`.
    pub(crate) fn channel(&mut self, scenario: &ResolvedScenario, ap: NodeId, number: f64) -> u32 {
        if self.channels.is_empty() {
            self.channels = scenario.ranges_at_start();
        }
        let range = scenario.channel_near(ap.index(), number).1;
        let known = self.channels.iter().position(|one| *one == range).unwrap_or(self.channels.len());
        if known == self.channels.len() {
            self.channels.push(range);
        }
        known as u32
    }

    /// The channels that BSSs have had, in the order of their numbers in the medium, if any has moved; else none.
    pub(crate) fn channels(&self) -> &[Range] {
        &self.channels
    }

    /// Changes a part of the retry chain of a link. Returns the chain in force from now on; none before its first rate is known.
    pub(crate) fn chain(
        &mut self,
        scenario: &ResolvedScenario,
        link: LinkId,
        setting: Setting,
        value: f64,
    ) -> Option<RateChain> {
        let own = self.chains.entry(link).or_default();
        match setting {
            Setting::Tries(entry) => own.tries[usize::from(entry)] = Some(value as u8),
            Setting::Rate(entry) => own.rates[usize::from(entry)] = Some(scenario.mode_for(link.index(), value)),
            _ => unreachable!("no other setting belongs to a link"),
        }
        own.chain()
    }
}

impl Chain {
    /// The entries whose rates are known. The last one is for all further attempts, if it has no number of its own.
    fn chain(&self) -> Option<RateChain> {
        self.rates[0]?;
        let known = self.rates.iter().zip(&self.tries).filter_map(|(rate, tries)| Some(((*rate)?, *tries)));
        let entries: Vec<(ModeId, Option<u8>)> = known.collect();
        let (last, before) = entries.split_last()?;
        let entry = |(mode, tries): &(ModeId, Option<u8>)| (*mode, tries.unwrap_or(1));
        let entries = before.iter().map(entry).chain([(last.0, last.1.unwrap_or(u8::MAX))]);
        entries.fold(None, |chain: Option<RateChain>, (mode, tries)| {
            Some(chain.map_or_else(|| RateChain::single(mode, tries), |chain| chain.then(mode, tries)))
        })
    }
}
