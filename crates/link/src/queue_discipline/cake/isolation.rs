//! Flow isolation of CAKE: which packets share a queue, and how many queues of a host share its part.
//!
//! A packet has two hosts, its source and its destination: the station, and the server behind the wire. Modes with `dual` and
//! `triple` divide the quantum of a queue by the number of queues with a backlog of its host, so that a host gets no more by
//! many flows. [Høiland-Jørgensen 2018], [tc-cake(8)]

use std::collections::BTreeMap;

use lasthop_registry::words;

use super::super::flow_queue::mixed;
use crate::PacketMeta;

words! {
    /// The packets of one queue, and the hosts between which the rate is shared first.
    pub enum Isolation {
        /// one queue in each tin
        Flowblind = "flowblind",
        /// a queue for each source
        Srchost = "srchost",
        /// a queue for each destination
        Dsthost = "dsthost",
        /// a queue for each pair of source and destination
        Hosts = "hosts",
        /// a queue for each flow and direction
        Flows = "flows",
        /// a queue for each flow; first between sources, then between the flows of each
        DualSrchost = "dual_srchost",
        /// a queue for each flow; first between destinations, then between the flows of each
        DualDsthost = "dual_dsthost",
        /// a queue for each flow; first between sources and destinations, whichever has more flows, then between flows
        TripleIsolate = "triple_isolate",
    }
}

/// A host: 0 is the server, a station has its number and one more.
type Host = u32;

/// The source and the destination of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    source: Host,
    destination: Host,
}

impl Ends {
    pub fn of(packet: &PacketMeta) -> Ends {
        let (station, server) = (packet.station.0 + 1, 0);
        if packet.up {
            Ends { source: station, destination: server }
        } else {
            Ends { source: server, destination: station }
        }
    }
}

/// The fields of a packet that choose its queue.
pub(super) type Tuple = (u32, u32, bool);

impl Isolation {
    pub(super) fn tuple(self, packet: &PacketMeta) -> Tuple {
        let Ends { source, destination } = Ends::of(packet);
        match self {
            Isolation::Flowblind => (0, 0, false),
            Isolation::Srchost => (source, 0, false),
            Isolation::Dsthost => (0, destination, false),
            Isolation::Hosts => (source, destination, false),
            Isolation::Flows | Isolation::DualSrchost | Isolation::DualDsthost | Isolation::TripleIsolate => {
                (packet.tuple, 0, packet.up)
            }
        }
    }
}

/// The number of queues with a backlog of each host, as source and as destination.
#[derive(Default)]
pub(super) struct Hosts {
    sources: BTreeMap<Host, u32>,
    destinations: BTreeMap<Host, u32>,
}

impl Hosts {
    /// Counts a queue that has a backlog from now on.
    pub fn join(&mut self, ends: Ends) {
        *self.sources.entry(ends.source).or_default() += 1;
        *self.destinations.entry(ends.destination).or_default() += 1;
    }

    /// Counts it no longer.
    pub fn leave(&mut self, ends: Ends) {
        for (of, host) in [(&mut self.sources, ends.source), (&mut self.destinations, ends.destination)] {
            let count = of.get_mut(&host).expect("a queue that leaves has joined");
            *count -= 1;
        }
    }

    /// By how many queues the quantum of a queue is divided.
    pub fn load(&self, isolation: Isolation, ends: Ends) -> u32 {
        let of = |counts: &BTreeMap<Host, u32>, host| counts.get(&host).copied().unwrap_or(0);
        let (source, destination) = (of(&self.sources, ends.source), of(&self.destinations, ends.destination));
        let load = match isolation {
            Isolation::DualSrchost => source,
            Isolation::DualDsthost => destination,
            Isolation::TripleIsolate => source.max(destination),
            _ => 1,
        };
        load.max(1)
    }
}

/// Queues of a tin, and those of a set among which a packet may choose. [Høiland-Jørgensen 2018]
const QUEUES: u32 = 1024;
const WAYS: u32 = 8;

/// The assignment of packets to queues: a hash with sets of eight, so that flows share a queue only if a ninth comes to a set.
pub(super) struct Buckets {
    key: u64,
    /// the tuple that has each bucket, and its queue
    held: Vec<Option<(Tuple, u32)>>,
}

/// The queue of a packet.
pub(super) enum Found {
    /// it has this one, or shares it
    Queue(u32),
    /// it takes the bucket, with the idle queue that was there
    Taken(u32, Option<u32>),
}

impl Buckets {
    /// Empty buckets under a secret `key`.
    pub fn new(key: u64) -> Buckets {
        Buckets { key, held: vec![None; QUEUES as usize] }
    }

    /// Finds the queue of a tuple; `is_idle`: whether a queue may be given to another one.
    pub fn find(&self, tuple: Tuple, is_idle: impl Fn(u32) -> bool) -> Found {
        let (a, b, c) = tuple;
        let word = u64::from(a) << 33 | u64::from(b) << 1 | u64::from(c);
        let first = ((u64::from(mixed(word, self.key)) * u64::from(QUEUES)) >> 32) as u32;
        let set = first - first % WAYS;
        let of_set = || (0..WAYS).map(|way| set + (first + way) % WAYS);
        let held = |bucket: u32| self.held[bucket as usize];
        if let Some((_, queue)) = of_set().filter_map(held).find(|(of, _)| *of == tuple) {
            return Found::Queue(queue);
        }
        match of_set().find(|bucket| held(*bucket).is_none_or(|(_, queue)| is_idle(queue))) {
            Some(bucket) => Found::Taken(bucket, held(bucket).map(|(_, queue)| queue)),
            None => Found::Queue(held(first).expect("a bucket without a queue would have been taken").1),
        }
    }

    /// Gives a bucket to a tuple.
    pub fn give(&mut self, bucket: u32, tuple: Tuple, queue: u32) {
        self.held[bucket as usize] = Some((tuple, queue));
    }
}

#[cfg(test)]
mod tests {
    use lasthop_observe::{FlowId, NodeId};

    use super::*;

    fn packet(flow: u32, station: u32, up: bool) -> PacketMeta {
        PacketMeta::plain(FlowId(flow), NodeId(station), up, 1500)
    }

    #[test]
    fn packets_share_a_queue_by_the_fields_of_the_mode() {
        let packets = [packet(0, 1, false), packet(0, 1, true), packet(1, 1, false), packet(2, 2, false)];
        let queues = |isolation: Isolation| {
            let mut tuples: Vec<Tuple> = packets.iter().map(|packet| isolation.tuple(packet)).collect();
            tuples.sort_unstable();
            tuples.dedup();
            tuples.len()
        };
        // Sources: server, station 1. Destinations: stations 1 and 2, server. Pairs: server to 1, to 2, and 1 to the server.
        let modes = [Isolation::Flowblind, Isolation::Srchost, Isolation::Dsthost, Isolation::Hosts, Isolation::Flows];
        assert_eq!(modes.map(queues), [1, 2, 3, 3, 4]);
        assert_eq!(queues(Isolation::TripleIsolate), 4);
    }

    #[test]
    fn load_is_the_number_of_queues_of_the_host() {
        let mut hosts = Hosts::default();
        let (one, other) = (Ends::of(&packet(0, 1, false)), Ends::of(&packet(0, 2, false)));
        [one, one, other].into_iter().for_each(|ends| hosts.join(ends));
        let of = |mode| [hosts.load(mode, one), hosts.load(mode, other)];
        assert_eq!(of(Isolation::DualDsthost), [2, 1]);
        assert_eq!(of(Isolation::DualSrchost), [3, 3]);
        // All come from one server.
        assert_eq!(of(Isolation::TripleIsolate), [3, 3]);
        assert_eq!(of(Isolation::Flows), [1, 1]);
        hosts.leave(one);
        assert_eq!(hosts.load(Isolation::DualDsthost, one), 1);
    }

    #[test]
    fn eight_flows_of_a_set_have_queues_of_their_own_and_the_ninth_shares_one() {
        let mut buckets = Buckets::new(7);
        let set_of = |buckets: &Buckets, flow| match buckets.find((flow, 0, false), |_| false) {
            Found::Taken(bucket, _) => bucket / WAYS,
            Found::Queue(_) => unreachable!("no bucket is taken yet"),
        };
        let first = set_of(&buckets, 0);
        let flows: Vec<u32> = (0..20_000).filter(|flow| set_of(&buckets, *flow) == first).take(9).collect();
        for (queue, flow) in flows[..8].iter().enumerate() {
            let Found::Taken(bucket, None) = buckets.find((*flow, 0, false), |_| false) else { panic!("{flow}") };
            buckets.give(bucket, (*flow, 0, false), queue as u32);
        }
        for (queue, flow) in flows[..8].iter().enumerate() {
            assert!(matches!(buckets.find((*flow, 0, false), |_| false), Found::Queue(of) if of == queue as u32));
        }
        assert!(matches!(buckets.find((flows[8], 0, false), |_| false), Found::Queue(_)));
        // A queue that is idle is given to it.
        assert!(matches!(buckets.find((flows[8], 0, false), |queue| queue == 5), Found::Taken(_, Some(5))));
    }
}
