//! The nodes of the wireless side, their places, and the rate control of each link.

use std::collections::BTreeMap;

use lasthop_registry::ParamError;
use lasthop_units::{Dbm, Metres, Time};
use lasthop_wifi::phy::path_loss::{Position, Way};
use lasthop_wifi::rate_control::RateControlKind;
use lasthop_wifi::{Access, NodeConfig, NodeQueue};

use super::{AP, DEFAULT_DISTANCE, error};
use crate::description::{Bss, Description, RetryLimit, StationGroup, Waypoint};

/// A node of the wireless side.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpec {
    pub name: String,
    pub config: NodeConfig,
    pub way: Way,
    pub tx_power: Dbm,
}

/// A rate control of a link, and where in the file it was chosen.
#[derive(Clone, Debug)]
pub(super) struct LinkRateControl {
    pub kind: RateControlKind,
    pub path: String,
}

fn retry_limit(own: Option<RetryLimit>, bss: &Bss) -> Option<u32> {
    own.unwrap_or(bss.retry_limit).0
}

pub(super) fn nodes_of(description: &Description, bss: &Bss) -> Result<Vec<NodeSpec>, ParamError> {
    let channel = &description.channel;
    let place = |p: [Metres; 2]| Position { x: p[0], y: p[1] };
    let ap = place(bss.ap.position);
    let mut nodes = vec![NodeSpec {
        name: AP.into(),
        config: NodeConfig {
            name: AP.into(),
            queue: NodeQueue::Discipline(bss.ap.queue.clone()),
            retry_limit: retry_limit(bss.ap.retry_limit, bss),
            access: bss.ap.access.0,
        },
        way: Way::from(ap),
        tx_power: bss.ap.tx_power.unwrap_or(channel.tx_power),
    }];
    let mut claimed: BTreeMap<String, usize> = BTreeMap::new();
    if description.station.0.is_empty() {
        return error("station", "a scenario needs at least one [[station]]");
    }
    for (index, group) in description.station.0.iter().enumerate() {
        if let Some(name) = &group.bss
            && bss.name.as_ref() != Some(name)
        {
            return error(format!("station[{index}].bss"), format!("there is no BSS called \"{name}\""));
        }
        for (member, name) in names_of(group).into_iter().enumerate() {
            if let Some(other) = claimed.insert(name.clone(), index) {
                let message = format!(
                    "the name \"{name}\" is claimed by station[{other}] too; give each group a name of its own"
                );
                return error(format!("station[{index}].name"), message);
            }
            let way = match (&group.waypoints, group.position) {
                (Some(waypoints), _) => way_through(waypoints),
                (None, Some(position)) => Way::from(place(position)),
                (None, None) => Way::from(on_circle(ap, group, member)),
            };
            nodes.push(NodeSpec {
                name: name.clone(),
                config: NodeConfig {
                    name,
                    queue: group.queue.0.clone(),
                    retry_limit: retry_limit(group.retry_limit, bss),
                    access: Access::Difs,
                },
                way,
                tx_power: group.tx_power.unwrap_or(channel.tx_power),
            });
        }
    }
    if nodes.len() > 20_001 {
        return error("station", format!("{} stations; at most 20000 in all", nodes.len() - 1));
    }
    Ok(nodes)
}

fn names_of(group: &StationGroup) -> Vec<String> {
    match group.count {
        None => vec![group.name.clone()],
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

pub(super) fn links_of(description: &Description, bss: &Bss) -> Vec<LinkRateControl> {
    let of_bss = (Some(&bss.rate_control), "bss.rate_control".to_string());
    let of_ap = (bss.ap.rate_control.as_ref(), "bss.ap.rate_control".to_string());
    let choose = |candidates: [(Option<&RateControlKind>, String); 4]| {
        let (kind, path) =
            candidates.into_iter().find_map(|(kind, path)| Some((kind?.clone(), path))).expect("the BSS has one");
        LinkRateControl { kind, path }
    };
    let mut links = Vec::new();
    for (index, group) in description.station.0.iter().enumerate() {
        let own = (group.rate_control.as_ref(), format!("station[{index}].rate_control"));
        let down = (group.downlink_rate_control.as_ref(), format!("station[{index}].downlink_rate_control"));
        for _ in 0..group.count.unwrap_or(1) {
            links.push(choose([own.clone(), of_bss.clone(), of_bss.clone(), of_bss.clone()]));
            links.push(choose([down.clone(), own.clone(), of_ap.clone(), of_bss.clone()]));
        }
    }
    links
}

pub(super) fn hidden_pairs(description: &Description, nodes: &[NodeSpec]) -> Result<Vec<(usize, usize)>, ParamError> {
    let mut pairs = Vec::new();
    for (index, names) in description.channel.hidden.iter().enumerate() {
        let path = format!("channel.hidden[{index}]");
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(names) {
            let found = nodes.iter().position(|n| n.name == *name);
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
