//! How the channels are used: idle, one PPDU on the air, several at once, each as a mean over the channels; and how
//! many nodes contend.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric};
use crate::{Layout, Record, Report};

crate::quantities! {
    /// 1 less `busy_fraction`.
    IDLE: Medium, f64, Summary => "idle_fraction", Fraction, One, "medium idle";
    /// The fraction of time in which at least one PPDU of any kind is on the air of the channel, anywhere. A SIFS between the
    /// frames of an exchange is not busy.
    BUSY: Medium, f64, Summary => "busy_fraction", Fraction, One, "medium busy";
    /// The fraction of time in which two or more PPDUs are on the air.
    COLLISION: Medium, f64, Summary => "collision_fraction", Fraction, One, "time in collisions";
    /// The number of nodes, the AP included, that have something to send, mean over time: waiting, counting down or being
    /// sent. Under EDCA each access category of a node counts.
    CONTENDERS: Medium, f64, Summary => "contending_stations_mean", Mean, One, "contending stations, mean";
}

/// For how long the channels were idle, busy and in collision, and how many nodes contended.
#[derive(Clone)]
pub struct Medium {
    /// of each channel
    busy: Vec<Integral>,
    overlapping: Vec<Integral>,
    contenders: Integral,
}

impl Metric for Medium {
    fn new(layout: &Layout) -> Self {
        let each = || vec![Integral::default(); layout.channels];
        Medium { busy: each(), overlapping: each(), contenders: Integral::default() }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        match *record {
            Record::OnAir { channel, count } => {
                let (busy, overlapping) = (f64::from(u8::from(count > 0)), f64::from(u8::from(count > 1)));
                let channel = channel as usize;
                if self.busy[channel].value() != busy {
                    self.busy[channel].set(at, busy);
                }
                if self.overlapping[channel].value() != overlapping {
                    self.overlapping[channel].set(at, overlapping);
                }
            }
            Record::Contenders { count } => self.contenders.set(at, f64::from(count)),
            _ => {}
        }
    }

    fn start(&mut self, now: Time) {
        self.busy.iter_mut().chain(&mut self.overlapping).for_each(|one| one.start_after_zero(now));
        self.contenders.start(now);
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        let mean = |all: &mut Vec<Integral>| {
            let channels = all.len() as f64;
            all.iter_mut().map(|one| one.mean(now, covered)).sum::<f64>() / channels
        };
        let busy = mean(&mut self.busy);
        report.medium.put(IDLE, 1.0 - busy);
        report.medium.put(BUSY, busy);
        report.medium.put(COLLISION, mean(&mut self.overlapping));
        report.medium.put(CONTENDERS, self.contenders.mean(now, covered));
    }
}
