//! Promises of all metrics: a summary covers the time after the warm-up, and reading changes nothing.

use lasthop_observe::metric::airtime;
use lasthop_observe::metric::drops::{
    ACKS_FILTERED, DROPS, DROPS_DATA, DROPS_EARLY, DROPS_TAIL, DROPS_TCP_ACK, GIVEN_UP, MARKS, WIRED_DROPS,
    WIRED_DROPS_EARLY, WIRED_DROPS_TAIL, WIRED_MARKS,
};
use lasthop_observe::metric::frames::FRAMES_SENT;
use lasthop_observe::metric::goodput::{GOODPUT, GOODPUT_OF_UPLOADS, STARVED};
use lasthop_observe::metric::medium::BUSY;
use lasthop_observe::metric::queue::QUEUE_MEAN;
use lasthop_observe::metric::segments::{SEGMENTS_SENT, TIMEOUTS};
use lasthop_observe::metric::window::CWND_MEAN;
use lasthop_observe::{
    Collector, DropReason, FlowId, Layout, LinkId, NodeId, Observer, Outcome, QueueLayer, Record, Report, TimeSeries,
    Transport, Watcher,
};
use lasthop_units::{DataRate, Duration, Time};

fn layout() -> Layout {
    Layout {
        flows: vec![(Transport::Tcp, true), (Transport::Udp, false)],
        nodes: 2,
        aps: 1,
        links: 2,
        channels: 1,
        several_users: Vec::new(),
        interferers: false,
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// One of each record, twice, the second a second later.
fn records() -> Vec<(Time, Record)> {
    let (flow, node, ap, link) = (FlowId(0), NodeId(1), NodeId(0), LinkId(0));
    let once = [
        Record::Delivered { flow, bytes: 125_000 },
        Record::SegmentSent { flow, retransmission: true },
        Record::Window { flow, cwnd: 10.0, ssthresh: f64::INFINITY, flight_bytes: 3000 },
        Record::Rtt { flow, sample: Duration::from_millis(20), controller: None },
        Record::Timeout { flow },
        Record::Completed { flow, took: Duration::from_millis(300) },
        Record::Queue { node, packets: 4, tcp_acks: 1 },
        Record::Dropped {
            node,
            flow,
            layer: QueueLayer::Interface,
            reason: DropReason::QueueFull,
            tcp_ack: true,
            arrived: false,
            up: false,
            packet: 0,
        },
        Record::Dropped {
            node,
            flow,
            layer: QueueLayer::Mac,
            reason: DropReason::RetryLimit,
            tcp_ack: false,
            arrived: false,
            up: false,
            packet: 0,
        },
        Record::Dropped {
            node,
            flow,
            layer: QueueLayer::Interface,
            reason: DropReason::Early,
            tcp_ack: false,
            arrived: false,
            up: false,
            packet: 0,
        },
        Record::Dropped {
            node,
            flow,
            layer: QueueLayer::Interface,
            reason: DropReason::AckFiltered,
            tcp_ack: true,
            arrived: false,
            up: false,
            packet: 0,
        },
        Record::Marked { node, layer: QueueLayer::Interface, count: 3 },
        Record::Dropped {
            node: ap,
            flow,
            layer: QueueLayer::WiredDown,
            reason: DropReason::Early,
            tcp_ack: false,
            arrived: false,
            up: false,
            packet: 0,
        },
        Record::Marked { node: ap, layer: QueueLayer::WiredUp, count: 2 },
        Record::Attempt {
            link,
            node,
            rate: DataRate::from_bps(11_000_000),
            mpdus: 1,
            acknowledged: 0,
            retry: false,
            outcome: Outcome::Collision,
        },
        Record::RateChange { link, rate: DataRate::from_bps(5_500_000), down: true, after: Outcome::Collision },
        Record::FrameDelivered { link, delay: Duration::from_millis(2) },
        Record::Airtime { node, link: Some(link), duration: Duration::from_millis(100) },
        Record::OnAir { channel: 0, count: 1 },
        Record::Contenders { count: 2 },
    ];
    let on = |ms: u64| (at(ms - 100), Record::TransmitterOn { node, link: Some(link) });
    [500, 1500].into_iter().flat_map(|ms| [on(ms)].into_iter().chain(once.map(|record| (at(ms), record)))).collect()
}

fn observe(warmup_ms: u64) -> Report {
    observe_with(warmup_ms, ()).0
}

/// The report with this warm-up, and the observer, which was sampled.
fn observe_with<O: Watcher>(warmup_ms: u64, observer: O) -> (Report, O) {
    let mut collector = Collector::new(layout(), observer);
    let mut started = false;
    for (time, record) in records() {
        if !started && time >= at(warmup_ms) {
            collector.start(at(warmup_ms));
            started = true;
        }
        while collector.observer().next_sample() <= time {
            let due = collector.observer().next_sample();
            collector.sample(due);
        }
        collector.observe(time, record);
    }
    (collector.report(at(2000)), collector.into_parts().1)
}

fn all(report: &Report) -> String {
    format!("{report:?}")
}

#[test]
fn taking_samples_changes_no_summary() {
    let series = TimeSeries::new(&layout(), Duration::from_millis(100), Duration::from_secs(2));
    let (report, series) = observe_with(0, Some(series));
    assert_eq!(all(&observe(0)), all(&report));
    let blocks = series.expect("it was there").into_series().blocks;
    assert!(!blocks.is_empty() && blocks.iter().all(|block| block.values.len() == 15 * block.entities.len()));
}

#[test]
fn series_know_no_warm_up_and_two_may_watch_at_different_times() {
    let series = |ms| TimeSeries::new(&layout(), Duration::from_millis(ms), Duration::from_secs(2));
    let goodput = |series: TimeSeries| {
        let blocks = series.into_series().blocks;
        blocks.into_iter().find(|block| block.quantity.is(GOODPUT.definition())).expect("it is kept").values
    };
    let (_, (fast, slow)) = observe_with(1000, (series(500), series(700)));
    // 125,000 B at 500 and at 1500 ms; a sample excludes events of its own instant. Two flows: the second is
    // silent.
    assert_eq!(goodput(fast), [0.0, 0.0, 2e6, 0.0, 0.0, 0.0]);
    assert_eq!(goodput(slow), [1e6 / 0.7, 0.0, 0.0, 0.0]);
}

#[test]
fn events_of_the_warm_up_do_not_count() {
    let report = observe(1000);
    let (flow, node, link) = (&report.flows[0], &report.nodes[1], &report.links[0]);
    // 125,000 B in the second after the warm-up.
    assert_eq!(flow.get(GOODPUT), Some(1e6));
    assert_eq!(report.totals.get(GOODPUT_OF_UPLOADS), Some(1e6));
    for quantity in [SEGMENTS_SENT, TIMEOUTS] {
        assert_eq!(flow.get(quantity), Some(1), "{quantity:?}");
    }
    for quantity in [DROPS_TCP_ACK, GIVEN_UP, FRAMES_SENT] {
        assert_eq!(node.get(quantity), Some(1), "{quantity:?}");
    }
    // 100 ms in a second.
    assert_eq!(link.get(airtime::OF_LINK), Some(0.1));
}

#[test]
fn ppdu_across_the_edge_counts_in_part() {
    // 1400 to 1500 ms; 50 ms of them in the 550 ms from 1450 ms on.
    let within = observe(1450).links[0].get(airtime::OF_LINK);
    assert!(within.is_some_and(|share| (share - 50.0 / 550.0).abs() < 1e-12), "{within:?}");
    let mut collector = Collector::new(layout(), ());
    collector.observe(at(90), Record::TransmitterOn { node: NodeId(1), link: None });
    let on = collector.report(at(100)).nodes[1].get(airtime::OF_NODE);
    assert!(on.is_some_and(|share| (share - 0.1).abs() < 1e-12), "{on:?}");
}

#[test]
fn drops_and_marks_are_counted_by_queue_and_by_reason() {
    let report = observe(1000);
    for (node, quantity, count) in [
        // A filtered ACK is not a drop.
        (1, DROPS, 2),
        (1, DROPS_TAIL, 1),
        (1, DROPS_EARLY, 1),
        (1, DROPS_TCP_ACK, 1),
        (1, DROPS_DATA, 1),
        (1, ACKS_FILTERED, 1),
        (0, DROPS, 0),
        (0, WIRED_DROPS, 1),
        (0, WIRED_DROPS_EARLY, 1),
        (0, WIRED_DROPS_TAIL, 0),
        (0, WIRED_MARKS, 2),
    ] {
        assert_eq!(report.nodes[node].get(quantity), Some(count), "{quantity:?} of {node}");
    }
    assert_eq!([0, 1].map(|node: usize| report.nodes[node].get(MARKS)), [Some(0), Some(3)]);
}

#[test]
fn state_of_the_warm_up_continues() {
    let report = observe(1000);
    // The queue had held four packets since 0.5 s, the medium had been busy, the window ten.
    assert_eq!(report.nodes[1].get(QUEUE_MEAN), Some(4.0));
    assert_eq!(report.medium.get(BUSY), Some(1.0));
    assert_eq!(report.flows[0].get(CWND_MEAN), Some(10.0));
}

#[test]
fn a_flow_without_a_window_has_none() {
    let report = observe(0);
    assert_eq!(report.flows[1].get(CWND_MEAN), None);
    assert_eq!(report.flows[1].get(GOODPUT), Some(0.0));
    assert_eq!(report.flows[1].get(STARVED), Some(2.0));
}
