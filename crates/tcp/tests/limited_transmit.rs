//! New data on duplicate ACKs, and without it, under recovery linux. [RFC 3042 §2]

use crate::hand::{self, Hand, MSS, ack, linux};
use lasthop_tcp::{Config, SackBlock, Segment, SeqNumber};

/// A sender with ten segments on the way and more to send.
fn sender(limited_transmit: bool, sack: bool) -> Hand {
    let config = Config { limited_transmit, sack, tso_deferral: false, ..linux() };
    let mut hand = Hand::client(&config);
    hand.end.write(u64::from(40 * MSS));
    assert_eq!(hand.poll().len(), 10);
    hand.now += hand::ms(100);
    // The handshake's window was another, so this is only a window update.
    assert_eq!(hand.send(ack(1)), []);
    hand
}

/// Starts of the segments that each duplicate ACK releases, in segments; the first is missing, later ones arrive.
fn answers(hand: &mut Hand, duplicates: u32, sack: bool) -> Vec<Vec<u32>> {
    let starts = |sent: Vec<Segment>| sent.iter().map(|segment| segment.seq.0 / MSS).collect();
    (1..=duplicates)
        .map(|count| {
            let mut duplicate = ack(1);
            if sack {
                let block = SackBlock { left: SeqNumber(1 + MSS), right: SeqNumber(1 + MSS + count * MSS) };
                duplicate.sack.push(block);
            }
            starts(hand.send(duplicate))
        })
        .collect()
}

#[test]
fn with_it_each_of_the_first_two_duplicates_lets_out_one_segment() {
    for sack in [true, false] {
        let mut hand = sender(true, sack);
        assert_eq!(answers(&mut hand, 3, sack), [vec![10], vec![11], vec![0]], "SACK {sack}");
    }
}

#[test]
fn without_it_they_let_out_nothing() {
    for sack in [true, false] {
        let mut hand = sender(false, sack);
        assert_eq!(answers(&mut hand, 3, sack), [vec![], vec![], vec![0]], "SACK {sack}");
        // Recovery goes on as usual: arrivals release new data in proportion.
        let later: usize = answers(&mut hand, 9, sack).iter().map(Vec::len).sum();
        assert!(later >= 2, "SACK {sack}: {later}");
    }
}

#[test]
fn filling_the_hole_releases_the_rest() {
    for sack in [true, false] {
        let mut hand = sender(false, sack);
        answers(&mut hand, 2, sack);
        // Three leave the window, and the one not yet reported adds one to it.
        assert_eq!(hand.send(ack(1 + 3 * MSS)).len(), 4, "SACK {sack}");
    }
}
