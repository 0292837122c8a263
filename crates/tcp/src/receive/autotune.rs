//! A receive buffer that grows with the sender's use of it: Dynamic Right-Sizing.
//!
//! Once per round trip, as the receiver measures it, the buffer is made large enough for the data that the sender may
//! send in the next two, so that slow start is not held up; the window follows as segments arrive. The window offers the
//! share of the buffer that is payload; the rest is overhead in memory ([`memory`](super::memory)). The formulas are in
//! `docs/model/tcp-receiver.md`, "Growth".
//!
//! Source: Fisk, Feng 2001, for the law; the numbers as observed on Linux 6.18 over a TUN device (`SO_MEMINFO`, TCP_INFO and
//! the windows offered).
//! Leaves out: memory pressure.

use lasthop_units::{Duration, Time};

use super::memory::Memory;
use super::window::MemoryRoom;
use crate::config::Autotune;

/// Segments below this size do not make the window grow: 127 B left it, 128 B did not.
const LEAST_GROWTH_BYTES: u32 = 128;
/// Segments that the first round trip is thought to bring: an initial window [RFC 6928].
const FIRST_ROUND_SEGMENTS: u64 = 10;

/// Round-trip time as a receiver sees it.
#[derive(Clone, Copy, Debug, Default)]
struct ReceiverRtt {
    rtt: Option<Duration>,
    /// without timestamps: the time since which, and the offset until which, a window is being filled
    window: Option<(Time, u64)>,
}

impl ReceiverRtt {
    /// Takes in the RTT of an echoed timestamp. A shorter one counts at once; a longer one is smoothed, and left out
    /// while the application has left data unread, which makes the sender wait.
    fn on_echo(&mut self, sample: Duration, all_read: bool) {
        self.rtt = Some(match self.rtt {
            Some(rtt) if sample > rtt && !all_read => rtt,
            Some(rtt) if sample > rtt => rtt - rtt / 8 + sample / 8,
            _ => sample,
        });
    }

    /// Takes in the time that a window takes to fill, which is a round trip or more; the least counts.
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

/// The application's progress, as it has read the first segment of those that wait. In bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// since the connection began
    pub read: u64,
    /// in order, and not read yet
    pub unread: u64,
    /// from the end of the data in order to the end of the data held
    pub out_of_order: u64,
}

/// A round trip, as measured by reading.
#[derive(Clone, Copy, Debug)]
struct Round {
    since: Time,
    /// bytes read before it began
    start: u64,
    /// most bytes that an earlier one brought
    most: u64,
}

/// The receive buffer of one connection, which grows with the round trips measured, and the limit of its window.
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
    /// `learns`: the share of payload is learned; else it is a half.
    pub fn new(autotune: &Autotune, mss: u32, header_bytes: u32, learns: bool) -> Self {
        let mss = u64::from(mss);
        let limit = autotune.first_window(mss);
        let memory = Memory::new(header_bytes, mss, learns);
        let whole = memory.payload_in(autotune.initial.0);
        // Up to one segment of the part beyond two is kept back, until the buffer grows or the share is learned.
        let kept_back = mss.min(whole.saturating_sub(2 * mss));
        Tuning {
            memory,
            buffer: autotune.initial.0,
            largest: autotune.max.0,
            ceiling: whole - kept_back,
            limit,
            mss,
            rtt: ReceiverRtt::default(),
            round: Round { since: Time::ZERO, start: 0, most: 0 },
        }
    }

    /// Largest window for now.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes note that the connection is open.
    pub fn on_open(&mut self) {
        self.limit = self.limit.min(self.ceiling);
        self.round.most = self.limit.min(FIRST_ROUND_SEGMENTS * self.mss);
    }

    /// Payload that fits, where `memory` more is taken than is counted.
    fn fits(&self, memory: u64) -> u64 {
        self.memory.free_in(self.buffer.saturating_sub(memory)).min(self.ceiling)
    }

    /// Room in the buffer.
    pub fn room(&self) -> MemoryRoom {
        let segment = self.memory.full_segment().min(self.ceiling).max(1);
        MemoryRoom { fits: self.fits(0), ceiling: self.ceiling, segment }
    }

    /// Takes in data in order, up to `nxt`, where the last ACK offered a `window` of so many bytes: `rtt` if it is a full
    /// segment of this peer that echoes a timestamp for the first time.
    pub fn on_data(&mut self, now: Time, rtt: Option<Duration>, all_read: bool, nxt: u64, window: u64) {
        match rtt {
            Some(sample) => self.rtt.on_echo(sample, all_read),
            None => self.rtt.on_data(now, nxt, nxt + window),
        }
    }

    /// The memory of arriving data. Where it shows another share of payload, the window that the last ACK `offered`
    /// stays offered, as far as it fits.
    pub fn measure(&mut self, length: u32, offered: u64) -> u64 {
        let before = self.memory.share();
        let memory = self.memory.measure(length);
        if self.memory.share() != before {
            self.ceiling = self.memory.payload_in(self.buffer);
            self.limit = self.limit.max(offered).min(self.ceiling);
        }
        memory
    }

    /// Takes in data whose memory is counted already, or is `not_counted`. True if more may be offered than before.
    pub fn open(&mut self, length: u32, not_counted: u64) -> bool {
        let fits = self.fits(not_counted);
        if length < LEAST_GROWTH_BYTES || fits <= self.limit {
            return false;
        }
        self.limit = fits.min(self.limit + 2 * self.mss.max(u64::from(length)));
        true
    }

    /// The application has read the first segment of those that wait.
    pub fn on_read(&mut self, now: Time, progress: &Progress) {
        let Round { since, start, most } = self.round;
        if self.rtt.rtt.is_none_or(|rtt| now.since(since) < rtt) {
            return;
        }
        // Data that waits came faster than it is read.
        let brought = (progress.read - start).saturating_sub(progress.unread);
        if brought > most {
            self.make_room_for(payload_wanted(brought, most) + u128::from(progress.out_of_order));
        }
        self.round = Round { since: now, start: progress.read, most: most.max(brought) };
    }

    /// Makes room for data out of order: a segment that ends at `end` is held, and the last one held ends
    /// `out_of_order` bytes beyond the data in order.
    pub fn hold(&mut self, end: u64, memory: u64, out_of_order: u64) {
        self.memory.hold(end, memory);
        self.make_room_for(u128::from(2 * self.round.most) + u128::from(out_of_order));
    }

    fn make_room_for(&mut self, payload: u128) {
        let buffer = self.memory.for_payload(payload).min(u128::from(self.largest)) as u64;
        if buffer > self.buffer {
            self.buffer = buffer;
            self.ceiling = self.memory.payload_in(buffer);
        }
    }
}

/// Payload to make room for once a round trip has `brought` so much, where none before had more than `most`: twice
/// that, and as much again for twice the factor by which it grew.
fn payload_wanted(brought: u64, most: u64) -> u128 {
    let two_rounds = 2 * u128::from(brought);
    two_rounds + 2 * (two_rounds * u128::from(brought - most) / u128::from(most.max(1)))
}

#[cfg(test)]
mod tests {
    use lasthop_units::Bytes;

    use super::*;

    const MSS: u32 = 1448;

    /// A tuning that takes a half for payload.
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

    fn all(read: u64) -> Progress {
        Progress { read, unread: 0, out_of_order: 0 }
    }

    #[test]
    fn the_buffer_has_room_for_two_rounds_and_twice_their_growth() {
        let mut tuning = half(&Autotune::default(), MSS);
        tuning.on_open();
        tuning.rtt.on_echo(Duration::from_millis(100), true);
        // First round 10 segments by assumption; 20 were read: w = 2 * 20 = 40, growth 40 * 10 / 10, so 3 * 40.
        tuning.on_read(at(50), &all(10 * 1448));
        assert_eq!(tuning.buffer, 131_072, "a round trip has not passed");
        tuning.on_read(at(100), &all(20 * 1448));
        assert_eq!(tuning.buffer, 2 * 3 * 40 * 1448);
        tuning.on_read(at(200), &all(30 * 1448));
        assert_eq!(tuning.buffer, 2 * 3 * 40 * 1448, "less than before");
    }

    /// `tcpi_rcv_space` and the buffer of `SO_MEMINFO`, as Linux 6.18 had them.
    #[test]
    fn buffers_are_those_of_a_kernel() {
        let buffer = |mss: u32, options: u32, rounds: &[(u64, u64)]| {
            let mut tuning = Tuning::new(&Autotune::default(), mss, 40 + options, true);
            tuning.on_open();
            tuning.measure(mss, 0);
            tuning.rtt.on_echo(Duration::from_millis(1), true);
            let mut read = 0;
            for (round, &(brought, out_of_order)) in (1..).zip(rounds) {
                read += brought;
                tuning.on_read(at(round), &Progress { read, unread: 0, out_of_order });
            }
            tuning.buffer
        };
        assert_eq!(buffer(1460, 0, &[(65_700, 0)]), 1_661_155);
        assert_eq!(buffer(1460, 0, &[(43_800, 0)]), 692_148);
        assert_eq!(buffer(1460, 0, &[(59_860, 0)]), 1_362_147);
        assert_eq!(buffer(1448, 12, &[(23_168, 0)]), 163_100);
        assert_eq!(buffer(1448, 12, &[(23_168, 0), (57_920, 0)]), 741_376);
        assert_eq!(buffer(1448, 12, &[(15_928, 0), (43_440, 9 * 1448)]), 640_067);
    }

    /// The buffer of Linux 6.18 from 12,000 B on, as 1000 B come again and again after a gap.
    #[test]
    fn buffer_has_room_for_out_of_order_data() {
        let mut tuning = Tuning::new(&Autotune { initial: Bytes(12_000), ..Autotune::default() }, 1460, 40, true);
        tuning.on_open();
        let memory = tuning.measure(1000, 0);
        let buffers = [2000, 3000, 4000, 5000].map(|out_of_order| {
            tuning.hold(out_of_order, memory, out_of_order);
            tuning.buffer
        });
        assert_eq!(buffers, [25_553, 27_860, 30_166, 32_472]);
    }

    /// `tcpi_rcv_rtt` of Linux 6.18 for round trips of about 100, 60, 60, 100 and 100 ms; nothing is read in the second.
    #[test]
    fn a_shorter_round_trip_counts_at_once_and_a_longer_one_if_all_is_read() {
        let after = |samples: &[u64], all_read| {
            let mut rtt = ReceiverRtt::default();
            samples.iter().for_each(|&ms| rtt.on_echo(Duration::from_millis(ms), all_read));
            rtt.rtt.map(|rtt| rtt.as_nanos() / 1000)
        };
        assert_eq!(after(&[100, 61, 60, 101], true), Some(65_125));
        assert_eq!(after(&[100, 60, 60, 101], false), Some(60_000));
    }

    #[test]
    fn the_buffer_ends_at_its_maximum_and_the_window_at_half_of_that() {
        let mut tuning = half(&Autotune::default(), MSS);
        tuning.on_open();
        tuning.rtt.on_echo(Duration::from_millis(100), true);
        tuning.on_read(at(100), &all(1 << 30));
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
        let mut tuning = half(&Autotune { initial: Bytes(400_000), ..Autotune::default() }, MSS);
        let before = tuning.limit();
        assert!(tuning.open(MSS, 0));
        assert_eq!(tuning.limit(), before + 2 * 1448);
        assert!(!tuning.open(100, 0), "a small one does not");
    }
}
