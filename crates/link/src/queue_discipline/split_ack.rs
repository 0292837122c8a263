//! Two buffers at the access point: one for data, one for pure TCP ACKs.
//!
//! Source: Ha, Choi 2006, as hashimoto2008 §III-B describes it (50 packets each): the ACKs of uploads no longer push
//! out the data of downloads. The source does not say how the two are served; here it is weighted round robin, packet
//! by packet, in equal shares by default. A buffer that is empty leaves its turn to the other. Packets that are not
//! pure ACKs (SYN, FIN, UDP) wait with the data. Left out: buffers for each flow.

use lasthop_observe::DropReason;
use lasthop_registry::{Amount, ParamError, params};
use lasthop_units::Time;

use super::backlog::Backlog;
use super::interface::{Drop, QueueDiscipline, Wanted};
use crate::Packet;

params! {
    /// Parameters of `split_ack`.
    pub struct Params {
        /// Largest backlog of data, in packets or in bytes; a packet that would exceed it is dropped.
        pub data_limit: Amount = Amount::Packets(50),
        /// Largest backlog of pure ACKs, in packets or in bytes.
        pub ack_limit: Amount = Amount::Packets(50),
        /// Number of data packets in a turn.
        pub data_weight: u32 = 1,
        /// Number of pure ACKs in a turn.
        pub ack_weight: u32 = 1,
    }
    check |this, path| {
        for (name, limit) in [("data_limit", this.data_limit), ("ack_limit", this.ack_limit)] {
            if matches!(limit, Amount::Packets(0) | Amount::Bytes(0)) {
                return Err(ParamError::new(format!("{path}.{name}"), ("a buffer without room drops everything", "at least 1 packet")));
            }
        }
        for (name, weight) in [("data_weight", this.data_weight), ("ack_weight", this.ack_weight)] {
            if weight == 0 {
                return Err(ParamError::new(format!("{path}.{name}"), ("a buffer that has no turn is never served", "at least 1")));
            }
        }
        Ok(())
    }
}

/// One of the two buffers.
struct Buffer<B> {
    waiting: Backlog<B>,
    limit: Amount,
    weight: u32,
}

/// The buffer of data.
const DATA: usize = 0;
/// The buffer of pure ACKs.
const ACKS: usize = 1;

/// Two FIFOs, one for data and one for pure ACKs, served by weighted round robin.
pub struct SplitAck<B> {
    buffers: [Buffer<B>; 2],
    /// The buffer whose turn it is, and the number of packets left in that turn.
    turn: usize,
    left: u32,
}

impl<B> SplitAck<B> {
    /// Two empty buffers; data has the first turn.
    pub fn new(params: &Params) -> Self {
        let buffer = |limit, weight| Buffer { waiting: Backlog::default(), limit, weight };
        let data = buffer(params.data_limit, params.data_weight);
        let acks = buffer(params.ack_limit, params.ack_weight);
        SplitAck { left: data.weight, buffers: [data, acks], turn: DATA }
    }

    fn served(&mut self, which: usize) {
        if which != self.turn {
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            self.turn = 1 - which;
            self.left = self.buffers[self.turn].weight;
        }
    }
}

impl<B: Send> QueueDiscipline<B> for SplitAck<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let buffer = &mut self.buffers[if packet.meta.pure_ack { ACKS } else { DATA }];
        if buffer.waiting.has_room(buffer.limit, packet.meta.bytes) {
            buffer.waiting.push(packet);
        } else {
            dropped.push((packet, DropReason::QueueFull));
        }
    }

    fn dequeue(&mut self, _: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        for which in [self.turn, 1 - self.turn] {
            if let Some(packet) = self.buffers[which].waiting.pop(wanted) {
                self.served(which);
                return Some(packet);
            }
        }
        None
    }

    fn packets(&self) -> u32 {
        self.buffers.iter().map(|b| b.waiting.packets()).sum()
    }

    fn tcp_acks(&self) -> u32 {
        self.buffers[ACKS].waiting.packets()
    }

    /// Returns whether data fits: callers have data to send.
    fn has_room(&self, bytes: u32) -> bool {
        self.buffers[DATA].waiting.has_room(self.buffers[DATA].limit, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{ack, data};
    use super::*;

    /// Enqueues `d`ata and `a`cks; returns those that come out, and those that were dropped.
    fn through(params: &Params, arrivals: &str) -> (String, String) {
        let mut queue = SplitAck::new(params);
        let mut dropped = Vec::new();
        for name in arrivals.chars() {
            let meta = if name == 'a' { ack(0, 0) } else { data(0, 1500) };
            queue.enqueue(Time::ZERO, Packet::new(meta, name), &mut dropped);
        }
        let out = std::iter::from_fn(|| queue.dequeue(Time::ZERO, Wanted::ANY, &mut dropped)).map(|p| p.body).collect();
        (out, dropped.iter().map(|(p, _)| p.body).collect())
    }

    #[test]
    fn each_buffer_has_a_limit_of_its_own() {
        let params = Params { data_limit: Amount::Packets(2), ack_limit: Amount::Packets(1), ..Params::default() };
        assert_eq!(through(&params, "aaadd"), ("dad".into(), "aa".into()));
        assert_eq!(through(&params, "dddda"), ("dad".into(), "dd".into()));
    }

    #[test]
    fn they_take_turns_by_their_weights_and_an_empty_one_leaves_its_turn() {
        assert_eq!(through(&Params::default(), "ddddaa").0, "dadadd");
        let params = Params { ack_weight: 3, ..Params::default() };
        assert_eq!(through(&params, "dddaaaaa").0, "daaadaad");
        assert_eq!(through(&params, "aaaa").0, "aaaa");
    }
}
