//! Loss detection and congestion control by the arithmetic of RFC 9002, from the datagrams on the path.

use lasthop_quic::{Role, Settings, Way};
use lasthop_units::{Duration, Time};

use super::world::{DELAY, RTT, Sent, World};

/// The peer's longest delay of an ACK. [RFC 9000 §18.2]
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// [RFC 9002 §6.1.2]
const GRANULARITY: Duration = Duration::from_millis(1);
/// When the handshake is over, and all of it is acknowledged.
const READY: Time = Time::from_nanos(2_000_000_000);

/// The estimator of RFC 9002 §5.3, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Rtt {
    srtt: u64,
    rttvar: u64,
    min: u64,
    latest: u64,
}

impl Rtt {
    fn take(&mut self, sample: Duration, ack_delay: Duration) {
        let sample = sample.as_nanos();
        self.latest = sample;
        if self.srtt == 0 {
            (self.srtt, self.rttvar, self.min) = (sample, sample / 2, sample);
            return;
        }
        self.min = self.min.min(sample);
        let delay = ack_delay.min(MAX_ACK_DELAY).as_nanos();
        let adjusted = if sample >= self.min + delay { sample - delay } else { sample };
        self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(adjusted)) / 4;
        self.srtt = (7 * self.srtt + adjusted) / 8;
    }

    /// [RFC 9002 §6.2.1]
    fn pto(&self) -> Duration {
        Duration::from_nanos(self.srtt + (4 * self.rttvar).max(GRANULARITY.as_nanos())) + MAX_ACK_DELAY
    }
}

/// A connection whose client has written so many bytes at the start, and is idle since.
fn after(bytes: u64) -> World {
    let mut world = World::new(&Settings::default(), 3);
    let connection = world.pair.open(Time::ZERO);
    world.pair.write_stream(connection, Way::One, Some(bytes));
    world.run_until(READY);
    world
}

/// The client's estimator: the handshake's sample, and one for each ACK in a short packet.
fn estimator_of(world: &World) -> Rtt {
    let mut rtt = Rtt::default();
    rtt.take(RTT, Duration::ZERO);
    let sent: Vec<&Sent> = world.log.iter().filter(|sent| sent.by == Role::Client && sent.is_short()).collect();
    let mut newest = None;
    for ack in world.sent_by(Role::Server, Time::ZERO).into_iter().filter(|sent| sent.is_short()) {
        let arrives = ack.at + DELAY;
        let Some(frame) = ack.ack().filter(|frame| arrives <= world.now && Some(frame.largest) > newest) else {
            continue;
        };
        newest = Some(frame.largest);
        // A packet may share its datagram with one of the handshake, and is then of the same time as the next.
        let of = sent.iter().find(|sent| sent.number() >= frame.largest).expect("it was sent");
        rtt.take(arrives.since(of.at), frame.delay);
    }
    rtt
}

#[test]
fn lone_packet_is_acknowledged_after_the_longest_delay() {
    let mut world = after(20_000);
    let connection = 0;
    world.pair.write_stream(connection, Way::One, Some(100));
    world.run_until(READY + RTT);
    let acks = world.sent_by(Role::Server, READY);
    assert_eq!(acks.len(), 1);
    assert_eq!(acks[0].at, READY + DELAY + MAX_ACK_DELAY);
    assert_eq!(acks[0].ack().map(|ack| ack.delay), Some(MAX_ACK_DELAY));
}

#[test]
fn probes_leave_after_pto_and_its_doubles_to_the_nanosecond() {
    let mut world = after(20_000);
    let pto = estimator_of(&world).pto();
    // srtt is 100 ms, and rttvar, 50 ms at first, loses a quarter with each sample.
    assert!((RTT + MAX_ACK_DELAY + GRANULARITY..RTT + MAX_ACK_DELAY + RTT * 2).contains(&pto), "{pto:?}");
    world.loses = Box::new(|sent, _| sent.by == Role::Client);
    world.pair.write_stream(0, Way::One, Some(100));
    world.run_until(READY + pto * 8);
    let mut times: Vec<Time> = world.sent_by(Role::Client, READY).iter().map(|sent| sent.at).collect();
    times.dedup();
    assert_eq!(times, [READY, READY + pto, READY + pto + pto * 2, READY + pto * 3 + pto * 4]);
    // Two packets each time. [RFC 9002 §6.2.4]
    assert_eq!(world.sent_by(Role::Client, READY).len(), 1 + 3 * 2);
}

/// The packets of one stream that leave at once.
const BURST: u64 = 9 * 1400;

#[test]
fn packet_is_lost_when_the_third_after_it_is_acknowledged() {
    let mut world = after(20_000);
    let first = world.log.len();
    world.loses = Box::new(move |sent, place| sent.by == Role::Client && place == first + 1);
    world.pair.write_stream(0, Way::One, Some(BURST));
    let mut lost_at = None;
    while world.step(READY + RTT * 2) {
        if lost_at.is_none() && world.pair.packets_lost(Role::Client) > 0 {
            lost_at = Some(world.now);
        }
    }
    let lost = &world.log[first + 1];
    assert!(!lost.arrives && lost.at == READY);
    // The ACK that has the third packet after it or a later one.
    let acks = world.sent_by(Role::Server, READY);
    let third = |sent: &&&Sent| sent.ack().is_some_and(|ack| ack.largest >= lost.number() + 3);
    let told = acks.iter().find(third).expect("it is acknowledged");
    assert_eq!(lost_at, Some(told.at + DELAY));
    assert_eq!(world.pair.packets_lost(Role::Client), 1);
}

#[test]
fn packet_is_lost_nine_eighths_of_the_rtt_after_it_was_sent() {
    let mut world = after(20_000);
    let first = world.log.len();
    // Two packets, the first is lost: the second is not enough for the threshold of packets.
    world.loses = Box::new(move |_, place| place == first);
    world.pair.write_stream(0, Way::One, Some(1500));
    let mut lost_at = Time::ZERO;
    while lost_at == Time::ZERO && world.step(READY + RTT * 2) {
        if world.pair.packets_lost(Role::Client) > 0 {
            lost_at = world.now;
        }
    }
    let rtt = estimator_of(&world);
    let exact = READY + Duration::from_nanos(rtt.srtt.max(rtt.latest) * 9 / 8);
    // The stack multiplies in single precision, 24 bits.
    let apart = lost_at.as_nanos().abs_diff(exact.as_nanos());
    assert!(apart as f64 <= rtt.srtt as f64 * 2.0 / f64::from(1 << 24) + 1.0, "{lost_at:?} instead of {exact:?}");
}

/// The window and the threshold after all of the client's datagrams were lost for so long.
fn after_blackout(of: Duration) -> (f64, f64) {
    let mut world = after(20_000);
    let end = READY + of;
    world.loses = Box::new(move |sent, _| sent.by == Role::Client && sent.at < end);
    world.pair.write_stream(0, Way::One, Some(BURST));
    while world.pair.packets_lost(Role::Client) == 0 && world.step(READY + Duration::from_secs(20)) {}
    let window = world.pair.window(Role::Client, 0).expect("it is open");
    (window.cwnd, window.ssthresh)
}

#[test]
fn persistent_congestion_leaves_the_least_window() {
    let world = after(20_000);
    let (pto, before) = (estimator_of(&world).pto(), world.pair.window(Role::Client, 0).expect("it is open").cwnd);
    // CUBIC keeps 0.7 of the window. [RFC 9438 §4.6]
    let is_reduced = |ssthresh: f64| (ssthresh - 0.7 * before).abs() < 1e-9;
    // Lost are what left at 0, 1 and 3 PTO; two of them are more than three PTO apart only if what left at 7 PTO is lost too.
    let (cwnd, ssthresh) = after_blackout(pto * 2);
    assert!(cwnd == ssthresh && is_reduced(ssthresh), "{cwnd} {ssthresh} of {before}");
    let (cwnd, ssthresh) = after_blackout(pto * 8);
    assert!(cwnd == 2.0 && is_reduced(ssthresh), "{cwnd} {ssthresh} of {before}");
}
