//! The time for which a success and a collision occupy the medium, from the air times of the frames
//! [Bianchi 2000 eq. 14 and 17], without propagation delay.

use lasthop_units::Duration;

/// Air times and interframe spaces of one PHY rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTimes {
    /// Slot time.
    pub slot: Duration,
    /// SIFS.
    pub sifs: Duration,
    /// DIFS, or AIFS in its place.
    pub difs: Duration,
    /// The PPDU that carries the data.
    pub data: Duration,
    /// The ACK, or the Block Ack in its place.
    pub ack: Duration,
    /// RTS.
    pub rts: Duration,
    /// CTS.
    pub cts: Duration,
}

/// The opening of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Data, ACK.
    Basic,
    /// RTS, CTS, data, ACK.
    RtsCts,
}

/// The time after a collision until all stations count down again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollisionCost {
    /// One DIFS, as in [Bianchi 2000].
    Difs,
    /// SIFS, response and DIFS: bystanders wait EIFS [802.11-2020 §10.3.2.3.7], and the ACK timeout of
    /// the senders is taken to be as long. The response is the one the lost frame would have had.
    Eifs,
}

impl FrameTimes {
    /// `T_s`: from the start of a successful exchange to the next slot in which stations count.
    pub fn success(&self, access: Access) -> Duration {
        let basic = self.data + self.sifs + self.ack + self.difs;
        match access {
            Access::Basic => basic,
            Access::RtsCts => self.rts + self.sifs + self.cts + self.sifs + basic,
        }
    }

    /// `T_c`: the same for a collision of equally long frames.
    pub fn collision(&self, access: Access, cost: CollisionCost) -> Duration {
        let (lost, response) = match access {
            Access::Basic => (self.data, self.ack),
            Access::RtsCts => (self.rts, self.cts),
        };
        match cost {
            CollisionCost::Difs => lost + self.difs,
            CollisionCost::Eifs => lost + self.sifs + response + self.difs,
        }
    }

    /// The mean of a first backoff: `(W - 1)/2` slots, with `W` = CWmin + 1.
    pub fn mean_backoff(&self, window: u32) -> Duration {
        self.slot * u64::from(window - 1) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_backoff_of_31_slots_of_20_us_is_310_us() {
        // gopal2005 prints 300 ms, meaning 15.5 * 20 us.
        let us = Duration::from_micros;
        let times =
            FrameTimes { slot: us(20), sifs: us(10), difs: us(50), data: us(0), ack: us(0), rts: us(0), cts: us(0) };
        assert_eq!(times.mean_backoff(32), us(310));
    }
}
