//! A receive buffer that grows with what the sender can use: Dynamic Right-Sizing.
//!
//! Once per round trip, as the receiver measures it, the buffer is made large enough for what the sender may send in the
//! next two, so that slow start is not held up; the window follows as segments arrive. Of the buffer the share is offered
//! that is payload, since the rest is taken by what surrounds data in memory ([`memory`](super::memory)). The formulas
//! stand in `docs/model/tcp-receiver.md`, "Growth".
//!
//! Source: Fisk, Feng 2001, for the law; the numbers as observed on Linux 6.18 over a TUN device (`SO_MEMINFO`, TCP_INFO and
//! the windows offered).
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

/// A round trip, as far as reading goes.
#[derive(Clone, Copy, Debug)]
struct Round {
    since: Time,
    /// read before it began
    start: u64,
    /// most that one before it brought
    most: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    pub memory: Memory,
    buffer: u64,
    largest: u64,
    /// offered at most from a buffer of this size
    ceiling: u64,
    /// offered at most for now
    limit: u64,
    mss: u64,
    rtt: ReceiverRtt,
    round: Round,
}

impl Tuning {
    /// `learns` the share that is payload; else it is a half.
    pub fn new(autotune: &Autotune, mss: u32, header_bytes: u32, learns: bool) -> Self {
        let mss = u64::from(mss);
        let limit = autotune.first_window(mss);
        let memory = Memory::new(header_bytes, mss, learns);
        let whole = memory.payload_in(autotune.initial.0);
        // Of what is beyond two segments up to one is kept back, until the buffer grows or the share is learned.
        let kept_back = mss.min(whole.saturating_sub(2 * mss));
        Tuning {
            memory,
            buffer: autotune.initial.0,
            largest: autotune.max.0,
            ceiling: whole - kept_back,
            limit,
            mss,
            rtt: ReceiverRtt::default(),
            round: Round { since: Time::ZERO, start: 0, most: limit.min(FIRST_ROUND_SEGMENTS * mss) },
        }
    }

    /// Offered at most for now.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The connection is open.
    pub fn on_open(&mut self) {
        self.limit = self.limit.min(self.ceiling);
    }

    /// Payload that fits, where `memory` more is taken than is counted.
    fn fits(&self, memory: u64) -> u64 {
        self.memory.free_in(self.buffer.saturating_sub(memory)).min(self.ceiling)
    }

    /// What the buffer has room for.
    pub fn room(&self) -> MemoryRoom {
        let segment = self.memory.full_segment().min(self.ceiling).max(1);
        MemoryRoom { fits: self.fits(0), ceiling: self.ceiling, segment }
    }

    /// Data came in order: `rtt` if it echoes a timestamp for the first time.
    pub fn on_data(&mut self, now: Time, length: u32, rtt: Option<Duration>, nxt: u64, window_end: u64) {
        match rtt {
            Some(sample) if u64::from(length) >= self.mss => self.rtt.on_echo(sample),
            _ => self.rtt.on_data(now, nxt, window_end),
        }
    }

    /// Data came: its memory. Where it shows another share of payload, what the last ACK `offered` stays offered, as far as
    /// it fits.
    pub fn measure(&mut self, length: u32, offered: u64) -> u64 {
        let before = self.memory.share();
        let memory = self.memory.measure(length);
        if self.memory.share() != before {
            self.ceiling = self.memory.payload_in(self.buffer);
            self.limit = self.limit.max(offered).min(self.ceiling);
        }
        memory
    }

    /// Data came; its memory is counted already, or is `not_counted`. True if more may be offered than before.
    pub fn open(&mut self, length: u32, not_counted: u64) -> bool {
        let fits = self.fits(not_counted);
        if length < LEAST_GROWTH_BYTES || fits <= self.limit {
            return false;
        }
        self.limit = fits.min(self.limit + 2 * self.mss.max(u64::from(length)));
        true
    }

    /// The application has read `read` bytes since the connection began.
    pub fn on_read(&mut self, now: Time, read: u64) {
        let Round { since, start, most } = self.round;
        if self.rtt.rtt.is_none_or(|rtt| now.since(since) < rtt) {
            return;
        }
        let brought = read - start;
        if brought > most {
            self.make_room_for(payload_wanted(brought, most, SPARE_SEGMENTS * self.mss));
        }
        self.round = Round { since: now, start: read, most: most.max(brought) };
    }

    fn make_room_for(&mut self, payload: u128) {
        let buffer = self.memory.for_payload(payload).min(u128::from(self.largest)) as u64;
        if buffer > self.buffer {
            self.buffer = buffer;
            self.ceiling = self.memory.payload_in(buffer);
        }
    }
}

/// Payload for which there is to be room once a round trip has `brought` so much, where none before had more than `most`:
/// twice that and what is to `spare`, and as much again for twice the factor by which it grew.
fn payload_wanted(brought: u64, most: u64, spare: u64) -> u128 {
    let two_rounds = u128::from(2 * brought + spare);
    two_rounds + 2 * (two_rounds * u128::from(brought - most) / u128::from(most.max(1)))
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
        assert_eq!(half(&Autotune::default(), MSS).limit(), 45 * 1448);
        assert_eq!(half(&Autotune::default(), 1460).limit(), 44 * 1460);
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
            tuning.open(MSS, 0);
        });
        assert_eq!(tuning.limit(), 3_145_728);
    }

    /// As Linux 6.18 does: 100, 600 and 1460 B come, with 64,256 and then 63,744 B offered.
    #[test]
    fn the_limit_follows_the_share() {
        let mut tuning = Tuning::new(&Autotune::default(), 1460, 40, true);
        assert_eq!(tuning.limit(), 64_240);
        // 600 of 1280 are 120 of 256
        tuning.measure(600, 64_256);
        assert_eq!(tuning.limit(), 131_072 * 120 / 256);
        tuning.measure(1460, 63_744);
        assert_eq!(tuning.limit(), 63_744);
    }

    #[test]
    fn each_segment_opens_the_window_by_two() {
        let mut tuning = half(&Autotune { initial: lasthop_units::Bytes(400_000), ..Autotune::default() }, MSS);
        let before = tuning.limit();
        assert!(tuning.open(MSS, 0));
        assert_eq!(tuning.limit(), before + 2 * 1448);
        assert!(!tuning.open(100, 0), "a small one does not");
    }
}
