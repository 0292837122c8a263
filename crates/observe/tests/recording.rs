//! The batches of a recording, and their times.

use std::sync::{Arc, Mutex};

use lasthop_observe::detail::{CaState, Detail, Host, PpduKind, PpduStart, Run, SegmentFacts};
use lasthop_observe::recording::{Batch, Chosen, Sink, Span, Tape, Values};
use lasthop_observe::{End, FlowId, Hold, Layout, NodeId, Observer, Outcome, Record, Step, Transport, Watcher};
use lasthop_units::{DataRate, Duration, Time};

/// Batches in order: the table, and the numbers of each column.
type Seen = Arc<Mutex<Vec<(&'static str, Vec<Vec<u64>>)>>>;

struct Keeps(Seen);

impl Sink for Keeps {
    fn take(&mut self, batch: &Batch<'_>) -> Result<(), String> {
        let numbers = |values: &Values<'_>| match values {
            Values::Four(of) => of.iter().map(|n| if *n == u32::MAX { u64::MAX } else { u64::from(*n) }).collect(),
            Values::Eight(of) => of.to_vec(),
        };
        self.0.lock().unwrap().push((batch.table.name, batch.columns.iter().map(numbers).collect()));
        Ok(())
    }
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}

fn tape(chosen: &str, from: u64, until: u64) -> (Tape, Seen) {
    let seen = Seen::default();
    let flows = vec![(Transport::Tcp, true)];
    let layout =
        Layout { flows, nodes: 3, aps: 1, links: 4, channels: 1, several_users: Vec::new(), interferers: false };
    let span = Span { from: Time::from_nanos(from), until: Time::from_nanos(until) };
    (Tape::new(&layout, Chosen::named(chosen).unwrap(), span, Box::new(Keeps(Arc::clone(&seen)))), seen)
}

/// A column of all rows of a table that were handed over.
fn column(seen: &Seen, table: &str, place: usize) -> Vec<u64> {
    let seen = seen.lock().unwrap();
    seen.iter().filter(|(of, _)| *of == table).flat_map(|(_, columns)| columns[place].clone()).collect()
}

/// Columns of `ppdu`.
const NUMBER: usize = 0;
const DECODED: usize = 17;
const LOST_TO: usize = 18;
const EXCHANGE: usize = 19;

impl Driven for Tape {}
trait Driven: Observer {
    fn begin(&mut self, at: u64, node: u32, initiator: u32) {
        let start = PpduStart {
            node: NodeId(node),
            to: None,
            initiator: NodeId(initiator),
            link: None,
            channel: 0,
            kind: PpduKind::Data,
            unit: None,
            airtime: Duration::from_nanos(5),
            reserves_until: Time::from_nanos(at),
            rate: DataRate::from_bps(1_000_000),
            mcs: None,
            streams: 1,
            guard_interval: Duration::ZERO,
            width_mhz: 20,
            bytes: 100,
            mpdus: 4,
            retried: 0,
        };
        self.detail(Time::from_nanos(at), Detail::PpduStarts(start));
    }
    fn end(&mut self, at: u64, node: u32, initiator: u32, decoded: u32, goes_on: bool) {
        let lost_to = (decoded < 4).then_some(Outcome::Noise);
        let (node, initiator) = (NodeId(node), NodeId(initiator));
        let end = End { node, initiator, mpdus: 4, decoded, lost_to, goes_on };
        self.detail(Time::from_nanos(at), Detail::PpduEnds(end));
    }
}

#[test]
fn rows_are_in_order_of_start_not_end() {
    let (mut tape, seen) = tape("ppdu", 0, 100);
    tape.begin(0, 1, 1);
    tape.begin(2, 2, 2);
    tape.end(7, 2, 2, 3, false);
    tape.end(9, 1, 1, 4, false);
    tape.begin(20, 0, 0);
    tape.close().unwrap();
    assert_eq!(column(&seen, "ppdu", NUMBER), [0, 1, 2]);
    // The last was on the air when the recording ended.
    assert_eq!(column(&seen, "ppdu", DECODED), [4, 3, u64::MAX]);
    // Noise is the second of the words.
    assert_eq!(column(&seen, "ppdu", LOST_TO), [u64::MAX, 1, u64::MAX]);
}

#[test]
fn unfinished_ppdu_is_held_back_from_batches() {
    let (mut tape, seen) = tape("ppdu", 0, u64::MAX);
    for turn in 0..80_000 {
        if turn == 65_000 {
            tape.begin(turn * 10, 1, 1);
        }
        tape.begin(turn * 10 + 1, 2, 2);
        tape.end(turn * 10 + 6, 2, 2, 4, false);
        if turn == 66_000 {
            assert_eq!(seen.lock().unwrap().iter().map(|(_, columns)| columns[NUMBER].len()).sum::<usize>(), 65_000);
            tape.end(turn * 10 + 7, 1, 1, 2, false);
        }
    }
    tape.close().unwrap();
    assert_eq!(column(&seen, "ppdu", NUMBER), (0..80_001).collect::<Vec<u64>>());
    let decoded = column(&seen, "ppdu", DECODED);
    assert_eq!((decoded[65_000], decoded.iter().filter(|n| **n == 4).count()), (2, 80_000));
}

#[test]
fn an_exchange_lasts_as_long_as_it_goes_on() {
    let (mut tape, seen) = tape("ppdu", 0, 100);
    tape.begin(0, 1, 1);
    tape.end(5, 1, 1, 4, true);
    tape.begin(6, 0, 1);
    tape.begin(7, 2, 2);
    tape.end(11, 0, 1, 4, false);
    tape.end(12, 2, 2, 0, false);
    tape.begin(20, 1, 1);
    tape.close().unwrap();
    assert_eq!(column(&seen, "ppdu", EXCHANGE), [0, 0, 1, 2]);
}

#[test]
fn only_events_that_begin_in_its_time_are_recorded() {
    let (mut tape, seen) = tape("air", 10, 20);
    let run =
        |packet| Run { flow: FlowId(0), up: true, packet, packets: 1, data_bytes: 40, ack_bytes: 0, decoded: true };
    for (turn, at) in [5, 10, 19, 20].into_iter().enumerate() {
        tape.begin(at, 1, 1);
        tape.detail(Time::from_nanos(at), Detail::Carries { node: NodeId(1), part: 0, run: run(turn as u32) });
        tape.end(at + 1, 1, 1, 4, false);
    }
    tape.close().unwrap();
    assert_eq!(column(&seen, "ppdu", 1), [10, 19]);
    assert_eq!((column(&seen, "carries", 0), column(&seen, "carries", 3)), (vec![0, 1], vec![1, 2]));
}

#[test]
fn data_sent_before_the_recording_is_known_in_it() {
    let (mut tape, seen) = tape("segment", 10, 100);
    let segment = SegmentFacts {
        flow: FlowId(0),
        connection: 0,
        host: Host::Station,
        sent: true,
        seq: 1000,
        ack: 0,
        payload: 500,
        window: 0,
        flags: 16,
        sack_blocks: 0,
        sack: None,
        packet: 1,
        packet_bytes: 552,
    };
    tape.detail(Time::from_nanos(5), Detail::Segment(segment));
    tape.detail(Time::from_nanos(15), Detail::Segment(segment));
    tape.detail(Time::from_nanos(16), Detail::Segment(SegmentFacts { sent: false, host: Host::Server, ..segment }));
    tape.close().unwrap();
    let (again, up) = (13, 14);
    assert_eq!(column(&seen, "segment", again), [1, u64::MAX]);
    assert_eq!(column(&seen, "segment", up), [1, 1]);
}

#[test]
fn a_window_is_known_when_the_recording_begins_and_where_its_sender_stands_too() {
    let (mut tape, seen) = tape("window", 10, 100);
    let flow = FlowId(0);
    let window = |cwnd, ssthresh| Record::Window { flow, cwnd, ssthresh, flight_bytes: 2000 };
    tape.observe(Time::from_nanos(5), window(10.0, f64::INFINITY));
    tape.detail(Time::from_nanos(12), Detail::Stands { flow, at: CaState::Open });
    tape.detail(Time::from_nanos(20), Detail::Stands { flow, at: CaState::Recovery });
    tape.observe(Time::from_nanos(20), window(7.0, 7.0));
    tape.close().unwrap();
    assert_eq!(column(&seen, "window", 0), [20, 20]);
    assert_eq!(column(&seen, "window", 2).into_iter().map(f64::from_bits).collect::<Vec<_>>(), [10.0, 7.0]);
    assert!(f64::from_bits(column(&seen, "window", 3)[0]).is_nan());
    // Recovery is the fourth of the words.
    assert_eq!(column(&seen, "window", 5), [3, 3]);
}

#[test]
fn a_wait_that_goes_on_is_one_row() {
    let (mut tape, seen) = tape("waits", 0, 100);
    for (at, withholds_ack) in [(1, false), (2, false), (3, true), (4, true), (5, false)] {
        let step = Step::Waits { flow: FlowId(0), hold: Hold::Pacing, awaits_answer: true, withholds_ack };
        tape.observe(Time::from_nanos(at), Record::Step(step));
    }
    tape.close().unwrap();
    assert_eq!(column(&seen, "waits", 0), [1, 3, 5]);
}

#[test]
fn nothing_is_handed_over_after_a_failure() {
    struct Full(Arc<Mutex<u32>>);
    impl Sink for Full {
        fn take(&mut self, _: &Batch<'_>) -> Result<(), String> {
            *self.0.lock().unwrap() += 1;
            Err("the disk is full".into())
        }
        fn finish(&mut self) -> Result<(), String> {
            panic!("it is not finished")
        }
    }
    let asked = Arc::new(Mutex::new(0));
    let layout = Layout {
        flows: Vec::new(),
        nodes: 1,
        aps: 1,
        links: 0,
        channels: 1,
        several_users: Vec::new(),
        interferers: false,
    };
    let span = Span { from: Time::ZERO, until: Time::NEVER };
    let sink = Box::new(Full(Arc::clone(&asked)));
    let mut tape = Tape::new(&layout, Chosen::named("queue").unwrap(), span, sink);
    for at in 0..200_000 {
        tape.observe(Time::from_nanos(at), Record::Queue { node: NodeId(0), packets: 1, tcp_acks: 0 });
    }
    assert_eq!((*asked.lock().unwrap(), tape.failure()), (1, Some("the disk is full")));
    assert_eq!(tape.close(), Err("the disk is full".into()));
}
