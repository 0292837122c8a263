//! Uplink data of several stations under MU EDCA: only the access point contends.
//!
//! With an AIFSN of 0 and triggers more often than the timer, a station whose data was acknowledged once makes no attempt of its own
//! until the timer ends, and each trigger starts it again [802.11ax-2021 §26.2.7]. A saturated cell is then a sequence of exchanges,
//! each after the access point's own backoff:
//! ```text
//! question   AIFS + backoff + BSRP + SIFS + HE TB PPDU (QoS Nulls)
//! data       AIFS + backoff + trigger + SIFS + HE TB PPDU (data) + SIFS + Multi-STA BlockAck
//! ```
//! Left out: losses, TXOPs with room for both, downlink data, the time before the first trigger. Durations are arguments.

use lasthop_units::{Bytes, Duration};

/// Bytes of a Basic Trigger frame for this many users: Frame Control, Duration, two addresses, Common Info of 8 bytes, FCS; User Info of
/// 5 bytes and one that depends on the kind, for each. [802.11ax-2021 §9.3.1.22]
pub fn basic_trigger(users: u64) -> Bytes {
    Bytes(2 + 2 + 6 + 6 + 8 + 4 + 6 * users)
}

/// Bytes of a BSRP Trigger frame: User Info has 5 bytes alone. [802.11ax-2021 §9.3.1.22]
pub fn bsrp_trigger(users: u64) -> Bytes {
    Bytes(2 + 2 + 6 + 6 + 8 + 4 + 5 * users)
}

/// Bytes of a BlockAck for several stations: Frame Control, Duration, two addresses, BA Control, FCS; AID and TID, starting sequence number
/// and a bitmap of 64 or 256 bits, for each. [802.11ax-2021 §9.3.1.8.6]
pub fn multi_sta_block_ack(users: u64, window: u16) -> Bytes {
    let bitmap = if window <= 64 { 8 } else { 32 };
    Bytes(2 + 2 + 6 + 6 + 2 + 4 + (2 + 2 + bitmap) * users)
}

/// Bytes of an A-MPDU of one QoS Null: delimiter, header with QoS Control, FCS. [802.11-2020 §9.2.3, §9.7.1]
pub const QOS_NULL: Bytes = Bytes(4 + 26 + 4);

/// The number of users whose units have the most data subcarriers together, of equals the largest number: all PPDUs are as long as
/// `max_duration` allows, so these bring the most bytes. `data_subcarriers(n)`: of a unit, if n stations can have units of one size that
/// leave none unused; at least two are served.
pub fn best_users(most: u32, data_subcarriers: impl Fn(u32) -> Option<u32>) -> Option<u32> {
    (2..=most).filter_map(|users| Some((users, users * data_subcarriers(users)?))).max_by_key(|of| of.1).map(|of| of.0)
}

/// Exchanges of a saturated cell, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggeredCell {
    /// `a`: AIFS and the mean backoff of the access point.
    pub contention: Duration,
    /// `T_d`: from the trigger to the end of the Multi-STA BlockAck.
    pub data: Duration,
    /// `T_q`: from the BSRP to the end of the QoS Nulls; `None` without questions.
    pub question: Option<Duration>,
    /// `I`: the interval of questions.
    pub interval: Duration,
    /// `P`: payload that an exchange delivers, of all its users.
    pub payload: Bytes,
}

impl TriggeredCell {
    /// `d`: exchanges with data from a question to the next, which is asked when the medium is won after the interval:
    /// `d = max(1, ceil((I - (a + T_q)) / (a + T_d)))`.
    pub fn data_exchanges(&self) -> u64 {
        let Some(question) = self.question else { return 1 };
        let (spent, each) = (self.contention + question, self.contention + self.data);
        let left = self.interval.as_nanos().saturating_sub(spent.as_nanos());
        left.div_ceil(each.as_nanos()).max(1)
    }

    /// `S = 8 d P / (a + T_q + d (a + T_d))`, bit/s; without questions `S = 8 P / (a + T_d)`.
    pub fn goodput_bps(&self) -> f64 {
        let exchanges = self.data_exchanges();
        let asking = self.question.map_or(Duration::ZERO, |question| self.contention + question);
        let all = asking + (self.contention + self.data) * exchanges;
        8.0 * (exchanges * self.payload.0) as f64 / all.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_micros;

    #[test]
    fn frames_have_the_sizes_of_their_fields() {
        assert_eq!((basic_trigger(4), bsrp_trigger(4), QOS_NULL), (Bytes(52), Bytes(48), Bytes(34)));
        assert_eq!((multi_sta_block_ack(4, 64), multi_sta_block_ack(4, 256)), (Bytes(70), Bytes(166)));
    }

    #[test]
    fn questions_take_their_part_of_the_time() {
        let cell = TriggeredCell {
            contention: US(100),
            data: US(900),
            question: None,
            interval: US(10_000),
            payload: Bytes(125_000),
        };
        // 1 Mbit in a millisecond.
        assert_eq!((cell.data_exchanges(), cell.goodput_bps()), (1, 1e9));
        // The question ends after 0.5 ms; the medium is won at 0.6, 1.6, … 9.6 ms for data, and at 10.6 ms for a question.
        let asks = TriggeredCell { question: Some(US(400)), ..cell };
        assert_eq!(asks.data_exchanges(), 10);
        assert!((asks.goodput_bps() - 1e7 / 10.5e-3).abs() < 1.0);
        assert_eq!(TriggeredCell { interval: US(100), ..asks }.data_exchanges(), 1, "a question for each");
    }

    #[test]
    fn units_with_the_most_data_subcarriers_serve_most() {
        // Table 27-8 of 802.11ax-2021, 80 MHz: 2 units of 484 tones, 4 of 242, 8 of 106, 16 of 52, 37 of 26.
        let of = |users: u32| {
            [(2, 468), (4, 234), (8, 102), (16, 48), (37, 24)].iter().find(|of| of.0 == users).map(|of| of.1)
        };
        assert_eq!(
            [1, 2, 3, 4, 8, 74].map(|most| best_users(most, of)),
            [None, Some(2), Some(2), Some(4), Some(4), Some(4)]
        );
    }
}
