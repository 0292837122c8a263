//! A scenario checked as a whole.
//!
//! `agents`: policies and their quantities; `built_in`: the algorithms that some run. `defaults`: keys whose default depends on others. `bss`: BSSs, their PHYs and channels. `nodes`: stations, their
//! places and links. `parts`: BSSs that do not influence one another; `kept`: a value computed once. `flows`: senders,
//! receivers and loads; `simulated`: programs as flows of a simulation, `programs`: messages about them. `space`:
//! places, paths and walls; `knobs`: settings that change during a run, `turned` and `moves`: powers and channels among them; `hearing`: whether all nodes receive each other; `geometry`: messages about that. `radio`:
//! received powers; `interferers`: other transmitters, `interferer_powers`: their powers. `stack`: scenarios for the Wi-Fi stack of a kernel,
//! `roaming`: stations of such that roam, `stack_keys`: the keys that it takes over. `wires`: rates and traces of the wired links.

mod agents;
mod bss;
mod built_in;
mod cautions;
mod code;
mod defaults;
mod drivers;
mod flows;
mod geometry;
mod hearing;
mod interferer_powers;
mod interferers;
mod kept;
mod knobs;
mod losses;
mod moves;
mod nodes;
mod older;
mod parts;
mod place;
mod programs;
mod radio;
mod roaming;
mod simulated;
mod space;
mod stack;
mod stack_keys;
mod today;
mod turned;
mod wires;
mod wording;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lasthop_observe::{Layout, NodeId, Places};
use lasthop_registry::{ParamError, Parameters, Switch, Value, read_table};
use lasthop_units::Duration;
use lasthop_wifi::phy::{ChannelWidth, ModulationClass, Phy, Preamble};
use lasthop_wifi::{ChannelAccess, NodeConfig};

use crate::description::{AggregationTable, Bss, Description, Edca, TransportWord};
use crate::diagnostic::{Diagnostic, Origin};
use crate::document::Document;
use crate::foreign::{Code, Found, Plugins, in_folder, is_named_in, replace_in};
use crate::knob::Change;
use crate::plan::AgentSpec;
pub(crate) use bss::BssSpec;
use bss::bss_of;
pub use defaults::DefaultTaken;
pub(crate) use flows::FlowSpec;
use flows::flows_of;
use interferers::{InterfererSpec, interferers_of};
use kept::Kept;
pub(crate) use nodes::NodeSpec;
use nodes::{DEFAULT_DISTANCE, LinkRateControl, hidden_pairs, links_of, nodes_of};
use place::error;
pub(crate) use roaming::Signals;
use space::{POSITION_INTERVAL, check_space, geometry_keys};
pub(crate) use today::fields_of_today;
pub(crate) use turned::Range;
use turned::Turned;
pub(crate) use wires::{Transmitter, queue_of};
use wires::{WireSpecs, wires_of};
pub(crate) use wording::{alike, named};

/// A scenario that can be run: every default filled in, every key checked.
#[derive(Clone)]
pub struct ResolvedScenario {
    pub(crate) description: Description,
    pub(crate) bss: Vec<BssSpec>,
    pub(crate) nodes: Vec<NodeSpec>,
    pub(crate) flows: Vec<FlowSpec>,
    pub(crate) wires: WireSpecs,
    interferers: Vec<InterfererSpec>,
    links: Vec<LinkRateControl>,
    hidden: Vec<(usize, usize)>,
    defaults: Vec<DefaultTaken>,
    warnings: Vec<Diagnostic>,
    /// The place of its first command.
    command_at: Option<(Origin, String)>,
    pub(crate) code: Vec<Code>,
    /// The folder of its file.
    folder: PathBuf,
    /// Whether each node has a view of its own of the medium, whatever the powers.
    has_own_views: bool,
    /// Whether a caller has brought algorithms.
    has_plugins: bool,
    parts: Kept<Vec<Part>>,
    /// Knobs that are turned while it runs, in the order of times.
    pub(crate) changes: Vec<Change>,
    /// Policies that turn knobs while it runs.
    pub(crate) agents: Vec<AgentSpec>,
    /// Properties of nodes that may change while it runs.
    turned: Turned,
    /// The station of each node beyond those of the file; see [`roaming`](Self::roaming).
    pub(crate) elsewhere: Vec<NodeId>,
}

/// A part of a scenario, and the places of its entities in the whole.
pub(crate) struct Part {
    pub scenario: Arc<ResolvedScenario>,
    pub places: Places,
}

/// Reads a scenario: `text` is the content of the file `file_name`; `settings` are then applied in order. Traces
/// that it names are read from the folder of that file.
///
/// # Errors
/// One message with place and remedy.
pub fn resolve(text: &str, file_name: &str, settings: &[(String, String)]) -> Result<ResolvedScenario, Diagnostic> {
    let mut document = document(text, file_name, settings)?;
    let found = Found::default();
    // The search for code takes longer than all other reading; most scenarios have none.
    if is_named_in(&document.root) {
        replace_in(&mut document.root, None, &found).map_err(|error| document.locate(error))?;
    }
    resolve_document(document, found, file_name)
}

/// The same as [`resolve`], with `plugins` for names of algorithms that lasthop does not have.
///
/// # Errors
/// Those of [`resolve`], and errors of a plug-in about its parameters.
pub fn resolve_with(
    text: &str,
    file_name: &str,
    settings: &[(String, String)],
    plugins: &dyn Plugins,
) -> Result<ResolvedScenario, Diagnostic> {
    let mut document = document(text, file_name, settings)?;
    let found = Found::default();
    replace_in(&mut document.root, Some(plugins), &found).map_err(|error| document.locate(error))?;
    let scenario = resolve_document(document, found, file_name)?;
    Ok(ResolvedScenario { has_plugins: true, ..scenario })
}

fn document<'t>(text: &'t str, file_name: &str, settings: &[(String, String)]) -> Result<Document<'t>, Diagnostic> {
    let mut document = Document::parse(text, file_name)?;
    for (path, value) in settings {
        document.set(path, value)?;
    }
    Ok(document)
}

fn resolve_document(document: Document<'_>, found: Found, file_name: &str) -> Result<ResolvedScenario, Diagnostic> {
    let description = read_table(Description::default(), &document.root, "", &[]);
    let folder = Path::new(file_name).parent().unwrap_or(Path::new(""));
    let scenario = description
        .and_then(|description| ResolvedScenario::new(description, folder))
        .map_err(|error| document.locate(error))?;
    let place = |path: String| (document.origin(&path), path);
    let command_at = simulated::first_command(&scenario.description).map(place);
    let code = found.into_codes(&document, folder);
    Ok(ResolvedScenario { command_at, code, ..scenario })
}

/// Titles are printed unchanged, so they may not control a terminal.
fn check_titles(description: &Description) -> Result<(), ParamError> {
    for (key, text) in [("name", &description.name), ("description", &description.description)] {
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            return error(key, ("it has control characters, which would affect a terminal", "remove them"));
        }
    }
    Ok(())
}

impl ResolvedScenario {
    fn new(mut description: Description, folder: &Path) -> Result<Self, ParamError> {
        let defaults = defaults::fill_in(&mut description);
        let geometry = geometry_keys(&description);
        check_titles(&description)?;
        check_times(&description)?;
        check_space(&description)?;
        let bss = bss_of(&description)?;
        let nodes = nodes_of(&description, &bss)?;
        let flows = flows_of(&description, &nodes, folder)?;
        stack::check(&description, &bss)?;
        let wires = wires_of(&description.wired, folder)?;
        let interferers = interferers_of(&mut description, &bss, folder)?;
        let hidden = hidden_pairs(&description, &nodes)?;
        let links = links_of(&description, &nodes);
        let description = with_defaults_of_the_phy(description, &bss);
        let scenario = ResolvedScenario {
            bss,
            nodes,
            flows,
            wires,
            interferers,
            links,
            hidden,
            defaults,
            warnings: Vec::new(),
            command_at: None,
            code: Vec::new(),
            folder: folder.into(),
            has_own_views: false,
            has_plugins: false,
            parts: Kept::default(),
            changes: Vec::new(),
            agents: Vec::new(),
            turned: Turned::default(),
            elsewhere: Vec::new(),
            description,
        };
        let controls = scenario.rate_controls(0)?;
        let mut warnings = scenario.find_warnings(controls, &geometry);
        let (changes, agents) = (scenario.changes_of()?, scenario.agents_of()?);
        warnings.extend(scenario.warnings_of_sight(&agents));
        let scripted = changes.iter().flat_map(|change| &change.sets).map(|(handle, _)| handle);
        let of_agents = agents.iter().flat_map(|agent| &agent.plan.controls).flat_map(|control| &control.handles);
        let turned = Turned::default().and_by(scripted.chain(of_agents));
        Ok(ResolvedScenario { warnings, changes, agents, turned, ..scenario })
    }

    /// The resolved scenario as JSON: every key with its value.
    pub fn to_json(&self) -> String {
        crate::json::json_of(&self.to_value()).to_string()
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
            if let Ok(Some(quic)) = table.quic(self.description.quic.as_ref(), "") {
                entries.extend(quic.values());
            }
            Value::Table(entries)
        });
        Value::List(tables.collect())
    }

    /// Remarks for a reader of the results of a simulation.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.iter().cloned().chain(self.warnings_of_programs()).collect()
    }

    /// Warnings about the medium, independent of the senders.
    pub(crate) fn warnings_of_medium(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Keys left out in the file whose default depends on other keys.
    pub fn defaults(&self) -> &[DefaultTaken] {
        &self.defaults
    }

    /// The number of APs. Nodes are numbered from the APs on, followed by the stations.
    pub fn access_points(&self) -> usize {
        self.bss.len()
    }

    /// Length of a run in simulated seconds.
    pub fn duration_s(&self) -> f64 {
        self.description.duration.as_secs_f64()
    }

    /// Names of all stations, in the order of the file.
    pub fn stations(&self) -> Vec<&str> {
        self.nodes.iter().filter(|node| node.group.is_some()).map(|node| node.name.as_str()).collect()
    }

    /// The `[sweep]` table: paths, each with its values in the form of `--set`.
    pub fn sweep(&self) -> Vec<(String, Vec<String>)> {
        let text = |v: &Value| if let Value::Text(s) = v { s.clone() } else { in_folder(v, &self.folder).to_string() };
        self.description.sweep.0.iter().map(|(k, v)| (k.clone(), v.iter().map(text).collect())).collect()
    }

    /// The description of the first BSS.
    pub(crate) fn first_bss(&self) -> &Bss {
        &self.description.bss.0[0]
    }

    /// The PHY of the first BSS.
    pub(crate) fn phy(&self) -> &Phy {
        &self.bss[0].config.phy
    }

    /// The PHY of the BSS of a node.
    pub(crate) fn phy_of(&self, node: usize) -> &Phy {
        &self.bss[self.nodes[node].config.bss as usize].config.phy
    }

    /// Nodes at the two ends of a directed link: sender, receiver.
    pub(crate) fn ends(&self, link: usize) -> (usize, usize) {
        let station = self.bss.len() + link / 2;
        let ap = self.nodes[station].config.bss as usize;
        if link.is_multiple_of(2) { (station, ap) } else { (ap, station) }
    }

    /// The AP of a station, which has the number of its BSS.
    pub(crate) fn ap_of(&self, station: NodeId) -> NodeId {
        NodeId(self.nodes[station.index()].config.bss)
    }

    /// The uplink of a station; its downlink is the next link.
    pub(crate) fn uplink(&self, station: usize) -> usize {
        2 * (station - self.bss.len())
    }

    /// Names of all directed links: the sender's and the receiver's.
    pub(crate) fn link_ends(&self, link: usize) -> (&str, &str) {
        let (sender, receiver) = self.ends(link);
        (&self.nodes[sender].name, &self.nodes[receiver].name)
    }

    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// The entities to measure.
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            flows: self.flows.iter().map(|f| (f.transport(), f.up)).collect(),
            nodes: self.nodes.len(),
            aps: self.bss.len(),
            links: self.links(),
            channels: self.channels(),
            several_users: self.several_users(),
            interferers: self.has_interferers(),
        }
    }

    /// The nodes that take part in PPDUs of several users.
    pub(super) fn several_users(&self) -> Vec<NodeId> {
        let takes_part = |node: &NodeConfig| {
            node.multi_user && node.legacy.is_none() && self.bss[node.bss as usize].config.multi_user.is_some()
        };
        (0..).map(NodeId).zip(&self.nodes).filter(|(_, node)| takes_part(&node.config)).map(|(id, _)| id).collect()
    }

    /// The number of channels of all BSSs.
    pub(crate) fn channels(&self) -> usize {
        self.bss.iter().map(|bss| bss.config.channel as usize + 1).max().unwrap_or(1)
    }
}

/// The description with the defaults of the standard filled in, so that a result shows what was simulated.
fn with_defaults_of_the_phy(mut description: Description, specs: &[BssSpec]) -> Description {
    for (bss, spec) in description.bss.0.iter_mut().zip(specs) {
        let phy = &spec.config.phy;
        let has = |class: ModulationClass| phy.modes().iter().any(|m| m.class == class);
        bss.channel = Some(phy.channel());
        bss.channel_width = Some(phy.channel_width().unwrap_or(ChannelWidth::Mhz20));
        if let Some(guard_interval) = phy.guard_interval() {
            bss.guard_interval = Some(guard_interval);
            bss.spatial_streams = Some(phy.spatial_streams());
        }
        bss.basic_rates = Some(phy.basic_modes().iter().map(|&m| phy.mode(m).rate).collect());
        if has(ModulationClass::Dsss) {
            bss.preamble = Some(bss.preamble.unwrap_or(Preamble::Long));
        }
        if has(ModulationClass::ErpOfdm) && has(ModulationClass::Dsss) {
            bss.short_slot = Some(phy.slot() < Duration::from_micros(20));
        }
        bss.aggregation = Some(AggregationTable::of(spec.config.aggregation));
        if let ChannelAccess::Edca(categories) = &spec.stations {
            bss.edca = Some(Edca::of_all(categories));
        }
    }
    let levels = || specs.iter().map(|spec| spec.mid_packet_detection);
    if levels().all(|level| Some(level) == levels().next()) {
        let level = levels().next().flatten();
        description.channel.mid_packet_detection = Some(level.map_or(Switch::Off, Switch::On));
    }
    if description.station.0.iter().any(|group| group.waypoints.is_some()) {
        description.channel.position_interval.get_or_insert(POSITION_INTERVAL);
    }
    for group in &mut description.station.0 {
        if group.position.is_none() && group.waypoints.is_none() {
            group.distance = Some(group.distance.unwrap_or(DEFAULT_DISTANCE));
        }
    }
    description
}

fn check_times(description: &Description) -> Result<(), ParamError> {
    let duration = description.duration.as_secs_f64();
    if !(1e-3..=1e6).contains(&duration) {
        return error("duration", (format!("{duration} s is not a valid duration of a run"), "give 1 ms to 1000000 s"));
    }
    if description.warmup >= description.duration {
        return error(
            "warmup",
            format!("{} is not shorter than the duration of {}", description.warmup, description.duration),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[bss]\nstandard = \"802.11b\"\n[[station]]\ncount = 3\n[[flow]]\n";

    fn complaint(text: &str) -> String {
        resolve(text, "f.toml", &[]).err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_flow_is_made_for_each_match_and_direction() {
        let text = format!("{BASE}station = \"sta*\"\ndirection = \"both\"\n");
        let scenario = resolve(&text, "f.toml", &[]).unwrap();
        let ids: Vec<&str> = scenario.flows.iter().map(|f| f.id.as_str()).collect();
        assert_eq!(ids, ["sta1.up", "sta1.down", "sta2.up", "sta2.down", "sta3.up", "sta3.down"]);
    }

    #[test]
    fn defaults_of_the_standard_are_listed() {
        let json = |text: &str| resolve(text, "f.toml", &[]).unwrap().to_json();
        let ax = json("[bss]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nspatial_streams = 2\n[[station]]\n");
        for part in
            ["\"channel\":36", "\"channel_width\":\"80 MHz\"", "\"spatial_streams\":2", "\"guard_interval\":\"0.8 us\""]
        {
            assert!(ax.contains(part), "{part} in {ax}");
        }
        let a = json("[bss]\nstandard = \"802.11a\"\n[[station]]\n");
        assert!(a.contains("\"channel_width\":\"20 MHz\"") && !a.contains("spatial_streams"), "{a}");
    }

    #[test]
    fn mistakes_name_the_line_the_place_and_the_remedy() {
        assert_eq!(
            complaint(&format!("{BASE}station = \"stb1\"\n")),
            "f.toml:6: flow[0].station: there is no station \"stb1\"; did you mean \"sta1\"? there are: sta1, sta2, sta3"
        );
        assert!(complaint("[bss]\nstandard = \"802.11be\"\n").contains("802.11be is not modelled"));
        assert!(
            complaint("[bss]\nstandard = \"802.11b\"\n[[station]]\n[[station]]\n")
                .contains("the name \"sta\" is also used by station[0]")
        );
        assert!(complaint("duration = \"0 s\"\n").contains("f.toml:1: duration: 0 s is not a valid duration of a run"));
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
