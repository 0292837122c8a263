//! The account of a run: the links it is kept for, and its form in a result.

use std::cmp::Reverse;

use lasthop_observe::LinkId;
use lasthop_observe::account::{
    Account, Balance, ChannelBalance, Fate, FlowBalance, FlowEnds, Kind, NodeAirtime, NodeFacts, Place, QueueTime,
    Rival, Traffic,
};
use lasthop_units::Duration;

use crate::ResolvedScenario;
use crate::text::Text;

/// Number of names listed one by one; the rest is summed up as "others".
const NAMED: usize = 32;

/// The account that the run of `scenario` keeps.
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

/// Writes the account of a result: seconds by term.
pub(crate) fn write(text: &mut Text, scenario: &ResolvedScenario, balance: &Balance) {
    text.table(|text| {
        text.key("covered_s").number(balance.covered.as_secs_f64());
        text.key("flows").list(|text| {
            balance.flows.iter().enumerate().for_each(|(index, flow)| write_flow(text, scenario, index, flow));
        });
        text.key("channels").list(|text| {
            balance.channels.iter().enumerate().for_each(|(index, channel)| {
                write_channel(text, scenario, index, channel);
            });
        });
    });
}

fn write_seconds(text: &mut Text, key: &str, spent: Duration) {
    text.key(&format!("{key}_s")).number(spent.as_secs_f64());
}

fn write_flow(text: &mut Text, scenario: &ResolvedScenario, index: usize, flow: &FlowBalance) {
    let spec = &scenario.flows[index];
    let station = scenario.nodes[spec.station.index()].name.as_str();
    let ap = scenario.nodes[scenario.ap_of(spec.station).index()].name.as_str();
    text.table(|text| {
        text.key("id").text(&spec.id);
        text.key("terms").table(|text| {
            flow.terms.iter().for_each(|(term, spent)| write_seconds(text, term.word(), *spent));
        });
        let waits = flow.waits.iter().map(|(rival, spent)| (Some(*rival), *spent)).collect();
        write_named(text.key("waiting_for"), scenario, waits);
        text.key("queues").list(|text| {
            flow.queues.iter().for_each(|(place, time)| write_queue(text, scenario, (station, ap), *place, time));
        });
        text.key("packets").list(|text| {
            write_traffic(text, station, &flow.traffic[0]);
            write_traffic(text, ap, &flow.traffic[1]);
        });
    });
}

fn write_queue(
    text: &mut Text,
    scenario: &ResolvedScenario,
    (station, ap): (&str, &str),
    place: Place,
    time: &QueueTime,
) {
    let name = match place {
        Place::Station => station.to_string(),
        Place::Ap => ap.to_string(),
        Place::WireDown => format!("{ap} wired down"),
        Place::WireUp => format!("{ap} wired up"),
    };
    text.table(|text| {
        text.key("queue").text(&name);
        text.key("time_s").number(time.spent.as_secs_f64());
        let meanwhile = time.meanwhile.iter().map(|(rival, spent)| (*rival, *spent)).collect();
        write_named(text.key("meanwhile"), scenario, meanwhile);
    });
}

fn write_traffic(text: &mut Text, node: &str, traffic: &Traffic) {
    let Traffic { data, tcp_acks, data_dropped, tcp_acks_dropped, given_up } = *traffic;
    text.table(|text| {
        text.key("node").text(node);
        text.key("data").count(data);
        text.key("data_dropped").count(data_dropped);
        text.key("tcp_acks").count(tcp_acks);
        text.key("tcp_acks_dropped").count(tcp_acks_dropped);
        text.key("given_up").count(given_up);
    });
}

/// The holder of the medium: a station by its name, an AP with the station that it serves.
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

/// Writes the longest times first, each by name up to the limit.
fn write_named(text: &mut Text, scenario: &ResolvedScenario, mut times: Vec<(Option<Rival>, Duration)>) {
    times.sort_by_key(|(_, spent)| Reverse(*spent));
    let rest = times.split_off(times.len().min(NAMED));
    let write = |text: &mut Text, name: &str, spent: Duration| {
        text.table(|text| {
            text.key("name").text(name);
            text.key("time_s").number(spent.as_secs_f64());
        });
    };
    text.list(|text| {
        times.iter().for_each(|(rival, spent)| write(text, &rival_name(scenario, *rival), *spent));
        if !rest.is_empty() {
            write(text, "others", rest.iter().fold(Duration::ZERO, |sum, (_, spent)| sum + *spent));
        }
    });
}

fn write_channel(text: &mut Text, scenario: &ResolvedScenario, index: usize, channel: &ChannelBalance) {
    let is_here =
        |node: &usize| scenario.bss[scenario.nodes[*node].config.bss as usize].config.channel as usize == index;
    text.table(|text| {
        text.key("channel").count(index as u64);
        text.key("nodes").list(|text| {
            let here = (0..scenario.nodes.len()).filter(is_here);
            here.for_each(|node| write_node(text, &scenario.nodes[node].name, &channel.nodes[node]));
        });
        text.key("begun_after_missed_preamble").count(channel.overlaps_missed);
        write_seconds(text, "within_exchanges", channel.within_exchanges);
        write_seconds(text, "contending", channel.contending);
        write_seconds(text, "idle", channel.idle);
    });
}

fn write_node(text: &mut Text, name: &str, airtime: &NodeAirtime) {
    let lost =
        [("collided", Fate::Collided), ("missed_preamble", Fate::OverlapsMissed), ("lost_to_noise", Fate::Noise)];
    text.table(|text| {
        Kind::ALL.iter().for_each(|kind| write_seconds(text, kind.word(), airtime.get(*kind, Fate::Arrived)));
        lost.iter().for_each(|(word, fate)| write_seconds(text, word, airtime.of_fate(*fate)));
        text.key("name").text(name);
    });
}
