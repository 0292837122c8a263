//! NewReno's window: additive increase, multiplicative decrease.
//!
//! Source: RFC 5681 §3.1; the recovery that goes by this name [RFC 6582] is the sender's.
//! Slow start adds an ACK's credit. In congestion avoidance an ACK adds 1/cwnd where ACKs are counted
//! [RFC 5681 §3.1 (3)], as the agents of ns-2 do, and one segment for each window acknowledged where
//! bytes are [RFC 3465 §2.1], as Linux does.
//! `era` takes the integers of a kernel instead: whole segments and a counter of acknowledged ones.
//! With ABE a mark keeps 0.8 of the window instead of a half [RFC 8511 §3].
//! Leaves out: the limit of RFC 3465 §2.2 on what one ACK may add in slow start (Linux has none).

use lasthop_registry::{ParamError, params, words};

use super::linux::{self, Framed, Law, MIN_WINDOW, Window};
use super::{AckSample, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, Needs, slow_start};

words! {
    /// The version of NewReno.
    pub enum NewrenoEra {
        /// As standardised: a window is a real number.
        Rfc5681 = "rfc5681",
        /// A current Linux kernel.
        Linux = "linux",
        /// Linux 2.6.16 to 2.6.22.
        Linux26 = "linux-2.6",
    }
}

params! {
    /// Parameters of NewReno.
    pub struct Params {
        /// Segments per round trip in congestion avoidance. [RFC 5681 §3.1]
        pub increase: f64 = 1.0,
        /// Factor by which a loss multiplies the window. [RFC 5681 §3.1 (4)]
        pub beta: f64 = 0.5,
        /// Which arithmetic: rfc5681, or whole segments as in linux or linux-2.6.
        pub era: NewrenoEra = NewrenoEra::Rfc5681,
    }
    check |params, path| {
        if params.increase <= 0.0 {
            return Err(ParamError::new(format!("{path}.increase"), "must be above 0"));
        }
        if params.beta <= 0.0 || params.beta >= 1.0 {
            return Err(ParamError::new(format!("{path}.beta"), "must lie between 0 and 1"));
        }
        if params.era != NewrenoEra::Rfc5681 && (params.increase, params.beta) != (1.0, 0.5) {
            return Err(ParamError::new(format!("{path}.era"), "a kernel's increase is 1 and its beta 0.5"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        match self.era {
            NewrenoEra::Rfc5681 => {}
            NewrenoEra::Linux => return Framed::boxed(Kernel { abe: context.abe }, context, linux::KernelEra::Linux),
            NewrenoEra::Linux26 => {
                return Framed::boxed(Kernel { abe: context.abe }, context, linux::KernelEra::Linux26);
            }
        }
        Box::new(Newreno {
            params: self.clone(),
            abe: context.abe,
            counts_acks: context.avoidance_counts_acks(),
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            credit: 0.0,
        })
    }
}

/// Share of the window that a mark leaves. [RFC 8511 §3]
const BETA_ECN: f64 = 0.8;

/// The NewReno of a kernel: the frame has all of it except ABE.
#[derive(Debug)]
struct Kernel {
    abe: bool,
}

impl Law for Kernel {
    fn needs(&self) -> Needs {
        Needs { eases_marks: true, ..Needs::NONE }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        window.reno(ack);
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        let kept = if event.is_eased(self.abe) { lost_at * 4 / 5 } else { lost_at / 2 };
        kept.max(MIN_WINDOW)
    }
}

#[derive(Debug)]
struct Newreno {
    params: Params,
    abe: bool,
    counts_acks: bool,
    /// in segments
    cwnd: f64,
    /// in segments
    ssthresh: f64,
    /// Segments acknowledged towards the next increase, where bytes are counted.
    credit: f64,
}

impl CongestionControl for Newreno {
    fn needs(&self) -> Needs {
        Needs { eases_marks: true, ..Needs::NONE }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if ack.in_recovery || ack.app_limited {
            return;
        }
        let share = slow_start(&mut self.cwnd, self.ssthresh, ack);
        if share > 0.0 {
            self.avoid_congestion(ack.avoidance_credit * share);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = self.reduced(event);
        self.cwnd = self.ssthresh;
        self.credit = 0.0;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.ssthresh = self.reduced(event);
        }
        self.cwnd = LOSS_WINDOW;
        self.credit = 0.0;
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.cwnd = self.cwnd.min(restart_window);
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = segments;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

impl Newreno {
    fn reduced(&self, event: &CongestionEvent) -> f64 {
        let kept = if event.is_eased(self.abe) { BETA_ECN } else { self.params.beta };
        (event.window * kept).max(MIN_SSTHRESH)
    }

    fn avoid_congestion(&mut self, acked: f64) {
        if self.counts_acks {
            self.cwnd += self.params.increase * acked / self.cwnd;
            return;
        }
        self.credit += acked;
        if self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.cwnd += self.params.increase;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, context, loss};
    use super::*;
    use crate::congestion_control::GrowthMode::{self, PerAck, PerByte};
    use lasthop_units::{Duration, Time};

    const RTT: Duration = Duration::from_millis(50);

    fn after_loss_at(window: f64, growth: GrowthMode) -> Box<dyn CongestionControl> {
        let mut control = Params::default().build(&context(growth));
        control.on_congestion(&loss(Time::ZERO, window));
        control
    }

    #[test]
    fn a_loss_halves_the_window() {
        let control = after_loss_at(40.0, PerAck);
        assert_eq!((control.cwnd(), control.ssthresh()), (20.0, 20.0));
    }

    #[test]
    fn a_window_of_bytes_adds_one_segment() {
        let mut control = after_loss_at(40.0, PerByte);
        (0..9).for_each(|_| control.on_ack(&ack(Time::ZERO, 2, RTT, PerByte)));
        assert_eq!(control.cwnd(), 20.0);
        control.on_ack(&ack(Time::ZERO, 2, RTT, PerByte));
        assert_eq!(control.cwnd(), 21.0);
    }

    #[test]
    fn each_ack_adds_the_inverse_of_the_window() {
        let mut control = after_loss_at(40.0, PerAck);
        control.on_ack(&ack(Time::ZERO, 2, RTT, PerAck));
        assert_eq!(control.cwnd(), 20.05);
    }
}
