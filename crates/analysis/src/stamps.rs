//! The time stamps of a capture: whether they mark the beginning or the end of frames, their steps and their jitter.
//!
//! An answer follows a SIFS after its frame [802.11-2020 §10.3.2.3.3], and both durations are known:
//!
//! ```text
//!  frame  |=========|                     stamps of the beginning: the gap is the frame and SIFS
//!  Ack              <SIFS>|==|
//!         B         E     B  E            stamps of the end: the gap is SIFS and the Ack
//! ```

use lasthop_units::{Duration, Time};
use lasthop_wire::MacAddress;

use crate::durations::{Durations, Mode};
use crate::frame::Heard;
use crate::ppdu::{Kind, Ppdu};
use crate::waiting::is_answer;

/// Largest error of a good sniffer's clock between a frame and its answer.
pub(crate) const CLOCK: Duration = Duration::from_micros(10);

/// Above this jitter, or with longer steps, the order and the overlap of PPDUs are unknown. PPDUs of TCP's data last longer,
/// and jitter of 30 µs changes the busy time by less than 0.2 %.
const COARSE: Duration = Duration::from_micros(100);

/// Exchanges that are enough to learn from.
const ENOUGH: usize = 2000;
/// Frames that are looked at: some captures have no exchanges.
const MOST_LOOKED_AT: u32 = 200_000;
/// Fewer exchanges do not show that stamps mark the end.
const FEWEST: usize = 8;
/// Fewer stamps do not show the length of their steps.
const FEWEST_STEPS: u32 = 10;
/// More answers than this share that come before their frames show that the order is not that of the air.
const SWAPPED: f64 = 0.02;

/// The moment that a stamp marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Begin,
    End,
}

/// The verdict about the stamps of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    /// none if no exchange shows it
    pub mark: Option<Mark>,
    /// 90 % of the exchanges have a smaller error than this
    pub jitter: Option<Duration>,
    /// common divisor of all differences
    pub step: Option<Duration>,
    /// number of exchanges learned from
    pub exchanges: usize,
    /// answers come before their frames
    pub is_disordered: bool,
    /// answers come amid the MPDUs of their frames
    pub is_mixed: bool,
}

impl Stamps {
    /// Whether the clock is too coarse to relate PPDUs by their times.
    pub(crate) fn is_coarse(&self) -> bool {
        let worst = self.jitter.into_iter().chain(self.step).max();
        self.is_disordered || worst.is_some_and(|worst| worst > COARSE)
    }

    /// The steps of a coarse clock.
    pub(crate) fn long_step(&self) -> Duration {
        self.step.filter(|step| *step > CLOCK).unwrap_or(Duration::ZERO)
    }

    /// Largest expected error between a frame and its answer.
    pub(crate) fn tolerance(&self) -> Duration {
        let jitter = self.jitter.map_or(Duration::ZERO, |jitter| jitter * 2);
        let step = self.long_step();
        if self.jitter.is_some_and(|jitter| jitter > CLOCK) { CLOCK + jitter + step } else { CLOCK + step }
    }

    /// For how long after its beginning frames of a PPDU may come after those of another.
    pub(crate) fn hold(&self) -> Duration {
        if self.jitter.is_some_and(|jitter| jitter > CLOCK) { self.tolerance() } else { Duration::ZERO }
    }

    pub(crate) fn is_of_end(&self) -> bool {
        self.mark == Some(Mark::End)
    }
}

/// A frame that may be answered.
#[derive(Debug)]
struct Open {
    ppdu: Ppdu,
    first_ns: i64,
}

/// Learns from the frames of the air of one file.
#[derive(Default)]
pub(crate) struct Learner {
    durations: Durations,
    open: Option<Open>,
    /// errors in nanoseconds if stamps mark the beginning, and if they mark the end
    errors: (Vec<i64>, Vec<i64>),
    step: Step,
    /// receiver of an answer to no frame
    orphan: Option<MacAddress>,
    answers: u32,
    swapped: u32,
    /// the frame that was answered last, and a count of frames with MPDUs behind their answers
    answered: Option<Ppdu>,
    goes_on: u32,
    /// duration of the first PPDU
    first: Option<Duration>,
}

impl Learner {
    /// Whether it has learned enough.
    pub(crate) fn is_done(&self) -> bool {
        self.errors.0.len() >= ENOUGH || self.step.count >= MOST_LOOKED_AT
    }

    /// The duration of the first PPDU, if it is known.
    pub(crate) fn first_lasts(&self) -> Option<Duration> {
        self.first
    }

    /// Learns from a frame that was captured at `at_ns`.
    pub(crate) fn look(&mut self, at_ns: i64, heard: &Heard<'_>) {
        self.step.see(at_ns);
        let at = time(at_ns);
        if let Some(Open { ppdu, .. }) = &mut self.open
            && ppdu.shares(at, heard).unwrap_or_else(|| ppdu.goes_on_with(heard))
        {
            return ppdu.add(at, heard);
        }
        if let Some(answered) = self.answered.take() {
            self.goes_on += u32::from(answered.is_behind(at, heard));
        }
        let before = self.open.take();
        let Some(mut ppdu) = Ppdu::begin(at, heard) else { return };
        ppdu.close(None);
        if self.step.count == 1 {
            self.first = self.duration(&ppdu).map(|(_, duration)| duration);
        }
        if !heard.is_good {
            return;
        }
        let orphan = self.orphan.take();
        self.swapped += u32::from(orphan.is_some() && orphan == ppdu.transmitter);
        if is_answer(ppdu.kind) {
            self.answers += 1;
            match before.filter(|open| open.ppdu.transmitter == Some(ppdu.receiver)) {
                Some(open) => self.exchange(open, &ppdu, at_ns),
                None => self.orphan = (ppdu.kind != Kind::Cts).then_some(ppdu.receiver),
            }
        } else if ppdu.wants_answer {
            self.open = Some(Open { ppdu, first_ns: at_ns });
        }
    }

    fn duration(&mut self, ppdu: &Ppdu) -> Option<(Mode, Duration)> {
        let mode = self.durations.mode(ppdu.sending?)?;
        Some((mode, self.durations.ppdu(mode, ppdu.bytes)))
    }

    /// A frame and its answer, which came at `at_ns`.
    fn exchange(&mut self, open: Open, answer: &Ppdu, at_ns: i64) {
        let Open { mut ppdu, first_ns } = open;
        ppdu.close(Some(answer));
        let last_ns = ppdu.latest.as_nanos() as i64;
        if let (Some((mode, frame)), Some((_, own))) = (self.duration(&ppdu), self.duration(answer)) {
            let sifs = self.durations.slot_and_sifs(mode).1.as_nanos() as i64;
            self.errors.0.push(at_ns - first_ns - frame.as_nanos() as i64 - sifs);
            self.errors.1.push(at_ns - last_ns - own.as_nanos() as i64 - sifs);
        }
        self.answered = Some(ppdu);
    }

    /// The verdict.
    pub(crate) fn stamps(&self) -> Stamps {
        let step = self.step.length();
        let [begin, end] = [&self.errors.0, &self.errors.1].map(|errors| error_of(errors));
        let (Some(begin), Some(end)) = (begin, end) else { return Stamps { step, ..Stamps::default() } };
        let is_end = self.errors.0.len() >= FEWEST && begin > CLOCK && end < begin / 2;
        let (mark, jitter, other) = if is_end { (Mark::End, end, begin) } else { (Mark::Begin, begin, end) };
        let is_stepped = step.is_some_and(|step| step > COARSE);
        // Much jitter hides which of the two it is.
        let is_vague = jitter > COARSE && other < jitter * 2;
        let mark = Some(mark).filter(|_| !is_stepped && !is_vague);
        let is_more = |count: u32| f64::from(count) > SWAPPED * f64::from(self.answers);
        // Sniffers that miss frames leave answers without frames, too: only a jitter puts them into disorder.
        let is_mixed = is_more(self.goes_on);
        let is_disordered = is_mixed || (is_more(self.swapped) && jitter > COARSE);
        let jitter = Some(jitter).filter(|_| !is_stepped);
        Stamps { mark, jitter, step, exchanges: self.errors.0.len(), is_disordered, is_mixed }
    }
}

fn time(ns: i64) -> Time {
    Time::from_nanos(ns.max(0) as u64)
}

/// The error of 90 % of exchanges: the median's, and the spread about it.
fn error_of(errors: &[i64]) -> Option<Duration> {
    let mut sorted = errors.to_vec();
    sorted.sort_unstable();
    let median = *sorted.get(sorted.len() / 2)?;
    let mut spread: Vec<u64> = sorted.iter().map(|error| error.abs_diff(median)).collect();
    spread.sort_unstable();
    let most = spread[(spread.len() * 9 / 10).min(spread.len() - 1)];
    Some(Duration::from_nanos(median.unsigned_abs().saturating_add(most)))
}

/// The steps of a clock: the greatest common divisor of the times between stamps.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    first_ns: i64,
    divisor: u64,
    count: u32,
    differs: u32,
}

impl Step {
    fn see(&mut self, at_ns: i64) {
        self.count = self.count.saturating_add(1);
        if self.count == 1 {
            self.first_ns = at_ns;
        }
        let passed = at_ns.abs_diff(self.first_ns);
        if passed > 0 {
            self.differs = self.differs.saturating_add(1);
            self.divisor = divisor(self.divisor, passed);
        }
    }

    fn length(&self) -> Option<Duration> {
        (self.differs >= FEWEST_STEPS).then(|| Duration::from_nanos(self.divisor))
    }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_is_common_divisor_of_differences() {
        let mut step = Step::default();
        for n in 0..20_i64 {
            step.see(7 + 4_000_000 * (n * n % 13));
        }
        assert_eq!(step.length(), Some(Duration::from_millis(4)));
        let mut few = Step::default();
        [0, 5, 10].into_iter().for_each(|ns| few.see(ns));
        assert_eq!(few.length(), None);
    }

    #[test]
    fn error_is_median_and_spread_of_ninety_percent() {
        let us = |n: i64| n * 1000;
        let mut errors: Vec<i64> = (0..100).map(|n| us(5) + n % 2 * us(2)).collect();
        errors[99] = us(1_000_000);
        // Median 7 µs, 90 % within 2 µs of it.
        assert_eq!(error_of(&errors), Some(Duration::from_micros(9)));
        assert_eq!(error_of(&[]), None);
    }

    #[test]
    fn coarse_clocks_have_long_steps_or_much_jitter() {
        let of = |jitter_us, step_us| Stamps {
            jitter: Some(Duration::from_micros(jitter_us)),
            step: Some(Duration::from_micros(step_us)),
            ..Stamps::default()
        };
        assert!(!of(70, 1).is_coarse() && of(200, 1).is_coarse() && of(0, 10_000).is_coarse());
        assert_eq!(of(2, 1).tolerance(), CLOCK);
        assert_eq!(of(40, 1).tolerance(), Duration::from_micros(90));
    }
}
