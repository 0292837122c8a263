//! Measures the cost of an endpoint: nanoseconds of a data segment and the ACK for it, at both ends together and at
//! each. Two endpoints hand over a window's worth of segments at once, with nothing between them.
//!
//! `cargo run --release -p lasthop-tcp --example endpoint_cost [-- --json | PART OF A NAME]`. A measurement is cut in
//! pieces, and the fastest piece counts: other work of the machine only adds to time on the clock.
#![allow(clippy::disallowed_methods)]

use std::collections::VecDeque;
use std::time::{Duration as WallTime, Instant};

use lasthop_registry::Amount;
use lasthop_tcp::congestion_control::{Algorithm, newreno};
use lasthop_tcp::{AckPolicy, Config, Endpoint, Profile, ReceiveWindow, Segment, WindowReduction};
use lasthop_units::{Duration, Time};

/// Segments of a piece, and pieces.
const PIECE: u64 = 200_000;
const PIECES: usize = 10;

/// The measurement of one piece.
#[derive(Clone, Copy, Default)]
struct Piece {
    sending: WallTime,
    receiving: WallTime,
    segments: u64,
    acks: u64,
    turns: u64,
    outstanding: u64,
}

impl Piece {
    fn ns(&self, time: WallTime) -> f64 {
        time.as_nanos() as f64 / self.segments as f64
    }
    fn total_ns(&self) -> f64 {
        self.ns(self.sending + self.receiving)
    }
}

/// Two endpoints that hand segments to one another.
struct Pair {
    client: Endpoint,
    server: Endpoint,
    now: Time,
    up: VecDeque<Segment>,
    down: VecDeque<Segment>,
    random: u64,
    loss: f64,
}

impl Pair {
    fn new(config: &Config, window: u64, loss: f64) -> Pair {
        let config = Config { receive_window: ReceiveWindow::Fixed(Amount::Packets(window)), ..config.clone() };
        let (mut client, mut server) = (Endpoint::new(&config, 1), Endpoint::new(&config, 2));
        server.listen();
        client.connect(Time::ZERO);
        client.write_forever();
        Pair { client, server, now: Time::ZERO, up: VecDeque::new(), down: VecDeque::new(), random: 1, loss }
    }

    /// A round trip: all ACKs arrive and all that they release leaves; that data arrives, and all its ACKs leave.
    fn turn(&mut self, piece: &mut Piece) {
        self.now += Duration::from_millis(1);
        let sending = self.send(piece);
        piece.sending += sending;
        self.lose();
        self.now += Duration::from_millis(1);
        piece.receiving += self.receive();
        piece.turns += 1;
        piece.outstanding += u64::from(self.client.info(self.now).unacked);
    }

    fn send(&mut self, piece: &mut Piece) -> WallTime {
        let (now, start) = (self.now, Instant::now());
        self.client.handle_timeout(now);
        for ack in self.down.drain(..) {
            self.client.handle_segment(now, &ack);
            while let Some(segment) = self.client.poll_transmit(now) {
                self.up.push_back(segment);
            }
            piece.acks += 1;
        }
        while let Some(segment) = self.client.poll_transmit(now) {
            self.up.push_back(segment);
        }
        piece.segments += self.up.len() as u64;
        start.elapsed()
    }

    fn lose(&mut self) {
        self.up.retain(|_| {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.random >> 11) as f64 / (1u64 << 53) as f64 >= self.loss
        });
    }

    fn receive(&mut self) -> WallTime {
        let (now, start) = (self.now, Instant::now());
        self.server.handle_timeout(now);
        for segment in self.up.drain(..) {
            self.server.handle_segment(now, &segment);
            while let Some(ack) = self.server.poll_transmit(now) {
                self.down.push_back(ack);
            }
        }
        while let Some(ack) = self.server.poll_transmit(now) {
            self.down.push_back(ack);
        }
        start.elapsed()
    }
}

fn measure(key: &str, name: &str, config: &Config, window: u64, loss: f64, json: bool) {
    if !json && std::env::args().nth(1).is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let mut pair = Pair::new(config, window, loss);
    // Until the window is open.
    let mut warm_up = Piece::default();
    while warm_up.segments < 2 * PIECE {
        pair.turn(&mut warm_up);
    }
    let pieces: Vec<Piece> = (0..PIECES)
        .map(|_| {
            let mut piece = Piece::default();
            while piece.segments < PIECE {
                pair.turn(&mut piece);
            }
            piece
        })
        .collect();
    let best = pieces.iter().min_by(|a, b| a.total_ns().total_cmp(&b.total_ns())).copied().unwrap_or_default();
    let outstanding = best.outstanding as f64 / best.turns as f64;
    let (total, sending, receiving) = (best.total_ns(), best.ns(best.sending), best.ns(best.receiving));
    if json {
        println!(
            r#"{{"key":"{key}","name":"{name}","ns":{total:.1},"sending_ns":{sending:.1},"receiving_ns":{receiving:.1},"outstanding":{outstanding:.0}}}"#
        );
    } else {
        let acks = best.acks as f64 / best.segments as f64;
        println!(
            "{name}: {total:.0} ns a segment and its ACK: {sending:.0} at the sender, {receiving:.0} at the receiver \
             ({acks:.2} ACKs a segment, {outstanding:.0} outstanding)"
        );
    }
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let (ns2, linux) = (Profile::Ns2.config(), Profile::Linux.config());
    let every = Config { ack: AckPolicy::EverySegment, ..linux.clone() };
    measure("ns2", "ns2, window 160", &ns2, 160, 0.0, json);
    measure("ns2_loss", "ns2, 1 % lost", &ns2, 160, 0.01, json);
    measure("linux_delayed", "linux, cubic, window 160, delayed ACKs", &linux, 160, 0.0, json);
    measure("linux", "linux, cubic, window 160, an ACK for each", &every, 160, 0.0, json);
    measure("linux_20000", "linux, cubic, window 20000, an ACK for each", &every, 20_000, 0.0, json);
    measure("linux_loss", "linux, cubic, 1 % lost, an ACK for each", &every, 160, 0.01, json);
    // A controller that hardly reacts to losses keeps the window full, with holes all over it.
    let bold = newreno::Params { increase: 1e6, beta: 0.999_999, ..Default::default() };
    let bold = Config {
        congestion_control: Algorithm::Newreno(bold),
        window_reduction: WindowReduction::AtOnce,
        ..every.clone()
    };
    for window in [200, 2000, 20_000] {
        let key = format!("scoreboard_{window}");
        measure(&key, &format!("linux, window held at {window}, 1 % lost, an ACK for each"), &bold, window, 0.01, json);
    }
}
