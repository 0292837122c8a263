//! Hosts in namespaces: their devices, settings and programs, and the state of their kernels.

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
#[path = "bench/segment.rs"]
mod segment;

#[cfg(target_os = "linux")]
mod tests {
    use std::net::{SocketAddrV4, UdpSocket};
    use std::process::Command;

    use lasthop_emulation::diag::{Diag, State};
    use lasthop_emulation::host::program::{Line, Setup, Streams};
    use lasthop_emulation::host::{Namespace, Netlink, Program, QueueDiscipline, RouteMetrics, sysctl};
    use lasthop_emulation::traffic::{HttpServer, Side, SocketOptions, Traffic, Transfer};
    use lasthop_units::Duration;

    use crate::bench::{Outcome, Pair, SERVER, STATION, now_ns, possible};
    use crate::segment::data_bytes;

    const QUEUE: u32 = 10_000;

    pub fn kernel_lists_its_connections() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let mut transfer = pair.transfer(Side::Station);
        transfer.size = None;
        transfer.socket.congestion_control = Some("reno".to_owned());
        let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
        traffic.ready().unwrap();
        let mut diag = Diag::open(&pair.station).unwrap();
        let mut sockets = Vec::new();
        diag.sockets(&mut sockets).unwrap();
        assert_eq!(sockets, []);
        traffic.begin(now_ns()).unwrap();
        pair.relay(
            0,
            |_, _| true,
            || {
                diag.sockets(&mut sockets).unwrap();
                sockets.iter().any(|socket| socket.bytes_acked > Some(1_000_000))
            },
        );
        let [socket] = &sockets[..] else { panic!("{sockets:?}") };
        assert_eq!(
            (socket.local, socket.remote),
            (SocketAddrV4::new(STATION, 60_100), SocketAddrV4::new(SERVER, 50_000))
        );
        assert_eq!((socket.state, socket.congestion_control.as_deref()), (State::Established, Some("reno")));
        assert_eq!((socket.mss, socket.lost, socket.retransmissions), (1448, 0, 0));
        assert!(socket.cwnd > 10 && socket.ssthresh.is_none(), "{socket:?}");
        assert!(socket.rtt >= socket.min_rtt && socket.min_rtt.is_some_and(|rtt| rtt < Duration::from_millis(100)));
        // The receiver has received the bytes that it acknowledged, though the ACK may be on its way.
        Diag::open(&pair.server).unwrap().sockets(&mut sockets).unwrap();
        assert!(sockets[0].bytes_received > Some(1_000_000), "{sockets:?}");
        Ok(())
    }

    pub fn the_initial_window_is_that_of_the_route() -> Outcome {
        for (initial_window, segments) in [(None, 10), (Some(4), 4), (Some(17), 17)] {
            let pair = Pair::new(QUEUE)?;
            // A tail loss probe would be one segment more.
            sysctl::set(&pair.station, "net.ipv4.tcp_early_retrans", "0").unwrap();
            let metrics = RouteMetrics { initial_window, ..RouteMetrics::default() };
            let mut netlink = Netlink::open(&pair.station).unwrap();
            netlink.set_route("wlan0", ([10, 0, 0, 0].into(), 8), STATION, &metrics).unwrap();
            let mut traffic = Traffic::start(&[pair.transfer(Side::Station)], &[]).unwrap();
            traffic.ready().unwrap();
            traffic.begin(now_ns()).unwrap();
            let (mut seen, mut first_ns) = (0, None);
            let first = std::cell::Cell::new(None);
            pair.relay(
                0,
                |packet, _| {
                    if data_bytes(packet) == 0 {
                        return true;
                    }
                    seen += 1;
                    first.set(Some(now_ns()));
                    false
                },
                || {
                    first_ns = first_ns.or(first.get());
                    // Less than the 200 ms after which the first one is retransmitted.
                    first_ns.is_some_and(|first_ns| now_ns() > first_ns + 50_000_000)
                },
            );
            assert_eq!(seen, segments);
        }
        Ok(())
    }

    /// The first packet of a transfer.
    fn first_packet(pair: &Pair, transfer: Transfer<'_>) -> Vec<u8> {
        let mut traffic = Traffic::start(&[transfer], &[]).unwrap();
        traffic.ready().unwrap();
        traffic.begin(now_ns()).unwrap();
        let mut first = None;
        let seen = std::cell::Cell::new(false);
        pair.relay(
            0,
            |packet, _| {
                first.get_or_insert_with(|| packet.to_vec());
                seen.set(true);
                false
            },
            || seen.get(),
        );
        first.unwrap()
    }

    pub fn a_route_sets_the_mss_and_asks_for_ecn() -> Outcome {
        for (metrics, mss, flags) in [
            (RouteMetrics::default(), 1460, 0x02),
            (RouteMetrics { advertised_mss: Some(1000), ecn: true, ..RouteMetrics::default() }, 1000, 0xc2),
        ] {
            let pair = Pair::new(QUEUE)?;
            let mut netlink = Netlink::open(&pair.station).unwrap();
            netlink.set_route("wlan0", ([10, 0, 0, 0].into(), 8), STATION, &metrics).unwrap();
            let syn = first_packet(&pair, pair.transfer(Side::Station));
            // SYN is 2, ECE 0x40, CWR 0x80 [RFC 3168 §6.1.1]; the MSS is the first option.
            assert_eq!((syn[33], u16::from_be_bytes([syn[42], syn[43]])), (flags, mss));
        }
        Ok(())
    }

    pub fn a_host_without_traffic_is_silent() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let end_ns = now_ns() + 100_000_000;
        pair.relay(0, |packet, up| panic!("{up} {packet:x?}"), || now_ns() > end_ns);
        Ok(())
    }

    pub fn a_setting_is_that_of_one_namespace() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let name = "net.ipv4.tcp_sack";
        let missing = sysctl::set_all(&pair.station, &[(name, "0"), ("net.ipv4.no_such", "1")]).unwrap();
        assert_eq!(missing, ["net.ipv4.no_such"]);
        assert_eq!(sysctl::get(&pair.station, name).unwrap(), "0");
        assert_eq!(sysctl::get(&pair.server, name).unwrap(), "1");
        assert!(sysctl::congestion_controls(&pair.station).unwrap().contains(&"reno".to_owned()));
        assert!(sysctl::set(&pair.station, "kernel.hostname", "x").is_err());
        assert!(sysctl::set(&pair.station, "net.ipv4.tcp_sack/../../../x", "x").is_err());
        Ok(())
    }

    pub fn packets_that_nobody_reads_are_counted() -> Outcome {
        let pair = Pair::new(10)?;
        let socket = pair.station.enter(|| UdpSocket::bind((STATION, 0))).unwrap().unwrap();
        for _ in 0..100 {
            socket.send_to(b"datagram", (SERVER, 9)).unwrap();
        }
        let (mut packet, mut read) = ([0; 2048], 0);
        while pair.wlan0.read(&mut packet).unwrap().is_some() {
            read += 1;
        }
        assert_eq!((read, pair.wlan0.drops().unwrap()), (10, 90));
        Ok(())
    }

    pub fn a_server_of_zeros_answers_curl() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        if Command::new("curl").arg("--version").output().is_err() {
            return Err("curl is not installed".to_owned());
        }
        let server =
            HttpServer { namespace: &pair.server, address: SERVER, port: 80, socket: SocketOptions::default() };
        let mut traffic = Traffic::start(&[], &[server]).unwrap();
        traffic.ready().unwrap();
        traffic.begin(now_ns()).unwrap();
        let folder = Folder::new("curl");
        let mut program = Program::start(&Setup {
            name: "curl".to_owned(),
            line: Line::Shell("curl -sS http://10.0.0.1/3MB http://10.0.0.1/17".to_owned()),
            namespace: &pair.station,
            environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            streams: folder.streams(),
        })
        .unwrap();
        let mut ended = None;
        pair.relay(
            0,
            |_, _| true,
            || {
                ended = program.try_wait().unwrap();
                ended.is_some()
            },
        );
        assert!(ended.unwrap().success(), "{}", folder.read("error"));
        assert_eq!(folder.read("output"), "\0".repeat(3_000_017));
        assert_eq!(traffic.failure(), None);
        Ok(())
    }

    pub fn a_program_has_its_namespace_and_environment_and_ends_with_its_group() -> Outcome {
        let pair = Pair::new(QUEUE)?;
        let folder = Folder::new("program");
        let mut program = Program::start(&Setup {
            name: "sta1".to_owned(),
            line: Line::Shell("echo $0 $WORD; readlink /proc/self/ns/net; sleep 1000 & wait".to_owned()),
            namespace: &pair.station,
            environment: vec![("WORD".into(), "word".into()), ("PATH".into(), "/usr/bin:/bin".into())],
            streams: folder.streams(),
        })
        .unwrap();
        let here = std::fs::read_link("/proc/self/ns/net").unwrap();
        while folder.read("output").lines().count() < 2 {
            assert_eq!(program.try_wait().unwrap(), None);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let output = folder.read("output");
        let (first, namespace) = output.split_once('\n').unwrap();
        assert_eq!(first, "/bin/sh word");
        assert!(namespace.starts_with("net:[") && namespace.trim() != here.to_str().unwrap(), "{namespace}");
        let group = program.process();
        program.kill();
        // Killed processes are gone once they have been reaped.
        let members = || Command::new("pgrep").args(["-g", &group.to_string(), "-r", "S,R,D"]).output().unwrap().stdout;
        for _ in 0..100 {
            if members().is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(String::from_utf8_lossy(&members()), "");
        Ok(())
    }

    pub fn a_veth_takes_a_queue_discipline() -> Outcome {
        possible()?;
        let (near, far) = (Namespace::new().unwrap(), Namespace::new().unwrap());
        let mut here = Netlink::open(&near).unwrap();
        here.add_veth("veth0", "veth1", &far).map_err(|error| error.to_string())?;
        here.add_address("veth0", STATION, 8).unwrap();
        // `struct tc_fifo_qopt` is a limit in packets.
        let limit = QueueDiscipline { kind: "pfifo".to_owned(), options: 7u32.to_ne_bytes().to_vec() };
        here.set_queue_discipline("veth0", &limit).unwrap();
        here.bring_up("veth0").unwrap();
        assert_eq!(here.queue_discipline("veth0").unwrap().as_deref(), Some("pfifo"));
        Netlink::open(&far).unwrap().bring_up("veth1").unwrap();
        // Attribute 1 is the target of `fq_codel`, in microseconds. Not every kernel has that discipline.
        match here.set_queue_discipline("veth0", &QueueDiscipline::with_numbers("fq_codel", &[(1, 7_000)])) {
            Ok(()) => assert_eq!(here.queue_discipline("veth0").unwrap().as_deref(), Some("fq_codel")),
            Err(error) => println!("fq_codel is not tried: {error}"),
        }
        let error = here.set_queue_discipline("veth0", &QueueDiscipline::with_numbers("no_such", &[])).unwrap_err();
        assert!(error.to_string().starts_with("veth0: the queue discipline no_such cannot be set: "), "{error}");
        Ok(())
    }

    /// A folder for the files of a program.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("lasthop-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn streams(&self) -> Streams {
            Streams::Files { output: self.0.join("output"), error: self.0.join("error") }
        }

        fn read(&self, file: &str) -> String {
            std::fs::read_to_string(self.0.join(file)).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    macro_rules! all {
        ($($test:ident),* $(,)?) => { &[$((stringify!($test), tests::$test as fn() -> bench::Outcome)),*] };
    }
    bench::run(all![
        kernel_lists_its_connections,
        the_initial_window_is_that_of_the_route,
        a_route_sets_the_mss_and_asks_for_ecn,
        a_host_without_traffic_is_silent,
        a_setting_is_that_of_one_namespace,
        packets_that_nobody_reads_are_counted,
        a_server_of_zeros_answers_curl,
        a_program_has_its_namespace_and_environment_and_ends_with_its_group,
        a_veth_takes_a_queue_discipline,
    ])
}

#[cfg(not(target_os = "linux"))]
fn main() {}
