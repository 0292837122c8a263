//! A receive buffer that grows with what the sender can use: Dynamic Right-Sizing.
//!
//! Once per round trip, as the receiver measures it, the buffer is set to twice what was read in it, and more if that
//! grew, so that a sender in slow start is not held up. The window follows by two segments for each that arrives.
//! Half of the buffer is offered, since the other half is taken by what surrounds data in memory.
//!
//! Source: Fisk, Feng 2001; Linux 6.x, `tcp_rcv_space_adjust`, `tcp_grow_window`, `tcp_rcv_rtt_update`.
//! Leaves out: memory pressure, and the ratio of payload to memory that Linux measures.

use lasthop_units::{Duration, Time};

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    buffer: u64,
    largest: u64,
    /// offered at most for now
    threshold: u64,
    mss: u64,
    rtt: ReceiverRtt,
    /// the round trip under way: since when, read up to then, read in the one before
    since: Time,
    read_before: u64,
    last_round: u64,
}

impl Tuning {
    pub fn new(autotune: &Autotune, mss: u32) -> Self {
        let mss = u64::from(mss);
        let threshold = autotune.first_window(mss);
        Tuning {
            buffer: autotune.initial.0,
            largest: autotune.max.0,
            threshold,
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

    /// Data came in order: `rtt` if it echoes a timestamp for the first time. True if the window grew.
    pub fn on_data(&mut self, now: Time, length: u32, rtt: Option<Duration>, nxt: u64, window_end: u64) -> bool {
        match rtt {
            Some(sample) if u64::from(length) >= self.mss => self.rtt.on_echo(sample),
            _ => self.rtt.on_data(now, nxt, window_end),
        }
        let room = (self.buffer / 2).saturating_sub(self.threshold);
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
        self.buffer = self.buffer.max((2 * window).min(u128::from(self.largest)) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_first_window_is_whole_segments_below_64_kib() {
        assert_eq!(Tuning::new(&Autotune::default(), MSS).threshold(), 45 * 1448);
        assert_eq!(Tuning::new(&Autotune::default(), 1460).threshold(), 44 * 1460);
    }

    #[test]
    fn the_buffer_is_twice_what_a_round_trip_brought_and_twice_its_growth() {
        let mut tuning = Tuning::new(&Autotune::default(), MSS);
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
        let mut tuning = Tuning::new(&Autotune::default(), MSS);
        tuning.rtt.on_echo(Duration::from_millis(100));
        tuning.on_read(at(100), 1 << 30);
        assert_eq!(tuning.buffer, 6_291_456);
        (0..5000).for_each(|_| {
            tuning.on_data(at(101), MSS, None, 0, 1);
        });
        assert_eq!(tuning.threshold(), 3_145_728);
    }

    #[test]
    fn each_segment_opens_the_window_by_two() {
        let mut tuning = Tuning::new(&Autotune { initial: lasthop_units::Bytes(400_000), ..Autotune::default() }, MSS);
        let before = tuning.threshold();
        assert!(tuning.on_data(at(1), MSS, None, 0, 1));
        assert_eq!(tuning.threshold(), before + 2 * 1448);
        assert!(!tuning.on_data(at(1), 100, None, 0, 1), "a small one does not");
    }
}
