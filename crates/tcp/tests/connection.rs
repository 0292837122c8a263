//! Opening, options, flow control and closing.

use crate::hand::{self, Hand};
use crate::world::{self, End, Fate, World};
use lasthop_registry::{Amount, Switch};
use lasthop_tcp::{Config, Endpoint, Flags, Profile, ReceiveWindow, Segment, SeqNumber, State};
use lasthop_units::{Bytes, Duration, Time};

fn linux() -> Config {
    Profile::Linux612.config()
}

#[test]
fn three_segments_open_a_connection() {
    let mut world = World::alike(&linux());
    world.open(0);
    world.run_for(Duration::from_secs(1));
    let flags: Vec<Flags> = world.log.iter().map(|sent| sent.segment.flags).collect();
    assert_eq!(flags, [Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK]);
    assert!(world.client.is_established() && world.server.is_established());
    assert_eq!(world.client.srtt(), Some(Duration::from_millis(100)));
    assert_eq!(world.client.poll_timeout(), Time::NEVER);
}

#[test]
fn options_are_used_only_if_both_offer_them() {
    let plain = Config { sack: false, timestamps: false, window_scaling: false, ..linux() };
    for (client, server) in [(linux(), plain.clone()), (plain, linux())] {
        let mut world = World::new(&client, &server, [1, 2]);
        world.path = world::drop_data(&[3]);
        world.open(100_000);
        world.run_for(Duration::from_secs(20));
        assert_eq!(world.server.delivered_bytes(), 100_000);
        let later = world.log.iter().filter(|sent| !sent.segment.flags.contains(Flags::SYN));
        assert!(later.clone().all(|s| s.segment.timestamps.is_none() && s.segment.sack.is_empty()));
        let syn_ack = world.log[1].segment;
        assert!(!syn_ack.sack_permitted && syn_ack.window_scale.is_none() && syn_ack.timestamps.is_none());
    }
}

#[test]
fn packets_have_the_configured_size_with_all_options() {
    for profile in [Profile::Ns2, Profile::Linux26, Profile::Linux612, Profile::Linux73] {
        let mut world = World::alike(&profile.config());
        world.open(1_000_000);
        world.run_for(Duration::from_millis(500));
        let full = world.log.iter().find(|sent| sent.segment.payload > 0).unwrap().segment;
        assert_eq!(full.ip_bytes(), 1500, "{profile:?}");
        let ack = world.log.iter().rfind(|sent| sent.from == End::Server).unwrap().segment;
        let with_options = match profile {
            Profile::Ns2 => 40,
            // of accurate ECN: 11 B, padded
            Profile::Linux73 => 64,
            _ => 52,
        };
        assert_eq!(ack.ip_bytes(), with_options, "{profile:?}");
    }
}

#[test]
fn the_smaller_segment_size_holds() {
    let small = Config { mss: Some(Bytes(500)), ..linux() };
    for (client, server) in [(linux(), small.clone()), (small, linux())] {
        let mut world = World::new(&client, &server, [1, 2]);
        world.open(10_000);
        world.run_for(Duration::from_secs(5));
        assert!(world.data().iter().all(|segment| segment.2 == 500));
        assert_eq!(world.server.delivered_bytes(), 10_000);
    }
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_rto_and_again_after_twice_that() {
    let mut world = World::alike(&Config { syn_linear_timeouts: None, ..linux() });
    world.path = Box::new(|sent, n| if sent.from == End::Client && n < 2 { Fate::Drop } else { Fate::Pass });
    world.open(10);
    world.run_for(Duration::from_secs(10));
    let syns: Vec<f64> =
        world.log.iter().filter(|s| s.segment.flags == Flags::SYN).map(|s| s.at.as_secs_f64()).collect();
    // Up to a tick less, as a timer counts from the tick before.
    assert_eq!(syns.len(), 3);
    assert!((0.999..=1.0).contains(&syns[1]) && (1.999..=2.0).contains(&(syns[2] - syns[1])), "{syns:?}");
    assert_eq!(world.server.delivered_bytes(), 10);
    assert_eq!(world.client.cwnd_segments(), 10.0, "ten bytes do not use the window");
}

#[test]
fn a_lost_syn_ack_is_sent_again() {
    let mut world = World::alike(&linux());
    world.path = Box::new(|sent, n| if sent.from == End::Server && n == 0 { Fate::Drop } else { Fate::Pass });
    world.open(10);
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.server.delivered_bytes(), 10);
}

#[test]
fn both_may_open_at_once() {
    let mut world = World::alike(&linux());
    world.client.connect(Time::ZERO);
    world.server.connect(Time::ZERO);
    world.client.write(5000);
    world.server.write(7000);
    world.transmit(End::Client);
    world.transmit(End::Server);
    world.run_for(Duration::from_secs(5));
    assert!(world.client.is_established() && world.server.is_established());
    assert_eq!((world.server.delivered_bytes(), world.client.delivered_bytes()), (5000, 7000));
}

#[test]
fn nobody_listening_is_answered_by_a_reset() {
    let mut world = World::alike(&linux());
    world.client.connect(Time::ZERO);
    world.transmit(End::Client);
    world.run_for(Duration::from_secs(1));
    assert!(world.log[1].segment.flags.contains(Flags::RST));
    assert!(world.client.is_closed());
}

#[test]
fn a_fin_in_each_direction_ends_the_connection() {
    let mut world = World::alike(&linux());
    world.open(5000);
    world.run_to_the_end();
    assert!(world.client.is_closed() && world.server.is_closed());
    assert_eq!(world.server.delivered_bytes(), 5000);
    assert_eq!(world.client.acked_bytes(), 5000);
    let fins = world.log.iter().filter(|sent| sent.segment.flags.contains(Flags::FIN)).count();
    assert_eq!(fins, 2);
}

#[test]
fn the_side_that_closes_first_waits() {
    let mut world = World::alike(&linux());
    world.open(10);
    world.run_for(Duration::from_secs(1));
    world.client.close(world.now);
    world.transmit(End::Client);
    // A round trip, and 40 ms in which the server might have answered
    world.run_for(Duration::from_millis(150));
    assert_eq!((world.client.state(), world.server.state()), (State::FinWait2, State::CloseWait));
    world.server.write(3000);
    world.server.close(world.now);
    world.transmit(End::Server);
    world.run_for(Duration::from_millis(120));
    assert_eq!((world.client.state(), world.server.state()), (State::TimeWait, State::Closed));
    assert_eq!(world.client.delivered_bytes(), 3000, "the other direction goes on after a FIN");
    world.run_for(Duration::from_secs(1));
    assert!(world.client.is_closed());
}

#[test]
fn both_may_close_at_once() {
    let mut world = World::alike(&linux());
    world.open(10);
    world.run_for(Duration::from_secs(1));
    world.client.close(world.now);
    world.server.close(world.now);
    world.transmit(End::Client);
    world.transmit(End::Server);
    world.run_for(Duration::from_millis(60));
    assert_eq!((world.client.state(), world.server.state()), (State::Closing, State::Closing));
    world.run_for(Duration::from_secs(5));
    assert!(world.client.is_closed() && world.server.is_closed());
}

#[test]
fn an_abort_kills_both_ends() {
    let mut world = World::alike(&linux());
    world.open(100_000);
    world.run_for(Duration::from_millis(210));
    world.client.abort(world.now);
    world.transmit(End::Client);
    world.run_for(Duration::from_secs(5));
    assert!(world.client.is_closed() && world.server.is_closed());
}

#[test]
fn a_reset_that_is_not_in_place_only_asks() {
    let mut world = World::alike(&linux());
    world.open(0);
    world.run_for(Duration::from_secs(1));
    let out_of_place = Segment { seq: SeqNumber(1005), flags: Flags::RST, ..Segment::default() };
    world.server.handle_segment(world.now, &out_of_place);
    assert!(world.server.is_established());
    assert!(world.server.poll_transmit(world.now).unwrap().is_pure_ack());
    world.server.handle_segment(world.now, &Segment { seq: SeqNumber(1001), ..out_of_place });
    assert!(world.server.is_closed());
}

#[test]
fn an_old_timestamp_is_refused_even_inside_the_window() {
    let mut world = World::alike(&linux());
    world.open(5000);
    world.run_for(Duration::from_secs(1));
    let mut old = world.log.iter().find(|sent| sent.segment.payload > 0).unwrap().segment;
    old.seq = old.seq.plus(5000);
    world.server.handle_segment(world.now, &Segment { timestamps: None, ..old });
    assert_eq!(world.server.delivered_bytes(), 5000 + u64::from(old.payload));
    let delivered = world.server.delivered_bytes();
    old.seq = old.seq.plus(old.payload);
    world.client.write(50_000);
    world.transmit(End::Client);
    world.run_for(Duration::from_secs(1));
    world.server.handle_segment(world.now, &Segment { seq: old.seq.plus(100_000), ..old });
    assert_eq!(world.server.counters().paws_rejected, 1);
    assert!(world.server.delivered_bytes() >= delivered);
}

#[test]
fn the_window_is_obeyed_and_reopens() {
    let window = ReceiveWindow::Fixed(Amount::Bytes(20_000));
    let mut world = World::new(&linux(), &Config { receive_window: window, ..linux() }, [1, 2]);
    world.server.pause_reading();
    world.open(100_000);
    world.run_for(Duration::from_secs(30));
    assert_eq!(world.server.delivered_bytes(), 0);
    assert_eq!(world.client.acked_bytes(), 20_000);
    // 0.2, 0.4, 0.8 … s and no faster: about seven in 30 s
    let probes = world.client.counters().window_probes;
    assert!((4..=8).contains(&probes), "{probes}");
    assert_eq!(world.client.counters().timeouts, 0);
    world.server.resume_reading();
    world.transmit(End::Server);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.server.delivered_bytes(), 100_000);
}

#[test]
fn a_lost_window_update_is_found_by_a_probe() {
    let window = ReceiveWindow::Fixed(Amount::Bytes(20_000));
    let mut world = World::new(&linux(), &Config { receive_window: window, ..linux() }, [1, 2]);
    world.server.pause_reading();
    world.open(30_000);
    world.run_for(Duration::from_secs(3));
    world.server.resume_reading();
    // The update is polled and lost.
    assert!(world.server.poll_transmit(world.now).is_some());
    world.run_for(Duration::from_secs(30));
    assert_eq!(world.server.delivered_bytes(), 30_000);
}

#[test]
fn a_window_below_one_segment_still_carries_data() {
    let window = ReceiveWindow::Fixed(Amount::Bytes(300));
    let mut world = World::new(&linux(), &Config { receive_window: window, ..linux() }, [1, 2]);
    world.open(3000);
    world.run_to_the_end();
    assert_eq!(world.server.delivered_bytes(), 3000);
    assert!(world.data().iter().all(|segment| segment.2 <= 300));
}

#[test]
fn a_window_in_packets_limits_the_flight() {
    let window = ReceiveWindow::Fixed(Amount::Packets(8));
    let mut world = World::new(&linux(), &Config { receive_window: window, ..linux() }, [1, 2]);
    world.open(10_000_000);
    for _ in 0..5000 {
        world.step(Time::NEVER);
        assert!(world.client.flight_size_bytes() <= 8 * 1448);
    }
    assert_eq!(world.client.flight_size_bytes(), 8 * 1448);
    // Slow start goes on while 8 segments are half the window or more.
    assert!(world.client.cwnd_segments() <= 18.0, "{}", world.client.cwnd_segments());
}

#[test]
fn delayed_acks_come_for_every_second_segment_or_after_a_time() {
    let plain = Config { quick_acks: 0, delayed_ack: lasthop_tcp::DelayedAck::Fixed, ..linux() };
    let mut world = World::new(&linux(), &plain, [1, 2]);
    world.open(5 * 1448);
    world.run_for(Duration::from_secs(1));
    // SYN+ACK, then for 2, 2 and, 40 ms later, 1
    let acks: Vec<(f64, u32)> =
        world.since(0, End::Server).iter().map(|s| (s.at.as_secs_f64(), s.segment.ack.0)).collect();
    assert_eq!(acks[1..], [(0.15, 2 + 2 * 1448), (0.15, 2 + 4 * 1448), (0.19, 2 + 5 * 1448)]);
}

#[test]
fn a_device_that_takes_one_segment_at_a_time_loses_nothing() {
    let mut client = Endpoint::new(&linux(), 1);
    let mut server = Endpoint::new(&linux(), 2);
    server.listen();
    client.connect(Time::ZERO);
    client.write(200_000);
    client.close(Time::ZERO);
    let mut now = Time::ZERO;
    for _ in 0..2000 {
        now += Duration::from_micros(500);
        for (from, to) in [(0, 1), (1, 0)] {
            let ends = [&mut client, &mut server];
            ends[from].handle_timeout(now);
            if let Some(segment) = ends[from].poll_transmit(now) {
                ends[to].handle_segment(now, &segment);
            }
        }
    }
    assert_eq!(server.delivered_bytes(), 200_000);
    assert_eq!(client.state(), State::FinWait2);
}

#[test]
fn control_segments_go_out_without_room_for_data_and_withheld_acks_stay_withheld() {
    let mut world = World::new(&linux(), &Config { quick_acks: 0, ..linux() }, [1, 2]);
    world.open(0);
    world.run_for(Duration::from_secs(1));
    let data = |n: u32| Segment {
        seq: SeqNumber(2 + n * 1448),
        ack: SeqNumber(3),
        flags: Flags::ACK,
        payload: 1448,
        ..Segment::default()
    };
    world.server.handle_segment(world.now, &data(0));
    assert_eq!(world.server.poll_control(world.now), None);
    assert_eq!(world.server.poll_timeout(), world.now + Duration::from_millis(40));
    world.server.handle_segment(world.now, &data(1));
    assert!(world.server.poll_control(world.now).unwrap().is_pure_ack());
    assert_eq!(world.server.poll_control(world.now), None);
}

/// The echo in the ACK of a segment repeated three seconds later: the clock then, less its clock at first.
fn echo_of_a_duplicate(config: &Config) -> u32 {
    let mut world = World::alike(config);
    world.open(5000);
    world.run_for(Duration::from_secs(1));
    let first = world.log.iter().find(|sent| sent.segment.payload > 0).unwrap().segment;
    let stamp = first.timestamps.unwrap();
    let later = lasthop_tcp::Timestamps { value: stamp.value + 3000, ..stamp };
    world.server.handle_segment(world.now, &Segment { timestamps: Some(later), ..first });
    let ack = world.server.poll_transmit(world.now).unwrap();
    assert!(ack.is_pure_ack());
    ack.timestamps.unwrap().echo - stamp.value
}

#[test]
fn a_duplicate_renews_the_echo_in_ns2_alone() {
    assert_eq!(echo_of_a_duplicate(&linux()), 0, "[RFC 7323 §4.3]: only acceptable segments do");
    assert_eq!(echo_of_a_duplicate(&lasthop_tcp::Profile::Ns2.config()), 3000);
}

#[test]
fn some_syns_may_be_sent_again_before_the_timeout_doubles() {
    // tcp_syn_linear_timeouts of Linux: 1 s four times, then 1, 2, 4 s; the retries count from then on.
    let config = Config { syn_linear_timeouts: Some(4), syn_retries: Switch::On(2), ..hand::linux() };
    let mut hand = Hand { now: Time::ZERO, end: Endpoint::new(&config, 0) };
    hand.end.connect(hand.now);
    hand.poll();
    let times: Vec<u64> = hand.wait(hand::ms(60_000)).iter().map(|(at, _)| *at / 1000).collect();
    assert_eq!(times, [1, 2, 3, 4, 5, 7]);
    assert!(hand.end.is_closed());
}
