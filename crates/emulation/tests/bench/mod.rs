//! A test runner with one thread, and two hosts with a relay between them.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::process::ExitCode;

use lasthop_emulation::Result;
use lasthop_emulation::device::{Interface, Tun};
use lasthop_emulation::host::Namespace;
use lasthop_emulation::traffic::{Side, SocketOptions, Transfer};
use lasthop_units::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

pub const STATION: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The outcome of a test that has not failed: success, or the reason why it was skipped.
pub type Outcome = std::result::Result<(), String>;

/// A test with its name.
pub type Test = (&'static str, fn() -> Outcome);

/// Runs the tests whose name contains the first argument, one after another in this thread.
pub fn run(tests: &[Test]) -> ExitCode {
    let wanted = std::env::args().nth(1).filter(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut counts = [0; 3];
    for (name, test) in tests.iter().filter(|(name, _)| name.contains(&wanted)) {
        let (place, word) = match std::panic::catch_unwind(test) {
            Ok(Ok(())) => (0, "ok".to_owned()),
            Ok(Err(reason)) => (1, format!("left out: {reason}")),
            Err(_) => (2, "FAILED".to_owned()),
        };
        counts[place] += 1;
        println!("test {name} ... {word}");
    }
    let [passed, left_out, failed] = counts;
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {failed} failed; {left_out} ignored");
    ExitCode::from(u8::from(failed > 0))
}

/// A station and a server, each with its device.
pub struct Pair {
    pub station: Namespace,
    pub server: Namespace,
    pub wlan0: Tun,
    pub eth0: Tun,
}

impl Pair {
    /// Makes the two hosts, or returns the reason why this machine has neither namespaces nor TUN devices.
    pub fn new(queue: u32) -> std::result::Result<Pair, String> {
        possible()?;
        Ok(Pair::open(queue).unwrap())
    }

    fn open(queue: u32) -> Result<Pair> {
        let (station, server) = (Namespace::new()?, Namespace::new()?);
        let wlan0 = Tun::open(&station, &interface("wlan0", STATION, queue))?;
        let eth0 = Tun::open(&server, &interface("eth0", SERVER, queue))?;
        Ok(Pair { station, server, wlan0, eth0 })
    }

    /// A transfer between them that starts at once.
    pub fn transfer(&self, sender: Side) -> Transfer<'_> {
        Transfer {
            name: "flow 1".to_owned(),
            sender,
            station: &self.station,
            server: &self.server,
            station_address: STATION,
            server_address: SERVER,
            server_port: 50_000,
            station_ports: 60_100..=65_499,
            size: Some(1_000_000),
            repeat: 1,
            start: Duration::ZERO,
            rate: None,
            socket: SocketOptions::default(),
        }
    }

    /// Passes packets from device to device, each after a delay, in nanoseconds, until `done`, which is called after
    /// each wait, or until five seconds are over.
    ///
    /// `passes` receives each packet, with whether it goes up, and returns whether it is delivered.
    pub fn relay(&self, delay_ns: u64, mut passes: impl FnMut(&[u8], bool) -> bool, mut done: impl FnMut() -> bool) {
        let end_ns = now_ns() + 5_000_000_000;
        let mut waiting = VecDeque::new();
        let mut packet = [0; 2048];
        while !done() {
            assert!(now_ns() < end_ns, "five seconds are over");
            for (from, to, up) in [(&self.wlan0, &self.eth0, true), (&self.eth0, &self.wlan0, false)] {
                while let Some(length) = from.read(&mut packet).unwrap() {
                    if passes(&packet[..length], up) {
                        waiting.push_back((now_ns() + delay_ns, to, packet[..length].to_vec()));
                    }
                }
            }
            while waiting.front().is_some_and(|(due_ns, ..)| *due_ns <= now_ns()) {
                let (_, to, packet) = waiting.pop_front().unwrap();
                assert!(to.write(&packet).unwrap());
            }
            let wait_ns = waiting.front().map_or(u64::MAX, |(due_ns, ..)| due_ns.saturating_sub(now_ns()));
            let mut descriptors = [&self.wlan0, &self.eth0].map(|tun| PollFd::new(tun, PollFlags::IN));
            poll(&mut descriptors, Some(&Timespec { tv_sec: 0, tv_nsec: wait_ns.min(1_000_000) as i64 })).unwrap();
        }
    }
}

/// Returns whether this user may make namespaces and TUN devices here, with the reason if not.
pub fn possible() -> std::result::Result<(), String> {
    let refused = |error: &dyn std::fmt::Display| error.to_string();
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").map_err(|error| refused(&error))?;
    Namespace::new().map(drop).map_err(|error| refused(&error))
}

fn interface(name: &str, address: Ipv4Addr, queue: u32) -> Interface {
    Interface { name: name.to_owned(), address, prefix: 8, mtu: 1500, queue }
}

/// Now, in nanoseconds of `CLOCK_MONOTONIC`.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
