//! SACK blocks and duplicates: RFC 2018 §4, RFC 2883.

use crate::hand::{self, Hand, MSS, ack, acks, blocks, bytes, data, linux};
use lasthop_tcp::{Config, Segment, Timestamps};

fn at(n: u32) -> u32 {
    1 + n * MSS
}

#[test]
fn the_newest_block_comes_first_and_at_most_four_go() {
    let mut hand = Hand::server(&linux());
    for n in [1, 3, 5, 7] {
        hand.send(data(n));
    }
    let answer = hand.send(data(9));
    let block = |n| (at(n), at(n + 1));
    assert_eq!(blocks(&answer[0]), [block(9), block(7), block(5), block(3)]);
}

#[test]
fn beside_timestamps_there_is_room_for_three() {
    let stamped = |segment: Segment| Segment { timestamps: Some(Timestamps { value: 200, echo: 0 }), ..segment };
    let mut hand = Hand::server_by(&Config { timestamps: true, ..linux() }, stamped(hand::syn()));
    for n in [1, 3, 5] {
        hand.send(stamped(data(n)));
    }
    let answer = hand.send(stamped(data(7)));
    assert_eq!(blocks(&answer[0]).len(), 3);
    assert_eq!(answer[0].header_bytes(), 60, "the longest header there is");
}

#[test]
fn a_segment_that_comes_again_is_reported_below_the_acknowledgement() {
    // [RFC 2883 §4.1, example 1]
    let mut hand = Hand::server(&linux());
    hand.stream(0, 3);
    let answer = hand.send(data(1));
    assert_eq!((acks(&answer), blocks(&answer[0])), (vec![at(3)], vec![(at(1), at(2))]));
}

#[test]
fn a_report_goes_out_once() {
    // [RFC 2883 §4: "each duplicate contiguous sequence is reported in at most one D-SACK block"]
    let mut hand = Hand::server(&linux());
    hand.stream(0, 3);
    hand.send(data(1));
    assert_eq!(blocks(&hand.send(data(5))[0]), [(at(5), at(6))]);
}

#[test]
fn duplicate_is_reported_before_the_block_that_holds_it() {
    // [RFC 2883 §4.1.2, the second block is the larger one that contains the first]
    let mut hand = Hand::server(&linux());
    hand.send(data(2));
    hand.send(data(3));
    hand.send(data(6));
    let answer = hand.send(data(3));
    assert_eq!(blocks(&answer[0]), [(at(3), at(4)), (at(2), at(4)), (at(6), at(7))]);
}

#[test]
fn a_part_that_comes_again_is_reported_as_that_part() {
    let mut hand = Hand::server(&linux());
    hand.stream(0, 1);
    // 500 bytes of the first segment again, and 500 that are new
    let answer = hand.send(bytes(501, 1000));
    assert_eq!((acks(&answer), blocks(&answer[0])), (vec![1501], vec![(501, 1001)]));
    hand.send(bytes(3001, 500));
    let answer = hand.send(bytes(3251, 1000));
    assert_eq!(blocks(&answer[0]), [(3251, 3501), (3001, 4251)]);
}

#[test]
fn a_gap_filled_with_too_much_reports_the_surplus() {
    let mut hand = Hand::server(&linux());
    hand.send(data(1));
    let answer = hand.send(bytes(1, 1500));
    assert_eq!((acks(&answer), blocks(&answer[0])), (vec![at(2)], vec![(1001, 1501)]));
}

#[test]
fn a_segment_far_below_the_window_is_reported_too() {
    let mut hand = Hand::server(&linux());
    hand.stream(0, 30);
    let answer = hand.send(data(0));
    assert_eq!((acks(&answer), blocks(&answer[0])), (vec![at(30)], vec![(at(0), at(1))]));
}

#[test]
fn without_the_switch_or_without_sack_nothing_is_reported() {
    for config in [Config { dsack: false, ..linux() }, Config { sack: false, ..linux() }] {
        let mut hand = Hand::server(&config);
        hand.stream(0, 3);
        let answer = hand.send(data(1));
        assert_eq!((acks(&answer), blocks(&answer[0])), (vec![at(3)], vec![]));
    }
    let mut hand = Hand::server(&linux());
    assert_eq!(hand.send(ack(1)), [], "an ACK again is not a duplicate of anything");
}
