//! A scenario checked as a whole: names, stations, flows, links, and what hears what.

use std::collections::BTreeMap;

use lasthop_observe::NodeId;
use lasthop_registry::{ParamError, Parameters, Value, read_table};
use lasthop_units::{Bytes, Db, Dbm, Duration, Metres};
use lasthop_wifi::phy::frame_size::LLC_SNAP;
use lasthop_wifi::phy::path_loss::Position;
use lasthop_wifi::phy::{ModulationClass, Phy, PhyOptions, Preamble};
use lasthop_wifi::rate_control::{PeerModes, RateControl, RateControlKind};
use lasthop_wifi::{Access, AfterLoss, Channel, Matrix, NodeConfig, NodeQueue, Protection};

use crate::description::{
    Bss, Compat, Description, Direction, FlowSection, FlowTable, RetryLimit, StationGroup, TcpSection, TransportWord,
};
use crate::document::{Document, InputError};

/// How far stations stand from their AP where nothing is said.
const DEFAULT_DISTANCE: Metres = Metres(10.0);

/// The AP's name in results and in `hidden`.
const AP: &str = "ap";

/// The most that a frame without aggregation carries. [802.11-2020 §9.2.4.7]
const MAX_MSDU: Bytes = Bytes(2304);
/// IPv4 and TCP headers without options. [RFC 791 §3.1; RFC 9293 §3.1]
const IP_AND_TCP_HEADERS: Bytes = Bytes(40);

/// A node of the wireless side.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpec {
    pub name: String,
    pub config: NodeConfig,
    position: Position,
    tx_power: Dbm,
}

/// A flow between a station and the server.
#[derive(Clone, Debug)]
pub(crate) struct FlowSpec {
    pub id: String,
    pub station: NodeId,
    pub up: bool,
    pub section: FlowSection,
    pub tcp: TcpSection,
}

/// A rate control of a link, and where in the file it was chosen.
#[derive(Clone, Debug)]
struct LinkRateControl {
    kind: RateControlKind,
    path: String,
}

/// A scenario that can be run: every default filled in, every key checked.
#[derive(Clone)]
pub struct ResolvedScenario {
    pub(crate) description: Description,
    pub(crate) phy: Phy,
    pub(crate) nodes: Vec<NodeSpec>,
    pub(crate) flows: Vec<FlowSpec>,
    links: Vec<LinkRateControl>,
    hidden: Vec<(usize, usize)>,
    warnings: Vec<String>,
}

/// Reads a scenario: `text` as it stands in the file called `file_name`, then `settings`, in order.
///
/// # Errors
/// One message with place and remedy.
pub fn resolve(text: &str, file_name: &str, settings: &[(String, String)]) -> Result<ResolvedScenario, InputError> {
    let mut document = Document::parse(text, file_name)?;
    for (path, value) in settings {
        document.set(path, value)?;
    }
    let description = read_table(Description::default(), &document.root, "", &[]);
    description.and_then(ResolvedScenario::new).map_err(|error| document.locate(error))
}

fn error<T>(path: impl Into<String>, message: impl Into<String>) -> Result<T, ParamError> {
    Err(ParamError::new(path, message))
}

impl ResolvedScenario {
    fn new(description: Description) -> Result<Self, ParamError> {
        check_times(&description)?;
        let bss = the_bss(&description)?;
        let phy = phy_of(bss)?;
        check_bss(bss, &phy)?;
        let nodes = nodes_of(&description, bss)?;
        let flows = flows_of(&description, &nodes)?;
        let hidden = hidden_pairs(&description, &nodes)?;
        let links = links_of(&description, bss);
        let description = with_defaults_of_the_phy(description, &phy);
        let scenario = ResolvedScenario { phy, nodes, flows, links, hidden, warnings: Vec::new(), description };
        scenario.rate_controls()?;
        let warnings = scenario.find_warnings();
        Ok(ResolvedScenario { warnings, ..scenario })
    }

    /// The resolved scenario as JSON: every key with its value.
    pub fn to_json(&self) -> String {
        crate::schema::json_of(&self.to_value()).to_string()
    }

    pub(crate) fn to_value(&self) -> Value {
        Value::Table(
            self.description
                .values()
                .into_iter()
                .map(|(key, value)| if key == "flow" { (key, self.flow_tables()) } else { (key, value) })
                .collect(),
        )
    }

    /// Flow tables with the TCP parameters that apply to them.
    fn flow_tables(&self) -> Value {
        let tables = self.description.flow.0.iter().map(|table| {
            let mut entries = table.section.values();
            if table.section.transport == TransportWord::Tcp
                && let Ok(tcp) = table.tcp(&self.description.tcp, "")
            {
                entries.extend(tcp.entries());
            }
            Value::Table(entries)
        });
        Value::List(tables.collect())
    }

    /// What a reader of the results should know.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Length of a run in simulated seconds.
    pub fn duration_s(&self) -> f64 {
        self.description.duration.as_secs_f64()
    }

    /// The `[sweep]` table: paths, each with its values as `--set` reads them.
    pub fn sweep(&self) -> Vec<(String, Vec<String>)> {
        let text = |v: &Value| if let Value::Text(s) = v { s.clone() } else { v.to_string() };
        self.description.sweep.0.iter().map(|(k, v)| (k.clone(), v.iter().map(text).collect())).collect()
    }

    pub(crate) fn bss(&self) -> &Bss {
        &self.description.bss.0[0]
    }

    /// Names of all directed links: the sender's and the receiver's.
    pub(crate) fn link_ends(&self, link: usize) -> (&str, &str) {
        let station = &self.nodes[link / 2 + 1].name;
        if link.is_multiple_of(2) { (station, AP) } else { (AP, station) }
    }

    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    pub(crate) fn is_fixed_rate(&self, link: usize) -> bool {
        self.links[link].kind.name() == "fixed"
    }

    /// A fresh rate control for each link.
    pub(crate) fn rate_controls(&self) -> Result<Vec<Box<dyn RateControl>>, ParamError> {
        let channel = &self.description.channel;
        let build = |(index, link): (usize, &LinkRateControl)| {
            let (station, ap) = (index / 2 + 1, 0);
            let (tx, rx) = if index.is_multiple_of(2) { (station, ap) } else { (ap, station) };
            let peer = PeerModes {
                phy: &self.phy,
                modes: self.phy.allowed_modes(),
                received: self.received_power(tx, rx),
                noise_figure: channel.noise_figure,
                error_model: &channel.error_model,
            };
            link.kind.build(&peer, &link.path)
        };
        self.links.iter().enumerate().map(build).collect()
    }

    fn received_power(&self, tx: usize, rx: usize) -> Dbm {
        if self.hidden.contains(&(tx.min(rx), tx.max(rx))) {
            return Dbm(f64::NEG_INFINITY);
        }
        let (from, to) = (&self.nodes[tx], &self.nodes[rx]);
        let loss = self.description.channel.path_loss.law().loss(from.position, to.position, self.phy.frequency_hz());
        from.tx_power - loss
    }

    /// Who hears whom: one shared view where nothing distinguishes the nodes, else a matrix.
    pub(crate) fn channel(&self) -> Channel {
        let channel = &self.description.channel;
        let distinct = !self.hidden.is_empty()
            || channel.capture.as_option().is_some()
            || channel.error_model.name() != "none"
            || !self.everybody_hears_everybody();
        if !distinct {
            return Channel::Uniform;
        }
        let sense = channel.cca_preamble.0.min(channel.cca_energy.0);
        Channel::Matrix(Matrix::new(self.nodes.len(), Dbm(sense), |tx, rx| self.received_power(tx.index(), rx.index())))
    }

    fn everybody_hears_everybody(&self) -> bool {
        if self.description.channel.path_loss.name() == "none" {
            // All powers are the transmit powers themselves.
            return self.nodes.iter().all(|n| n.tx_power >= self.weakest_useful());
        }
        let weakest = self.weakest_useful();
        let pairs = |rx: usize| (0..rx).flat_map(move |tx| [(tx, rx), (rx, tx)]);
        (0..self.nodes.len()).flat_map(pairs).all(|(tx, rx)| self.received_power(tx, rx) >= weakest)
    }

    /// The power at which every mode is decoded and carrier sense works.
    fn weakest_useful(&self) -> Dbm {
        let sensitivity = self.phy.modes().iter().map(|m| m.sensitivity.0).fold(f64::NEG_INFINITY, f64::max);
        Dbm(sensitivity.max(self.description.channel.cca_preamble.0))
    }

    pub(crate) fn after_loss(&self) -> AfterLoss {
        match (self.bss().eifs, self.bss().compat) {
            (false, _) => AfterLoss::DifsForAll,
            (true, Compat::Ns3) => AfterLoss::NoEifs,
            (true, Compat::None) => AfterLoss::Standard,
        }
    }

    fn find_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let lowest = self.phy.modes().iter().map(|m| m.sensitivity.0).fold(f64::INFINITY, f64::min);
        for station in 1..self.nodes.len() {
            let power = self.received_power(station, 0).0.min(self.received_power(0, station).0);
            let name = &self.nodes[station].name;
            if power == f64::NEG_INFINITY {
                warnings.push(format!("station {name} is hidden from its access point: nothing passes between them"));
            } else if power < lowest {
                warnings.push(format!(
                    "station {name} and its access point hear one another at {power:.1} dBm, below the sensitivity of every rate"
                ));
            }
        }
        if self.flows.is_empty() {
            warnings.push("there is no [[flow]]: nothing will be sent".into());
        }
        if self.bss().compat == Compat::Ns3 {
            warnings.push(
                "compat = \"ns3\" departs from the standard: bystanders of a collision wait DIFS, not EIFS".into(),
            );
        }
        warnings
    }
}

/// The description with what it left to the standard, so that a result says what was simulated.
fn with_defaults_of_the_phy(mut description: Description, phy: &Phy) -> Description {
    let has = |class: ModulationClass| phy.modes().iter().any(|m| m.class == class);
    let bss = &mut description.bss.0[0];
    bss.channel = Some(phy.channel());
    bss.basic_rates = Some(phy.basic_modes().iter().map(|&m| phy.mode(m).rate).collect());
    if has(ModulationClass::Dsss) {
        bss.preamble = Some(bss.preamble.unwrap_or(Preamble::Long));
    }
    if has(ModulationClass::ErpOfdm) {
        bss.short_slot = Some(phy.slot() < Duration::from_micros(20));
    }
    for group in &mut description.station.0 {
        if group.position.is_none() {
            group.distance = Some(group.distance.unwrap_or(DEFAULT_DISTANCE));
        }
    }
    description
}

fn check_times(description: &Description) -> Result<(), ParamError> {
    let duration = description.duration.as_secs_f64();
    if !(1e-3..=1e6).contains(&duration) {
        return error("duration", format!("{duration} s is no length for a run; from 1 ms to 1000000 s"));
    }
    if description.warmup >= description.duration {
        return error(
            "warmup",
            format!("{} leaves nothing of a duration of {}", description.warmup, description.duration),
        );
    }
    Ok(())
}

fn the_bss(description: &Description) -> Result<&Bss, ParamError> {
    match description.bss.0.as_slice() {
        [] => error("bss", "a scenario needs [bss] with a standard, e.g. standard = \"802.11a\""),
        [bss] => Ok(bss),
        _ => error("bss[1]", "several BSSs on one medium are not there yet; keep one [bss]"),
    }
}

fn phy_of(bss: &Bss) -> Result<Phy, ParamError> {
    let Some(standard) = bss.standard else {
        return error("bss.standard", "which standard? e.g. standard = \"802.11b\", \"802.11a\" or \"802.11g\"");
    };
    let options = PhyOptions {
        standard,
        channel: bss.channel,
        preamble: bss.preamble,
        basic_rates: bss.basic_rates.clone(),
        rates: bss.rates.clone(),
        short_slot: bss.short_slot,
    };
    options.resolve("bss")
}

fn check_bss(bss: &Bss, phy: &Phy) -> Result<(), ParamError> {
    let protectable = phy.allowed_modes().iter().any(|&m| phy.needs_protection(m));
    if bss.protection != Protection::None && !protectable {
        return error("bss.protection", "only OFDM frames of 802.11g are protected; remove this key");
    }
    if let Some(interval) = bss.beacons.as_option()
        && interval.as_secs_f64() < 1e-3
    {
        return error("bss.beacons", "beacons less than 1 ms apart leave no room for anything else");
    }
    if bss.countdown == lasthop_wifi::Countdown::Bianchi && bss.eifs {
        return error(
            "bss.countdown",
            "\"bianchi\" is the chain of the closed form, which knows no EIFS; set eifs = false too",
        );
    }
    Ok(())
}

fn retry_limit(own: Option<RetryLimit>, bss: &Bss) -> Option<u32> {
    own.unwrap_or(bss.retry_limit).0
}

fn nodes_of(description: &Description, bss: &Bss) -> Result<Vec<NodeSpec>, ParamError> {
    let channel = &description.channel;
    let place = |p: [Metres; 2]| Position { x: p[0], y: p[1] };
    let ap = place(bss.ap.position);
    let mut nodes = vec![NodeSpec {
        name: AP.into(),
        config: NodeConfig {
            name: AP.into(),
            queue: NodeQueue::Discipline(bss.ap.queue.clone()),
            retry_limit: retry_limit(bss.ap.retry_limit, bss),
            access: bss.ap.access.0,
        },
        position: ap,
        tx_power: bss.ap.tx_power.unwrap_or(channel.tx_power),
    }];
    let mut claimed: BTreeMap<String, usize> = BTreeMap::new();
    if description.station.0.is_empty() {
        return error("station", "a scenario needs at least one [[station]]");
    }
    for (index, group) in description.station.0.iter().enumerate() {
        if let Some(name) = &group.bss
            && bss.name.as_ref() != Some(name)
        {
            return error(format!("station[{index}].bss"), format!("there is no BSS called \"{name}\""));
        }
        for (member, name) in names_of(group).into_iter().enumerate() {
            if let Some(other) = claimed.insert(name.clone(), index) {
                let message = format!(
                    "the name \"{name}\" is claimed by station[{other}] too; give each group a name of its own"
                );
                return error(format!("station[{index}].name"), message);
            }
            let position = match group.position {
                Some(position) => place(position),
                None => on_circle(ap, group, member),
            };
            nodes.push(NodeSpec {
                name: name.clone(),
                config: NodeConfig {
                    name,
                    queue: group.queue.0.clone(),
                    retry_limit: retry_limit(group.retry_limit, bss),
                    access: Access::Difs,
                },
                position,
                tx_power: group.tx_power.unwrap_or(channel.tx_power),
            });
        }
    }
    if nodes.len() > 20_001 {
        return error("station", format!("{} stations; at most 20000 in all", nodes.len() - 1));
    }
    Ok(nodes)
}

fn names_of(group: &StationGroup) -> Vec<String> {
    match group.count {
        None => vec![group.name.clone()],
        Some(count) => (1..=count).map(|i| format!("{}{i}", group.name)).collect(),
    }
}

fn on_circle(ap: Position, group: &StationGroup, member: usize) -> Position {
    let distance = group.distance.unwrap_or(DEFAULT_DISTANCE).0;
    let angle = 2.0 * std::f64::consts::PI * member as f64 / f64::from(group.count.unwrap_or(1));
    Position { x: Metres(ap.x.0 + distance * libm::cos(angle)), y: Metres(ap.y.0 + distance * libm::sin(angle)) }
}

fn links_of(description: &Description, bss: &Bss) -> Vec<LinkRateControl> {
    let of_bss = (Some(&bss.rate_control), "bss.rate_control".to_string());
    let of_ap = (bss.ap.rate_control.as_ref(), "bss.ap.rate_control".to_string());
    let choose = |candidates: [(Option<&RateControlKind>, String); 4]| {
        let (kind, path) =
            candidates.into_iter().find_map(|(kind, path)| Some((kind?.clone(), path))).expect("the BSS has one");
        LinkRateControl { kind, path }
    };
    let mut links = Vec::new();
    for (index, group) in description.station.0.iter().enumerate() {
        let own = (group.rate_control.as_ref(), format!("station[{index}].rate_control"));
        let down = (group.downlink_rate_control.as_ref(), format!("station[{index}].downlink_rate_control"));
        for _ in 0..group.count.unwrap_or(1) {
            links.push(choose([own.clone(), of_bss.clone(), of_bss.clone(), of_bss.clone()]));
            links.push(choose([down.clone(), own.clone(), of_ap.clone(), of_bss.clone()]));
        }
    }
    links
}

/// Whether `name` matches `pattern`, where `*` stands for any text and `?` for a character.
fn matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
        (['?', rest @ ..], [_, tail @ ..]) => matches(rest, tail),
        ([p, rest @ ..], [n, tail @ ..]) => p == n && matches(rest, tail),
        _ => false,
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
    let section = if table.tcp_keys().contains(&key) { path } else { "tcp" };
    let message = format!("an IP packet of {packet} B does not fit a frame of 802.11; at most {largest} B");
    error(format!("{section}.{key}"), message)
}

fn flows_of(description: &Description, nodes: &[NodeSpec]) -> Result<Vec<FlowSpec>, ParamError> {
    let mut flows: Vec<FlowSpec> = Vec::new();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for (index, table) in description.flow.0.iter().enumerate() {
        let path = format!("flow[{index}]");
        let section = &table.section;
        if section.start >= description.duration {
            return error(
                format!("{path}.start"),
                format!("the flow starts at {}, when the run is over", section.start),
            );
        }
        if section.start_jitter >= description.duration - section.start {
            return error(
                format!("{path}.start_jitter"),
                format!("with up to {} added the flow may start when the run is over", section.start_jitter),
            );
        }
        let tcp = table.tcp(&description.tcp, &path)?;
        if section.transport == TransportWord::Udp {
            if let Some(key) = table.tcp_keys().into_iter().find(|key| *key != "packet_size") {
                return error(format!("{path}.{key}"), format!("`{key}` has no effect on a UDP flow; remove it"));
            }
            if !(29..=65_000).contains(&tcp.config.packet_size.0) {
                return error(format!("{path}.packet_size"), "an IP packet with a UDP header has 29 to 65000 B");
            }
        }
        check_msdu(&tcp, table, &path)?;
        for (n, pattern) in section.station.0.iter().enumerate() {
            let pattern_chars: Vec<char> = pattern.chars().collect();
            let matching: Vec<usize> = (1..nodes.len())
                .filter(|&node| matches(&pattern_chars, &nodes[node].name.chars().collect::<Vec<_>>()))
                .collect();
            if matching.is_empty() {
                let place = if section.station.0.len() > 1 {
                    format!("{path}.station[{n}]")
                } else {
                    format!("{path}.station")
                };
                let names: Vec<&str> = nodes[1..].iter().map(|n| n.name.as_str()).collect();
                let hint = lasthop_registry::suggestion(pattern, names.iter().copied());
                let shown: Vec<&str> = names.iter().copied().take(8).collect();
                let more = if names.len() > 8 { ", …" } else { "" };
                let message = format!("there is no station \"{pattern}\"; {hint}there are: {}{more}", shown.join(", "));
                return error(place, message);
            }
            for node in matching {
                let directions: &[bool] = match section.direction {
                    Direction::Up => &[true],
                    Direction::Down => &[false],
                    Direction::Both => &[true, false],
                };
                for &up in directions {
                    let base = format!("{}.{}", nodes[node].name, if up { "up" } else { "down" });
                    let count = taken.entry(base.clone()).or_insert(0);
                    *count += 1;
                    let id = if *count == 1 { base } else { format!("{base}.{count}") };
                    let station = NodeId(node as u32);
                    flows.push(FlowSpec { id, station, up, section: section.clone(), tcp: tcp.clone() });
                }
            }
        }
    }
    Ok(flows)
}

fn hidden_pairs(description: &Description, nodes: &[NodeSpec]) -> Result<Vec<(usize, usize)>, ParamError> {
    let mut pairs = Vec::new();
    for (index, names) in description.channel.hidden.iter().enumerate() {
        let path = format!("channel.hidden[{index}]");
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(names) {
            let found = nodes.iter().position(|n| n.name == *name);
            *end = match found {
                Some(node) => node,
                None => return error(path, format!("there is no node called \"{name}\"")),
            };
        }
        if ends[0] == ends[1] {
            return error(path, format!("\"{}\" cannot be hidden from itself", names[0]));
        }
        pairs.push((ends[0].min(ends[1]), ends[0].max(ends[1])));
    }
    Ok(pairs)
}

impl ResolvedScenario {
    pub(crate) fn noise_mw(&self) -> f64 {
        let floor =
            lasthop_wifi::phy::noise::noise_floor(self.phy.bandwidth_hz(), self.description.channel.noise_figure);
        floor.to_milliwatts(|x| libm::pow(10.0, x)).0
    }

    pub(crate) fn capture(&self) -> lasthop_registry::Switch<Db> {
        match &self.description.channel.capture {
            lasthop_registry::Switch::Off => lasthop_registry::Switch::Off,
            lasthop_registry::Switch::On(capture) => lasthop_registry::Switch::On(capture.threshold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[bss]\nstandard = \"802.11b\"\n[[station]]\ncount = 3\n[[flow]]\n";

    fn complaint(text: &str) -> String {
        resolve(text, "f.toml", &[]).err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn globs_match_as_in_a_shell() {
        let m = |p: &str, n: &str| matches(&p.chars().collect::<Vec<_>>(), &n.chars().collect::<Vec<_>>());
        assert!(m("*", "sta1") && m("sta?", "sta1") && m("s*1", "sta1") && m("sta1", "sta1"));
        assert!(!m("sta?", "sta10") && !m("up*", "sta1") && !m("", "sta1"));
    }

    #[test]
    fn a_flow_is_made_for_each_match_and_direction() {
        let text = format!("{BASE}station = \"sta*\"\ndirection = \"both\"\n");
        let scenario = resolve(&text, "f.toml", &[]).unwrap();
        let ids: Vec<&str> = scenario.flows.iter().map(|f| f.id.as_str()).collect();
        assert_eq!(ids, ["sta1.up", "sta1.down", "sta2.up", "sta2.down", "sta3.up", "sta3.down"]);
    }

    #[test]
    fn mistakes_name_the_line_the_place_and_the_remedy() {
        assert_eq!(
            complaint(&format!("{BASE}station = \"stb1\"\n")),
            "f.toml:6: flow[0].station: there is no station \"stb1\"; did you mean \"sta1\"? there are: sta1, sta2, sta3"
        );
        assert!(complaint("[bss]\nstandard = \"802.11n\"\n").contains("not there yet"));
        assert!(
            complaint("[bss]\nstandard = \"802.11b\"\n[[station]]\n[[station]]\n")
                .contains("the name \"sta\" is claimed by station[0] too")
        );
        assert!(complaint("duration = \"0 s\"\n").contains("f.toml:1: duration: 0 s is no length for a run"));
        assert!(
            complaint("[bss]\nstandard = \"802.11b\"\n[[station]]\ncount = 1000000000\n").contains("from 1 to 10000")
        );
        assert!(complaint(&format!("{BASE}foo = 1\n")).contains("flow[0].foo: unknown key"));
        assert!(
            complaint(&format!("{BASE}transport = \"udp\"\nrate = \"saturated\"\nsack = true\n")).contains("no effect")
        );
        assert!(complaint("[bss]\nstandard = \"802.11a\"\nrate_control = { kind = \"fixed\", rate = \"11 Mbit/s\" }\n[[station]]\n").contains("bss.rate_control"));
    }
}
