//! Results of packets that hardware has sent, on their way to its driver.
//!
//! ```text
//!  end of an exchange ──── completion ────► driver: packets that are done, airtime
//! ```
//!
//! The hardware itself knows the result at once: it makes the next A-MPDU from it. Rates are the firmware's, so the rate
//! control learns at once as well. Until the report, packets keep their places in the hardware, and count as waiting for
//! TCP small queues and for the limit of pending airtime.

use std::collections::VecDeque;

use lasthop_link::{AirtimeUse, PacketMeta};
use lasthop_units::{Duration, Time};

use crate::config::Driver;
use crate::ids::SenderId;

/// A fact that is on its way to the driver.
pub(super) enum Report {
    /// the MAC is done with a packet
    Done(PacketMeta),
    /// a station has used the air
    Airtime(AirtimeUse),
}

/// The reports to a driver whose hardware holds packets.
pub(super) struct Reports {
    pub sender: SenderId,
    driver: Driver,
    waiting: VecDeque<(Time, Report)>,
    /// the latest time for which an event was scheduled
    scheduled: Option<Time>,
}

impl Reports {
    /// The reports to a driver that prepares no A-MPDUs.
    pub(super) fn of(sender: SenderId, driver: Driver) -> Option<Reports> {
        let reports = Reports { sender, driver, waiting: VecDeque::new(), scheduled: None };
        driver.aggregates.is_none().then_some(reports)
    }

    /// Returns whether they are on their way for a time.
    pub(super) fn are_late(&self) -> bool {
        self.driver.completion > Duration::ZERO
    }

    /// Keeps a packet that is done until the driver learns of it; false if it learns at once.
    pub(super) fn keeps(&mut self, now: Time, meta: &PacketMeta) -> bool {
        if self.are_late() {
            self.put(now, Report::Done(*meta));
        }
        self.are_late()
    }

    /// Adds a report; in a batch it comes with the oldest that waits.
    pub(super) fn put(&mut self, now: Time, report: Report) {
        let oldest = self.waiting.front().map(|(at, _)| *at).filter(|_| self.driver.batched);
        self.waiting.push_back((oldest.unwrap_or(now + self.driver.completion), report));
    }

    /// The next report that is due.
    pub(super) fn next(&mut self, now: Time) -> Option<Report> {
        self.waiting.front().filter(|(at, _)| *at <= now)?;
        self.waiting.pop_front().map(|(_, report)| report)
    }

    /// The time for which an event is still to be scheduled.
    pub(super) fn unscheduled(&mut self) -> Option<Time> {
        let (latest, _) = self.waiting.back()?;
        let is_new = self.scheduled != Some(*latest);
        self.scheduled = Some(*latest);
        is_new.then_some(*latest)
    }
}
