//! Sequence numbers of frames that are acknowledged one by one, which the simulation itself does not use.
//!
//! A frame with QoS Control counts among those of its sender, receiver and TID, any other among all of its sender.
//! [802.11-2020 §10.3.2.14.2]

use std::collections::BTreeMap;

use lasthop_observe::NodeId;

/// Receiver and TID of a frame, if it has QoS Control.
pub(crate) type Traffic = Option<(NodeId, u8)>;

/// The numbers assigned so far.
#[derive(Default)]
pub(crate) struct Numbering {
    /// numbers used by a sender, for frames that count together
    used: BTreeMap<(NodeId, Traffic), u16>,
    /// number of the latest data frame of a sender, among those that may be retransmitted
    latest: BTreeMap<(NodeId, Traffic), u16>,
}

impl Numbering {
    /// The number of a data frame, which is the previous one if it is sent `again`.
    pub(crate) fn data(&mut self, sender: NodeId, traffic: Traffic, again: bool) -> u16 {
        if again && let Some(number) = self.latest.get(&(sender, traffic)) {
            return *number;
        }
        let number = self.next(sender, traffic);
        self.latest.insert((sender, traffic), number);
        number
    }

    /// The number of a beacon.
    pub(crate) fn beacon(&mut self, sender: NodeId) -> u16 {
        self.next(sender, None)
    }

    fn next(&mut self, sender: NodeId, traffic: Traffic) -> u16 {
        let used = self.used.entry((sender, traffic)).or_default();
        let number = *used;
        *used = (*used + 1) % 4096;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_is_sent_again_keeps_its_number() {
        let mut numbering = Numbering::default();
        let sender = NodeId(1);
        let numbers: Vec<u16> =
            [false, true, true, false].map(|again| numbering.data(sender, None, again)).into_iter().collect();
        assert_eq!(numbers, [0, 0, 0, 1]);
        assert_eq!(numbering.beacon(sender), 2);
        assert_eq!(numbering.data(sender, None, true), 1);
        assert_eq!(numbering.data(sender, None, false), 3);
    }

    #[test]
    fn frames_with_qos_count_by_receiver_and_tid() {
        let mut numbering = Numbering::default();
        let to = |node, tid| Some((NodeId(node), tid));
        let numbers = [to(2, 0), to(2, 0), to(2, 6), to(3, 0), None].map(|to| numbering.data(NodeId(1), to, false));
        assert_eq!(numbers, [0, 1, 0, 0, 0]);
    }
}
