//! The settings of the timer, and its effects. [RFC 6298 §5, RFC 8985 §8]

use lasthop_units::{Duration, Time};

use super::super::Sender;
use super::timer::{Change, Occasion, Purpose, Timer, Waits, next_timer};
use crate::counters::Counters;

impl Sender {
    pub(super) fn set_timer(&mut self, now: Time, occasion: Occasion) {
        self.set_timer_or_wait(now, occasion, None);
    }

    /// Sets the timer, to look for reordering if RACK waits.
    pub(super) fn set_timer_or_wait(&mut self, now: Time, occasion: Occasion, reordering: Option<Duration>) {
        self.linux.probe_set_at = None;
        let rto = self.rtt.rto();
        let head_at = self.board.head().map(|head| head.sent_at);
        let waits = Waits {
            purpose: self.linux.timer.purpose,
            is_out: head_at.is_some(),
            rto,
            rto_left: head_at.map_or(rto, |sent_at| (sent_at + rto).since(now)),
            reordering,
            probe: self.probe_wait(),
        };
        match next_timer(occasion, &waits) {
            Change::Keep => {}
            Change::Stop => self.linux.timer = Timer::default(),
            Change::Set(purpose, wait) => {
                self.linux.timer = Timer { purpose, deadline: self.timer_expiry(now, wait) };
            }
        }
    }

    /// Sets the timer after new data was sent. Unless the segment is alone, its purpose depends neither on the amount
    /// sent before at the same time nor on its earlier purpose.
    pub(super) fn set_timer_after_new(&mut self, now: Time) {
        let alone = self.board.count() == 1;
        if self.linux.probe_set_at != Some(now) || alone {
            self.set_timer(now, Occasion::NewData { alone });
            let is_for_probe = !alone && self.linux.timer.purpose == Purpose::Probe;
            self.linux.probe_set_at = is_for_probe.then_some(now);
        }
    }

    /// Time at which a timer set now expires: as in Linux, at a tick of the host.
    pub fn timer_expiry(&self, now: Time, wait: Duration) -> Time {
        if self.is_linux() { self.rtt.expiry(now, wait.min(self.config.max_rto)) } else { now + wait }
    }

    /// Handles the expired timer.
    pub fn on_timer(&mut self, now: Time, counters: &mut Counters) {
        let expired = core::mem::take(&mut self.linux.timer);
        match expired.purpose {
            Purpose::None => {}
            Purpose::Probe if self.linux.probe.is_out() => self.set_timer(now, Occasion::Interlude),
            Purpose::Probe => self.linux.probe.due = true,
            Purpose::Reordering => counters.fast_retransmits += u64::from(self.on_reordering_timeout(now)),
            Purpose::Retransmission => {
                counters.timeouts += 1;
                self.on_retransmission_timeout(now);
            }
        }
        self.settle_window();
    }
}
