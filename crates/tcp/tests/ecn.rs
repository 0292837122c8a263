//! Explicit congestion notification at both ends: RFC 3168, RFC 8257, RFC 9768.

use crate::hand::{self, Hand, MSS, ack, data, linux, ms};
use crate::world::{self, End, World};
use lasthop_registry::{Parameter, Value};
use lasthop_tcp::congestion_control::Algorithm;
use lasthop_tcp::{Config, EcnUse, Flags, Segment, SeqNumber};
use lasthop_units::{Duration, Ecn, Time};

fn with(ecn: EcnUse) -> Config {
    Config { ecn, ..linux() }
}

fn dctcp() -> Config {
    let congestion_control = Algorithm::parse(&Value::text("dctcp"), "cc").unwrap();
    Config { congestion_control, ..with(EcnUse::Off) }
}

const ASKS: Flags = Flags::from_bits(0xc2);

/// An end to which the peer has opened with ECN.
fn server(config: &Config) -> Hand {
    Hand::server_by(config, Segment { flags: ASKS, ..hand::syn() })
}

/// Flags of both SYNs.
fn handshake(client: &Config, server: &Config) -> (Flags, Flags) {
    let mut world = World::new(client, server, [1, 2]);
    world.open(5000);
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.server.delivered_bytes(), 5000);
    (world.log[0].segment.flags, world.log[1].segment.flags)
}

#[test]
fn the_client_asks_by_ece_and_cwr_and_the_server_answers_by_ece() {
    // [RFC 3168 §6.1.1]
    let (syn, syn_ack) = (Flags::SYN, Flags::SYN | Flags::ACK);
    assert_eq!(handshake(&with(EcnUse::On), &with(EcnUse::Passive)), (ASKS, syn_ack | Flags::ECE));
    assert_eq!(handshake(&with(EcnUse::On), &with(EcnUse::Off)), (ASKS, syn_ack));
    assert_eq!(handshake(&with(EcnUse::Passive), &with(EcnUse::On)), (syn, syn_ack), "passive does not ask");
    assert_eq!(handshake(&dctcp(), &dctcp()), (ASKS, syn_ack | Flags::ECE), "a controller may need it");
}

#[test]
fn a_syn_sent_again_does_not_ask() {
    // [RFC 3168 §6.1.1.1]
    let mut hand = Hand { now: Time::ZERO, end: lasthop_tcp::Endpoint::new(&with(EcnUse::On), 0) };
    hand.end.connect(hand.now);
    assert_eq!(hand.poll()[0].flags, ASKS);
    assert_eq!(hand.wait(ms(1100))[0].1.flags, Flags::SYN);
}

#[test]
fn a_syn_for_accurate_ecn_asks_once_more() {
    // [RFC 9768 §3.1.4] The third one does not ask.
    let mut hand = Hand { now: Time::ZERO, end: lasthop_tcp::Endpoint::new(&with(EcnUse::Accurate), 0) };
    hand.end.connect(hand.now);
    let asks = Flags::SYN | Flags::AE | Flags::CWR | Flags::ECE;
    assert_eq!(hand.poll()[0].flags, asks);
    assert_eq!(hand.wait(ms(1100))[0].1.flags, asks);
    assert_eq!(hand.wait(ms(2100))[0].1.flags, Flags::SYN);
}

#[test]
fn new_data_may_be_marked_and_nothing_else() {
    // [RFC 3168 §6.1.1, §6.1.4, §6.1.5]; a retransmission is not ECT.
    let mut world = World::alike(&with(EcnUse::On));
    world.path = world::drop_data(&[3, 20]);
    world.open(100_000);
    world.run_to_the_end();
    let mut highest = 0;
    let (mut new, mut again) = (0, 0);
    for sent in &world.log {
        let start = sent.segment.seq.0;
        let is_new = sent.from == End::Client && sent.segment.payload > 0 && start > highest;
        assert_eq!(sent.segment.ecn, if is_new { Ecn::Ect0 } else { Ecn::NotEct }, "{sent:?}");
        new += u32::from(is_new);
        again += u32::from(sent.from == End::Client && sent.segment.payload > 0 && !is_new);
        highest = highest.max(if is_new { start } else { 0 });
    }
    assert_eq!(new, 100);
    assert!(again >= 2);
}

#[test]
fn without_agreement_nothing_may_be_marked() {
    let mut world = World::new(&with(EcnUse::On), &with(EcnUse::Off), [1, 2]);
    world.open(20_000);
    world.run_for(Duration::from_secs(1));
    assert!(world.log.iter().all(|sent| sent.segment.ecn == Ecn::NotEct));
}

#[test]
fn ece_goes_on_every_ack_until_cwr() {
    // [RFC 3168 §6.1.3]
    let mut hand = server(&with(EcnUse::Passive));
    let echo = |hand: &mut Hand, segment: Segment| {
        let answers = hand.send(segment);
        assert_eq!(answers.len(), 1);
        answers[0].flags.contains(Flags::ECE)
    };
    assert!(!echo(&mut hand, Segment { ecn: Ecn::Ect0, ..data(0) }));
    assert!(echo(&mut hand, Segment { ecn: Ecn::Ce, ..data(1) }));
    assert!(echo(&mut hand, Segment { ecn: Ecn::Ect0, ..data(2) }));
    assert!(!echo(&mut hand, Segment { ecn: Ecn::Ect0, flags: Flags::ACK | Flags::CWR, ..data(3) }));
    assert!(!echo(&mut hand, Segment { ecn: Ecn::Ect0, ..data(4) }));
}

#[test]
fn a_first_mark_and_its_answer_are_acknowledged_at_once() {
    let mut hand = server(&Config { quick_acks: 0, ..with(EcnUse::Passive) });
    hand.stream(0, 2);
    assert_eq!(hand.send(Segment { ecn: Ecn::Ce, ..data(2) }).len(), 1);
    hand.wait(ms(100));
    assert_eq!(hand.send(Segment { flags: Flags::ACK | Flags::CWR, ..data(3) }).len(), 1);
}

/// A path that marks the data segments of the client with these numbers, and delivers all.
fn marking(numbers: &'static [u64]) -> impl FnMut(&mut Segment) {
    let mut count = 0;
    move |segment| {
        if segment.payload > 0 {
            count += 1;
            if numbers.contains(&(count - 1)) && segment.ecn.is_capable() {
                segment.ecn = Ecn::Ce;
            }
        }
    }
}

/// A bulk sender with an RTT of 100 ms whose path marks.
fn marked_world(config: &Config, numbers: &'static [u64]) -> World {
    let mut world = World::alike(config);
    world.mark = Box::new(marking(numbers));
    world.open(1 << 30);
    world
}

#[test]
fn marks_shrink_the_window_once_per_window_with_one_cwr() {
    // [RFC 3168 §6.1.2]
    let mut world = marked_world(&with(EcnUse::On), &[20, 21, 25, 29]);
    while world.client.ssthresh_segments().is_infinite() {
        world.step(Time::NEVER);
    }
    let reduced = world.client.ssthresh_segments();
    let started = world.log.len();
    world.run_for(ms(90));
    assert_eq!(world.client.ssthresh_segments(), reduced, "four marks of one window");
    let cwr = world.since(started - 1, End::Client).iter().filter(|s| s.segment.flags.contains(Flags::CWR)).count();
    assert_eq!(cwr, 1);
    assert_eq!(world.client.counters().segments_retransmitted, 0);
    world.run_for(Duration::from_secs(1));
    assert!(world.client.cwnd_segments() > reduced, "and it grows again");
    let late = world.log.iter().rfind(|s| s.from == End::Server).unwrap();
    assert!(!late.segment.flags.contains(Flags::ECE), "the receiver has heard CWR");
}

#[test]
fn marks_a_window_apart_shrink_it_twice() {
    let mut world = marked_world(&with(EcnUse::On), &[20, 200]);
    world.run_for(Duration::from_secs(3));
    let cwr = world.since(0, End::Client).iter().filter(|s| s.segment.flags.contains(Flags::CWR)).count();
    assert_eq!(cwr, 1 + 2, "the SYN has it, and two answers");
}

#[test]
fn a_loss_is_announced_by_cwr_too() {
    let mut world = World::alike(&with(EcnUse::On));
    world.path = world::drop_data(&[12]);
    world.open(1 << 30);
    world.run_for(Duration::from_secs(1));
    let after = world.since(1, End::Client);
    assert_eq!(after.iter().filter(|s| s.segment.flags.contains(Flags::CWR)).count(), 1);
}

#[test]
fn dctcp_acknowledges_marked_and_unmarked_segments_apart() {
    // [RFC 8257 §3.2]: the withheld ACK leaves first, with the old state.
    let mut hand = server(&Config { quick_acks: 0, ..dctcp() });
    assert_eq!(hand.send(Segment { ecn: Ecn::Ect0, ..data(0) }), []);
    let answers = hand.send(Segment { ecn: Ecn::Ce, ..data(1) });
    let told: Vec<(u32, bool)> = answers.iter().map(|a| (a.ack.0, a.flags.contains(Flags::ECE))).collect();
    assert_eq!(told, [(1 + MSS, false), (1 + 2 * MSS, true)]);
    // While the state lasts, ACKs are delayed as ever.
    assert_eq!(hand.send(Segment { ecn: Ecn::Ce, ..data(2) }), []);
    assert_eq!(hand.send(Segment { ecn: Ecn::Ce, ..data(3) }).len(), 1);
}

#[test]
fn dctcp_reduces_by_the_share_of_marks() {
    // alpha begins at 1 and decays by 1/16 a window, the first of which ends with the first ACK. At the mark the window
    // is 12, so that 12 * 15/16 / 2 = 5 in whole segments are taken; later, after windows without marks, less.
    let mut world = marked_world(&dctcp(), &[2, 1000]);
    let reductions = |world: &mut World, until: f64| {
        let mut before = world.client.cwnd_segments();
        while world.client.ssthresh_segments() == until {
            before = world.client.cwnd_segments();
            assert!(world.step(Time::NEVER));
        }
        world.client.ssthresh_segments() / before
    };
    let first = reductions(&mut world, f64::INFINITY);
    let ssthresh = world.client.ssthresh_segments();
    let second = reductions(&mut world, ssthresh);
    assert_eq!(first, 7.0 / 12.0);
    assert!((0.6..1.0).contains(&second), "{second}");
}

#[test]
fn accurate_feedback_is_agreed_upon_by_the_ace_field() {
    // [RFC 9768 §3.1.1]: SYN 1 1 1, SYN+ACK 0 1 0 for a SYN that was not marked.
    let (syn, syn_ack) = handshake(&with(EcnUse::Accurate), &with(EcnUse::Accurate));
    assert_eq!(syn, Flags::SYN | Flags::AE | Flags::CWR | Flags::ECE);
    assert_eq!(syn_ack, Flags::SYN | Flags::ACK | Flags::CWR);
    let classic = handshake(&with(EcnUse::Accurate), &with(EcnUse::Passive));
    assert_eq!(classic.1, Flags::SYN | Flags::ACK | Flags::ECE, "a server of RFC 3168 reads it as its own");
}

#[test]
fn the_ace_field_counts_marked_segments_from_five_on() {
    // [RFC 9768 §3.2.1, §3.2.2]
    let asks = Flags::SYN | Flags::AE | Flags::CWR | Flags::ECE;
    let config = Config { quick_acks: 0, ..with(EcnUse::Accurate) };
    let mut hand = Hand::server_by(&config, Segment { flags: asks, ..hand::syn() });
    let mut field = |segment| hand.send(segment).iter().map(|a| a.flags.bits() >> 6 & 7).collect::<Vec<_>>();
    assert_eq!(field(data(0)), []);
    assert_eq!(field(data(1)), [5]);
    assert_eq!(field(Segment { ecn: Ecn::Ce, ..data(2) }), [6], "the first mark, at once");
    assert_eq!(field(Segment { ecn: Ecn::Ce, ..data(3) }), []);
    assert_eq!(field(Segment { ecn: Ecn::Ce, ..data(4) }), [0], "5 + 3 = 8");
}

#[test]
fn a_count_of_marks_shrinks_the_window_once_in_a_window_of_data() {
    let mut world = marked_world(&with(EcnUse::Accurate), &[20, 21, 25, 29]);
    world.run_for(Duration::from_secs(2));
    let (cwnd, ssthresh) = (world.client.cwnd_segments(), world.client.ssthresh_segments());
    assert!(ssthresh.is_finite() && cwnd > ssthresh, "{cwnd} {ssthresh}");
    assert_eq!(world.client.counters().segments_retransmitted, 0);
    assert_eq!(world.server.counters().segments_duplicate, 0);
}

#[test]
fn the_echo_of_a_syn_ack_is_no_mark() {
    let mut hand = Hand { now: Time::ZERO, end: lasthop_tcp::Endpoint::new(&with(EcnUse::On), 0) };
    hand.end.connect(hand.now);
    hand.poll();
    let answer = Segment { flags: Flags::SYN | Flags::ACK | Flags::ECE, ack: SeqNumber(1), ..hand::syn() };
    hand.send(answer);
    hand.end.write(5000);
    assert!(hand.poll().iter().all(|s| s.ecn == Ecn::Ect0 && !s.flags.contains(Flags::CWR)));
    assert!(hand.end.ssthresh_segments().is_infinite());
    hand.send(Segment { flags: Flags::ACK | Flags::ECE, ..ack(1001) });
    assert!(hand.end.ssthresh_segments().is_finite(), "that one is");
}
