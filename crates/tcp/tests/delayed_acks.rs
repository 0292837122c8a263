//! The times of acknowledgements: RFC 1122 §4.2.3.2, RFC 5681 §4.2, and Linux's quick and adaptive ACKs.

use crate::hand::{Hand, MSS, ack, acks, bytes, data, linux, ms};
use lasthop_registry::Amount;
use lasthop_tcp::{Config, DelayedAck, Flags, Profile, ReceiveWindow, Segment, SeqNumber};

/// Without quick ACKs.
fn slow() -> Config {
    Config { quick_acks: 0, ..linux() }
}

fn fixed() -> Config {
    Config { delayed_ack: DelayedAck::Fixed, ..slow() }
}

#[test]
fn sixteen_segments_at_the_start_are_acknowledged_at_once() {
    let mut hand = Hand::server(&linux());
    let each: Vec<u32> = (1..=16).map(|n| 1 + n * MSS).collect();
    assert_eq!(hand.stream(0, 16), each);
    assert_eq!(hand.stream(16, 4), [1 + 18 * MSS, 1 + 20 * MSS], "then every second");
}

#[test]
fn a_small_window_has_as_many_quick_acks_as_half_of_it_has_segments() {
    // 10,000 B of window and segments of 1000 B: 10000 / (2 * 1000) = 5.
    let window = ReceiveWindow::Fixed(Amount::Bytes(10_000));
    let mut hand = Hand::server(&Config { receive_window: window, ..linux() });
    assert_eq!(hand.stream(0, 5).len(), 5);
    assert_eq!(hand.stream(5, 2).len(), 1);
}

#[test]
fn a_pause_longer_than_the_rto_brings_quick_acks_back() {
    let mut hand = Hand::server(&linux());
    hand.stream(0, 20);
    assert_eq!(hand.stream(20, 2).len(), 1);
    let rto = hand.end.rto();
    hand.now += rto;
    hand.now += ms(1);
    assert_eq!(hand.stream(22, 3).len(), 3);
}

#[test]
fn a_duplicate_brings_quick_acks_back() {
    let mut hand = Hand::server(&linux());
    hand.stream(0, 20);
    assert_eq!(hand.stream(20, 2).len(), 1);
    assert_eq!(acks(&hand.send(data(5))), [1 + 22 * MSS]);
    assert_eq!(hand.stream(22, 5).len(), 5);
}

#[test]
fn a_lone_full_segment_waits_40_ms() {
    for config in [slow(), fixed()] {
        let mut hand = Hand::server(&config);
        assert_eq!(hand.send(data(0)), []);
        let sent = hand.wait(ms(1000));
        assert_eq!(sent.iter().map(|(at, s)| (*at, s.ack.0)).collect::<Vec<_>>(), [(40, 1 + MSS)]);
    }
}

#[test]
fn a_segment_that_is_read_and_ends_something_is_acknowledged_at_once() {
    let mut hand = Hand::server(&slow());
    assert_eq!(hand.stream(0, 2).len(), 1);
    let pushed = Segment { flags: Flags::ACK | Flags::PSH, ..data(2) };
    assert_eq!(hand.send(pushed).len(), 1, "PSH");
    assert_eq!(hand.send(bytes(1 + 3 * MSS, 300)).len(), 1, "less than a full segment");
    let mut plain = Hand::server(&fixed());
    plain.stream(0, 2);
    assert_eq!(plain.send(pushed), [], "RFC 5681 does not ask for it");
}

#[test]
fn the_delay_follows_the_gaps_between_segments() {
    // 40 ms; a gap of 30 ms is more than half of that and less than it: 40/2 + 30 = 50; then 50/2 + 30 = 55.
    let mut hand = Hand::server(&slow());
    let mut waits = Vec::new();
    for n in 0..6 {
        hand.send(data(n));
        if n % 2 == 0 {
            waits.push(hand.end.poll_timeout().since(hand.now).as_nanos() / 1_000_000);
        }
        hand.now += ms(30);
    }
    // Segment 0, then after gaps of 30 ms each: 40, (50) 55, (57.5) 58.75.
    assert_eq!(waits, [40, 55, 58]);
}

#[test]
fn a_missed_ack_doubles_the_delay_and_a_burst_shortens_it_again() {
    let mut hand = Hand::server(&slow());
    hand.send(data(0));
    assert_eq!(hand.wait(ms(300))[0].0, 40);
    hand.send(data(1));
    // 80 ms, but no more than the RTT of 100 ms; the pause of 300 ms changes nothing.
    assert_eq!(hand.wait(ms(300))[0].0, 80);
    hand.send(data(2));
    assert_eq!(hand.wait(ms(300))[0].0, 100, "160 ms, cut to the RTT");
    (3..15).for_each(|n| drop(hand.send(data(n))));
    hand.send(data(15));
    // Halved towards 20 ms + 20 ms at each segment without a gap.
    assert_eq!(hand.wait(ms(300)).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [40]);
}

#[test]
fn data_that_answers_carries_the_ack_and_ends_quick_acks() {
    let mut hand = Hand::server(&linux());
    assert_eq!(hand.send(data(0)).len(), 1, "quick");
    hand.end.write(500);
    assert_eq!(acks(&hand.poll()), [1 + MSS], "an answer within the delay: a conversation");
    assert_eq!(hand.send(data(1)), [], "not quick");
    hand.end.write(500);
    assert_eq!(acks(&hand.poll()), [1 + 2 * MSS], "carried by data");
    assert_eq!(hand.wait(ms(45)), [], "nothing is owed");
}

#[test]
fn a_conversation_ends_when_an_ack_waits_in_vain() {
    let mut hand = Hand::server(&linux());
    hand.send(data(0));
    hand.end.write(500);
    hand.poll();
    hand.send(Segment { seq: SeqNumber(1 + MSS), ..ack(501) });
    assert_eq!(hand.send(Segment { ack: SeqNumber(501), ..data(1) }), []);
    assert_eq!(acks(&hand.wait(ms(41)).iter().map(|s| s.1).collect::<Vec<_>>()), [1 + 2 * MSS]);
    assert_eq!(hand.send(Segment { ack: SeqNumber(501), ..data(2) }).len(), 1, "quick again");
}

#[test]
fn out_of_order_and_gap_filling_data_are_acknowledged_at_once() {
    for config in [slow(), fixed()] {
        let mut hand = Hand::server(&config);
        assert_eq!(hand.stream(0, 2), [1 + 2 * MSS]);
        assert_eq!(acks(&hand.send(data(3))), [1 + 2 * MSS]);
        assert_eq!(acks(&hand.send(data(4))), [1 + 2 * MSS]);
        assert_eq!(acks(&hand.send(data(2))), [1 + 5 * MSS]);
    }
}

#[test]
fn a_fin_after_data_waits_for_the_answer_of_the_application() {
    let fin = |seq| Segment { flags: Flags::FIN | Flags::ACK, ..bytes(seq, 0) };
    let mut hand = Hand::server(&linux());
    hand.stream(0, 1);
    assert_eq!(hand.send(fin(1 + MSS)), []);
    assert_eq!(hand.wait(ms(300)).iter().map(|(at, s)| (*at, s.ack.0)).collect::<Vec<_>>(), [(40, 2 + MSS)]);
    let mut answered = Hand::server(&linux());
    answered.stream(0, 1);
    answered.send(fin(1 + MSS));
    answered.end.close(answered.now);
    assert_eq!(answered.poll()[0].flags, Flags::FIN | Flags::ACK, "which carries the ACK");
    assert_eq!(Hand::server(&linux()).send(fin(1)).len(), 1, "without data before, at once");
    let full = Segment { flags: Flags::FIN | Flags::ACK, ..data(0) };
    assert_eq!(Hand::server(&linux()).send(full).len(), 1, "more than a full segment");
    let mut plain = Hand::server(&fixed());
    plain.stream(0, 2);
    assert_eq!(plain.send(fin(1 + 2 * MSS)).len(), 1);
}

#[test]
fn every_second_segment_of_the_size_that_comes() {
    // Segments of 700 bytes without PSH: two of a size in a row are taken for full ones.
    let mut hand = Hand::server(&slow());
    hand.stream(0, 4);
    let start = 1 + 4 * MSS;
    let answers: Vec<usize> = (0..6).map(|n| hand.send(bytes(start + n * 700, 700)).len()).collect();
    assert_eq!(answers, [1, 0, 1, 0, 1, 0], "the first is not full yet");
}

#[test]
fn the_plain_sink_of_ns2_acknowledges_each() {
    let config = Config { mss: linux().mss, ..Profile::Ns2.config() };
    let mut hand = Hand::server(&config);
    assert_eq!(hand.stream(0, 40).len(), 40);
}
