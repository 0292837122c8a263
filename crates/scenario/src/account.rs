//! The account of a run: whose it is, and how it stands in a result.

use std::cmp::Reverse;

use lasthop_observe::LinkId;
use lasthop_observe::account::{
    Account, Balance, ChannelBalance, Fate, FlowBalance, FlowEnds, Kind, NodeFacts, Place, QueueTime, Rival, Traffic,
};
use lasthop_units::Duration;
use serde_json::{Map, Value as Json, json};

use crate::ResolvedScenario;

/// Names that are told one by one; the rest is summed up as "others".
const NAMED: usize = 32;

/// Books for `scenario`.
pub(crate) fn of(scenario: &ResolvedScenario) -> Account {
    let home = |node: usize| scenario.nodes[node].config.bss;
    let ends = |f: &crate::resolved::FlowSpec| FlowEnds { station: f.station, ap: scenario.ap_of(f.station) };
    let facts = |node: usize| {
        let bss = &scenario.bss[home(node) as usize].config;
        NodeFacts { channel: bss.channel, aggregates: bss.aggregation.is_some() }
    };
    let flows: Vec<FlowEnds> = scenario.flows.iter().map(ends).collect();
    let nodes: Vec<NodeFacts> = (0..scenario.nodes.len()).map(facts).collect();
    Account::new(&flows, &nodes, scenario.channels())
}

/// As a result has it: seconds by term.
pub(crate) fn json_of(scenario: &ResolvedScenario, balance: &Balance) -> Json {
    let flow = |(index, flow): (usize, &FlowBalance)| flow_json(scenario, index, flow);
    let channel = |(index, channel): (usize, &ChannelBalance)| channel_json(scenario, index, channel);
    json!({
        "covered_s": balance.covered.as_secs_f64(),
        "flows": balance.flows.iter().enumerate().map(flow).collect::<Vec<_>>(),
        "channels": balance.channels.iter().enumerate().map(channel).collect::<Vec<_>>(),
    })
}

fn seconds(key: &str, spent: Duration) -> (String, Json) {
    (format!("{key}_s"), json!(spent.as_secs_f64()))
}

fn flow_json(scenario: &ResolvedScenario, index: usize, flow: &FlowBalance) -> Json {
    let spec = &scenario.flows[index];
    let station = scenario.nodes[spec.station.index()].name.as_str();
    let ap = scenario.nodes[scenario.ap_of(spec.station).index()].name.as_str();
    let terms: Map<String, Json> = flow.terms.iter().map(|(term, spent)| seconds(term.word(), *spent)).collect();
    let waits = flow.waits.iter().map(|(rival, spent)| (Some(*rival), *spent)).collect();
    let queue = |(place, time): &(Place, QueueTime)| {
        let name = match place {
            Place::Station => station.to_string(),
            Place::Ap => ap.to_string(),
            Place::WireDown => format!("{ap} wired down"),
            Place::WireUp => format!("{ap} wired up"),
        };
        let meanwhile = time.meanwhile.iter().map(|(rival, spent)| (*rival, *spent)).collect();
        json!({ "queue": name, "time_s": time.spent.as_secs_f64(), "meanwhile": named(scenario, meanwhile) })
    };
    json!({
        "id": spec.id,
        "terms": terms,
        "waiting_for": named(scenario, waits),
        "queues": flow.queues.iter().map(queue).collect::<Vec<_>>(),
        "packets": [traffic_json(station, &flow.traffic[0]), traffic_json(ap, &flow.traffic[1])],
    })
}

fn traffic_json(node: &str, traffic: &Traffic) -> Json {
    let Traffic { data, tcp_acks, data_dropped, tcp_acks_dropped, given_up } = traffic;
    json!({
        "node": node,
        "data": data,
        "data_dropped": data_dropped,
        "tcp_acks": tcp_acks,
        "tcp_acks_dropped": tcp_acks_dropped,
        "given_up": given_up,
    })
}

/// Who has the medium: a station by its name, an AP with the station that it serves.
fn rival_name(scenario: &ResolvedScenario, rival: Option<Rival>) -> String {
    match rival {
        None => "nobody".into(),
        Some(Rival::Collisions) => "collisions of others".into(),
        Some(Rival::Beacons) => "beacons".into(),
        Some(Rival::Link(LinkId(link))) => {
            let (sender, receiver) = scenario.link_ends(link as usize);
            if link.is_multiple_of(2) { sender.to_string() } else { format!("{sender} to {receiver}") }
        }
    }
}

/// The longest first, each by name as far as there are not too many.
fn named(scenario: &ResolvedScenario, mut times: Vec<(Option<Rival>, Duration)>) -> Json {
    times.sort_by_key(|(_, spent)| Reverse(*spent));
    let rest = times.split_off(times.len().min(NAMED));
    let mut told: Vec<_> = times.into_iter().map(|(rival, spent)| (rival_name(scenario, rival), spent)).collect();
    if !rest.is_empty() {
        told.push(("others".into(), rest.iter().fold(Duration::ZERO, |sum, (_, spent)| sum + *spent)));
    }
    told.iter().map(|(name, spent)| json!({ "name": name, "time_s": spent.as_secs_f64() })).collect()
}

fn channel_json(scenario: &ResolvedScenario, index: usize, channel: &ChannelBalance) -> Json {
    let is_here =
        |node: &usize| scenario.bss[scenario.nodes[*node].config.bss as usize].config.channel as usize == index;
    let node = |node: usize| {
        let airtime = &channel.nodes[node];
        let kinds = Kind::ALL.map(|kind| seconds(kind.word(), airtime.get(kind, Fate::Arrived)));
        let lost = [("collided", Fate::Collided), ("missed_preamble", Fate::Trampled), ("lost_to_noise", Fate::Noise)];
        let lost = lost.map(|(word, fate)| seconds(word, airtime.of_fate(fate)));
        let mut row: Map<String, Json> = kinds.into_iter().chain(lost).collect();
        row.insert("name".into(), json!(scenario.nodes[node].name));
        Json::Object(row)
    };
    json!({
        "channel": index,
        "nodes": (0..scenario.nodes.len()).filter(is_here).map(node).collect::<Vec<_>>(),
        "begun_after_missed_preamble": channel.trampling,
        "within_exchanges_s": channel.within_exchanges.as_secs_f64(),
        "contending_s": channel.contending.as_secs_f64(),
        "idle_s": channel.idle.as_secs_f64(),
    })
}
