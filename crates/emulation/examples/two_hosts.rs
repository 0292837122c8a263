//! Carries data between two network stacks over a path that only passes packets on, and prints its speed.
//!
//! `cargo run --release -p lasthop-emulation --example two_hosts -- 100` carries 100 MB. It needs root and `/dev/net/tun`, or both
//! in namespaces of an ordinary user (`unshare --user --map-root-user`).

#[cfg(target_os = "linux")]
mod linux {
    use std::net::Ipv4Addr;

    use lasthop_emulation::Result;
    use lasthop_emulation::device::{Interface, Tun};
    use lasthop_emulation::diag::{Diag, SocketInfo};
    use lasthop_emulation::host::Namespace;
    use lasthop_emulation::traffic::{Side, SocketOptions, Traffic, Transfer};
    use lasthop_units::Duration;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::time::{ClockId, clock_gettime};

    const STATION: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
    const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

    /// The outcome.
    pub struct Carried {
        /// packets from the station and from the server
        pub packets: [u64; 2],
        /// elapsed time
        pub seconds: f64,
        /// the last state of the sender's kernel
        pub sender: Option<SocketInfo>,
    }

    /// Carries `bytes` from a station to a server.
    pub fn carry(bytes: u64) -> Result<Carried> {
        let (station, server) = (Namespace::new()?, Namespace::new()?);
        let devices = [open(&station, "wlan0", STATION)?, open(&server, "eth0", SERVER)?];
        let mut diag = Diag::open(&station)?;
        let transfer = Transfer {
            name: "upload".to_owned(),
            sender: Side::Station,
            station: &station,
            server: &server,
            station_address: STATION,
            server_address: SERVER,
            server_port: 50_000,
            station_ports: 60_100..=60_100,
            size: Some(bytes),
            repeat: 1,
            start: Duration::ZERO,
            rate: None,
            socket: SocketOptions::default(),
        };
        let mut traffic = Traffic::start(&[transfer], &[])?;
        traffic.ready()?;
        let zero_ns = now_ns();
        traffic.begin(zero_ns)?;
        let (mut packets, mut packet, mut sockets, mut sender) = ([0; 2], [0; 1500], Vec::new(), None);
        while traffic.completions().is_empty() {
            for (from, to) in [(0, 1), (1, 0)] {
                // One burst at a time, so that neither direction waits for the other.
                for _ in 0..64 {
                    let Some(length) = devices[from].read(&mut packet)? else { break };
                    packets[from] += 1;
                    devices[to].write(&packet[..length])?;
                }
            }
            if packets[0] % 1000 < 64 {
                diag.sockets(&mut sockets)?;
                sender = sockets.pop().or(sender);
            }
            let readable = PollFlags::IN;
            let mut descriptors = [
                PollFd::new(&devices[0], readable),
                PollFd::new(&devices[1], readable),
                PollFd::new(&traffic, readable),
            ];
            poll(&mut descriptors, None).ok();
        }
        Ok(Carried { packets, seconds: (now_ns() - zero_ns) as f64 / 1e9, sender })
    }

    fn open(namespace: &Namespace, name: &str, address: Ipv4Addr) -> Result<Tun> {
        Tun::open(namespace, &Interface { name: name.to_owned(), address, prefix: 8, mtu: 1500, queue: 10_000 })
    }

    fn now_ns() -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    if cfg!(test) {
        return check();
    }
    let megabytes: u64 = std::env::args().nth(1).map_or(Ok(10), |argument| argument.parse())?;
    let carried = linux::carry(megabytes * 1_000_000)?;
    let rate = (megabytes * 8) as f64 / carried.seconds;
    let [up, down] = carried.packets.map(|packets| packets as f64 / carried.seconds);
    println!("{megabytes} MB in {:.3} s: {rate:.0} Mbit/s, {up:.0} packets/s up, {down:.0} down", carried.seconds);
    if let Some(sender) = carried.sender {
        println!("cwnd {} segments, rtt {:?} us", sender.cwnd, sender.rtt.map(|rtt| rtt.as_micros_f64()));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// Carries a megabyte, in about seven hundred packets: 1,000,000 / 1448 = 690.6, and a few to open and close the connection.
#[cfg(target_os = "linux")]
fn check() -> Result<(), Box<dyn std::error::Error>> {
    let possible = std::fs::File::options().read(true).write(true).open("/dev/net/tun").is_ok();
    if !possible || lasthop_emulation::host::Namespace::new().is_err() {
        println!("left out: there are no namespaces or no TUN devices for this user");
        return Ok(());
    }
    let [up, _] = linux::carry(1_000_000)?.packets;
    assert!((691..1000).contains(&up), "{up}");
    println!("test a_megabyte_is_about_seven_hundred_packets ... ok");
    Ok(())
}
