//! The ceiling of a PHY rate: the rest of it after preambles, interframe spaces, backoff and
//! acknowledgements.
//!
//! For UDP, one exchange after another. For one TCP flow, exchanges with data and exchanges with TCP
//! ACKs in the other direction, whose contention is taken in three ways: a simulation of a single flow
//! must land between the serial and the zero-backoff figure, near the two-station one where both
//! queues are backlogged. Own arithmetic; slow start, losses and TCP's own windows are left out.

use lasthop_units::{Bytes, Duration};

use crate::bianchi::{Backoff, SlotTimes};

/// IPv4 and TCP headers without options [RFC 791 §3.1, RFC 9293 §3.1].
const IP_TCP_HEADERS: u64 = 40;
/// The timestamps option with its padding [RFC 7323 §3.2, appendix A].
const TIMESTAMPS: u64 = 12;

/// The use of the timestamps option in segments and ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamps {
    /// 40 bytes of headers.
    Off,
    /// 52 bytes of headers.
    On,
}

impl Timestamps {
    /// The IP packet of a pure ACK.
    pub fn ack_packet(self) -> Bytes {
        match self {
            Timestamps::Off => Bytes(IP_TCP_HEADERS),
            Timestamps::On => Bytes(IP_TCP_HEADERS + TIMESTAMPS),
        }
    }

    /// Payload of a segment in an IP packet of `packet` bytes.
    pub fn payload(self, packet: Bytes) -> Bytes {
        Bytes(packet.0 - self.ack_packet().0)
    }
}

/// Goodput of saturated UDP in bit/s: `payload` per `exchange` (frame, SIFS, ACK, DIFS) and backoff.
pub fn udp_goodput_bps(payload: Bytes, exchange: Duration, mean_backoff: Duration) -> f64 {
    8.0 * payload.0 as f64 / (exchange + mean_backoff).as_secs_f64()
}

/// One round of a TCP flow: some exchanges with data, then one with the TCP ACKs for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRound {
    /// `T_d`: frame, SIFS, ACK, DIFS of an exchange with data.
    pub data: Duration,
    /// `T_a`: the same of an exchange with TCP ACKs.
    pub ack: Duration,
    /// `b`: exchanges with data for each one with ACKs (2 with delayed ACKs, without aggregation).
    pub data_exchanges: u32,
    /// Payload delivered by one exchange with data: a segment's payload, times the MPDUs of an A-MPDU.
    pub payload: Bytes,
}

impl TcpRound {
    /// Each exchange pays a mean backoff of its own: `b P / (b (T_d + B) + T_a + B)`, bit/s.
    pub fn serial_backoff_bps(&self, mean_backoff: Duration) -> f64 {
        let contention = mean_backoff * u64::from(self.data_exchanges + 1);
        self.round_bits() / (self.air() + contention).as_secs_f64()
    }

    /// No exchange waits, the upper bound: `b P / (b T_d + T_a)`, bit/s.
    pub fn zero_backoff_bps(&self) -> f64 {
        self.round_bits() / self.air().as_secs_f64()
    }

    /// AP and station both always have a frame: they count down in parallel and collide [Bianchi 2000,
    /// n = 2]. `b` of `b + 1` successes are data; a collision lasts `T_d`, since data is longer and the
    /// wait after it (EIFS, ACK timeout) is as long as an ACK. In bit/s.
    pub fn two_station_dcf_bps(&self, backoff: &Backoff, slot: Duration) -> f64 {
        let exchanges = u64::from(self.data_exchanges + 1);
        let times = SlotTimes { idle: slot, success: self.air() / exchanges, collision: self.data };
        let one_byte = backoff.solve(2).throughput_bps(&times, Bytes(1)) / 8.0;
        one_byte * self.round_bits() / exchanges as f64
    }

    fn air(&self) -> Duration {
        self.data * u64::from(self.data_exchanges) + self.ack
    }

    fn round_bits(&self) -> f64 {
        8.0 * self.payload.0 as f64 * f64::from(self.data_exchanges)
    }
}
