//! Frames that hosts made themselves, such as those of a kernel's Wi-Fi stack: their bytes, until the MAC is done with them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use lasthop_observe::detail::FrameFacts;
use lasthop_observe::{FlowId, NodeId};

use crate::frame::FCS;
use crate::packets::Held;

/// Flow, direction and number.
type Number = (FlowId, bool, u32);

/// The frames under way.
#[derive(Default)]
pub(crate) struct OwnFrames {
    /// by packet
    frames: BTreeMap<Number, Arc<[u8]>>,
    /// by sender: group frames, in the order in which it made them
    groups: BTreeMap<NodeId, VecDeque<Arc<[u8]>>>,
}

impl OwnFrames {
    pub(crate) fn add(&mut self, facts: &FrameFacts, bytes: &[u8]) {
        match facts.packet {
            Some(number) => {
                self.frames.insert(number, bytes.into());
            }
            None => self.groups.entry(facts.node).or_default().push_back(bytes.into()),
        }
    }

    pub(crate) fn get(&self, number: Number) -> Option<Held> {
        self.frames.get(&number).map(|bytes| Held::of_frame(number, bytes))
    }

    /// The oldest group frame of this node that has this length with its FCS. Several may wait: beacons do while other frames pass.
    pub(crate) fn next_of(&mut self, node: NodeId, length: u32) -> Option<Arc<[u8]>> {
        let waiting = self.groups.get_mut(&node)?;
        let place = waiting.iter().position(|bytes| bytes.len() + FCS == length as usize)?;
        waiting.remove(place)
    }

    /// Forgets a frame; returns whether there was one of this number.
    pub(crate) fn forget(&mut self, number: Number) -> bool {
        !self.frames.is_empty() && self.frames.remove(&number).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_frames_begin_by_length_and_packets_by_number() {
        let (mut frames, node) = (OwnFrames::default(), NodeId(0));
        let group = FrameFacts { node, packet: None };
        frames.add(&group, &[1; 60]);
        frames.add(&group, &[2; 40]);
        frames.add(&group, &[3; 40]);
        let first = |frames: &mut OwnFrames, length| frames.next_of(node, length).map(|bytes| bytes[0]);
        assert_eq!([44, 64, 44, 44].map(|length| first(&mut frames, length)), [Some(2), Some(1), Some(3), None]);
        let number = (FlowId(0), true, 7);
        frames.add(&FrameFacts { node, packet: Some(number) }, &[4; 30]);
        assert_eq!(frames.get(number).and_then(|held| held.frame).map(|bytes| bytes.len()), Some(30));
        assert!(frames.forget(number) && !frames.forget(number) && frames.get(number).is_none());
    }
}
