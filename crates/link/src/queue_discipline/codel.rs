//! CoDel over one queue: drops or marks at the head of a standing queue.
//!
//! Source: RFC 8289; the law is in [`law::codel`](super::law::codel). Packets beyond the limit are dropped at the tail.
//! CoDel ignores packets that a MAC takes out of order: their delay shows their turn, not the length of the standing
//! queue. Left out: several queues [RFC 8289 §4.5], which is `fq_codel`.

use lasthop_observe::DropReason;
use lasthop_registry::{Amount, params};
use lasthop_units::{Bytes, Duration, Time};

use super::backlog::Backlog;
use super::interface::{Drop, Wanted};
use super::law::Verdict;
use super::law::codel::{Codel as Law, Departing, Settings};
use super::one_backlog::OneBacklog;
use crate::Packet;

params! {
    /// Parameters of `codel`.
    pub struct Params {
        /// Largest backlog, in packets or in bytes; a packet that would exceed it is dropped at the tail.
        pub limit: Amount = Amount::Packets(1000),
        /// Sojourn time to keep. [RFC 8289 §4.4]
        pub target: Duration = Duration::from_millis(5),
        /// Interval in which the least sojourn time must exceed the target before a drop: the longest usual RTT. [RFC
        /// 8289 §4.3]
        pub interval: Duration = Duration::from_millis(100),
        /// A backlog of at most this many bytes is not a standing queue: the largest packet. [RFC 8289 §5.6]
        pub mtu: Bytes = Bytes(1500),
        /// Mark ECN-capable packets where others are dropped.
        pub ecn: bool = false,
        /// Mark every ECN-capable packet that waited longer than this; absent: never. [Linux]
        pub ce_threshold: Option<Duration> = None,
    }
    check |this, path| {
        super::bounds::check_limit(this.limit, path)?;
        this.settings().check(path)
    }
}

impl Params {
    /// The settings of the law.
    fn settings(&self) -> Settings {
        let Params { target, interval, mtu, ecn, ce_threshold, .. } = *self;
        Settings { target, interval, mtu: mtu.0, ecn, ce_threshold }
    }
}

/// A FIFO with CoDel at its head.
pub struct Codel<B> {
    settings: Settings,
    limit: Amount,
    waiting: Backlog<B>,
    law: Law,
    marks: u64,
}

impl<B> Codel<B> {
    /// An empty queue.
    pub fn new(params: &Params) -> Self {
        let (settings, limit) = (params.settings(), params.limit);
        Codel { settings, limit, waiting: Backlog::default(), law: Law::default(), marks: 0 }
    }

    /// The verdict on a packet that has just been taken out.
    fn judge(&mut self, now: Time, in_turn: bool, packet: &Packet<B>) -> Verdict {
        if !in_turn {
            return Verdict::Forward;
        }
        let departing = Departing {
            sojourn: now.since(packet.meta.enqueued_at),
            left_bytes: self.waiting.bytes(),
            is_capable: packet.meta.ecn.is_capable(),
        };
        self.law.judge(&self.settings, now, departing)
    }
}

impl<B: Send> OneBacklog for Codel<B> {
    type Body = B;

    fn put(&mut self, _: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        if !self.fits(packet.meta.bytes) {
            dropped.push((packet, DropReason::QueueFull));
            return;
        }
        self.waiting.push(packet);
    }

    fn take(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        while let Some(place) = self.waiting.find(wanted) {
            let in_turn = self.waiting.oldest() == Some(place);
            let mut packet = self.waiting.take(place);
            match self.judge(now, in_turn, &packet) {
                Verdict::Forward => return Some(packet),
                Verdict::Mark => {
                    self.marks += u64::from(packet.meta.mark());
                    return Some(packet);
                }
                Verdict::Drop => dropped.push((packet, DropReason::Early)),
            }
        }
        if self.waiting.packets() == 0 {
            self.law.on_empty();
        }
        None
    }

    fn waiting(&self) -> &Backlog<B> {
        &self.waiting
    }

    fn limit(&self) -> Amount {
        self.limit
    }

    fn keep(&mut self, target: Duration) {
        self.settings.target = target;
    }

    fn marked(&self) -> u64 {
        self.marks
    }
}
