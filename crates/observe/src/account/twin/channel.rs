//! The book of a channel: PPDUs on the air with their content and outcome, and the reasons for silence.

use lasthop_units::{Duration, Time};

use super::exchange::{Exchange, share};
use crate::account::balance::{ChannelBalance, Fate, Kind, NodeAirtime};
use crate::{End, FlowId, NodeId, Outcome, Payload, Start};

/// A PPDU on the air.
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
pub(super) struct ChannelBook {
    /// Flows whose stations are on it.
    pub flows: Vec<FlowId>,
    on_air: Vec<OnAir>,
    exchanges: u32,
    /// Packets in queues and MACs of its nodes.
    wanting: u32,
    since: Time,
    nodes: Vec<NodeAirtime>,
    /// PPDUs that began during another one whose preamble their sender had missed.
    overlaps_missed: u64,
    within_exchanges: Duration,
    contending: Duration,
    idle: Duration,
}

impl ChannelBook {
    pub fn new(flows: Vec<FlowId>, nodes: usize) -> ChannelBook {
        ChannelBook {
            flows,
            on_air: Vec::new(),
            exchanges: 0,
            wanting: 0,
            since: Time::ZERO,
            nodes: vec![NodeAirtime::default(); nodes],
            overlaps_missed: 0,
            within_exchanges: Duration::ZERO,
            contending: Duration::ZERO,
            idle: Duration::ZERO,
        }
    }

    pub fn start(&mut self, now: Time) {
        self.since = now;
        self.nodes.fill(NodeAirtime::default());
        self.on_air.iter_mut().for_each(|ppdu| (ppdu.had, ppdu.overlapped) = (Duration::ZERO, Duration::ZERO));
        self.overlaps_missed = 0;
        (self.within_exchanges, self.contending, self.idle) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    }

    fn advance(&mut self, now: Time) {
        let spent = now.since(self.since);
        self.since = now;
        if self.on_air.iter().any(|ppdu| ppdu.overlaps_missed) {
            self.on_air[0].overlapped += spent;
        }
        let book = match (self.on_air.first_mut(), self.exchanges, self.wanting) {
            (Some(ppdu), ..) => &mut ppdu.had,
            (None, 1.., _) => &mut self.within_exchanges,
            (None, 0, 1..) => &mut self.contending,
            (None, 0, 0) => &mut self.idle,
        };
        *book += spent;
    }

    pub fn exchange_begins(&mut self, now: Time) {
        self.advance(now);
        self.exchanges += 1;
    }

    pub fn exchange_ends(&mut self, now: Time) {
        self.advance(now);
        self.exchanges -= 1;
    }

    pub fn wants_more(&mut self, now: Time) {
        self.advance(now);
        self.wanting += 1;
    }

    pub fn wants_less(&mut self, now: Time) {
        self.advance(now);
        self.wanting -= 1;
    }

    /// A PPDU starts.
    pub fn begin(&mut self, now: Time, start: &Start) {
        self.advance(now);
        let Start { node, payload, overlaps_missed, .. } = *start;
        self.overlaps_missed += u64::from(overlaps_missed);
        self.on_air.push(OnAir { node, payload, overlaps_missed, had: Duration::ZERO, overlapped: Duration::ZERO });
    }

    /// A PPDU has ended.
    pub fn end(&mut self, now: Time, end: &End, exchange: &Exchange) {
        self.advance(now);
        let Some(place) = self.on_air.iter().position(|ppdu| ppdu.node == end.node) else { return };
        let ppdu = self.on_air.remove(place);
        let arrived = share(ppdu.had, u64::from(end.decoded), u64::from(end.mpdus));
        let is_data = ppdu.payload == Payload::Packets;
        let (padding, best) = if is_data { exchange.padding_and_best(arrived) } else { (Duration::ZERO, arrived) };
        self.nodes[ppdu.node.index()].add(Kind::Padding, Fate::Arrived, padding);
        self.nodes[ppdu.node.index()].add(Kind::BelowBest, Fate::Arrived, arrived - padding - best);
        self.book(&ppdu, Fate::Arrived, best, exchange.bytes());
        let loss = match end.lost_to {
            Some(Outcome::Collision | Outcome::Interference) => Fate::Collided,
            Some(Outcome::Interferer) => Fate::Interferer,
            Some(Outcome::Noise | Outcome::Success | Outcome::Unknown) | None => Fate::Noise,
        };
        let lost = ppdu.had - arrived;
        let overlapped = if loss == Fate::Collided { lost.min(ppdu.overlapped) } else { Duration::ZERO };
        self.book(&ppdu, Fate::OverlapsMissed, overlapped, exchange.bytes());
        self.book(&ppdu, loss, lost - overlapped, exchange.bytes());
    }

    fn book(&mut self, ppdu: &OnAir, fate: Fate, had: Duration, (data, acks): (u64, u64)) {
        let node = &mut self.nodes[ppdu.node.index()];
        match ppdu.payload {
            Payload::Control | Payload::Acknowledgement => node.add(Kind::Control, fate, had),
            Payload::Beacon => node.add(Kind::Beacon, fate, had),
            Payload::Packets => {
                let of_data = share(had, data, data + acks);
                node.add(Kind::Data, fate, of_data);
                node.add(Kind::TcpAck, fate, had - of_data);
            }
        }
    }

    pub fn close(mut self, now: Time) -> ChannelBalance {
        self.advance(now);
        for ppdu in std::mem::take(&mut self.on_air) {
            self.book(&ppdu, Fate::Arrived, ppdu.had, (1, 0));
        }
        ChannelBalance {
            nodes: self.nodes,
            overlaps_missed: self.overlaps_missed,
            within_exchanges: self.within_exchanges,
            interferers: Duration::ZERO,
            contending: self.contending,
            idle: self.idle,
        }
    }
}
