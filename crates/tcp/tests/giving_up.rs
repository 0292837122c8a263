//! A silent peer: RFC 9293 §3.8.3, RFC 5482, Linux's `tcp_retries2`.

use crate::hand::{self, Hand, ack, linux, ms};
use lasthop_registry::Switch;
use lasthop_tcp::{Config, Endpoint, Failure, Flags, Segment};
use lasthop_units::{Duration, Time};

fn unanswered(config: &Config) -> Hand {
    let mut hand = Hand::server(config);
    hand.end.write(1000);
    assert_eq!(hand.poll().len(), 1);
    hand
}

#[test]
fn after_924_seconds_of_retransmissions_linux_gives_up_at_the_next_timeout() {
    let mut hand = unanswered(&linux());
    let first = hand.end.poll_timeout().since(hand.now);
    let sent = hand.wait(first + Duration::from_millis(924_599));
    assert!(hand.end.is_established() && sent.len() > 12);
    hand.wait(Duration::from_secs(121));
    assert_eq!((hand.end.is_closed(), hand.end.failure()), (true, Some(Failure::TimedOut)));
    assert_eq!(hand.end.poll_timeout(), Time::NEVER);
}

#[test]
fn fewer_retries_take_less_time() {
    // 0.2 s (2^4 - 1) = 3 s after the first timeout.
    let mut hand = unanswered(&Config { retries: Switch::On(3), ..linux() });
    hand.wait(Duration::from_secs(8));
    assert_eq!(hand.end.failure(), Some(Failure::TimedOut));
    let mut patient = unanswered(&Config { retries: Switch::Off, ..linux() });
    patient.wait(Duration::from_secs(10_000));
    assert!(patient.end.is_established());
}

#[test]
fn an_ack_renews_patience() {
    let mut hand = Hand::server(&Config { retries: Switch::On(3), ..linux() });
    hand.end.write(1_000_000);
    hand.poll();
    for n in 1..20 {
        hand.wait(Duration::from_millis(2500));
        hand.send(ack(1 + n * hand::MSS));
    }
    assert!(hand.end.is_established(), "50 s of a very slow peer");
}

#[test]
fn the_user_timeout_ends_it_to_the_millisecond() {
    let user_timeout = Switch::On(ms(3000));
    let mut hand = unanswered(&Config { user_timeout, tail_loss_probe: false, ..linux() });
    let first = hand.end.poll_timeout().since(hand.now);
    hand.wait(first + ms(2999));
    assert!(hand.end.is_established());
    hand.wait(ms(1));
    assert_eq!(hand.end.failure(), Some(Failure::TimedOut));
}

#[test]
fn six_syns_again_and_no_more() {
    // [Linux, ip-sysctl, tcp_syn_retries]: with four linear timeouts the last is sent after 67 s, and the end is at 131 s.
    let mut hand = Hand { now: Time::ZERO, end: Endpoint::new(&linux(), 0) };
    hand.end.connect(hand.now);
    hand.poll();
    let again: Vec<u64> = hand.wait(Duration::from_secs(130)).iter().map(|(at, _)| *at / 1000).collect();
    assert_eq!(again, [1, 2, 3, 4, 5, 7, 11, 19, 35, 67]);
    hand.wait(Duration::from_secs(2));
    assert_eq!(hand.end.failure(), Some(Failure::TimedOut));
}

#[test]
fn ns2_never_gives_up() {
    let mut hand = Hand { now: Time::ZERO, end: Endpoint::new(&lasthop_tcp::Profile::Ns2.config(), 0) };
    hand.end.connect(hand.now);
    hand.poll();
    let again = hand.wait(Duration::from_secs(100_000));
    assert!(again.iter().all(|(_, s)| *s == Segment { flags: Flags::SYN, ..*s }) && again.len() > 1000);
}
