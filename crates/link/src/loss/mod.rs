//! Losses of packets on a wired link, independent of the room in its queue.
//!
//! Packets are lost before they wait: they take no time of the transmitter, and the queue never sees them. A link
//! without losses has none of this.

use lasthop_engine::Stream;
use lasthop_observe::{DropReason, NodeId};
use lasthop_registry::registry;
use lasthop_units::Time;

use crate::queue_discipline::{AirtimeUse, ByClass, Drop, QueueDiscipline, Wanted};
use crate::{Packet, PacketMeta};

registry! {
    /// The choice `wired.loss = "…"`.
    pub enum LossKind as "wired_loss" {
        /// No loss except drops by the queue.
        none => None: source "—", status "nothing to validate";
        /// Loses each packet independently with one probability.
        random => Random: source "—", status "unit tests";
    }
    planned:
}

impl LossKind {
    /// Puts the losses of the direction `up` or down before `queue`.
    pub fn before<B: Send + 'static>(
        &self,
        queue: Box<dyn QueueDiscipline<B>>,
        up: bool,
        random: impl FnOnce() -> Stream,
    ) -> Box<dyn QueueDiscipline<B>> {
        match self {
            LossKind::Random(params) if params.share.get() > 0.0 && params.direction.includes(up) => {
                Box::new(Lossy { queue, params: params.clone(), random: random() })
            }
            LossKind::None(_) | LossKind::Random(_) => queue,
        }
    }
}

/// A queue before which packets are lost.
struct Lossy<B> {
    queue: Box<dyn QueueDiscipline<B>>,
    params: random::Params,
    random: Stream,
}

impl<B> Lossy<B> {
    fn loses(&mut self, packet: &PacketMeta) -> bool {
        self.params.only.includes(packet) && self.random.chance(self.params.share.get())
    }
}

impl<B: Send> QueueDiscipline<B> for Lossy<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        if self.loses(&packet.meta) {
            dropped.push((packet, DropReason::Lost));
        } else {
            self.queue.enqueue(now, packet, dropped);
        }
    }
    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        self.queue.dequeue(now, wanted, dropped)
    }
    fn ready_at(&self) -> Option<Time> {
        self.queue.ready_at()
    }
    fn is_shaped(&self) -> bool {
        self.queue.is_shaped()
    }
    fn packets(&self) -> u32 {
        self.queue.packets()
    }
    fn tcp_acks(&self) -> u32 {
        self.queue.tcp_acks()
    }
    fn has_room(&self, bytes: u32) -> bool {
        self.queue.has_room(bytes)
    }
    fn marks(&self) -> u64 {
        self.queue.marks()
    }
    fn by_class(&self) -> Option<&ByClass> {
        self.queue.by_class()
    }
    fn start(&mut self) {
        self.queue.start();
    }
    fn on_done(&mut self, now: Time, packet: &PacketMeta) {
        self.queue.on_done(now, packet);
    }
    fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        self.queue.on_airtime(now, used);
    }
    fn set_weight(&mut self, station: NodeId, weight: u32) {
        self.queue.set_weight(station, weight);
    }
    fn schedules_stations(&self) -> bool {
        self.queue.schedules_stations()
    }
    fn next_station(&mut self, now: Time, retrying: &[NodeId]) -> Option<NodeId> {
        self.queue.next_station(now, retrying)
    }
    fn failure(&self) -> Option<&str> {
        self.queue.failure()
    }
}

#[cfg(test)]
mod tests {
    use lasthop_observe::FlowId;
    use lasthop_registry::Amount;
    use lasthop_units::Probability;

    use super::random::{Only, Way};
    use super::*;
    use crate::queue_discipline::fifo::{self, Fifo};

    /// Numbers of losses among 10,000 data packets and as many pure ACKs.
    fn lost(only: Only, direction: Way, up: bool) -> [usize; 2] {
        let share = Probability::of(0.02);
        let params = random::Params { share, only, direction };
        let fifo = Box::new(Fifo::new(&fifo::Params::limited(Amount::Unlimited)));
        let mut queue = LossKind::Random(params).before(fifo, up, || Stream::named(1, "loss", "ap wired up"));
        let mut dropped = Vec::new();
        for body in 0..20_000 {
            let plain = PacketMeta::plain(FlowId(0), NodeId(1), up, 1500);
            let meta = PacketMeta { pure_ack: body % 2 == 1, ..plain };
            queue.enqueue(Time::ZERO, Packet::new(meta, body), &mut dropped);
        }
        assert_eq!(queue.packets() as usize + dropped.len(), 20_000);
        assert!(dropped.iter().all(|(_, reason)| *reason == DropReason::Lost));
        let acks = dropped.iter().filter(|(packet, _)| packet.meta.pure_ack).count();
        [dropped.len() - acks, acks]
    }

    #[test]
    fn a_share_of_the_chosen_packets_is_lost() {
        // 200 of each are expected; the standard deviation is 14, and four of them are allowed.
        let near = |count: usize| (144..=256).contains(&count);
        let [data, acks] = lost(Only::All, Way::Both, true);
        assert!(near(data) && near(acks), "{data} {acks}");
        let [data, acks] = lost(Only::PureAcks, Way::Both, true);
        assert!(data == 0 && near(acks), "{data} {acks}");
        let [data, acks] = lost(Only::Data, Way::Up, true);
        assert!(near(data) && acks == 0, "{data} {acks}");
    }

    #[test]
    fn the_other_direction_loses_nothing() {
        assert_eq!(lost(Only::All, Way::Up, false), [0, 0]);
        assert_eq!(lost(Only::All, Way::Down, true), [0, 0]);
    }
}
