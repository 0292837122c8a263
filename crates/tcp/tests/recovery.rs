//! Slow start, loss recovery and timeouts, seen from outside. One-way delay 50 ms, so the RTT is 100 ms.

use crate::world::{End, Fate, Random, World, drop_data};
use lasthop_registry::Switch;
use lasthop_tcp::{AckPolicy, Config, DecreaseFrom, Growth, GrowthMode, Profile};
use lasthop_units::{Bytes, Duration, Time};

const MSS: u64 = 1000;

/// ns-2's NewReno with payloads of 1000 bytes.
fn ns2() -> Config {
    Config { mss: Some(Bytes(MSS)), ..Profile::Ns2.config() }
}

/// The same with SACK.
fn sack() -> Config {
    Config { sack: true, ..ns2() }
}

fn open(config: &Config, segments: u64) -> World {
    let mut world = World::alike(config);
    world.open(segments * MSS);
    world
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Numbers of the data segments retransmitted, and the times in ms.
fn sent_again(world: &World) -> Vec<(u64, u64)> {
    let mut highest = 0;
    let mut again = Vec::new();
    for (at, start, length, _) in world.data() {
        if start < highest {
            again.push((start / MSS, at.as_nanos() / 1_000_000));
        }
        highest = highest.max(start + u64::from(length));
    }
    again
}

/// Data segments sent in each round trip of 100 ms from the handshake on.
fn per_round(world: &World, rounds: u64) -> Vec<usize> {
    let data = world.data();
    (1..=rounds).map(|round| data.iter().filter(|d| d.0.as_nanos() / 100_000_000 == round).count()).collect()
}

#[test]
fn slow_start_doubles_with_an_ack_for_each_segment() {
    let mut world = open(&ns2(), 1000);
    world.run_until(Time::ZERO + ms(590));
    assert_eq!(per_round(&world, 5), [2, 4, 8, 16, 32]);
}

#[test]
fn delayed_acks_slow_it_down_only_where_acks_are_counted() {
    let delayed = Config { ack: AckPolicy::Delayed, initial_window: 4, ..ns2() };
    let mut per_ack = open(&delayed, 1000);
    per_ack.run_until(Time::ZERO + ms(490));
    // 4 segments make 2 ACKs, so 6; 9; and 9 with the odd one left over from the round before
    assert_eq!(per_round(&per_ack, 3), [4, 6, 9]);
    let mut per_byte = open(&Config { growth: Growth::both(GrowthMode::PerByte), ..delayed }, 1000);
    per_byte.run_until(Time::ZERO + ms(490));
    assert_eq!(per_round(&per_byte, 4), [4, 8, 16, 32]);
}

#[test]
fn the_third_duplicate_ack_repairs_one_loss_and_halves_the_window() {
    for config in [ns2(), sack()] {
        let mut world = World::alike(&config);
        world.path = drop_data(&[14]);
        world.open(200 * MSS);
        world.run_for(Duration::from_secs(10));
        // Segments 14 to 29 leave at 400 ms, when the window is 16; the duplicate ACKs come at 500 ms.
        assert_eq!(sent_again(&world), [(14, 500)]);
        assert_eq!(world.client.ssthresh_segments(), 8.0);
        let counters = world.client.counters();
        assert_eq!((counters.fast_retransmits, counters.timeouts, counters.segments_retransmitted), (1, 0, 1));
        assert_eq!(world.server.delivered_bytes(), 200 * MSS);
    }
}

#[test]
fn without_sack_each_round_trip_repairs_one_loss() {
    let mut world = World::alike(&ns2());
    world.path = drop_data(&[16, 19, 25]);
    world.open(200 * MSS);
    world.run_for(Duration::from_secs(10));
    assert_eq!(sent_again(&world), [(16, 500), (19, 600), (25, 700)]);
    assert_eq!(world.client.counters().fast_retransmits, 1);
    assert_eq!(world.client.counters().timeouts, 0);
}

#[test]
fn with_sack_one_round_trip_repairs_all() {
    let mut world = World::alike(&sack());
    world.path = drop_data(&[16, 19, 25]);
    world.open(200 * MSS);
    world.run_for(Duration::from_secs(10));
    assert_eq!(sent_again(&world), [(16, 500), (19, 500), (25, 500)]);
    assert_eq!(world.client.counters().fast_retransmits, 1);
}

#[test]
fn limited_transmit_sends_new_data_on_the_first_two_duplicate_acks() {
    for (limited_transmit, repaired) in [(true, "fast"), (false, "timeout")] {
        // A window of 3 with its first lost gives two duplicate ACKs; only new data can make the third.
        let config = Config { limited_transmit, initial_window: 3, ..ns2() };
        let mut world = World::alike(&config);
        world.path = drop_data(&[0]);
        world.open(20 * MSS);
        world.run_for(Duration::from_secs(10));
        let counters = world.client.counters();
        let expected = if repaired == "fast" { (1, 0) } else { (0, 1) };
        assert_eq!((counters.fast_retransmits, counters.timeouts), expected, "{repaired}");
    }
}

#[test]
fn the_first_segment_of_a_connection_can_be_repaired_fast() {
    let mut world = World::alike(&Config { initial_window: 10, ..ns2() });
    world.path = drop_data(&[0]);
    world.open(30 * MSS);
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.client.counters().timeouts, 0);
}

#[test]
fn a_loss_at_the_very_end_waits_for_the_timer() {
    let mut world = World::alike(&ns2());
    world.path = drop_data(&[13]);
    world.open(14 * MSS);
    world.run_for(Duration::from_secs(10));
    // Sent at 300 ms. SRTT 100, RTTVAR 50 * 0.75^6 or so: the RTO is at its least or a little above;
    // restarted by the last ACK at 400 ms.
    let again = sent_again(&world);
    assert_eq!(again.len(), 1);
    assert!((600..=630).contains(&again[0].1), "{again:?}");
    assert_eq!(world.client.counters().timeouts, 1);
    // Half of the window of 15 that the ACKs of 13 segments had made of 2
    assert_eq!(world.client.ssthresh_segments(), 7.5);
}

#[test]
fn timeouts_double_and_a_repeated_timeout_holds_ssthresh() {
    let mut world = World::alike(&ns2());
    world.path = Box::new(|sent, _| {
        let cut = Time::ZERO + ms(390);
        if sent.at > cut && sent.at < cut + Duration::from_secs(60) { Fate::Drop } else { Fate::Pass }
    });
    world.open(100 * MSS);
    world.run_until(Time::ZERO + ms(1000));
    let ssthresh = world.client.ssthresh_segments();
    world.run_until(Time::ZERO + Duration::from_secs(50));
    let times: Vec<u64> = sent_again(&world).iter().map(|s| s.1).collect();
    let gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(times.len() > 5);
    assert!(gaps.windows(2).all(|w| w[1] == 2 * w[0] || w[1] == w[0]), "{gaps:?}");
    // ns-2 stops at 64 times the RTO
    assert_eq!(world.client.ssthresh_segments(), ssthresh);
    assert_eq!(world.client.cwnd_segments(), 1.0);
    world.run_until(Time::ZERO + Duration::from_secs(200));
    assert_eq!(world.server.delivered_bytes(), 100 * MSS);
}

#[test]
fn without_timestamps_back_off_lasts_until_new_data_is_acknowledged() {
    let config = Config { timestamps: false, ..ns2() };
    let mut world = World::alike(&config);
    world.path = drop_data(&[6, 7, 8, 9, 10, 11, 12, 13]);
    world.open(14 * MSS);
    world.run_until(Time::ZERO + ms(390));
    let rto = world.client.rto();
    world.run_for(ms(500));
    assert!(world.client.counters().timeouts >= 1);
    assert!(world.client.rto() >= rto * 2, "an ACK of what was sent twice is not a sample [Karn]");
    world.run_for(Duration::from_secs(20));
    let backed_off = world.client.rto();
    world.client.write(MSS);
    world.transmit(End::Client);
    world.run_for(ms(150));
    assert!(world.client.rto() < backed_off);
}

#[test]
fn sacked_data_is_not_resent_after_a_timeout() {
    let mut world = World::alike(&sack());
    // A retransmission lost: only the timer finds that out.
    let mut seen = 0;
    world.path = Box::new(move |sent, _| {
        let is_first =
            sent.from == End::Client && sent.segment.payload > 0 && sent.segment.seq.0 == 1001 + 14 * MSS as u32;
        seen += u32::from(is_first);
        if is_first && seen <= 2 { Fate::Drop } else { Fate::Pass }
    });
    world.open(40 * MSS);
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.client.counters().timeouts, 1);
    assert_eq!(sent_again(&world).iter().filter(|s| s.0 == 14).count(), 2);
    assert!(sent_again(&world).len() <= 3, "{:?}", sent_again(&world));
}

#[test]
fn duplicates_of_a_go_back_n_start_no_recovery() {
    let mut world = World::alike(&ns2());
    // Everything from 14 to 29 arrives except the first, and no ACK does: all is retransmitted.
    world.path = Box::new(|sent, _| {
        let (from, to) = (Time::ZERO + ms(445), Time::ZERO + ms(555));
        if sent.from == End::Server && sent.at > from && sent.at < to { Fate::Drop } else { Fate::Pass }
    });
    world.open(60 * MSS);
    world.run_for(Duration::from_secs(10));
    let counters = world.client.counters();
    assert!(counters.timeouts >= 1);
    assert_eq!(counters.fast_retransmits, 0);
    assert_eq!(world.server.delivered_bytes(), 60 * MSS);
}

#[test]
fn the_impatient_variant_gives_up_on_long_recoveries() {
    let losses: &[u64] = &[14, 16, 18, 20, 22, 24, 26, 28];
    for impatient in [true, false] {
        let mut world = World::alike(&Config { newreno_impatient: impatient, ..ns2() });
        let losses = losses.to_vec();
        let mut count = 0;
        world.path = Box::new(move |sent, _| {
            count += u64::from(sent.from == End::Client && sent.segment.payload > 0);
            let is_data = sent.from == End::Client && sent.segment.payload > 0;
            if is_data && losses.contains(&(count - 1)) { Fate::Drop } else { Fate::Pass }
        });
        world.open(200 * MSS);
        world.run_for(Duration::from_secs(20));
        assert_eq!(world.client.counters().timeouts > 0, impatient);
        assert_eq!(world.server.delivered_bytes(), 200 * MSS);
    }
}

#[test]
fn the_newest_segment_is_rescued_once() {
    // 14 segments: 6 and the last are lost; three reports repair 6, and with nothing new to send the last goes too.
    let mut world = World::alike(&sack());
    world.path = drop_data(&[6, 13]);
    world.open(14 * MSS);
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.client.counters().timeouts, 0);
    assert_eq!(sent_again(&world), [(6, 400), (13, 400)]);
}

#[test]
fn reordering_by_two_is_not_taken_for_loss() {
    for config in [ns2(), sack()] {
        let mut world = World::alike(&config);
        let mut count = 0;
        world.service = Duration::from_micros(100);
        world.path = Box::new(move |sent, _| {
            count += u64::from(sent.from == End::Client && sent.segment.payload > 0);
            if sent.from == End::Client && count == 15 { Fate::Late(Duration::from_micros(250)) } else { Fate::Pass }
        });
        world.open(100 * MSS);
        world.run_for(Duration::from_secs(5));
        assert_eq!(world.server.counters().segments_out_of_order, 2);
        assert_eq!(world.client.counters().segments_retransmitted, 0);
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut world = World::alike(&Profile::Linux612.config());
    world.open(0);
    for _ in 0..100 {
        world.client.write(2000);
        world.transmit(End::Client);
        world.run_for(ms(100));
    }
    assert_eq!(world.client.cwnd_segments(), 10.0);
    let mut unchecked =
        World::alike(&Config { window_validation: lasthop_tcp::WindowValidation::Off, ..Profile::Linux612.config() });
    unchecked.open(0);
    unchecked.client.write(2000);
    unchecked.transmit(End::Client);
    unchecked.run_for(ms(500));
    assert!(unchecked.client.cwnd_segments() > 10.0);
}

#[test]
fn after_a_pause_the_window_starts_again() {
    for restart in [true, false] {
        let mut world = World::alike(&Config { slow_start_after_idle: restart, ..Profile::Linux612.config() });
        world.open(300 * 1448);
        world.run_for(Duration::from_secs(5));
        let before = world.client.cwnd_segments();
        assert!(before > 40.0);
        world.client.write(1448);
        world.transmit(End::Client);
        assert_eq!(world.client.cwnd_segments(), if restart { 10.0 } else { before });
    }
}

#[test]
fn a_burst_can_be_limited() {
    let mut world = World::alike(&Config { max_burst: Switch::On(3), initial_window: 10, ..ns2() });
    world.open(100 * MSS);
    world.run_until(Time::ZERO + ms(150));
    assert_eq!(world.data().len(), 3);
}

#[test]
fn windows_shrink_from_the_flight_or_from_cwnd() {
    for (decrease_from, ssthresh) in [(DecreaseFrom::Cwnd, 8.0), (DecreaseFrom::FlightSize, 8.0)] {
        let mut world = World::alike(&Config { decrease_from, ..ns2() });
        world.path = drop_data(&[14]);
        world.open(200 * MSS);
        world.run_for(ms(590));
        assert_eq!(world.client.ssthresh_segments(), ssthresh, "limited transmit does not count: {decrease_from:?}");
    }
}

#[test]
fn numbers_may_wrap_in_the_middle_of_a_recovery() {
    for config in [ns2(), sack()] {
        for before_wrap in [1, 5_500, 14_000, 14_500, 20_000] {
            let mut world = World::new(&config, &config, [u32::MAX - before_wrap, u32::MAX - 1]);
            world.path = drop_data(&[14, 16]);
            world.open(100 * MSS);
            world.run_to_the_end();
            assert_eq!(world.server.delivered_bytes(), 100 * MSS);
            assert_eq!(world.client.counters().timeouts, 0);
        }
    }
}

/// Mathis et al. 1997: rate = MSS/RTT * 1.22/sqrt(p) with an ACK for each segment. The law has no timeouts and no
/// slow start; these change it by up to a quarter either way at 2 % to 0.1 % of loss.
#[test]
fn throughput_follows_the_inverse_root_of_loss() {
    for config in [ns2(), sack(), Config { growth: Growth::both(GrowthMode::PerByte), ..sack() }] {
        for p in [0.001, 0.005, 0.01] {
            let mut world = World::alike(&config);
            let mut random = Random(11);
            world.path = Box::new(
                move |sent, _| {
                    if sent.segment.payload > 0 && random.unit() < p { Fate::Drop } else { Fate::Pass }
                },
            );
            world.open(0);
            world.client.write_forever();
            world.run_for(Duration::from_secs(2000));
            let rate = world.server.delivered_bytes() as f64 / MSS as f64 / 2000.0;
            let law = 1.22 / (0.1 * p.sqrt());
            let ratio = rate / law;
            assert!(
                (0.75..1.15).contains(&ratio),
                "p {p}: {rate:.1} segments/s, by the law {law:.1}, sack {}",
                config.sack
            );
        }
    }
}

/// CUBIC of RFC 9438 is Reno-friendly at small windows; with long RTTs it is faster than Reno.
#[test]
fn cubic_is_as_fast_as_reno_on_short_paths_and_faster_on_long_ones() {
    let rate = |config: &Config, delay: Duration, p: f64| {
        let mut world = World::alike(config);
        world.delay = delay;
        let mut random = Random(5);
        world.path = Box::new(
            move |sent, _| {
                if sent.segment.payload > 0 && random.unit() < p { Fate::Drop } else { Fate::Pass }
            },
        );
        world.open(0);
        world.client.write_forever();
        world.run_for(Duration::from_secs(1000));
        world.server.delivered_bytes() as f64
    };
    let cubic = Profile::Linux612.config();
    let reno = Config { congestion_control: ns2().congestion_control, ..cubic.clone() };
    let short = rate(&cubic, ms(5), 0.01) / rate(&reno, ms(5), 0.01);
    assert!((0.8..1.3).contains(&short), "{short}");
    let long = rate(&cubic, ms(100), 0.0005) / rate(&reno, ms(100), 0.0005);
    assert!(long > 1.3, "{long}");
}
