//! The knobs of a scenario's nodes, their values at the start, and the changes that its file has.

use std::sync::Arc;

use lasthop_link::QueueDisciplineKind;
use lasthop_observe::{FlowId, LinkId, NodeId};
use lasthop_registry::{Fault, Kind, ParamError};
use lasthop_units::{DataRate, Duration, Time};
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::{AccessCategory, ChannelAccess, EdcaParameters};

use super::ResolvedScenario;
use super::defaults::chosen;
use crate::description::{NodeQueue, TransportWord};
use crate::glob;
use crate::knob::{self, Change, Handle, KNOBS, Knob, MOST_BYTES, Place, Setting, Target, split_category};
use crate::traffic::TrafficKind;

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
        let nodes = || self.nodes.iter().map(|node| node.name.clone()).collect();
        let known: Vec<String> = match knob.target {
            Target::Category | Target::Queue | Target::Aggregating | Target::Transmitter => nodes(),
            Target::AccessPoint | Target::SeveralUsers | Target::Movable => self.access_point_names(),
            Target::Station | Target::User => self.stations().into_iter().map(String::from).collect(),
            Target::Flow => self.flows.iter().map(|flow| flow.id.clone()).collect(),
            Target::Link => self.link_names(),
        };
        let matching: Vec<usize> = (0..known.len()).filter(|index| glob::matches(pattern, &known[*index])).collect();
        if matching.is_empty() {
            return Err(Kind::NoMatch { of: knob.target.word().into(), name: pattern.into(), known }.into());
        }
        matching
            .into_iter()
            .map(|index| match knob.target {
                Target::Category => self.category_knob(knob, index, category),
                Target::Queue => self.queue_knob(knob, index),
                Target::Aggregating => self.ampdu_knob(knob, index),
                Target::AccessPoint => Ok(Handle { knob, place: Place::Node(NodeId(index as u32)) }),
                Target::Station => self.station_knob(knob, self.bss.len() + index),
                Target::Flow => self.flow_knob(knob, index),
                Target::SeveralUsers => self.users_knob(knob, index),
                Target::User => self.user_knob(knob, self.bss.len() + index),
                Target::Transmitter => self.power_knob(knob, index),
                Target::Movable => self.channel_knob(knob, index),
                Target::Link => Ok(Handle { knob, place: Place::Link(LinkId(index as u32)) }),
            })
            .collect()
    }

    /// The names of all links, as `SENDER->RECEIVER`.
    pub(crate) fn link_names(&self) -> Vec<String> {
        let name = |link| {
            let (sender, receiver) = self.link_ends(link);
            format!("{sender}->{receiver}")
        };
        (0..self.links()).map(name).collect()
    }

    /// The names of all access points.
    pub(crate) fn access_point_names(&self) -> Vec<String> {
        self.nodes[..self.bss.len()].iter().map(|node| node.name.clone()).collect()
    }

    /// The same scenario with what `handles` may turn besides.
    pub(crate) fn turned_by<'a>(self: Arc<Self>, handles: impl Iterator<Item = &'a Handle>) -> Arc<Self> {
        let turned = self.turned.and_by(handles);
        if turned == self.turned { self } else { Arc::new(ResolvedScenario { turned, ..(*self).clone() }) }
    }

    fn users_knob(&self, knob: &'static Knob, ap: usize) -> Result<Handle, Fault> {
        match self.bss[ap].config.multi_user {
            Some(_) => Ok(Handle { knob, place: Place::Node(NodeId(ap as u32)) }),
            None => {
                let what = format!("{} sends no PPDUs of several users", self.nodes[ap].name);
                Err((what, "802.11ax sends them with ap.multi_user = \"airtime\"").into())
            }
        }
    }

    fn user_knob(&self, knob: &'static Knob, station: usize) -> Result<Handle, Fault> {
        let station = NodeId(station as u32);
        if self.several_users().contains(&station) {
            return Ok(Handle { knob, place: Place::Node(station) });
        }
        let what = format!("{} takes no part in PPDUs of several users", self.nodes[station.index()].name);
        Err((what, "stations of 802.11ax do at an access point with multi_user = \"airtime\"").into())
    }

    fn power_knob(&self, knob: &'static Knob, node: usize) -> Result<Handle, Fault> {
        match chosen(&self.description.channel.path_loss).weakens() {
            true => Ok(Handle { knob, place: Place::Node(NodeId(node as u32)) }),
            false => Err(("no path loss weakens a signal", "set channel.path_loss = \"log_distance\"").into()),
        }
    }

    fn queue_knob(&self, knob: &'static Knob, node: usize) -> Result<Handle, Fault> {
        match self.law_of(node) {
            Some(_) => Ok(Handle { knob, place: Place::Node(NodeId(node as u32)) }),
            None => {
                let what = format!("the queue of {} keeps no delay", self.nodes[node].name);
                Err((what, "codel, pie, dualpi2, fq_codel, fq_pie, fq_mac and airtime_fq_codel have a target").into())
            }
        }
    }

    fn ampdu_knob(&self, knob: &'static Knob, node: usize) -> Result<Handle, Fault> {
        let own = &self.nodes[node].config;
        match self.bss[own.bss as usize].config.aggregation {
            Some(_) if own.legacy.is_none() => Ok(Handle { knob, place: Place::Node(NodeId(node as u32)) }),
            _ => {
                let what = format!("{} makes no A-MPDUs", self.nodes[node].name);
                Err((what, "802.11n and later make them, unless aggregation = \"off\"").into())
            }
        }
    }

    /// The target of the law of a node's queue, and the interval that is above it.
    fn law_of(&self, node: usize) -> Option<(Duration, Option<Duration>)> {
        let NodeQueue::Discipline(kind) = &self.nodes[node].queue else { return None };
        match kind {
            QueueDisciplineKind::Codel(of) => Some((of.target, Some(of.interval))),
            QueueDisciplineKind::FqCodel(of) => Some((of.target, Some(of.interval))),
            QueueDisciplineKind::FqMac(of) => Some((of.target, Some(of.interval))),
            QueueDisciplineKind::AirtimeFqCodel(of) => Some((of.target, Some(of.interval))),
            QueueDisciplineKind::Pie(of) => Some((of.target, None)),
            QueueDisciplineKind::FqPie(of) => Some((of.target, None)),
            QueueDisciplineKind::DualPi2(of) => Some((of.target, None)),
            _ => None,
        }
    }

    fn station_knob(&self, knob: &'static Knob, station: usize) -> Result<Handle, Fault> {
        let ap = self.nodes[station].config.bss as usize;
        match &self.nodes[ap].queue {
            NodeQueue::Discipline(kind) if kind.shares_airtime() => {
                Ok(Handle { knob, place: Place::Node(NodeId(station as u32)) })
            }
            _ => {
                let what = format!("the queue of {} does not schedule by airtime", self.nodes[ap].name);
                Err((what, "set ap.queue = \"airtime_fq_codel\"").into())
            }
        }
    }

    fn flow_knob(&self, knob: &'static Knob, flow: usize) -> Result<Handle, Fault> {
        let spec = &self.flows[flow];
        let is_bulk = matches!(spec.section.traffic, TrafficKind::Bulk(_));
        let transport = spec.section.transport;
        if !matches!(transport, TransportWord::Tcp | TransportWord::Quic) || !is_bulk {
            let what = format!("{} has no single congestion window", spec.id);
            return Err((what, format!("{} is for flows of bulk data over TCP or QUIC", knob.name)).into());
        }
        if knob.setting == Setting::Pacing && transport == TransportWord::Quic {
            let what = format!("the QUIC stack of {} paces by its window", spec.id);
            return Err((what, "turn its window").into());
        }
        if knob.setting == Setting::Pacing && !spec.tcp.config.is_paced() {
            let what = format!("the segments of {} are not paced", spec.id);
            return Err((what, "set pacing = \"on\" in [tcp] or in the flow").into());
        }
        Ok(Handle { knob, place: Place::Flow(FlowId(flow as u32)) })
    }

    /// The mode of the highest rate of a link that is not above `bps`, else of its lowest rate: among several the one with
    /// the fewest streams, then the narrowest, then the one with the longest guard interval, as `fixed` has it.
    pub(crate) fn mode_for(&self, link: usize, bps: f64) -> ModeId {
        let phy = self.phy_of(self.ends(link).0);
        let key = |id: &ModeId| {
            let mode = phy.mode(*id);
            (mode.rate, std::cmp::Reverse((mode.streams, mode.bandwidth_hz as u64)), mode.guard_interval)
        };
        let modes = self.modes_of_link(link);
        let below = modes
            .iter()
            .filter(|id| phy.mode(**id).rate.as_bps() as f64 <= bps * (1.0 + 1e-6))
            .max_by_key(|id| key(id));
        let lowest = || modes.iter().min_by_key(|id| (phy.mode(**id).rate, std::cmp::Reverse(key(id))));
        *below.or_else(lowest).expect("a link has a mode")
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
        let allowed = match handle.place {
            Place::Node(ap) if handle.knob.setting == Setting::Channel => {
                let known = self.channels_for(ap.index());
                if known.iter().any(|(number, _)| f64::from(*number) == value) {
                    return Ok(value);
                }
                format!("one of {}", known.iter().map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(", "))
            }
            _ if value < self.least(handle) => {
                format!("from {} at a station [802.11-2020 Table 9-155]", self.least(handle))
            }
            _ if value > self.most(handle) => {
                let why =
                    if handle.knob.setting == Setting::QueueTarget { ", below the interval of the law" } else { "" };
                format!("at most {} {}{why}", self.most(handle), handle.knob.unit())
            }
            Place::Link(link)
                if matches!(handle.knob.setting, Setting::Rate(_)) && !self.has_rate(link.index(), value) =>
            {
                let phy = self.phy_of(self.ends(link.index()).0);
                let mut rates: Vec<DataRate> =
                    self.modes_of_link(link.index()).iter().map(|id| phy.mode(*id).rate).collect();
                rates.sort_unstable();
                rates.dedup();
                format!("one of {}", rates.iter().map(DataRate::to_string).collect::<Vec<_>>().join(", "))
            }
            _ => return Ok(value),
        };
        Err(Kind::OutOfRange { found: value.to_string(), allowed }.into())
    }

    /// Whether a link has a rate, exactly or as its MCS is usually written.
    fn has_rate(&self, link: usize, bps: f64) -> bool {
        let phy = self.phy_of(self.ends(link).0);
        self.modes_of_link(link).iter().any(|id| phy.mode(*id).has_rate(DataRate::from_bps(bps as u64)))
    }

    /// The greatest value for this node, flow or link.
    pub(crate) fn most(&self, handle: &Handle) -> f64 {
        let Place::Node(node) = handle.place else { return handle.knob.most };
        let phy = self.phy_of(node.index());
        match handle.knob.setting {
            Setting::QueueTarget => {
                let interval = self.law_of(node.index()).and_then(|(_, interval)| interval);
                interval.map_or(handle.knob.most, |interval| (interval - Duration::from_micros(1)).as_secs_f64())
            }
            Setting::MaxMpdus => f64::from(u32::from(phy.block_ack_window())),
            Setting::Channel => {
                self.channels_for(node.index()).last().map_or(handle.knob.most, |(number, _)| f64::from(*number))
            }
            Setting::MaxDuration => phy.max_ppdu_duration(ModeId(phy.modes().len() as u16 - 1)).as_secs_f64(),
            _ => handle.knob.most,
        }
    }

    /// The smallest value for this node, flow or link.
    pub(crate) fn least(&self, handle: &Handle) -> f64 {
        match handle.place {
            Place::Category(node, _) if handle.knob.setting == Setting::Aifsn && node.index() >= self.bss.len() => {
                STATION_AIFSN
            }
            Place::Node(ap) if handle.knob.setting == Setting::Channel => {
                self.channels_for(ap.index()).first().map_or(handle.knob.least, |(number, _)| f64::from(*number))
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
                    _ => own.txop_limit.as_secs_f64(),
                })
            }
            Place::Node(node) if handle.knob.setting == Setting::QueueTarget => {
                self.law_of(node.index()).map(|(target, _)| target.as_secs_f64())
            }
            Place::Node(ap) if handle.knob.setting == Setting::Channel => {
                Some(f64::from(self.phy_of(ap.index()).channel()))
            }
            Place::Node(node) if handle.knob.setting == Setting::TxPower => Some(self.nodes[node.index()].tx_power.0),
            Place::Node(node) => {
                let bss = &self.bss[self.nodes[node.index()].config.bss as usize].config;
                Some(match handle.knob.setting {
                    Setting::MaxMpdus => f64::from(bss.aggregation?.max_mpdus),
                    Setting::MaxDuration => bss.aggregation?.max_duration.as_secs_f64(),
                    Setting::MaxUsers => f64::from(bss.multi_user?.max_users),
                    Setting::UserRank => 0.0,
                    Setting::LeastBytes => bss.multi_user?.least_bytes.map_or(0.0, |bytes| bytes.0 as f64),
                    Setting::RtsThreshold => bss.rts_threshold.map_or(MOST_BYTES, |bytes| bytes.0 as f64),
                    _ => f64::from(self.nodes[node.index()].config.airtime_weight),
                })
            }
            Place::Flow(_) | Place::Link(_) => None,
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
