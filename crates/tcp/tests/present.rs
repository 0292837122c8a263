//! An endpoint has no clock: its caller must not turn the time back.

use crate::hand::{Hand, ack, linux};
use lasthop_units::{Duration, Time};

#[test]
#[should_panic(expected = "time went back")]
fn a_segment_from_before_the_last_call_is_refused() {
    let mut hand = Hand::server(&linux());
    hand.end.write(1000);
    hand.poll();
    hand.wait(Duration::from_millis(10));
    hand.end.handle_timeout(hand.now);
    let earlier = Time::ZERO + (hand.now.since(Time::ZERO) - Duration::from_millis(1));
    hand.end.handle_segment(earlier, &ack(1));
}

#[test]
#[should_panic(expected = "time went back")]
fn a_poll_from_before_the_last_call_is_refused() {
    let mut hand = Hand::server(&linux());
    hand.wait(Duration::from_millis(10));
    hand.end.handle_timeout(hand.now);
    hand.end.poll_transmit(Time::ZERO);
}
