//! Group frames of hosts: frames for all that hear them, which nobody acknowledges, such as the beacons of a real access
//! point. [802.11-2020 §10.3.6]

use lasthop_observe::NodeId;
use lasthop_units::Time;

use crate::air::on_air::Transmission;
use crate::air::received::Reception;
use crate::environment::{Environment, GroupFrame};
use crate::ids::ExchangeId;
use crate::medium::{Errand, Medium};
use crate::ppdu::{Ppdu, PpduKind};

impl<B: Send + 'static> Medium<B> {
    /// Hands a group frame to `node`, whose function of the highest priority contends for it. Its end is reported by
    /// [`Environment::group_ended`].
    pub fn send_to_all(&mut self, now: Time, node: NodeId, frame: GroupFrame, env: &mut impl Environment<B>) {
        self.stations[node.index()].groups.push_back(frame);
        self.add_errand(node, Errand::Group);
        self.request_access(now, self.layout.node(node).first_function(), env);
    }

    /// The PPDU of the group frame whose turn it is.
    pub(crate) fn group_frame(&mut self, now: Time, by: NodeId, exchange: ExchangeId) -> Ppdu {
        let own = &mut self.stations[by.index()];
        let frame = own.groups.pop_front().expect("an errand is about a frame");
        own.group_on_air = Some(frame.number);
        if !own.groups.is_empty() {
            self.add_errand(by, Errand::Group);
        }
        self.to_all(now, by, exchange, (frame.mode, frame.bytes))
    }

    /// Reports the end of a group frame, if it is one.
    pub(crate) fn note_group_end(&mut self, now: Time, ended: &Transmission, env: &mut impl Environment<B>) {
        let from = ended.ppdu.from();
        if ended.ppdu.kind != PpduKind::Beacon {
            return;
        }
        let Some(number) = self.stations[from.index()].group_on_air.take() else { return };
        let channel = self.air.channel_of(from);
        let others = (0..self.layout.nodes.len() as u32).map(NodeId).filter(|node| *node != from);
        let mut decoded = Vec::new();
        for node in others {
            if self.air.channel_of(node) == channel && !self.air.is_sending(node) {
                let reception = self.air.reception(now, ended, &ended.ppdu.first, node);
                if reception == Reception::Decoded {
                    decoded.push(node);
                }
            }
        }
        env.group_ended(now, number, &decoded);
    }
}
