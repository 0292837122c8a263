//! The scenario of a recording, and the endpoint for it.

use core::ops::RangeInclusive;

use lasthop_registry::Switch;
use lasthop_tcp::congestion_control::{Algorithm, newreno};
use lasthop_tcp::{Config, EcnUse, Profile};
use lasthop_units::{Bytes, Duration};
use serde_json::{Map, Value};

/// The conditions of a recording.
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
    /// times of window changes, with the new windows
    pub window_script: Vec<(f64, u64)>,
    /// segments for each ACK
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
    /// end of the recording in ms
    pub stop_ms: Option<f64>,
    /// whether timestamps are on
    pub timestamps: bool,
    /// whether ECN is on
    pub ecn: bool,
    /// conditions that a replay does not model: the reasons to skip it
    pub unknown: Vec<String>,
    /// whether selective acknowledgements are on
    pub sack: bool,
    control: String,
    sysctl: Map<String, Value>,
}

/// A recording, and each time in it: a day. It bounds the endpoint's clock and the number of its timeouts.
pub(crate) const LONGEST_MS: f64 = 86_400_000.0;
/// The handshake begins an RTT before the first segment, which leaves at 10 s.
const LONGEST_RTT_MS: f64 = 10_000.0;
/// Rows of a replay: beyond this many the endpoint runs away. No more segments can leave.
pub(crate) const MOST_ROWS: usize = 100_000;
/// Transmissions named in a list, which is searched at every segment.
const MOST_LISTED: usize = 10_000;
/// Window field and shift at their largest. [RFC 7323 §2.3]
const LARGEST_WINDOW: u64 = 1 << 30;
/// Least payload of a segment in Linux, and largest payload of an IPv4 packet with its headers.
const SMALLEST_MSS: u64 = 48;
const LARGEST_MSS: u64 = 65_495 - 12;
/// Largest number of a segment, and of its transmissions.
const TRANSMISSION: [f64; 2] = [MOST_ROWS as f64; 2];

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
        let real = |key: &str, most: f64| within(key, real_of(&value[key], key)?, 0.0..=most);
        let whole = |key: &str, range| within(key, whole_of(&value[key], key)?, range);
        let truth = |key: &str| value[key].as_bool().unwrap_or(false);
        let list = |key: &str, most: &[f64]| lists(key, &value[key], most);
        let pairs =
            |key: &str| list(key, &TRANSMISSION).map(|all| all.iter().map(|l| (l[0] as u64, l[1] as u64)).collect());
        let delay = |list: &Vec<f64>| (list[0] as u64, list[1] as u64, milliseconds(list[2]));
        let windows = list("window_script", &[LONGEST_MS, LARGEST_WINDOW as f64])?;
        let sysctl = value["sysctl"].as_object().cloned().unwrap_or_default();
        check_counts(&sysctl)?;
        let unknown = table.keys().filter(|key| !KEYS.contains(&key.as_str()));
        Ok(Scenario {
            rtt: milliseconds(real("rtt_ms", LONGEST_RTT_MS)?),
            gap: milliseconds(real("gap_ms", LONGEST_RTT_MS)?),
            mss: whole("mss", SMALLEST_MSS..=LARGEST_MSS)?,
            segments: whole("segments", 1..=MOST_ROWS as u64)?,
            window: whole("window", 0..=LARGEST_WINDOW)?,
            window_script: windows.iter().map(|list| (list[0], list[1] as u64)).collect(),
            delack: if value["delack"].is_null() { 1 } else { whole("delack", 1..=MOST_ROWS as u64)? },
            drop: pairs("drop")?,
            mark: pairs("mark")?,
            extra_delay: list("extra_delay_ms", &[TRANSMISSION[0], TRANSMISSION[1], LONGEST_MS])?
                .iter()
                .map(delay)
                .collect(),
            answer_probes: truth("answer_probes"),
            listens: truth("listens"),
            stop_ms: if value["stop_ms"].is_null() { None } else { Some(real("stop_ms", LONGEST_MS)?) },
            timestamps: truth("ts"),
            ecn: truth("ecn"),
            unknown: unknown.map(|key| format!("the scenario key \"{key}\"")).collect(),
            control: value["cc"].as_str().ok_or("scenario: \"cc\" is missing")?.to_string(),
            sack: truth("sack"),
            sysctl,
        })
    }

    /// The `linux` profile with the settings of the scenario, on a kernel with `hz` ticks in a second.
    ///
    /// # Errors
    /// A sentence, if the scenario needs something that is not modelled here.
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
            "reno" => Algorithm::Newreno(newreno::Params { era: newreno::NewrenoEra::Linux, ..Default::default() }),
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
        // Since 6.17 RACK is used even without the bit for it.
        ("tcp_recovery", Some(0 | 1)) => {}
        ("tcp_init_ssthresh", Some(segments)) => config.initial_ssthresh = Switch::On(segments as u32),
        _ => return Err(format!("the setting {name} = {value} is not known")),
    }
    Ok(())
}

/// The settings that count segments.
fn check_counts(settings: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in settings.iter().filter(|(name, _)| COUNTS.iter().any(|count| name.ends_with(count))) {
        within(name, whole_of(value, name)?, 1..=i32::MAX as u64)?;
    }
    Ok(())
}

const COUNTS: [&str; 2] = ["tcp_reordering", "tcp_init_ssthresh"];

fn whole_of(value: &Value, key: &str) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| not_a(value, key, "whole number from 0 on"))
}

fn real_of(value: &Value, key: &str) -> Result<f64, String> {
    value.as_f64().ok_or_else(|| not_a(value, key, "number"))
}

fn not_a(value: &Value, key: &str, what: &str) -> String {
    if value.is_null() {
        format!("scenario: \"{key}\" is missing")
    } else {
        format!("scenario: \"{key}\" = {value} is not a {what}")
    }
}

fn within<T: PartialOrd + core::fmt::Display>(key: &str, number: T, range: RangeInclusive<T>) -> Result<T, String> {
    if range.contains(&number) {
        return Ok(number);
    }
    Err(format!("scenario: \"{key}\" = {number} is out of range: it may be {} to {}", range.start(), range.end()))
}

/// A list of lists of numbers, each from 0 to its own largest value; empty where there is none.
fn lists(key: &str, value: &Value, most: &[f64]) -> Result<Vec<Vec<f64>>, String> {
    let Some(outer) = value.as_array() else {
        return if value.is_null() { Ok(Vec::new()) } else { Err(format!("scenario: \"{key}\" is not a list")) };
    };
    if outer.len() > MOST_LISTED {
        return Err(format!("scenario: \"{key}\" has {} entries; it may have {MOST_LISTED}", outer.len()));
    }
    outer.iter().map(|inner| numbers(key, inner, most)).collect()
}

fn numbers(key: &str, value: &Value, most: &[f64]) -> Result<Vec<f64>, String> {
    let found = value.as_array().filter(|found| found.len() == most.len());
    let found = found.ok_or_else(|| format!("scenario: \"{key}\": {value} is not a list of {} numbers", most.len()))?;
    found.iter().zip(most).map(|(number, most)| within(key, real_of(number, key)?, 0.0..=*most)).collect()
}
