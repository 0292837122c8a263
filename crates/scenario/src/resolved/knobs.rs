//! The knobs of a scenario's nodes, their values at the start, and the changes that its file has.

use lasthop_observe::NodeId;
use lasthop_registry::{Fault, Kind, ParamError};
use lasthop_units::{Duration, Time};
use lasthop_wifi::{AccessCategory, ChannelAccess, EdcaParameters};

use super::ResolvedScenario;
use crate::glob;
use crate::knob::{self, Change, Handle, KNOBS, Knob, Place, Setting, Target, split_category};

/// The least AIFSN of a station. [802.11-2020 Table 9-155]
const STATION_AIFSN: f64 = 2.0;

impl ResolvedScenario {
    /// The knobs that `text`, such as `edca.cw_min:sta*`, names, in the order of nodes, flows or links.
    ///
    /// # Errors
    /// An unknown knob, category or target, and a target that lacks the setting.
    pub(crate) fn knobs(&self, text: &str) -> Result<Vec<Handle>, Fault> {
        let Some((name, pattern)) = text.split_once(':') else {
            let what = format!("\"{text}\" has no target");
            return Err((what, "write NAME:TARGET, e.g. \"edca.cw_min:ap\" or \"edca.cw_min:*\"").into());
        };
        let (plain, category) = split_category(name);
        let Some(knob) = KNOBS.iter().find(|knob| knob.name == plain) else {
            let known = KNOBS.iter().map(|knob| knob.name.to_string()).collect();
            return Err(Kind::UnknownName { of: knob::KIND.into(), name: name.into(), known }.into());
        };
        let category = category.map(category_of).transpose()?;
        let names: Vec<&str> = match knob.target {
            Target::Category => self.nodes.iter().map(|node| node.name.as_str()).collect(),
        };
        let matching: Vec<usize> = (0..names.len()).filter(|index| glob::matches(pattern, names[*index])).collect();
        if matching.is_empty() {
            let known = names.into_iter().map(String::from).collect();
            return Err(Kind::NoMatch { of: knob.target.word().into(), name: pattern.into(), known }.into());
        }
        matching
            .into_iter()
            .map(|index| match knob.target {
                Target::Category => self.category_knob(knob, index, category),
            })
            .collect()
    }

    fn category_knob(
        &self,
        knob: &'static Knob,
        node: usize,
        category: Option<AccessCategory>,
    ) -> Result<Handle, Fault> {
        let name = &self.nodes[node].name;
        let of = match self.nodes[node].config.access {
            ChannelAccess::Edca(_) => Some(category.unwrap_or(AccessCategory::Be)),
            ChannelAccess::Dcf(_) if category.is_some() => {
                let remedy = format!("\"{}:{name}\" is the knob of its DCF", knob.name);
                return Err((format!("{name} has no access categories"), remedy).into());
            }
            ChannelAccess::Dcf(_) if matches!(knob.setting, Setting::Aifsn | Setting::TxopLimit) => {
                let what = format!("{name} has no access categories, so no {}", knob.name);
                return Err((what, "a DCF has edca.cw_min and edca.cw_max").into());
            }
            ChannelAccess::Dcf(_) => None,
        };
        Ok(Handle { knob, place: Place::Category(NodeId(node as u32), of) })
    }

    /// Checks a value for this node, flow or link.
    ///
    /// # Errors
    /// A value out of bounds.
    pub(crate) fn check_knob(&self, handle: &Handle, value: f64) -> Result<f64, Fault> {
        let value = handle.knob.check(value)?;
        if value >= self.least(handle) {
            return Ok(value);
        }
        let allowed = format!("from {} at a station [802.11-2020 Table 9-155]", self.least(handle));
        Err(Kind::OutOfRange { found: value.to_string(), allowed }.into())
    }

    /// The smallest value for this node, flow or link.
    pub(crate) fn least(&self, handle: &Handle) -> f64 {
        match handle.place {
            Place::Category(node, _) if handle.knob.setting == Setting::Aifsn && node.index() >= self.bss.len() => {
                STATION_AIFSN
            }
            _ => handle.knob.least,
        }
    }

    /// The changes of the file, in the order of their times; those of the same time in the order of the file.
    ///
    /// # Errors
    /// A knob that the scenario lacks, a value out of bounds, or a time at which the run is over.
    pub(crate) fn changes_of(&self) -> Result<Vec<Change>, ParamError> {
        let mut changes = Vec::new();
        for (index, section) in self.description.change.0.iter().enumerate() {
            let path = format!("change[{index}]");
            if section.at >= self.description.duration {
                let what = format!("{} is not before the end, {}", section.at, self.description.duration);
                return Err(ParamError::new(format!("{path}.at"), (what, "the run would end without the change")));
            }
            let mut sets = Vec::new();
            for (name, value) in &section.set.0 {
                let error = |fault| ParamError::new(format!("{path}.set.{name}"), fault);
                for handle in self.knobs(name).map_err(error)? {
                    let value = handle.knob.read(value).map_err(error)?;
                    sets.push((handle, self.check_knob(&handle, value).map_err(error)?));
                }
            }
            changes.push(Change { at: Time::ZERO + section.at, sets });
        }
        changes.sort_by_key(|change| change.at);
        Ok(changes)
    }

    /// The value of a knob at the start of a run; none if an algorithm decides.
    pub(crate) fn initial(&self, handle: &Handle) -> Option<f64> {
        match handle.place {
            Place::Category(node, category) => {
                let own = self.initial_access(node.index())[category.map_or(0, AccessCategory::index)];
                Some(match handle.knob.setting {
                    Setting::CwMin => f64::from(own.cw_min),
                    Setting::CwMax => f64::from(own.cw_max),
                    Setting::Aifsn => f64::from(own.aifsn),
                    Setting::TxopLimit => own.txop_limit.as_secs_f64(),
                })
            }
        }
    }

    /// The parameters of channel access with which a node starts; one without access categories has one set.
    pub(crate) fn initial_access(&self, node: usize) -> [EdcaParameters; 4] {
        let config = &self.nodes[node].config;
        match config.access {
            ChannelAccess::Edca(categories) => categories,
            ChannelAccess::Dcf(_) => {
                let phy = self.phy_of(node);
                let cw_min = config.legacy.map_or(phy.cw_min(), |of| of.cw_min);
                [EdcaParameters { aifsn: 2, cw_min, cw_max: phy.cw_max(), txop_limit: Duration::ZERO }; 4]
            }
        }
    }
}

fn category_of(word: &str) -> Result<AccessCategory, Fault> {
    AccessCategory::ALL.into_iter().find(|category| category.word() == word).ok_or_else(|| {
        let known = AccessCategory::ALL.iter().map(|category| category.word().to_string()).collect();
        Kind::UnknownName { of: "access category".into(), name: word.into(), known }.into()
    })
}
