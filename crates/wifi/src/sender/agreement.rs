//! Block Ack agreements: the originator's window, the recipient's reorder buffer. [802.11-2020 §10.25]
//!
//! ```text
//! originator   start ────────── window ──────────▶ start + size
//!              |done|lost|done|in flight| … next
//! recipient         ▲ start: what it waits for; later MPDUs are kept until it comes, or is given up
//! ```
//!
//! Both ends of an agreement are kept together, since what one knows of the other is what the frames between them said:
//! an MPDU whose content is with the recipient is acknowledged by the next BlockAck that arrives, as the bitmap
//! covers all of the window (full state). An MPDU that is given up is told to the recipient by a BlockAckReq, which
//! moves its window; where that does not arrive either, a timeout of the recipient does.
//!
//! Agreements exist from the start: ADDBA exchanges are left out, as is their end.

use std::collections::VecDeque;

use lasthop_link::{Packet, PacketMeta, Wanted};
use lasthop_observe::{LinkId, NodeId};
use lasthop_units::{Duration, Time};

use super::rates::Rates;
use crate::phy::ModeId;

/// How long a recipient waits for an MPDU that is missing before those that it keeps, as Linux' mac80211 does.
pub(crate) const REORDER_TIMEOUT: Duration = Duration::from_millis(100);

/// The MSDUs of an MPDU: one, or several in an A-MSDU.
pub(crate) struct Msdus<T> {
    pub first: T,
    pub more: Vec<T>,
}

impl<T> Msdus<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.more)
    }
    pub(crate) fn len(&self) -> u64 {
        1 + self.more.len() as u64
    }
}

/// An MPDU of the originator's window.
pub(crate) struct Mpdu<B> {
    pub facts: Msdus<PacketMeta>,
    /// Gone once the recipient has it.
    pub content: Option<Msdus<Packet<B>>>,
    /// Length, with header and FCS.
    pub bytes: u32,
    pub attempts: u32,
    /// The radio that is sending it, or has and is not answered yet.
    pub in_flight: Option<NodeId>,
    /// Acknowledged or given up.
    pub done: bool,
    /// It has been on the air; kept for recordings only.
    pub was_sent: bool,
    /// When it was taken from the queue.
    pub since: Time,
}

/// The sender of an agreement.
pub(crate) struct Originator<B> {
    /// Sequence number of the first MPDU of the window, never wrapped.
    pub start: u64,
    pub window: VecDeque<Mpdu<B>>,
    /// An MPDU was given up: the recipient must be told where the window starts.
    pub request_due: bool,
    /// Attempts at telling it.
    pub requests: u32,
}

impl<B> Originator<B> {
    fn new() -> Self {
        Originator { start: 0, window: VecDeque::new(), request_due: false, requests: 0 }
    }

    /// Whether anything waits to be sent, for the first time or again; to be asked after [`leave`](Self::leave).
    pub(crate) fn wants_to_send(&self) -> bool {
        self.request_due || !self.window.is_empty()
    }

    /// Whether a new MPDU fits a window of `size`.
    pub(crate) fn has_room(&self, size: u32) -> bool {
        self.window.len() < size as usize
    }

    /// Takes a new MPDU in.
    #[inline(always)]
    pub(crate) fn push(&mut self, now: Time, msdus: Msdus<Packet<B>>, bytes: u32) {
        let more = if msdus.more.is_empty() { Vec::new() } else { msdus.more.iter().map(|p| p.meta).collect() };
        let facts = Msdus { first: msdus.first.meta, more };
        let content = Some(msdus);
        let (attempts, in_flight, done, was_sent, since) = (0, None, false, false, now);
        self.window.push_back(Mpdu { facts, content, bytes, attempts, in_flight, done, was_sent, since });
    }

    /// The MPDUs at the start of the window that are done.
    pub(crate) fn done(&self) -> impl Iterator<Item = &Mpdu<B>> {
        self.window.iter().take_while(|mpdu| mpdu.done)
    }

    /// Moves the start past so many MPDUs.
    pub(crate) fn leave(&mut self, mpdus: usize) {
        self.start += mpdus as u64;
        self.window.drain(..mpdus);
    }
}

/// What a recipient keeps until an earlier MPDU comes.
struct Kept<B> {
    msdus: Msdus<Packet<B>>,
    at: Time,
}

/// The receiver of an agreement.
pub(crate) struct Recipient<B> {
    /// Sequence number of the MPDU that it waits for.
    start: u64,
    /// From `start` on.
    kept: VecDeque<Option<Kept<B>>>,
    packets: u64,
    timer_runs: bool,
}

impl<B> Recipient<B> {
    fn new() -> Self {
        Recipient { start: 0, kept: VecDeque::new(), packets: 0, timer_runs: false }
    }

    /// Packets that wait for an earlier one.
    pub(crate) fn held(&self) -> u64 {
        self.packets
    }

    /// An MPDU has come; what is in order goes to `up`. It is handed back where the window has moved past it.
    #[inline(always)]
    pub(crate) fn receive(
        &mut self,
        now: Time,
        sequence: u64,
        msdus: Msdus<Packet<B>>,
        size: u32,
        up: &mut impl FnMut(Packet<B>),
    ) -> Option<Msdus<Packet<B>>> {
        if sequence == self.start && self.kept.is_empty() {
            self.start += 1;
            hand_up(msdus, up);
            return None;
        }
        self.receive_out_of_turn(now, sequence, msdus, size, up)
    }

    /// As [`receive`](Self::receive), while others are missing or kept.
    #[inline(never)]
    fn receive_out_of_turn(
        &mut self,
        now: Time,
        sequence: u64,
        msdus: Msdus<Packet<B>>,
        size: u32,
        up: &mut impl FnMut(Packet<B>),
    ) -> Option<Msdus<Packet<B>>> {
        if sequence < self.start {
            return Some(msdus);
        }
        if sequence >= self.start + u64::from(size) {
            self.move_to(sequence + 1 - u64::from(size), up);
        }
        let place = (sequence - self.start) as usize;
        if place >= self.kept.len() {
            self.kept.resize_with(place + 1, || None);
        }
        self.packets += msdus.len();
        assert!(self.kept[place].is_none(), "an MPDU has one content");
        self.kept[place] = Some(Kept { msdus, at: now });
        self.drain(up);
        None
    }

    /// The window starts at `start` now, as a BlockAckReq says: what it was waiting for before that does not come.
    pub(crate) fn move_to(&mut self, start: u64, up: &mut impl FnMut(Packet<B>)) {
        while self.start < start {
            self.skip(up);
        }
        self.drain(up);
    }

    /// Starts the timer, where something is kept and it does not run; returns when it ends.
    pub(crate) fn start_timer(&mut self) -> Option<Time> {
        if self.timer_runs {
            return None;
        }
        let ends = self.oldest()? + REORDER_TIMEOUT;
        self.timer_runs = true;
        Some(ends)
    }

    /// The timer has ended: gives up what has been waited for too long; returns when to look again.
    pub(crate) fn timeout(&mut self, now: Time, up: &mut impl FnMut(Packet<B>)) -> Option<Time> {
        self.timer_runs = false;
        while let Some(oldest) = self.oldest() {
            if oldest + REORDER_TIMEOUT > now {
                break;
            }
            while self.kept.front().is_some_and(Option::is_none) {
                self.skip(up);
            }
            self.drain(up);
        }
        self.start_timer()
    }

    fn oldest(&self) -> Option<Time> {
        self.kept.iter().flatten().map(|k| k.at).min()
    }

    fn skip(&mut self, up: &mut impl FnMut(Packet<B>)) {
        self.start += 1;
        if let Some(Some(kept)) = self.kept.pop_front() {
            self.packets -= kept.msdus.len();
            hand_up(kept.msdus, up);
        }
    }

    fn drain(&mut self, up: &mut impl FnMut(Packet<B>)) {
        while self.kept.front().is_some_and(Option::is_some) {
            self.skip(up);
        }
    }
}

#[inline(always)]
fn hand_up<B>(msdus: Msdus<Packet<B>>, up: &mut impl FnMut(Packet<B>)) {
    up(msdus.first);
    if !msdus.more.is_empty() {
        msdus.more.into_iter().for_each(up);
    }
}

/// An agreement for one TID of one link.
pub(crate) struct Agreement<B> {
    /// How many MPDUs its window holds.
    pub size: u32,
    pub to: NodeId,
    /// The station at the wireless end.
    pub station: NodeId,
    pub link: LinkId,
    pub tid: u8,
    pub rates: Rates,
    /// Of the latest attempt.
    pub mode: ModeId,
    /// Whether RTS/CTS preceded it.
    pub rts: bool,
    pub originator: Originator<B>,
    pub recipient: Recipient<B>,
    /// Length of the largest IP packet and MPDU so far: the next is expected to be no longer.
    pub largest_packet: u32,
    pub largest_mpdu: u32,
    /// Whether it stands in the line of those that have something to send again.
    pub in_line: bool,
}

impl<B> Agreement<B> {
    pub(crate) fn new(to: NodeId, station: NodeId, link: LinkId, tid: u8, size: u32) -> Self {
        Agreement {
            size,
            to,
            station,
            link,
            tid,
            rates: Rates::default(),
            mode: ModeId::default(),
            rts: false,
            originator: Originator::new(),
            recipient: Recipient::new(),
            largest_packet: 0,
            largest_mpdu: 0,
            in_line: false,
        }
    }

    /// What may go under it.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted { station: Some(self.station), tid: Some(self.tid) }
    }

    /// Whether a new MPDU fits its window.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.originator.has_room(self.size)
    }

    /// Packets that have not arrived at the far end in order yet.
    pub(crate) fn held(&self) -> u64 {
        let unsent = self.originator.window.iter().filter_map(|m| m.content.as_ref());
        unsent.map(Msdus::len).sum::<u64>() + self.recipient.held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_observe::FlowId;

    fn packet(number: u32) -> Packet<u32> {
        Packet { meta: PacketMeta::plain(FlowId(0), NodeId(1), true, 1500), body: number }
    }
    fn msdu(number: u32) -> Msdus<Packet<u32>> {
        Msdus { first: packet(number), more: Vec::new() }
    }
    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    /// Receives MPDUs of these numbers in a window of 64; what comes out after each.
    fn receive(recipient: &mut Recipient<u32>, now: Time, numbers: &[u32]) -> Vec<Vec<u32>> {
        let each = |&number: &u32| {
            let mut up = Vec::new();
            recipient.receive(now, u64::from(number), msdu(number), 64, &mut |packet| up.push(packet));
            up.iter().map(|p| p.body).collect()
        };
        numbers.iter().map(each).collect()
    }

    #[test]
    fn what_comes_in_order_goes_up_at_once() {
        let mut recipient = Recipient::new();
        assert_eq!(receive(&mut recipient, ms(0), &[0, 1, 2]), [[0], [1], [2]]);
        assert_eq!((recipient.held(), recipient.start_timer()), (0, None));
    }

    #[test]
    fn a_gap_holds_back_what_follows_until_it_is_filled() {
        let mut recipient = Recipient::new();
        let out = receive(&mut recipient, ms(0), &[1, 3, 0, 2]);
        assert_eq!(out, [vec![], vec![], vec![0, 1], vec![2, 3]]);
        assert_eq!(recipient.held(), 0);
    }

    #[test]
    fn a_request_moves_the_window_over_what_was_given_up() {
        let mut recipient = Recipient::new();
        receive(&mut recipient, ms(0), &[1, 2, 5]);
        let mut up = Vec::new();
        recipient.move_to(4, &mut |packet| up.push(packet));
        assert_eq!(up.iter().map(|p| p.body).collect::<Vec<_>>(), [1, 2]);
        recipient.move_to(5, &mut |packet| up.push(packet));
        assert_eq!(up.iter().map(|p| p.body).collect::<Vec<_>>(), [1, 2, 5]);
    }

    #[test]
    fn an_mpdu_beyond_the_window_moves_it() {
        let mut recipient = Recipient::new();
        // 64 is one beyond 0..63: the window becomes 1..64, and 1 goes up.
        assert_eq!(receive(&mut recipient, ms(0), &[1, 64]), [vec![], vec![1]]);
    }

    #[test]
    fn what_comes_after_the_window_has_passed_is_handed_back() {
        let mut recipient = Recipient::new();
        recipient.move_to(3, &mut |_| ());
        let late = recipient.receive(ms(0), 2, msdu(2), 64, &mut |_| ());
        assert_eq!(late.map(|m| m.first.body), Some(2));
    }

    #[test]
    fn a_gap_is_given_up_after_a_tenth_of_a_second() {
        let mut recipient = Recipient::new();
        receive(&mut recipient, ms(10), &[1]);
        assert_eq!(recipient.start_timer(), Some(ms(110)));
        assert_eq!(recipient.start_timer(), None);
        receive(&mut recipient, ms(50), &[3]);
        let mut up = Vec::new();
        assert_eq!(recipient.timeout(ms(110), &mut |packet| up.push(packet)), Some(ms(150)));
        assert_eq!(up.iter().map(|p| p.body).collect::<Vec<_>>(), [1]);
        assert_eq!(recipient.timeout(ms(150), &mut |packet| up.push(packet)), None);
        assert_eq!(up.iter().map(|p| p.body).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn the_originators_window_moves_only_past_what_is_done() {
        let mut originator = Originator::new();
        for number in 0..3 {
            originator.push(ms(0), msdu(number), 1538);
        }
        originator.window[1].done = true;
        assert_eq!(originator.done().count(), 0, "the first is not done");
        originator.window[0].done = true;
        let released = originator.done().count();
        originator.leave(released);
        assert_eq!((released, originator.start, originator.window.len()), (2, 2, 1));
        assert!(!originator.has_room(1) && originator.has_room(2) && originator.wants_to_send());
    }
}
