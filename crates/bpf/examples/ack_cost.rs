//! The cost of an ACK in an object and in CUBIC: `cargo run --release -p lasthop-bpf --example ack_cost`
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use lasthop_bpf::Object;
use lasthop_tcp::congestion_control::{AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, cubic};
use lasthop_tcp::{Config, Profile};
use lasthop_units::{Duration, Time};

/// ACKs of a piece, and pieces. The fastest piece counts, as other work of the machine only adds time.
const ACKS: u64 = 20_000;
const PIECES: u64 = 40;

/// Nanoseconds for an ACK in congestion avoidance, one each 100 us.
fn cost_ns(mut control: Box<dyn CongestionControl>) -> f64 {
    let event = CongestionEvent {
        now: Time::ZERO + Duration::from_millis(1),
        cause: CongestionCause::Loss,
        window: 400.0,
        flight_bytes: 0,
        repeated: false,
        snd_una: 1,
        snd_nxt: 500_000,
        total_lost: 1,
    };
    control.on_congestion(&event);
    control.on_recovery_exit(&lasthop_tcp::congestion_control::Moment {
        now: event.now,
        snd_una: 1,
        snd_nxt: 2,
        app_limited: false,
    });
    let mut fastest = f64::INFINITY;
    for piece in 0..PIECES {
        let begun = Instant::now();
        acks(&mut *control, event.now, piece * ACKS);
        fastest = fastest.min(begun.elapsed().as_nanos() as f64 / ACKS as f64);
    }
    black_box(control.cwnd());
    fastest
}

fn acks(control: &mut dyn CongestionControl, begin: Time, before: u64) {
    for ack in before + 1..=before + ACKS {
        control.on_ack(&AckSample {
            now: begin + Duration::from_micros(100 * ack),
            acked_segments: 1,
            acked_bytes: 1448,
            delivered_segments: 1,
            avoidance_credit: 1.0,
            rtt_sample: Some(Duration::from_millis(40)),
            snd_una: 1448 * ack,
            snd_nxt: 1448 * (ack + 400),
            flight_segments: 400,
            prior_flight_segments: 400,
            ..AckSample::default()
        });
    }
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or("examples/controllers/bpf/cubic.bpf.o".to_string());
    let config: Config = Profile::Linux.config();
    let context = Context::new(&config, 1);
    let made = std::fs::read(&path)
        .map_err(|error| format!("{path}: {error}"))
        .and_then(|bytes| Object::read(&bytes, &path).map_err(|error| error.to_string()))
        .and_then(|object| Arc::new(object).controller(&context).map_err(|error| error.to_string()));
    let object = made.unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    let built_in = cubic::Params { era: cubic::CubicEra::Linux, ..Default::default() }.build(&context);
    println!("built-in cubic: {:.0} ns an ACK", cost_ns(built_in));
    println!("{path}: {:.0} ns an ACK", cost_ns(object));
}
