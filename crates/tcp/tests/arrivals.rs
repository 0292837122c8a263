//! Unacceptable segments: RFC 9293 §3.10.7, RFC 5961, RFC 7323 §5, and the departures of Linux.

use crate::hand::{Hand, MSS, ack, acks, bytes, data, linux, ms, rfc, syn};
use lasthop_tcp::{ArrivalRules, Config, Endpoint, Failure, Flags, Segment, SeqNumber, State, Timestamps};
use lasthop_units::Time;

fn both() -> [Config; 2] {
    [rfc(), linux()]
}

fn reset(seq: u32) -> Segment {
    Segment { seq: SeqNumber(seq), flags: Flags::RST, ..Segment::default() }
}

fn fin(seq: u32) -> Segment {
    Segment { flags: Flags::FIN | Flags::ACK, ..bytes(seq, 0) }
}

#[test]
fn a_reset_in_place_ends_the_connection_and_one_beside_it_is_challenged() {
    // [RFC 5961 §3.2]
    for config in both() {
        let mut hand = Hand::server(&config);
        assert_eq!(acks(&hand.send(reset(500))), [1], "in the window: an ACK, to which a true peer resets in place");
        assert!(hand.end.is_established());
        assert_eq!(hand.send(reset(4_000_000_000)), [], "outside of it: nothing");
        assert_eq!(hand.send(reset(1)), []);
        assert_eq!((hand.end.is_closed(), hand.end.failure()), (true, Some(Failure::Reset)));
    }
}

#[test]
fn linux_takes_a_reset_at_the_end_of_its_held_data() {
    for (config, closed) in [(rfc(), false), (linux(), true)] {
        let mut hand = Hand::server(&config);
        hand.send(data(3));
        hand.send(reset(1 + 4 * MSS));
        assert_eq!(hand.end.is_closed(), closed);
    }
}

#[test]
fn linux_takes_a_reset_in_the_place_of_the_fin() {
    for (config, closed) in [(rfc(), false), (linux(), true)] {
        let mut hand = Hand::server(&config);
        hand.send(fin(1));
        assert_eq!(hand.end.state(), State::CloseWait);
        hand.send(reset(1));
        assert_eq!(hand.end.is_closed(), closed);
    }
}

#[test]
fn a_syn_on_an_open_connection_is_challenged() {
    // [RFC 5961 §4.2], wherever it lies.
    for config in both() {
        for seq in [0, 500, 3_000_000_000] {
            let mut hand = Hand::server(&config);
            assert_eq!(acks(&hand.send(Segment { seq: SeqNumber(seq), ..syn() })), [1]);
            assert!(hand.end.is_established());
        }
    }
}

#[test]
fn linux_answers_one_segment_without_data_in_half_a_second() {
    // [RFC 5961 §7]; net.ipv4.tcp_invalid_ratelimit
    let answers = |config: &Config| {
        let mut hand = Hand::server(config);
        let old = Segment { seq: SeqNumber(u32::MAX - 5000), ..ack(1) };
        (0..10).map(|_| hand.send_after(ms(100), old).len()).collect::<Vec<_>>()
    };
    assert_eq!(answers(&rfc()), [1; 10]);
    assert_eq!(answers(&linux()), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
}

#[test]
fn data_outside_of_the_window_is_always_answered() {
    let mut hand = Hand::server(&linux());
    hand.stream(0, 5);
    for _ in 0..5 {
        assert_eq!(acks(&hand.send(data(0))), [1 + 5 * MSS]);
    }
}

/// A server that has sent ten segments to a peer with a window of 8000 bytes, all acknowledged.
fn after_ten_segments(config: &Config) -> Hand {
    let mut hand = Hand::server_by(config, Segment { window_scale: Some(0), window: 8000, ..syn() });
    hand.end.write(10_000);
    for n in 1..=10 {
        hand.poll();
        hand.send(Segment { window: 8000, ..ack(1 + n * MSS) });
    }
    assert_eq!(hand.end.acked_bytes(), 10_000);
    hand
}

#[test]
fn an_ack_older_than_the_largest_window_is_challenged_and_its_data_not_taken() {
    // [RFC 5961 §5.2]: SND.UNA - MAX.SND.WND is the oldest ACK that counts.
    for config in both() {
        let mut hand = after_ten_segments(&config);
        let old_enough = hand.send(Segment { ack: SeqNumber(2000), ..data(0) });
        assert_eq!(acks(&old_enough), [1], "below 10001 - 8000");
        assert_eq!(hand.end.delivered_bytes(), 0);
        hand.send(Segment { ack: SeqNumber(2001), ..data(0) });
        assert_eq!(hand.end.delivered_bytes(), 1000, "an old ACK within the window does not hinder data");
    }
}

#[test]
fn ack_of_unsent_data_is_answered_except_by_linux_3_13() {
    // [RFC 9293 §3.10.7.4, fifth step]; Linux 6.18 does so too.
    let old = Config { arrival_rules: ArrivalRules::Linux313, ..linux() };
    for (config, answers) in [(rfc(), vec![1]), (linux(), vec![1]), (old, vec![])] {
        let mut hand = Hand::server(&config);
        assert_eq!(acks(&hand.send(Segment { ack: SeqNumber(9999), ..data(0) })), answers);
        assert_eq!(hand.end.delivered_bytes(), 0, "its data is not taken");
    }
}

#[test]
fn a_segment_without_ack_is_dropped_without_a_word() {
    for config in both() {
        let mut hand = Hand::server(&config);
        assert_eq!(hand.send(Segment { flags: Flags::NONE, ..data(0) }), []);
        assert_eq!(hand.end.delivered_bytes(), 0);
    }
}

#[test]
fn an_ack_that_data_overtook_counts_in_linux() {
    // The peer's pure ACK was sent before a data segment and arrives after it. RFC 9293 finds it below the window.
    for (config, acked) in [(rfc(), 0), (linux(), 1000)] {
        let mut hand = Hand::server(&Config { quick_acks: 0, ..config });
        hand.end.write(1000);
        hand.poll();
        assert_eq!(hand.send(data(0)), [], "not acknowledged yet, so that the last ACK is before it");
        hand.send(ack(1001));
        assert_eq!(hand.end.acked_bytes(), acked);
    }
}

/// The peer's segment with this timestamp.
fn stamped(value: u32, segment: Segment) -> Segment {
    Segment { timestamps: Some(Timestamps { value, echo: 0 }), ..segment }
}

fn with_timestamps(config: Config) -> Hand {
    Hand::server_by(&Config { timestamps: true, quick_acks: 16, ..config }, stamped(90, syn()))
}

fn echo(answers: &[Segment]) -> u32 {
    answers.last().unwrap().timestamps.unwrap().echo
}

#[test]
fn the_timestamp_of_the_oldest_segment_not_acknowledged_is_echoed() {
    // [RFC 7323 §4.3]: a segment above a gap does not renew it, one that fills the gap does.
    for config in both() {
        let mut hand = with_timestamps(config);
        assert_eq!(echo(&hand.send(stamped(200, data(0)))), 200);
        assert_eq!(echo(&hand.send(stamped(220, data(2)))), 200);
        assert_eq!(echo(&hand.send(stamped(230, data(1)))), 230);
    }
}

#[test]
fn linux_keeps_no_timestamp_of_a_segment_with_an_unacceptable_ack() {
    for (config, kept) in [(rfc(), 9000), (linux(), 201)] {
        let mut hand = with_timestamps(config);
        hand.send(Segment { ack: SeqNumber(5555), ..stamped(9000, fin(1)) });
        let answers = hand.send(stamped(if kept == 9000 { 9000 } else { 201 }, data(0)));
        assert_eq!(echo(&answers), kept);
    }
}

#[test]
fn linux_renews_the_echo_by_the_last_segment_that_comes_again() {
    // It ends where the last ACK stands, which is not below it (`tcp_sequence`, `tcp_replace_ts_recent`).
    for (config, renewed) in [(rfc(), 200), (linux(), 300)] {
        let mut hand = with_timestamps(config);
        hand.send(stamped(200, data(0)));
        assert_eq!(echo(&hand.send(stamped(300, data(0)))), renewed);
    }
}

#[test]
fn an_old_timestamp_is_answered_by_an_ack_unless_the_segment_is_empty_or_a_reset() {
    // [RFC 7323 §5.3, R1]
    for config in both() {
        let mut hand = with_timestamps(config);
        hand.send(stamped(200, data(0)));
        assert_eq!(acks(&hand.send(stamped(150, data(1)))), [1 + MSS]);
        assert_eq!((hand.end.delivered_bytes(), hand.end.counters().paws_rejected), (1000, 1));
        assert_eq!(hand.send(stamped(150, Segment { seq: SeqNumber(1 + MSS), ..ack(1) })), []);
        hand.send(stamped(150, reset(1 + MSS)));
        assert!(hand.end.is_closed(), "resets are exempt [RFC 7323 §5.2]");
    }
}

#[test]
fn after_a_zero_timestamp_any_is_taken() {
    let mut hand = Hand::listening(&Config { timestamps: true, ..linux() });
    hand.send(stamped(0, syn()));
    // As a signed number this one is below 0.
    hand.send(stamped(3_000_000_000, ack(1)));
    assert_eq!(hand.send(stamped(3_000_000_000, data(0))).len(), 1);
    assert_eq!(hand.end.delivered_bytes(), 1000);
}

#[test]
fn a_reset_of_a_connection_half_open_listens_again() {
    // [RFC 9293 §3.10.7.4, second step, SYN-RECEIVED]
    let mut hand = Hand::listening(&linux());
    hand.send(syn());
    hand.send(reset(1));
    assert_eq!((hand.end.state(), hand.end.failure()), (State::Listen, None));
    assert_eq!(hand.send(syn())[0].flags, Flags::SYN | Flags::ACK, "and takes the next");
}

#[test]
fn reset_of_its_syn_is_a_refusal() {
    let mut hand = Hand { now: Time::ZERO, end: Endpoint::new(&linux(), 0) };
    hand.end.connect(hand.now);
    hand.poll();
    hand.send(Segment { flags: Flags::RST | Flags::ACK, ack: SeqNumber(77), ..reset(0) });
    assert_eq!(hand.end.state(), State::SynSent, "not an answer to this SYN");
    hand.send(Segment { flags: Flags::RST | Flags::ACK, ack: SeqNumber(1), ..reset(0) });
    assert_eq!(hand.end.failure(), Some(Failure::Refused));
}

#[test]
fn a_fin_counts_once_the_data_before_it_is_there() {
    // [RFC 9293 §3.10.7.4, eighth step]
    for config in both() {
        let mut hand = Hand::server(&config);
        hand.end.pause_reading();
        hand.send(fin(1 + 2 * MSS));
        hand.send(data(1));
        assert_eq!((hand.end.state(), hand.end.is_peer_closed()), (State::Established, false));
        let answers = hand.send(data(0));
        assert_eq!((hand.end.state(), hand.end.is_peer_closed()), (State::CloseWait, true));
        assert_eq!(acks(&answers), [2 + 2 * MSS]);
        assert_eq!(hand.end.readable_bytes(), 2000);
    }
}

#[test]
fn a_half_closed_connection_receives() {
    for config in both() {
        let mut hand = Hand::server(&config);
        hand.end.close(hand.now);
        assert_eq!(hand.poll()[0].flags, Flags::FIN | Flags::ACK);
        hand.send(ack(2));
        assert_eq!(hand.end.state(), State::FinWait2);
        assert_eq!(acks(&hand.send(Segment { ack: SeqNumber(2), ..data(0) })), [1 + MSS]);
        assert_eq!(hand.end.delivered_bytes(), 1000);
    }
}

#[test]
fn data_after_both_directions_were_closed_is_answered_by_a_reset() {
    // [RFC 9293 §3.6.1]
    for acknowledged in [false, true] {
        let mut hand = Hand::server(&linux());
        hand.end.release(hand.now);
        hand.poll();
        if acknowledged {
            hand.send(ack(2));
        }
        let answers = hand.send(data(0));
        assert_eq!((answers.len(), answers[0].flags, answers[0].seq), (1, Flags::RST, SeqNumber(1)));
        assert_eq!((hand.end.is_closed(), hand.end.failure()), (true, Some(Failure::Unread)));
    }
}

#[test]
fn an_application_that_goes_with_data_unread_resets() {
    // [RFC 2525 §2.17]
    let mut hand = Hand::server(&linux());
    hand.end.pause_reading();
    hand.send(data(0));
    hand.end.release(hand.now);
    let answers = hand.poll();
    assert_eq!((answers.len(), answers[0].flags), (1, Flags::RST | Flags::ACK));
}

#[test]
fn a_connection_let_go_waits_a_minute_for_the_fin() {
    let mut hand = Hand::server(&linux());
    hand.end.release(hand.now);
    hand.poll();
    hand.send(ack(2));
    hand.wait(ms(59_999));
    assert_eq!(hand.end.state(), State::FinWait2);
    hand.wait(ms(1));
    assert!(hand.end.is_closed());
    let mut half = Hand::server(&linux());
    half.end.close(half.now);
    half.poll();
    half.send(ack(2));
    half.wait(ms(600_000));
    assert_eq!(half.end.state(), State::FinWait2, "with somebody to read it waits for ever");
}

#[test]
fn time_wait_acknowledges_the_fin_again_and_begins_anew() {
    // [RFC 9293 §3.10.7.4, eighth step, TIME-WAIT]
    let config = linux();
    let mut hand = Hand::server(&config);
    hand.end.close(hand.now);
    hand.poll();
    assert_eq!(acks(&hand.send(Segment { ack: SeqNumber(2), ..fin(1) })), [2]);
    assert_eq!(hand.end.state(), State::TimeWait);
    hand.wait(ms(900));
    assert_eq!(acks(&hand.send(Segment { ack: SeqNumber(2), ..fin(1) })), [2]);
    hand.wait(ms(900));
    assert_eq!(hand.end.state(), State::TimeWait);
    hand.wait(ms(200));
    assert!(hand.end.is_closed());
}

#[test]
fn closing_at_once_ends_in_time_wait_on_both_sides() {
    for config in both() {
        let mut hand = Hand::server(&config);
        hand.end.close(hand.now);
        hand.poll();
        // The peer's FIN does not acknowledge ours.
        assert_eq!(acks(&hand.send(fin(1))), [2]);
        assert_eq!(hand.end.state(), State::Closing);
        hand.send(Segment { seq: SeqNumber(2), ..ack(2) });
        assert_eq!(hand.end.state(), State::TimeWait);
    }
}

#[test]
fn a_syn_again_brings_the_syn_ack_again() {
    // [RFC 9293 §3.10.7.4, fourth step, SYN-RECEIVED]
    for config in both() {
        let mut hand = Hand::listening(&config);
        let first = hand.send(syn());
        let again = hand.send_after(ms(500), syn());
        assert_eq!(again, first);
    }
}

#[test]
fn syns_that_cross_open_a_connection() {
    // [RFC 9293 §3.5, figure 7]
    for config in both() {
        let mut hand = Hand { now: Time::ZERO, end: Endpoint::new(&config, 0) };
        hand.end.connect(hand.now);
        hand.poll();
        assert_eq!(hand.send(syn())[0].flags, Flags::SYN | Flags::ACK);
        let answers = hand.send(Segment { flags: Flags::SYN | Flags::ACK, ack: SeqNumber(1), ..syn() });
        assert!(hand.end.is_established());
        assert_eq!((answers.len(), answers[0].flags), (1, Flags::ACK));
    }
}
