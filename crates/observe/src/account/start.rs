//! The start of a PPDU on the air.

use super::Account;
use super::announced::Announced;
use crate::{FlowId, NodeId, Payload, Start, Step};

impl Account {
    /// A PPDU starts.
    pub(super) fn begin_announced(&mut self) {
        let Announced { at, start, first, more } = self.announced.take().expect("one is told of");
        self.now = self.now.max(at);
        if self.apart.is_none() {
            self.listen(&start);
        }
        let (initiator, channel) = (start.initiator, start.channel as usize);
        let exchange = &mut self.exchanges[initiator.index()];
        let opens = !exchange.in_progress;
        let is_bare = first.is_none() && more.is_empty() && start.payload != Payload::Packets;
        if is_bare && !opens && exchange.began < self.now {
            // A response, such as an Ack: it carries no packets.
            return self.channels[channel].begin(self.now, &start);
        }
        if opens {
            exchange.begin(self.begun, self.now, &start);
            self.begun = self.begun.wrapping_add(1);
            self.channels[channel].exchange_begins(self.now, initiator);
        }
        exchange.add(&start);
        let (of_now, known) = (exchange.began == self.now, exchange.carried.len());
        self.read_contents(initiator, first, &more);
        self.channels[channel].begin(self.now, &start);
        if of_now && self.nodes[initiator.index()].aggregates {
            self.choose_heads(initiator, initiator, channel);
        }
        if start.payload == Payload::Packets && start.node != initiator {
            self.choose_heads_of_stations(initiator, known, channel);
        }
        self.read_who_notices(initiator, opens, &more);
        for place in known..self.exchanges[initiator.index()].carried.len() {
            self.decide(self.exchanges[initiator.index()].carried[place].0);
        }
        self.announced.put_by(more);
    }

    /// Stations have made A-MPDUs that a trigger asked for.
    #[cold]
    fn choose_heads_of_stations(&mut self, initiator: NodeId, known: usize, channel: usize) {
        let carried = &self.exchanges[initiator.index()].carried[known..];
        let mut stations: Vec<NodeId> = carried.iter().map(|(flow, ..)| self.flows[flow.index()].ends[0]).collect();
        stations.dedup();
        for station in stations {
            self.choose_heads(station, initiator, channel);
        }
    }

    /// The first PPDU decides whether all nodes notice the same.
    #[cold]
    fn listen(&mut self, start: &Start) {
        self.apart = Some(!start.to_all);
        if !start.to_all {
            self.listen_apart();
        }
    }

    /// Registers the PPDU's content with its flows.
    #[inline(always)]
    fn read_contents(&mut self, initiator: NodeId, first: Option<(FlowId, u32, u32)>, more: &[Step]) {
        let others = more.iter().map_while(|step| match *step {
            Step::Carries { flow, data_bytes, ack_bytes, .. } => Some((flow, data_bytes, ack_bytes)),
            _ => None,
        });
        for (flow, data_bytes, ack_bytes) in first.into_iter().chain(others) {
            if self.exchanges[initiator.index()].carry(flow, data_bytes, ack_bytes) {
                self.flows[flow.index()].is_carried_by(initiator);
            }
        }
    }

    /// Registers the nodes that notice it: if not all do, at least the initiator of the exchange.
    #[inline(always)]
    fn read_who_notices(&mut self, initiator: NodeId, opens: bool, more: &[Step]) {
        if self.apart != Some(true) {
            if opens {
                let log = self.exchanges[initiator.index()].channel;
                self.hear(log as usize, initiator);
            }
            return;
        }
        if opens {
            self.notice(initiator, initiator, 1);
        }
        for step in more {
            if let Step::Noticed { first, nodes, .. } = *step {
                self.notice(initiator, first, nodes);
            }
        }
    }
}
