//! A path with a rate, a delay and a buffer, by rounds of ACKs.

use super::super::tests::{ack, context};
use super::*;
use crate::congestion_control::GrowthMode::PerByte;
use crate::congestion_control::RateSample;

/// Segments per s, and the RTT without a queue.
const RATE: f64 = 2000.0;
const RTT: Duration = Duration::from_millis(50);

/// Feeds a controller with the reports of a path of 100 segments.
struct Path {
    bbr: Bbr,
    now: Time,
    delivered: u64,
    lost: u64,
    /// share of segments lost
    loss: f64,
    queue: f64,
}

impl Path {
    fn new() -> Path {
        let mut bbr = Bbr::new(&Params::default(), &context(PerByte));
        let now = Time::ZERO + Duration::from_secs(1);
        bbr.on_established(&Moment { now, snd_una: 0, snd_nxt: 0, app_limited: false }, Some(RTT));
        Path { bbr, now, delivered: 0, lost: 0, loss: 0.0, queue: 0.0 }
    }

    /// A round trip in one ACK for each ten segments.
    fn round(&mut self) {
        let flight = self.bbr.cwnd.min(self.bbr.pacing * RTT.as_secs_f64() + self.queue);
        self.queue = (flight - RATE * RTT.as_secs_f64()).max(0.0);
        let rtt = Duration::from_secs_f64((flight / RATE).max(RTT.as_secs_f64()));
        let (segments, prior) = (flight as u64, self.delivered);
        let acks = segments.div_ceil(10).max(1);
        let lost_of_round = (self.loss * flight) as u64;
        for i in 0..acks {
            let acked = (segments / acks + u64::from(i < segments % acks)) as u32;
            self.delivered += u64::from(acked);
            let lost = if i == 0 { lost_of_round } else { 0 };
            self.lost += lost;
            let rate = RateSample {
                delivered: segments as u32,
                delivered_ce: 0,
                lost: lost_of_round as u32,
                interval: rtt,
                prior_delivered: prior + u64::from(acked) * i / acks,
                flight_at_send: segments as u32,
                is_app_limited: false,
                is_ack_delayed: false,
            };
            self.bbr.on_ack(&AckSample {
                delivered_segments: acked,
                lost_segments: lost as u32,
                total_delivered: self.delivered,
                total_lost: self.lost,
                rate: Some(rate),
                flight_segments: segments as u32,
                prior_flight_segments: segments as u32,
                ..ack(self.now + rtt * i / acks, acked, rtt, PerByte)
            });
        }
        self.now += rtt;
    }

    fn rounds_until(&mut self, most: u32, mut reached: impl FnMut(&Bbr) -> bool) -> Option<u32> {
        (0..most).find(|_| {
            self.round();
            reached(&self.bbr)
        })
    }
}

#[test]
fn startup_finds_the_rate_and_drains() {
    let mut path = Path::new();
    assert!(path.rounds_until(12, |bbr| bbr.state == State::Drain).is_some(), "{:?}", path.bbr);
    assert!((path.bbr.max_rate.get() - RATE).abs() < 0.02 * RATE, "{}", path.bbr.max_rate.get());
    assert!(path.rounds_until(8, |bbr| bbr.state.is_probe_bw()).is_some());
}

#[test]
fn the_states_of_probing_follow_each_other() {
    let mut path = Path::new();
    let mut seen = vec![path.bbr.state];
    for _ in 0..400 {
        path.round();
        if path.bbr.state != *seen.last().unwrap() {
            seen.push(path.bbr.state);
        }
    }
    let order = [State::Startup, State::Drain, State::Down, State::Cruise, State::Refill, State::Up, State::Down];
    // Cruise may be over within the ACKs of one round.
    let expected: Vec<State> = order.into_iter().filter(|state| seen.contains(state)).collect();
    assert!(expected.len() >= 6, "{seen:?}");
    for (first, second) in seen.iter().zip(&seen[1..]) {
        let follows = matches!(
            (first, second),
            (State::Startup, State::Drain)
                | (State::Drain, State::Down | State::Cruise | State::ProbeRtt)
                | (State::Down, State::Cruise | State::Refill | State::ProbeRtt)
                | (State::Cruise, State::Refill | State::ProbeRtt)
                | (State::Refill, State::Up | State::ProbeRtt)
                | (State::Up, State::Down | State::Cruise | State::ProbeRtt)
                | (State::ProbeRtt, State::Cruise | State::Refill)
        );
        assert!(follows, "{first:?} {second:?}");
    }
}

#[test]
fn losses_above_the_threshold_bound_the_flight() {
    let mut path = Path::new();
    path.rounds_until(50, |bbr| bbr.state == State::Up);
    assert!(path.bbr.long_term.is_infinite());
    path.loss = 0.05;
    path.rounds_until(40, |bbr| bbr.long_term.is_finite()).unwrap();
    assert_ne!(path.bbr.state, State::Up);
    // Cruising keeps 15 % below it.
    assert!((path.bbr.with_headroom() - 0.85 * path.bbr.long_term).abs() < 1.0);
}

#[test]
fn losses_below_the_threshold_leave_the_bound_alone() {
    let mut path = Path::new();
    path.loss = 0.015;
    path.rounds_until(200, |_| false);
    assert!(path.bbr.long_term.is_infinite());
}

#[test]
fn a_round_with_losses_lowers_the_short_term_bounds_until_the_next_probe() {
    let mut path = Path::new();
    path.rounds_until(60, |bbr| bbr.state == State::Cruise).unwrap();
    path.loss = 0.015;
    path.rounds_until(5, |bbr| bbr.short_term.flight.is_finite()).unwrap();
    let bound = path.bbr.short_term.flight;
    assert!(path.bbr.cwnd() <= bound.max(LEAST_WINDOW));
    path.loss = 0.0;
    assert!(path.rounds_until(100, |bbr| bbr.state == State::Refill).is_some());
    assert!(path.bbr.short_term.flight.is_infinite());
}

#[test]
fn the_least_rtt_is_probed_every_five_seconds_with_half_a_path() {
    let mut path = Path::new();
    path.bbr.min_rtt.hear(path.now, Some(Duration::from_millis(49)), Duration::from_secs(5));
    let rounds = path.rounds_until(200, |bbr| bbr.state == State::ProbeRtt).unwrap();
    assert!((90..130).contains(&rounds), "{rounds}");
    assert!(path.bbr.holds_back() && path.bbr.cwnd() <= 0.55 * 100.0, "{}", path.bbr.cwnd());
    let held = path.rounds_until(20, |bbr| bbr.state != State::ProbeRtt).unwrap();
    assert!((4..10).contains(&held), "200 ms and a round trip: {held}");
    assert!(path.bbr.cwnd() > 100.0, "the window is back");
}

#[test]
fn the_initial_window_holds_until_the_path_is_known() {
    // C.InitialCwnd [§5.6.4.2]: without an RTT the path is taken to hold the initial window.
    let mut bbr = Bbr::new(&Params::default(), &Context { initial_window: 4.0, ..context(PerByte) });
    assert_eq!(bbr.path_holds(1000.0, 2.0), 4.0);
    // [§5.6.4.6]: until as many segments have arrived, each enlarges a window that the model would hold.
    bbr.cwnd = 500.0;
    let arrived = |total| AckSample { total_delivered: total, ..ack(Time::ZERO, 1, RTT, PerByte) };
    bbr.set_cwnd(&arrived(3));
    assert_eq!(bbr.cwnd, 501.0);
    bbr.set_cwnd(&arrived(4));
    assert_eq!(bbr.cwnd, 501.0);
}
