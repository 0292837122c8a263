//! The receive buffer, the window offered, and its tuning: RFC 9293 §3.8.6, Linux.

use crate::hand::{self, Hand, MSS, data, linux, ms};
use crate::world::{End, World};
use lasthop_registry::Amount;
use lasthop_tcp::{ArrivalRules, Autotune, Config, ReceiveWindow, Segment};
use lasthop_units::{Bytes, Duration, Time};

/// A buffer of ten segments. Scaling is off, so that the field is the window.
fn ten_segments() -> Config {
    let receive_window = ReceiveWindow::Fixed(Amount::Bytes(10_000));
    Config { receive_window, window_scaling: false, quick_acks: 0, ..linux() }
}

/// A server whose application reads when told to.
fn lazy(config: &Config) -> Hand {
    let mut hand = Hand::server(config);
    hand.end.pause_reading();
    hand
}

fn windows(segments: &[Segment]) -> Vec<u16> {
    segments.iter().map(|segment| segment.window).collect()
}

#[test]
fn unread_data_shrinks_the_window_and_its_edge_never_moves_back() {
    let mut hand = lazy(&ten_segments());
    let mut edge = 10_001;
    for n in 0..10 {
        for answer in hand.send(data(n)) {
            assert!(answer.ack.0 + u32::from(answer.window) >= edge, "the edge moves back");
            edge = answer.ack.0 + u32::from(answer.window);
        }
    }
    assert_eq!((hand.end.readable_bytes(), hand.end.delivered_bytes()), (10_000, 0));
    assert_eq!(edge, 10_001);
}

#[test]
fn read_takes_all_available_data() {
    let mut hand = lazy(&ten_segments());
    hand.stream(0, 3);
    assert_eq!(hand.end.read(hand.now, 500), 500);
    assert_eq!((hand.end.readable_bytes(), hand.end.delivered_bytes()), (2500, 500));
    assert_eq!(hand.end.read(hand.now, 10_000), 2500);
    assert_eq!(hand.end.read(hand.now, 1), 0);
}

#[test]
fn no_silly_windows_are_offered() {
    // [RFC 9293 §3.8.6.2.2]: the edge waits for a full segment, or half the buffer.
    let mut hand = lazy(&ten_segments());
    hand.stream(0, 10);
    hand.wait(ms(100));
    assert_eq!(hand.end.read(hand.now, 999), 999);
    assert_eq!(hand.poll(), [], "less than a segment");
    hand.end.read(hand.now, 1);
    assert_eq!(windows(&hand.poll()), [1000]);
}

#[test]
fn an_update_goes_out_when_the_window_has_doubled() {
    let mut hand = lazy(&ten_segments());
    hand.stream(0, 10);
    hand.wait(ms(100));
    let mut updates = Vec::new();
    for _ in 0..10 {
        hand.end.read(hand.now, 1000);
        updates.extend(windows(&hand.poll()));
    }
    // 0 to 1 segment, 2, 4, 8: a window above half the buffer is large enough.
    assert_eq!(updates, [1000, 2000, 4000, 8000]);
}

#[test]
fn data_beyond_the_window_is_cut_or_in_linux_not_taken() {
    for (arrival_rules, taken) in [(ArrivalRules::Rfc9293, 10_000), (ArrivalRules::Linux, 9_000)] {
        let mut hand = lazy(&Config { arrival_rules, ..ten_segments() });
        hand.stream(0, 9);
        hand.send(Segment { payload: 3000, ..data(9) });
        hand.wait(ms(100));
        assert_eq!(hand.end.readable_bytes(), taken);
        let answer = hand.send(data(10));
        assert_eq!(u64::from(answer[0].ack.0), 1 + taken, "wholly beyond");
        assert_eq!(u64::from(answer[0].window), 10_000 - taken);
    }
}

#[test]
fn a_large_packet_is_taken_in_whole_by_linux_if_all_is_read() {
    // Merged on arrival it may go beyond the window, which then is 0.
    let mut hand = lazy(&ten_segments());
    hand.send(Segment { payload: 12_000, ..data(0) });
    let answer: Vec<Segment> = hand.wait(ms(100)).into_iter().map(|(_, segment)| segment).collect();
    assert_eq!((hand.end.readable_bytes(), answer[0].ack.0, answer[0].window), (12_000, 12_001, 0));
}

#[test]
fn the_scale_fits_the_largest_window() {
    let scale = |receive_window| {
        let mut hand = Hand::listening(&Config { receive_window, ..linux() });
        hand.send(hand::syn())[0].window_scale
    };
    assert_eq!(scale(ReceiveWindow::Fixed(Amount::Bytes(65_535))), Some(0));
    assert_eq!(scale(ReceiveWindow::Fixed(Amount::Bytes(65_536))), Some(1));
    assert_eq!(scale(ReceiveWindow::Fixed(Amount::Unlimited)), Some(14));
    // As Linux with tcp_rmem of 6 MiB.
    assert_eq!(scale(ReceiveWindow::Autotune(Autotune::default())), Some(7));
}

#[test]
fn a_tuned_window_begins_with_whole_segments_below_64_kib() {
    let config = Config { receive_window: ReceiveWindow::Autotune(Autotune::default()), ..linux() };
    let mut hand = Hand::listening(&config);
    assert_eq!(hand.send(hand::syn())[0].window, 65_000);
    let mut hand = Hand { now: Time::ZERO, end: lasthop_tcp::Endpoint::new(&config, 0) };
    hand.end.connect(Time::ZERO);
    assert_eq!(hand.poll()[0].window, 65_000);
    // 44 * 1460 on a SYN, which has room for timestamps or not; 45 * 1448 once they are agreed upon
    let config = Config { mss: None, timestamps: true, ..config };
    let mut hand = Hand { now: Time::ZERO, end: lasthop_tcp::Endpoint::new(&config, 0) };
    hand.end.connect(Time::ZERO);
    assert_eq!(hand.poll()[0].window, 64_240);
    let stamps = Some(lasthop_tcp::Timestamps { value: 1, echo: 0 });
    let first = |syn: Segment| Hand::listening(&config).send(syn)[0].window;
    assert_eq!(first(Segment { timestamps: stamps, ..hand::syn() }), 65_160);
    assert_eq!(first(hand::syn()), 64_240);
}

/// A bulk transfer over 100 ms and 100 Mbit/s; the largest window offered, and the bytes received in 10 s.
fn transfer(receive_window: ReceiveWindow, timestamps: bool, reads: bool) -> (u64, u64) {
    let base = lasthop_tcp::Profile::Linux612.config();
    let server = Config { receive_window, timestamps, ..base.clone() };
    let mut world = World::new(&base, &server, [1, 2]);
    world.service = Duration::from_micros(120);
    if !reads {
        world.server.pause_reading();
    }
    world.open(1 << 28);
    world.run_for(Duration::from_secs(10));
    let scale = world.log.iter().find(|s| s.from == End::Server).unwrap().segment.window_scale.unwrap();
    let offers = world.log.iter().skip(2).filter(|s| s.from == End::Server);
    let largest = offers.map(|s| u64::from(s.segment.window) << scale).max().unwrap();
    (largest, world.client.acked_bytes())
}

#[test]
fn a_tuned_window_does_not_hold_a_fast_sender_back() {
    let (_, unlimited) = transfer(ReceiveWindow::Fixed(Amount::Unlimited), true, true);
    for timestamps in [true, false] {
        let (largest, received) = transfer(ReceiveWindow::Autotune(Autotune::default()), timestamps, true);
        // 100 Mbit/s * 100 ms = 1.25 MB; the sender must be able to have that in flight.
        assert!(largest >= 1_250_000, "{largest}");
        // 1460 B of 2304 are payload, or 162/256 of 6 MiB; the field counts 128 B.
        assert!(largest <= 3_981_312 + 128, "{largest}");
        assert!(received as f64 > 0.9 * unlimited as f64, "{received} of {unlimited}");
    }
}

#[test]
fn a_tuned_window_stays_where_nobody_reads() {
    // A 6.18 kernel with `tcp_rmem` of 131072 offered 76,032 B at most, and took 85,628 B before the window was closed.
    let (largest, received) = transfer(ReceiveWindow::Autotune(Autotune::default()), false, false);
    assert_eq!(largest, 76_032);
    // There the peer filled the last bytes; here a sender keeps back less than a full segment, and fewer ACKs round up.
    assert!((85_628 - 2 * 1460..=85_628).contains(&received), "{received}");
}

#[test]
fn a_tuned_window_ends_at_the_share_of_its_largest_buffer_that_is_payload() {
    let tuned = Autotune { max: Bytes(400_000), ..Autotune::default() };
    let (largest, received) = transfer(ReceiveWindow::Autotune(tuned), true, true);
    // 1448 B of 2304 are 160/256, of 400,000 B 250,000; a segment is counted before it is read.
    assert!((245_000..=250_000).contains(&largest), "{largest}");
    // 250 kB a round trip of 100 ms for 10 s is 25 MB.
    assert!((18_750_000..=25_000_000).contains(&received), "{received}");
}

#[test]
fn unread_data_withholds_the_ack_until_read() {
    // More than a full segment, but the window's edge would not move: Linux leaves the ACK to the reader.
    let mut hand = lazy(&ten_segments());
    assert_eq!(hand.stream(0, 2), Vec::<u32>::new());
    hand.end.read(hand.now, 2000);
    assert_eq!(hand.poll()[0].ack.0, 1 + 2 * MSS);
}
