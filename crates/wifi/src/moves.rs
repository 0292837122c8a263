//! A BSS moves to another channel during a run.
//!
//! Its access point and stations leave together, as after a Channel Switch Announcement [802.11-2020 §11.8.8], when none of them has an
//! exchange in progress; from the order to move on they begin none. On the new channel they do not know what is on the air
//! already: they count on a DIFS after the end of it, like a station that has been deaf and cannot have set its NAV. Backoffs keep their
//! slots, and the NAV of the old channel stays. Bursts of interferers are energy, which they sense at once. Left out: the announcement itself, the time that a radio needs to tune, the availability check
//! of channels with radars.

use lasthop_observe::{NodeId, Record};
use lasthop_units::{Db, Duration, Time};

use crate::environment::{Environment, MediumEvent};
use crate::medium::Medium;

/// Time between two looks at whether the exchanges of a BSS are over.
const LOOKS: Duration = Duration::from_micros(100);

impl<B: Send + 'static> Medium<B> {
    /// Moves the access point `ap` and its stations to another channel, as soon as no exchange of theirs is in progress. Channels of a
    /// medium [may change](crate::Matrix::with_turned_channels) if its matrix says so; a new one has the next number.
    /// `shares`: the part of the power of each interferer that falls into it.
    pub fn set_channel(&mut self, now: Time, ap: NodeId, channel: u32, shares: &[Db], env: &mut impl Environment<B>) {
        self.present.advance(now);
        let sends = self.air.energy.as_mut().map_or(Vec::new(), |energy| energy.opens(now, channel, shares));
        sends.iter().for_each(|_| env.observe(now, Record::Interferer { channel, begins: true }));
        let bss = self.layout.node(ap).bss as usize;
        self.layout.bss[bss].channel = channel;
        self.moves(now, bss, env);
    }

    /// Moves a BSS now, or looks again later.
    pub(crate) fn moves(&mut self, now: Time, bss: usize, env: &mut impl Environment<B>) {
        let (channel, ap) = (self.layout.bss[bss].channel, self.layout.bss[bss].ap);
        if self.air.channel_of(ap) == channel {
            return;
        }
        let own = self.layout.nodes.iter().enumerate().filter(|(_, node)| node.bss as usize == bss);
        let nodes: Vec<NodeId> = own.map(|(index, _)| NodeId(index as u32)).collect();
        let until = if nodes.iter().any(|node| self.is_engaged(*node)) {
            env.schedule(now + LOOKS, MediumEvent::Moves(bss as u32));
            // Longer than to the next look, so that no exchange begins between the two.
            now + LOOKS * 2
        } else {
            let ends = self.air.move_to(now, &nodes, channel).unwrap_or(now);
            nodes.iter().for_each(|node| self.note_moved(now, *node, channel, env));
            self.sense_bursts_anew(now, &nodes, channel, env);
            ends + self.layout.bss[bss].phy.difs()
        };
        for node in nodes {
            self.hold(now, node, until, env);
        }
    }

    /// Nodes that have moved leave the bursts of the old channel behind, and sense the new channel's: energy needs no preamble.
    fn sense_bursts_anew(&mut self, now: Time, nodes: &[NodeId], channel: u32, env: &mut impl Environment<B>) {
        let Some(energy) = &mut self.air.energy else { return };
        energy.move_to(nodes, channel);
        for by in 0..energy.count() {
            let Some(begun) = self.air.energy.as_ref().and_then(|energy| energy.on_air(now, by)) else { continue };
            for view in nodes.iter().map(|node| node.index()) {
                if let Some(heard) = self.air.heard(view, begun.from) {
                    let gone = self.air.lose(view, heard);
                    self.access.ppdus_end(now, view, gone, env);
                }
                if self.air.notice_burst(view, by, &begun) {
                    self.access.energy_noticed(now, view, env);
                }
            }
        }
    }

    /// Returns whether a node takes part in an exchange, or is about to begin one.
    fn is_engaged(&self, node: NodeId) -> bool {
        self.air.is_sending(node) || self.stations[node.index()].response.is_some() || self.access.is_engaged(node)
    }
}
