//! Deferral: a send that would be short waits for the next ACK, so that large sends are cut once.
//!
//! ```text
//!   rows 1 to 3: is an ACK worth waiting for? ──► rows 4 to 6: would it make the send longer? ──► wait
//!                  │ no                             │ no
//!                  └────────────────────────────────┴──► let go: as much as the room and the goal allow
//! ```
//! Source: `docs/model/tcp-recovery.md` §10, with its numbers of the rows.

use lasthop_units::{CaState as Phase, Duration, Time};

use super::super::Sender;
use crate::config::Pacing;

/// A flow that was silent for this time starts at once; an ACK is waited for at most as long.
const SHORT_WHILE: Duration = Duration::from_millis(1);
/// The most bytes of one send.
const LARGEST: u64 = 65_535;
/// The part of the window that makes a send long (`net.ipv4.tcp_tso_win_divisor`).
const SHARES: u64 = 3;
/// The bonus of a near peer is halved for each such part of the least RTT (`net.ipv4.tcp_tso_rtt_log`).
const HALVING: Duration = Duration::from_micros(512);
/// Parts of a second for which a send is to last.
const TICKS: u64 = 1024;

/// The times on which rows 1 to 3 depend.
#[derive(Clone, Copy, Debug)]
struct Timing {
    now: Time,
    repairs: bool,
    /// the last segment left
    last_sent: Time,
    /// the oldest segment left, if one is out
    head_sent: Option<Time>,
    srtt: Option<Duration>,
}

impl Timing {
    /// Rows 1 to 3: no repair is under way, the flow is busy, and the ACK is near.
    fn allows_to_wait(&self) -> bool {
        !self.repairs && self.now < self.last_sent + SHORT_WHILE && self.ack_is_near()
    }

    fn ack_is_near(&self) -> bool {
        let (Some(head_sent), Some(srtt)) = (self.head_sent, self.srtt) else { return false };
        head_sent + srtt <= self.now + SHORT_WHILE.min(srtt / 2)
    }
}

/// The unsent bytes that come next.
#[derive(Clone, Copy, Debug)]
struct Piece {
    bytes: u64,
    /// the application adds nothing to it
    is_closed: bool,
    /// more data waits behind it
    is_followed: bool,
}

/// The bytes that the windows let out.
#[derive(Clone, Copy, Debug)]
struct Room {
    by_cwnd: u64,
    by_peer: u64,
}

impl Room {
    fn bytes(&self) -> u64 {
        self.by_cwnd.min(self.by_peer)
    }

    /// True if the congestion window, not the peer's, cuts the piece short or leaves it no room to grow.
    fn is_limited_by_cwnd(&self, piece: &Piece) -> bool {
        self.by_cwnd < self.by_peer && self.bytes() <= piece.bytes
    }
}

/// A send that may gain by waiting, in bytes.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    piece: Piece,
    room: Room,
    full_payload: u64,
    /// a third of the window
    share: u64,
    /// `min_burst` segments
    least: u64,
}

impl Candidate {
    /// Rows 4 to 6: an ACK would make the send longer. The goal, which takes divisions, is computed last.
    fn gains_by_waiting(&self, goal: impl FnOnce() -> u64) -> bool {
        self.piece.bytes > self.full_payload && self.may_grow() && !self.is_long_already(goal)
    }

    /// Row 5.
    fn is_long_already(&self, goal: impl FnOnce() -> u64) -> bool {
        let Candidate { piece, share, least, .. } = *self;
        let room = self.room.bytes();
        let goes_whole = piece.bytes <= room && piece.is_followed;
        goes_whole || room >= share || (room >= least && room >= goal())
    }

    /// Row 6: an ACK brings room for more of the piece, or the application adds to it.
    fn may_grow(&self) -> bool {
        self.room.bytes() <= self.piece.bytes || !self.piece.is_closed
    }
}

/// The segments that may leave in one send, where the congestion window has so much `room`.
fn limit(room: u32, min_burst: u32, goal: impl FnOnce() -> u32) -> u32 {
    if room <= min_burst { room } else { room.min(goal()) }
}

/// The bytes of a send that suits a rate of so many bytes `in_a_tick`: more for a near peer, whose ACKs come often.
pub(super) fn suitable(in_a_tick: u64, min_rtt: Option<Duration>) -> u64 {
    let halvings = min_rtt.map_or(u64::MAX, |rtt| rtt.div_floor(HALVING));
    let bonus = if halvings < u64::from(u64::BITS) { LARGEST >> halvings } else { 0 };
    in_a_tick.saturating_add(bonus).min(LARGEST)
}

/// The bytes that leave in a tick at `fifths` / 5 of a window in `srtt`. In whole bytes.
fn in_a_tick(fifths: u64, window: u64, srtt: Duration) -> u64 {
    const FIFTH_OF_A_TICK: u128 = (1_000_000_000 / 5 / TICKS) as u128;
    let bytes_ns = u128::from(fifths) * u128::from(window) * FIFTH_OF_A_TICK;
    bytes_ns.checked_div(u128::from(srtt.as_nanos())).map_or(0, |bytes| bytes as u64)
}

impl Sender {
    /// True if new data that could be sent is held back for the next ACK. Data that is let go goes in whole, up to
    /// the send goal: `self.linux.released` counts the segments that may still go, `u32::MAX` without a limit, and the
    /// question is not asked again while it is above 0.
    #[inline(always)]
    pub(super) fn defers(&mut self, now: Time) -> bool {
        self.linux.released == 0 && self.defers_anew(now)
    }

    fn defers_anew(&mut self, now: Time) -> bool {
        if self.config.tso_deferral && self.timing(now).allows_to_wait() {
            let candidate = self.candidate();
            if candidate.gains_by_waiting(|| self.bytes_of(self.goal())) {
                self.note_wait(&candidate);
                return true;
            }
        }
        self.linux.released = self.send_limit();
        self.linux.send_end = if self.config.push_sends { self.end_of_send() } else { 0 };
        false
    }

    /// Where the send that is let go ends, if it has several segments; else 0. A part of a segment at the end of the peer's
    /// window goes with it, unless a short segment is out. [RFC 896]
    fn end_of_send(&self) -> u64 {
        let (nxt, mss) = (self.board.nxt(), u64::from(self.mss));
        let allowed = self.bytes_of(self.linux.released.min(self.room_segments()));
        let offered = self.piece().bytes.min(self.room().by_peer);
        let part = offered % mss;
        let bytes = match (allowed <= offered, self.offered.holds_part(self.board.una(), nxt)) {
            (true, _) => allowed,
            (false, true) => offered - part,
            (false, false) => offered,
        };
        if bytes > mss { nxt + bytes } else { 0 }
    }

    fn timing(&self, now: Time) -> Timing {
        Timing {
            now,
            repairs: matches!(self.linux.phase, Phase::Recovery | Phase::Loss),
            last_sent: self.last_sent,
            head_sent: self.board.head().map(|head| head.sent_at),
            srtt: self.rtt.srtt(),
        }
    }

    fn candidate(&self) -> Candidate {
        Candidate {
            piece: self.piece(),
            room: self.room(),
            full_payload: u64::from(self.mss),
            share: self.share(),
            least: self.bytes_of(self.config.min_burst),
        }
    }

    fn piece(&self) -> Piece {
        let nxt = self.board.nxt();
        let bytes = self.offered.unsent_in_piece(nxt).min(LARGEST);
        Piece { bytes, is_closed: self.offered.piece_is_closed(nxt), is_followed: self.offered.end > nxt + bytes }
    }

    fn room(&self) -> Room {
        let by_peer = self.window.end.saturating_sub(self.board.nxt());
        Room { by_cwnd: self.bytes_of(self.room_segments()), by_peer }
    }

    /// The free part of the congestion window.
    fn room_segments(&self) -> u32 {
        self.linux.window.saturating_sub(self.flight_segments())
    }

    fn share(&self) -> u64 {
        let of_peer = self.window.end.saturating_sub(self.window.set_at);
        self.bytes_of(self.linux.window).min(of_peer) / SHARES
    }

    fn bytes_of(&self, segments: u32) -> u64 {
        u64::from(segments) * u64::from(self.mss)
    }

    /// Notes that the congestion window is the limit: no segment is sent that would note it.
    fn note_wait(&mut self, candidate: &Candidate) {
        if candidate.room.is_limited_by_cwnd(&candidate.piece) {
            self.note_usage(true);
        }
    }

    /// The segments that are let go. Without a demand for short sends there is no limit.
    fn send_limit(&self) -> u32 {
        let is_limited = self.config.tso_deferral || self.config.pacing == Pacing::On || self.control.owns_recovery();
        if !is_limited {
            return u32::MAX;
        }
        limit(self.room_segments(), self.config.min_burst, || self.goal())
    }

    /// The segments of a send that suits the rate.
    fn goal(&self) -> u32 {
        let rate = self.pacing_rate();
        let (bytes, least) = match (rate, self.control.longest_send()) {
            (Some(rate), Some(time)) => ((rate * time.as_secs_f64()) as u64, 1),
            _ => (self.suitable_send(rate), self.config.min_burst),
        };
        let segments = (bytes / u64::from(self.mss)).min(u64::from(u32::MAX));
        least.max(segments as u32)
    }

    fn suitable_send(&self, rate: Option<f64>) -> u64 {
        let in_a_tick = rate.map_or_else(|| self.window_in_a_tick(), |rate| (rate / TICKS as f64) as u64);
        self.suitable_bytes(in_a_tick)
    }

    /// The bytes of a send where so many leave in the time that a send is to last.
    pub(super) fn suitable_bytes(&self, in_a_tick: u64) -> u64 {
        suitable(in_a_tick, self.linux.min_rtt())
    }

    /// The bytes that [`window_rate`](Self::window_rate) sends in 1/1024 s.
    pub(super) fn window_in_a_tick(&self) -> u64 {
        let Some(srtt) = self.rtt.srtt() else { return 0 };
        let cwnd = self.cwnd_segments();
        let fifths = if cwnd < self.control.ssthresh() / 2.0 { 10 } else { 6 };
        let window = cwnd.max(f64::from(self.board.count())) * f64::from(self.mss);
        in_a_tick(fifths, window as u64, srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    fn at(us: u64) -> Time {
        Time::ZERO + self::us(us)
    }

    /// At 50 ms: the oldest segment left 40 ms and the last one 0.5 ms ago, and the ACK is due in 0.8 ms.
    fn timing() -> Timing {
        Timing {
            now: at(50_000),
            repairs: false,
            last_sent: at(49_500),
            head_sent: Some(at(10_000)),
            srtt: Some(us(40_800)),
        }
    }

    /// Three segments may leave, of 20 that the application has written so far; a third of the window is 10, and the
    /// peer's window no limit.
    fn candidate() -> Candidate {
        Candidate {
            piece: Piece { bytes: 20_000, is_closed: false, is_followed: false },
            room: Room { by_cwnd: 3000, by_peer: 100_000 },
            full_payload: 1000,
            share: 10_000,
            least: 2000,
        }
    }

    fn waits(candidate: Candidate) -> bool {
        candidate.gains_by_waiting(|| 8000)
    }

    fn with_room(room: u64) -> Candidate {
        Candidate { room: Room { by_cwnd: room, by_peer: 100_000 }, ..candidate() }
    }

    fn with_piece(bytes: u64) -> Candidate {
        Candidate { piece: Piece { bytes, ..candidate().piece }, ..candidate() }
    }

    #[test]
    fn row_1_a_repair_does_not_wait() {
        assert!(timing().allows_to_wait());
        assert!(!Timing { repairs: true, ..timing() }.allows_to_wait());
    }

    #[test]
    fn row_2_a_flow_that_was_silent_starts_at_once() {
        assert!(Timing { last_sent: at(49_001), ..timing() }.allows_to_wait());
        assert!(!Timing { last_sent: at(49_000), ..timing() }.allows_to_wait());
    }

    #[test]
    fn row_3_only_a_near_ack_is_waited_for() {
        assert!(Timing { srtt: Some(us(41_000)), ..timing() }.allows_to_wait());
        assert!(!Timing { srtt: Some(us(41_001)), ..timing() }.allows_to_wait());
        assert!(Timing { srtt: Some(us(20_000)), ..timing() }.allows_to_wait(), "it is overdue");
        assert!(!Timing { head_sent: None, ..timing() }.allows_to_wait(), "nothing is out");
        assert!(!Timing { srtt: None, ..timing() }.allows_to_wait());
    }

    #[test]
    fn row_3_over_a_short_path_half_the_rtt_counts() {
        let short = Timing { head_sent: Some(at(49_900)), ..timing() };
        assert!(Timing { srtt: Some(us(200)), ..short }.allows_to_wait());
        assert!(!Timing { srtt: Some(us(202)), ..short }.allows_to_wait());
    }

    #[test]
    fn row_4_a_piece_of_one_segment_does_not_wait() {
        assert!(waits(with_piece(1001)));
        assert!(!waits(with_piece(1000)));
    }

    #[test]
    fn row_5a_a_piece_that_fits_leaves_if_more_data_follows() {
        let followed = |bytes| Candidate { piece: Piece { bytes, is_closed: false, is_followed: true }, ..candidate() };
        assert!(!waits(followed(3000)));
        assert!(waits(followed(3001)));
        assert!(waits(with_piece(3000)), "it may yet grow");
    }

    #[test]
    fn row_5b_a_third_of_the_window_is_long() {
        let far = |room| with_room(room).gains_by_waiting(|| 50_000);
        assert!(far(9999));
        assert!(!far(10_000));
    }

    #[test]
    fn row_5c_the_goal_is_long_unless_it_is_below_the_least() {
        assert!(waits(with_room(7999)));
        assert!(!waits(with_room(8000)));
        assert!(with_room(1999).gains_by_waiting(|| 1000));
        assert!(!with_room(2000).gains_by_waiting(|| 1000));
    }

    #[test]
    fn row_6_a_closed_piece_that_fits_does_not_wait() {
        let closed = |bytes| Candidate { piece: Piece { bytes, is_closed: true, is_followed: false }, ..candidate() };
        assert!(!waits(closed(2999)));
        assert!(waits(closed(3000)), "the room is just used up");
    }

    #[test]
    fn the_lesser_window_is_the_room_and_only_the_congestion_window_is_noted() {
        let Candidate { piece, room, .. } = candidate();
        assert!(room.is_limited_by_cwnd(&piece));
        assert!(!room.is_limited_by_cwnd(&Piece { bytes: 2999, ..piece }), "the piece is the limit");
        let peer = Room { by_peer: 3000, ..room };
        assert!(!peer.is_limited_by_cwnd(&piece));
        assert_eq!(Room { by_peer: 2000, ..room }.bytes(), 2000);
    }

    #[test]
    fn a_send_is_as_long_as_the_room_and_the_goal() {
        assert_eq!(limit(2, 2, || 1), 2, "the goal does not cut the least burst");
        assert_eq!(limit(9, 2, || 6), 6);
        assert_eq!(limit(5, 2, || 6), 5);
    }

    #[test]
    fn a_near_peer_gets_long_sends_and_a_fast_one_too() {
        assert_eq!(suitable(3000, None), 3000, "no RTT");
        assert_eq!(suitable(3000, Some(us(511))), 65_535);
        assert_eq!(suitable(3000, Some(us(512))), 35_767);
        assert_eq!(suitable(3000, Some(us(1024))), 19_383);
        assert_eq!(suitable(3000, Some(Duration::from_secs(9))), 3000);
        assert_eq!(suitable(u64::MAX, Some(us(512))), 65_535);
    }

    #[test]
    fn a_tick_of_the_window_is_a_share_of_the_round_trip() {
        // 100,000 B in 100 ms, times 1.2: 1.2 MB/s, of which 1/1024 is 1171.8 B
        assert_eq!(in_a_tick(6, 100_000, us(100_000)), 1171);
        assert_eq!(in_a_tick(10, 100_000, us(100_000)), 1953);
        assert_eq!(in_a_tick(10, 100_000, Duration::ZERO), 0);
        // In whole bytes: by the exact tick of 976,562.5 ns it would be one more.
        assert_eq!(in_a_tick(6, 512_000_000, us(1_000_000)), 599_998);
    }
}
