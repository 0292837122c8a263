//! The data that the application has written, and its division into segments.
//!
//! Written data forms pieces, as in Linux: a write extends the last piece while that has not been sent in whole, up to
//! the size of a large send; the end of a record closes it. A segment never spans two pieces. The piece that a write
//! ends is pushed: its last segment has PSH; [RFC 9293 §3.9.1.2] leaves the time to the implementation. A short last
//! segment waits as [`Delay`] says.
//!
//! Consecutive pieces of one size are kept as one entry, and cut off when they are sent: the memory of a write does
//! not grow with its size, nor with the part of it that waits.
//!
//! Leaves out: urgent data.

use std::collections::VecDeque;

/// More than any run sends.
pub(super) const FOREVER: u64 = 1 << 62;
/// The largest send that is handed down at once, in bytes.
const LARGEST_SEND: u64 = 65_535 - 320;

/// Options of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// More follows soon: a short last segment waits for it (`MSG_MORE`).
    pub more: bool,
    /// A record ends here: no segment holds bytes of two records (`MSG_EOR`).
    pub ends_record: bool,
}

/// Conditions on which a short segment waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// While another short one is unacknowledged: Nagle's algorithm [RFC 9293 §3.7.4], in the form that lets one
    /// short segment follow full ones.
    pub nagle: bool,
    /// Always, until this is taken back or the connection is closed (`TCP_CORK`).
    pub cork: bool,
}

/// Bytes that no segment may reach beyond; several such pieces where they are alike.
#[derive(Clone, Copy, Debug)]
struct Pieces {
    start: u64,
    /// offset after the last byte
    end: u64,
    /// size of each piece; a smaller rest is one piece
    size: u64,
    /// end of the first pushed piece; beyond `end` if none is
    pushed: u64,
    /// distance from the end of one pushed piece to that of the next
    push_every: u64,
    ends_record: bool,
}

impl Pieces {
    fn one(start: u64, end: u64) -> Pieces {
        Pieces { start, end, size: FOREVER, pushed: u64::MAX, push_every: FOREVER, ends_record: false }
    }

    /// Pieces of `size` from `start` to `end`, pushed where one reaches beyond `bound`, then at each `push_every`.
    fn alike(start: u64, end: u64, size: u64, bound: u64, push_every: u64) -> Pieces {
        let first = (bound.saturating_sub(start) / size + 1) * size;
        Pieces { size, pushed: start + first, push_every, ..Pieces::one(start, end) }
    }

    fn piece_size(&self) -> u64 {
        self.size.min(self.end - self.start)
    }
    /// End of the piece that contains `offset`, which lies before the end of all.
    fn cut_after(&self, offset: u64) -> u64 {
        let before = offset.saturating_sub(self.start);
        // Mostly it is the first.
        let whole = if before < self.size { 0 } else { before / self.size };
        self.end.min(self.start + (whole + 1) * self.size)
    }
    fn push_last(&mut self) {
        self.pushed = self.end;
    }
    /// Extends an entry of one piece: if it is pushed, it remains so.
    fn grow_to(&mut self, end: u64) {
        if self.pushed == self.end {
            self.pushed = end;
        }
        self.end = end;
    }
    fn is_pushed_throughout(&self) -> bool {
        self.pushed == self.start + self.piece_size() && (self.pushed == self.end || self.push_every == self.size)
    }
    /// The end of the last pushed piece, if there is one.
    fn last_pushed(&self) -> Option<u64> {
        let beyond = self.end.checked_sub(self.pushed)?;
        Some(self.end - beyond % self.push_every)
    }

    /// Takes the first piece away: its end, and whether it is pushed. None is left where that is the end.
    fn take_first(&mut self) -> (u64, bool) {
        self.start += self.piece_size();
        let is_pushed = self.pushed == self.start;
        if is_pushed {
            self.pushed += self.push_every;
        }
        (self.start, is_pushed)
    }

    /// Takes in `next`, which follows, if it is a piece of the same size and all are pushed.
    fn joins(&mut self, next: &Pieces) -> bool {
        let size = self.piece_size();
        let alike = next.end - next.start == size && next.is_pushed_throughout() && self.is_pushed_throughout();
        if alike && !self.ends_record && !next.ends_record {
            *self = Pieces { end: next.end, size, push_every: size, ..*self };
            return true;
        }
        false
    }
}

/// The data and options of the application.
#[derive(Clone, Debug)]
pub(super) struct ByteStream {
    /// offset after the last byte written
    pub end: u64,
    pub closed: bool,
    pub fin_sent: bool,
    delay: Delay,
    /// the last write announced more, and nothing has happened since
    more: bool,
    /// corked data is sent all the same
    released: bool,
    /// pieces that are not sent in whole; the last entry, which may grow, is one piece
    pieces: VecDeque<Pieces>,
    /// ends of the segments sent with PSH that are not acknowledged
    pushed: VecDeque<u64>,
    /// offset after the last write that was pushed
    pushed_up_to: u64,
    /// offset after the last short segment
    short_end: u64,
}

impl ByteStream {
    pub fn new() -> Self {
        ByteStream {
            end: 1,
            closed: false,
            fin_sent: false,
            delay: Delay::default(),
            more: false,
            released: false,
            pieces: VecDeque::new(),
            pushed: VecDeque::new(),
            pushed_up_to: 0,
            short_end: 0,
        }
    }

    /// Adds bytes; `nxt` is the next offset to send, `largest_window` the largest that the peer has ever offered.
    pub fn write(&mut self, bytes: u64, write: Write, nxt: u64, mss: u32, largest_window: u64) {
        self.more = write.more;
        self.released = false;
        let mss = u64::from(mss.max(1));
        let goal = (LARGEST_SEND.min(largest_window / 2) / mss).max(1) * mss;
        let end = self.end.saturating_add(bytes).min(FOREVER);
        let unpushed = largest_window / 2;
        while self.end < end {
            let piece = self.open_piece(nxt, goal);
            let begin = piece.start.max(nxt.min(piece.end));
            piece.grow_to(end.min(begin + goal));
            self.end = piece.end;
            if self.end > self.pushed_up_to + unpushed {
                self.push();
            }
            self.add_whole(end, goal, unpushed);
        }
        if let (false, Some(last)) = (write.more, self.pieces.back_mut()) {
            last.push_last();
            self.pushed_up_to = self.end;
        }
        if let (true, Some(last)) = (write.ends_record, self.pieces.back_mut()) {
            last.ends_record = true;
        }
    }

    fn push(&mut self) {
        self.pushed_up_to = self.end;
        if let Some(last) = self.pieces.back_mut() {
            last.push_last();
        }
    }

    /// The last piece, if it may grow; otherwise a new one.
    fn open_piece(&mut self, nxt: u64, goal: u64) -> &mut Pieces {
        let grows = self
            .pieces
            .back()
            .is_some_and(|last| last.end > nxt && !last.ends_record && last.end - last.start.max(nxt) < goal);
        if !grows {
            self.join_last();
            self.pieces.push_back(Pieces::one(self.end, self.end));
        }
        self.pieces.back_mut().expect("there is one")
    }

    /// Closes the last piece.
    fn join_last(&mut self) {
        if let Some(last) = self.pieces.pop_back()
            && !self.pieces.back_mut().is_some_and(|before| before.joins(&last))
        {
            self.pieces.push_back(last);
        }
    }

    /// Adds the pieces of a write up to `end` that are whole, without the last.
    fn add_whole(&mut self, end: u64, goal: u64, unpushed: u64) {
        let whole = (end - self.end).saturating_sub(1) / goal;
        if whole == 0 {
            return;
        }
        let push_every = (unpushed / goal + 1) * goal;
        let bound = self.pushed_up_to + unpushed;
        let added = Pieces::alike(self.end, self.end + whole * goal, goal, bound, push_every);
        self.end = added.end;
        self.pushed_up_to = added.last_pushed().unwrap_or(self.pushed_up_to);
        self.pieces.push_back(added);
        self.pieces.push_back(Pieces::one(self.end, self.end));
    }

    /// Makes the data endless.
    pub fn write_forever(&mut self) {
        self.pieces.push_back(Pieces::one(self.end, FOREVER));
        self.end = FOREVER;
    }

    /// Joins the data written before the size of segments was known to one piece, except for ends of records.
    pub fn join_pieces(&mut self) {
        let mut joined: VecDeque<Pieces> = VecDeque::new();
        for pieces in self.pieces.drain(..) {
            let is_pushed = pieces.last_pushed() == Some(pieces.end);
            let piece = Pieces { ends_record: pieces.ends_record, ..Pieces::one(pieces.start, pieces.end) };
            match joined.back_mut() {
                Some(last) if !last.ends_record => *last = Pieces { start: last.start, ..piece },
                _ => joined.push_back(piece),
            }
            if let (true, Some(last)) = (is_pushed, joined.back_mut()) {
                last.push_last();
            }
        }
        self.pieces = joined;
    }

    pub fn set_delay(&mut self, delay: Delay) {
        self.released |= self.delay.cork && !delay.cork && !delay.nagle;
        self.delay = delay;
        self.more = false;
    }
    /// Releases waiting data.
    pub fn send_short(&mut self) {
        self.released = true;
        self.more = false;
    }
    /// True if waiting data is released.
    pub fn is_let_go(&self) -> bool {
        self.released
    }
    /// Releases waiting data, and pushes it.
    pub fn push_short(&mut self) {
        self.send_short();
        self.push();
    }
    pub fn delay(&self) -> Delay {
        self.delay
    }

    /// Takes note of an event other than a write.
    pub fn on_event(&mut self) {
        self.more = false;
    }

    /// Bytes that the next segment may take at most, from `nxt` on.
    pub fn unsent_in_piece(&self, nxt: u64) -> u64 {
        self.pieces_from(nxt).map_or(0, |pieces| pieces.cut_after(nxt) - nxt)
    }

    /// The first pieces that reach beyond `nxt`: mostly those in front, since sent data is taken off.
    #[inline]
    fn pieces_from(&self, nxt: u64) -> Option<&Pieces> {
        let first = self.pieces.front()?;
        if first.end > nxt { Some(first) } else { self.pieces.iter().find(|pieces| pieces.end > nxt) }
    }

    /// True if nothing more will be added to the piece that contains `nxt`.
    pub fn piece_is_closed(&self, nxt: u64) -> bool {
        self.closed || self.pieces_from(nxt).is_none_or(|pieces| pieces.ends_record)
    }

    /// True if a segment of `payload` bytes at `nxt` must wait.
    pub fn delays(&self, una: u64, nxt: u64, payload: u64, mss: u32) -> bool {
        let is_short_tail = payload < u64::from(mss) && nxt + payload == self.end;
        if !is_short_tail || self.closed || self.released {
            return false;
        }
        self.holds_part(una, nxt)
    }

    /// True if less than a full segment waits for more.
    pub fn holds_part(&self, una: u64, nxt: u64) -> bool {
        let short_outstanding = self.short_end > una && self.short_end <= nxt;
        self.delay.cork || self.more || (self.delay.nagle && una < nxt && short_outstanding)
    }

    /// Notes a segment with data, sent for the first time; `ends_send`: as the last of several.
    pub fn on_sent(&mut self, start: u64, end: u64, mss: u32, ends_send: bool) {
        if end - start < u64::from(mss) {
            self.short_end = end;
        }
        if ends_send {
            self.pushed.push_back(end);
        }
        while let Some(first) = self.pieces.front_mut().filter(|first| first.cut_after(first.start) <= end) {
            let (cut, is_pushed) = first.take_first();
            if is_pushed && cut == end && !ends_send {
                self.pushed.push_back(end);
            }
            if cut == first.end {
                self.pieces.pop_front();
            }
        }
    }

    /// Forgets the data below `una`, which is acknowledged.
    pub fn on_acknowledged(&mut self, una: u64) {
        while self.pushed.front().is_some_and(|&end| end <= una) {
            self.pushed.pop_front();
        }
    }

    /// True if the segment that ends there carries PSH.
    pub fn is_pushed(&self, end: u64) -> bool {
        self.pushed.back().is_some_and(|&last| end <= last) && self.pushed.binary_search(&end).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;
    const WINDOW: u64 = 60_000;

    fn stream(writes: &[(u64, Write)]) -> ByteStream {
        let mut stream = ByteStream::new();
        for &(bytes, write) in writes {
            stream.write(bytes, write, 1, MSS, WINDOW);
        }
        stream
    }

    #[test]
    fn the_last_segment_of_a_write_is_pushed() {
        let mut stream = stream(&[(2500, Write::default())]);
        assert_eq!(stream.unsent_in_piece(1), 2500);
        stream.on_sent(1, 1001, MSS, false);
        stream.on_sent(1001, 2001, MSS, false);
        stream.on_sent(2001, 2501, MSS, false);
        assert_eq!([1001, 2001, 2501].map(|end| stream.is_pushed(end)), [false, false, true]);
        stream.on_acknowledged(2501);
        assert!(!stream.is_pushed(2501));
    }

    #[test]
    fn a_record_ends_a_segment_and_writes_without_one_do_not() {
        let record = Write { ends_record: true, ..Write::default() };
        let with = stream(&[(400, record), (400, record)]);
        assert_eq!((with.unsent_in_piece(1), with.unsent_in_piece(401)), (400, 400));
        assert_eq!(stream(&[(400, Write::default()), (400, Write::default())]).unsent_in_piece(1), 800);
    }

    #[test]
    fn one_short_segment_may_be_outstanding() {
        let mut stream = stream(&[(1400, Write::default())]);
        stream.set_delay(Delay { nagle: true, cork: false });
        stream.on_sent(1, 1001, MSS, false);
        assert!(!stream.delays(1, 1001, 400, MSS), "the first short one follows a full one");
        stream.on_sent(1001, 1401, MSS, false);
        stream.write(300, Write::default(), 1401, MSS, WINDOW);
        assert!(stream.delays(1, 1401, 300, MSS));
        assert!(!stream.delays(1401, 1401, 300, MSS), "all is acknowledged");
        stream.set_delay(Delay::default());
        assert!(!stream.delays(1, 1401, 300, MSS));
    }

    #[test]
    fn a_cork_holds_short_segments_only() {
        let mut stream = stream(&[(1400, Write::default())]);
        stream.set_delay(Delay { nagle: true, cork: true });
        assert!(!stream.delays(1, 1, 1000, MSS));
        assert!(stream.delays(1001, 1001, 400, MSS));
        stream.closed = true;
        assert!(!stream.delays(1001, 1001, 400, MSS));
    }

    #[test]
    fn more_to_come_holds_until_something_happens() {
        let mut stream = stream(&[(400, Write { more: true, ..Write::default() })]);
        assert!(stream.delays(1, 1, 400, MSS));
        stream.on_event();
        assert!(!stream.delays(1, 1, 400, MSS));
    }

    /// The same pieces, each by itself: its end, whether it is pushed and ends a record.
    #[derive(Default)]
    struct OneByOne {
        pieces: VecDeque<(u64, u64, bool, bool)>,
        end: u64,
        pushed_up_to: u64,
    }

    impl OneByOne {
        fn write(&mut self, bytes: u64, write: Write, nxt: u64, mss: u64, window: u64) {
            let goal = (LARGEST_SEND.min(window / 2) / mss).max(1) * mss;
            let end = self.end + bytes;
            while self.end < end {
                let grows =
                    |&(start, end, _, ends): &(u64, u64, bool, bool)| end > nxt && !ends && end - start.max(nxt) < goal;
                if !self.pieces.back().is_some_and(grows) {
                    self.pieces.push_back((self.end, self.end, false, false));
                }
                let last = self.pieces.back_mut().unwrap();
                last.1 = end.min(last.0.max(nxt.min(last.1)) + goal);
                self.end = last.1;
                if self.end > self.pushed_up_to + window / 2 {
                    last.2 = true;
                    self.pushed_up_to = self.end;
                }
            }
            let Some(last) = self.pieces.back_mut() else { return };
            last.3 |= write.ends_record;
            if !write.more {
                last.2 = true;
                self.pushed_up_to = self.end;
            }
        }

        /// Sends up to `mss` bytes from `nxt` on: their end, and whether that is pushed.
        fn send(&mut self, nxt: u64, mss: u64) -> (u64, bool) {
            let &(_, end, push, _) = self.pieces.front().unwrap();
            if end > nxt + mss {
                return (nxt + mss, false);
            }
            self.pieces.pop_front();
            (end, push)
        }
    }

    #[test]
    fn late_cutting_equals_cutting_at_once() {
        let mut draws = 1u64;
        let mut draw = |n: u64| {
            draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draws >> 33) % n
        };
        let (mut pushed, mut most) = (0, 0);
        for _ in 0..3000 {
            let (mut stream, mut model, mut nxt) = (ByteStream::new(), OneByOne { end: 1, ..OneByOne::default() }, 1);
            for _ in 0..40 {
                let window = [0, 900, 2000, 60_000, 64_500, 200_000][draw(6) as usize];
                let bytes = [0, 1, 999, 1000, 1001, 30_000, 1_000_000][draw(7) as usize] + draw(3);
                let write = Write { more: draw(4) == 0, ends_record: draw(8) == 0 };
                stream.write(bytes, write, nxt, MSS, window);
                model.write(bytes, write, nxt, u64::from(MSS), window);
                for _ in 0..draw(60) {
                    if nxt == model.end {
                        break;
                    }
                    assert_eq!(stream.piece_is_closed(nxt), model.pieces[0].3);
                    let length = stream.unsent_in_piece(nxt).min(u64::from(MSS));
                    stream.on_sent(nxt, nxt + length, MSS, false);
                    let (end, push) = model.send(nxt, u64::from(MSS));
                    nxt += length;
                    assert_eq!((nxt, stream.is_pushed(nxt)), (end, push));
                    pushed += usize::from(push);
                }
                assert_eq!((stream.end, stream.pushed_up_to), (model.end, model.pushed_up_to));
            }
            most = most.max(model.pieces.len());
        }
        assert!(pushed > 10_000 && most > 1000, "{pushed} segments pushed, {most} pieces");
    }

    #[test]
    fn memory_of_a_write_does_not_grow_with_its_size() {
        for bytes in [100_000_000_000, 2_147_483_647_000_000, u64::MAX] {
            let mut stream = stream(&[(bytes, Write::default())]);
            assert_eq!((stream.pieces.len(), stream.end), (3, bytes.saturating_add(1).min(FOREVER)));
            stream.on_sent(1, 1001, MSS, false);
            assert_eq!(stream.unsent_in_piece(1001), 29_000);
        }
    }

    #[test]
    fn memory_of_many_writes_does_not_grow_with_their_number() {
        let stream = stream(&[(700, Write::default()); 100_000]);
        assert!(stream.pieces.len() <= 2, "{:?}", stream.pieces);
    }
}
