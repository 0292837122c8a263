//! Bulk data over QUIC by the UDP of a kernel: the stack, the cipher, the handshake and the controllers of a simulation, with
//! real sockets and a real clock.
//!
//! `quic-transfer client ADDRESS PORT WARMUP SECONDS KEY=VALUE…` sends for so long, and prints `rtt_mean_s` and `packets_lost` as JSON;
//! `quic-transfer server PORT WARMUP SECONDS KEY=VALUE…` receives it and prints `goodput_bps`, both counted from WARMUP on. Keys are
//! `datagram`, `initial_window` and `seed`, which are those of the simulation.
//!
//! Left out: ECN, which the standard library does not set, and GSO.

use std::io::ErrorKind;
use std::net::{ToSocketAddrs, UdpSocket};
use std::process::ExitCode;
use std::time::Instant;

use lasthop_quic::{Change, Datagram, Pair, Role, Settings, Way};
use lasthop_units::{Duration, Ecn, Time};

const USAGE: &str =
    "quic-transfer (server | client ADDRESS) PORT WARMUP SECONDS [datagram=1452] [initial_window=10] [seed=1]";
/// The time for which a client sends on, so that its server is not stopped before it has printed.
const GRACE: Duration = Duration::from_millis(500);
/// The longest wait for a datagram, after which timers are looked at.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
const LARGEST_DATAGRAM: usize = 2500;

/// One end of a connection, and the socket that carries its datagrams.
struct Program {
    pair: Pair,
    role: Role,
    socket: UdpSocket,
    began: Instant,
}

impl Program {
    #[expect(clippy::disallowed_methods, reason = "a program over a kernel lives in that kernel's time")]
    fn new(role: Role, socket: UdpSocket, settings: &Settings, seed: u64) -> Program {
        Program { pair: Pair::new(settings, seed), role, socket, began: Instant::now() }
    }

    fn now(&self) -> Time {
        Time::ZERO + Duration::from_nanos(self.began.elapsed().as_nanos() as u64)
    }

    /// Sends all that the stack may send now.
    fn send(&mut self) -> std::io::Result<()> {
        while let Some(datagram) = self.pair.poll_transmit(self.now(), self.role) {
            // A datagram that the kernel refuses is a datagram that the path loses.
            match self.socket.send(&datagram.payload) {
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for a datagram or for the stack's next timer, at most until `end`.
    fn receive(&mut self, end: Time) -> std::io::Result<()> {
        let due = self.pair.poll_timeout(self.role).min(end);
        let now = self.now();
        let wait = if due > now { due.since(now).min(LONGEST_WAIT) } else { Duration::ZERO };
        // A timeout of zero would wait for ever.
        let wait = wait.max(Duration::from_micros(1));
        self.socket.set_read_timeout(Some(std::time::Duration::from_nanos(wait.as_nanos())))?;
        let mut bytes = [0; LARGEST_DATAGRAM];
        match self.socket.recv(&mut bytes) {
            Ok(length) => {
                let datagram = Datagram::received(&bytes[..length], Ecn::NotEct);
                self.pair.handle(self.now(), self.role, datagram);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(error),
        }
        let now = self.now();
        if self.pair.poll_timeout(self.role) <= now {
            self.pair.handle_timeout(now, self.role);
        }
        Ok(())
    }
}

/// The settings and the seed that are given as `KEY=VALUE`.
fn settings(words: &[String]) -> Result<(Settings, u64), String> {
    let (mut settings, mut seed) = (Settings::default(), 1);
    for word in words {
        let (key, value) = word.split_once('=').ok_or(format!("{word}: KEY=VALUE is needed"))?;
        let number = value.parse::<u32>().map_err(|_| format!("{word}: a number is needed"))?;
        match key {
            "datagram" => {
                settings.datagram_bytes = u16::try_from(number).map_err(|error| format!("{word}: {error}"))?
            }
            "initial_window" => settings.initial_window = number,
            "seed" => seed = u64::from(number),
            _ => return Err(format!("{word}: one of datagram, initial_window, seed")),
        }
    }
    Ok((settings, seed))
}

/// The times from which and to which an end counts, and its settings.
fn times(words: &[String]) -> Result<(Time, Time, &[String]), String> {
    let [warmup, seconds, keys @ ..] = words else { return Err(USAGE.into()) };
    let time = |text: &str| text.parse::<f64>().map(|s| Time::ZERO + Duration::from_nanos((s * 1e9) as u64));
    match (time(warmup), time(seconds)) {
        (Ok(from), Ok(end)) if from < end => Ok((from, end, keys)),
        _ => Err(USAGE.into()),
    }
}

fn serve(port: &str, words: &[String]) -> Result<(), String> {
    let (from, end, keys) = times(words)?;
    let (settings, seed) = settings(keys)?;
    let socket = UdpSocket::bind(format!("0.0.0.0:{port}")).map_err(|error| format!("port {port}: {error}"))?;
    // The first datagram has the address of the only client, and begins the time.
    let (_, client) = socket.peek_from(&mut [0]).map_err(|error| error.to_string())?;
    socket.connect(client).map_err(|error| error.to_string())?;
    let mut program = Program::new(Role::Server, socket, &settings, seed);
    let mut counted = 0;
    while program.now() < end {
        program.receive(end).and_then(|()| program.send()).map_err(|error| error.to_string())?;
        let is_counted = program.now() >= from;
        while let Some((_, change)) = program.pair.next_change() {
            match change {
                Change::Arrived { bytes, .. } if is_counted => counted += bytes,
                _ => {}
            }
        }
    }
    println!("{{\"goodput_bps\": {}}}", counted as f64 * 8.0 / end.since(from).as_secs_f64());
    // The client is still sending.
    loop {
        program.receive(Time::NEVER).and_then(|()| program.send()).map_err(|error| error.to_string())?;
    }
}

fn transfer(address: &str, port: &str, words: &[String]) -> Result<(), String> {
    let (from, end, keys) = times(words)?;
    let (settings, seed) = settings(keys)?;
    let named = format!("{address}:{port}");
    let server = named.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or(format!("{named}: no address"))?;
    let socket = UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect(server).map(|()| socket));
    let mut program = Program::new(Role::Client, socket.map_err(|error| error.to_string())?, &settings, seed);
    let connection = program.pair.open(program.now());
    program.pair.write_stream(connection, Way::One, None);
    let (mut rtts, mut samples) = (0.0, 0_u32);
    while program.now() < end + GRACE {
        program.send().and_then(|()| program.receive(end + GRACE)).map_err(|error| error.to_string())?;
        let now = program.now();
        let sample = program.pair.take_rtt(Role::Client, connection);
        if let Some(rtt) = sample.filter(|_| from <= now && now < end) {
            rtts += rtt.sample.as_secs_f64();
            samples += 1;
        }
        while let Some((_, change)) = program.pair.next_change() {
            if let Change::Lost { .. } = change {
                return Err("the connection is lost".into());
            }
        }
    }
    let lost = program.pair.packets_lost(Role::Client);
    println!("{{\"rtt_mean_s\": {}, \"packets_lost\": {lost}}}", rtts / f64::from(samples));
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.split_first() {
        Some((role, [port, keys @ ..])) if role == "server" => serve(port, keys),
        Some((role, [address, port, rest @ ..])) if role == "client" => transfer(address, port, rest),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("quic-transfer: {message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_keys_are_refused_with_those_that_there_are() {
        let of = |word: &str| settings(&[word.to_string()]).err().unwrap_or_default();
        assert!(of("mtu=1500").contains("one of datagram, initial_window, seed"));
        assert!(of("datagram").contains("KEY=VALUE") && of("datagram=x").contains("a number"));
        assert_eq!(
            settings(&["datagram=1300".into(), "seed=7".into()]).map(|(of, seed)| (of.datagram_bytes, seed)),
            Ok((1300, 7))
        );
    }
}
