//! A controller's promises for single events. [RFC 5681 §3.1, §4.1]

use std::ops::Range;

use lasthop_tcp::congestion_control::{AckSample, CongestionCause, CongestionControl, CongestionEvent, LossAnswer};

use super::candidate::Candidate;
use super::samples::{INITIAL_WINDOW, RTT, ack, at, context, loss, rated, state};
use crate::failure::{Failure, Trial};

/// The least window after a loss, and the least ssthresh, in segments. [RFC 5681 §3.1 (4)]
const MIN_SSTHRESH: f64 = 2.0;

/// A controller starts with the window and threshold given, and slow start doubles the window in a round trip.
///
/// # Errors
/// The first failure.
pub fn starts_as_told_and_doubles_in_slow_start(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("starts_as_told_and_doubles_in_slow_start", seeds, |trial| {
        let mut control = (candidate.build)(&context(trial.seed));
        let as_told = (control.cwnd(), control.ssthresh()) == (INITIAL_WINDOW, f64::INFINITY);
        trial.require(0, as_told, || format!("{}, not {INITIAL_WINDOW} and none", state(&*control)))?;
        (0..10).for_each(|i| control.on_ack(&ack(at(50 + i), 1, RTT)));
        let doubled = control.cwnd() == 2.0 * INITIAL_WINDOW;
        trial.require(10, doubled, || format!("{} after ten ACKs, not {}", state(&*control), 2.0 * INITIAL_WINDOW))
    })
}

/// A loss leaves no larger window than before and at least two segments; the window is ssthresh, if that is promised.
///
/// # Errors
/// The first failure.
pub fn shrinks_on_loss_and_never_below_two_segments(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("shrinks_on_loss_and_never_below_two_segments", seeds, |trial| {
        let mut control = (candidate.build)(&context(trial.seed));
        let reduces = candidate.promise.loss == LossAnswer::Reduces;
        let has_owner = reduces || control.owns_recovery();
        trial.require(0, has_owner, || "a loss does not reduce its window, and it does not own recovery".into())?;
        (0..20).try_for_each(|step| one_loss_more(trial, &mut *control, step, reduces))
    })
}

fn one_loss_more(trial: &Trial, control: &mut dyn CongestionControl, step: u64, reduces: bool) -> Result<(), Failure> {
    let before = control.cwnd();
    control.on_congestion(&loss(at(step * 100), before));
    let shrinks = (MIN_SSTHRESH..=before).contains(&control.cwnd());
    trial.require(step, shrinks, || format!("{} after a loss at {before} segments", state(control)))?;
    let is_reduced = !reduces || control.cwnd() == control.ssthresh();
    trial.require(step, is_reduced, || format!("{} after a loss, which were to be the same", state(control)))
}

/// A timeout leaves the promised window, one segment by the RFC, and ssthresh; a second one for the same data holds
/// ssthresh.
///
/// # Errors
/// The first failure.
pub fn repeated_timeout_holds_ssthresh(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("repeated_timeout_holds_ssthresh", seeds, |trial| {
        let promise = candidate.promise;
        let mut control = (candidate.build)(&context(trial.seed));
        let timeout = CongestionEvent { cause: CongestionCause::Timeout, ..loss(at(1000), INITIAL_WINDOW) };
        control.on_timeout(&timeout);
        let ssthresh = control.ssthresh();
        let is_set = match promise.timeout_share {
            Some(share) => ((INITIAL_WINDOW * share).max(MIN_SSTHRESH)..INITIAL_WINDOW).contains(&ssthresh),
            None => ssthresh == f64::INFINITY,
        };
        let collapsed = control.cwnd() == promise.timeout_window && is_set;
        trial.require(0, collapsed, || {
            let window = format!("a window of {} segments", promise.timeout_window);
            let promised = match promise.timeout_share {
                Some(share) => format!("{window}, ssthresh at least {share} of the window before and below it"),
                None => format!("{window}, no ssthresh"),
            };
            format!("{} after a timeout with a window of {INITIAL_WINDOW}; promised: {promised}", state(&*control))
        })?;
        control.on_timeout(&CongestionEvent { now: at(3000), window: 1.0, repeated: true, ..timeout });
        let holds = (control.cwnd(), control.ssthresh()) == (promise.timeout_window, ssthresh);
        trial.require(1, holds, || format!("{} after a second timeout, {ssthresh} before", state(&*control)))
    })
}

/// An unused window does not grow by ACKs, nor does one in recovery, beyond the promise.
///
/// # Errors
/// The first failure.
pub fn holds_a_window_that_is_not_used(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("holds_a_window_that_is_not_used", seeds, |trial| {
        let mut control = (candidate.build)(&context(trial.seed));
        let most = INITIAL_WINDOW * candidate.promise.unused_growth;
        (0..200).try_for_each(|step| {
            let sample = rated(ack(at(50 * step), 1, RTT), step + 1, true);
            control.on_ack(&AckSample { app_limited: true, ..sample });
            if !control.owns_recovery() {
                control.on_ack(&AckSample { in_recovery: true, ..sample });
            }
            let cwnd = control.cwnd();
            let holds = cwnd <= most && (most > INITIAL_WINDOW || cwnd == INITIAL_WINDOW);
            trial.require(step, holds, || format!("{}, from {INITIAL_WINDOW}, at most {most}", state(&*control)))
        })
    })
}
