//! What the application has written and how it wants it cut.
//!
//! Written data forms pieces, as it does in Linux: a write goes on with the last piece while that has not been sent in
//! whole, up to the size of a large send; the end of a record closes it. A segment never spans two pieces. The piece
//! that a write ends is pushed: PSH stands on its last segment, [RFC 9293 §3.9.1.2] leaves it to the implementation
//! when. A short last segment waits as [`Delay`] says.
//!
//! Leaves out: urgent data.

use std::collections::VecDeque;

/// More than any run sends.
pub(super) const FOREVER: u64 = 1 << 62;
/// The largest send that is handed down at once, in bytes.
const LARGEST_SEND: u64 = 65_535 - 320;

/// What a write asks for beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// More follows soon: a short last segment waits for it (`MSG_MORE`).
    pub more: bool,
    /// A record ends here: no segment holds bytes of two records (`MSG_EOR`).
    pub ends_record: bool,
}

/// When a short segment waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// While another short one is unacknowledged: Nagle's algorithm [RFC 9293 §3.7.4], in the form that lets one
    /// short segment follow full ones.
    pub nagle: bool,
    /// Always, until this is taken back or the connection is closed (`TCP_CORK`).
    pub cork: bool,
}

/// Bytes that no segment may reach beyond.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    /// offset after its last byte
    end: u64,
    push: bool,
    ends_record: bool,
}

/// What the application has asked for.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// offset after the last byte written
    pub end: u64,
    pub closed: bool,
    pub fin_sent: bool,
    delay: Delay,
    /// the last write said that more follows, and nothing has happened since
    more: bool,
    /// what was corked goes out all the same
    released: bool,
    pieces: VecDeque<Piece>,
    /// ends of the segments sent with PSH that are not acknowledged
    pushed: VecDeque<u64>,
    /// offset after the last write that was pushed
    pushed_up_to: u64,
    /// offset after the last short segment
    short_end: u64,
}

impl Stream {
    pub fn new() -> Self {
        Stream {
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

    /// Adds bytes; `nxt` is the next offset to send, `largest_window` what the peer has ever offered.
    pub fn write(&mut self, bytes: u64, write: Write, nxt: u64, mss: u32, largest_window: u64) {
        self.more = write.more;
        self.released = false;
        let mss = u64::from(mss.max(1));
        let goal = (LARGEST_SEND.min(largest_window / 2) / mss).max(1) * mss;
        let end = self.end.saturating_add(bytes).min(FOREVER);
        while self.end < end {
            let piece = self.open_piece(nxt, goal);
            let begin = piece.start.max(nxt.min(piece.end));
            piece.end = end.min(begin + goal);
            self.end = piece.end;
            if self.end > self.pushed_up_to + largest_window / 2 {
                self.push();
            }
        }
        if let (false, Some(last)) = (write.more, self.pieces.back_mut()) {
            last.push = true;
            self.pushed_up_to = self.end;
        }
        if let (true, Some(last)) = (write.ends_record, self.pieces.back_mut()) {
            last.ends_record = true;
        }
    }

    fn push(&mut self) {
        self.pushed_up_to = self.end;
        if let Some(last) = self.pieces.back_mut() {
            last.push = true;
        }
    }

    /// The last piece, if it may grow; otherwise a new one.
    fn open_piece(&mut self, nxt: u64, goal: u64) -> &mut Piece {
        let grows = self
            .pieces
            .back()
            .is_some_and(|last| last.end > nxt && !last.ends_record && last.end - last.start.max(nxt) < goal);
        if !grows {
            self.pieces.push_back(Piece { start: self.end, end: self.end, push: false, ends_record: false });
        }
        self.pieces.back_mut().expect("there is one")
    }

    /// There is always more.
    pub fn write_forever(&mut self) {
        self.pieces.push_back(Piece { start: self.end, end: FOREVER, push: false, ends_record: false });
        self.end = FOREVER;
    }

    /// The size of segments is known only now: what was written before is one piece, but for ends of records.
    pub fn join_pieces(&mut self) {
        let mut joined: VecDeque<Piece> = VecDeque::new();
        for piece in self.pieces.drain(..) {
            match joined.back_mut() {
                Some(last) if !last.ends_record => *last = Piece { start: last.start, ..piece },
                _ => joined.push_back(piece),
            }
        }
        self.pieces = joined;
    }

    pub fn set_delay(&mut self, delay: Delay) {
        self.released |= self.delay.cork && !delay.cork && !delay.nagle;
        self.delay = delay;
        self.more = false;
    }
    /// What waits goes out all the same.
    pub fn send_short(&mut self) {
        self.released = true;
        self.more = false;
    }
    /// Nothing that waits is to wait on.
    pub fn is_let_go(&self) -> bool {
        self.released
    }
    /// The same, and pushed.
    pub fn push_short(&mut self) {
        self.send_short();
        self.push();
    }
    pub fn delay(&self) -> Delay {
        self.delay
    }

    /// Something other than a write has happened.
    pub fn on_event(&mut self) {
        self.more = false;
    }

    /// Bytes that the next segment may take at most, from `nxt` on.
    pub fn unsent_in_piece(&self, nxt: u64) -> u64 {
        let piece = self.pieces.iter().find(|piece| piece.end > nxt);
        piece.map_or(0, |piece| piece.end - nxt)
    }

    /// Nothing more will be added to the piece that contains `nxt`.
    pub fn piece_is_closed(&self, nxt: u64) -> bool {
        self.closed || self.pieces.iter().find(|piece| piece.end > nxt).is_none_or(|piece| piece.ends_record)
    }

    /// True if a segment of `payload` bytes at `nxt` must wait.
    pub fn delays(&self, una: u64, nxt: u64, payload: u64, mss: u32) -> bool {
        let is_short_tail = payload < u64::from(mss) && nxt + payload == self.end;
        if !is_short_tail || self.closed || self.released {
            return false;
        }
        let short_outstanding = self.short_end > una && self.short_end <= nxt;
        self.delay.cork || self.more || (self.delay.nagle && una < nxt && short_outstanding)
    }

    /// Notes a segment with data, sent for the first time.
    pub fn on_sent(&mut self, start: u64, end: u64, mss: u32) {
        if end - start < u64::from(mss) {
            self.short_end = end;
        }
        while let Some(piece) = self.pieces.front().copied().filter(|piece| piece.end <= end) {
            if piece.push && piece.end == end {
                self.pushed.push_back(end);
            }
            self.pieces.pop_front();
        }
    }

    /// All below `una` is acknowledged.
    pub fn on_acknowledged(&mut self, una: u64) {
        while self.pushed.front().is_some_and(|&end| end <= una) {
            self.pushed.pop_front();
        }
    }

    /// True if the segment that ends there carries PSH.
    pub fn is_pushed(&self, end: u64) -> bool {
        self.pushed.binary_search(&end).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;
    const WINDOW: u64 = 60_000;

    fn stream(writes: &[(u64, Write)]) -> Stream {
        let mut stream = Stream::new();
        for &(bytes, write) in writes {
            stream.write(bytes, write, 1, MSS, WINDOW);
        }
        stream
    }

    #[test]
    fn the_last_segment_of_a_write_is_pushed() {
        let mut stream = stream(&[(2500, Write::default())]);
        assert_eq!(stream.unsent_in_piece(1), 2500);
        stream.on_sent(1, 1001, MSS);
        stream.on_sent(1001, 2001, MSS);
        stream.on_sent(2001, 2501, MSS);
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
        stream.on_sent(1, 1001, MSS);
        assert!(!stream.delays(1, 1001, 400, MSS), "the first short one follows a full one");
        stream.on_sent(1001, 1401, MSS);
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
}
