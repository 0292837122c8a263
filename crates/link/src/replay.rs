//! The transmitter of a link with a trace: packets of a queue leave at its opportunities.
//!
//! While packets wait, the link has one event, for the next instant that has opportunities. An idle link has none.

use std::sync::Arc;

use lasthop_observe::DropReason;
use lasthop_units::{Duration, Time};

use crate::wire_use::WireUse;
use crate::wired_rate::trace::{Trace, Turn};
use crate::{Drop, Packet, PacketMeta, QueueDiscipline, Wanted};

/// The place of a link in its trace.
pub(crate) struct Replay<B> {
    trace: Arc<Trace>,
    /// the turn of the packets that wait; empty while the link is idle
    next: Option<Turn>,
    /// the start of the wait for `next`
    since: Time,
    /// a packet of which some bytes have left, and the number of the others
    partial: Option<(Packet<B>, u64)>,
    /// the bytes in the queue
    queued_bytes: u64,
    /// the turn after the last packet that the queue refused
    refuses_until: Time,
}

impl<B> Replay<B> {
    pub(crate) fn new(trace: Arc<Trace>) -> Replay<B> {
        Replay { trace, next: None, since: Time::ZERO, partial: None, queued_bytes: 0, refuses_until: Time::ZERO }
    }

    /// Whether the turn of the packets that wait is at `now`.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.next.is_some_and(|turn| turn.at == now)
    }

    fn next_after(&self, now: Time) -> Turn {
        self.next.unwrap_or_else(|| self.trace.next_after(now))
    }

    /// Whether a packet handed over now would begin to leave at the next turn.
    pub(crate) fn is_free(&self, now: Time) -> bool {
        let ahead = self.queued_bytes + self.partial.as_ref().map_or(0, |(_, left)| *left);
        self.refuses_until <= now && ahead < self.next_after(now).bytes
    }

    /// The time from which [`is_free`](Self::is_free) may be true.
    pub(crate) fn free_at(&self, now: Time) -> Time {
        if self.is_free(now) { now } else { self.next_after(now).at }
    }

    /// The packet that has left in part.
    pub(crate) fn partial(&self) -> Option<&PacketMeta> {
        self.partial.as_ref().map(|(packet, _)| &packet.meta)
    }

    /// Puts a packet into `queue`; returns the time of the next turn if the link had none.
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        packet: Packet<B>,
        queue: &mut dyn QueueDiscipline<B>,
        dropped: &mut Vec<Drop<B>>,
    ) -> Option<Time> {
        let before = dropped.len();
        self.queued_bytes += u64::from(packet.meta.bytes);
        queue.enqueue(now, packet, dropped);
        self.leave_out(&dropped[before..]);
        if dropped[before..].iter().any(|(_, reason)| *reason != DropReason::Lost) {
            self.refuses_until = self.next_after(now).at;
        }
        if self.next.is_some() { None } else { self.await_turn(now, queue) }
    }

    /// Hands to `leave` the packets that the opportunities of `now` carry to their last byte; returns the time of the
    /// next turn if packets still wait.
    pub(crate) fn take_turn(
        &mut self,
        now: Time,
        queue: &mut dyn QueueDiscipline<B>,
        dropped: &mut Vec<Drop<B>>,
        used: &mut WireUse,
        leave: &mut impl FnMut(Packet<B>),
    ) -> Option<Time> {
        let mut room = self.next.take().map_or(0, |turn| turn.bytes);
        used.busy += now.since(self.since);
        while room > 0
            && let Some((packet, left)) = self.partial.take().or_else(|| self.begin(now, queue, dropped, used))
        {
            let carried = left.min(room);
            room -= carried;
            if carried == left {
                leave(packet);
            } else {
                self.partial = Some((packet, left - carried));
            }
        }
        self.await_turn(now, queue)
    }

    /// Takes the next packet of the queue.
    fn begin(
        &mut self,
        now: Time,
        queue: &mut dyn QueueDiscipline<B>,
        dropped: &mut Vec<Drop<B>>,
        used: &mut WireUse,
    ) -> Option<(Packet<B>, u64)> {
        let before = dropped.len();
        let packet = queue.dequeue(now, Wanted::ANY, dropped);
        self.leave_out(&dropped[before..]);
        let packet = packet?;
        let bytes = u64::from(packet.meta.bytes);
        self.queued_bytes -= bytes;
        used.note(Duration::ZERO, now.since(packet.meta.enqueued_at));
        Some((packet, bytes))
    }

    fn leave_out(&mut self, dropped: &[Drop<B>]) {
        self.queued_bytes -= dropped.iter().map(|(packet, _)| u64::from(packet.meta.bytes)).sum::<u64>();
    }

    fn await_turn(&mut self, now: Time, queue: &dyn QueueDiscipline<B>) -> Option<Time> {
        if queue.packets() == 0 && self.partial.is_none() {
            return None;
        }
        let turn = self.trace.next_after(now);
        (self.next, self.since) = (Some(turn), now);
        Some(turn.at)
    }
}
