//! The AccECN option between two endpoints, and its fallbacks. [RFC 9768 §3.1.4, §3.2.2, §3.2.3]

use crate::hand::{self, Hand, MSS, ack, bytes, data, ms};
use crate::world::{End, Fate, World};
use lasthop_engine::Stream;
use lasthop_tcp::{AccEcn, AccEcnOption, Config, EcnUse, Endpoint, Flags, Profile, Segment, SeqNumber};
use lasthop_units::{Ecn, Time};

const ASKS: Flags = Flags::from_bits(0x1c2);

fn with(option: AccEcnOption) -> Config {
    Config { accecn_option: Some(option), ect_on_control: Some(true), ecn: EcnUse::Accurate, ..hand::linux() }
}

fn full() -> Config {
    with(AccEcnOption::Full)
}

/// Flags with this ACE field.
fn count(field: u16) -> Flags {
    Flags::from_bits(field << 6)
}

/// The option with counters of ECT(1), CE and ECT(0).
fn option(ect1: u32, ce: u32, ect0: u32) -> Option<AccEcn> {
    Some(AccEcn::new(true, &[ect1, ce, ect0]))
}

/// An end to which the peer has opened; its ACK of the handshake has this ACE field.
fn server(config: &Config, field: u16) -> Hand {
    let mut hand = Hand::listening(config);
    let answer = hand.send(Segment { flags: ASKS, ..hand::syn() });
    assert_eq!(answer[0].accecn, option(1, 0, 1));
    hand.now += ms(100);
    hand.send(Segment { flags: Flags::ACK | count(field), accecn: option(1, 0, 1), ..ack(1) });
    hand
}

/// An end that has opened to the peer; the SYN+ACK has this ACE field and option.
fn client(config: &Config, field: u16, accecn: Option<AccEcn>) -> Hand {
    let mut hand = Hand { now: Time::ZERO, end: Endpoint::new(config, 0) };
    hand.end.connect(hand.now);
    hand.poll();
    hand.now += ms(100);
    let flags = Flags::SYN | Flags::ACK | count(field);
    let answer = hand.send(Segment { flags, ack: SeqNumber(1), accecn, ..hand::syn() });
    assert_eq!(answer.len(), 1, "an ACK");
    hand
}

#[test]
fn sender_knows_the_bytes_that_the_receiver_counts() {
    // Over random marks, losses of data and of ACKs, with both kinds of ECT and the payload of a whole segment.
    for seed in 0..60 {
        let option = Some(AccEcnOption::Persist);
        let mut world = World::alike(&Config { accecn_option: option, ..Profile::Linux73.config() });
        let mut random = Stream::new(seed, "marks", 0);
        world.mark = Box::new(move |segment| {
            if segment.ecn.is_capable() && random.chance(0.2) {
                segment.ecn = Ecn::Ce;
            }
        });
        let mut random = Stream::new(seed, "losses", 0);
        world.path = Box::new(move |sent, count| {
            let share = if sent.from == End::Client { 0.01 } else { 0.3 };
            if count > 3 && random.chance(share) { Fate::Drop } else { Fate::Pass }
        });
        world.open(400_000);
        world.run_to_the_end();
        let (sent, received) = (world.client.info(world.now), world.server.info(world.now));
        assert_eq!(sent.delivered_ce_bytes, received.received_ce_bytes, "seed {seed}");
        assert_eq!(sent.delivered_e0_bytes, received.received_e0_bytes, "seed {seed}");
        assert!(received.received_ce_bytes + received.received_e0_bytes >= 400_000);
        let full = world.log.iter().map(|sent| sent.segment.payload).max();
        assert_eq!(full, Some(1500 - 40 - 12 - 12), "the option takes 12 bytes");
    }
}

#[test]
fn option_tells_the_marks_of_lost_acks() {
    // [RFC 9768 §A.2]: one ACK for forty segments, of which 20 were marked: 5 + 20 = 1 modulo 8. Without the option as many
    // marks as fit are read: 36.
    for (accecn, marks) in [(option(1, 20 * (MSS - 12), 1), 20), (None, 36)] {
        let mut hand = client(&Config { initial_window: 40, ..full() }, 0b010, option(1, 0, 1));
        hand.end.write(u64::from(40 * (MSS - 12)));
        assert_eq!(hand.poll().len(), 40);
        hand.send(Segment { flags: Flags::ACK | count(1), accecn, ..ack(1 + 40 * (MSS - 12)) });
        assert_eq!(hand.end.info(hand.now).delivered_ce, marks);
    }
}

#[test]
fn data_carries_the_option_once_the_peer_has_sent_it() {
    // [RFC 9768 §3.2.3.2.1, §3.2.3.2.3]
    let mut hand = client(&full(), 0b010, None);
    hand.end.write(2000);
    assert!(hand.poll().iter().all(|sent| sent.accecn.is_none() && sent.payload == MSS));
    hand.send(Segment { accecn: option(1, 0, 2001), flags: Flags::ACK | count(5), ..ack(2001) });
    hand.end.write(2000);
    let sent = hand.poll();
    assert!(sent.iter().all(|sent| sent.accecn == option(1, 0, 1)));
    assert_eq!(sent[0].payload, MSS - 12, "payload leaves room");
}

#[test]
fn without_the_key_there_is_no_option() {
    let mut hand = client(&Config { accecn_option: None, ..full() }, 0b010, option(1, 0, 1));
    hand.end.write(2000);
    assert!(hand.poll().iter().all(|sent| sent.accecn.is_none()));
}

#[test]
fn a_change_of_the_ecn_field_is_acknowledged_at_once() {
    // [RFC 9768 §3.2.3.3]: another counter rises.
    let mut hand = server(&Config { quick_acks: 0, ..full() }, 0b010);
    let mut answers = |ecn, n| hand.send(Segment { ecn, ..data(n) }).iter().map(|sent| sent.accecn).collect::<Vec<_>>();
    assert_eq!(answers(Ecn::Ect0, 0), []);
    assert_eq!(answers(Ecn::Ect0, 1), [option(1, 0, 2001)]);
    assert_eq!(answers(Ecn::Ect1, 2), [option(1001, 0, 2001)]);
    assert_eq!(answers(Ecn::Ect1, 3), []);
    assert_eq!(answers(Ecn::Ce, 4), [option(2001, 1000, 2001)]);
}

#[test]
fn control_segments_are_ecn_capable_and_count() {
    let mut hand = server(&full(), 0b010);
    let answers = hand.send(Segment { ecn: Ecn::Ect0, ..data(0) });
    assert_eq!(answers[0].ecn, Ecn::Ect0, "a pure ACK");
    assert_eq!(
        hand.send(Segment { ecn: Ecn::Ce, flags: Flags::ACK | count(5), ..bytes(1001, 0) }),
        [],
        "no ACK of an ACK"
    );
    assert_eq!(hand.end.info(hand.now).received_ce, 1);
    let plain = Config { ect_on_control: None, ..full() };
    assert_eq!(server(&plain, 0b010).send(Segment { ecn: Ecn::Ect0, ..data(0) })[0].ecn, Ecn::NotEct);
}

#[test]
fn a_mangled_handshake_ends_ect_and_not_the_feedback() {
    // [RFC 9768 §3.2.2.3, §3.2.2.4]: SYNs leave as not ECT. The codes say: not ECT, ECT(1), ECT(0), CE; zero is cleared.
    for fallback in [true, false] {
        let config = Config { ecn_fallback: Some(fallback), ..full() };
        for (field, fine) in [(0b010, true), (0b011, false), (0b100, false), (0b110, false), (0b000, false)] {
            let mut ends = vec![server(&config, field)];
            if field != 0 {
                ends.push(client(&config, field, option(1, 0, 1)));
            }
            for hand in &mut ends {
                hand.end.write(1000);
                let sent = hand.poll();
                assert_eq!(sent[0].ecn, if fine || !fallback { Ecn::Ect0 } else { Ecn::NotEct }, "{field:03b}");
                assert_eq!(sent[0].accecn, option(1, 0, 1));
                hand.send(Segment { ecn: Ecn::Ce, ..data(0) });
                assert_eq!(hand.end.info(hand.now).received_ce, 1, "marks of the peer's data are counted");
            }
        }
    }
}

#[test]
fn a_syn_ack_sent_again_lacks_the_option_and_then_the_flags() {
    // [RFC 9768 §3.2.3.2.2]
    let mut hand = Hand::listening(&full());
    assert_eq!(hand.send(Segment { flags: ASKS, ..hand::syn() })[0].flags, Flags::SYN | Flags::ACK | Flags::CWR);
    let again: Vec<_> = hand.wait(ms(8000)).iter().map(|(_, sent)| (sent.flags, sent.accecn)).collect();
    let plain = Flags::SYN | Flags::ACK;
    assert_eq!(again, [(plain | Flags::CWR, None), (plain, None), (plain, None)]);
    // The agreement stands: the answer to any of them decides.
    hand.send(Segment { flags: Flags::ACK | count(0b010), accecn: option(1, 0, 1), ..ack(1) });
    hand.end.write(1000);
    assert_eq!((hand.poll()[0].ecn, hand.end.is_established()), (Ecn::Ect0, true));
}

#[test]
fn a_second_syn_without_ecn_ends_ect() {
    // [RFC 9768 §3.1.4.2]
    let mut hand = Hand::listening(&full());
    hand.send(Segment { flags: ASKS, ecn: Ecn::Ect0, ..hand::syn() });
    let again = hand.send(hand::syn());
    assert_eq!(
        (again[0].flags, again[0].accecn),
        (Flags::SYN | Flags::ACK | Flags::CWR, None),
        "as the newest arrived"
    );
    hand.send(Segment { flags: Flags::ACK | count(0b010), accecn: option(1, 0, 1), ..ack(1) });
    hand.end.write(1000);
    let sent = hand.poll();
    assert_eq!((sent[0].ecn, sent[0].accecn), (Ecn::NotEct, option(1, 0, 1)));
}

#[test]
fn a_repeated_syn_ack_is_answered_by_how_it_arrived() {
    // [RFC 9768 §3.2.2.1, table 3]
    let codes = [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)];
    for (ecn, code) in codes {
        let mut hand = client(&full(), 0b010, option(1, 0, 1));
        let again = Segment { flags: Flags::SYN | Flags::ACK | count(0b010), ack: SeqNumber(1), ecn, ..hand::syn() };
        assert_eq!(hand.send(again)[0].flags, Flags::ACK | count(code));
        hand.end.write(10);
        assert_eq!(hand.poll()[0].flags.bits() >> 6, 5, "then it counts again");
    }
}
