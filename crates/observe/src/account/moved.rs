//! A node moves to another channel between exchanges: its packets wait there from now on, and what it has noticed on the old
//! channel no longer has its medium. It knows nothing of the PPDUs on the air of the new one: the time until their end counts as
//! free.

use lasthop_units::Time;

use super::Account;
use super::channel::ChannelBook;
use super::flow::Doing;
use crate::{FlowId, NodeId};

impl Account {
    #[cold]
    pub(super) fn moved(&mut self, at: Time, node: NodeId, channel: u32) {
        self.catch_up(at);
        if self.apart.is_none() {
            self.apart = Some(true);
            self.listen_apart();
        }
        assert!(self.apart == Some(true), "nodes that move have views of their own");
        self.has_moves = true;
        self.end_exchanges(node);
        let (old, new) = (self.nodes[node.index()].channel as usize, channel as usize);
        self.knows(channel);
        self.forget(node, old);
        self.nodes[node.index()].channel = channel;
        let of_node = self.flows.iter_mut().filter(|flow| flow.ends.contains(&node));
        let mut wanting = 0;
        for flow in of_node {
            wanting += flow.held_at(node);
            if flow.ends[1] == node {
                flow.channel = channel;
            }
        }
        self.channels[old].wants_fewer(self.now, wanting);
        self.channels[new].wants_many(self.now, wanting);
    }

    /// Keeps a book of a channel from now on; it has been idle.
    pub(super) fn knows(&mut self, channel: u32) {
        let (count, started, nodes) = (self.channels.len().max(channel as usize + 1), self.started, self.nodes.len());
        self.channels.resize_with(count, || ChannelBook::idle_since(started, nodes));
    }

    /// Ends the exchanges that a node has begun, and those that carry packets of an access point's flows.
    fn end_exchanges(&mut self, node: NodeId) {
        if self.exchanges[node.index()].in_progress {
            self.finish(node);
        }
        for id in (0..self.flows.len() as u32).map(FlowId) {
            while self.flows[id.index()].ends[1] == node
                && let Doing::Own(initiator) = self.flows[id.index()].doing
            {
                self.finish(initiator);
            }
        }
    }

    /// Those of 64 nodes, from `64 * word` on, that are on the channel of an exchange: others have left since they noticed it.
    #[cold]
    pub(super) fn of_channel(&self, initiator: NodeId, word: usize, nodes: u64) -> u64 {
        let channel = self.exchanges[initiator.index()].channel;
        let of_word = self.nodes.iter().skip(64 * word).take(64).enumerate();
        let there = of_word.filter(|(_, node)| node.channel == channel).fold(0, |bits, (bit, _)| bits | 1 << bit);
        nodes & there
    }

    /// A node no longer notices the exchanges of a channel.
    fn forget(&mut self, node: NodeId, channel: usize) {
        for place in 0..self.channels[channel].order.len() {
            let initiator = self.channels[channel].order[place];
            self.exchanges[initiator.index()].unnotice(node);
            let log = node.index();
            if self.logs[log].holder() == Some(initiator)
                && let Some(position) = self.logs[log].turn(self.now, None, None)
            {
                self.exchanges[initiator.index()].segments.push((node.0, position));
            }
        }
    }
}
