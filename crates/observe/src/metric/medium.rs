//! The use of the channels: idle, one PPDU on the air, several at once, an interferer on the air, each as a mean over the
//! channels, to which a channel that a BSS moves to is added with its first PPDU; and the number of contending nodes.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric};
use crate::places::put;
use crate::{Layout, Places, Record, Report};

crate::quantities! {
    /// 1 - `busy_fraction`.
    IDLE: Medium, f64, Summary => "idle_fraction", Fraction, One, "medium idle";
    /// The fraction of time in which at least one PPDU of any kind is on the air of the channel, anywhere. A SIFS between the
    /// frames of an exchange is not busy.
    BUSY: Medium, f64, Summary => "busy_fraction", Fraction, One, "medium busy";
    /// The fraction of time in which two or more PPDUs are on the air.
    COLLISION: Medium, f64, Summary => "collision_fraction", Fraction, One, "time in collisions";
    /// The fraction of time in which an interferer is on the air of the channel, whether or not a node senses it.
    INTERFERER: Medium, f64, Feature => "interferer_fraction", Fraction, One, "time of interferers", only "scenarios with interferers";
    /// The number of nodes, the AP included, that have a frame to send, mean over time: waiting, counting down or being
    /// sent. Under EDCA each access category of a node counts.
    CONTENDERS: Medium, f64, Summary => "contending_stations_mean", Mean, One, "contending stations, mean";
}

/// The time for which the channels were idle, busy and in collision, and the number of contending nodes.
#[derive(Clone)]
pub struct Medium {
    channels: Vec<Channel>,
    since: Time,
    has_interferers: bool,
    contenders: Integral,
}

#[derive(Clone, Default)]
struct Channel {
    /// number of PPDUs, as last reported
    on_air: u32,
    busy: Integral,
    overlapping: Integral,
    /// number of interferers that send, as last reported
    bursts: u32,
    interferers: Integral,
}

impl Medium {
    /// Adds channels up to this one, which have been idle.
    #[cold]
    fn add(&mut self, last: u32) {
        let mut idle = Channel::default();
        for of in [&mut idle.busy, &mut idle.overlapping, &mut idle.interferers] {
            of.start(self.since);
        }
        self.channels.resize(last as usize + 1, idle);
    }
}

impl Metric for Medium {
    fn new(layout: &Layout) -> Self {
        Medium {
            channels: vec![Channel::default(); layout.channels],
            since: Time::ZERO,
            has_interferers: layout.interferers,
            contenders: Integral::default(),
        }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        match *record {
            Record::OnAir { channel, count } => {
                if channel as usize >= self.channels.len() {
                    self.add(channel);
                }
                let channel = &mut self.channels[channel as usize];
                let before = std::mem::replace(&mut channel.on_air, count);
                if (before > 0) != (count > 0) {
                    channel.busy.set(at, f64::from(u8::from(count > 0)));
                }
                if (before > 1) != (count > 1) {
                    channel.overlapping.set(at, f64::from(u8::from(count > 1)));
                }
            }
            Record::Interferer { channel, begins } => {
                if channel as usize >= self.channels.len() {
                    self.add(channel);
                }
                let channel = &mut self.channels[channel as usize];
                channel.bursts = if begins { channel.bursts + 1 } else { channel.bursts - 1 };
                channel.interferers.set(at, f64::from(u8::from(channel.bursts > 0)));
            }
            Record::Contenders { count } => self.contenders.set(at, f64::from(count)),
            _ => {}
        }
    }

    fn start(&mut self, now: Time) {
        self.since = now;
        for channel in &mut self.channels {
            channel.busy.start_after_zero(now);
            channel.overlapping.start_after_zero(now);
            channel.interferers.start_after_zero(now);
        }
        self.contenders.start(now);
    }

    fn join(&mut self, part: &Self, places: &Places, now: Time) {
        put(&mut self.channels, &places.channels, part.channels.iter().cloned());
        self.contenders.add(part.contenders, now);
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        let count = self.channels.len() as f64;
        let mut mean = |of: fn(&mut Channel) -> &mut Integral| {
            self.channels.iter_mut().map(|channel| of(channel).mean(now, covered)).sum::<f64>() / count
        };
        let busy = mean(|channel| &mut channel.busy);
        report.medium.put(IDLE, 1.0 - busy);
        report.medium.put(BUSY, busy);
        report.medium.put(COLLISION, mean(|channel| &mut channel.overlapping));
        if self.has_interferers {
            report.medium.put_of_feature(INTERFERER, mean(|channel| &mut channel.interferers));
        }
        report.medium.put(CONTENDERS, self.contenders.mean(now, covered));
    }
}
