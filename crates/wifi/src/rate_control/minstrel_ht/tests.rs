//! Minstrel-HT step by step, on legacy rates and on HT.

use super::super::tests::{frame, peer, phy, phy_with_mcs};
use super::*;
use crate::phy::{ChannelWidth, GuardInterval};

fn control(phy: &Phy) -> MinstrelHt {
    MinstrelHt::new(&Params::default(), &peer(phy))
}
fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}
/// Reports an aggregate.
fn tell(control: &mut MinstrelHt, now: Time, mode: ModeId, mpdus: u32, acknowledged: u32) {
    let success = acknowledged > 0;
    control.on_tx_status(&TxStatus { now, mode, success, mpdus, acknowledged, rts: false, snr: None });
}
fn mbps(control: &MinstrelHt, phy: &Phy) -> Vec<f64> {
    control.chain.entries().iter().map(|e| phy.mode(e.mode).rate.as_mbps_f64()).collect()
}
/// Runs twenty windows in which these numbers of a hundred MPDUs arrive at these rates, in Mbit/s.
fn settle(control: &mut MinstrelHt, phy: &Phy, outcomes: &[(u64, u32)]) {
    for window in 0..20 {
        for &(rate, acknowledged) in outcomes {
            let mode = phy.mode_of_rate(lasthop_units::DataRate::from_100kbps(10 * rate)).unwrap();
            tell(control, at(60 * window), mode, 100, acknowledged);
        }
        control.update(at(60 * window + 60));
    }
}

#[test]
fn a_new_link_starts_at_its_lowest_rate() {
    for standard in ["802.11a", "802.11b", "802.11g"] {
        let phy = phy(standard);
        let control = control(&phy);
        assert!(control.chain.entries().iter().all(|e| e.mode == ModeId(0) && e.tries == 2), "{standard}");
    }
}

#[test]
fn the_chain_is_the_three_best_and_the_most_probable_behind_rts() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    settle(&mut control, &phy, &[(54, 40), (48, 70), (36, 80), (24, 99), (18, 100), (12, 100), (6, 100)]);
    // Overhead 60 us: 48: 0.7 / 300 us = 2333/s, 36: 0.8 / 368 = 2174/s, 24: 0.9 / 500 = 1800/s, 54: 0.4 / 276 =
    // 1449/s. Among those above 75 %, 36 carries the most.
    assert_eq!(mbps(&control, &phy), [48.0, 36.0, 24.0, 36.0]);
    assert_eq!(control.chain.entries().iter().map(|e| e.rts).collect::<Vec<_>>(), [false, true, true, true]);
}

#[test]
fn a_faster_and_less_probable_rate_is_no_refuge() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    // 54: 0.76 / 276 = 2754/s, above 75 %; 48: 0.9 / 300 = 3000/s.
    settle(&mut control, &phy, &[(54, 76), (48, 100), (36, 100)]);
    assert_eq!(mbps(&control, &phy)[..2], [48.0, 54.0]);
    assert_eq!(mbps(&control, &phy)[3], 48.0);
}

#[test]
fn probabilities_above_nine_tenths_count_alike_and_below_a_tenth_for_nothing() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    settle(&mut control, &phy, &[(54, 9), (48, 91), (36, 100)]);
    let throughput = |i: usize| control.rates[i].throughput;
    assert_eq!(throughput(7), 0.0);
    // 0.9 / (60 + 16 + 20 + 4 * ceil((22 + 8 * 1204) / 192) us) and the same of 36 Mbit/s: 0.9 / 368 us.
    assert!((throughput(6) - 0.9 / 300e-6).abs() < 1e-6 && (throughput(5) - 0.9 / 368e-6).abs() < 1e-6);
}

#[test]
fn untried_rate_is_presumed_as_good_as_faster_ones() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    settle(&mut control, &phy, &[(54, 10), (36, 70)]);
    let probabilities: Vec<f64> = control.rates.iter().map(|r| (100.0 * r.probability()).round()).collect();
    assert_eq!(probabilities, [70.0, 70.0, 70.0, 70.0, 70.0, 70.0, 10.0, 10.0]);
}

#[test]
fn a_window_is_ranked_once_fifty_milliseconds_have_passed() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    tell(&mut control, at(50), ModeId(3), 1, 1);
    assert_eq!(control.last_update, Time::ZERO);
    tell(&mut control, at(51), ModeId(3), 1, 1);
    assert_eq!((control.last_update, mbps(&control, &phy)[0]), (at(51), 18.0));
}

#[test]
fn samples_come_every_twenty_milliseconds_and_after_each_ranking() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    // Only 6 Mbit/s is reported, so that faster rates always wait to be sampled.
    let mut is_sampled = |ms: u64| {
        let chain = control.rates_for(&FrameInfo { now: at(ms), ..frame(0) });
        tell(&mut control, at(ms), ModeId(0), 1, 1);
        chain.is_probe()
    };
    let sampled: Vec<u64> = (1..=120).filter(|&ms| is_sampled(ms)).collect();
    // Turns: increment, jump, increment (one group has one, and it is taken: nothing at 41); ranked at 51 ms, so at
    // once jump, increment, slow (there is none, at 92); ranked at 102 ms, increment.
    assert_eq!(sampled, [1, 21, 52, 72, 103]);
}

#[test]
fn a_sample_is_one_attempt_before_the_rest_of_the_chain() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    settle(&mut control, &phy, &[(24, 100), (18, 100), (12, 100)]);
    let usual = control.chain;
    let chain = control.rates_for(&FrameInfo { now: at(5000), ..frame(0) });
    assert!(chain.is_probe() && phy.mode(chain.first()).rate.as_mbps_f64() > 24.0);
    assert_eq!((chain.entries()[0].tries, &chain.entries()[1..]), (1, &usual.entries()[1..]));
    assert_eq!(control.rates_for(&FrameInfo { now: at(5001), ..frame(0) }), usual);
}

#[test]
fn retry_is_no_sample_except_in_an_aggregate() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    assert!((0..100).all(|ms| !control.rates_for(&FrameInfo { now: at(ms), ..frame(9) }).is_probe()));
    assert!(control.rates_for(&FrameInfo { now: at(100), aggregates: true, ..frame(1) }).is_probe());
}

#[test]
fn slow_rates_are_sampled_where_those_in_use_lie_apart_and_only_if_unsure() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    settle(&mut control, &phy, &[(54, 50), (48, 50), (36, 60), (24, 100), (18, 100), (12, 80), (9, 80), (6, 80)]);
    // Best 48 or 54, most probable 24: the rate between them is 36, which is not sure.
    let mut sampled = Vec::new();
    for i in 0..60 {
        sampled.push(control.rates_for(&FrameInfo { now: at(5000 + 20 * i), ..frame(0) }).first());
        if i % 3 == 2 {
            control.update(at(5000 + 20 * i + 1));
        }
    }
    let slowest = sampled.iter().min().unwrap();
    assert_eq!(phy.mode(*slowest).rate.as_mbps_f64(), 36.0);
}

#[test]
fn the_length_of_aggregates_is_averaged_over_windows() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    for window in 0..30 {
        (0..8).for_each(|_| tell(&mut control, at(60 * window), ModeId(0), 20, 20));
        control.update(at(60 * window + 59));
        if window == 0 {
            // 0.75 * 1 + 0.25 * 20
            assert_eq!(control.mean_mpdus, 5.75);
        }
    }
    assert!((control.mean_mpdus - 20.0).abs() < 0.01);
}

#[test]
fn tries_fill_a_segment_of_six_milliseconds_but_are_two_at_least() {
    let phy = phy("802.11a");
    let mut control = control(&phy);
    // Single MPDUs, so that an aggregate's length stays 1.
    for window in 0..20 {
        [0, 7].iter().for_each(|&m| tell(&mut control, at(60 * window), ModeId(m), 1, 1));
        control.update(at(60 * window + 59));
    }
    // 6 Mbit/s: 1648 + 60 us and backoffs of 67, 139, 283: 1775, 3623, 5614, 7893: three. With RTS 120 us more:
    // 1895, 3863, 5974: three. 54 Mbit/s: 216 + 60: 343, 758, 1317, 2164, 3587, 6162: five, or seven at most.
    assert_eq!((control.tries(0, false), control.tries(0, true)), (3, 3));
    assert_eq!(control.tries(7, false), 5);
    control.rates[0].average = Average::default();
    assert_eq!(control.tries(0, false), 2);
}

fn ht() -> Phy {
    phy_with_mcs("802.11n", ChannelWidth::Mhz40, GuardInterval::Short)
}
/// The mode of an MCS from 0 to 15, with the short guard interval.
fn mcs(phy: &Phy, index: u8) -> ModeId {
    phy.mode_of_mcs(index).unwrap()
}
/// Runs twenty windows in which these numbers of a hundred MPDUs, 20 to an aggregate, arrive at these MCSs.
fn settle_ht(control: &mut MinstrelHt, phy: &Phy, outcomes: &[(u8, u32)]) {
    for window in 0..20 {
        for &(index, acknowledged) in outcomes {
            (0..5).for_each(|_| tell(control, at(60 * window), mcs(phy, index), 20, acknowledged / 5));
        }
        control.update(at(60 * window + 60));
    }
}

#[test]
fn groups_are_guard_intervals_and_streams() {
    let phy = ht();
    let control = control(&phy);
    let told: Vec<_> = control
        .groups
        .iter()
        .map(|g| {
            let mode = phy.mode(control.rates[g.first].mode);
            (mode.guard_interval.as_nanos(), g.streams, g.places().len(), g.legacy)
        })
        .collect();
    assert_eq!(told, [(800, 1, 8, false), (800, 2, 8, false), (400, 1, 8, false), (400, 2, 8, false)]);
}

#[test]
fn of_802_11ac_and_ax_the_groups_have_all_that_the_standard_has() {
    // At 80 MHz two streams have MCS 9, as one stream has.
    let rates = |phy: Phy| control(&phy).groups.iter().map(|g| g.places().len()).collect::<Vec<_>>();
    assert_eq!(rates(phy_with_mcs("802.11ac", ChannelWidth::Mhz80, GuardInterval::Short)), [10, 10, 10, 10]);
    assert_eq!(rates(phy_with_mcs("802.11ac", ChannelWidth::Mhz20, GuardInterval::Long)), [9, 9]);
    assert_eq!(rates(phy_with_mcs("802.11ax", ChannelWidth::Mhz80, GuardInterval::Us0_8)), [12, 12]);
}

#[test]
fn a_packet_takes_its_share_of_whole_symbols() {
    let phy = ht();
    let control = control(&phy);
    let place = control.places[mcs(&phy, 15).index()].unwrap();
    // 16 * 1200 * 8 bits over 1080 bits a symbol: 143 symbols of 3.6 us, divided by sixteen.
    let expected = 143.0 * 3600.0 / 16.0;
    assert!((control.rates[usize::from(place)].packet_ns - expected).abs() < 1.0);
}

#[test]
fn the_overhead_is_shared_by_the_packets_of_the_usual_aggregate() {
    let phy = ht();
    let mut control = control(&phy);
    settle_ht(&mut control, &phy, &[(7, 100)]);
    let rate = &control.rates[usize::from(control.places[mcs(&phy, 7).index()].unwrap())];
    // The average nears 20 from below, and is cut to 19. 16 * 9600 bits over 540: 285 symbols of 3.6 us.
    let expected = 0.9 / (108e-6 / 19.0 + 285.0 * 3.6e-6 / 16.0);
    assert!((rate.throughput / expected - 1.0).abs() < 1e-4, "{} {expected}", rate.throughput);
}

#[test]
fn answered_aggregate_is_judged_by_its_arrived_mpdus() {
    let phy = ht();
    let mut control = control(&phy);
    // Every aggregate is answered; at MCS 15 a quarter of it has arrived, at MCS 12 all.
    settle_ht(&mut control, &phy, &[(15, 25), (12, 100)]);
    assert_eq!(control.chain.first(), mcs(&phy, 12));
}

#[test]
fn the_most_probable_rate_has_fewer_streams_than_the_best() {
    let phy = ht();
    let mut control = control(&phy);
    settle_ht(&mut control, &phy, &[(12, 100), (11, 100), (10, 100), (5, 95), (4, 100)]);
    let chain = control.chain;
    assert_eq!([0, 1].map(|i| chain.entries()[i].mode), [mcs(&phy, 12), mcs(&phy, 11)]);
    // MCS 5 of one stream carries more, above 75 %.
    assert_eq!(chain.entries()[3].mode, mcs(&phy, 5));
}

#[test]
fn sudden_death_moves_to_a_group_with_no_more_streams_before_the_window_is_over() {
    let phy = ht();
    let mut control = control(&phy);
    settle_ht(&mut control, &phy, &[(15, 100), (14, 100), (7, 100), (6, 100)]);
    assert_eq!(control.chain.first(), mcs(&phy, 15));
    let now = control.last_update + Duration::from_millis(1);
    tell(&mut control, now, mcs(&phy, 15), 30, 7);
    assert_eq!(control.chain.first(), mcs(&phy, 15));
    // 7 of 32 is less than a quarter of more than 30.
    tell(&mut control, now, mcs(&phy, 15), 2, 0);
    assert_eq!(control.chain.first(), mcs(&phy, 7));
}

#[test]
fn samples_take_turns_through_the_groups() {
    let phy = ht();
    let mut control = control(&phy);
    settle_ht(&mut control, &phy, &[(4, 100), (3, 100), (2, 100)]);
    let Ranking { best: [first, second, ..], probable, .. } = control.ranking;
    let slowest_ns = [first, second, probable].map(|i| control.rates[i].packet_ns).into_iter().fold(0.0, f64::max);
    let mut groups = Vec::new();
    for i in 0..60 {
        let chain = control.rates_for(&FrameInfo { now: at(5000 + 20 * i), ..frame(0) });
        if chain.is_probe() {
            let rate = &control.rates[usize::from(control.places[chain.first().index()].unwrap())];
            assert!(rate.packet_ns < slowest_ns);
            groups.push(rate.group);
        }
        if i % 3 == 2 {
            control.update(at(5000 + 20 * i + 1));
        }
    }
    assert!((0..4).all(|g| groups.contains(&g)), "{groups:?}");
}
