//! Behaviour of `airtime_fq_codel`: equal airtime, and pending airtime within its limits.

use crate::packets;

use lasthop_engine::Stream;
use lasthop_link::queue_discipline::L4s;
use lasthop_link::queue_discipline::airtime_fq_codel::Params;
use lasthop_link::queue_discipline::law::dual::Class;
use lasthop_link::{AirtimeUse, Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{DropReason, NodeId};
use lasthop_registry::{Parameter, Switch, Value};
use lasthop_units::{Bytes, DataRate, Duration, Ecn, Packets, Time};
use packets::{capable, ms, packet, queue};

fn airtime_fq_codel(params: Params) -> Box<dyn QueueDiscipline<u64>> {
    queue(&QueueDisciplineKind::AirtimeFqCodel(params))
}

fn mbps(rate: f64) -> DataRate {
    DataRate::from_bps((rate * 1e6) as u64)
}

/// Packets that left, each with the ECN field with which it had come.
type Left = Vec<(Ecn, Packet<u64>)>;

/// A queue with L4S after packets of all ECN fields and bursts of departures.
fn with_l4s(l4s: &str) -> (Box<dyn QueueDiscipline<u64>>, Left) {
    let l4s = Some(Switch::On(L4s::parse(&Value::text(l4s), "l4s").unwrap()));
    let mut queue = airtime_fq_codel(Params { l4s, aql: false, ..Params::default() });
    let mut random = Stream::new(7, "l4s", 0);
    let (mut came, mut left, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..20_000 {
        let now = Time::ZERO + Duration::from_micros(200 * number);
        let ecn = Ecn::from_bits(random.up_to(3) as u8);
        let mut one = packet(random.up_to(2), 40 + random.up_to(1460), number, now);
        one.meta.ecn = ecn;
        came.push(ecn);
        queue.enqueue(now, one, &mut dropped);
        if random.chance(0.05) {
            for _ in 0..random.up_to(40) {
                let gone = queue.dequeue(now, Wanted::ANY, &mut dropped);
                left.extend(gone.map(|packet| (came[packet.body as usize], packet)));
            }
        }
    }
    (queue, left)
}

#[test]
fn each_l4s_mark_is_of_one_packet_that_leaves() {
    for kind in ["step", "dual"] {
        let (queue, left) = with_l4s(kind);
        let mut numbers: Vec<u64> = left.iter().map(|(_, packet)| packet.body).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), left.len(), "{kind}: a packet leaves once");
        let new = left.iter().filter(|(came, packet)| *came != packet.meta.ecn);
        let (l4s, classic): (Vec<_>, Vec<_>) = new.partition(|(came, _)| *came == Ecn::Ect1);
        assert!(l4s.len() > 500 && l4s.iter().all(|(_, packet)| packet.meta.ecn == Ecn::Ce), "{kind}: {}", l4s.len());
        let by_class = queue.by_class().unwrap();
        let (of_l4s, of_classic) = (by_class.of(Class::L4s).marks, by_class.of(Class::Classic).marks);
        assert_eq!(queue.marks(), of_l4s + of_classic, "{kind}");
        assert_eq!(of_classic, classic.len() as u64, "{kind}");
        // Packets that came with CE are L4S packets, and a law counts those that it would have marked.
        let with_ce = left.iter().filter(|(came, _)| *came == Ecn::Ce).count() as u64;
        assert!((l4s.len() as u64..=l4s.len() as u64 + with_ce).contains(&of_l4s), "{kind}: {of_l4s}");
        assert!(by_class.marks_of_bursts <= of_l4s);
    }
}

#[test]
fn a_step_marks_what_waited_longer_and_nothing_else() {
    let l4s = Some(Switch::On(L4s::parse(&Value::text("step"), "l4s").unwrap()));
    let mut queue = airtime_fq_codel(Params { l4s, ..Params::default() });
    let mut dropped = Vec::new();
    for number in 0..4 {
        let mut one = packet(0, BYTES, number, Time::ZERO);
        one.meta.ecn = if number == 3 { Ecn::Ect0 } else { Ecn::Ect1 };
        queue.enqueue(Time::ZERO, one, &mut dropped);
    }
    let mut at = |at_us| {
        let now = Time::ZERO + Duration::from_micros(at_us);
        queue.dequeue(now, Wanted::ANY, &mut dropped).map(|packet| packet.meta.ecn)
    };
    // "Longer than" 1 ms; the last one is not L4S, and CoDel waits for 100 ms.
    let fields = [at(999), at(1_000), at(1_001), at(3_000)];
    assert_eq!(fields, [Some(Ecn::Ect1), Some(Ecn::Ect1), Some(Ecn::Ce), Some(Ecn::Ect0)]);
    // All came before the first service; the third left at the third one, after others of its TXQ.
    assert_eq!((queue.marks(), queue.by_class().unwrap().marks_of_bursts), (1, 0));
}

/// An AP that sends aggregates of up to 4 ms to the station whose turn it is; packets for all stations always wait.
struct Cell {
    queue: Box<dyn QueueDiscipline<u64>>,
    now: Time,
    rates: Vec<DataRate>,
    down: Vec<Duration>,
    up: Vec<Duration>,
    sent: u64,
}

/// Preamble, Block Ack and the spaces of an aggregate.
const OVERHEAD: Duration = Duration::from_micros(150);
const BYTES: u32 = 1500;

impl Cell {
    fn new(params: Params, rates_mbps: &[f64]) -> Cell {
        let rates: Vec<DataRate> = rates_mbps.iter().map(|rate| mbps(*rate)).collect();
        let none = vec![Duration::ZERO; rates.len()];
        let queue = airtime_fq_codel(params);
        let mut cell = Cell { queue, now: Time::ZERO, rates, down: none.clone(), up: none, sent: 0 };
        for station in 0..cell.rates.len() {
            (0..200).for_each(|_| cell.refill(station as u32));
        }
        cell
    }

    fn refill(&mut self, station: u32) {
        let mut dropped = Vec::new();
        self.sent += 1;
        // ECN keeps CoDel from emptying queues of sources that never yield.
        self.queue.enqueue(self.now, capable(packet(station, BYTES, self.sent, self.now)), &mut dropped);
        assert!(dropped.is_empty());
    }

    fn use_air(&mut self, station: usize, up: bool, airtime: Duration) {
        self.now += airtime;
        let used = AirtimeUse { station: NodeId(station as u32), up, airtime, rate: self.rates[station] };
        self.queue.on_airtime(self.now, &used);
        let so_far = if up { &mut self.up } else { &mut self.down };
        so_far[station] += airtime;
    }

    /// Sends one aggregate; returns its station.
    fn send(&mut self) -> usize {
        let node = self.queue.next_station(self.now, &[]).expect("packets wait for all");
        let station = node.0 as usize;
        let each = self.rates[station].time_for(Bytes(u64::from(BYTES)));
        let (mut airtime, mut taken, mut dropped) = (OVERHEAD, Vec::new(), Vec::new());
        // A packet that takes longer is sent alone.
        while taken.is_empty() || airtime + each <= Duration::from_millis(4) && taken.len() < 64 {
            let wanted = Wanted { station: Some(node), tid: Some(0) };
            let Some(packet) = self.queue.dequeue(self.now, wanted, &mut dropped) else {
                break;
            };
            assert_eq!(packet.meta.station, node);
            taken.push(packet);
            airtime += each;
        }
        assert!(!taken.is_empty());
        self.use_air(station, false, airtime);
        for packet in taken {
            self.queue.on_done(self.now, &packet.meta);
            self.refill(station as u32);
        }
        station
    }

    fn total_s(&self, station: usize) -> f64 {
        (self.down[station] + self.up[station]).as_secs_f64()
    }
}

#[test]
fn slow_and_fast_stations_get_equal_airtime() {
    // The three stations of "Ending the Anomaly": two fast, one at the lowest rate; then thirty.
    for rates in [vec![6.5, 130.0], vec![6.5, 130.0, 130.0], [vec![1.0], vec![72.2; 29]].concat()] {
        let mut cell = Cell::new(Params::default(), &rates);
        while cell.now < Time::ZERO + Duration::from_secs(60) {
            cell.send();
        }
        let mean_s = 60.0 / rates.len() as f64;
        for station in 0..rates.len() {
            assert!((cell.total_s(station) / mean_s - 1.0).abs() < 0.01, "{station}: {} s", cell.total_s(station));
        }
    }
}

#[test]
fn a_weight_of_twice_as_much_gets_twice_the_airtime() {
    let mut cell = Cell::new(Params::default(), &[6.5, 130.0]);
    cell.queue.set_weight(NodeId(1), 512);
    while cell.now < Time::ZERO + Duration::from_secs(60) {
        cell.send();
    }
    assert!((cell.total_s(1) / cell.total_s(0) - 2.0).abs() < 0.02, "{} {}", cell.total_s(0), cell.total_s(1));
}

#[test]
fn uplink_airtime_reduces_a_stations_downlink_share() {
    // Station 0 sends for 1 ms after each aggregate of the AP.
    let mut cell = Cell::new(Params::default(), &[65.0, 65.0]);
    while cell.now < Time::ZERO + Duration::from_secs(60) {
        cell.send();
        cell.use_air(0, true, Duration::from_millis(1));
    }
    assert!((cell.total_s(0) / cell.total_s(1) - 1.0).abs() < 0.01, "{} {}", cell.total_s(0), cell.total_s(1));
    // It sends for a fifth of the whole: aggregates of 4 ms and 1 ms by turns, 12 s; 18 s of its 30 s are left.
    assert!((cell.down[0].as_secs_f64() / 18.0 - 1.0).abs() < 0.05, "{}", cell.down[0].as_secs_f64());
}

#[test]
fn station_without_queued_packets_pays_nothing_for_its_uplink() {
    // 10 s of uploads while no packet waits for it: it starts with its whole deficit, and comes first.
    let mut queue = airtime_fq_codel(Params::default());
    let used = AirtimeUse { station: NodeId(1), up: true, airtime: Duration::from_secs(10), rate: mbps(6.5) };
    queue.on_airtime(ms(1), &used);
    for station in [2, 1] {
        queue.enqueue(ms(20_000), packet(station, 1500, 0, ms(20_000)), &mut Vec::new());
    }
    assert_eq!(queue.next_station(ms(20_000), &[]), Some(NodeId(1)));
    // If it had had packets within the last 100 ms, it would pay.
    queue.on_airtime(ms(20_100), &used);
    assert_eq!(queue.next_station(ms(20_100), &[]), Some(NodeId(2)));
}

#[test]
fn the_first_packet_for_a_station_goes_before_those_of_busy_ones() {
    let mut cell = Cell::new(Params::default(), &[6.5; 5]);
    for _ in 0..20 {
        cell.send();
    }
    cell.queue.enqueue(cell.now, packet(77, 200, 0, cell.now), &mut Vec::new());
    assert_eq!(cell.queue.next_station(cell.now, &[]), Some(NodeId(77)));
}

#[test]
fn a_retransmission_waits_for_its_stations_turn() {
    let mut cell = Cell::new(Params::default(), &[6.5, 6.5]);
    let first = cell.send();
    let (first, second) = (NodeId(first as u32), NodeId(1 - first as u32));
    // The first station is 4 ms in debt and has a packet in the MAC that needs another attempt; it is the second one's
    // turn.
    assert_eq!(cell.queue.next_station(cell.now, &[first]), Some(second));
    // If it is alone, it has its turn, and it needs no packet in the queue.
    let mut queue = airtime_fq_codel(Params::default());
    queue.enqueue(ms(0), packet(1, 1500, 0, ms(0)), &mut Vec::new());
    assert!(queue.dequeue(ms(0), Wanted::ANY, &mut Vec::new()).is_some());
    let used = AirtimeUse { station: NodeId(1), up: false, airtime: Duration::from_millis(4), rate: mbps(6.5) };
    queue.on_airtime(ms(4), &used);
    assert_eq!(queue.next_station(ms(4), &[NodeId(1)]), Some(NodeId(1)));
    assert_eq!(queue.next_station(ms(4), &[]), None);
}

/// Takes packets for `stations` in turn, without the MAC finishing any, until none is left to take; returns those of
/// each.
fn hoard(queue: &mut dyn QueueDiscipline<u64>, stations: &[u32], now: Time) -> Vec<Vec<PacketMeta>> {
    let mut taken = vec![Vec::new(); stations.len()];
    loop {
        let before: usize = taken.iter().map(Vec::len).sum();
        for (place, station) in stations.iter().enumerate() {
            let wanted = Wanted { station: Some(NodeId(*station)), tid: None };
            taken[place].extend(queue.dequeue(now, wanted, &mut Vec::new()).map(|p| p.meta));
        }
        if taken.iter().map(Vec::len).sum::<usize>() == before {
            return taken;
        }
    }
}

#[test]
fn pending_airtime_stays_below_its_limits() {
    // 1538 B at 6.5 Mbit/s take 1893 us, and 20 us of overhead each, two in an aggregate: 1913 us.
    let queue_for = |params: Params, stations: &[u32]| {
        let mut queue = airtime_fq_codel(params);
        for station in stations {
            let used = AirtimeUse { station: NodeId(*station), up: false, airtime: Duration::ZERO, rate: mbps(6.5) };
            queue.on_airtime(ms(0), &used);
            (0..100).for_each(|body| queue.enqueue(ms(0), packet(*station, 1500, body, ms(0)), &mut Vec::new()));
        }
        queue
    };
    let counts = |taken: Vec<Vec<PacketMeta>>| taken.iter().map(Vec::len).collect::<Vec<_>>();
    // One station alone has the high limit of 12 ms. The seventh packet passes at 6 * 1913 = 11 478 us, the eighth does
    // not at 13 391 us.
    let mut alone = queue_for(Params::default(), &[1]);
    let taken = hoard(&mut *alone, &[1], ms(0));
    assert_eq!(taken[0].len(), 7);
    assert_eq!(alone.next_station(ms(0), &[]), None);
    assert!(alone.dequeue(ms(0), Wanted::ANY, &mut Vec::new()).is_none());
    // The MAC has finished one, so one more may pass.
    alone.on_done(ms(0), &taken[0][0]);
    assert_eq!(counts(hoard(&mut *alone, &[1], ms(0))), [1]);
    // Six stations at once: with 13 packets 24 ms are pending; from then on the low limit holds, 5 ms: 3 packets.
    assert_eq!(
        counts(hoard(&mut *queue_for(Params::default(), &[1, 2, 3, 4, 5, 6]), &[1, 2, 3, 4, 5, 6], ms(0))),
        [3; 6]
    );
    // Without limits all packets pass.
    let unlimited = Params { aql: false, ..Default::default() };
    assert_eq!(counts(hoard(&mut *queue_for(unlimited, &[1, 2]), &[1, 2], ms(0))), [100, 100]);
}

#[test]
fn the_more_stations_wait_the_more_may_be_pending_of_all() {
    // 13 391 us of station 1 are pending, and this debt keeps it in the round. With another station 12 ms + 2/2 ms of
    // all may be pending; with a third 12 ms + 2 * 2/2 ms.
    let aql_low = Duration::from_millis(2);
    let (mut queue, mut dropped) = (airtime_fq_codel(Params { aql_low, ..Default::default() }), Vec::new());
    let used = AirtimeUse { station: NodeId(1), up: false, airtime: Duration::ZERO, rate: mbps(6.5) };
    queue.on_airtime(ms(0), &used);
    (0..7).for_each(|body| queue.enqueue(ms(0), packet(1, 1500, body, ms(0)), &mut dropped));
    assert_eq!(hoard(&mut *queue, &[1], ms(0))[0].len(), 7);
    let now = ms(1);
    queue.enqueue(now, packet(2, 1500, 0, now), &mut dropped);
    assert_eq!(queue.next_station(now, &[]), None);
    queue.enqueue(now, packet(3, 1500, 0, now), &mut dropped);
    assert_eq!(queue.next_station(now, &[]), Some(NodeId(3)));
}

#[test]
fn a_faster_rate_makes_pending_packets_shorter() {
    let mut queue = airtime_fq_codel(Params::default());
    let used = |rate| AirtimeUse { station: NodeId(1), up: false, airtime: Duration::ZERO, rate: mbps(rate) };
    queue.on_airtime(ms(0), &used(6.5));
    (0..100).for_each(|body| queue.enqueue(ms(0), packet(1, 1500, body, ms(0)), &mut Vec::new()));
    assert_eq!(hoard(&mut *queue, &[1], ms(0))[0].len(), 7);
    queue.on_airtime(ms(0), &used(65.0));
    // 189.3 us and 40/16 us of overhead: 191.8 us, and 62.6 times that is 12 ms: the 63rd is the last, 56 more.
    assert_eq!(hoard(&mut *queue, &[1], ms(0))[0].len(), 56);
}

#[test]
fn flows_of_a_station_share_its_turns() {
    let (mut queue, mut dropped) = (airtime_fq_codel(Params::default()), Vec::new());
    let to_station_1 = |flow: u32, bytes: u32, body: u64| -> Packet<u64> {
        let mut packet = packet(flow, bytes, body, ms(0));
        packet.meta.station = NodeId(1);
        packet
    };
    (0..50).for_each(|body| queue.enqueue(ms(0), to_station_1(1, 1500, body), &mut dropped));
    for _ in 0..2 {
        queue.dequeue(ms(0), Wanted::ANY, &mut dropped);
    }
    queue.enqueue(ms(0), to_station_1(2, 200, 1000), &mut dropped);
    let wanted = Wanted { station: Some(NodeId(1)), tid: None };
    assert_eq!(queue.dequeue(ms(0), wanted, &mut dropped).map(|p| p.body), Some(1000));
}

#[test]
fn only_packets_of_the_wanted_station_and_tid_are_given() {
    for flows in [1, 4096] {
        let mut random = Stream::new(1, "wanted", u64::from(flows));
        let (mut queue, mut dropped) = (airtime_fq_codel(Params { flows, ..Default::default() }), Vec::new());
        let mut waiting = [[0u32; 3]; 4];
        for number in 0..20_000 {
            let (station, tid) = (random.up_to(3), random.up_to(2) as u8);
            if random.chance(0.5) {
                let mut packet = packet(random.up_to(9), 1500, number, ms(0));
                (packet.meta.station, packet.meta.tid) = (NodeId(station), tid);
                waiting[station as usize][usize::from(tid)] += 1;
                queue.enqueue(ms(0), packet, &mut dropped);
                continue;
            }
            let wanted = Wanted {
                station: random.chance(0.5).then_some(NodeId(station)),
                tid: random.chance(0.5).then_some(tid),
            };
            let out = queue.dequeue(ms(0), wanted, &mut dropped);
            let matches = |s: usize, t: usize| {
                wanted.station.is_none_or(|w| w.0 as usize == s) && wanted.tid.is_none_or(|w| usize::from(w) == t)
            };
            let has = (0..4).any(|s| (0..3).any(|t| matches(s, t) && waiting[s][t] > 0));
            assert_eq!(out.is_some(), has, "step {number}: {wanted:?}");
            if let Some(packet) = out {
                assert!(wanted.includes(&packet.meta));
                waiting[packet.meta.station.0 as usize][usize::from(packet.meta.tid)] -= 1;
            }
        }
        assert!(dropped.is_empty() && queue.packets() == waiting.iter().flatten().sum());
    }
}

#[test]
fn the_limit_is_shared_and_the_fattest_flow_of_all_pays() {
    let (mut queue, mut dropped) = (airtime_fq_codel(Params { limit: Packets(100), ..Default::default() }), Vec::new());
    (0..90).for_each(|body| queue.enqueue(ms(0), packet(1, 1500, body, ms(0)), &mut dropped));
    (0..11).for_each(|body| queue.enqueue(ms(0), packet(2, 1500, body, ms(0)), &mut dropped));
    // Half of the 90 packets is more than 32.
    assert_eq!(dropped.iter().map(|(p, _)| p.body).collect::<Vec<_>>(), (0..32).collect::<Vec<_>>());
    assert!(dropped.iter().all(|(p, why)| p.meta.station == NodeId(1) && *why == DropReason::QueueFull));
}
