//! A receive buffer that grows with what the sender can use: Dynamic Right-Sizing.
//!
//! Once per round trip, as the receiver measures it, the buffer is set to twice what was read in it, and more if that
//! grew, so that a sender in slow start is not held up. The window follows by two segments for each that arrives.
//! Of the buffer the share is offered that is payload, since the rest is taken by what surrounds data in memory
//! ([`memory`](super::memory)).
//!
//! Source: Fisk, Feng 2001; Linux 6.x, `tcp_rcv_space_adjust`, `tcp_grow_window`, `tcp_rcv_rtt_update`.
//! Leaves out: memory pressure.

use lasthop_units::{Duration, Time};

use super::memory::Memory;
use super::window::MemoryRoom;
use crate::config::Autotune;

/// Segments below this size do not make the window grow.
const LEAST_GROWTH_BYTES: u32 = 128;
/// Segments of room beyond twice what was read.
const SPARE_SEGMENTS: u64 = 16;
/// Segments that the first round trip is thought to bring.
const FIRST_ROUND_SEGMENTS: u64 = 10;

/// Round-trip time as a receiver sees it.
#[derive(Clone, Copy, Debug, Default)]
struct ReceiverRtt {
    rtt: Option<Duration>,
    /// without timestamps: since when, and until which offset, a window is being filled
    window: Option<(Time, u64)>,
}

impl ReceiverRtt {
    /// From an echoed timestamp: smoothed.
    fn on_echo(&mut self, sample: Duration) {
        self.rtt = Some(match self.rtt {
            None => sample,
            Some(rtt) => rtt - rtt / 8 + sample / 8,
        });
    }

    /// From the time that a window takes to fill, which is a round trip or more: the least.
    fn on_data(&mut self, now: Time, nxt: u64, window_end: u64) {
        if let Some((since, until)) = self.window {
            if nxt < until {
                return;
            }
            let sample = now.since(since);
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
        }
        self.window = Some((now, window_end));
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    buffer: u64,
    largest: u64,
    pub memory: Memory,
    /// offered at most for now
    threshold: u64,
    /// offered at most from this buffer
    clamp: u64,
    mss: u64,
    rtt: ReceiverRtt,
    /// the round trip under way: since when, read up to then, read in the one before
    since: Time,
    read_before: u64,
    last_round: u64,
}

impl Tuning {
    /// `learns` the share that is payload; else it is a half.
    pub fn new(autotune: &Autotune, mss: u32, header_bytes: u32, learns: bool) -> Self {
        let mss = u64::from(mss);
        let threshold = autotune.first_window(mss);
        let memory = Memory::new(header_bytes, mss, learns);
        let whole = memory.payload_in(autotune.initial.0);
        Tuning {
            buffer: autotune.initial.0,
            largest: autotune.max.0,
            memory,
            threshold,
            // A segment is kept back until the buffer grows, or the share is learned.
            clamp: whole.min((whole.saturating_sub(mss)).max(2 * mss)),
            mss,
            rtt: ReceiverRtt::default(),
            since: Time::ZERO,
            read_before: 0,
            last_round: threshold.min(FIRST_ROUND_SEGMENTS * mss),
        }
    }

    /// Offered at most for now.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The connection is open.
    pub fn on_open(&mut self) {
        self.threshold = self.threshold.min(self.clamp);
    }

    /// What the buffer has room for.
    pub fn room(&self) -> MemoryRoom {
        MemoryRoom {
            free: self.memory.free_in(self.buffer),
            whole: self.clamp,
            full_segment: self.memory.full_segment(),
        }
    }

    /// Data came in order: `rtt` if it echoes a timestamp for the first time.
    pub fn on_data(&mut self, now: Time, length: u32, rtt: Option<Duration>, nxt: u64, window_end: u64) {
        match rtt {
            Some(sample) if u64::from(length) >= self.mss => self.rtt.on_echo(sample),
            _ => self.rtt.on_data(now, nxt, window_end),
        }
    }

    /// Data came: its memory. Where it tells another share of payload the limit follows: down to what fits now, up to what
    /// the last ACK `offered`.
    pub fn measure(&mut self, length: u32, offered: u64) -> u64 {
        let share = self.memory.share();
        let memory = self.memory.measure(length);
        if self.memory.share() != share {
            let whole = self.memory.payload_in(self.buffer);
            if whole < self.clamp {
                self.threshold = self.threshold.min(whole);
            } else {
                self.threshold = self.threshold.max(whole.min(offered));
            }
            self.clamp = whole;
        }
        memory
    }

    /// Data came; its memory is counted already, or is `not_counted`. True if the window grew.
    pub fn grow_window(&mut self, length: u32, not_counted: u64) -> bool {
        let free = self.memory.free_in(self.buffer.saturating_sub(not_counted));
        let room = free.min(self.clamp).saturating_sub(self.threshold);
        if length < LEAST_GROWTH_BYTES || room == 0 {
            return false;
        }
        self.threshold += room.min(2 * self.mss.max(u64::from(length)));
        true
    }

    /// The application has read `read` bytes since the connection began.
    pub fn on_read(&mut self, now: Time, read: u64) {
        if self.rtt.rtt.is_none_or(|rtt| now.since(self.since) < rtt) {
            return;
        }
        let copied = read - self.read_before;
        if copied > self.last_round {
            self.grow(copied);
            self.last_round = copied;
        }
        self.since = now;
        self.read_before = read;
    }

    fn grow(&mut self, copied: u64) {
        let wanted = 2 * copied + SPARE_SEGMENTS * self.mss;
        let growth = u128::from(wanted) * u128::from(copied - self.last_round) / u128::from(self.last_round.max(1));
        let window = u128::from(wanted) + 2 * growth;
        let buffer = self.memory.for_payload(window).min(u128::from(self.largest)) as u64;
        if buffer > self.buffer {
            self.buffer = buffer;
            self.clamp = self.memory.payload_in(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;

    /// One that takes a half for payload.
    fn half(autotune: &Autotune, mss: u32) -> Tuning {
        Tuning::new(autotune, mss, 52, false)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_first_window_is_whole_segments_below_64_kib() {
        assert_eq!(half(&Autotune::default(), MSS).threshold(), 45 * 1448);
        assert_eq!(half(&Autotune::default(), 1460).threshold(), 44 * 1460);
    }

    #[test]
    fn the_buffer_is_twice_what_a_round_trip_brought_and_twice_its_growth() {
        let mut tuning = half(&Autotune::default(), MSS);
        tuning.rtt.on_echo(Duration::from_millis(100));
        // First round 10 segments by assumption; 20 were read: w = 2 * 20 + 16 = 56, growth 56 * 10 / 10, so 3 * 56.
        tuning.on_read(at(50), 10 * 1448);
        assert_eq!(tuning.buffer, 131_072, "a round trip has not passed");
        tuning.on_read(at(100), 20 * 1448);
        assert_eq!(tuning.buffer, 2 * 3 * 56 * 1448);
        tuning.on_read(at(200), 30 * 1448);
        assert_eq!(tuning.buffer, 2 * 3 * 56 * 1448, "less than before");
    }

    #[test]
    fn the_buffer_ends_at_its_maximum_and_the_window_at_half_of_that() {
        let mut tuning = half(&Autotune::default(), MSS);
        tuning.rtt.on_echo(Duration::from_millis(100));
        tuning.on_read(at(100), 1 << 30);
        assert_eq!(tuning.buffer, 6_291_456);
        (0..5000).for_each(|_| {
            tuning.grow_window(MSS, 0);
        });
        assert_eq!(tuning.threshold(), 3_145_728);
    }

    /// As Linux 6.18 does: 100, 600 and 1460 B come, with 64,256 and then 63,744 B offered.
    #[test]
    fn the_limit_follows_the_share() {
        let mut tuning = Tuning::new(&Autotune::default(), 1460, 40, true);
        assert_eq!(tuning.threshold(), 64_240);
        // 600 of 1280 are 120 of 256
        tuning.measure(600, 64_256);
        assert_eq!(tuning.threshold(), 131_072 * 120 / 256);
        tuning.measure(1460, 63_744);
        assert_eq!(tuning.threshold(), 63_744);
    }

    #[test]
    fn each_segment_opens_the_window_by_two() {
        let mut tuning = half(&Autotune { initial: lasthop_units::Bytes(400_000), ..Autotune::default() }, MSS);
        let before = tuning.threshold();
        assert!(tuning.grow_window(MSS, 0));
        assert_eq!(tuning.threshold(), before + 2 * 1448);
        assert!(!tuning.grow_window(100, 0), "a small one does not");
    }
}
