//! CAKE: a shaper, tins by DSCP, queues of flows with fairness between hosts, and COBALT.
//!
//! ```text
//!            ┌─► tin: queues of flows with COBALT, sparse ones first ─┐
//!  DSCP ─────┼─► tin: …                                              ─┼─► shaper ─► out
//!            └─► tin: …                                              ─┘
//!              the highest tin within its share goes first
//! ```
//!
//! Source: "Piece of CAKE" [Høiland-Jørgensen 2018] and tc-cake(8), where the paper leaves room the values that `tc -s qdisc` of
//! Linux 6.1 shows. Parts: [`shaper`] (the clock and the size of packets), [`tins`] (classes by DSCP), [`isolation`] (which queue,
//! and fairness between hosts), [`turns`] (the order within a tin), [`acks`] (the ACK filter), and the law in
//! [`law::cobalt`](super::law::cobalt). A tin whose packets exceed its share is not limited: it is only served after the others.
//! Left out: autorate-ingress, ingress, nat, wash, fwmark, diffserv8, precedence, and super-packets.

mod acks;
mod isolation;
mod shaper;
mod tins;
mod turns;

use lasthop_engine::Stream;
use lasthop_observe::DropReason;
use lasthop_registry::{ParamError, params};
use lasthop_units::{Bytes, DataRate, Duration, Time};

pub use acks::AckFilter;
pub use isolation::Isolation;
pub use shaper::Framing;
pub use tins::Diffserv;

use super::flow_queue::{FULL_FRAME, FlowQueues, Limits};
use super::interface::{Drop, QueueDiscipline, Wanted};
use super::law::Verdict;
use super::law::cobalt::{Cobalt, Departing, Settings};
use crate::{Packet, PacketMeta};
use shaper::{Clock, Sizes};
use turns::Turns;

params! {
    /// Parameters of `cake`.
    pub struct Params {
        /// Rate of the shaper; absent: no shaper, packets leave whenever they are asked for.
        pub bandwidth: Option<DataRate> = None,
        /// Bytes that the link adds to an IP packet, up to 256, as the shaper counts them; absent: 14, of an Ethernet frame.
        pub overhead: Option<Bytes> = None,
        /// Least size of a packet with its overhead, up to 256 B.
        pub mpu: Bytes = Bytes(0),
        /// Framing of the link below that the shaper counts: none, atm (ADSL), or ptm (VDSL2).
        pub framing: Framing = Framing::None,
        /// Usual RTT: COBALT's interval, of which its target is a twentieth, or the time of 1.5 full-size packets if that is longer.
        pub rtt: Duration = Duration::from_millis(100),
        /// Classes of packets by DSCP: besteffort (one), diffserv3, or diffserv4.
        pub diffserv: Diffserv = Diffserv::Diffserv3,
        /// Packets of one queue, and the hosts between which the rate is shared first: flowblind, srchost, dsthost, hosts, flows,
        /// dual_srchost, dual_dsthost, or triple_isolate.
        pub isolation: Isolation = Isolation::TripleIsolate,
        /// Drop queued pure ACKs that later ones of their queue make redundant: off, on (one redundant ACK stays), or aggressive.
        pub ack_filter: AckFilter = AckFilter::Off,
        /// Largest memory in all queues together, as Linux counts it: 2304 B for a packet of 1500 B; default: four times
        /// `bandwidth` in `rtt`, at least 4 MiB and at most 10240 full-size packets.
        pub memory_limit: Option<Bytes> = None,
    }
    check |this, path| {
        if this.bandwidth.is_some_and(|rate| rate.as_bps() < LEAST_RATE) {
            return Err(ParamError::new(format!("{path}.bandwidth"), "at least 64 kbit/s"));
        }
        if this.rtt < Duration::from_micros(20) || this.rtt > Duration::from_secs(3_600) {
            return Err(ParamError::new(format!("{path}.rtt"), "from 20 us to 1 h"));
        }
        if this.bandwidth.is_none() {
            let of_shaper = [("overhead", this.overhead.is_some()), ("mpu", this.mpu.0 > 0), ("framing", this.framing != Framing::None)];
            if let Some((key, _)) = of_shaper.into_iter().find(|(_, is_set)| *is_set) {
                return Err(ParamError::new(format!("{path}.{key}"), ("no effect without a shaper", "set bandwidth")));
            }
        }
        this.sizes().check(path)?;
        this.limits().check(path)
    }
}

/// A full-size packet then takes less than 200 ms.
const LEAST_RATE: u64 = 64_000;

impl Params {
    fn sizes(&self) -> Sizes {
        Sizes { overhead: self.overhead, mpu: self.mpu, framing: self.framing }
    }

    /// The default of Linux, whose number of packets is never reached otherwise.
    fn limits(&self) -> Limits {
        let most = 10_240 * FULL_FRAME;
        let of_rate = |rate: DataRate| 4.0 * rate.as_bps() as f64 / 8.0 * self.rtt.as_secs_f64();
        let memory = self.bandwidth.map_or(most, |rate| (of_rate(rate) as u64).clamp(4 << 20, most));
        Limits { packets: u64::MAX, memory: self.memory_limit.map_or(memory, |limit| limit.0) }
    }

    /// COBALT's settings in a tin with this time for a full-size packet.
    fn settings(&self, packet: Duration) -> Settings {
        let twentieth = self.rtt / 20;
        let target = twentieth.max(packet * 3 / 2);
        Settings { target, interval: (self.rtt + target - twentieth).max(target * 2) }
    }
}

/// The law of a tin's queues.
struct Law {
    settings: Settings,
    /// the time that a full-size packet takes at the tin's share of the rate; 0 without a shaper
    full_packet: Duration,
}

impl Law {
    /// Removes the first packet of a queue that is wanted and that COBALT lets pass.
    fn pop<B>(&self, queues: &mut FlowQueues<B, Cobalt>, queue: u32, call: &mut Call<B>) -> Option<Packet<B>> {
        while let Some(mut packet) = queues.pop(queue, call.wanted) {
            let departing = Departing {
                sojourn: call.now.since(packet.meta.enqueued_at),
                allowance: self.full_packet * 4,
                is_capable: packet.meta.ecn.is_capable(),
                is_last: queues[queue].is_empty(),
            };
            match queues[queue].law.judge(&self.settings, call.now, departing, call.random) {
                Verdict::Forward => return Some(packet),
                Verdict::Mark => {
                    *call.marks += u64::from(packet.meta.mark());
                    return Some(packet);
                }
                Verdict::Drop => call.dropped.push((packet, DropReason::Early)),
            }
        }
        if queues[queue].is_empty() {
            queues[queue].law.on_empty(&self.settings, call.now);
        }
        None
    }
}

/// A class of packets.
struct Tin {
    turns: Turns,
    /// packets that wait in it
    packets: u32,
    law: Law,
    /// its share of the rate, with a shaper
    clock: Option<Clock>,
    /// without a shaper: bytes that it gets in each round
    weight: i64,
    /// and those that it may still send
    credit: i64,
}

impl Tin {
    fn new(params: &Params, of: tins::Tin, key: u64) -> Tin {
        let rate = params.bandwidth.map(|rate| DataRate::from_bps(rate.as_bps() / of.parts()));
        let full_packet = rate.map_or(Duration::ZERO, |rate| rate.time_for(Bytes(FULL_FRAME)));
        // The bytes of 1/4096 s at this rate.
        let quantum = rate.map_or(FULL_FRAME, |rate| (rate.as_bps() / 8 / 4096).clamp(300, FULL_FRAME));
        Tin {
            turns: Turns::new(params.isolation, quantum, key),
            packets: 0,
            law: Law { settings: params.settings(full_packet), full_packet },
            clock: rate.map(Clock::new),
            weight: (FULL_FRAME / of.parts()) as i64,
            credit: 0,
        }
    }
}

/// A call of [`dequeue`](QueueDiscipline::dequeue).
struct Call<'a, B> {
    now: Time,
    wanted: Wanted,
    random: &'a mut Stream,
    marks: &'a mut u64,
    dropped: &'a mut Vec<Drop<B>>,
}

/// A CAKE queue.
pub struct Cake<B> {
    params: Params,
    limits: Limits,
    sizes: Sizes,
    clock: Option<Clock>,
    queues: FlowQueues<B, Cobalt>,
    /// the tin of each queue
    tin_of: Vec<u8>,
    /// in the order of their priority, lowest first
    tins: Vec<Tin>,
    /// without a shaper: the tin whose turn it is
    turn: usize,
    random: Stream,
    marks: u64,
}

impl<B> Cake<B> {
    /// An empty queue; the keys of the hashes and the draws of the law come from `random`.
    pub fn new(params: &Params, mut random: Stream) -> Self {
        let tins = params.diffserv.tins().iter().map(|of| Tin::new(params, *of, random.bits())).collect();
        Cake {
            params: params.clone(),
            limits: params.limits(),
            sizes: params.sizes(),
            clock: params.bandwidth.map(Clock::new),
            queues: FlowQueues::default(),
            tin_of: Vec::new(),
            tins,
            turn: 0,
            random,
            marks: 0,
        }
    }

    /// The queue of a packet, which is made if necessary.
    fn queue_of(&mut self, tin: usize, packet: &PacketMeta) -> u32 {
        let (queues, tin_of) = (&mut self.queues, &mut self.tin_of);
        let turns = &mut self.tins[tin].turns;
        turns.queue_of(packet, queues, |queues| {
            tin_of.push(tin as u8);
            queues.add(Cobalt::default())
        })
    }

    /// Drops the oldest packet of the fattest queue, of which BLUE learns.
    fn shorten_fattest(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) {
        let Some(fattest) = self.queues.fattest() else { return };
        let tin = &mut self.tins[usize::from(self.tin_of[fattest as usize])];
        if let Some(packet) = self.queues.pop(fattest, Wanted::ANY) {
            tin.packets -= 1;
            dropped.push((packet, DropReason::QueueFull));
        }
        self.queues[fattest].law.on_overflow(&tin.law.settings, now);
    }

    /// The tin to serve: with a shaper the highest that keeps within its share, or else the one that will first; without,
    /// tins share by their weights.
    fn next_tin(&mut self, now: Time, wanted: Wanted) -> Option<usize> {
        let queues = &self.queues;
        let has = |tin: &Tin| tin.turns.has(queues, wanted);
        if self.clock.is_none() {
            return self.next_by_weight(wanted);
        }
        let with_packets = || self.tins.iter().enumerate().filter(|(_, tin)| has(tin));
        let next = |tin: &Tin| tin.clock.map_or(now, |clock| clock.next);
        let within = with_packets().rev().find(|(_, tin)| next(tin) <= now);
        within.or_else(|| with_packets().min_by_key(|(_, tin)| next(tin))).map(|(place, _)| place)
    }

    fn next_by_weight(&mut self, wanted: Wanted) -> Option<usize> {
        if self.tins.iter().all(|tin| !tin.turns.has(&self.queues, wanted)) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.turn];
            let has = tin.turns.has(&self.queues, wanted);
            if has && tin.credit > 0 {
                return Some(self.turn);
            }
            tin.credit = if has { tin.credit + tin.weight } else { 0 };
            self.turn = (self.turn + 1) % self.tins.len();
        }
    }

    /// Counts a packet that leaves from a tin.
    fn charge(&mut self, now: Time, tin: usize, packet: &PacketMeta) {
        let (tin, bytes) = (&mut self.tins[tin], self.sizes.of(packet));
        tin.credit -= bytes.0 as i64;
        if let (Some(own), Some(all)) = (&mut tin.clock, &mut self.clock) {
            own.advance_at_most(now, bytes);
            all.advance(bytes);
        }
    }
}

impl<B: Send> QueueDiscipline<B> for Cake<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let place = self.params.diffserv.place(packet.meta.dscp);
        if let Some(clock) = &mut self.clock {
            if self.queues.packets() == 0 {
                clock.wake(now);
            }
            let tin = &mut self.tins[place];
            if let Some(own) = tin.clock.as_mut().filter(|_| tin.packets == 0) {
                own.wake(now);
            }
        }
        self.tins[place].packets += 1;
        let queue = self.queue_of(place, &packet.meta);
        if self.queues[queue].is_empty() {
            self.queues[queue].law.on_refill(&self.tins[place].law.settings, now);
        }
        self.queues.push(queue, packet);
        self.tins[place].turns.admit(&mut self.queues, queue);
        if let Some(redundant) = acks::redundant(self.params.ack_filter, &self.queues[queue]) {
            dropped.push((self.queues.remove(queue, redundant), DropReason::AckFiltered));
            self.tins[place].packets -= 1;
        }
        while self.queues.is_over(self.limits) {
            self.shorten_fattest(now, dropped);
        }
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        if self.clock.is_some_and(|clock| clock.next > now) {
            return None;
        }
        while self.queues.packets() > 0 {
            let place = self.next_tin(now, wanted)?;
            let before = dropped.len();
            let mut call = Call { now, wanted, random: &mut self.random, marks: &mut self.marks, dropped };
            let Tin { turns, law, packets, .. } = &mut self.tins[place];
            let packet =
                turns.dequeue(&mut self.queues, wanted, &self.sizes, |queues, queue| law.pop(queues, queue, &mut call));
            *packets -= (dropped.len() - before) as u32 + u32::from(packet.is_some());
            if let Some(packet) = packet {
                self.charge(now, place, &packet.meta);
                return Some(packet);
            }
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        self.clock.filter(|_| self.queues.packets() > 0).map(|clock| clock.next)
    }

    fn is_shaped(&self) -> bool {
        self.clock.is_some()
    }

    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        let mut left = most;
        for tin in &self.tins {
            left -= tin.turns.waiting_for(&self.queues, wanted, left);
        }
        most - left
    }

    fn packets(&self) -> u32 {
        self.queues.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.queues.tcp_acks()
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.queues.has_room(self.limits, bytes)
    }

    fn marks(&self) -> u64 {
        self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets and intervals of the tins in us, and their quanta, as `tc -s qdisc` of Linux 6.1 prints them.
    fn tins(params: &Params) -> Vec<(u64, u64)> {
        let cake = Cake::<()>::new(params, Stream::new(1, "queue", 0));
        cake.tins
            .iter()
            .map(|tin| (tin.law.settings.target.as_nanos() / 1000, tin.law.settings.interval.as_nanos() / 1000))
            .collect()
    }

    #[test]
    fn tins_have_the_targets_that_tc_prints() {
        // tc-cake(8): bandwidth 100Mbit: target 5 ms and interval 100 ms in all tins.
        let params = Params { bandwidth: Some(DataRate::from_bps(100_000_000)), ..Params::default() };
        assert_eq!(tins(&params), [(5_000, 100_000); 3]);
        // 1 Mbit/s, diffserv4: 1.5 packets of 1514 B take 18.168 ms; of bulk 290.688 ms, of video 36.336, of voice 72.672. The
        // interval is longer by as much as the target, or twice the target.
        let slow = Params { bandwidth: Some(DataRate::from_bps(1_000_000)), diffserv: Diffserv::Diffserv4, ..params };
        let expected = [(18_168, 113_168), (290_688, 581_376), (36_336, 131_336), (72_672, 167_672)];
        assert_eq!(tins(&slow), expected);
    }

    #[test]
    fn memory_is_that_of_the_rate_in_four_rtts() {
        let of =
            |bps: Option<u64>| Params { bandwidth: bps.map(DataRate::from_bps), ..Params::default() }.limits().memory;
        // tc-cake(8): 100 Mbit/s: 5,000,000 B.
        assert_eq!(of(Some(100_000_000)), 5_000_000);
        assert_eq!((of(Some(1_000_000)), of(Some(1_000_000_000)), of(None)), (4 << 20, 15_503_360, 15_503_360));
    }
}
