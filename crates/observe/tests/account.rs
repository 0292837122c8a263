//! The account as a reader of records: each case is written by hand.
//!
//! Two stations (1, 2) and their AP (0) on one channel; flow 0 is the upload of station 1, flow 1 that of station 2.

use lasthop_observe::account::{Account, Balance, Fate, FlowEnds, Kind, NodeFacts, Place, Rival, Term};
use lasthop_observe::{
    DropReason, End, FlowId, Hold, LinkId, NodeId, Observer, Outcome, Payload, QueueLayer, Record, Start, Step, Watcher,
};
use lasthop_units::{DataRate, Duration, Time};

const AP: NodeId = NodeId(0);

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_micros(us)
}

struct Books(Account);

impl Books {
    fn new(aggregates: bool) -> Books {
        let ends = [1, 2].map(|station| FlowEnds { station: NodeId(station), ap: AP, function: 0 });
        Books(Account::new(&ends, &[NodeFacts { channel: 0, aggregates }; 3], 1))
    }
    fn tell(&mut self, at: u64, step: Step) {
        self.0.observe(us(at), Record::Step(step));
    }
    /// A packet of `flow` enters its station, and its MAC if `taken`.
    fn packet(&mut self, at: u64, flow: u32, taken: bool) {
        let (node, flow) = (NodeId(flow + 1), FlowId(flow));
        self.tell(at, Step::Emitted { flow });
        self.tell(at, Step::Enters { node, flow, tcp_ack: false });
        if taken {
            self.tell(at, Step::Taken { node, flow });
        }
    }
    /// A data PPDU of a node begins, over a missed PPDU or not; it will be lost to a collision.
    fn doomed(&mut self, at: u64, node: NodeId, overlaps_missed: bool) {
        let airtime = Duration::from_micros(100);
        let (initiator, link, payload) = (node, Some(LinkId(0)), Payload::Packets);
        let (channel, to_all, at_best) = (0, true, airtime);
        self.tell(
            at,
            Step::Start(Start {
                node,
                initiator,
                link,
                payload,
                channel,
                to_all,
                airtime,
                at_best,
                of_several: false,
                padding: Duration::ZERO,
                overlaps_missed,
            }),
        );
    }
    fn collided(&mut self, at: u64, node: NodeId) {
        let lost_to = Some(Outcome::Collision);
        self.tell(at, Step::End(End { node, initiator: node, mpdus: 1, decoded: 0, lost_to, goes_on: false }));
    }
    fn start(&mut self, at: u64, node: NodeId, initiator: NodeId, payload: Payload, (airtime, at_best): (u64, u64)) {
        let (airtime, at_best) = (Duration::from_micros(airtime), Duration::from_micros(at_best));
        let link = Some(LinkId(2 * (initiator.0.max(1) - 1)));
        let start = Start {
            node,
            initiator,
            link,
            payload,
            channel: 0,
            to_all: true,
            airtime,
            at_best,
            of_several: false,
            padding: Duration::ZERO,
            overlaps_missed: false,
        };
        self.tell(at, Step::Start(start));
    }
    fn carries(&mut self, at: u64, initiator: NodeId, flow: u32, data_bytes: u32, ack_bytes: u32) {
        self.tell(at, Step::Carries { initiator, flow: FlowId(flow), data_bytes, ack_bytes });
    }
    fn end(&mut self, at: u64, node: NodeId, initiator: NodeId, (decoded, mpdus): (u32, u32), goes_on: bool) {
        let lost_to = (decoded < mpdus).then_some(Outcome::Noise);
        self.tell(at, Step::End(End { node, initiator, mpdus, decoded, lost_to, goes_on }));
    }
    fn attempt(&mut self, at: u64, node: NodeId, outcome: Outcome) {
        let (link, rate) = (LinkId(2 * (node.0 - 1)), DataRate::from_bps(11_000_000));
        let (mpdus, acknowledged, retry) = (1, u32::from(outcome == Outcome::Success), false);
        self.0.observe(us(at), Record::Attempt { link, node, rate, mpdus, acknowledged, retry, outcome });
    }
    /// Data from 100 to 200 us of which 60 would have been enough, SIFS, and its acknowledgement to 250 us.
    fn exchange(&mut self, node: NodeId, flows: &[(u32, u32, u32)], decoded: (u32, u32)) {
        self.start(100, node, node, Payload::Packets, (100, 60));
        for &(flow, data, acks) in flows {
            self.carries(100, node, flow, data, acks);
        }
        self.end(200, node, node, decoded, true);
        // Announced a SIFS ahead, when it is known that it will follow.
        self.start(210, AP, node, Payload::Acknowledgement, (40, 40));
        self.attempt(250, node, Outcome::Success);
        self.end(250, AP, node, (1, 1), false);
    }
    fn close(self, at: u64) -> Balance {
        self.0.close(us(at))
    }
}

fn term(balance: &Balance, flow: usize, term: Term) -> u64 {
    balance.flows[flow].terms.iter().find(|(t, _)| *t == term).unwrap().1.as_nanos() / 1000
}

#[test]
fn successful_exchange_is_data_control_and_time_lost_to_a_low_rate() {
    let mut books = Books::new(false);
    books.packet(0, 0, true);
    books.exchange(NodeId(1), &[(0, 1500, 0)], (1, 1));
    let balance = books.close(250);
    let found = [Term::Backoff, Term::OwnData, Term::RateBelowBest, Term::OwnControl].map(|t| term(&balance, 0, t));
    assert_eq!(found, [100, 60, 40, 50]);
    let channel = &balance.channels[0];
    let of_station = |kind| channel.nodes[1].get(kind, Fate::Arrived).as_nanos() / 1000;
    assert_eq!([Kind::Data, Kind::BelowBest].map(of_station), [60, 40]);
    assert_eq!(channel.nodes[0].get(Kind::Control, Fate::Arrived), Duration::from_micros(40));
    assert_eq!((channel.within_exchanges, channel.contending), (Duration::from_micros(10), Duration::from_micros(100)));
}

#[test]
fn an_a_mpdu_is_shared_by_bytes_and_counts_by_the_mpdus_that_arrived() {
    let mut books = Books::new(true);
    books.packet(0, 0, true);
    books.packet(0, 1, true);
    // Flow 0 has three quarters of the bytes, half of them ACKs; one MPDU of four is lost to noise.
    books.exchange(NodeId(1), &[(0, 1500, 1500), (1, 1000, 0)], (3, 4));
    let balance = books.close(250);
    // 112.5 of 150 us; 100 / 150 of that on the air: 75; three quarters of it arrived: 56.25; 60 % at the best rate.
    assert_eq!(term(&balance, 0, Term::WaitingForOthers), 37);
    assert_eq!(term(&balance, 0, Term::OwnControl), 37);
    assert_eq!(term(&balance, 0, Term::Noise), 18);
    assert_eq!(term(&balance, 0, Term::RateBelowBest), 22);
    assert_eq!([Term::OwnData, Term::OwnAcks].map(|t| term(&balance, 0, t)), [16, 16]);
}

#[test]
fn a_failed_exchange_is_all_its_cause_and_to_others_a_collision() {
    let mut books = Books::new(false);
    books.packet(0, 0, true);
    books.packet(0, 1, true);
    books.start(100, NodeId(1), NodeId(1), Payload::Packets, (100, 100));
    books.carries(100, NodeId(1), 0, 1500, 0);
    books.attempt(200, NodeId(1), Outcome::Collision);
    books.end(200, NodeId(1), NodeId(1), (0, 1), false);
    let balance = books.close(250);
    assert_eq!([Term::Collisions, Term::Backoff].map(|t| term(&balance, 0, t)), [100, 150]);
    assert_eq!(balance.flows[1].waits, [(Rival::Collisions, Duration::from_micros(100))]);
}

#[test]
fn a_collision_is_of_a_missed_preamble_while_one_is_on_the_air_that_began_after_it() {
    let mut books = Books::new(false);
    // The AP and station 1 begin at 100 us, the AP until 300 us; station 1, which missed it, sends from 150 to 250 us, and station 2
    // overlaps the end, to 330 us.
    books.doomed(100, AP, false);
    books.doomed(100, NodeId(1), false);
    books.collided(120, NodeId(1));
    books.doomed(150, NodeId(1), true);
    books.collided(250, NodeId(1));
    books.doomed(280, NodeId(2), true);
    books.collided(300, AP);
    books.collided(330, NodeId(2));
    let balance = books.close(400);
    let channel = &balance.channels[0];
    let of =
        |node: usize| [Fate::Collided, Fate::OverlapsMissed].map(|f| channel.nodes[node].of_fate(f).as_nanos() / 1000);
    // 100 and 20 of the AP's 200 us are overlapped by station 1; the last 30 belong to station 2.
    assert_eq!([0, 1, 2].map(of), [[80, 120], [0, 0], [0, 30]]);
    assert_eq!(channel.overlaps_missed, 2);
}

#[test]
fn packets_behind_the_mac_head_are_queued_until_the_head_is_known() {
    for (aggregates, carried) in [(false, false), (true, false), (true, true)] {
        let mut books = Books::new(aggregates);
        books.packet(0, 1, false);
        let flow = if carried { 1 } else { 0 };
        books.packet(0, 0, flow == 0);
        let of = NodeId(flow + 1);
        books.exchange(of, &[(flow, 1500, 0)], (1, 1));
        let balance = books.close(250);
        // Before its own A-MPDU a packet was at the head all the time; without one it was in a queue.
        assert_eq!(term(&balance, 1, Term::Backoff), if carried { 100 } else { 0 }, "{aggregates} {carried}");
        assert_eq!(term(&balance, 1, Term::Queues), if carried { 0 } else { 250 }, "{aggregates} {carried}");
        if !carried {
            let (place, queue) = &balance.flows[1].queues[0];
            assert_eq!(*place, Place::Station);
            let behind = [None, Some(Rival::Link(LinkId(0)))].map(|rival| queue.meanwhile[&rival].as_nanos() / 1000);
            assert_eq!(behind, [100, 150]);
        }
    }
}

#[test]
fn with_empty_mac_and_queue_the_hold_of_the_ends_counts() {
    let cases = [
        (Hold::CongestionWindow, true, Term::CongestionWindow),
        (Hold::ReceiveWindow, true, Term::ReceiveWindow),
        (Hold::Application, true, Term::OnTheWire),
        (Hold::Pacing, true, Term::Pacing),
        (Hold::Opening, true, Term::Opening),
        (Hold::Device, true, Term::Device),
        (Hold::CongestionWindow, false, Term::RtoSilence),
        (Hold::Application, false, Term::RtoSilence),
        (Hold::Opening, false, Term::RtoSilence),
        (Hold::ReceiveWindow, false, Term::ReceiveWindow),
        (Hold::Pacing, false, Term::Pacing),
    ];
    for (hold, under_way, expected) in cases {
        let mut books = Books::new(false);
        let flow = FlowId(0);
        books.tell(0, Step::Emitted { flow });
        books.tell(0, Step::Waits { flow, hold, awaits_answer: true, withholds_ack: false });
        if !under_way {
            books.tell(0, Step::Arrived { flow });
        }
        assert_eq!(term(&books.close(50), 0, expected), 50, "{hold:?} {under_way}");
    }
}

#[test]
fn an_ack_that_is_withheld_is_under_way_and_a_sender_that_awaits_nothing_is_idle() {
    for (withholds_ack, expected) in [(true, Term::OnTheWire), (false, Term::ApplicationIdle)] {
        let mut books = Books::new(false);
        let waits =
            Step::Waits { flow: FlowId(0), hold: Hold::Application, awaits_answer: withholds_ack, withholds_ack };
        books.tell(0, waits);
        assert_eq!(term(&books.close(50), 0, expected), 50);
    }
}

#[test]
fn a_full_window_with_nothing_under_way_and_no_timer_is_not_explained() {
    let mut books = Books::new(false);
    let (flow, hold) = (FlowId(0), Hold::CongestionWindow);
    books.tell(0, Step::Waits { flow, hold, awaits_answer: false, withholds_ack: false });
    assert_eq!(term(&books.close(50), 0, Term::Unattributed), 50);
}

#[test]
fn dropped_packet_is_nowhere_unless_it_had_arrived() {
    for (arrived, expected) in [(false, Term::RtoSilence), (true, Term::OnTheWire)] {
        let mut books = Books::new(false);
        let (node, flow) = (NodeId(1), FlowId(0));
        books.packet(0, 0, true);
        books.tell(0, Step::Waits { flow, hold: Hold::Application, awaits_answer: true, withholds_ack: false });
        let (layer, reason) = (QueueLayer::Mac, DropReason::RetryLimit);
        let (tcp_ack, up, packet) = (false, true, 0);
        books.0.observe(us(10), Record::Dropped { node, flow, layer, reason, tcp_ack, arrived, up, packet });
        books.tell(10, Step::Leaves { node, flow });
        assert_eq!(term(&books.close(50), 0, expected), 40);
    }
}

#[test]
fn the_warm_up_does_not_count_and_an_exchange_over_its_end_counts_by_its_part() {
    let mut books = Books::new(false);
    books.packet(0, 0, true);
    books.start(100, NodeId(1), NodeId(1), Payload::Packets, (100, 60));
    books.carries(100, NodeId(1), 0, 1500, 0);
    books.0.start(us(150));
    books.attempt(200, NodeId(1), Outcome::Success);
    books.end(200, NodeId(1), NodeId(1), (1, 1), false);
    let balance = books.close(200);
    assert_eq!(balance.covered, Duration::from_micros(50));
    assert_eq!([Term::OwnData, Term::RateBelowBest].map(|t| term(&balance, 0, t)), [30, 20]);
}
