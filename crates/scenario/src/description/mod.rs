//! The keys of a scenario file: one struct per section, with fields whose comments are the manual.

mod agent;
mod application;
mod bss;
mod change;
mod channel;
mod driver;
mod dscp;
mod emulation;
mod flow;
mod interferer;
mod multi_user;
mod one_or_many;
pub(crate) mod paths;
mod quic;
mod quic_control;
mod station;
mod wall;
mod waypoint;
mod wired;

use lasthop_registry::{Parameter, Word, params};
use lasthop_units::Duration;

pub(crate) use agent::{AgentSection, AgentSections};
pub(crate) use bss::{AccessChoice, AggregationTable, Ap, Bss, Category, Compat, Edca, L4sCategory, RetryLimit};
pub(crate) use change::Changes;
pub(crate) use channel::ChannelSection;
pub(crate) use driver::{DrivenNode, DriverChoice, NodeDriver};
pub(crate) use dscp::Dscp;
pub(crate) use emulation::EmulationSection;
pub use emulation::{KernelChoice, StackSecurity, TimeKind, WifiStack};
pub(crate) use flow::{Direction, FlowSection, FlowTable, TcpSection, TransportWord, UdpRate};
pub(crate) use interferer::{InterfererKind, InterfererSection, InterfererSections};
pub(crate) use multi_user::{MuEdcaTable, MultiUserChoice, MultiUserTable};
pub(crate) use one_or_many::OneOrMany;
pub(crate) use quic::QuicSection;
pub(crate) use station::{NodeQueue, StationGroup, StationQueue};
pub(crate) use wall::WallSection;
pub(crate) use waypoint::Waypoint;
pub(crate) use wired::{WireRate, Wired};

/// An entry of `[sweep]`: values to vary, checked when they are applied.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Sweep(pub Vec<(String, Vec<lasthop_registry::Value>)>);

impl Parameter for Sweep {
    fn shape() -> lasthop_registry::Shape {
        lasthop_registry::Shape::Table(Vec::new())
    }
    fn parse(value: &lasthop_registry::Value, path: &str) -> Result<Self, lasthop_registry::ParamError> {
        use lasthop_registry::{ParamError, Value};
        let Value::Table(entries) = value else {
            return Err(ParamError::new(path, lasthop_registry::not_a_table(value)));
        };
        let axis = |(key, value): &(String, Value)| match value {
            Value::List(values) if !values.is_empty() => Ok((key.clone(), values.clone())),
            _ => Err(ParamError::new(
                format!("{path}.{key}"),
                "a list of values to sweep over is needed, e.g. [1, 2, 4], under a quoted path like \"station.0.count\"",
            )),
        };
        entries.iter().map(axis).collect::<Result<_, _>>().map(Sweep)
    }
    fn to_value(&self) -> Option<lasthop_registry::Value> {
        use lasthop_registry::Value;
        let entries: Vec<_> = self.0.iter().map(|(k, v)| (k.clone(), Value::List(v.clone()))).collect();
        (!entries.is_empty()).then_some(Value::Table(entries))
    }
}

params! {
    /// A scenario.
    pub(crate) struct Description {
        /// Name of the scenario, for titles.
        pub name: Word = Word::default(),
        /// Description in one sentence.
        pub description: Word = Word::default(),
        /// Simulated time of a run.
        pub duration: Duration = Duration::from_secs(60),
        /// Summaries cover the time from here to the end.
        pub warmup: Duration = Duration::ZERO,
        /// Propagation between antennas, and thresholds of receivers.
        pub channel: ChannelSection = ChannelSection::default(),
        /// The basic service set: standard, rates, access point.
        pub bss: OneOrMany<Bss> = OneOrMany(Vec::new()),
        /// Groups of stations.
        pub station: OneOrMany<StationGroup> = OneOrMany(Vec::new()),
        /// Walls, for path_loss = "multi_wall".
        pub wall: OneOrMany<WallSection> = OneOrMany(Vec::new()),
        /// Transmitters that are not of 802.11.
        pub interferer: InterfererSections = InterfererSections::default(),
        /// The wired link between access point and server.
        pub wired: Wired = Wired::default(),
        /// Defaults for every TCP flow.
        pub tcp: TcpSection = TcpSection::default(),
        /// Defaults for every QUIC flow.
        pub quic: Option<QuicSection> = None,
        /// Flows between stations and the server.
        pub flow: OneOrMany<FlowTable> = OneOrMany(Vec::new()),
        /// Settings that change while the simulation runs.
        pub change: Changes = Changes::default(),
        /// Policies that turn knobs while the simulation runs.
        pub agent: AgentSections = AgentSections::default(),
        /// How `lasthop emulate` runs the scenario on kernels.
        pub emulation: Option<EmulationSection> = None,
        /// Settings that `lasthop sweep` varies: paths and lists of values.
        pub sweep: Sweep = Sweep::default(),
    }
}
