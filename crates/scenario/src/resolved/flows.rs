//! The flows of the `[[flow]]` tables: one for each matching station and direction.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_registry::{Kind, ParamError};
use lasthop_units::{Bytes, Duration, Ppm};
use lasthop_wifi::phy::frame_size::LLC_SNAP;

use super::nodes::NodeSpec;
use super::place::error;
use super::simulated::as_simulated;
use crate::description::{
    Compat, Description, Direction, Dscp, FlowSection, FlowTable, L4sCategory, QuicSection, TcpSection, TransportWord,
    UdpRate,
};
use crate::glob;
use crate::traffic::{Offer, TrafficKind, trace};

/// The largest payload of a frame without aggregation. [802.11-2020 §9.2.4.7]
const MAX_MSDU: Bytes = Bytes(2304);
/// IPv4 and TCP headers without options. [RFC 791 §3.1; RFC 9293 §3.1]
const IP_AND_TCP_HEADERS: Bytes = Bytes(40);
/// IPv4 and UDP headers. [RFC 791 §3.1; RFC 768]
const IP_AND_UDP_HEADERS: Bytes = Bytes(28);
/// The largest one-way delay to a server.
const FARTHEST: Duration = Duration::from_secs(100);

/// A flow between a station and the server.
#[derive(Clone, Debug)]
pub(crate) struct FlowSpec {
    pub id: String,
    /// The name of its random streams: the id that it would have without a name, so that a name changes no result.
    pub stream: String,
    /// Its place among the flows of the file, which a part of the scenario keeps: queues hash it.
    pub number: u32,
    pub station: NodeId,
    /// Whether its station is without QoS in a BSS that has it.
    pub legacy: bool,
    /// The user priority of its packets with ECT(1), and of all of them with DSCP 45, if it is not by the DSCP.
    pub l4s_priority: Option<u8>,
    pub up: bool,
    pub section: FlowSection,
    /// The keys of `[tcp]` that apply; a flow over QUIC reads none of them.
    pub tcp: TcpSection,
    /// The keys of `[quic]` that apply, for a flow over QUIC.
    pub quic: Option<QuicSection>,
    /// The content of its file, for `traffic = "trace"`.
    pub trace: Option<Arc<[Offer]>>,
}

impl FlowSpec {
    /// The user priority of its packets; frames without QoS are of best effort. [802.11-2020 §10.2.3.2]
    pub fn user_priority(&self) -> u8 {
        match (self.legacy, self.l4s_priority) {
            (true, _) => 0,
            (false, Some(priority)) if self.section.dscp == Dscp::NQB => priority,
            (false, _) => self.section.dscp.user_priority(),
        }
    }

    /// The user priority of its data: of a scalable congestion control, which sends ECT(1), the priority of L4S packets.
    pub fn data_priority(&self) -> u8 {
        let of_l4s = self.l4s_priority.filter(|_| self.sends_ect1());
        of_l4s.unwrap_or_else(|| self.user_priority())
    }

    fn sends_ect1(&self) -> bool {
        self.section.transport == TransportWord::Tcp && self.tcp.config.congestion_control.needs().is_scalable
    }

    /// The name and the validation of its congestion control, if its transport has one.
    pub fn congestion_control(&self) -> Option<(&str, &'static str)> {
        match self.section.transport {
            TransportWord::Tcp => {
                let control = &self.tcp.config.congestion_control;
                Some((control.name(), control.validation()))
            }
            TransportWord::Quic => {
                let control = &self.quic.as_ref()?.congestion_control.0;
                Some((control.name(), control.validation()))
            }
            TransportWord::Udp => None,
        }
    }

    /// The start of the flow under `seed`.
    pub fn starts_at(&self, seed: u64) -> Duration {
        let jitter = self.section.start_jitter.as_nanos() as f64;
        let late = Stream::named(seed, "start", &self.stream).unit() * jitter;
        self.section.start + Duration::from_nanos(late as u64)
    }
}

/// The ids assigned so far.
#[derive(Default)]
struct Ids {
    /// The number of flows with each base.
    numbers: BTreeMap<String, usize>,
    /// The table that uses a name at a station.
    named: BTreeMap<(String, String), usize>,
}

impl Ids {
    /// A name belongs to one table at each station; the same name in another table is an error rather than a second
    /// flow.
    fn claim(&mut self, station: &str, name: Option<&str>, table: usize) -> Result<(), ParamError> {
        let Some(name) = name else { return Ok(()) };
        let first = *self.named.entry((station.to_string(), name.to_string())).or_insert(table);
        if first == table {
            return Ok(());
        }
        let message = (
            format!("{station} already has a flow called \"{name}\", from flow[{first}]"),
            "give this one another name, or no name to have it numbered",
        );
        error(format!("flow[{table}].name"), message)
    }

    /// The id of the next flow of a station and direction, and the id that it would have without a name.
    fn next(&mut self, station: &str, name: Option<&str>, up: bool, both: bool) -> (String, String) {
        let way = if up { "up" } else { "down" };
        let unnamed = self.numbered(format!("{station}.{way}"));
        let id = match name {
            None => unnamed.clone(),
            Some(name) if both => self.numbered(format!("{station}.{name}.{way}")),
            Some(name) => self.numbered(format!("{station}.{name}")),
        };
        (id, unnamed)
    }

    fn numbered(&mut self, base: String) -> String {
        let number = self.numbers.entry(base.clone()).or_insert(0);
        *number += 1;
        if *number == 1 { base } else { format!("{base}.{number}") }
    }
}

/// The IP packet and its LLC/SNAP header must fit an MSDU, which 802.11a/b/g cannot aggregate.
fn check_msdu(tcp: &TcpSection, table: &FlowTable, path: &str) -> Result<(), ParamError> {
    let largest = MAX_MSDU.0 - LLC_SNAP.0;
    let packet = match tcp.config.mss {
        Some(mss) => mss.0 + IP_AND_TCP_HEADERS.0,
        None => tcp.config.packet_size.0,
    };
    if packet <= largest {
        return Ok(());
    }
    let key = if tcp.config.mss.is_some() { "mss" } else { "packet_size" };
    let section = if table.overrides().contains(&key) { path } else { "tcp" };
    let message =
        (format!("an IP packet of {packet} B does not fit a frame of 802.11"), format!("at most {largest} B"));
    error(format!("{section}.{key}"), message)
}

/// The keys of a UDP flow among those of `[tcp]`, and their values.
fn check_udp(tcp: &TcpSection, table: &FlowTable, path: &str) -> Result<(), ParamError> {
    let traffic = &table.section.traffic;
    let own_size = matches!(traffic, TrafficKind::Voip(_) | TrafficKind::Ping(_) | TrafficKind::Trace(_));
    if let Some(key) = table.overrides().into_iter().find(|key| own_size || *key != "packet_size") {
        let flow = if key == "packet_size" { format!("\"{}\"", traffic.name()) } else { "a UDP flow".into() };
        return error(
            format!("{path}.{key}"),
            (Kind::NoEffect(format!("`{key}` has no effect on {flow}")), "remove it"),
        );
    }
    if !own_size && !(29..=65_000).contains(&tcp.config.packet_size.0) {
        return error(format!("{path}.packet_size"), "an IP packet with a UDP header has 29 to 65000 B");
    }
    Ok(())
}

/// Checks the delay beyond the wired link.
fn check_wired_delay(section: &FlowSection, path: &str) -> Result<(), ParamError> {
    let path = format!("{path}.wired_delay");
    if section.wired_delay > FARTHEST {
        return error(
            path,
            (format!("{} is too long for the delay of a wire", section.wired_delay), format!("at most {FARTHEST}")),
        );
    }
    let saturated = section.transport == TransportWord::Udp && section.rate == Some(UdpRate::Saturated);
    if section.wired_delay > Duration::ZERO && saturated && section.direction != Direction::Up {
        return error(
            path,
            ("a saturated source sends whenever the wired link is free, so it is next to it", "remove this key"),
        );
    }
    Ok(())
}

/// Checks the rate at which an application writes: each write takes time to simulate, and each transfer a connection.
fn check_writes(section: &FlowSection, tcp: &TcpSection, path: &str) -> Result<(), ParamError> {
    let Some(UdpRate::Constant(rate)) = section.rate else { return Ok(()) };
    let is_tcp = section.transport == TransportWord::Tcp;
    let write = match section.size {
        Some(size) if matches!(section.traffic, TrafficKind::Poisson(_)) => size,
        _ if is_tcp => Bytes(u64::from(tcp.config.payload_bytes())),
        _ => tcp.config.packet_size,
    };
    let is_transfer = section.size.is_some() && matches!(section.traffic, TrafficKind::Poisson(_));
    let (what, most) = if is_transfer { ("transfers", MOST_TRANSFERS) } else { ("packets", MOST_PACKETS) };
    if rate.as_bps() / 8 / write.0.max(1) < most {
        return Ok(());
    }
    let message =
        (format!("{rate} in {what} of {} B are too many to simulate", write.0), format!("at most {most} each second"));
    error(format!("{path}.rate"), message)
}

/// Limit on the packets that an application writes each second: more than 100 Gbit/s in packets of 1500 B.
const MOST_PACKETS: u64 = 10_000_000;
/// Limit on the transfers that begin each second: 10 Gbit/s in transfers of 125 kB.
const MOST_TRANSFERS: u64 = 10_000;

/// Reads the file of a packet trace, whose packets must fit frames.
fn trace_of(section: &FlowSection, path: &str, folder: &Path) -> Result<Option<Arc<[Offer]>>, ParamError> {
    let TrafficKind::Trace(params) = &section.traffic else { return Ok(None) };
    let path = format!("{path}.traffic.file");
    let offers = match trace::read(&params.file, folder) {
        Ok(offers) => offers,
        Err(message) => return error(path, message),
    };
    let most = MAX_MSDU.0 - LLC_SNAP.0 - IP_AND_UDP_HEADERS.0;
    let large = offers.iter().find(|offer| u64::from(offer.bytes) > most);
    if let Some(offer) = large.filter(|_| section.transport == TransportWord::Udp) {
        let message = (
            format!("a datagram of {} B at {} s does not fit a frame of 802.11", offer.bytes, offer.at.as_secs_f64()),
            format!("at most {most} B"),
        );
        return error(path, message);
    }
    Ok(Some(offers))
}

/// The flow with the exact clocks of ns-3 if `compat` asks for them.
fn clocked(section: FlowSection, description: &Description) -> FlowSection {
    // All BSSs have the same value.
    if !description.bss.0.iter().any(|bss| bss.compat == Compat::Ns3) {
        return section;
    }
    let phase = section.phase.unwrap_or(Duration::ZERO);
    let clock_error = section.clock_error.unwrap_or(Ppm(0.0));
    FlowSection { phase: Some(phase), clock_error: Some(clock_error), ..section }
}

/// The flows of `description`; relative paths in it start at `folder`.
pub(super) fn flows_of(
    description: &Description,
    nodes: &[NodeSpec],
    folder: &Path,
) -> Result<Vec<FlowSpec>, ParamError> {
    let mut flows: Vec<FlowSpec> = Vec::new();
    let mut ids = Ids::default();
    for (index, table) in description.flow.0.iter().enumerate() {
        let path = format!("flow[{index}]");
        let section = &table.section;
        if section.start >= description.duration {
            return error(
                format!("{path}.start"),
                format!("the flow starts at {}, after the end of the run", section.start),
            );
        }
        if section.start_jitter >= description.duration - section.start {
            return error(
                format!("{path}.start_jitter"),
                format!("with up to {} added, the flow may start after the end of the run", section.start_jitter),
            );
        }
        if section.phase.is_some_and(|phase| phase >= description.duration - section.start) {
            let message = "the first packet would come after the end of the run";
            return error(format!("{path}.phase"), (message, "a shorter phase"));
        }
        table.check_overrides(&path)?;
        let tcp = table.tcp(&description.tcp, &path)?;
        let quic = table.quic(description.quic.as_ref(), &path)?;
        if section.transport == TransportWord::Udp {
            check_udp(&tcp, table, &path)?;
        }
        check_wired_delay(section, &path)?;
        check_writes(section, &tcp, &path)?;
        let trace = trace_of(section, &path, folder)?;
        if quic.is_none() {
            check_msdu(&tcp, table, &path)?;
        }
        for (n, pattern) in section.station.0.iter().enumerate() {
            let matching: Vec<usize> = (0..nodes.len())
                .filter(|&node| nodes[node].group.is_some())
                .filter(|&node| glob::matches(pattern, &nodes[node].name))
                .collect();
            if matching.is_empty() {
                let place = if section.station.0.len() > 1 {
                    format!("{path}.station[{n}]")
                } else {
                    format!("{path}.station")
                };
                let names: Vec<&str> = nodes.iter().filter(|n| n.group.is_some()).map(|n| n.name.as_str()).collect();
                let shown: Vec<&str> = names.iter().copied().take(8).collect();
                let more = if names.len() > 8 { ", …" } else { "" };
                let known = names.iter().map(|name| name.to_string()).collect();
                let none = Kind::NoMatch { of: "station".into(), name: pattern.to_string(), known };
                return error(place, (none, format!("there are: {}{more}", shown.join(", "))));
            }
            for node in matching {
                let directions: &[bool] = match section.direction {
                    Direction::Up => &[true],
                    Direction::Down => &[false],
                    Direction::Both => &[true, false],
                };
                let name = section.name.as_deref();
                ids.claim(&nodes[node].name, name, index)?;
                for &up in directions.iter().flat_map(|up| std::iter::repeat_n(up, section.count as usize)) {
                    let both = section.direction == Direction::Both;
                    let (id, stream) = ids.next(&nodes[node].name, name, up, both);
                    let station = NodeId(node as u32);
                    let section = clocked(as_simulated(section), description);
                    let (tcp, quic, trace) = (tcp.clone(), quic.clone(), trace.clone());
                    let legacy = nodes[node].config.legacy.is_some();
                    let l4s_priority = {
                        let of_bss = description.bss.0[nodes[node].config.bss as usize].l4s_category;
                        of_bss.filter(|_| !legacy).map(L4sCategory::user_priority)
                    };
                    let number = flows.len() as u32;
                    flows.push(FlowSpec {
                        id,
                        stream,
                        number,
                        station,
                        legacy,
                        l4s_priority,
                        up,
                        section,
                        tcp,
                        quic,
                        trace,
                    });
                }
            }
        }
    }
    Ok(flows)
}
