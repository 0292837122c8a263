//! `[tcp]` and `[[flow]]`. A flow may override any key of `[tcp]`, or of `[quic]`.

use lasthop_quic::StackControl;
use lasthop_registry::{
    Field, Kind, ParamError, Parameter, Parameters, Shape, Value, Word, not_a_table, params, read_table, refuse,
    unknown_key, words,
};
use lasthop_tcp::{Config, Profile};
use lasthop_units::{Bytes, DataRate, Duration, Ppm};

use super::quic::QuicSection;
use super::quic_control::QuicControl;
use super::{Dscp, application};
use crate::application::ApplicationKind;
use crate::traffic::TrafficKind;

words! {
    /// The direction of a flow.
    pub(crate) enum Direction {
        /// from the station to the server
        Up = "up",
        /// from the server to the station
        Down = "down",
        /// two flows
        Both = "both",
    }
}

words! {
    /// The transport of a flow.
    pub(crate) enum TransportWord {
        /// reliable
        Tcp = "tcp",
        /// not
        Udp = "udp",
        /// reliable, over UDP
        Quic = "quic",
    }
}

/// A name, a glob or a list of these.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Names(pub Vec<Word>);

impl Parameter for Names {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Word::shape(), Vec::<Word>::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::List(_) => Vec::parse(value, path).map(Names),
            _ => Word::parse(value, path).map(|name| Names(vec![name])),
        }
    }
    fn to_value(&self) -> Option<Value> {
        if let [one] = self.0.as_slice() { one.to_value() } else { self.0.to_value() }
    }
}

/// The rate at which an application offers data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum UdpRate {
    /// there is always something to send
    Saturated,
    /// packets of equal size at equal intervals
    Constant(DataRate),
}

impl Parameter for UdpRate {
    fn shape() -> Shape {
        Shape::AnyOf(vec![DataRate::shape(), Shape::Words(vec!["saturated".into()])])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        if matches!(value, Value::Text(word) if word == "saturated") {
            return Ok(UdpRate::Saturated);
        }
        let rate = DataRate::parse(value, path).map_err(|error| error.or(", or \"saturated\""))?;
        if rate < DataRate::from_bps(100) || rate > DataRate::from_bps(100_000_000_000) {
            return Err(ParamError::new(
                path,
                Kind::OutOfRange { found: rate.to_string(), allowed: "from 100 bit/s to 100 Gbit/s".into() },
            ));
        }
        Ok(UdpRate::Constant(rate))
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            UdpRate::Saturated => Some(Value::text("saturated")),
            UdpRate::Constant(rate) => rate.to_value(),
        }
    }
}

params! {
    /// Keys of `[[flow]]` without the keys of transports.
    pub(crate) struct FlowSection {
        /// Name of the flow, in letters, digits, - and _: results call it STATION.NAME, with direction "both"
        /// STATION.NAME.up and STATION.NAME.down; without a name STATION.up or STATION.down.
        pub name: Option<Word> = None,
        /// The station at one end: a name, a glob such as "up*", or a list; one flow for each match.
        pub station: Names = Names(vec!["*".into()]),
        /// From the station ("up"), to it ("down"), or both (two flows).
        pub direction: Direction = Direction::Up,
        /// Number of such flows for each station and direction.
        pub count: u32 = 1,
        /// "tcp", "udp" or "quic"; default: udp for "voip" and "ping", else tcp.
        pub transport: TransportWord = TransportWord::Tcp,
        /// Bytes to transfer; without it the flow lasts to the end.
        pub size: Option<Bytes> = None,
        /// Number of such transfers, one after the other, each over a connection of its own.
        pub repeat: u32 = 1,
        /// Start of the flow.
        pub start: Duration = Duration::ZERO,
        /// Upper bound of a random time added to the start. Without it, flows that start at the same instant are served
        /// in the order of the file.
        pub start_jitter: Duration = Duration::ZERO,
        /// Time from the start to the first packet of a source that sends at equal intervals; default: drawn from all of
        /// an interval; with compat = "ns3": "0 s".
        pub phase: Option<Duration> = None,
        /// Error of the clock of a source that sends at equal intervals: its intervals are longer by this part; default:
        /// drawn between -20 and 20 ppm; with compat = "ns3": "0 ppm".
        pub clock_error: Option<Ppm> = None,
        /// Rate at which the application offers packets, at most 10 million per second, or begins transfers, at most
        /// 10000; UDP: or "saturated"; TCP without it: as fast as possible.
        pub rate: Option<UdpRate> = None,
        /// Differentiated services code point of both directions: a name such as "EF", or a number; 802.11n and later
        /// give it an access category. [RFC 8325]
        pub dscp: Dscp = Dscp::DEFAULT,
        /// One-way delay between the wired link and this flow's server, in addition to that of [wired].
        pub wired_delay: Duration = Duration::ZERO,
        /// Traffic of the application.
        pub traffic: TrafficKind = TrafficKind::Bulk(crate::traffic::bulk::Params::default()),
        /// Program that carries the flow under `lasthop emulate`; without it, bulk data over TCP goes through sockets
        /// of two kernels; "simulated" prevents that. A simulation starts no program.
        pub application: Option<ApplicationKind> = None,
    }
    check |this, path| {
        check_name(this, path)?;
        application::check(this, path)
    }
}

impl FlowSection {
    /// Whether its application sends at equal intervals.
    pub(crate) fn is_of_constant_rate(&self) -> bool {
        self.traffic.is_of_constant_rate(matches!(self.rate, Some(UdpRate::Constant(_))))
    }
}

/// Dots separate the names of an id, and no name may equal the default of a flow without one.
fn check_name(flow: &FlowSection, path: &str) -> Result<(), ParamError> {
    let Some(name) = &flow.name else { return Ok(()) };
    let path = format!("{path}.name");
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') {
        return Err(ParamError::new(path, (format!("\"{name}\" cannot be a name"), "use letters, digits, - and _")));
    }
    if [Direction::Up, Direction::Down].iter().any(|direction| **name == *direction.word()) {
        let message = (format!("\"{name}\" is what flows without a name are called"), "choose another");
        return Err(ParamError::new(path, message));
    }
    Ok(())
}

/// `[tcp]` of the file: its profile decides the defaults.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TcpSection {
    pub(crate) profile: Profile,
    pub(crate) config: Config,
}

impl Default for TcpSection {
    fn default() -> Self {
        TcpSection { profile: Profile::Linux, config: Profile::Linux.config() }
    }
}

fn profile_field() -> Field {
    Field {
        name: "profile",
        help: "Named set of defaults for all keys below; `lasthop show tcp.profile.NAME` lists them.".into(),
        shape: Profile::shape(),
        default: Profile::Linux.to_value().map(|v| v.to_string()),
    }
}

impl TcpSection {
    /// Reads `table` over `base`, or over its own profile if it names one.
    fn read(base: &TcpSection, table: &Value, path: &str) -> Result<TcpSection, ParamError> {
        let (profile, config) = match table.get("profile") {
            Some(word) => {
                let profile = Profile::parse(word, &format!("{path}.profile"))?;
                (profile, profile.config())
            }
            None => (base.profile, base.config.clone()),
        };
        if let Some(control) = table.get("congestion_control") {
            refuse_control_of_stack(control, path)?;
        }
        let own_defaults = |(key, value): &(String, Value)| match key.as_str() {
            "congestion_control" => (key.clone(), profile.with_own_defaults(value)),
            "receive_window" => (key.clone(), profile.with_own_buffer(value)),
            _ => (key.clone(), value.clone()),
        };
        let table = match table {
            Value::Table(entries) => Value::Table(entries.iter().map(own_defaults).collect()),
            other => other.clone(),
        };
        Ok(TcpSection { profile, config: Config::read(config, &table, path, &["profile"])? })
    }

    pub(crate) fn entries(&self) -> Vec<(String, Value)> {
        // A result names the version, so that it says later what it was made with.
        let profile = self.profile.concrete().to_value().map(|v| ("profile".to_string(), v));
        profile.into_iter().chain(self.config.values()).collect()
    }
}

/// The keys of `[tcp]`, with the defaults of the usual profile.
fn tcp_fields() -> impl Iterator<Item = Field> {
    let usual = Profile::Linux.config().values();
    let of_profile = move |field: Field| {
        let own = usual.iter().find(|(key, _)| key == field.name);
        Field { default: own.map(|(_, value)| value.to_string()).or(field.default.clone()), ..field }
    };
    std::iter::once(profile_field()).chain(Config::fields().into_iter().map(of_profile))
}

impl Parameter for TcpSection {
    fn shape() -> Shape {
        Shape::Table(tcp_fields().collect())
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        TcpSection::read(&TcpSection::default(), value, path)
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::Table(self.entries()))
    }
}

/// A `[[flow]]` table: its own keys, and overrides of `[tcp]` or `[quic]` that are read once that is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlowTable {
    pub(crate) section: FlowSection,
    overrides: Value,
}

impl FlowTable {
    /// The TCP of this flow, over the defaults of `[tcp]`.
    pub(crate) fn tcp(&self, defaults: &TcpSection, path: &str) -> Result<TcpSection, ParamError> {
        match self.section.transport {
            TransportWord::Tcp | TransportWord::Udp => TcpSection::read(defaults, &self.overrides, path),
            TransportWord::Quic => Ok(defaults.clone()),
        }
    }

    /// The QUIC of this flow, over the defaults of `[quic]`, if it is its transport.
    pub(crate) fn quic(&self, defaults: Option<&QuicSection>, path: &str) -> Result<Option<QuicSection>, ParamError> {
        if self.section.transport != TransportWord::Quic {
            return Ok(None);
        }
        if matches!(self.section.traffic, TrafficKind::Video(_)) && self.overrides().contains(&"streams") {
            let message =
                (Kind::NoEffect("`streams` has no effect on a film, one segment at a time".into()), "remove it");
            return refuse(path, "streams", message);
        }
        let defaults = defaults.cloned().unwrap_or_default();
        read_table(defaults, &self.overrides, path, &[]).map(Some)
    }

    /// Keys of its transport that this table sets.
    pub(crate) fn overrides(&self) -> Vec<&str> {
        match &self.overrides {
            Value::Table(entries) => entries.iter().map(|(k, _)| k.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// Refuses keys of `[tcp]` on a flow over QUIC, and keys of `[quic]` on others.
    pub(crate) fn check_overrides(&self, path: &str) -> Result<(), ParamError> {
        let transport = self.section.transport;
        let fits = |key: &&str| match transport {
            TransportWord::Quic => QuicSection::NAMES.contains(key),
            TransportWord::Tcp | TransportWord::Udp => is_of_tcp(key),
        };
        match self.overrides().into_iter().find(|key| !fits(key)) {
            None => Ok(()),
            Some(key) => {
                let other = if is_of_tcp(key) { "tcp" } else { "quic" };
                let what =
                    format!("`{key}` is a key of [{other}] and has no effect on a flow over {}", transport.word());
                refuse(path, key, (Kind::NoEffect(what), "remove it"))
            }
        }
    }
}

/// Refuses a congestion control of the QUIC stack's own.
fn refuse_control_of_stack(control: &Value, path: &str) -> Result<(), ParamError> {
    match control.get("kind").unwrap_or(control) {
        Value::Text(name) if StackControl::REGISTRY.find(name).is_ok() => {
            let what = format!("\"{name}\" is a part of the QUIC stack, which TCP does not have");
            refuse(path, "congestion_control", (Kind::NotAllowed(what), "transport = \"quic\""))
        }
        _ => Ok(()),
    }
}

/// A key of `[tcp]` that a flow over QUIC has too takes the values of both.
fn of_any_transport(field: Field) -> Field {
    match field.name {
        "congestion_control" => Field { shape: QuicControl::shape(), ..field },
        _ => field,
    }
}

/// Whether a flow over TCP may override this key.
fn is_of_tcp(key: &str) -> bool {
    key == "profile" || Config::NAMES.contains(&key)
}

/// The transport of a flow with these keys where `transport` is not among them.
fn usual_transport(keys: &[(String, Value)]) -> TransportWord {
    let traffic = keys.iter().find(|(key, _)| key == "traffic").map(|(_, value)| value);
    match traffic.and_then(|value| value.get("kind").or(Some(value))) {
        Some(Value::Text(kind)) => application::usual_transport(kind),
        _ => TransportWord::Tcp,
    }
}

impl Parameter for FlowTable {
    fn shape() -> Shape {
        let of_quic = QuicSection::fields().into_iter().filter(|field| !is_of_tcp(field.name));
        let of_tcp = tcp_fields().map(of_any_transport);
        Shape::Table(FlowSection::fields().into_iter().chain(of_tcp).chain(of_quic).collect())
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let Value::Table(entries) = value else {
            return Err(ParamError::new(path, not_a_table(value)));
        };
        let (own, quic) = (FlowSection::NAMES, QuicSection::NAMES);
        let is_of_transport = |key: &str| is_of_tcp(key) || quic.contains(&key);
        if let Some((key, _)) = entries.iter().find(|(k, _)| !own.contains(&k.as_str()) && !is_of_transport(k)) {
            let known = own.iter().chain(Config::NAMES).chain(quic).map(|key| key.to_string()).collect();
            let mut fault = unknown_key(key, &Value::Bool(true), known);
            if fault.kind.is_about_key() {
                fault = fault.with_remedy(format!("one of: {}, or any key of [tcp] or [quic]", own.join(", ")));
            }
            return refuse(path, key, fault);
        }
        let (overrides, own): (Vec<_>, Vec<_>) = entries.iter().cloned().partition(|(k, _)| is_of_transport(k));
        let usual = FlowSection { transport: usual_transport(&own), ..FlowSection::default() };
        let section = read_table(usual, &Value::Table(own), path, &[])?;
        Ok(FlowTable { section, overrides: Value::Table(overrides) })
    }
    fn to_value(&self) -> Option<Value> {
        let mut entries = self.section.values();
        if let Value::Table(overrides) = &self.overrides {
            entries.extend(overrides.iter().cloned());
        }
        Some(Value::Table(entries))
    }
}
