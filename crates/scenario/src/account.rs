//! The account of a run: the links it is kept for, and its form in a result.

use std::cmp::Reverse;

use lasthop_observe::LinkId;
use lasthop_observe::account::{
    Account, Balance, ChannelBalance, Fate, FlowBalance, FlowEnds, Kind, NodeAirtime, NodeFacts, Place, QueueTime,
    Rival, Traffic,
};
use lasthop_units::Duration;
use lasthop_wifi::{AccessCategory, ChannelAccess};
use serde_json::{Map, Value as Json, json};

use crate::ResolvedScenario;
use crate::resolved::Range;

/// Number of names listed one by one; the rest is summed up as "others".
const NAMED: usize = 32;

/// The account that the run of `scenario` keeps.
pub(crate) fn of(scenario: &ResolvedScenario) -> Account {
    let home = |node: usize| scenario.nodes[node].config.bss;
    let function = |f: &crate::resolved::FlowSpec| match scenario.nodes[f.station.index()].config.access {
        ChannelAccess::Dcf(_) => 0,
        ChannelAccess::Edca(_) => AccessCategory::of_tid(f.user_priority()).index() as u32,
    };
    let ends = |f: &crate::resolved::FlowSpec| {
        let (station, ap) = (f.station, scenario.ap_of(f.station));
        FlowEnds { station, ap, function: function(f) }
    };
    let facts = |node: usize| {
        let bss = &scenario.bss[home(node) as usize].config;
        NodeFacts { channel: bss.channel, aggregates: bss.aggregation.is_some() }
    };
    let flows: Vec<FlowEnds> = scenario.flows.iter().map(ends).collect();
    let nodes: Vec<NodeFacts> = (0..scenario.nodes.len()).map(facts).collect();
    Account::new(&flows, &nodes, scenario.channels())
}

/// The account of a result: seconds by term.
/// `ranges`: the frequencies of its channels, if BSSs have moved.
pub(crate) fn json(scenario: &ResolvedScenario, balance: &Balance, ranges: &[Range]) -> Json {
    let at_start = if scenario.may_move() { scenario.ranges_at_start() } else { Vec::new() };
    let ranges = if ranges.is_empty() { &at_start } else { ranges };
    let flows = balance.flows.iter().enumerate().map(|(index, flow)| flow_json(scenario, index, flow));
    let channel = |(index, channel)| channel_json(scenario, index, channel, ranges.get(index));
    let channels = balance.channels.iter().enumerate().map(channel);
    json!({
        "covered_s": balance.covered.as_secs_f64(),
        "flows": flows.collect::<Vec<_>>(),
        "channels": channels.collect::<Vec<_>>(),
    })
}

fn seconds(key: &str, spent: Duration) -> (String, Json) {
    (format!("{key}_s"), json!(spent.as_secs_f64()))
}

fn flow_json(scenario: &ResolvedScenario, index: usize, flow: &FlowBalance) -> Json {
    let spec = &scenario.flows[index];
    let station = scenario.nodes[spec.station.index()].name.as_str();
    let ap = scenario.nodes[scenario.ap_of(spec.station).index()].name.as_str();
    let several = scenario.bss.iter().any(|bss| bss.config.multi_user.is_some());
    let interferers = scenario.has_interferers();
    let terms = flow.terms.iter().filter(|(term, _)| several || !term.is_of_several_users());
    let terms = terms.filter(|(term, _)| interferers || !term.is_of_interferers());
    let terms: Map<String, Json> = terms.map(|(term, spent)| seconds(term.word(), *spent)).collect();
    let queues = flow.queues.iter().map(|(place, time)| queue_json(scenario, (station, ap), *place, time));
    json!({
        "id": spec.id,
        "terms": terms,
        "waiting_for": named(scenario, flow.waits.iter().map(|(rival, spent)| (Some(*rival), *spent)).collect()),
        "queues": queues.collect::<Vec<_>>(),
        "packets": [traffic_json(station, &flow.traffic[0]), traffic_json(ap, &flow.traffic[1])],
    })
}

fn queue_json(scenario: &ResolvedScenario, (station, ap): (&str, &str), place: Place, time: &QueueTime) -> Json {
    let name = match place {
        Place::Station => station.to_string(),
        Place::Ap => ap.to_string(),
        Place::WireDown => format!("{ap} wired down"),
        Place::WireUp => format!("{ap} wired up"),
    };
    json!({
        "queue": name,
        "time_s": time.spent.as_secs_f64(),
        "meanwhile": named(scenario, time.meanwhile.iter().map(|(rival, spent)| (*rival, *spent)).collect()),
    })
}

fn traffic_json(node: &str, traffic: &Traffic) -> Json {
    let Traffic { data, tcp_acks, data_dropped, tcp_acks_dropped, given_up } = *traffic;
    json!({
        "node": node,
        "data": data,
        "data_dropped": data_dropped,
        "tcp_acks": tcp_acks,
        "tcp_acks_dropped": tcp_acks_dropped,
        "given_up": given_up,
    })
}

/// The holder of the medium: a station by its name, an AP with the station that it serves.
fn rival_name(scenario: &ResolvedScenario, rival: Option<Rival>) -> String {
    match rival {
        None => "nobody".into(),
        Some(Rival::Collisions) => "collisions of others".into(),
        Some(Rival::Beacons) => "beacons".into(),
        Some(Rival::Several(ap)) => format!("{} and several stations", scenario.nodes[ap.index()].name),
        Some(Rival::Link(LinkId(link))) => {
            let (sender, receiver) = scenario.link_ends(link as usize);
            if link.is_multiple_of(2) { sender.to_string() } else { format!("{sender} to {receiver}") }
        }
    }
}

/// The longest times first, each by name up to the limit.
fn named(scenario: &ResolvedScenario, mut times: Vec<(Option<Rival>, Duration)>) -> Vec<Json> {
    times.sort_by_key(|(_, spent)| Reverse(*spent));
    let rest = times.split_off(times.len().min(NAMED));
    let json = |name: &str, spent: Duration| json!({ "name": name, "time_s": spent.as_secs_f64() });
    let mut listed: Vec<Json> =
        times.iter().map(|(rival, spent)| json(&rival_name(scenario, *rival), *spent)).collect();
    if !rest.is_empty() {
        listed.push(json("others", rest.iter().fold(Duration::ZERO, |sum, (_, spent)| sum + *spent)));
    }
    listed
}

fn channel_json(scenario: &ResolvedScenario, index: usize, channel: &ChannelBalance, range: Option<&Range>) -> Json {
    let is_here =
        |node: &usize| scenario.bss[scenario.nodes[*node].config.bss as usize].config.channel as usize == index;
    // A node that has moved is on each channel on which it has sent.
    let is_here = |node: &usize| is_here(node) || channel.nodes[*node].total() > Duration::ZERO;
    let here = (0..scenario.nodes.len()).filter(is_here);
    let several = |node: usize| scenario.bss[scenario.nodes[node].config.bss as usize].config.multi_user.is_some();
    let features = |node: usize| (several(node), scenario.has_interferers());
    let of_node = |node: usize| node_json(&scenario.nodes[node].name, &channel.nodes[node], features(node));
    let nodes: Vec<Json> = here.map(of_node).collect();
    let mut json = json!({
        "channel": index,
        "nodes": nodes,
        "begun_after_missed_preamble": channel.overlaps_missed,
        "within_exchanges_s": channel.within_exchanges.as_secs_f64(),
        "contending_s": channel.contending.as_secs_f64(),
        "idle_s": channel.idle.as_secs_f64(),
    });
    if let Some((low, high)) = range {
        json["mhz"] = json!((low + high) / 2e6);
    }
    if scenario.has_interferers() {
        json["interferers_s"] = json!(channel.interferers.as_secs_f64());
    }
    json
}

fn node_json(name: &str, airtime: &NodeAirtime, (several, interferers): (bool, bool)) -> Json {
    let all = [
        ("collided", Fate::Collided),
        ("missed_preamble", Fate::OverlapsMissed),
        ("lost_to_noise", Fate::Noise),
        ("lost_to_interferers", Fate::Interferer),
    ];
    let lost = &all[..if interferers { 4 } else { 3 }];
    let kinds = Kind::ALL.iter().filter(|kind| several || **kind != Kind::Padding);
    let arrived = kinds.map(|kind| seconds(kind.word(), airtime.get(*kind, Fate::Arrived)));
    let lost = lost.iter().map(|(word, fate)| seconds(word, airtime.of_fate(*fate)));
    arrived.chain(lost).chain([("name".to_string(), json!(name))]).collect()
}
