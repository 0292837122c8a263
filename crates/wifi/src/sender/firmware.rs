//! A driver whose hardware holds packets, and makes A-MPDUs of them when it wins the medium: packets on their way down, and
//! results on their way up.

use lasthop_link::AirtimeUse;
use lasthop_units::Time;

use super::reports::Report;
use super::{Sender, release_at_once};
use crate::books::Books;
use crate::environment::{Environment, MediumEvent};

impl<B> Sender<B> {
    /// Returns whether hardware below its queue holds packets, of which a driver learns later.
    #[inline(always)]
    pub(super) fn has_firmware(&self) -> bool {
        self.reports.is_some()
    }

    /// Passes packets to the hardware, from the queue and from sockets that wait to be pulled, as long as it has room.
    pub(super) fn pass_down(&mut self, now: Time, books: &mut Books, env: &mut impl Environment<B>) {
        self.queue.pass_down(now, &mut self.dropped);
        self.report_drops(now, None, books, env);
        while self.queue.asks_sockets()
            && let Some(mut packet) = env.pull(now, self.node, self.category)
        {
            packet.meta.enqueued_at = now;
            self.offered += 1;
            self.note_entry(now, &packet.meta, env);
            let flow = packet.meta.flow;
            self.queue.enqueue(now, packet, &mut self.dropped);
            self.report_drops(now, Some(flow), books, env);
            self.queue_to_report = true;
        }
    }

    /// Charges a station for airtime, now or when the driver learns of it.
    pub(super) fn charge(&mut self, now: Time, used: AirtimeUse) {
        match &mut self.reports {
            Some(reports) if reports.are_late() => reports.put(now, Report::Airtime(used)),
            _ => self.queue.on_airtime(now, &used),
        }
    }

    /// Schedules the reports that were added.
    #[inline(always)]
    pub(super) fn schedule_reports(&mut self, env: &mut impl Environment<B>) {
        if let Some(reports) = &mut self.reports
            && let Some(at) = reports.unscheduled()
        {
            env.schedule(at, MediumEvent::Completion { sender: reports.sender.0 });
        }
    }

    /// Gives the driver the reports that are due.
    pub(super) fn take_reports(&mut self, now: Time, env: &mut impl Environment<B>) {
        while let Some(report) = self.reports.as_mut().and_then(|reports| reports.next(now)) {
            match report {
                Report::Done(meta) => release_at_once(now, self.node, &mut *self.queue, &meta, env),
                Report::Airtime(used) => self.queue.on_airtime(now, &used),
            }
        }
    }
}
