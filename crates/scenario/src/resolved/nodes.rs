//! The nodes of the wireless side, their places, and the rate control of each link.

use std::collections::BTreeMap;

use lasthop_link::Below;
use lasthop_registry::ParamError;
use lasthop_units::{Dbm, Metres, Time};
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::phy::error_model::ErrorModelKind;
use lasthop_wifi::phy::path_loss::{Position, Way};
use lasthop_wifi::rate_control::RateControlKind;
use lasthop_wifi::{Access, ChannelAccess, Legacy, NodeConfig};

use super::bss::BssSpec;
use super::defaults::chosen;
use super::place::error;
use super::{drivers, older};
use crate::description::{Bss, Description, NodeQueue, RetryLimit, StationGroup, Waypoint};

/// Default distance of stations from their AP.
pub(super) const DEFAULT_DISTANCE: Metres = Metres(10.0);

/// The AP's name in results and in `hidden`.
const AP: &str = "ap";

/// A node of the wireless side.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpec {
    pub name: String,
    pub config: NodeConfig,
    /// The place where its packets wait.
    pub queue: NodeQueue,
    /// The driver below that.
    pub below: Below,
    pub way: Way,
    pub tx_power: Dbm,
    /// Its group of stations; none for an AP.
    pub group: Option<usize>,
    /// The modes of its link, if its standard is older than its BSS's.
    pub modes: Option<Vec<ModeId>>,
}

/// A rate control of a link, and the place in the file that chose it.
#[derive(Clone, Debug)]
pub(super) struct LinkRateControl {
    pub kind: RateControlKind,
    pub path: String,
}

fn retry_limit(own: Option<RetryLimit>, bss: &Bss) -> Option<u32> {
    own.unwrap_or(bss.retry_limit).0
}

/// The name of an AP: "ap", or with several BSSs "NAME.ap".
fn ap_name(bss: &Bss, several: bool) -> String {
    match &bss.name {
        Some(name) if several => format!("{name}.{AP}"),
        _ => AP.into(),
    }
}

pub(super) fn nodes_of(description: &Description, specs: &[BssSpec]) -> Result<Vec<NodeSpec>, ParamError> {
    let channel = &description.channel;
    let place = |p: [Metres; 2]| Position { x: p[0], y: p[1] };
    let all = &description.bss.0;
    let ap = |(index, (bss, spec)): (usize, (&Bss, &BssSpec))| {
        let name = ap_name(bss, all.len() > 1);
        let driver = drivers::of_ap(bss, spec)?;
        Ok(NodeSpec {
            name: name.clone(),
            config: NodeConfig {
                name,
                bss: index as u32,
                backpressured: false,
                retry_limit: retry_limit(bss.ap.retry_limit, bss),
                access: spec.ap,
                mid_packet_detection: spec.mid_packet_detection,
                legacy: None,
                airtime_weight: 256,
                driver: driver.mac,
                multi_user: true,
            },
            queue: NodeQueue::Discipline(chosen(&bss.ap.queue).clone()),
            below: driver.below,
            way: Way::from(place(bss.ap.position)),
            tx_power: bss.ap.tx_power.unwrap_or(channel.tx_power),
            group: None,
            modes: None,
        })
    };
    let mut nodes = all.iter().zip(specs).enumerate().map(ap).collect::<Result<Vec<NodeSpec>, ParamError>>()?;
    let mut claimed: BTreeMap<String, usize> = BTreeMap::new();
    if description.station.0.is_empty() {
        return error("station", "a scenario needs at least one [[station]]");
    }
    for (index, group) in description.station.0.iter().enumerate() {
        let home = home_of(all, group, index)?;
        let bss = &all[home];
        check_losses(description, group, index)?;
        if group.airtime_weight.is_some() && !chosen(&bss.ap.queue).shares_airtime() {
            let message = (
                "the queue of its access point does not schedule by airtime",
                "set ap.queue = \"airtime_fq_codel\", or remove this key",
            );
            return error(format!("station[{index}].airtime_weight"), message);
        }
        let phy = &specs[home].config.phy;
        let modes = older::modes_of(group, bss, phy, &format!("station[{index}]"))?;
        let standard = group.standard.filter(|_| modes.is_some() && phy.is_qos());
        let legacy = standard.map(|standard| Legacy { cw_min: standard.cw_min() });
        let driver = drivers::of_station(group, (bss, &specs[home]), legacy.is_some(), &format!("station[{index}]"))?;
        for (member, name) in names_of(group).into_iter().enumerate() {
            if let Some(other) = claimed.insert(name.clone(), index) {
                let message =
                    (format!("the name \"{name}\" is also used by station[{other}]"), "give each group its own name");
                return error(format!("station[{index}].name"), message);
            }
            let way = match (&group.waypoints, group.position) {
                (Some(waypoints), _) => way_through(waypoints),
                (None, Some(position)) => Way::from(place(position)),
                (None, None) => Way::from(on_circle(place(bss.ap.position), group, member)),
            };
            nodes.push(NodeSpec {
                name: name.clone(),
                config: NodeConfig {
                    name,
                    bss: home as u32,
                    backpressured: chosen(&group.queue).0 == NodeQueue::Backpressure,
                    retry_limit: retry_limit(group.retry_limit, bss),
                    access: legacy.map_or(specs[home].stations, |_| ChannelAccess::Dcf(Access::Difs)),
                    mid_packet_detection: specs[home].mid_packet_detection,
                    legacy,
                    airtime_weight: group.airtime_weight.unwrap_or(256),
                    driver: driver.mac,
                    multi_user: group.multi_user.unwrap_or(true),
                },
                queue: chosen(&group.queue).0.clone(),
                below: driver.below,
                way,
                tx_power: group.tx_power.unwrap_or(channel.tx_power),
                group: Some(index),
                modes: modes.clone(),
            });
        }
    }
    if nodes.len() > 20_000 + all.len() {
        return error("station", (format!("{} stations", nodes.len() - all.len()), "at most 20000 in all"));
    }
    Ok(nodes)
}

/// Refuses a loss where the signal, or a state of the link, decides losses.
fn check_losses(description: &Description, group: &StationGroup, index: usize) -> Result<(), ParamError> {
    let model = chosen(&description.channel.error_model);
    let given = match (group.frame_error_rate, group.downlink_frame_error_rate) {
        (Some(_), _) => "frame_error_rate",
        (None, Some(_)) => "downlink_frame_error_rate",
        (None, None) => return Ok(()),
    };
    if matches!(model, ErrorModelKind::None(_) | ErrorModelKind::Fixed(_)) {
        return Ok(());
    }
    let message = (
        format!("channel.error_model = \"{}\" decides the losses on every link", model.name()),
        "set it to \"none\" or \"fixed\", or remove this key",
    );
    error(format!("station[{index}].{given}"), message)
}

/// The BSS of a group of stations.
fn home_of(all: &[Bss], group: &StationGroup, index: usize) -> Result<usize, ParamError> {
    let path = format!("station[{index}].bss");
    let names = || all.iter().filter_map(|b| b.name.as_deref()).collect::<Vec<_>>().join(", ");
    match &group.bss {
        None if all.len() == 1 => Ok(0),
        None => error(path, format!("which BSS? one of: {}", names())),
        Some(name) => match all.iter().position(|b| b.name.as_ref() == Some(name)) {
            Some(home) => Ok(home),
            None if all[0].name.is_none() => {
                error(path, (format!("there is no BSS called \"{name}\": the only one has no name"), "remove this key"))
            }
            None => error(path, (format!("there is no BSS called \"{name}\""), format!("one of: {}", names()))),
        },
    }
}

fn names_of(group: &StationGroup) -> Vec<String> {
    match group.count {
        None => vec![group.name.to_string()],
        Some(count) => (1..=count).map(|i| format!("{}{i}", group.name)).collect(),
    }
}

fn way_through(waypoints: &[Waypoint]) -> Way {
    let point = |w: &Waypoint| (Time::ZERO + w.at, Position { x: w.place[0], y: w.place[1] });
    Way::through(waypoints.iter().map(point).collect()).expect("their times were checked")
}

fn on_circle(ap: Position, group: &StationGroup, member: usize) -> Position {
    let distance = group.distance.unwrap_or(DEFAULT_DISTANCE).0;
    let angle = 2.0 * std::f64::consts::PI * member as f64 / f64::from(group.count.unwrap_or(1));
    Position { x: Metres(ap.x.0 + distance * libm::cos(angle)), y: Metres(ap.y.0 + distance * libm::sin(angle)) }
}

pub(super) fn links_of(description: &Description, nodes: &[NodeSpec]) -> Vec<LinkRateControl> {
    let several = description.bss.0.len() > 1;
    let choose = |candidates: [(Option<&RateControlKind>, String); 4]| {
        let (kind, path) =
            candidates.into_iter().find_map(|(kind, path)| Some((kind?.clone(), path))).expect("the BSS has one");
        LinkRateControl { kind, path }
    };
    let mut links = Vec::new();
    for node in nodes {
        let Some(index) = node.group else { continue };
        let (group, home) = (&description.station.0[index], node.config.bss as usize);
        let bss = &description.bss.0[home];
        let place = if several { format!("bss[{home}]") } else { "bss".into() };
        let of_bss = (bss.rate_control.as_ref(), format!("{place}.rate_control"));
        let of_ap = (bss.ap.rate_control.as_ref(), format!("{place}.ap.rate_control"));
        let own = (group.rate_control.as_ref(), format!("station[{index}].rate_control"));
        let down = (group.downlink_rate_control.as_ref(), format!("station[{index}].downlink_rate_control"));
        links.push(choose([own.clone(), of_bss.clone(), of_bss.clone(), of_bss.clone()]));
        links.push(choose([down, own, of_ap, of_bss]));
    }
    links
}

pub(super) fn hidden_pairs(description: &Description, nodes: &[NodeSpec]) -> Result<Vec<(usize, usize)>, ParamError> {
    let mut pairs = Vec::new();
    for (index, names) in description.channel.hidden.iter().enumerate() {
        let path = format!("channel.hidden[{index}]");
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(names) {
            let found = nodes.iter().position(|n| n.name == **name);
            *end = match found {
                Some(node) => node,
                None => return error(path, format!("there is no node called \"{name}\"")),
            };
        }
        if ends[0] == ends[1] {
            return error(path, format!("\"{}\" cannot be hidden from itself", names[0]));
        }
        pairs.push((ends[0].min(ends[1]), ends[0].max(ends[1])));
    }
    Ok(pairs)
}
