//! When data is acknowledged.
//!
//! At once: out of order, filling a gap, nothing new, FIN [RFC 5681 §4.2]. Else by policy. Delayed ACKs: once
//! more than one full segment is unacknowledged, as Linux does and [RFC 1122 §4.2.3.2] asks, or after a time.
//! ACKs that answer data out of order each go out on their own, since the sender counts them; those in order
//! may be merged, or ride on data, if the device is slow.

use lasthop_units::{Duration, Time};

use crate::config::{AckPolicy, Config};

/// What is owed to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    Nothing,
    /// later, unless data goes out
    Withheld,
    /// now; data may carry it
    Soon,
    /// now, and by a segment without data
    Pure,
}

/// Decides when ACKs go out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSchedule {
    policy: AckPolicy,
    timeout: Duration,
    /// in-order segments that are still acknowledged at once
    quick: u32,
    /// pure ACKs owed, one for each segment out of order or without news
    duplicates: u32,
    soon: bool,
    /// bytes in order not yet acknowledged
    pending_bytes: u32,
    withheld_until: Option<Time>,
    /// largest payload seen: a full segment
    largest: u32,
}

impl AckSchedule {
    pub fn new(config: &Config) -> Self {
        AckSchedule {
            policy: config.ack,
            timeout: config.delayed_ack_timeout,
            quick: config.quick_acks,
            duplicates: 0,
            soon: false,
            pending_bytes: 0,
            withheld_until: None,
            largest: 0,
        }
    }

    pub fn owed(&self) -> Owed {
        match self {
            AckSchedule { duplicates: 1.., .. } => Owed::Pure,
            AckSchedule { soon: true, .. } => Owed::Soon,
            AckSchedule { withheld_until: Some(_), .. } => Owed::Withheld,
            _ => Owed::Nothing,
        }
    }
    pub fn withheld_until(&self) -> Option<Time> {
        self.withheld_until
    }

    pub fn on_out_of_order(&mut self) {
        self.duplicates += 1;
    }
    pub fn on_nothing_new(&mut self) {
        self.duplicates += 1;
    }
    pub fn on_gap_or_end(&mut self) {
        self.soon = true;
    }
    pub fn on_timeout(&mut self) {
        self.soon |= self.withheld_until.take().is_some();
    }

    pub fn on_in_order(&mut self, now: Time, length: u32) {
        self.largest = self.largest.max(length);
        self.pending_bytes += length;
        let at_once = self.policy == AckPolicy::EverySegment || self.quick > 0 || self.pending_bytes > self.largest;
        self.quick = self.quick.saturating_sub(1);
        if at_once {
            self.soon = true;
        } else if self.withheld_until.is_none() {
            self.withheld_until = Some(now + self.timeout);
        }
    }

    /// All in order is acknowledged; one pure ACK settles one duplicate.
    pub fn on_ack_sent(&mut self, is_pure: bool) {
        self.duplicates = self.duplicates.saturating_sub(u32::from(is_pure));
        self.soon = false;
        self.pending_bytes = 0;
        self.withheld_until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(ack: AckPolicy, quick_acks: u32) -> AckSchedule {
        AckSchedule::new(&Config { ack, quick_acks, ..Config::default() })
    }

    #[test]
    fn every_second_full_segment_is_acknowledged() {
        let mut schedule = schedule(AckPolicy::Delayed, 0);
        schedule.on_in_order(Time::ZERO, 1000);
        assert_eq!(schedule.owed(), Owed::Withheld);
        assert_eq!(schedule.withheld_until(), Some(Time::ZERO + Duration::from_millis(40)));
        schedule.on_in_order(Time::from_nanos(5), 1000);
        assert_eq!(schedule.owed(), Owed::Soon);
        schedule.on_ack_sent(true);
        assert_eq!(schedule.owed(), Owed::Nothing);
    }

    #[test]
    fn the_first_segments_are_acknowledged_quickly() {
        let mut schedule = schedule(AckPolicy::Delayed, 2);
        for expected in [Owed::Soon, Owed::Soon, Owed::Withheld] {
            schedule.on_in_order(Time::ZERO, 1000);
            assert_eq!(schedule.owed(), expected);
            if expected == Owed::Soon {
                schedule.on_ack_sent(true);
            }
        }
    }

    #[test]
    fn each_segment_out_of_order_has_an_ack_of_its_own() {
        let mut schedule = schedule(AckPolicy::EverySegment, 0);
        schedule.on_out_of_order();
        schedule.on_out_of_order();
        schedule.on_ack_sent(true);
        assert_eq!(schedule.owed(), Owed::Pure);
        schedule.on_ack_sent(false);
        assert_eq!(schedule.owed(), Owed::Pure, "data does not settle it");
        schedule.on_ack_sent(true);
        assert_eq!(schedule.owed(), Owed::Nothing);
    }
}
