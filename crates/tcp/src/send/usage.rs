//! The use of the congestion window.
//!
//! Source: RFC 9438 §5.8, RFC 7661 §4; as in Linux, the most data in flight in this and the last round trip
//! counts, and in slow start half the window is enough.

/// The most data in flight, by round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUsage {
    /// in bytes, this round trip
    peak: u64,
    /// in bytes, the one before
    last_peak: u64,
    /// the round ends when this offset is acknowledged
    round_end: u64,
}

impl WindowUsage {
    pub fn on_send(&mut self, flight_bytes: u64) {
        self.peak = self.peak.max(flight_bytes);
    }

    pub fn on_ack(&mut self, una: u64, nxt: u64, flight_bytes: u64) {
        if una >= self.round_end {
            *self = WindowUsage { peak: flight_bytes, last_peak: self.peak, round_end: nxt };
        }
    }

    /// True if a larger window would have been used.
    pub fn is_full(&self, cwnd_bytes: u64, mss: u32, slow_start: bool) -> bool {
        let most = self.peak.max(self.last_peak);
        if slow_start { 2 * most >= cwnd_bytes } else { most + u64::from(mss) > cwnd_bytes }
    }
}
