//! A-MPDUs and Block Ack, MPDU by MPDU: retransmissions, MPDUs given up, and MPDUs held back by the recipient.
//!
//! 802.11n at 65 Mbit/s; a script says which MPDU, BlockAckReq or BlockAck is lost.

use crate::cell::{self, Load, MediumConfig, Seen, config, phy, run_load};
use lasthop_observe::{End, NodeId, Outcome, Record, Step};
use lasthop_registry::Amount;
use lasthop_units::{Dbm, Duration, Time};
use lasthop_wifi::phy::error_model::{ErrorModel, ErrorModelKind, FrameKind, ReceivedFrame};
use lasthop_wifi::{AccessCategory, Aggregation, Channel, ChannelAccess, EdcaParameters, Matrix};

const REORDER_TIMEOUT: u64 = 100_000_000;
/// A BlockAckReq of 24 bytes and a BlockAck of 32 at 24 Mbit/s: 20 + 3*4 us each.
const REQUEST: u64 = 32_000;

/// A frame for which the script decides whether it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    kind: FrameKind,
    /// Index of its PPDU among those of its kind, and of the MPDU in that PPDU; both from 0.
    pub ppdu: usize,
    pub place: usize,
}

/// An error model that follows a script.
struct Script<F> {
    arrives: F,
    last: Option<(Time, Question)>,
    ppdus: [usize; 4],
}

impl<F: FnMut(Question) -> bool + Send> ErrorModel for Script<F> {
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64 {
        let question = match self.last {
            Some((at, last)) if at == frame.at && last.kind == frame.kind => Question { place: last.place + 1, ..last },
            _ => {
                let count = &mut self.ppdus[frame.kind as usize];
                *count += 1;
                Question { kind: frame.kind, ppdu: *count - 1, place: 0 }
            }
        };
        self.last = Some((frame.at, question));
        f64::from((self.arrives)(question))
    }
}

pub fn aggregating(max_mpdus: u32, arrives: impl FnMut(Question) -> bool + Send + 'static) -> MediumConfig {
    let mut config = config(phy("802.11n", &[]), 1);
    let edca = AccessCategory::ALL.map(|c| {
        let txop_limit = Duration::ZERO;
        EdcaParameters { txop_limit, ..EdcaParameters::default_of(c, 15, 1023) }
    });
    config.queues = cell::fifos(Amount::Unlimited);
    for node in &mut config.nodes {
        node.access = ChannelAccess::Edca(edca);
    }
    let max_duration = Duration::from_micros(5484);
    config.bss[0].aggregation = Some(Aggregation {
        max_mpdus,
        max_bytes: 65_535,
        max_duration,
        max_amsdu: None,
        min_start_spacing: Duration::ZERO,
    });
    config.error_model = Box::new(Script { arrives, last: None, ppdus: [0; 4] });
    config.channel = Channel::Matrix(Matrix::new(2, Dbm(-82.0), |_, _| Dbm(-40.0)));
    config
}

/// Gives station 1 this many packets of 500 bytes at 10 us; returns the results of one second.
pub fn packets(config: MediumConfig, count: usize) -> Seen {
    let arrivals = vec![(Time::from_nanos(10_000), NodeId(1), 0); count];
    run_load(
        config,
        &Load { arrivals, packet_bytes: 500, keep_records: true, ..Load::default() },
        Duration::from_secs(1),
    )
}

/// MPDUs sent and acknowledged in each A-MPDU.
pub fn ampdus(seen: &Seen) -> Vec<(u32, u32)> {
    let of = |(_, record): &(Time, Record)| match record {
        Record::Attempt { mpdus, acknowledged, .. } => Some((*mpdus, *acknowledged)),
        _ => None,
    };
    seen.records.iter().filter_map(of).collect()
}

/// MPDUs sent and decoded in each A-MPDU of the station, and the reason for the first loss.
fn ends(seen: &Seen) -> Vec<(u32, u32, Option<Outcome>)> {
    let of = |(_, record): &(Time, Record)| match record {
        Record::Step(Step::End(End { node: NodeId(1), mpdus, decoded, lost_to, .. })) => {
            Some((*mpdus, *decoded, *lost_to))
        }
        _ => None,
    };
    seen.records.iter().filter_map(of).collect()
}

pub fn is_data(question: Question) -> bool {
    question.kind == FrameKind::Data
}

#[test]
fn waiting_packets_go_in_one_a_mpdu() {
    let seen = packets(aggregating(64, |_| true), 20);
    assert_eq!(ampdus(&seen), [(20, 20)]);
    assert_eq!(seen.ppdus().len(), 2);
    assert_eq!(ampdus(&packets(aggregating(8, |_| true), 20)), [(8, 8), (8, 8), (4, 4)]);
}

#[test]
fn a_packet_that_begins_a_ppdu_joins_no_a_mpdu_before_it() {
    let arrivals = vec![(Time::from_nanos(10_000), NodeId(1), 0); 12];
    let load = Load { arrivals, packet_bytes: 500, keep_records: true, beginning: vec![0, 5, 6], ..Load::default() };
    let config = aggregating(64, |_| true);
    assert_eq!(ampdus(&run_load(config, &load, Duration::from_secs(1))), [(5, 5), (1, 1), (6, 6)]);
}

#[test]
fn end_of_an_a_mpdu_has_its_number_of_mpdus_decoded_or_not() {
    use Outcome::{Collision, Noise};
    let one_lost = packets(aggregating(64, |q| !is_data(q) || (q.ppdu, q.place) != (0, 2)), 20);
    assert_eq!(ends(&one_lost), [(20, 19, Some(Noise)), (1, 1, None)]);
    // All are lost: one by one; with the header, which is too weak; at a receiver that sends.
    let mut all_lost = aggregating(64, |q| !is_data(q) || q.ppdu > 0);
    assert_eq!(ends(&packets(all_lost, 20)), [(20, 0, Some(Noise)), (20, 20, None)]);
    all_lost = aggregating(64, |_| true);
    all_lost.channel = Channel::Matrix(Matrix::new(2, Dbm(-82.0), |_, _| Dbm(-90.0)));
    all_lost.nodes[1].retry_limit = Some(0);
    // A BlockAckReq follows.
    assert_eq!(ends(&packets(all_lost, 20))[0], (20, 0, Some(Noise)));
    for channel in [Channel::uniform(2), Channel::Matrix(Matrix::new(2, Dbm(-82.0), |_, _| Dbm(-40.0)))] {
        let mut config =
            MediumConfig { channel, error_model: ErrorModelKind::all()[0].build(1), ..aggregating(64, |_| true) };
        config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
        let arrivals = [0, 1].map(|node| vec![(Time::from_nanos(10_000), NodeId(node), 0); 20]).concat();
        let load = Load { arrivals, packet_bytes: 500, keep_records: true, ..Load::default() };
        let seen = run_load(config, &load, Duration::from_secs(1));
        assert_eq!(ends(&seen)[0], (20, 0, Some(Collision)));
    }
}

#[test]
fn lost_mpdu_is_repeated_alone_and_holds_back_later_ones() {
    let lost = |q: Question| is_data(q) && (q.ppdu, q.place) == (0, 1);
    let seen = packets(aggregating(64, move |q| !lost(q)), 4);
    assert_eq!(ampdus(&seen), [(4, 3), (1, 1)]);
    let (first, second) = (seen.ppdus()[0].1, seen.ppdus()[2].1);
    assert_eq!(seen.arrived, [(first, 0), (second, 1), (second, 2), (second, 3)]);
}

#[test]
fn after_a_lost_block_ack_all_is_sent_again_and_delivered_once() {
    let seen = packets(aggregating(64, |q| q.kind != FrameKind::Ack || q.ppdu > 0), 4);
    assert_eq!(ampdus(&seen), [(4, 0), (4, 4)]);
    assert_eq!(seen.arrived.iter().map(|a| a.1).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn new_mpdus_go_with_those_that_are_repeated() {
    let lost = |q: Question| is_data(q) && q.ppdu == 0 && q.place < 2;
    assert_eq!(ampdus(&packets(aggregating(8, move |q| !lost(q)), 14)), [(8, 6), (8, 8)]);
}

#[test]
fn the_window_stalls_behind_an_mpdu_that_keeps_failing_until_a_request_moves_it() {
    // The first MPDU of the window of 64 fails in all of its 8 attempts: 31 others go with its first attempt, 31 with
    // its second, the last one of the window with its third, none with the rest.
    let lost = |q: Question| is_data(q) && q.ppdu < 8 && q.place == 0;
    let seen = packets(aggregating(32, move |q| !lost(q)), 96);
    let expected = [(32, 31), (32, 31), (2, 1), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (32, 32)];
    assert_eq!(ampdus(&seen), expected);
    // Until the request arrives the recipient waits for the first MPDU; then it releases all 63.
    let request = seen.ppdus().into_iter().filter(|p| p.2 == 1).nth(8).unwrap();
    assert_eq!(request.1 - request.0, REQUEST);
    let at_once = seen.arrived.iter().filter(|a| a.0 == request.1).map(|a| a.1);
    assert_eq!(at_once.collect::<Vec<_>>(), (1..64).collect::<Vec<_>>());
    assert_eq!((seen.drops[1], seen.arrived.len()), (1, 95));
}

#[test]
fn each_mpdu_has_its_own_attempts() {
    // Packets 0 and 1 go in A-MPDUs of one: with 2 retransmissions each has three attempts, whatever the other had; 1
    // is retransmitted beside 0 if both fit.
    let mut config = aggregating(2, |q| !is_data(q) || q.ppdu >= 4 || (q.ppdu, q.place) == (0, 1));
    config.nodes[1].retry_limit = Some(2);
    let seen = packets(config, 4);
    // 0 fails beside 1, which arrives, then twice beside 2; 2 fails once more beside 3. Each counts its own attempts:
    // that was the third of 2 and the first of 3.
    assert_eq!(ampdus(&seen), [(2, 1), (2, 0), (2, 0), (2, 0), (1, 1)]);
    assert_eq!(seen.drops[1], 2);
    assert_eq!(seen.arrived.iter().map(|a| a.1).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_recipient_that_no_request_reaches_gives_a_gap_up_after_its_timeout() {
    let mut config = aggregating(64, |q| q.kind != FrameKind::Control && !(is_data(q) && (q.ppdu, q.place) == (0, 0)));
    config.nodes[1].retry_limit = Some(0);
    let seen = packets(config, 3);
    let received = seen.ppdus()[0].1;
    assert_eq!(seen.arrived, [(received + REORDER_TIMEOUT, 1), (received + REORDER_TIMEOUT, 2)]);
}

#[test]
fn a_txop_is_never_longer_than_its_limit() {
    let mut config = aggregating(64, |_| true);
    let ChannelAccess::Edca(edca) = &mut config.nodes[1].access else { panic!("it has EDCA") };
    let limit = 2_528_000;
    edca[AccessCategory::Be.index()].txop_limit = Duration::from_nanos(limit);
    let seen = packets(config, 400);
    let ppdus = seen.ppdus();
    let mut began = ppdus[0].0;
    for two in ppdus.windows(2) {
        if two[1].0 - two[0].1 > 16_000 {
            assert!(two[0].1 - began <= limit, "{}", two[0].1 - began);
            began = two[1].0;
        }
    }
    assert_eq!(seen.arrived.len(), 400);
}
