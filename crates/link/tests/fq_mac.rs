//! Behaviour of `fq_mac`: stations in turn, one A-MPDU each, whatever airtime it takes.

use crate::packets;

use lasthop_engine::Stream;
use lasthop_link::queue_discipline::fq_mac::Params;
use lasthop_link::{AirtimeUse, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::NodeId;
use lasthop_units::{DataRate, Duration};
use packets::{ms, packet, queue};

fn fq_mac() -> Box<dyn QueueDiscipline<u64>> {
    queue(&QueueDisciplineKind::FqMac(Params::default()))
}

/// `packets` packets for each of `stations`.
fn filled(stations: &[u32], packets: u64) -> Box<dyn QueueDiscipline<u64>> {
    let mut queue = fq_mac();
    for station in stations {
        (0..packets).for_each(|body| queue.enqueue(ms(0), packet(*station, 1500, body, ms(0)), &mut Vec::new()));
    }
    queue
}

/// Takes up to `most` packets of a station, as for an A-MPDU.
fn aggregate(queue: &mut dyn QueueDiscipline<u64>, station: NodeId, most: usize) -> usize {
    let wanted = Wanted { station: Some(station), tid: Some(0) };
    (0..most).take_while(|_| queue.dequeue(ms(0), wanted, &mut Vec::new()).is_some()).count()
}

#[test]
fn stations_have_their_turns_in_a_circle_whatever_their_airtime() {
    let mut queue = filled(&[1, 2, 3], 100);
    let rate = DataRate::from_bps(6_500_000);
    for turn in 0..12 {
        let station = queue.next_station(ms(turn), &[]).expect("packets wait");
        assert_eq!(station, NodeId(1 + turn as u32 % 3));
        assert_eq!(aggregate(&mut *queue, station, 5), 5);
        // Station 2 uses ten times the airtime of the others.
        let airtime = Duration::from_millis(if station == NodeId(2) { 10 } else { 1 });
        queue.on_airtime(ms(turn), &AirtimeUse { station, up: false, airtime, rate });
    }
}

#[test]
fn a_new_station_waits_for_those_in_the_round() {
    let mut queue = filled(&[1, 2], 100);
    let first = queue.next_station(ms(0), &[]).expect("packets wait");
    aggregate(&mut *queue, first, 5);
    queue.enqueue(ms(0), packet(3, 200, 0, ms(0)), &mut Vec::new());
    // Station 1 went to the end of the round when it was served, before station 3 came.
    let turns: Vec<_> = (0..3).map(|_| queue.next_station(ms(0), &[]).map(|node| node.0)).collect();
    assert_eq!((first, turns), (NodeId(1), vec![Some(2), Some(1), Some(3)]));
}

#[test]
fn a_retransmission_waits_for_its_stations_turn() {
    let mut queue = filled(&[1, 2], 5);
    let first = queue.next_station(ms(0), &[]).expect("packets wait");
    assert_eq!((first, aggregate(&mut *queue, first, 5)), (NodeId(1), 5));
    // Station 1 has nothing in the queue, and a packet in the MAC for another attempt.
    assert_eq!(queue.next_station(ms(0), &[first]), Some(NodeId(2)));
    assert_eq!(queue.next_station(ms(0), &[first]), Some(NodeId(1)));
    // After that only station 2 has packets.
    assert_eq!(queue.next_station(ms(0), &[]), Some(NodeId(2)));
    assert_eq!(queue.next_station(ms(0), &[]), Some(NodeId(2)));
    // A station that the queue has never seen.
    assert_eq!(fq_mac().next_station(ms(0), &[NodeId(9)]), Some(NodeId(9)));
}

#[test]
fn flows_of_a_station_share_its_turns() {
    let mut queue = filled(&[1], 50);
    aggregate(&mut *queue, NodeId(1), 2);
    let mut sparse = packet(2, 200, 1000, ms(0));
    sparse.meta.station = NodeId(1);
    queue.enqueue(ms(0), sparse, &mut Vec::new());
    let wanted = Wanted { station: Some(NodeId(1)), tid: None };
    assert_eq!(queue.dequeue(ms(0), wanted, &mut Vec::new()).map(|p| p.body), Some(1000));
}

/// The plainest queue of this kind for one flow a station and TID: lists of packets, and a list of turns.
#[derive(Default)]
struct Twin {
    waiting: Vec<((u32, u8), Vec<u64>)>,
    round: Vec<usize>,
    latest: Option<usize>,
}

impl Twin {
    fn put(&mut self, of: (u32, u8), body: u64) {
        let place = self.waiting.iter().position(|(other, _)| *other == of).unwrap_or(self.waiting.len());
        if place == self.waiting.len() {
            self.waiting.push((of, Vec::new()));
        }
        self.waiting[place].1.push(body);
        if !self.round.contains(&place) {
            self.round.push(place);
        }
    }

    fn turn(&mut self, tid: Option<u8>) -> Option<usize> {
        let place = self.round.iter().position(|place| tid.is_none_or(|tid| self.waiting[*place].0.1 == tid))?;
        let txq = self.round.remove(place);
        self.round.push(txq);
        self.latest = Some(txq);
        Some(txq)
    }

    fn take(&mut self, station: Option<u32>, tid: Option<u8>) -> Option<u64> {
        let txq = match station {
            None => self.turn(tid)?,
            Some(station) => {
                let may = |txq: &usize| {
                    let ((of, its), bodies) = &self.waiting[*txq];
                    *of == station && tid.is_none_or(|tid| *its == tid) && !bodies.is_empty()
                };
                let all = (0..self.waiting.len()).filter(may);
                self.latest.filter(may).or(all.min_by_key(|txq| self.waiting[*txq].0.1))?
            }
        };
        let body = self.waiting[txq].1.remove(0);
        if self.waiting[txq].1.is_empty() {
            self.round.retain(|other| *other != txq);
        }
        Some(body)
    }
}

#[test]
fn random_packets_leave_in_the_order_of_a_naive_twin() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, "twin", 0);
        let (mut queue, mut twin, mut dropped) = (fq_mac(), Twin::default(), Vec::new());
        for step in 0..3_000 {
            let (station, tid) = (random.up_to(3), random.up_to(2) as u8);
            if random.chance(0.52) {
                let mut packet = packet(station * 3 + u32::from(tid), 1500, step, ms(0));
                (packet.meta.station, packet.meta.tid) = (NodeId(station), tid);
                queue.enqueue(ms(0), packet, &mut dropped);
                twin.put((station, tid), step);
            } else if random.chance(0.3) {
                let expected = twin.turn(None).map(|txq| NodeId(twin.waiting[txq].0.0));
                assert_eq!(queue.next_station(ms(0), &[]), expected, "seed {seed}, step {step}");
            } else {
                let (station, tid) = (random.chance(0.6).then_some(station), random.chance(0.5).then_some(tid));
                let wanted = Wanted { station: station.map(NodeId), tid };
                let taken = queue.dequeue(ms(0), wanted, &mut dropped).map(|packet| packet.body);
                assert_eq!(taken, twin.take(station, tid), "seed {seed}, step {step}, {wanted:?}");
            }
        }
        assert!(dropped.is_empty());
    }
}
