//! PPDUs of several users: their order and their times, by arithmetic, and the contention of stations.

use std::collections::BTreeMap;

use crate::cell::{Load, MediumConfig, Seen, config, fifos, phy as plain_phy, run_load};
use lasthop_observe::detail::{Detail, PpduKind};
use lasthop_observe::{NodeId, Outcome, Payload, Record, Step};
use lasthop_registry::Amount;
use lasthop_units::{Bytes, Duration, Time};
use lasthop_wifi::multi_user::scheduler::SchedulerKind;
use lasthop_wifi::phy::{ChannelWidth, GuardInterval, Phy, PhyOptions, Ru, RuPart, Standard};
use lasthop_wifi::{AccessCategory, Acknowledge, Aggregation, ChannelAccess, EdcaParameters, MuEdca, MultiUser};

const BE: u8 = 0;
const PACKET: u32 = 1500;

fn phy() -> Phy {
    let options = PhyOptions {
        channel_width: Some(ChannelWidth::Mhz80),
        guard_interval: Some(GuardInterval::Us3_2),
        ..PhyOptions::new(Standard::named("802.11ax").unwrap())
    };
    options.resolve("bss").unwrap()
}

/// The downlink alone.
fn on() -> MultiUser {
    MultiUser { uplink: false, ..MultiUser::default() }
}

/// An access point of 802.11ax at 80 MHz, one stream, MCS 11, with EDCA without TXOP limits, and its stations.
fn cell(stations: usize, multi_user: Option<MultiUser>) -> MediumConfig {
    let mut config = config(phy(), stations);
    let edca = AccessCategory::ALL.map(|category| EdcaParameters {
        txop_limit: Duration::ZERO,
        ..EdcaParameters::default_of(category, 15, 1023)
    });
    config.nodes.iter_mut().for_each(|node| node.access = ChannelAccess::Edca(edca));
    config.bss[0].aggregation = Some(Aggregation {
        max_mpdus: 256,
        max_bytes: 6_500_631,
        max_duration: Duration::from_micros(5484),
        max_amsdu: None,
        min_start_spacing: Duration::ZERO,
    });
    config.bss[0].multi_user = multi_user;
    config.bss[0].scheduler = SchedulerKind::Ns3Rr(Default::default());
    config
}

fn saturated(config: MediumConfig, nodes: &[u32], millis: u64) -> Seen {
    let saturated = nodes.iter().map(|&node| (NodeId(node), BE)).collect();
    let load = Load { saturated, packet_bytes: PACKET, keep_records: true, ..Load::default() };
    run_load(config, &load, Duration::from_millis(millis))
}

/// Starts, ends and senders of all PPDUs in nanoseconds; the parts of a PPDU of several users are one.
fn on_air(seen: &Seen) -> Vec<(u64, u64, Vec<u32>)> {
    let mut all: Vec<(u64, u64, Vec<u32>)> = Vec::new();
    let mut begun: BTreeMap<u32, u64> = BTreeMap::new();
    for (at, record) in &seen.records {
        match record {
            Record::TransmitterOn { node, .. } | Record::PartOn { node, .. } => {
                begun.insert(node.0, at.as_nanos());
            }
            Record::Airtime { node, .. } => all.push((begun[&node.0], at.as_nanos(), vec![node.0])),
            Record::PartOff { node, .. } => match all.last_mut() {
                Some((from, until, by)) if (*from, *until) == (begun[&node.0], at.as_nanos()) => by.push(node.0),
                _ => all.push((begun[&node.0], at.as_nanos(), vec![node.0])),
            },
            _ => {}
        }
    }
    all
}

/// The access point has `packets` for its stations in turn from the start.
fn downlink(mut config: MediumConfig, packets: usize, millis: u64) -> Seen {
    config.queues = fifos(Amount::Packets(1 << 20));
    let arrivals = (0..packets).map(|_| (Time::from_nanos(10_000), NodeId(0), BE)).collect();
    let load = Load { arrivals, packet_bytes: PACKET, keep_records: true, ..Load::default() };
    run_load(config, &load, Duration::from_millis(millis))
}

#[test]
fn downlink_of_four_users_takes_the_time_of_its_parts() {
    let phy = phy();
    let seen = downlink(cell(4, Some(on())), 10_000, 100);
    let ppdus = on_air(&seen);
    // The AP's data to four, its MU-BAR, four BlockAcks, over and over.
    let first = ppdus.iter().position(|ppdu| ppdu.2 == [0; 4]).expect("a PPDU of four users");
    let [data, ask, answers] = &ppdus[first..first + 3] else { panic!("three PPDUs") };
    assert_eq!((&data.2[..], &ask.2[..], &answers.2[..]), (&[0; 4][..], &[0][..], &[1, 2, 3, 4][..]));
    assert_eq!((ask.0 - data.1, answers.0 - ask.1), (16_000, 16_000));
    // MU-BAR: 28 + 4 * 9 bytes at 24 Mbit/s: 534 bits are 5.6 symbols of 96.
    assert_eq!(ask.1 - ask.0, 20_000 + 6 * 4000);
    // BlockAcks of 56 bytes in units of 242 tones at MCS 3: 464 bits are one symbol of 468 and, as the last segment is full,
    // one more for the code; 40 us, an HE-LTF of 16 us, 16 us a symbol.
    let mode = phy.mode_of_mcs(3).unwrap();
    let part = RuPart { mode, ru: Ru::Tones242, psdu: Bytes(56) };
    assert_eq!(answers.1 - answers.0, phy.he_tb_duration(&[part; 4]).as_nanos());
    // Each user has as many MPDUs as fit into the longest PPDU.
    let fastest = phy.mode_of_mcs(11).unwrap();
    let overhead = phy.ru_overhead(&[fastest; 4], Ru::Tones242, false);
    let most = phy.longest_on_ru(fastest, Ru::Tones242, Duration::from_micros(5484) - overhead, false).0;
    let mpdus = (most + 2) / 1544;
    let psdu = Bytes(mpdus * 1544 - 2);
    let expected = phy.he_mu_duration(&[RuPart { mode: fastest, ru: Ru::Tones242, psdu }; 4]);
    assert_eq!(data.1 - data.0, expected.as_nanos());
    assert!(seen.collided.iter().sum::<u64>() == 0);
}

#[test]
fn downlink_gives_each_station_its_share_with_each_acknowledgement() {
    let mut rates = Vec::new();
    for acknowledge in [Acknowledge::MuBar, Acknowledge::Bar, Acknowledge::Aggregated] {
        let seen = downlink(cell(4, Some(MultiUser { acknowledge, ..on() })), 50_000, 500);
        let counts = seen.counts.unwrap();
        assert_eq!(counts.dropped_by_mac, 0);
        rates.push(counts.delivered as f64 * 1500.0 * 8.0 / 0.5e6);
    }
    let single = downlink(cell(4, None), 50_000, 500).counts.unwrap().delivered as f64 * 1500.0 * 8.0 / 0.5e6;
    // One by one costs more than together; a trigger of its own more than one among the data.
    assert!(rates[1] < rates[0] && rates[0] < rates[2], "{rates:?}");
    // UDP downloads neither gain nor lose much: the air is full in any case.
    assert!(rates.iter().all(|rate| (0.9..1.03).contains(&(rate / single))), "{rates:?} {single}");
}

#[test]
fn an_access_point_with_one_busy_station_sends_to_it_alone() {
    let seen = saturated(cell(1, Some(on())), &[0], 50);
    let alone = saturated(cell(1, None), &[0], 50);
    assert_eq!(on_air(&seen), on_air(&alone));
}

#[test]
fn stations_without_contention_send_what_triggers_ask_for() {
    // MU EDCA with AIFSN 0 and triggers more often than its timer: after their first triggered data, stations make no
    // attempt of their own.
    let mut config = cell(
        4,
        Some(MultiUser { holds_stations: true, uplink: true, access_request: Some(Duration::from_millis(2)), ..on() }),
    );
    config.bss[0].scheduler = SchedulerKind::default();
    let timer = Duration::from_nanos(13 * 8_192_000);
    config.bss[0].mu_edca = Some([Some(MuEdca { aifsn: 0, cw_min: 15, cw_max: 1023, timer }); 4]);
    let seen = saturated(config, &[1, 2, 3, 4], 3000);
    let ppdus = on_air(&seen);
    // A station's PPDU that does not follow one of the access point after a SIFS is an attempt of its own.
    let is_own = |place: usize| ppdus[place].2[0] != 0 && (place == 0 || ppdus[place - 1].1 + 16_000 != ppdus[place].0);
    let single = |from: u64| (0..ppdus.len()).filter(|place| ppdus[*place].0 > from && is_own(*place)).count();
    let triggered = |from: u64| ppdus.iter().filter(|p| p.0 > from && p.2.len() == 4).count();
    assert!(single(0) > 0, "they contend until they are asked");
    assert_eq!(single(300_000_000), 0, "and then no more");
    assert!(triggered(300_000_000) > 100, "{}", triggered(0));
    let delivered = seen.counts.unwrap().delivered as f64 * 1500.0 * 8.0 / 3e6;
    assert!(delivered > 300.0, "{delivered} Mbit/s");
    let least = seen.delivered[1..].iter().min().unwrap();
    let most = seen.delivered[1..].iter().max().unwrap();
    assert!(*most as f64 / (*least as f64) < 1.1, "{:?}", seen.delivered);
}

#[test]
fn a_station_that_answers_a_trigger_alone_is_acknowledged() {
    let mut config = cell(1, Some(MultiUser { uplink: true, access_request: Some(Duration::from_millis(2)), ..on() }));
    // Question and trigger share a TXOP, before the station can send its data by itself.
    let ChannelAccess::Edca(all) = &mut config.nodes[0].access else { panic!("it has EDCA") };
    all.iter_mut().for_each(|of| of.txop_limit = Duration::from_millis(8));
    let timer = Duration::from_nanos(13 * 8_192_000);
    config.bss[0].mu_edca = Some([Some(MuEdca { aifsn: 0, cw_min: 15, cw_max: 1023, timer }); 4]);
    let seen = saturated(config, &[1], 500);
    let ppdus = on_air(&seen);
    // Its HE TB PPDU comes a SIFS after the trigger, and an acknowledgement a SIFS after that.
    let answered = ppdus.windows(3).filter(|p| {
        let [asks, data, ack] = p else { return false };
        let apart = (asks.1 + 16_000, data.1 + 16_000) == (data.0, ack.0);
        (&asks.2[..], &data.2[..], &ack.2[..]) == (&[0][..], &[1][..], &[0][..]) && apart
    });
    assert!(answered.count() > 20);
    let held_from = Time::ZERO + Duration::from_millis(150);
    let attempts = seen.records.iter().filter(|(at, _)| *at > held_from).filter_map(|(_, record)| match record {
        Record::Attempt { node: NodeId(1), outcome, .. } => Some(*outcome),
        _ => None,
    });
    assert!(attempts.clone().count() > 10 && attempts.clone().all(|outcome| outcome == Outcome::Success));
}

#[test]
fn a_triggered_station_keeps_its_backoff_and_its_window() {
    // Without MU EDCA stations contend as well; all that is sent arrives once.
    let seen = saturated(cell(4, Some(MultiUser { uplink: true, ..on() })), &[0, 1, 2, 3, 4], 500);
    let counts = seen.counts.unwrap();
    assert!(counts.delivered > 1000, "{counts:?}");
    let ppdus = on_air(&seen);
    assert!(ppdus.iter().any(|p| p.2 == [0; 4]) && ppdus.iter().any(|p| p.2 == [1, 2, 3, 4]));
    assert!(ppdus.iter().any(|p| p.2.len() == 1 && p.2[0] != 0), "own exchanges as well");
}

/// The name of a kind of PPDU in [`orders_of_frames`], with the number of its parts.
fn word(kind: PpduKind, parts: usize) -> String {
    let name = match kind {
        PpduKind::Ampdu => "data",
        PpduKind::BlockAck => "BA",
        PpduKind::BlockAckReq => "BAR",
        PpduKind::MuBar => "MU-BAR",
        PpduKind::Bsrp => "BSRP",
        PpduKind::Trigger => "trigger",
        PpduKind::MultiStaBlockAck => "M-BA",
        PpduKind::QosNull => "null",
        other => panic!("{other:?} has no place here"),
    };
    if parts > 1 { format!("{name} x{parts}") } else { name.to_owned() }
}

/// The kinds of PPDUs, those a SIFS apart in one sequence, and the start and sender of each sequence.
fn sequences(seen: &Seen) -> Vec<(u64, u32, Vec<String>)> {
    let mut all: Vec<(u64, u64, u32, PpduKind, usize)> = Vec::new();
    for (at, detail) in &seen.details {
        let Detail::PpduStarts(start) = detail else { continue };
        let (from, until) = (at.as_nanos(), (*at + start.airtime).as_nanos());
        match all.last_mut() {
            Some(last) if last.0 == from && last.3 == start.kind => last.4 += 1,
            _ => all.push((from, until, start.node.0, start.kind, 1)),
        }
    }
    let mut sequences: Vec<(u64, u32, Vec<String>)> = Vec::new();
    let mut end = 0;
    for (from, until, node, kind, parts) in all {
        match sequences.last_mut() {
            Some(last) if from == end + 16_000 => last.2.push(word(kind, parts)),
            _ => sequences.push((from, node, vec![word(kind, parts)])),
        }
        end = until;
    }
    sequences
}

/// The orders that `wifi-mac-ofdma` of ns-3 expects of 802.11ax: three acknowledgements of downlink data, with and without a TXOP limit
/// in which the answers to a BSRP are followed by a trigger for data, each without MU EDCA, with AIFSN 0 and with AIFSN 10.
#[test]
fn orders_of_frames_are_those_of_the_standard() {
    let downlink = [
        (Acknowledge::Bar, "data x4, BA, BAR, BA, BAR, BA, BAR, BA"),
        (Acknowledge::MuBar, "data x4, MU-BAR, BA x4"),
        (Acknowledge::Aggregated, "data x4, BA x4"),
    ];
    for (acknowledge, down) in downlink {
        for limit in [Duration::ZERO, Duration::from_micros(5632)] {
            for aifsn in [None, Some(0), Some(10)] {
                let what = format!("{acknowledge:?}, TXOP limit {limit}, MU EDCA {aifsn:?}");
                let asks = MultiUser { acknowledge, uplink: true, holds_stations: aifsn == Some(0), ..on() };
                let mut config = cell(4, Some(asks));
                for node in &mut config.nodes {
                    let ChannelAccess::Edca(all) = &mut node.access else { panic!("it has EDCA") };
                    all.iter_mut().for_each(|of| of.txop_limit = limit);
                }
                let timer = Duration::from_nanos(255 * 8_192_000);
                let of = |aifsn| MuEdca { aifsn, cw_min: 15, cw_max: 1023, timer };
                config.bss[0].mu_edca = aifsn.map(|aifsn| [Some(of(aifsn)); 4]);
                let saturated = (0..5).map(|node| (NodeId(node), BE)).collect();
                let load = Load { saturated, packet_bytes: PACKET, keep_details: true, ..Load::default() };
                let seen = run_load(config, &load, Duration::from_millis(1500));
                // Other orders are collisions, or of fewer stations.
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                let all = sequences(&seen);
                for (_, _, kinds) in all.iter().filter(|of| of.1 == 0) {
                    *counts.entry(kinds.join(", ")).or_default() += 1;
                }
                let count = |order: &str| counts.get(order).copied().unwrap_or(0);
                assert!(count(down) > 3, "{what}: {counts:?}");
                let (asked, given) = ("BSRP, null x4", "trigger, data x4, M-BA");
                if limit == Duration::ZERO {
                    assert!(count(asked) > 3 && count(given) > 3, "{what}: {counts:?}");
                } else {
                    assert!(count(&format!("{asked}, {given}")) > 3, "{what}: {counts:?}");
                    assert_eq!(count(asked), 0, "{what}: {counts:?}");
                }
                // After its first triggered data a station does not contend, contends with these parameters, or as before.
                let own = all.iter().filter(|of| of.1 != 0 && of.0 > 100_000_000).count();
                match aifsn {
                    Some(0) => assert_eq!(own, 0, "{what}"),
                    _ => assert!(own > 10, "{what}: {own}"),
                }
            }
        }
    }
}

/// With AIFSN 0 and triggers more often than the timer nobody but the access point contends, so that
/// ```text
/// S = 4 N L / (AIFS + 7.5 slots + trigger + SIFS + PPDU + SIFS + acknowledgement)
///
/// N: MPDUs of L bits that fit into the longest PPDU;    7.5 slots: mean backoff of CWmin 15
/// ```
#[test]
fn throughput_under_mu_edca_is_the_triggered_data_over_the_cycle() {
    let asks = MultiUser {
        holds_stations: true,
        uplink: true,
        bsrp: false,
        access_request: Some(Duration::from_millis(2)),
        ..on()
    };
    let mut config = cell(4, Some(asks));
    config.bss[0].scheduler = SchedulerKind::default();
    let timer = Duration::from_nanos(13 * 8_192_000);
    config.bss[0].mu_edca = Some([Some(MuEdca { aifsn: 0, cw_min: 15, cw_max: 1023, timer }); 4]);
    let seen = saturated(config, &[1, 2, 3, 4], 20_000);
    let phy = phy();
    let mode = phy.mode_of_mcs(11).unwrap();
    let overhead = phy.ru_overhead(&[mode; 4], Ru::Tones242, true);
    let data = phy.whole_symbols(Duration::from_micros(5484) - overhead);
    // An MPDU takes 1544 bytes with its delimiter and padding; the last has no padding.
    let mpdus = (phy.longest_on_ru(mode, Ru::Tones242, data, true).0 + 2) / 1544;
    // 28 + 4 * 6 bytes and 22 + 4 * 36 at 24 Mbit/s, of which a symbol of 4 us has 96 bits; 22 bits besides.
    let legacy = |bytes: u64| 20.0 + 4.0 * (8 * bytes + 22).div_ceil(96) as f64;
    let ppdu = (overhead + data).as_nanos() as f64 / 1e3;
    let cycle_us = 16.0 + 3.0 * 9.0 + 7.5 * 9.0 + legacy(52) + 16.0 + ppdu + 16.0 + legacy(166);
    let expected = 4.0 * mpdus as f64 * 12_000.0 / cycle_us;
    // The first seconds have the contention before the first trigger.
    let sent = seen.arrived.iter().filter(|(at, _)| *at > 1_000_000_000).count();
    let found = sent as f64 * 12_000.0 / 19e6;
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} Mbit/s, {expected} expected");
}

/// QoS Nulls are control frames that arrive, also where the TXOP has room for a trigger after them.
#[test]
fn answers_to_questions_are_heard_control_frames() {
    for limit in [Duration::ZERO, Duration::from_micros(2528)] {
        let asks =
            MultiUser { holds_stations: true, uplink: true, access_request: Some(Duration::from_millis(2)), ..on() };
        let mut config = cell(4, Some(asks));
        config.bss[0].scheduler = SchedulerKind::default();
        let ChannelAccess::Edca(all) = &mut config.nodes[0].access else { panic!("it has EDCA") };
        all.iter_mut().for_each(|of| of.txop_limit = limit);
        let timer = Duration::from_nanos(13 * 8_192_000);
        config.bss[0].mu_edca = Some([Some(MuEdca { aifsn: 0, cw_min: 15, cw_max: 1023, timer }); 4]);
        let seen = saturated(config, &[1, 2, 3, 4], 1000);
        let steps: Vec<Step> = seen
            .records
            .iter()
            .filter_map(|(_, record)| if let Record::Step(step) = record { Some(*step) } else { None })
            .filter(|step| matches!(step, Step::Start(_) | Step::End(_)))
            .collect();
        let nulls: Vec<(u32, u32)> = steps
            .windows(2)
            .filter_map(|pair| match pair {
                [Step::Start(start), Step::End(end)]
                    if start.node != NodeId(0) && start.of_several && start.payload == Payload::Control =>
                {
                    Some((end.mpdus, end.decoded))
                }
                _ => None,
            })
            .collect();
        assert!(nulls.len() > 20, "{} questions", nulls.len());
        assert!(nulls.iter().all(|of| *of == (4, 4)), "{limit:?}: {nulls:?}");
    }
}

#[test]
fn older_standards_have_no_such_phy() {
    assert!(phy().has_several_users() && !plain_phy("802.11ac", &[]).has_several_users());
}
