//! First in, first out, dropping at the tail.
//!
//! It models the interface queue of a plain system. The limit is counted in packets, where a 40-byte ACK costs as much
//! as a full segment, or in bytes. Left out: priority bands.

use lasthop_observe::DropReason;
use lasthop_registry::{Amount, params};
use lasthop_units::Time;

use super::backlog::Backlog;
use super::interface::{Drop, Wanted};
use super::one_backlog::OneBacklog;
use crate::Packet;

params! {
    /// Parameters of `fifo`.
    pub struct Params {
        /// Largest backlog, in packets or in bytes; a packet that would exceed it is dropped; default with 802.11n and
        /// later: "1000 packets"; else "50 packets".
        pub limit: Option<Amount> = None,
    }
    check |this, path| {
        super::bounds::check_limit(this.limit(), path)
    }
}

/// The default limit: ns-2's interface queue.
const PACKETS: u64 = 50;

impl Params {
    /// Parameters with this limit.
    pub const fn limited(limit: Amount) -> Self {
        Params { limit: Some(limit) }
    }
    /// The limit, given or the default of older hosts.
    fn limit(&self) -> Amount {
        self.limit.unwrap_or(Amount::Packets(PACKETS))
    }
}

/// A drop-tail FIFO.
pub struct Fifo<B> {
    limit: Amount,
    waiting: Backlog<B>,
}

impl<B> Fifo<B> {
    /// An empty queue.
    pub fn new(params: &Params) -> Self {
        Fifo { limit: params.limit(), waiting: Backlog::default() }
    }
}

impl<B: Send> OneBacklog for Fifo<B> {
    type Body = B;
    const IS_FIFO: bool = true;

    fn put(&mut self, _: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        if !self.fits(packet.meta.bytes) {
            dropped.push((packet, DropReason::QueueFull));
            return;
        }
        self.waiting.push(packet);
    }

    fn take(&mut self, _: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        self.waiting.pop(wanted)
    }

    fn waiting(&self) -> &Backlog<B> {
        &self.waiting
    }

    fn limit(&self) -> Amount {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::QueueDiscipline;
    use super::super::samples::{ack, data};
    use super::*;

    fn packet(bytes: u32, name: char) -> Packet<char> {
        Packet::new(if bytes == 40 { ack(0, 0) } else { data(0, bytes) }, name)
    }

    /// Enqueues packets of these sizes; returns those that come out and those that were dropped.
    fn through(limit: Amount, sizes: &[u32]) -> (String, String) {
        let mut queue = Fifo::new(&Params::limited(limit));
        let mut dropped = Vec::new();
        for (size, name) in sizes.iter().zip('a'..) {
            queue.enqueue(Time::ZERO, packet(*size, name), &mut dropped);
        }
        let out = std::iter::from_fn(|| queue.dequeue(Time::ZERO, Wanted::ANY, &mut dropped)).map(|p| p.body).collect();
        assert_eq!((queue.packets(), queue.tcp_acks(), queue.waiting.bytes()), (0, 0, 0));
        (out, dropped.iter().map(|(p, _)| p.body).collect())
    }

    #[test]
    fn a_limit_in_packets_counts_an_ack_as_a_packet() {
        assert_eq!(through(Amount::Packets(2), &[40, 1500, 40]), ("ab".into(), "c".into()));
    }

    #[test]
    fn a_limit_in_bytes_lets_a_small_packet_in_where_a_large_one_is_dropped() {
        assert_eq!(through(Amount::Bytes(1600), &[1500, 1500, 40]), ("ac".into(), "b".into()));
        // A queue that is exactly full does not drop.
        assert_eq!(through(Amount::Bytes(1540), &[1500, 40]), ("ab".into(), "".into()));
    }

    #[test]
    fn an_unlimited_queue_never_drops() {
        assert_eq!(through(Amount::Unlimited, &[1500; 20]).1, "");
    }
}
