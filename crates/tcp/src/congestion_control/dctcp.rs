//! DCTCP: marks reduce the window in proportion to the share of marked segments.
//!
//! Source: RFC 8257; integers by `docs/model/congestion-control-rules.md`. alpha <- 15/16 alpha + 1/16 F once per
//! window of data, F the share of acknowledged segments that were marked; a mark takes alpha/2, a loss a half. Growth
//! is Reno's.
//! Leaves out: the receiver's side of RFC 8257. It is in `receive/ecn_echo.rs`.

use lasthop_registry::params;

use super::linux::{Framed, KernelEra, Law, MIN_WINDOW, Phase, Window, share};
use super::{AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, MarkReports, Needs};

params! {
    /// Parameters of DCTCP.
    pub struct Params {
        /// Weight of a new share of marks is 1/2^shift_g. [RFC 8257 §4.2]
        pub shift_g: u32 = 4,
    }
    check |params, path| {
        if params.shift_g > 10 {
            return Err(lasthop_registry::ParamError::new(format!("{path}.shift_g"), "must be 10 or less"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let mss = u64::from(context.mss_bytes);
        let law = Dctcp { shift_g: self.shift_g, mss, alpha: UNIT, delivered: 0, marked: 0, window_end: 0 };
        Framed::boxed(law, context, KernelEra::Linux)
    }
}

/// alpha = 1.
const UNIT: u32 = 1024;

#[derive(Debug)]
struct Dctcp {
    shift_g: u32,
    mss: u64,
    /// in units of 1/1024; begins at 1
    alpha: u32,
    /// of this window of data, in segments
    delivered: u32,
    marked: u32,
    window_end: u64,
}

impl Dctcp {
    /// [RFC 8257 §3.3 (8)]
    fn end_window(&mut self, end: u64) {
        // alpha <- (1 - g) alpha + g F; an alpha too small to fall by its share falls to 0.
        let kept = if self.alpha >> self.shift_g > 0 { self.alpha - (self.alpha >> self.shift_g) } else { 0 };
        let marks = share(self.marked, UNIT >> self.shift_g, self.delivered.max(1));
        self.alpha = kept.saturating_add(marks).min(UNIT);
        self.delivered = 0;
        self.marked = 0;
        self.window_end = end;
    }
}

impl Law for Dctcp {
    fn needs(&self) -> Needs {
        Needs { marks: MarkReports::EachPacket, ..Needs::NONE }
    }

    fn observe(&mut self, _: &mut Window, _: Phase, ack: &AckSample) {
        self.delivered = self.delivered.saturating_add((ack.delivered_bytes / self.mss) as u32);
        self.marked = self.marked.saturating_add(ack.ce_segments);
        if ack.snd_una >= self.window_end {
            self.end_window(ack.snd_nxt);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        window.reno(ack);
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        let kept = match event.cause {
            CongestionCause::Ecn => lost_at - share(lost_at, self.alpha, 2 * UNIT),
            CongestionCause::Loss | CongestionCause::Timeout => lost_at / 2,
        };
        kept.max(MIN_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, context, loss};
    use super::*;
    use crate::congestion_control::GrowthMode::PerByte;
    use lasthop_units::{Duration, Time};

    /// The window after a mark at 40, on an ACK that is observed first and ends the second window of data.
    fn kept(ce_segments: u32) -> f64 {
        let mut control = Params::default().build(&context(PerByte));
        let sample =
            AckSample { snd_una: 1, snd_nxt: 41_000, ..ack(Time::ZERO, 1, Duration::from_millis(10), PerByte) };
        control.observe(&sample);
        control.observe(&AckSample { snd_una: 41_000, snd_nxt: 81_000, ce_segments, ..sample });
        control.on_congestion(&CongestionEvent { cause: CongestionCause::Ecn, ..loss(Time::ZERO, 40.0) });
        control.cwnd()
    }

    #[test]
    fn the_ack_that_shrinks_the_window_counts_in_alpha() {
        // 1024 - 64, then - 60: alpha = 900/1024 without marks on it, which takes 17 of 40; all marked adds 64, and takes
        // 40 * 964 / 2048 = 18.
        assert_eq!((kept(0), kept(1)), (23.0, 22.0));
    }
}
