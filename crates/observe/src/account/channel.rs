//! The book of a channel: PPDUs on the air with their content and outcome, and the reasons for silence.

use lasthop_units::{Duration, Time};

use super::balance::{ChannelBalance, Fate, Kind, NodeAirtime};
use super::exchange::{Exchange, share};
use super::flow::take_out;
use crate::{End, FlowId, NodeId, Outcome, Payload, Start};

/// A PPDU on the air.
#[derive(Clone)]
struct OnAir {
    node: NodeId,
    payload: Payload,
    /// Whether it began during another one whose preamble its sender had missed.
    overlaps_missed: bool,
    /// Time of the channel that it took: overlapping PPDUs count for the earliest.
    had: Duration,
    /// The part of that with such a PPDU on the air.
    overlapped: Duration,
}

/// The PPDUs on the air of a channel, and its times of silence.
#[derive(Clone)]
pub(super) struct ChannelBook {
    /// Flows whose own exchanges are in progress.
    pub in_own: Vec<FlowId>,
    /// Initiators of exchanges in progress, in the order of their starts.
    pub order: Vec<NodeId>,
    on_air: Vec<OnAir>,
    /// Number of these that began over a PPDU that their sender had missed.
    overlapping: u32,
    /// Packets in queues and MACs of its nodes.
    wanting: u32,
    since: Time,
    nodes: Vec<NodeAirtime>,
    /// PPDUs that began during another one whose preamble their sender had missed.
    overlaps_missed: u64,
    within_exchanges: Duration,
    /// Number of interferers on the air.
    bursts: u32,
    interferers: Duration,
    contending: Duration,
    idle: Duration,
}

impl ChannelBook {
    pub fn new(nodes: usize) -> ChannelBook {
        ChannelBook {
            in_own: Vec::new(),
            order: Vec::new(),
            on_air: Vec::new(),
            overlapping: 0,
            wanting: 0,
            since: Time::ZERO,
            nodes: vec![NodeAirtime::default(); nodes],
            overlaps_missed: 0,
            within_exchanges: Duration::ZERO,
            bursts: 0,
            interferers: Duration::ZERO,
            contending: Duration::ZERO,
            idle: Duration::ZERO,
        }
    }

    /// The book of a channel that no node has had since `started`.
    pub fn idle_since(started: Time, nodes: usize) -> ChannelBook {
        ChannelBook { since: started, ..ChannelBook::new(nodes) }
    }

    pub fn start(&mut self, now: Time) {
        self.since = now;
        self.nodes.fill(NodeAirtime::default());
        self.on_air.iter_mut().for_each(|ppdu| (ppdu.had, ppdu.overlapped) = (Duration::ZERO, Duration::ZERO));
        self.overlaps_missed = 0;
        (self.within_exchanges, self.interferers) = (Duration::ZERO, Duration::ZERO);
        (self.contending, self.idle) = (Duration::ZERO, Duration::ZERO);
    }

    #[inline(always)]
    fn advance(&mut self, now: Time) {
        if now == self.since {
            return;
        }
        let spent = now.since(self.since);
        self.since = now;
        if self.overlapping > 0 {
            self.on_air[0].overlapped += spent;
        }
        let book = match (self.on_air.first_mut(), self.order.len(), self.wanting) {
            (Some(ppdu), ..) => &mut ppdu.had,
            (None, 1.., _) => &mut self.within_exchanges,
            (None, 0, _) if self.bursts > 0 => &mut self.interferers,
            (None, 0, 1..) => &mut self.contending,
            (None, 0, 0) => &mut self.idle,
        };
        *book += spent;
    }

    pub fn exchange_begins(&mut self, now: Time, initiator: NodeId) {
        self.advance(now);
        self.order.push(initiator);
    }

    pub fn exchange_ends(&mut self, now: Time, initiator: NodeId) {
        self.advance(now);
        take_out(&mut self.order, &initiator);
    }

    /// An interferer begins a burst, or ends one.
    pub fn burst(&mut self, now: Time, begins: bool) {
        self.advance(now);
        self.bursts = if begins { self.bursts + 1 } else { self.bursts - 1 };
    }

    pub fn wants_more(&mut self, now: Time) {
        if self.wanting == 0 {
            self.advance(now);
        }
        self.wanting += 1;
    }

    pub fn wants_less(&mut self, now: Time) {
        if self.wanting == 1 {
            self.advance(now);
        }
        self.wanting -= 1;
    }

    /// A node with this many packets has come.
    pub fn wants_many(&mut self, now: Time, packets: u32) {
        self.advance(now);
        self.wanting += packets;
    }

    /// A node with this many packets has left.
    pub fn wants_fewer(&mut self, now: Time, packets: u32) {
        self.advance(now);
        self.wanting -= packets;
    }

    /// A PPDU starts.
    pub fn begin(&mut self, now: Time, start: &Start) {
        self.advance(now);
        let Start { node, payload, overlaps_missed, .. } = *start;
        self.overlaps_missed += u64::from(overlaps_missed);
        self.overlapping += u32::from(overlaps_missed);
        self.on_air.push(OnAir { node, payload, overlaps_missed, had: Duration::ZERO, overlapped: Duration::ZERO });
    }

    /// A PPDU has ended.
    pub fn end(&mut self, now: Time, end: &End, exchange: &Exchange) {
        self.advance(now);
        let Some(ppdu) = self.take_off(end.node) else { return };
        self.overlapping -= u32::from(ppdu.overlaps_missed);
        let arrived = share(ppdu.had, u64::from(end.decoded), u64::from(end.mpdus));
        let is_data = ppdu.payload == Payload::Packets;
        let (padding, best) = if is_data { exchange.padding_and_best(arrived) } else { (Duration::ZERO, arrived) };
        if best < arrived {
            self.nodes[ppdu.node.index()].add(Kind::Padding, Fate::Arrived, padding);
            self.nodes[ppdu.node.index()].add(Kind::BelowBest, Fate::Arrived, arrived - padding - best);
        }
        self.book(&ppdu, Fate::Arrived, best, exchange);
        if arrived < ppdu.had {
            self.book_lost(&ppdu, end, ppdu.had - arrived, exchange);
        }
    }

    /// Removes a node's PPDU from the air; most often it is the only one.
    #[inline(always)]
    fn take_off(&mut self, node: NodeId) -> Option<OnAir> {
        if let [alone] = &self.on_air[..] {
            return if alone.node == node { self.on_air.pop() } else { None };
        }
        let place = self.on_air.iter().position(|ppdu| ppdu.node == node)?;
        Some(self.on_air.remove(place))
    }

    fn book_lost(&mut self, ppdu: &OnAir, end: &End, lost: Duration, exchange: &Exchange) {
        let fate = match end.lost_to {
            Some(Outcome::Collision | Outcome::Interference) => Fate::Collided,
            Some(Outcome::Interferer) => Fate::Interferer,
            Some(Outcome::Noise | Outcome::Success | Outcome::Unknown) | None => Fate::Noise,
        };
        let overlapped = if fate == Fate::Collided { lost.min(ppdu.overlapped) } else { Duration::ZERO };
        self.book(ppdu, Fate::OverlapsMissed, overlapped, exchange);
        self.book(ppdu, fate, lost - overlapped, exchange);
    }

    fn book(&mut self, ppdu: &OnAir, fate: Fate, had: Duration, exchange: &Exchange) {
        let node = &mut self.nodes[ppdu.node.index()];
        match ppdu.payload {
            Payload::Control | Payload::Acknowledgement => node.add(Kind::Control, fate, had),
            Payload::Beacon => node.add(Kind::Beacon, fate, had),
            Payload::Packets => {
                let (data, acks) = exchange.bytes();
                let of_data = share(had, data, data + acks);
                node.add(Kind::Data, fate, of_data);
                node.add(Kind::TcpAck, fate, had - of_data);
            }
        }
    }

    pub fn close(mut self, now: Time) -> ChannelBalance {
        self.advance(now);
        for ppdu in std::mem::take(&mut self.on_air) {
            let kind = match ppdu.payload {
                Payload::Control | Payload::Acknowledgement => Kind::Control,
                Payload::Beacon => Kind::Beacon,
                Payload::Packets => Kind::Data,
            };
            self.nodes[ppdu.node.index()].add(kind, Fate::Arrived, ppdu.had);
        }
        ChannelBalance {
            nodes: self.nodes,
            overlaps_missed: self.overlaps_missed,
            within_exchanges: self.within_exchanges,
            interferers: self.interferers,
            contending: self.contending,
            idle: self.idle,
        }
    }
}
