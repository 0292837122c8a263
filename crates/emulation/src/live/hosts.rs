//! Setup of a run: hosts with their devices, and the senders of data between them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use lasthop_observe::NodeId;
use lasthop_scenario::emulation::{EmulationPlan, LiveFlow, LiveNode, Load, RouteMetrics, Site, StackPlan};
use lasthop_units::Duration;

use super::daemons::DEVICE;
use super::options::{Machine, Options};
use super::programs::{Programs, Scheduled};
use super::stack::{ALL_PREFIX, SignalAtStart, Stack};
use super::views::Views;
use crate::clock::monotonic_ns;
use crate::device::{Interface, Tap, Tun};
use crate::diag::Diag;
use crate::error::Result;
use crate::host::program::Streams;
use crate::host::{Namespace, Netlink, set_hosts, sysctl};
use crate::traffic::{HttpServer, Offers, Side, SocketOptions, Traffic, Transfer};

/// The setting for the algorithm of sockets that choose none.
const CONTROL: &str = "net.ipv4.tcp_congestion_control";
const ECN: &str = "net.ipv4.tcp_ecn";
const ECN_OPTION: &str = "net.ipv4.tcp_ecn_option";
/// The network of all addresses of a scenario.
const NETWORK: (std::net::Ipv4Addr, u8) = (std::net::Ipv4Addr::new(10, 0, 0, 0), ALL_PREFIX);
/// Packets that may wait to be read. Kernels send at most as many as ACKs allow before the next read; not every kernel
/// can allocate a ring that is much longer.
const QUEUE: u32 = 10_000;
/// Time from the end of the preparations to time zero.
const AHEAD: Duration = Duration::from_millis(50);
/// The same time if servers of the user must have started by then.
const AHEAD_OF_PROGRAMS: Duration = Duration::from_secs(1);
/// The wire of an access point whose Wi-Fi stack is a kernel's, and the network of its servers.
const WIRE: &str = "eth0";
const SERVERS: (std::net::Ipv4Addr, u8) = (std::net::Ipv4Addr::new(10, 0, 0, 0), 16);
/// An access point answers its stations' questions for the addresses behind it, at once, and names no shorter way.
const AS_ROUTER: [(&str, &str); 3] = [
    ("net.ipv4.conf.wlan0.proxy_arp", "1"),
    ("net.ipv4.neigh.wlan0.proxy_delay", "0"),
    ("net.ipv4.conf.wlan0.send_redirects", "0"),
];
/// A rate that limits nothing; all ones would switch pacing off.
const UNLIMITED: u32 = u32::MAX - 1;
/// In a guest, where waiting costs nothing, time zero is at a multiple of this. The time of the preparations, such as
/// files for a recording, then has no effect on the run.
const ROUND: Duration = Duration::from_secs(10);
/// A limit of mac80211_hwsim as it is.
const WITHOUT_BACKPRESSURE: &str = "mac80211_hwsim of this kernel takes all frames at once, so that mac80211's queues hold none: its \
    FQ-CoDel, airtime fairness and AQL do not act, and a frame waits below them with the rates chosen when it was sent";
/// The default port of programs.
const HTTP: u16 = 80;
/// Variables of this process's environment that programs also see in real time.
const INHERITED: [&str; 6] = ["PATH", "HOME", "LANG", "TERM", "SHELL", "USER"];

/// A station, or the server behind an AP.
pub(super) struct Host {
    pub(super) node: NodeId,
    pub(super) namespace: Namespace,
    pub(super) device: Device,
    /// the kernel's views of flows that send from here
    pub(super) views: Option<Views>,
}

/// The way of packets between a host and the network.
pub(super) enum Device {
    /// all pass through here
    Tun(Tun),
    /// they pass through a radio of its own, and are seen
    Tap(Tap),
}

impl Device {
    pub(super) fn drops(&self) -> Result<u64> {
        match self {
            Device::Tun(tun) => tun.drops(),
            Device::Tap(_) => Ok(0),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Device::Tun(tun) => tun.as_fd(),
            Device::Tap(tap) => tap.as_fd(),
        }
    }
}

/// An access point whose Wi-Fi stack is a kernel's: a router between its radio and a wire.
pub(super) struct AccessPoint {
    namespace: Namespace,
    pub(super) wire: Tun,
}

/// The hosts of a run, and their programs.
pub(super) struct Hosts {
    pub(super) list: Vec<Host>,
    /// access points of a kernel's Wi-Fi stack, in their order
    pub(super) access_points: Vec<AccessPoint>,
    /// the kernel's Wi-Fi stack, if it is not lasthop's own
    pub(super) stack: Option<Stack>,
    pub(super) traffic: Traffic,
    pub(super) programs: Programs,
    /// the owner of each program
    pub(super) owners: Vec<Owner>,
    /// missing or refused features, a sentence each
    pub(super) notes: Vec<String>,
    machine: Machine,
}

/// The owner of a program.
pub(super) struct Owner {
    pub(super) name: String,
    /// true if its end is that of the run
    pub(super) ends_run: bool,
    /// true if a user types its input; its exit status is then that of the last line
    is_typed: bool,
    /// file of its error output
    pub(super) errors: PathBuf,
}

impl Hosts {
    /// Sets up the hosts of all real flows.
    pub(super) fn set_up(plan: &EmulationPlan, options: &Options) -> Result<Hosts> {
        let has_stack = plan.stack.is_some();
        let has_end = |node: &&LiveNode| has_stack || plan.flows.iter().any(|flow| flow.has_end_at(node.node));
        let nodes = || plan.nodes.iter().filter(has_end);
        let mut notes = options.refused.clone();
        let list: Vec<Host> = nodes().map(|node| host(node, plan, &mut notes)).collect::<Result<_>>()?;
        let of_stack = plan.nodes.iter().filter(|node| has_stack && node.ap.is_none());
        let access_points: Vec<AccessPoint> = of_stack.map(access_point).collect::<Result<_>>()?;
        let stack =
            plan.stack.as_ref().map(|stack| stack_of(stack, plan, (&list, &access_points), options)).transpose()?;
        let takes_all = stack.as_ref().is_some_and(|stack| !stack.holds_back());
        notes.extend(takes_all.then(|| WITHOUT_BACKPRESSURE.to_owned()));
        let at: BTreeMap<NodeId, &Namespace> = list.iter().map(|host| (host.node, &host.namespace)).collect();
        let transfers: Vec<Transfer<'_>> = plan.flows.iter().filter_map(|flow| transfer(flow, &at)).collect();
        let mut traffic = Traffic::start(&transfers, &zeros(plan, &at))?;
        traffic.ready()?;
        let (scheduled, owners): (Vec<_>, Vec<_>) =
            plan.flows.iter().flat_map(|flow| scheduled(flow, plan, options, &at)).unzip();
        if !scheduled.is_empty() {
            let stations = nodes().filter(|node| node.ap.is_some());
            let stations = stations.map(|node| (Site::address(node.node), node.name.as_str()));
            set_hosts(&stations.chain([(Site::SERVER, "server")]).collect::<Vec<_>>())?;
        }
        let programs = Programs::start(&scheduled)?;
        Ok(Hosts { list, access_points, stack, traffic, programs, owners, notes, machine: options.machine })
    }

    /// Lets the stations of a kernel's Wi-Fi stack join, if there is one, and gives them their routes, which a device that is
    /// down cannot have.
    pub(super) fn join(&mut self, plan: &EmulationPlan, signal: SignalAtStart<'_>) -> Result<()> {
        let Some(stack) = &mut self.stack else { return Ok(()) };
        for ap in &self.access_points {
            AS_ROUTER.iter().try_for_each(|(name, value)| sysctl::set(&ap.namespace, name, value))?;
        }
        stack.join(signal)?;
        for (host, node) in self.list.iter().zip(&plan.nodes).filter(|(_, node)| node.ap.is_some()) {
            let address = Site::address(node.node);
            Netlink::open(&host.namespace)?.set_route(DEVICE, NETWORK, address, &node.route)?;
        }
        Ok(())
    }

    /// Starts everything at time zero, which is returned in nanoseconds of the monotonic clock.
    pub(super) fn begin(&mut self) -> Result<u64> {
        let ahead = if self.owners.is_empty() { AHEAD } else { AHEAD_OF_PROGRAMS };
        let earliest_ns = monotonic_ns() + ahead.as_nanos();
        let zero_ns = match self.machine {
            Machine::Host => earliest_ns,
            Machine::Guest => earliest_ns.next_multiple_of(ROUND.as_nanos()),
        };
        self.traffic.begin(zero_ns)?;
        self.programs.begin(zero_ns)?;
        Ok(zero_ns)
    }

    /// Returns whether the program whose end is that of the run has ended.
    pub(super) fn is_over(&mut self) -> Result<bool> {
        let Hosts { programs, owners, .. } = self;
        Ok(programs.ended()?.iter().any(|ended| owners[ended.program].ends_run))
    }

    /// Returns whether the machine has refused this.
    pub(super) fn is_refused(&self, what: &str) -> bool {
        self.notes.iter().any(|note| note.contains(what))
    }

    /// Returns whether a user types at a terminal, and may send nothing.
    pub(super) fn has_terminal(&self) -> bool {
        self.owners.iter().any(|owner| owner.is_typed)
    }

    /// Number of packets that kernels have dropped because they were not read.
    pub(super) fn drops(&self) -> Result<u64> {
        let hosts = self.list.iter().map(|host| host.device.drops());
        hosts.chain(self.access_points.iter().map(|ap| ap.wire.drops())).sum()
    }

    /// Programs that have failed, a sentence each.
    pub(super) fn failures(&mut self) -> Result<Vec<String>> {
        let Hosts { programs, owners, .. } = self;
        let failed = programs
            .ended()?
            .iter()
            .filter_map(|ended| Some((&owners[ended.program], ended.failure.as_ref()?)))
            .filter(|(owner, _)| !owner.is_typed);
        Ok(failed.map(|(owner, how)| format!("{} {how}{}", owner.name, owner.last_words())).collect())
    }
}

impl Owner {
    /// The last line of its error output, to follow a sentence.
    fn last_words(&self) -> String {
        let said = fs::read_to_string(&self.errors).unwrap_or_default();
        said.lines().rfind(|line| !line.trim().is_empty()).map_or(String::new(), |line| format!(": {}", line.trim()))
    }
}

fn host(node: &LiveNode, plan: &EmulationPlan, notes: &mut Vec<String>) -> Result<Host> {
    let flows = &plan.flows;
    let namespace = Namespace::new()?;
    let (name, address) = match node.ap {
        Some(_) => ("wlan0", Site::address(node.node)),
        None => ("eth0", Site::SERVER),
    };
    let has_commands = flows.iter().any(|flow| flow.is_command() && flow.has_end_at(node.node));
    let refused = set(&namespace, node)?;
    notes.extend(refused.missing);
    // One for all nodes, which share the kernel.
    notes.extend(refused.plain.filter(|said| !notes.contains(said)));
    // Only commands leave the choice of the algorithm to the namespace.
    notes.extend(refused.control.filter(|_| has_commands));
    if plan.stack.is_some() && node.ap.is_some() {
        let device = Device::Tap(Tap::open(&namespace)?);
        Netlink::open(&namespace)?.bring_up("lo")?;
        let views = Views::new(node.node, Diag::open(&namespace)?, flows);
        return Ok(Host { node: node.node, namespace, device, views });
    }
    let setup = Interface { name: name.into(), address, prefix: NETWORK.1, mtu: node.mtu, queue: QUEUE };
    let tun = Tun::open(&namespace, &setup)?;
    Netlink::open(&namespace)?.set_route(name, NETWORK, address, &node.route)?;
    let views = Views::new(node.node, Diag::open(&namespace)?, flows);
    let device = Device::Tun(tun);
    Ok(Host { node: node.node, namespace, device, views })
}

/// The router of an access point whose Wi-Fi stack is a kernel's; its radio comes later.
fn access_point(node: &LiveNode) -> Result<AccessPoint> {
    let namespace = Namespace::new()?;
    let address = Site::address(node.node);
    let setup = Interface { name: WIRE.into(), address, prefix: 32, mtu: node.mtu, queue: QUEUE };
    let wire = Tun::open(&namespace, &setup)?;
    Netlink::open(&namespace)?.set_route(WIRE, SERVERS, address, &RouteMetrics::default())?;
    sysctl::set(&namespace, "net.ipv4.ip_forward", "1")?;
    Ok(AccessPoint { namespace, wire })
}

/// The Wi-Fi stack of all nodes, with their radios in their namespaces.
fn stack_of(
    stack: &StackPlan,
    plan: &EmulationPlan,
    (list, access_points): (&[Host], &[AccessPoint]),
    options: &Options,
) -> Result<Stack> {
    let stations = list.iter().filter(|host| host.node.index() >= access_points.len());
    let namespaces: Vec<&Namespace> =
        access_points.iter().map(|ap| &ap.namespace).chain(stations.map(|host| &host.namespace)).collect();
    Stack::set_up(stack, &plan.nodes, &namespaces, &options.files, &environment(options.machine))
}

/// Settings that a kernel does not follow.
struct Refused {
    /// names of sysctls that it does not have
    missing: Vec<String>,
    /// sentence about accurate ECN
    plain: Option<String>,
    /// sentence about the algorithm of sockets that choose none
    control: Option<String>,
}

/// Sets a kernel's settings for all of a namespace.
fn set(namespace: &Namespace, node: &LiveNode) -> Result<Refused> {
    let pairs = || node.sysctls.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let (control, others): (Vec<_>, Vec<_>) = pairs().partition(|(name, _)| *name == CONTROL);
    let (ecn, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|(name, _)| *name == ECN);
    let missing = sysctl::set_all(namespace, &others)?;
    let plain = match ecn.first() {
        Some((_, value)) => set_ecn(namespace, value)?,
        None => None,
    };
    let missing = missing
        .into_iter()
        // Without the one there is no place for the other.
        .filter(|name| !(plain.is_some() && name == ECN_OPTION))
        .map(|name| format!("{}: this kernel has no {name}, and does as it does", node.name))
        .collect();
    // An algorithm that the machine restricts may still be chosen for a socket.
    let refused = control.into_iter().find_map(|(name, value)| sysctl::set(namespace, name, value).err());
    let control = refused.map(|error| format!("{}: {error}: net.ipv4.tcp_allowed_congestion_control of the machine does not list it; programs that choose none have the machine's", node.name));
    Ok(Refused { missing, plain, control })
}

/// Sets `tcp_ecn`. A kernel before Linux 6.18, which cannot count marks, echoes them; the sentence says so.
fn set_ecn(namespace: &Namespace, value: &str) -> Result<Option<String>> {
    let plain = match value {
        "3" | "4" => "1",
        "5" => "2",
        _ => return sysctl::set(namespace, ECN, value).map(|()| None),
    };
    match sysctl::set(namespace, ECN, value) {
        Err(error) if error.cause().is_some_and(|cause| cause.kind() == ErrorKind::InvalidInput) => {
            sysctl::set(namespace, ECN, plain)?;
            Ok(Some(format!(
                "this kernel has no accurate ECN, as Linux has since 6.18: {ECN} = {plain} stands for {value}"
            )))
        }
        answer => answer.map(|()| None),
    }
}

/// The part of a flow that the emulator's own sender and sink carry, if it is a bulk flow.
fn transfer<'a>(flow: &LiveFlow, at: &BTreeMap<NodeId, &'a Namespace>) -> Option<Transfer<'a>> {
    let Load::Bulk { size, repeat, rate } = flow.load else { return None };
    let tcp = &flow.tcp;
    Some(Transfer {
        name: flow.id.clone(),
        sender: if flow.up { Side::Station } else { Side::Server },
        station: at[&flow.station],
        server: at[&flow.ap],
        station_address: Site::address(flow.station),
        server_address: Site::SERVER,
        server_port: flow.port,
        station_ports: Site::STATION_PORTS,
        size,
        repeat,
        start: flow.start,
        rate: rate.map(|(bytes, interval)| Offers { bytes, interval }),
        socket: SocketOptions {
            window_clamp: tcp.receive_window,
            pacing_rate: tcp.paced.then_some(UNLIMITED),
            user_timeout: tcp.user_timeout,
            ..socket_of(flow)
        },
    })
}

/// The settings of all sockets of a flow.
fn socket_of(flow: &LiveFlow) -> SocketOptions {
    SocketOptions {
        congestion_control: Some(flow.tcp.congestion_control.clone()),
        mss: flow.tcp.max_segment,
        tos: flow.dscp << 2,
        ..SocketOptions::default()
    }
}

/// Servers of zeros behind each AP: at the ports of flows that fetch, and at that of HTTP.
fn zeros<'a>(plan: &EmulationPlan, at: &BTreeMap<NodeId, &'a Namespace>) -> Vec<HttpServer<'a>> {
    let server = |port: u16, flow: &LiveFlow| HttpServer {
        namespace: at[&flow.ap],
        address: Site::SERVER,
        port,
        socket: socket_of(flow),
    };
    let fetching = plan.flows.iter().filter(|flow| matches!(flow.load, Load::Curl { .. }));
    let of_flows = fetching.map(|flow| server(flow.port, flow));
    let with_programs = plan.flows.iter().filter(|flow| flow.is_command());
    let by_ap: BTreeMap<NodeId, &LiveFlow> = with_programs.map(|flow| (flow.ap, flow)).collect();
    of_flows.chain(by_ap.into_values().map(|flow| server(HTTP, flow))).collect()
}

/// The programs of a flow, each with its owner.
fn scheduled<'a>(
    flow: &LiveFlow,
    plan: &EmulationPlan,
    options: &Options,
    at: &BTreeMap<NodeId, &'a Namespace>,
) -> Vec<(Scheduled<'a>, Owner)> {
    let programs = flow.programs(plan.duration);
    let ends_run = options.ends_with.as_deref() == Some(&*flow.id);
    let one = |end: &str, words: Vec<String>, node: NodeId, start: Option<Duration>| {
        let file = |what: &str| options.files.join(format!("{}.{end}.{what}", flow.id));
        let ends_run = ends_run && start.is_some();
        let (output, error) = (file("out"), file("err"));
        let is_typed = ends_run && options.terminal;
        let name = format!("the {end} of {}", flow.id);
        let owner = Owner { name, ends_run, is_typed, errors: error.clone() };
        let streams = if is_typed { Streams::Terminal } else { Streams::Files { output, error } };
        let environment = environment(options.machine);
        (Scheduled { name: owner.name.clone(), words, namespace: at[&node], start, environment, streams }, owner)
    };
    let server = programs.server.map(|words| one("server", words, flow.ap, None));
    let client = programs.client.map(|words| one("client", words, flow.station, Some(flow.start)));
    server.into_iter().chain(client).collect()
}

/// The environment of programs: in a guest the same each time.
fn environment(machine: Machine) -> Vec<(OsString, OsString)> {
    let fixed = [
        ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        ("HOME", "/"),
        ("LANG", "C.UTF-8"),
        ("TMPDIR", "/run"),
    ];
    match machine {
        Machine::Guest => fixed.map(|(name, value)| (name.into(), value.into())).to_vec(),
        Machine::Host => INHERITED.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect(),
    }
}
