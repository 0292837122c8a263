//! The scoreboard against its clauses, and against a twin that rescans everything.

use super::*;
use proptest::prelude::*;

const MSS: u32 = 100;

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::new(LossDetection::Fack);
    for i in 0..segments {
        board.push(Time::from_nanos(i), MSS, Content::Data, None);
    }
    board
}

fn report(board: &mut Scoreboard, from: u64, to: u64) -> Delivered {
    let mut delivered = Delivered::default();
    board.report(Range { start: from * 100, end: to * 100 }, &mut delivered);
    board.detect_by_count(3);
    delivered
}

#[test]
fn three_reports_above_make_a_segment_lost() {
    let mut board = board(10);
    report(&mut board, 1, 3);
    assert!(!board.head_is_lost());
    assert_eq!(board.pipe_bytes(), 800);
    report(&mut board, 1, 4);
    assert!(board.head_is_lost());
    // 10 sent, 3 reported, 1 lost
    assert_eq!(board.pipe_bytes(), 600);
    assert_eq!(board.next_lost().map(|s| s.start), Some(0));
    resend(&mut board, 0);
    assert_eq!(board.pipe_bytes(), 700);
    assert!(board.next_lost().is_none(), "a retransmission is not lost by reports");
}

#[test]
fn holes_above_the_mark_are_resent_only_as_holes() {
    let mut board = board(10);
    report(&mut board, 1, 4);
    report(&mut board, 6, 7);
    resend(&mut board, 0);
    // Segments 4 and 5 have one report above: not lost, but holes
    assert!(board.next_lost().is_none());
    assert_eq!(board.next_hole().map(|s| s.start), Some(400));
    resend(&mut board, 0);
    assert_eq!(board.next_hole().map(|s| s.start), Some(500));
    resend(&mut board, 0);
    assert!(board.next_hole().is_none());
}

#[test]
fn retransmission_is_lost_once_a_report_passes_data_that_was_new_when_it_left() {
    let mut board = board(10);
    report(&mut board, 1, 4);
    resend(&mut board, 0);
    // SND.NXT was 1000: reports up to there answer data sent before the retransmission.
    report(&mut board, 4, 10);
    board.detect_resends_by_distance();
    assert!(board.next_lost().is_none());
    assert_eq!(board.pipe_bytes(), 100);
    board.push(Time::ZERO, MSS, Content::Data, None);
    report(&mut board, 10, 11);
    board.detect_resends_by_distance();
    assert_eq!(board.next_lost().map(|s| s.start), Some(0));
    assert_eq!((board.pipe_bytes(), board.total_lost()), (0, 2));
}

#[test]
fn only_the_retransmission_that_was_overtaken_is_lost() {
    let mut board = board(8);
    report(&mut board, 1, 2);
    report(&mut board, 3, 8);
    // 0 goes out at SND.NXT 800, 2 at 900; 800 is reported.
    resend(&mut board, 0);
    board.push(Time::ZERO, MSS, Content::Data, None);
    resend(&mut board, 0);
    report(&mut board, 8, 9);
    board.detect_resends_by_distance();
    assert_eq!(board.next_lost().map(|s| s.start), Some(0));
    assert_eq!((board.lost_segments(), board.resent_segments()), (2, 1));
}

#[test]
fn a_timeout_forgets_when_the_retransmissions_left() {
    let mut board = board(5);
    report(&mut board, 1, 4);
    resend(&mut board, 0);
    board.lose_after_timeout(|_| true);
    board.push(Time::ZERO, MSS, Content::Data, None);
    resend(&mut board, 0);
    // It left again, at SND.NXT 600: a report of 500 to 600 does not concern it.
    report(&mut board, 5, 6);
    board.detect_resends_by_distance();
    assert_eq!(board.resent_segments(), 1);
}

#[test]
fn after_a_timeout_only_reports_are_spared() {
    let mut board = board(5);
    report(&mut board, 2, 3);
    board.lose_after_timeout(|_| true);
    assert_eq!(board.pipe_bytes(), 0);
    let mut again = Vec::new();
    while let Some(segment) = board.next_lost() {
        again.push(segment.start);
        resend(&mut board, 0);
    }
    assert_eq!(again, [0, 100, 300, 400]);
    assert_eq!(board.pipe_bytes(), 400);
}

#[test]
fn a_receiver_that_dropped_its_reports_gets_everything_again() {
    let mut board = board(3);
    report(&mut board, 0, 1);
    board.lose_after_timeout(|_| true);
    assert_eq!(board.next_lost().map(|s| s.start), Some(0));
}

#[test]
fn a_part_of_a_segment_can_be_acknowledged() {
    let mut board = board(2);
    let mut delivered = Delivered::default();
    board.acknowledge(150, &mut delivered);
    assert_eq!((delivered.segments, delivered.bytes), (1, 150));
    assert_eq!(board.outstanding_bytes(), 50);
    board.lose_head();
    let rest = board.next_lost().unwrap();
    assert_eq!((rest.start, rest.length), (150, 50));
}

#[test]
fn samples_come_from_segments_sent_once() {
    let mut board = board(4);
    board.lose_head();
    resend(&mut board, 99);
    let mut delivered = Delivered::default();
    board.acknowledge(300, &mut delivered);
    assert!(delivered.retransmitted);
    assert_eq!(delivered.oldest_sent, Some(Time::from_nanos(1)));
    assert_eq!(delivered.newest_sent, Some(Time::from_nanos(2)));
}

/// Retransmits the next segment.
fn resend(board: &mut Scoreboard, at: u64) {
    let segment = board.next_lost().or_else(|| board.next_hole()).expect("something to send again");
    board.resend(Time::from_nanos(at), &segment, None);
}

/// The state of the scoreboard, computed from the start each time.
struct Twin {
    una: u64,
    reported: Vec<bool>,
    resent: Vec<bool>,
    timed_out_below: u64,
}

impl Twin {
    fn is_lost(&self, i: u64) -> bool {
        let above =
            self.reported.iter().enumerate().filter(|&(j, r)| j as u64 > i && j as u64 >= self.una && *r).count();
        !self.reported[i as usize] && (i < self.timed_out_below || above >= 3)
    }
    fn pipe(&self) -> u64 {
        (self.una..self.reported.len() as u64)
            .filter(|&i| !self.reported[i as usize])
            .map(|i| u64::from(!self.is_lost(i)) + u64::from(self.resent[i as usize]))
            .sum::<u64>()
            * 100
    }
    fn next_lost(&self) -> Option<u64> {
        (self.una..self.reported.len() as u64).find(|&i| self.is_lost(i) && !self.resent[i as usize])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    /// Reports are of data above the acknowledgement, and acknowledgements do not take reports along
    /// partly, as with a true receiver.
    #[test]
    fn pipe_and_loss_equal_a_full_scan(steps in proptest::collection::vec((0u8..8, 0u64..30, 1u64..5), 1..80)) {
        let mut board = board(20);
        let mut twin = Twin { una: 0, reported: vec![false; 20], resent: vec![false; 20], timed_out_below: 0 };
        for (what, from, length) in steps {
            let sent = twin.reported.len() as u64;
            match what {
                0 if sent < 60 => {
                    board.push(Time::ZERO, MSS, Content::Data, None);
                    twin.reported.push(false);
                    twin.resent.push(false);
                }
                1 => {
                    // The receiver acknowledges up to its next hole.
                    let ack = (twin.una + from / 4).min(sent);
                    let ack = (ack..sent).find(|&i| !twin.reported[i as usize]).unwrap_or(sent);
                    board.acknowledge(ack * 100, &mut Delivered::default());
                    twin.una = ack;
                    twin.timed_out_below = twin.timed_out_below.max(ack);
                }
                2 if length == 1 => {
                    let head_reported = twin.reported.get(twin.una as usize).copied().unwrap_or(false);
                    prop_assume!(!head_reported);
                    board.lose_after_timeout(|_| true);
                    twin.timed_out_below = sent;
                    twin.resent.fill(false);
                }
                3 | 4 => {
                    let expected = twin.next_lost();
                    prop_assert_eq!(board.next_lost().map(|s| s.start / 100), expected);
                    if let Some(i) = expected {
                        resend(&mut board, 0);
                        twin.resent[i as usize] = true;
                    }
                }
                _ => {
                    let from = (twin.una + 1 + from).min(sent);
                    let to = (from + length).min(sent);
                    report(&mut board, from, to);
                    for i in from..to {
                        twin.reported[i as usize] = true;
                        twin.resent[i as usize] = false;
                    }
                }
            }
            prop_assert_eq!(board.pipe_bytes(), twin.pipe());
            prop_assert_eq!(board.outstanding_bytes(), (twin.reported.len() as u64 - twin.una) * 100);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    /// The list by time against one that is searched from end to end.
    #[test]
    fn loss_by_time_equals_a_full_scan(steps in proptest::collection::vec((0u8..6, 0u64..30, 1u64..4), 1..100)) {
        let mut board = Scoreboard::new(LossDetection::Rack);
        // Indices in the order of sending, with the time of sending.
        let mut order: Vec<(u64, u64)> = Vec::new();
        let (mut now, mut sent, mut latest) = (0, 0u64, Latest::default());
        for (what, which, length) in steps {
            now += length;
            match what {
                0 | 1 => {
                    board.push(Time::from_nanos(now), MSS, Content::Data, None);
                    order.push((sent, now));
                    sent += 1;
                }
                2 if !order.is_empty() => {
                    let (index, sent_at) = order.remove((which as usize) % order.len());
                    board.report(Range { start: index * 100, end: (index + 1) * 100 }, &mut Delivered::default());
                    let arrived = Latest { sent_at: Time::from_nanos(sent_at), end: (index + 1) * 100 };
                    if arrived.is_after(latest.sent_at, latest.end) {
                        latest = arrived;
                    }
                }
                3 => {
                    if let Some(lost) = board.next_lost() {
                        board.resend(Time::from_nanos(now), &lost, None);
                        order.push((lost.start / 100, now));
                    }
                }
                _ => {
                    let patience = which;
                    let is_before = |&(index, sent_at): &(u64, u64)| {
                        latest.is_after(Time::from_nanos(sent_at), (index + 1) * 100)
                    };
                    let late = |&(_, sent_at): &(u64, u64)| sent_at + patience <= now;
                    let lost_before = board.total_lost();
                    let found = order.iter().filter(|s| is_before(s) && late(s)).count();
                    order.retain(|s| !(is_before(s) && late(s)));
                    let youngest = order.iter().filter(|s| is_before(s)).map(|s| s.1).max();
                    let waiting = board.detect_by_time(&latest, |sent_at| sent_at.as_nanos() + patience <= now);
                    prop_assert_eq!(waiting.map(|t| t.as_nanos()), youngest);
                    prop_assert_eq!(board.total_lost() - lost_before, found as u64);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    /// Segments taken off at once against segments taken off one by one, to the last field.
    #[test]
    fn a_run_of_originals_goes_as_its_segments_do(
        steps in proptest::collection::vec((0u8..10, 0u64..30, 1u64..250), 1..120),
        rule in 0usize..3,
        stamps in any::<bool>(),
    ) {
        let mut board = Scoreboard::new([LossDetection::Rack, LossDetection::Fack, LossDetection::Count][rule]);
        let stamp = |delivered| stamps.then(|| Stamp { delivered, ..Stamp::default() });
        let mut latest = Latest::default();
        for (step, (what, which, length)) in steps.into_iter().enumerate() {
            let now = Time::from_nanos(10 * step as u64 + which % 3);
            match what {
                0..=4 => {
                    let content = if which == 0 { Content::Fin } else { Content::Data };
                    board.push(now, length as u32, content, stamp(step as u64));
                }
                5 => {
                    let start = board.una() + which * 40;
                    board.report(Range { start, end: start + 3 * length }, &mut Delivered::default());
                    board.detect_by_count(3);
                }
                6 => {
                    if let Some(lost) = board.next_lost() {
                        board.resend(now, &lost, stamp(step as u64));
                    }
                }
                7 if which < 3 => board.lose_after_timeout(|_| length > 100),
                7 if which < 6 => board.unlose_all(),
                7 => {
                    latest = Latest { sent_at: now, end: board.nxt() };
                    board.detect_by_time(&latest, |sent_at| sent_at.as_nanos() + 10 * length <= now.as_nanos());
                }
                _ => {
                    let ack = (board.una() + which * length / 4).min(board.nxt());
                    let credible = Credible { now, min_rtt: lasthop_units::Duration::from_nanos(length), echo_ends: now };
                    let mut delivered = [Delivered::judged_by(credible), Delivered::judged_by(credible)];
                    let mut twin = board.clone();
                    if which % 2 == 0 {
                        let block = Range { start: ack + length, end: ack + 2 * length };
                        board.report(block, &mut delivered[0]);
                        twin.report(block, &mut delivered[1]);
                    }
                    board.acknowledge(ack, &mut delivered[0]);
                    twin.acknowledge_each(ack, &mut delivered[1]);
                    prop_assert_eq!(format!("{:?}", delivered[0]), format!("{:?}", delivered[1]));
                    prop_assert_eq!(format!("{board:?}"), format!("{twin:?}"));
                    prop_assert_eq!(
                        board.order.youngest_before(&board.segments, board.base, &latest),
                        twin.order.youngest_before(&twin.segments, twin.base, &latest)
                    );
                }
            }
        }
    }
}
