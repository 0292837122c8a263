//! What an endpoint costs: time for a data segment received with its ACK made, and for an ACK received with
//! the next segment sent. `cargo run --release -p lasthop-tcp --example endpoint_cost`
#![allow(clippy::disallowed_methods)]

use std::collections::VecDeque;
use std::time::Instant;

use lasthop_registry::Amount;
use lasthop_tcp::{AckPolicy, Config, Endpoint, Profile, ReceiveWindow, Segment};
use lasthop_units::{Duration, Time};

/// The segments in flight, and what to do to the n-th.
fn measure(name: &str, config: &Config, window: u64, loss: f64) {
    let config = Config { receive_window: ReceiveWindow::Fixed(Amount::Packets(window)), ..config.clone() };
    let mut client = Endpoint::new(&config, 1);
    let mut server = Endpoint::new(&config, 2);
    let mut now = Time::ZERO;
    let (mut up, mut down): (VecDeque<Segment>, VecDeque<Segment>) = Default::default();
    server.listen();
    client.connect(now);
    client.write_forever();
    let mut random = 1u64;
    let (mut receiving, mut sending) = (0u128, 0u128);
    let (mut received, mut acks) = (0u64, 0u64);
    while received < 3_000_000 {
        now += Duration::from_millis(1);
        let start = Instant::now();
        client.handle_timeout(now);
        for ack in down.drain(..) {
            client.handle_segment(now, &ack);
            while let Some(segment) = client.poll_transmit(now) {
                up.push_back(segment);
            }
            acks += 1;
        }
        while let Some(segment) = client.poll_transmit(now) {
            up.push_back(segment);
        }
        sending += start.elapsed().as_nanos();
        up.retain(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 11) as f64 / (1u64 << 53) as f64 >= loss
        });
        now += Duration::from_millis(1);
        let start = Instant::now();
        server.handle_timeout(now);
        for segment in up.drain(..) {
            server.handle_segment(now, &segment);
            while let Some(ack) = server.poll_transmit(now) {
                down.push_back(ack);
            }
            received += 1;
        }
        while let Some(ack) = server.poll_transmit(now) {
            down.push_back(ack);
        }
        receiving += start.elapsed().as_nanos();
    }
    println!(
        "{name}: {:.0} ns per segment received with its ACK, {:.0} ns per segment sent with the ACK for it ({:.2} ACKs each), {} retransmitted, cwnd {:.0}",
        receiving as f64 / received as f64,
        sending as f64 / client.counters().segments_sent as f64,
        acks as f64 / received as f64,
        client.counters().segments_retransmitted,
        client.cwnd_segments(),
    );
}

fn main() {
    let ns2 = Profile::Ns2.config();
    let linux = Profile::Linux.config();
    let every = Config { ack: AckPolicy::EverySegment, ..linux.clone() };
    measure("ns2, window 160, no loss", &ns2, 160, 0.0);
    measure("ns2, 1 % loss", &ns2, 160, 0.01);
    measure("linux, window 160, no loss", &linux, 160, 0.0);
    measure("linux, ACK each, window 160, no loss", &every, 160, 0.0);
    measure("linux, ACK each, 1 % loss", &every, 160, 0.01);
    measure("linux, ACK each, window 20000, no loss", &every, 20_000, 0.0);
    // A controller that does not mind losses keeps the window at 20000 segments, with 200 holes in it.
    let bold =
        lasthop_tcp::congestion_control::newreno::Params { increase: 1e6, beta: 0.999_999, ..Default::default() };
    let bold = lasthop_tcp::congestion_control::Algorithm::Newreno(bold);
    measure("ACK each, window 20000, 1 % loss", &Config { congestion_control: bold, ..every }, 20_000, 0.01);
}
