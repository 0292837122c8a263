//! Block Ack agreements: the originator's window, the recipient's reorder buffer. [802.11-2020 §10.25]
//!
//! ```text
//! originator   start ────────── window ──────────▶ start + size
//!              |done|lost|done|in flight| … next
//! recipient         ▲ start: the MPDU it waits for; later ones are kept until it comes or is given up
//! ```
//!
//! Both ends of an agreement are kept together, since each knows of the other only through the frames between them. An
//! MPDU whose content has reached the recipient is acknowledged by the next BlockAck that arrives, as the bitmap covers
//! all of the window (full state). A BlockAckReq announces an MPDU that is given up, and moves the recipient's window;
//! if it does not arrive either, a timeout of the recipient moves the window.
//!
//! Agreements exist from the start: ADDBA exchanges and the end of agreements are left out.

use std::collections::VecDeque;

use lasthop_link::{Packet, PacketMeta, Wanted};
use lasthop_observe::{LinkId, NodeId};
use lasthop_units::{Duration, Time};

use super::rates::Rates;
use crate::phy::{ModeId, Phy};
use crate::ppdu::{Part, To};

/// The time after which a BlockAckReq is not repeated any more: the default lifetime of an MSDU in the MAC, 500 TU
/// [802.11-2020 §9.4.2.28, Annex C dot11EDCATableMSDULifetime].
pub(crate) const REQUEST_LIFETIME: Duration = Duration::from_micros(500 * 1024);

/// The time that a recipient keeps later MPDUs while an earlier one is missing, as in Linux' mac80211.
pub(crate) const REORDER_TIMEOUT: Duration = Duration::from_millis(100);

/// The MSDUs of an MPDU: one, or several in an A-MSDU.
pub(crate) struct Msdus<T> {
    pub first: T,
    /// `None` for one alone, which mostly is all there is
    #[expect(clippy::box_collection, reason = "an MPDU moves several times, and few are A-MSDUs")]
    more: Option<Box<Vec<T>>>,
}

impl<T> Msdus<T> {
    #[inline(always)]
    pub(crate) fn alone(first: T) -> Msdus<T> {
        Msdus { first, more: None }
    }
    /// Adds those that join the first.
    pub(crate) fn join(&mut self, more: Vec<T>) {
        self.more = (!more.is_empty()).then(|| Box::new(more));
    }
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(self.more.iter().flat_map(|more| more.iter()))
    }
    pub(crate) fn len(&self) -> u64 {
        1 + self.more.as_ref().map_or(0, |more| more.len() as u64)
    }
    #[inline(always)]
    pub(crate) fn for_each(&self, mut call: impl FnMut(&T)) {
        call(&self.first);
        if let Some(more) = &self.more {
            more.iter().for_each(call);
        }
    }
}

/// The holder of an MPDU that waits for its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBy {
    /// the radio that is sending it, or has sent it and got no answer yet
    Radio(NodeId),
    /// the hardware below a driver, in the A-MPDU of this number that is ready or has ended
    Hardware(u32),
}

/// An MPDU of the originator's window.
pub(crate) struct Mpdu<B> {
    pub facts: Msdus<PacketMeta>,
    /// `None` once the recipient has it.
    pub content: Option<Msdus<Packet<B>>>,
    /// Length, with header and FCS.
    pub bytes: u32,
    pub attempts: u32,
    /// Its holder, unless it is still to be sent.
    pub in_flight: Option<HeldBy>,
    /// True if it was acknowledged or given up.
    pub done: bool,
    /// True if it has been on the air; kept for recordings only.
    pub was_sent: bool,
    /// The time at which it was taken from the queue.
    pub since: Time,
}

/// The sender of an agreement.
pub(crate) struct Originator<B> {
    /// Sequence number of the first MPDU of the window, never wrapped.
    pub start: u64,
    pub window: VecDeque<Mpdu<B>>,
    /// Since when a BlockAckReq is due: an MPDU was given up and the recipient must learn the new start of the window.
    pub request_due: Option<Time>,
}

impl<B> Originator<B> {
    fn new() -> Self {
        Originator { start: 0, window: VecDeque::new(), request_due: None }
    }

    /// Asks the recipient from now on, if it is not asked already.
    pub(crate) fn ask(&mut self, now: Time) {
        self.request_due.get_or_insert(now);
    }

    /// Returns whether anything waits to be sent or retransmitted; to be called after [`leave`](Self::leave).
    pub(crate) fn wants_to_send(&self) -> bool {
        self.request_due.is_some() || !self.window.is_empty()
    }

    /// Returns whether a new MPDU fits a window of `size`.
    pub(crate) fn has_room(&self, size: u32) -> bool {
        self.window.len() < size as usize
    }

    /// Adds a new MPDU.
    #[inline(always)]
    pub(crate) fn push(&mut self, now: Time, msdus: Msdus<Packet<B>>, bytes: u32) {
        let more = msdus.more.as_ref().map(|more| Box::new(more.iter().map(|packet| packet.meta).collect()));
        let facts = Msdus { first: msdus.first.meta, more };
        let content = Some(msdus);
        let (attempts, in_flight, done, was_sent, since) = (0, None, false, false, now);
        self.window.push_back(Mpdu { facts, content, bytes, attempts, in_flight, done, was_sent, since });
    }

    /// The MPDUs at the start of the window that are done.
    pub(crate) fn done(&self) -> impl Iterator<Item = &Mpdu<B>> {
        self.window.iter().take_while(|mpdu| mpdu.done)
    }

    /// Moves the start past this many MPDUs.
    pub(crate) fn leave(&mut self, mpdus: usize) {
        self.start += mpdus as u64;
        self.window.drain(..mpdus);
    }
}

/// An MPDU that a recipient keeps until an earlier one comes.
struct Kept<B> {
    msdus: Msdus<Packet<B>>,
    at: Time,
}

/// The receiver of an agreement.
pub(crate) struct Recipient<B> {
    /// Sequence number of the MPDU it waits for.
    start: u64,
    /// Kept MPDUs from `start` on.
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

    /// Receives an MPDU; passes packets in order to `up`. Returns the MPDU if the window has moved past it.
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

    /// Does the same as [`receive`](Self::receive) while other MPDUs are missing or kept.
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

    /// Moves the start of the window to `start` after a BlockAckReq: missing MPDUs before it will not come.
    pub(crate) fn move_to(&mut self, start: u64, up: &mut impl FnMut(Packet<B>)) {
        while self.start < start {
            self.skip(up);
        }
        self.drain(up);
    }

    /// Starts the timer if an MPDU is kept and it does not run; returns the time at which it ends.
    pub(crate) fn start_timer(&mut self) -> Option<Time> {
        if self.timer_runs {
            return None;
        }
        let ends = self.oldest()? + REORDER_TIMEOUT;
        self.timer_runs = true;
        Some(ends)
    }

    /// Handles the end of the timer: gives up MPDUs missing for too long; returns the time of the next check.
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
    if let Some(more) = msdus.more {
        more.into_iter().for_each(up);
    }
}

/// An agreement for one TID of one link.
pub(crate) struct Agreement<B> {
    /// The number of MPDUs its window holds.
    pub size: u32,
    pub to: NodeId,
    /// The station at the wireless end.
    pub station: NodeId,
    pub link: LinkId,
    pub tid: u8,
    pub rates: Rates,
    /// Mode of the latest attempt.
    pub mode: ModeId,
    /// True if RTS/CTS preceded that attempt.
    pub rts: bool,
    pub originator: Originator<B>,
    pub recipient: Recipient<B>,
    /// Length of the largest IP packet and MPDU so far: the next is expected not to be longer.
    pub largest_packet: u32,
    pub largest_mpdu: u32,
    /// True if its receiver has no Block Ack: one MPDU at a time, without QoS Control, with an Ack.
    pub is_legacy: bool,
    /// True if it is in the line of agreements with retransmissions to send.
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
            is_legacy: false,
            in_line: false,
        }
    }

    /// A part of a PPDU of `radio` to its recipient, in its latest mode and still empty.
    pub(crate) fn part(&self, radio: NodeId) -> Part {
        Part { from: radio, to: To::One(self.to), link: self.link, mode: self.mode, bytes: 0, ru: None }
    }

    /// A receiver without Block Ack: a window of one MPDU.
    pub(crate) fn legacy(to: NodeId, station: NodeId, link: LinkId, tid: u8) -> Self {
        Agreement { is_legacy: true, ..Agreement::new(to, station, link, tid, 1) }
    }

    /// Time on the air of the answer to a PPDU in its latest mode.
    pub(crate) fn answer(&self, phy: &Phy) -> Duration {
        if self.is_legacy { phy.ack_duration(self.mode) } else { phy.block_ack_duration(self.mode) }
    }

    /// The packets that may be sent under it.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted { station: Some(self.station), tid: Some(self.tid) }
    }

    /// Returns whether a new MPDU fits its window.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.originator.has_room(self.size)
    }

    /// Packets that have not reached the far end in order yet.
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
        Packet::new(PacketMeta::plain(FlowId(0), NodeId(1), true, 1500), number)
    }
    fn msdu(number: u32) -> Msdus<Packet<u32>> {
        Msdus::alone(packet(number))
    }
    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    /// Receives MPDUs of these numbers in a window of 64; returns the packets delivered after each.
    fn receive(recipient: &mut Recipient<u32>, now: Time, numbers: &[u32]) -> Vec<Vec<u32>> {
        let each = |&number: &u32| {
            let mut up = Vec::new();
            recipient.receive(now, u64::from(number), msdu(number), 64, &mut |packet| up.push(packet));
            up.iter().map(|p| p.body).collect()
        };
        numbers.iter().map(each).collect()
    }

    #[test]
    fn mpdu_in_order_goes_up_at_once() {
        let mut recipient = Recipient::new();
        assert_eq!(receive(&mut recipient, ms(0), &[0, 1, 2]), [[0], [1], [2]]);
        assert_eq!((recipient.held(), recipient.start_timer()), (0, None));
    }

    #[test]
    fn gap_holds_back_later_mpdus_until_filled() {
        let mut recipient = Recipient::new();
        let out = receive(&mut recipient, ms(0), &[1, 3, 0, 2]);
        assert_eq!(out, [vec![], vec![], vec![0, 1], vec![2, 3]]);
        assert_eq!(recipient.held(), 0);
    }

    #[test]
    fn request_moves_the_window_over_discarded_mpdus() {
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
    fn mpdu_behind_the_window_is_handed_back() {
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
    fn originators_window_moves_only_past_finished_mpdus() {
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
