//! The same controller under TCP and under QUIC: without loss, and with an ACK for every two packets, its window is the
//! same when as much is acknowledged.

use lasthop_quic::{Control, Role, Settings, StackControl, Way};
use lasthop_tcp::congestion_control::{Algorithm, cubic, newreno};
use lasthop_tcp::{AckPolicy, Config, DelayedAck, Endpoint, RecoveryMachine, Segment};
use lasthop_units::{Bytes, Duration, Time};

use super::world::{DELAY, Sent, World};

const SEGMENT: u64 = 1452;
/// Slow start doubles 10 segments five times in this time.
const LENGTH: Duration = Duration::from_millis(600);

/// Acknowledged segments and the window, at each change of a TCP sender.
fn under_tcp(control: &Algorithm) -> Vec<(f64, f64)> {
    let config = Config {
        congestion_control: control.clone(),
        mss: Some(Bytes(SEGMENT)),
        timestamps: false,
        recovery: RecoveryMachine::Rfc,
        ack: AckPolicy::Delayed,
        delayed_ack: DelayedAck::Fixed,
        quick_acks: 0,
        ..Config::default()
    };
    let (mut client, mut server) = (Endpoint::new(&config, 1), Endpoint::new(&config, 2));
    server.listen();
    client.connect(Time::ZERO);
    client.write_forever();
    let mut on_the_way: Vec<(Time, bool, Segment)> = Vec::new();
    let mut points = Vec::new();
    let mut now = Time::ZERO;
    while now < Time::ZERO + LENGTH {
        while let Some(segment) = client.poll_transmit(now) {
            on_the_way.push((now + DELAY, true, segment));
        }
        while let Some(segment) = server.poll_transmit(now) {
            on_the_way.push((now + DELAY, false, segment));
        }
        on_the_way.sort_by_key(|(at, ..)| *at);
        let arrival = on_the_way.first().map_or(Time::NEVER, |(at, ..)| *at);
        let timer = client.poll_timeout().min(server.poll_timeout());
        now = arrival.min(timer);
        if arrival <= now {
            let (_, up, segment) = on_the_way.remove(0);
            let end = if up { &mut server } else { &mut client };
            end.handle_segment(now, &segment);
        } else {
            client.handle_timeout(now);
            server.handle_timeout(now);
        }
        points.push((client.acked_bytes() as f64 / SEGMENT as f64, client.cwnd_segments()));
    }
    points
}

/// The window of a QUIC sender after each event, with the loss of the datagram at this place of the log.
fn with_a_loss(control: Control, lost: usize) -> Vec<f64> {
    let mut world = World::new(&Settings { congestion_control: control, ..Settings::default() }, 1);
    world.loses = Box::new(move |_, place| place == lost);
    let connection = world.pair.open(Time::ZERO);
    world.pair.write_stream(connection, Way::One, None);
    let mut windows = Vec::new();
    while world.pair.packets_lost(Role::Client) == 0 && world.step(Time::ZERO + LENGTH * 2) {
        windows.push(world.pair.window(Role::Client, connection).expect("it is open").cwnd);
    }
    windows
}

#[test]
fn cubic_of_the_stack_has_our_windows_up_to_the_first_loss_and_keeps_as_much() {
    let ours = cubic::Params { hystart: cubic::Hystart::Off, ..cubic::Params::default() };
    let ours = with_a_loss(Control::Ours(Algorithm::Cubic(ours)), 150);
    let stack = with_a_loss(Control::Stack(StackControl::QuinnCubic(Default::default())), 150);
    // The stack counts in whole bytes.
    let apart = ours.iter().zip(&stack).map(|(ours, stack)| (ours - stack).abs()).fold(0.0, f64::max);
    assert!(ours.len() == stack.len() && apart < 2.0 / SEGMENT as f64, "{apart}");
    let [.., before, after] = stack[..] else { panic!("{stack:?}") };
    // The ACK that shows the loss first enlarges the window by the packets that it acknowledges, at most three.
    assert!((0.7 * before..0.7 * (before + 3.0)).contains(&after), "{before} and {after}");
}

/// The same of a QUIC sender.
fn under_quic(control: &Algorithm) -> Vec<(f64, f64)> {
    let settings = Settings { congestion_control: Control::Ours(control.clone()), ..Settings::default() };
    let mut world = World::new(&settings, 1);
    let connection = world.pair.open(Time::ZERO);
    world.pair.write_stream(connection, Way::One, None);
    let mut points = Vec::new();
    let mut acked = 0;
    while world.step(Time::ZERO + LENGTH) {
        let window = world.pair.window(Role::Client, connection).expect("it is open");
        let sent: u64 = data_of(&world).iter().map(|sent| sent.payload.len() as u64).sum();
        acked = acked.max(sent.saturating_sub(window.flight_bytes));
        points.push((acked as f64 / SEGMENT as f64, window.cwnd));
    }
    points
}

/// The client's datagrams with data: the first of them begins with a packet of the handshake, whose datagrams before do
/// not enlarge the window, as they left it unused.
fn data_of(world: &World) -> Vec<&Sent> {
    let mut sent = world.sent_by(Role::Client, Time::ZERO);
    let first_short = sent.iter().position(|sent| sent.is_short()).unwrap_or(sent.len());
    sent.split_off(first_short.saturating_sub(1))
}

/// The window after so many acknowledged segments, between the points next to it.
fn at(points: &[(f64, f64)], acked: f64) -> f64 {
    let after = points.iter().position(|(of, _)| *of >= acked).expect("so much was acknowledged");
    let ((x0, y0), (x1, y1)) = (points[after.saturating_sub(1)], points[after]);
    if x1 > x0 { y0 + (y1 - y0) * (acked - x0) / (x1 - x0) } else { y1 }
}

#[test]
fn windows_are_equal_at_equal_acknowledged_bytes() {
    let controls = [
        Algorithm::Newreno(newreno::Params::default()),
        Algorithm::Cubic(cubic::Params { hystart: cubic::Hystart::Off, ..cubic::Params::default() }),
    ];
    for control in controls {
        let (tcp, quic) = (under_tcp(&control), under_quic(&control));
        let most = tcp.last().map_or(0.0, |(acked, _)| *acked).min(quic.last().map_or(0.0, |(acked, _)| *acked));
        assert!(most > 100.0, "{}: {most}", control.name());
        for acked in 0..most as u32 {
            let (of_tcp, of_quic) = (at(&tcp, acked.into()), at(&quic, acked.into()));
            // A part of a segment: QUIC's handshake and its ACKs fill no whole datagrams.
            assert!((of_tcp - of_quic).abs() < 1.0, "{}: {of_tcp} and {of_quic} after {acked}", control.name());
        }
    }
}
