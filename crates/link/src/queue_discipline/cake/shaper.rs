//! The shaper of CAKE: a clock with the time at which the next packet may leave, and the size of a packet on the link.
//!
//! ```text
//!  clock ──► + size/rate for each packet that leaves; a packet may leave once the clock is not ahead of the time
//!        ──► now, when a packet comes to an idle shaper: time in which nothing waited is no credit
//! ```
//!
//! There is no bucket: a packet that leaves late, because it was not asked for at once, does not delay the ones after it. [Høiland-Jørgensen 2018]

use lasthop_registry::{ParamError, words};
use lasthop_units::{Bytes, DataRate, Duration, Time};

use super::super::flow_queue::frame_bytes;
use crate::PacketMeta;

words! {
    /// The framing of a link below IP. [tc-cake(8)]
    pub enum Framing {
        /// none: a packet takes its size
        None = "none",
        /// ADSL: cells of 53 B with 48 B of payload
        Atm = "atm",
        /// VDSL2: 65 B for each 64 B
        Ptm = "ptm",
    }
}

/// The size of packets on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// bytes that the link adds to an IP packet; `None`: sizes are those of Ethernet frames without FCS
    pub overhead: Option<Bytes>,
    /// least size, without the framing
    pub mpu: Bytes,
    /// the framing
    pub framing: Framing,
}

/// Limits of `overhead` and `mpu`. [tc-cake(8)]
const MOST: u64 = 256;

impl Sizes {
    pub fn check(&self, path: &str) -> Result<(), ParamError> {
        for (key, bytes) in [("overhead", self.overhead.unwrap_or(Bytes(0))), ("mpu", self.mpu)] {
            if bytes.0 > MOST {
                return Err(ParamError::new(format!("{path}.{key}"), format!("at most {MOST} B")));
            }
        }
        Ok(())
    }

    /// The bytes that a packet takes.
    pub fn of(&self, packet: &PacketMeta) -> Bytes {
        let bytes = self.overhead.map_or(u64::from(frame_bytes(packet)), |more| u64::from(packet.bytes) + more.0);
        let bytes = bytes.max(self.mpu.0);
        Bytes(match self.framing {
            Framing::None => bytes,
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        })
    }
}

/// A virtual clock of transmissions at a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    rate: DataRate,
    /// the time from which on the next packet may leave
    pub next: Time,
}

impl Clock {
    pub fn new(rate: DataRate) -> Clock {
        Clock { rate, next: Time::ZERO }
    }

    /// The time that so many bytes take.
    pub fn takes(&self, bytes: Bytes) -> Duration {
        self.rate.time_for(bytes)
    }

    /// Forgets the time in which nothing waited.
    pub fn wake(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// Counts a packet that leaves.
    pub fn advance(&mut self, bytes: Bytes) {
        self.next += self.takes(bytes);
    }

    /// Counts a packet that leaves, on a clock that only orders: one that is ahead owes no more than this packet.
    pub fn advance_at_most(&mut self, now: Time, bytes: Bytes) {
        self.next = self.next.min(now) + self.takes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::data;
    use super::*;

    #[test]
    fn sizes_are_those_of_the_manual_page() {
        let of = |overhead: Option<u64>, mpu, framing, bytes| {
            Sizes { overhead: overhead.map(Bytes), mpu: Bytes(mpu), framing }.of(&data(0, bytes)).0
        };
        assert_eq!(of(None, 0, Framing::None, 1500), 1514);
        // ethernet: overhead 38 mpu 84
        assert_eq!((of(Some(38), 84, Framing::None, 1500), of(Some(38), 84, Framing::None, 40)), (1538, 84));
        // conservative: overhead 48 atm: 1548 B need 33 cells, 88 B two.
        assert_eq!((of(Some(48), 0, Framing::Atm, 1500), of(Some(48), 0, Framing::Atm, 40)), (33 * 53, 2 * 53));
        // pppoe-ptm: overhead 30 ptm: 1530 B and 24 more.
        assert_eq!(of(Some(30), 0, Framing::Ptm, 1500), 1554);
    }

    #[test]
    fn a_late_packet_delays_none_and_an_idle_time_is_no_credit() {
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        // 1000 B take 1 ms.
        let mut clock = Clock::new(DataRate::from_bps(8_000_000));
        clock.wake(ms(10));
        clock.advance(Bytes(1000));
        assert_eq!(clock.next, ms(11));
        // It leaves at 15, and the next one may leave with it.
        clock.advance(Bytes(1000));
        assert_eq!(clock.next, ms(12));
        clock.wake(ms(20));
        assert_eq!(clock.next, ms(20));
    }

    #[test]
    fn a_clock_that_orders_owes_at_most_a_packet() {
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut clock = Clock::new(DataRate::from_bps(8_000_000));
        clock.wake(ms(10));
        // Five packets leave at 10.
        (0..5).for_each(|_| clock.advance_at_most(ms(10), Bytes(1000)));
        assert_eq!(clock.next, ms(11));
        // One that is behind catches up by its packets.
        clock.advance_at_most(ms(15), Bytes(1000));
        assert_eq!(clock.next, ms(12));
    }
}
