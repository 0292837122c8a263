//! The scenario of a recording, and the endpoint that it asks for.

use lasthop_registry::Switch;
use lasthop_tcp::congestion_control::{Algorithm, newreno};
use lasthop_tcp::{Config, EcnUse, Profile};
use lasthop_units::{Bytes, Duration};
use serde_json::{Map, Value};

/// What a recording was made on.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// RTT of the empty path
    pub rtt: Duration,
    /// time that the bottleneck takes for a segment
    pub gap: Duration,
    /// payload of a segment in bytes
    pub mss: u64,
    /// segments written at the start
    pub segments: u64,
    /// window that the receiver offers, in bytes
    pub window: u64,
    /// when the window changes, and to what
    pub window_script: Vec<(f64, u64)>,
    /// an ACK for so many segments
    pub delack: u64,
    /// transmissions that are lost: segment, and the number of its transmission
    pub drop: Vec<(u64, u64)>,
    /// transmissions that the path marks
    pub mark: Vec<(u64, u64)>,
    /// transmissions that take so much longer after the bottleneck
    pub extra_delay: Vec<(u64, u64, Duration)>,
    /// whether the receiver answers segments without payload
    pub answer_probes: bool,
    /// the kernel listened, so that the ACK that opens the connection has the scaled window
    pub listens: bool,
    /// when the recording ends, in ms
    pub stop_ms: Option<f64>,
    /// whether timestamps are on
    pub timestamps: bool,
    /// whether ECN is on
    pub ecn: bool,
    /// what a replay does not know: why it is skipped
    pub unknown: Vec<String>,
    /// whether selective acknowledgements are on
    pub sack: bool,
    control: String,
    sysctl: Map<String, Value>,
}

const KEYS: [&str; 21] = [
    "rtt_ms",
    "gap_ms",
    "mss",
    "cc",
    "sack",
    "ts",
    "ecn",
    "delack",
    "window",
    "segments",
    "desc",
    "drop",
    "mark",
    "extra_delay_ms",
    "stop_ms",
    "sysctl",
    "window_script",
    "drop_ack",
    "answer_probes",
    "listens",
    "name",
];

fn milliseconds(value: f64) -> Duration {
    Duration::from_nanos((value * 1e6) as u64)
}

impl Scenario {
    pub(crate) fn parse(value: &Value) -> Result<Scenario, String> {
        let table = value.as_object().ok_or("\"scenario\" is missing")?;
        let real = |key: &str| value[key].as_f64().ok_or_else(|| format!("scenario: \"{key}\" is missing"));
        let whole = |key: &str| value[key].as_u64().ok_or_else(|| format!("scenario: \"{key}\" is missing"));
        let truth = |key: &str| value[key].as_bool().unwrap_or(false);
        let triples = |key: &str, width: usize| lists(&value[key], width).ok_or_else(|| format!("scenario: \"{key}\""));
        let pairs = |key: &str| triples(key, 2).map(|all| all.iter().map(|l| (l[0] as u64, l[1] as u64)).collect());
        let delay = |list: &Vec<f64>| (list[0] as u64, list[1] as u64, milliseconds(list[2]));
        let unknown = table.keys().filter(|key| !KEYS.contains(&key.as_str()));
        Ok(Scenario {
            rtt: milliseconds(real("rtt_ms")?),
            gap: milliseconds(real("gap_ms")?),
            mss: whole("mss")?,
            segments: whole("segments")?,
            window: whole("window")?,
            window_script: triples("window_script", 2)?.iter().map(|list| (list[0], list[1] as u64)).collect(),
            delack: value["delack"].as_u64().unwrap_or(1),
            drop: pairs("drop")?,
            mark: pairs("mark")?,
            extra_delay: triples("extra_delay_ms", 3)?.iter().map(delay).collect(),
            answer_probes: truth("answer_probes"),
            listens: truth("listens"),
            stop_ms: value["stop_ms"].as_f64(),
            timestamps: truth("ts"),
            ecn: truth("ecn"),
            unknown: unknown.map(|key| format!("the scenario key \"{key}\"")).collect(),
            control: value["cc"].as_str().ok_or("scenario: \"cc\" is missing")?.to_string(),
            sack: truth("sack"),
            sysctl: value["sysctl"].as_object().cloned().unwrap_or_default(),
        })
    }

    /// The `linux` profile with what the scenario says, on a kernel with `hz` ticks in a second.
    ///
    /// # Errors
    /// A sentence, if the scenario asks for something that is not known here.
    pub fn config(&self, hz: u64) -> Result<Config, String> {
        if let Some(unknown) = self.unknown.first() {
            return Err(format!("{unknown} is not known"));
        }
        let mut config = Config {
            congestion_control: self.algorithm()?,
            mss: Some(Bytes(self.mss)),
            sack: self.sack,
            timestamps: self.timestamps,
            ecn: if self.ecn { EcnUse::On } else { EcnUse::Off },
            slow_start_after_idle: false,
            // the host rounds waits to its ticks
            timer_tick: Duration::from_micros(1),
            controller_tick: Duration::from_nanos(1_000_000_000 / hz),
            ..Profile::Linux.config()
        };
        for (name, value) in &self.sysctl {
            set(&mut config, name, value)?;
        }
        Ok(config)
    }

    fn algorithm(&self) -> Result<Algorithm, String> {
        Ok(match self.control.as_str() {
            "reno" => Algorithm::Newreno(newreno::Params { era: newreno::Era::Linux, ..Default::default() }),
            "cubic" => Profile::Linux.config().congestion_control,
            other => return Err(format!("the congestion control \"{other}\" is not known")),
        })
    }
}

/// A system setting, if an endpoint has it.
fn set(config: &mut Config, name: &str, value: &Value) -> Result<(), String> {
    match (name.strip_prefix("net.ipv4.").unwrap_or(name), value.as_u64()) {
        ("tcp_reordering", Some(segments)) => config.duplicate_ack_threshold = segments as u32,
        ("tcp_slow_start_after_idle", Some(on)) => config.slow_start_after_idle = on != 0,
        ("tcp_early_retrans", Some(mode)) => config.tail_loss_probe = mode == 3 || mode == 4,
        ("tcp_frto", Some(mode)) => config.forward_rto = mode != 0,
        ("tcp_window_scaling", Some(on)) => config.window_scaling = on != 0,
        // Without the bit that asked for RACK it is used all the same, since 6.17.
        ("tcp_recovery", Some(0 | 1)) => {}
        ("tcp_init_ssthresh", Some(segments)) => config.initial_ssthresh = Switch::On(segments as u32),
        _ => return Err(format!("the setting {name} = {value} is not known")),
    }
    Ok(())
}

/// A list of lists of numbers; empty where there is none.
fn lists(value: &Value, width: usize) -> Option<Vec<Vec<f64>>> {
    let Some(outer) = value.as_array() else { return value.is_null().then(Vec::new) };
    outer
        .iter()
        .map(|inner| {
            let numbers: Option<Vec<f64>> = inner.as_array()?.iter().map(Value::as_f64).collect();
            numbers.filter(|numbers| numbers.len() == width)
        })
        .collect()
}
