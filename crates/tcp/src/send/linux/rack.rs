//! Loss by time: a segment sent well before one that has arrived is lost.
//!
//! Source: RFC 8985 §6. As in Linux, the reordering window is a quarter of the least RTT, wider after DSACKs (§6.2 step
//! 4), and zero while no reordering has been seen and `reordering` segments are SACKed.

use lasthop_units::Duration;

use super::super::scoreboard::{Delivered, Latest};

/// Recoveries for which a wider reordering window lasts. [RFC 8985 §6.2 step 4]
const PERSIST: u32 = 16;

/// The state of RACK: the latest segment delivered, and the reordering window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// the last-sent segment that has arrived
    pub latest: Latest,
    pub rtt: Duration,
    /// segments have arrived since the last search for losses
    pub advanced: bool,
    /// reordering window in quarters of the least RTT
    pub steps: u32,
    /// recoveries left for which `steps` lasts
    pub persist: u32,
    /// a DSACK waits to be counted
    pub dsack_seen: bool,
    /// segments delivered when `steps` was raised
    round_start: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            latest: Latest::default(),
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            round_start: 0,
        }
    }
}

impl Rack {
    /// Takes in delivered segments, `total` so far. [RFC 8985 §6.2 steps 2 and 4]
    pub fn advance(&mut self, delivered: &Delivered, total: u64) {
        if let Some((_, stamp)) = delivered.rated {
            self.adapt(stamp.delivered, total);
        }
        let Some((latest, rtt)) = delivered.latest else { return };
        self.advanced = true;
        self.rtt = rtt;
        if latest.is_after(self.latest.sent_at, self.latest.end) {
            self.latest = latest;
        }
    }

    /// A DSACK widens the window, once a round: until a segment is delivered that was sent after the last widening
    /// (recorded; RFC 8985 §6.2 step 4 ends a round by SND.UNA). `sent_after` segments had been delivered when the
    /// newest segment delivered now was sent.
    fn adapt(&mut self, sent_after: u64, total_delivered: u64) {
        let is_new_round = sent_after >= self.round_start;
        if core::mem::take(&mut self.dsack_seen) && is_new_round {
            self.steps += 1;
            self.persist = PERSIST;
            self.round_start = total_delivered;
        }
    }

    /// Makes the window last a recovery longer, after an undo by DSACK.
    pub fn last_longer(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    /// Counts a recovery that has ended: after the last, the window is as narrow as at first.
    pub fn last_shorter(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }
}

/// Upper bound of the reordering degree, in segments (`net.ipv4.tcp_max_reordering`).
pub(super) const MAX_REORDERING: u32 = 300;

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes in a DSACK, on an ACK of a segment sent when `sent_after` had been delivered.
    fn hear(rack: &mut Rack, sent_after: u64, total: u64) {
        rack.dsack_seen = true;
        rack.adapt(sent_after, total);
    }

    #[test]
    fn a_dsack_widens_the_window_once_a_round() {
        let mut rack = Rack::default();
        hear(&mut rack, 5, 10);
        hear(&mut rack, 9, 14);
        assert_eq!(rack.steps, 2, "sent before the window was widened");
        rack.adapt(10, 20);
        assert_eq!(rack.steps, 2, "it does not count later either");
        hear(&mut rack, 10, 20);
        assert_eq!(rack.steps, 3);
    }

    #[test]
    fn the_window_is_narrow_again_after_sixteen_recoveries() {
        let mut rack = Rack::default();
        hear(&mut rack, 5, 10);
        (0..15).for_each(|_| rack.last_shorter());
        assert_eq!(rack.steps, 2);
        rack.last_longer();
        rack.last_shorter();
        assert_eq!(rack.steps, 2);
        rack.last_shorter();
        assert_eq!(rack.steps, 1);
    }
}
