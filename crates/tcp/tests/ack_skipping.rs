//! ACK skipping [gopal2005]: the skipped ACKs, those never skipped, and the cost to the sender.

use crate::hand::{self, Hand, MSS, acks, bytes, data, ms};
use crate::world::{self, End, World};
use lasthop_registry::Amount;
use lasthop_tcp::{
    AckPolicy, Config, DelayedAck, EcnUse, Flags, Growth, GrowthMode, Profile, ReceiveWindow, Segment, Segments, Skip,
};
use lasthop_units::{Bytes, Duration, Ecn, Time};

fn skipping(skip: u32, start_after: u64) -> Config {
    let ack = AckPolicy::Skip(Skip { skip, start_after: Segments(start_after) });
    Config { ack, ..hand::linux() }
}

/// A receiver that is in steady state, and skips three ACKs.
fn steady() -> Hand {
    Hand::server(&skipping(3, 0))
}

#[test]
fn one_ack_stands_for_skip_plus_one_segments() {
    for skip in 0..4 {
        let mut hand = Hand::server(&skipping(skip, 0));
        let expected: Vec<u32> = (1..=24 / (skip + 1)).map(|n| 1 + n * (skip + 1) * MSS).collect();
        assert_eq!(hand.stream(0, 24), expected, "skip {skip}");
    }
}

#[test]
fn before_the_steady_state_each_segment_is_acknowledged() {
    let mut hand = Hand::server(&skipping(1, 10));
    assert_eq!(hand.stream(0, 10).len(), 10);
    assert_eq!(hand.stream(10, 10).len(), 5);
}

#[test]
fn a_tail_shorter_than_that_waits_for_the_delayed_ack_timer() {
    let mut hand = steady();
    assert_eq!(hand.stream(0, 6), [1 + 4 * MSS]);
    let sent: Vec<(u64, u32)> = hand.wait(ms(500)).iter().map(|(at, s)| (*at, s.ack.0)).collect();
    assert_eq!(sent, [(40, 1 + 6 * MSS)]);
}

#[test]
fn acks_of_out_of_order_duplicate_and_gap_filling_data_are_never_skipped() {
    let mut hand = steady();
    hand.stream(0, 4);
    for n in [5, 6, 7] {
        assert_eq!(acks(&hand.send(data(n))), [1 + 4 * MSS], "segment {n} above a gap");
    }
    assert_eq!(acks(&hand.send(data(4))), [1 + 8 * MSS], "the gap is filled");
    assert_eq!(acks(&hand.send(data(2))), [1 + 8 * MSS], "it came twice");
}

#[test]
fn a_segment_in_order_below_a_gap_is_never_skipped() {
    let mut hand = steady();
    hand.stream(0, 4);
    hand.send(data(8));
    assert_eq!(acks(&hand.send(data(4))), [1 + 5 * MSS]);
    assert_eq!(acks(&hand.send(data(5))), [1 + 6 * MSS]);
}

#[test]
fn the_end_of_a_burst_and_a_fin_are_never_skipped() {
    let mut hand = steady();
    hand.stream(0, 4);
    let pushed = Segment { flags: Flags::ACK | Flags::PSH, ..data(4) };
    assert_eq!(hand.send(pushed).len(), 1, "PSH");
    assert_eq!(hand.send(bytes(1 + 5 * MSS, 400)).len(), 1, "not full");
    let fin = Segment { flags: Flags::ACK | Flags::FIN, ..bytes(1 + 5 * MSS + 400, 0) };
    assert_eq!(hand.send(fin).len(), 1, "FIN");
}

#[test]
fn window_updates_are_never_skipped() {
    let window = ReceiveWindow::Fixed(Amount::Bytes(20_000));
    let mut hand = Hand::server(&Config { receive_window: window, ..skipping(3, 0) });
    hand.end.pause_reading();
    hand.stream(0, 20);
    hand.end.read(hand.now, 20_000);
    assert_eq!(hand.poll().len(), 1);
}

#[test]
fn a_window_nearly_used_up_ends_skipping() {
    // Less than four segments are left after the third of six: the sender may not be able to send a fourth.
    let window = ReceiveWindow::Fixed(Amount::Bytes(6_000));
    let mut hand = Hand::server(&Config { receive_window: window, ..skipping(3, 0) });
    assert_eq!(hand.stream(0, 3), [1 + 3 * MSS]);
}

#[test]
fn a_mark_and_its_end_are_never_skipped() {
    let config = Config { ecn: EcnUse::On, ..skipping(3, 0) };
    let syn = Segment { flags: Flags::SYN | Flags::ECE | Flags::CWR, ..hand::syn() };
    let mut hand = Hand::server_by(&config, syn);
    assert_eq!(hand.stream(0, 4).len(), 1);
    let marked = hand.send(Segment { ecn: Ecn::Ce, ..data(4) });
    assert_eq!((marked.len(), marked[0].flags), (1, Flags::ACK | Flags::ECE));
    let answered = hand.send(Segment { flags: Flags::ACK | Flags::CWR, ..data(5) });
    assert_eq!((answered.len(), answered[0].flags), (1, Flags::ACK));
}

/// Two ends of Linux 2.6 with NewReno and segments of 1000 bytes, the receiver skipping.
fn world(skip: u32, slow_start: GrowthMode, avoidance: GrowthMode) -> World {
    let base = Config {
        mss: Some(Bytes(1000)),
        congestion_control: Profile::Ns2.config().congestion_control,
        delayed_ack: DelayedAck::Fixed,
        quick_acks: 0,
        initial_window: 4,
        growth: Growth { slow_start, avoidance },
        ..Profile::Linux26.config()
    };
    let ack = AckPolicy::Skip(Skip { skip, start_after: Segments(0) });
    let mut world = World::new(&base, &Config { ack, ..base.clone() }, [1, 2]);
    world.open(100_000_000);
    world
}

/// Time to double from 8 to 64 segments, in round trips of 100 ms.
fn rounds_to_64(skip: u32, growth: GrowthMode) -> f64 {
    let mut world = world(skip, growth, growth);
    let mut began = None;
    while world.client.cwnd_segments() < 64.0 {
        assert!(world.step(Time::NEVER));
        if world.client.cwnd_segments() >= 8.0 {
            began.get_or_insert(world.now);
        }
    }
    world.now.since(began.unwrap()).as_secs_f64() / 0.1
}

#[test]
fn skipping_slows_slow_start_where_acks_are_counted() {
    // log2(8) = 3 round trips with an ACK a segment; with one for two, log1.5(8) = 5.1; for four, log1.25(8) = 9.3.
    let rounds = |skip| rounds_to_64(skip, GrowthMode::PerAck);
    assert!((2.5..=3.5).contains(&rounds(0)), "{}", rounds(0));
    assert!((4.5..=6.0).contains(&rounds(1)), "{}", rounds(1));
    assert!((8.0..=11.0).contains(&rounds(3)), "{}", rounds(3));
}

#[test]
fn skipping_does_not_slow_slow_start_where_bytes_are_counted() {
    let plain = rounds_to_64(0, GrowthMode::PerByte);
    let skipped = rounds_to_64(3, GrowthMode::PerByte);
    assert!((skipped - plain).abs() <= 1.0, "{plain} {skipped}");
}

/// Segments by which the window grows in congestion avoidance from 20 on, a loss before, in twenty round trips.
fn growth_in_avoidance(skip: u32, slow_start: GrowthMode, avoidance: GrowthMode) -> f64 {
    let mut world = world(skip, slow_start, avoidance);
    let mut dropped = false;
    world.path = Box::new(move |sent, n| {
        let drop = sent.from == End::Client && sent.segment.payload > 0 && n > 60 && !dropped;
        dropped |= drop;
        if drop { world::Fate::Drop } else { world::Fate::Pass }
    });
    while world.client.counters().fast_retransmits == 0 {
        assert!(world.step(Time::NEVER));
    }
    world.run_for(Duration::from_millis(500));
    let before = world.client.cwnd_segments();
    world.run_for(Duration::from_secs(2));
    world.client.cwnd_segments() - before
}

#[test]
fn growth_decides_apart_for_each_phase_whether_skipping_slows_it() {
    use GrowthMode::{PerAck, PerByte};
    // An ACK for four segments grows the window by 1/4 a round trip where ACKs are counted, else by 1.
    for slow_start in [PerAck, PerByte] {
        let by_acks = growth_in_avoidance(3, slow_start, PerAck);
        let by_bytes = growth_in_avoidance(3, slow_start, PerByte);
        assert!((4.0..=6.5).contains(&by_acks), "{slow_start:?} {by_acks}");
        assert!((17.0..=21.0).contains(&by_bytes), "{slow_start:?} {by_bytes}");
    }
}

#[test]
fn a_short_flow_loses_nothing_but_time() {
    for skip in [0, 1, 3, 10] {
        let mut world = world(skip, GrowthMode::PerAck, GrowthMode::PerAck);
        world.path = world::drop_data(&[5, 17]);
        world.run_for(Duration::from_secs(20));
        assert_eq!(world.client.counters().timeouts, 0, "skip {skip}");
        assert!(world.server.delivered_bytes() > 100_000, "skip {skip}");
    }
}
