//! A download over a link of 20 Mbit/s with 10 ms each way: `cargo run -p lasthop-quic --example transfer`.

use std::collections::VecDeque;

use lasthop_quic::{Change, Datagram, Pair, Role, Settings, Way};
use lasthop_units::{Duration, Time};

/// One way of the link: datagrams leave one after the other, and arrive after a delay.
#[derive(Default)]
struct Wire {
    free_at: Time,
    on_the_way: VecDeque<(Time, Datagram)>,
}

const DELAY: Duration = Duration::from_millis(10);
const NANOSECONDS_PER_BYTE: u64 = 8 * 50;

impl Wire {
    fn send(&mut self, now: Time, datagram: Datagram) {
        let took = Duration::from_nanos((datagram.payload.len() as u64 + 28) * NANOSECONDS_PER_BYTE);
        self.free_at = self.free_at.max(now) + took;
        self.on_the_way.push_back((self.free_at + DELAY, datagram));
    }

    fn arrives_at(&self) -> Time {
        self.on_the_way.front().map_or(Time::NEVER, |(at, _)| *at)
    }
}

/// The time at which `bytes` are acknowledged.
fn time_of(bytes: u64) -> Time {
    let roles = [Role::Client, Role::Server];
    let mut pair = Pair::new(&Settings::default(), 1);
    let mut wires: [Wire; 2] = Default::default();
    let mut now = Time::ZERO;
    let connection = pair.open(now);
    pair.write_stream(connection, Way::One, Some(bytes));
    loop {
        for role in roles {
            while let Some(datagram) = pair.poll_transmit(now, role) {
                wires[role as usize].send(now, datagram);
            }
        }
        while let Some((_, change)) = pair.next_change() {
            if let Change::Acknowledged(_) = change {
                return now;
            }
        }
        let arrivals = wires.iter().map(Wire::arrives_at).min().unwrap_or(Time::NEVER);
        now = roles.iter().map(|&role| pair.poll_timeout(role)).fold(arrivals, Time::min).max(now);
        for role in roles {
            if wires[role as usize].arrives_at() <= now
                && let Some((_, datagram)) = wires[role as usize].on_the_way.pop_front()
            {
                pair.handle(now, role.other(), datagram);
            }
            if pair.poll_timeout(role) <= now {
                pair.handle_timeout(now, role);
            }
        }
    }
}

fn main() {
    println!("1 MB is acknowledged after {:.3} s", time_of(1_000_000).as_secs_f64());
}

#[test]
fn megabyte_takes_its_time_on_the_link() {
    // At least its bytes at 20 Mbit/s and the two round trips of handshake and data; at most twice that.
    let least = 1e6 * 8.0 / 20e6 + 0.04;
    let took = time_of(1_000_000).as_secs_f64();
    assert!((least..2.0 * least).contains(&took), "{took}");
}
