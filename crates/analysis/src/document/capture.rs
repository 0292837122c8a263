//! The table `capture`, which runs do not have.

use std::net::SocketAddr;

use lasthop_observe::metric::frames::{LINK_DATA_RATE_MEAN, MPDU_LOSS};
use lasthop_observe::{LinkId, Report};
use lasthop_units::Duration;
use serde_json::{Map, Value as Json, json};

use super::air::{air_row, airtime, hidden_pairs, missed};
use super::measured::{Damages, Measured, behind, ends_of, map_of};
use crate::dialogue::station_and_server;
use crate::flows::{FlowTally, load_bps};
use crate::packet::End;
use crate::quic::QuicTally;
use crate::site::{Flow, Site};
use crate::subflows::Multipath;
use crate::tcp::{Reason, StallTally};

/// A quotient; none for a zero denominator.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The whole table.
pub(super) fn capture(site: &Site, measured: &Measured, damages: &Damages) -> Json {
    let Measured { window, report, air, .. } = measured;
    let files = measured.files.iter().zip(damages).map(|(file, (name, damage))| {
        json!({
            "name": name,
            "packets": file.packets,
            "frames_of_802_11": file.heard,
            "packets_of_a_wire": file.wired,
            "packets_unread": file.unread,
            "left_out": file.left_out.iter().map(|(what, count)| (what.to_string(), json!(count))).collect::<Map<_, _>>(),
            "records_wrong": damage.records,
            "packets_out_of_order": damage.out_of_order,
        })
    });
    let told = site.link_ends.iter().zip(&air.links).zip(&report.links).enumerate();
    let links = told.map(|(link, ((ends, tally), own))| {
        let steps = air.steps.get(&LinkId(link as u32)).copied().unwrap_or_default();
        let attempts: u64 = tally.rates.values().map(|(attempts, _)| attempts).sum();
        let mean = own.get(LINK_DATA_RATE_MEAN).map(|mean| (mean, attempts as f64));
        let rates: Vec<_> =
            tally.rates.iter().map(|(rate, (attempts, mpdus))| json!([rate, attempts, mpdus])).collect();
        let mut sent = tally.modes.to_json();
        if measured.unknown.overlap {
            sent["attempts_in_txop"] = Json::Null;
        }
        let tally = json!({
            "mpdus": tally.mpdus,
            "mpdus_retried": tally.mpdus_retried,
            "mpdu_loss_from": own.get(MPDU_LOSS).map(|_| loss_from(air.loss_by_retries(tally))),
            "mpdus_protected": tally.mpdus_protected,
            "mpdus_protected_short": tally.mpdus_short,
            "rts_unanswered": tally.rts_unanswered,
            "rts_guessed": tally.rts_open.guessed,
            "rts_ambiguous": tally.rts_open.ambiguous,
            "attempts_of_known_rate_fraction": tally.rated.fraction(),
            "ppdus_of_known_duration_fraction": tally.lasting.fraction(),
            "mean_data_rate_low_bps": mean.map(|(mean, attempts)| mean - tally.rts_open.rates_below as f64 / attempts),
            "mean_data_rate_high_bps": mean.map(|(mean, attempts)| mean + tally.rts_open.rates_above as f64 / attempts),
            "rate_steps_up": steps.up,
            "rate_steps_down": steps.down,
            "rate_steps_down_after_retry": steps.down_after_retry,
            "rates": rates,
            "sent": sent,
            "signal": tally.signal.to_json(),
        });
        behind(ends_of(site, *ends), map_of(tally))
    });
    let flows = site.flows.iter().zip(&measured.flows).map(|(flow, tally)| {
        let mut row = tally.count.to_json(flow.is_tcp);
        if flow.is_tcp {
            row.extend(tcp_row(site, flow, tally, report, window.1.since(window.0)));
        } else {
            row.insert("quic".into(), json!(tally.quic.as_ref().map(QuicTally::to_json)));
            row.insert("echo".into(), if flow.is_echo { echo_row(tally) } else { Json::Null });
        }
        let answers = flow.answers.map(|other| site.flows[other as usize].id.as_str());
        behind([("id", json!(flow.id)), ("answers", json!(answers)), ("load", tally.load.to_json(tally.mss))], row)
    });
    json!({
        "from_s": window.0.as_secs_f64(),
        "to_s": window.1.as_secs_f64(),
        "files": files.collect::<Vec<_>>(),
        "missed": missed(site, measured),
        "air": site.air.map(|_| air_row(measured)),
        "aps": site.aps,
        "stations": stations(site),
        "flows_left_out": site.flows_left_out,
        "addresses_left_out": site.left_out.0,
        "addresses_left_out_seen_once": site.left_out.1,
        "channels_mhz": site.channels,
        "airtime": site.air.map_or_else(Vec::new, |_| airtime(site, air)),
        "links": links.collect::<Vec<_>>(),
        "hidden_pairs": if measured.unknown.overlap { Vec::new() } else { hidden_pairs(site, air) },
        "flows": flows.collect::<Vec<_>>(),
        "tcp": transport(site, measured, true),
        "udp": transport(site, measured, false),
        "mptcp": site.multipaths.iter().map(|multipath| mptcp(site, multipath)).collect::<Vec<_>>(),
    })
}

/// The origin of a link's loss of MPDUs.
fn loss_from(by_retries: Option<f64>) -> &'static str {
    if by_retries.is_some() { "retry_bits" } else { "answers" }
}

/// Datagrams that come back: requests, answers, and the time between them.
fn echo_row(tally: &FlowTally) -> Json {
    json!({
        "requests": tally.requests,
        "answered": tally.requests_answered,
        "rtt_beyond_mean_s": tally.rtt_beyond.mean_s(),
        "rtt_beyond_p95_s": tally.rtt_beyond.quantile_s(0.95),
    })
}

/// An MPTCP connection with its subflows.
fn mptcp(site: &Site, multipath: &Multipath) -> Json {
    let end = |(address, port): End| SocketAddr::new(address, port).to_string();
    let subflows = multipath.subflows.iter().map(|(connection, has_joined)| {
        let dialogue = &site.dialogues[connection];
        let (station, server) = station_and_server(connection, dialogue.is_first_the_station);
        let roles = dialogue.roles.iter().flatten();
        let flows: Vec<_> = roles.map(|role| site.flows[role.flow.index()].id.as_str()).collect();
        json!({"station": end(station), "server": end(server), "has_joined": has_joined, "flows": flows})
    });
    json!({"version": multipath.version, "subflows": subflows.collect::<Vec<_>>()})
}

/// All packets of a transport, also of connections without data, which are no flows.
fn transport(site: &Site, measured: &Measured, is_tcp: bool) -> Json {
    let all = || site.dialogues.iter().filter(|(connection, _)| connection.2 == is_tcp).map(|(_, dialogue)| dialogue);
    json!({
        "connections": all().count(),
        "connections_without_data": all().filter(|dialogue| !dialogue.has_data).count(),
        "connections_seen_one_way": all().filter(|dialogue| !dialogue.is_seen_both_ways).count(),
        "up": measured.counts.of(is_tcp, true).to_json(is_tcp),
        "down": measured.counts.of(is_tcp, false).to_json(is_tcp),
    })
}

/// Each station with its AP.
fn stations(site: &Site) -> Vec<Json> {
    let nodes = site.nodes.iter().skip(site.aps);
    nodes.map(|node| json!({ "name": node.name, "ap": site.nodes[node.ap as usize].name })).collect()
}

fn tcp_row(site: &Site, flow: &Flow, tally: &FlowTally, report: &Report, covered: Duration) -> Map<String, Json> {
    let flight_bytes = ratio(tally.flight, covered.as_nanos() as f64);
    let flight_segments = flight_bytes.and_then(|bytes| ratio(bytes, tally.mss.into()));
    let rtt_s = tally.rtt_beyond.mean_s();
    let load = flight_segments.zip(rtt_s).and_then(|(n, rtt)| load_bps(n, Duration::from_secs_f64(rtt)));
    let rate = flow.node.and_then(|node| {
        let ap = site.nodes[node as usize].ap;
        let link = if flow.up { site.link(node, ap) } else { site.link(ap, node) };
        report.links[link?.index()].get(LINK_DATA_RATE_MEAN)
    });
    let row = json!({
        "rtt_beyond_mean_s": rtt_s,
        "rtt_beyond_p95_s": tally.rtt_beyond.quantile_s(0.95),
        "rtt_by_timestamps_mean_s": tally.rtt_by_timestamps.mean_s(),
        "rtt_before_mean_s": tally.rtt_before.mean_s(),
        "rtt_before_min_s": tally.rtt_before_least.map(|least| least.as_secs_f64()),
        "segments_seen": tally.count.with_data,
        "acks": tally.acks,
        "ack_jumps": tally.ack_jumps,
        "duplicate_acks": tally.duplicate_acks,
        "segments_spurious": tally.spurious,
        "segments_spurious_by_timestamps": tally.spurious_by_timestamps,
        "segments_out_of_order": tally.out_of_order,
        "flight_mean_bytes": flight_bytes,
        "flight_mean_segments": flight_segments,
        "receive_window_min_bytes": tally.window.least,
        "receive_window_mean_bytes": tally.window.mean(),
        "receive_window_max_bytes": tally.window.least.map(|_| tally.window.most),
        "zero_windows": tally.window.zero,
        "windows_unscaled": tally.window.unscaled,
        "stalls": stalls(&tally.stalls),
        "timeouts_seen": tally.stalls.timeouts.0,
        "timeouts_waited_s": tally.stalls.timeouts.1.as_secs_f64(),
        "segment_bytes": tally.mss,
        "timestamps": tally.has_timestamps,
        "load_bps": load,
        "load_over_mac_rate": load.zip(rate).and_then(|(load, rate)| ratio(load, rate)),
    });
    map_of(row)
}

/// Number and seconds of the sender's stalls, by reason.
fn stalls(tally: &StallTally) -> Json {
    let of = |((_, name), (count, lasted)): (&(Reason, &str), &(u64, Duration))| {
        (name.to_string(), json!({"count": count, "total_s": lasted.as_secs_f64()}))
    };
    Json::Object(Reason::ALL.iter().zip(&tally.by_reason).map(of).collect())
}
