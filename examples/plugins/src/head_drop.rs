//! First in, first out; a full queue makes room by dropping what has waited longest. [Lakshman, Neidhardt, Ott 1996]

use std::sync::Arc;

use lasthop_link::queue_discipline::Backlog;
use lasthop_link::{Drop, Packet, QueueDiscipline, QueueMaker, Wanted};
use lasthop_observe::DropReason;
use lasthop_registry::{Amount, ParamError, params};
use lasthop_units::Time;

params! {
    /// Parameters of `head_drop`.
    pub struct Params {
        /// Largest backlog, in packets or in bytes.
        pub limit: Amount = Amount::Packets(50),
    }
    check |this, path| {
        match this.limit {
            Amount::Packets(0) | Amount::Bytes(0..2304) => {
                Err(ParamError::new(format!("{path}.limit"), "a queue without room for a packet drops everything"))
            }
            _ => Ok(()),
        }
    }
}

/// Makes a queue with these parameters.
pub fn maker(params: Params) -> Arc<QueueMaker> {
    Arc::new(move |_| Box::new(HeadDrop::new(&params)))
}

/// The queue.
pub struct HeadDrop<B> {
    limit: Amount,
    waiting: Backlog<B>,
}

impl<B> HeadDrop<B> {
    /// An empty queue.
    pub fn new(params: &Params) -> Self {
        HeadDrop { limit: params.limit, waiting: Backlog::default() }
    }
}

impl<B: Send> QueueDiscipline<B> for HeadDrop<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        while !self.waiting.has_room(self.limit, packet.meta.bytes)
            && let Some(oldest) = self.waiting.pop(Wanted::ANY)
        {
            dropped.push((oldest, DropReason::QueueFull));
        }
        self.waiting.push(packet);
    }

    fn dequeue(&mut self, _: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        self.waiting.pop(wanted)
    }

    fn packets(&self) -> u32 {
        self.waiting.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.waiting.tcp_acks()
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.waiting.has_room(self.limit, bytes)
    }
}
