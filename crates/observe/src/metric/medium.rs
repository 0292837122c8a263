//! How the channel is used: idle, one PPDU on the air, several at once; and how many nodes contend.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric};
use crate::{Layout, Record, Report};

/// See the module.
pub struct Medium {
    busy: Integral,
    overlapping: Integral,
    contenders: Integral,
}

impl Metric for Medium {
    fn new(_: &Layout) -> Self {
        Medium { busy: Integral::default(), overlapping: Integral::default(), contenders: Integral::default() }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        match *record {
            Record::OnAir { count } => {
                self.busy.set(at, f64::from(u8::from(count > 0)));
                self.overlapping.set(at, f64::from(u8::from(count > 1)));
            }
            Record::Contenders { count } => self.contenders.set(at, f64::from(count)),
            _ => {}
        }
    }

    fn start(&mut self, now: Time) {
        self.busy.start(now);
        self.overlapping.start(now);
        self.contenders.start(now);
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        let busy = self.busy.mean(now, covered);
        report.medium.put("idle_fraction", 1.0 - busy);
        report.medium.put("busy_fraction", busy);
        report.medium.put("collision_fraction", self.overlapping.mean(now, covered));
        report.medium.put("contending_stations_mean", self.contenders.mean(now, covered));
    }
}
