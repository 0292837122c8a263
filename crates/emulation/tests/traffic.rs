//! Data between two hosts over real sockets.

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
#[path = "bench/segment.rs"]
mod segment;

#[cfg(target_os = "linux")]
mod tests {
    use std::collections::BTreeSet;

    use lasthop_emulation::traffic::{Completion, HttpServer, Offers, Side, SocketOptions, Traffic};
    use lasthop_units::Duration;

    use crate::bench::{Outcome, Pair, SERVER, now_ns};
    use crate::segment::data_bytes;

    const QUEUE: u32 = 10_000;

    /// Source and destination port of a TCP segment.
    fn ports(packet: &[u8]) -> (u16, u16) {
        let header = usize::from(packet[0] & 15) * 4;
        let port = |at: usize| u16::from_be_bytes([packet[header + at], packet[header + at + 1]]);
        (port(0), port(2))
    }

    /// Carries transfers to their end. Returns their completions, and the data bytes of each direction, up first.
    fn carried(pair: &Pair, mut traffic: Traffic, wanted: usize) -> (Vec<Completion>, [usize; 2]) {
        traffic.ready().unwrap();
        traffic.begin(now_ns()).unwrap();
        let (mut completed, mut bytes) = (Vec::new(), [0, 0]);
        pair.relay(
            0,
            |packet, up| {
                bytes[usize::from(!up)] += data_bytes(packet);
                true
            },
            || {
                completed.extend(traffic.completions());
                completed.len() >= wanted
            },
        );
        assert_eq!(traffic.failure(), None);
        (completed, bytes)
    }

    pub fn a_megabyte_goes_up() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let traffic = Traffic::start(&[pair.transfer(Side::Station)], &[]).unwrap();
        let (_, [up, down]) = carried(&pair, traffic, 1);
        assert!((1_000_000..1_100_000).contains(&up) && down == 0, "{up} {down}");
        assert_eq!((pair.wlan0.drops().unwrap(), pair.eth0.drops().unwrap()), (0, 0));
        Ok(())
    }

    pub fn a_megabyte_goes_down() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let traffic = Traffic::start(&[pair.transfer(Side::Server)], &[]).unwrap();
        let (_, [up, down]) = carried(&pair, traffic, 1);
        assert!((1_000_000..1_100_000).contains(&down) && up == 0, "{up} {down}");
        Ok(())
    }

    pub fn connections_follow_one_another_from_ports_of_their_own() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        for sender in [Side::Station, Side::Server] {
            let mut transfer = pair.transfer(sender);
            (transfer.size, transfer.repeat) = (Some(10_000), 3);
            let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
            traffic.ready().unwrap();
            traffic.begin(now_ns()).unwrap();
            let (mut completed, mut seen) = (Vec::new(), BTreeSet::new());
            pair.relay(
                0,
                |packet, up| {
                    let (from, to) = ports(packet);
                    seen.insert(if up { (from, to) } else { (to, from) });
                    true
                },
                || {
                    completed.extend(traffic.completions());
                    completed.len() >= 3
                },
            );
            assert_eq!(completed.iter().map(|one| one.connection).collect::<Vec<_>>(), [0, 1, 2]);
            assert_eq!(seen, BTreeSet::from([(60_100, 50_000), (60_101, 50_000), (60_102, 50_000)]));
        }
        Ok(())
    }

    pub fn transfers_to_one_station_share_its_ports() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let mut transfers = [Side::Server, Side::Server, Side::Station].map(|sender| pair.transfer(sender));
        for (number, transfer) in transfers.iter_mut().enumerate() {
            transfer.server_port += number as u16;
        }
        let (completed, [up, down]) = carried(&pair, Traffic::start(&transfers, &[]).unwrap(), 3);
        assert_eq!(completed.iter().map(|one| one.transfer).collect::<BTreeSet<_>>(), BTreeSet::from([0, 1, 2]));
        assert!(up >= 1_000_000 && down >= 2_000_000, "{up} {down}");
        Ok(())
    }

    pub fn offers_come_at_their_times() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let mut transfer = pair.transfer(Side::Station);
        transfer.size = Some(10_000);
        transfer.start = Duration::from_millis(50);
        transfer.rate = Some(Offers { bytes: 1_000, interval: Duration::from_millis(10) });
        let zero_ns = now_ns();
        let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
        traffic.ready().unwrap();
        traffic.begin(zero_ns).unwrap();
        let (mut times, mut completed) = (Vec::new(), 0);
        pair.relay(
            0,
            |packet, _| {
                if data_bytes(packet) > 0 {
                    times.push(now_ns() - zero_ns);
                }
                true
            },
            || {
                completed += traffic.completions().len();
                completed > 0
            },
        );
        // Ten offers, the first at 50 ms and the last at 140 ms.
        assert_eq!(times.len(), 10);
        for (number, at_ns) in times.iter().enumerate() {
            assert!(*at_ns >= 50_000_000 + 10_000_000 * number as u64, "{number}: {at_ns} ns");
        }
        assert!(times[9] < 400_000_000, "{times:?}");
        Ok(())
    }

    pub fn options_of_sockets_are_those_of_the_transfer() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let options = SocketOptions {
            mss: Some(700),
            window_clamp: Some(20_000),
            tos: 0xb8,
            quick_ack: Some(true),
            send_buffer: Some(100_000),
            receive_buffer: Some(100_000),
            ..SocketOptions::default()
        };
        let mut transfer = pair.transfer(Side::Server);
        (transfer.size, transfer.socket) = (Some(100_000), options);
        let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
        traffic.ready().unwrap();
        traffic.begin(now_ns()).unwrap();
        let (mut longest, mut windows, mut shift) = (0, Vec::new(), 0);
        pair.relay(
            0,
            |packet, up| {
                assert_eq!(packet[1], 0xb8);
                longest = longest.max(data_bytes(packet));
                if up {
                    let is_syn = packet[33] & 2 != 0;
                    let window = u32::from(u16::from_be_bytes([packet[34], packet[35]]));
                    // The window of a SYN is not scaled; the shift is the last of its options.
                    shift = if is_syn { packet[packet.len() - 1] } else { shift };
                    windows.push(if is_syn { window } else { window << shift });
                }
                true
            },
            || !traffic.completions().is_empty(),
        );
        // 12 bytes of each segment are its timestamps.
        assert_eq!(longest, 688);
        // Between these it is larger on kernels that forget the clamp.
        assert_eq!(
            [windows[0], windows[windows.len() - 1]].map(|window| (10_000..=20_000).contains(&window)),
            [true; 2]
        );
        Ok(())
    }

    pub fn data_carrier_sleeps_while_idle() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let mut transfers = [Side::Station, Side::Server].map(|sender| pair.transfer(sender));
        transfers[0].size = None;
        transfers[1].server_port += 1;
        transfers[1].rate = Some(Offers { bytes: 1000, interval: Duration::from_secs(100) });
        let server =
            HttpServer { namespace: &pair.server, address: SERVER, port: 80, socket: SocketOptions::default() };
        let mut traffic = Traffic::start(&transfers, &[server]).unwrap();
        traffic.ready().unwrap();
        traffic.begin(now_ns()).unwrap();
        // The connections open, some data is sent, and then the path delivers nothing more.
        let (start_ns, mut count) = (now_ns(), 0);
        pair.relay(
            0,
            |_, _| {
                count += 1;
                count < 200
            },
            || now_ns() > start_ns + 100_000_000,
        );
        // Fields 14 and 15 are its time in user and kernel mode, in hundredths of a second.
        let stat = format!("/proc/{}/stat", traffic.process());
        let ticks = || -> u64 {
            let stat = std::fs::read_to_string(&stat).unwrap();
            stat.split_whitespace().skip(13).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
        };
        let before = ticks();
        std::thread::sleep(std::time::Duration::from_millis(500));
        // A process that spins would have 50.
        assert!(ticks() - before <= 3, "{} ticks", ticks() - before);
        assert_eq!(traffic.failure(), None);
        Ok(())
    }

    pub fn setup_failure_names_the_flow() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let mut transfer = pair.transfer(Side::Station);
        transfer.socket.congestion_control = Some("no_such".to_owned());
        let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
        // Both ends need the algorithm, so the listening one reports it before anything begins.
        let failure = traffic.ready().unwrap_err().to_string();
        assert!(failure.starts_with("flow 1: this kernel has no congestion control \"no_such\""), "{failure}");
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    macro_rules! all {
        ($($test:ident),* $(,)?) => { &[$((stringify!($test), tests::$test as fn() -> bench::Outcome)),*] };
    }
    bench::run(all![
        a_megabyte_goes_up,
        a_megabyte_goes_down,
        connections_follow_one_another_from_ports_of_their_own,
        transfers_to_one_station_share_its_ports,
        offers_come_at_their_times,
        options_of_sockets_are_those_of_the_transfer,
        data_carrier_sleeps_while_idle,
        setup_failure_names_the_flow,
    ])
}

#[cfg(not(target_os = "linux"))]
fn main() {}
