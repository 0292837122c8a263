//! Knobs: settings of a simulation that change while it runs, each with its unit, its bounds and the time at which a
//! change counts.
//!
//! A knob is called `NAME:TARGET`, such as `edca.cw_min:ap`; the target is the name of a node, flow or link, or a pattern
//! of names. `[[change]]` turns knobs at times that the file gives, and `lasthop.gym` between two steps. A new value
//! holds for each event from its time on; each knob's `counts` says for which.
//!
//! This file: the registry. `resolved/knobs` finds the knobs of a scenario, `settings` keeps the values in force, and `turn`
//! passes them to the network.

use lasthop_observe::{FlowId, LinkId, NodeId};
use lasthop_registry::{Fault, Kind, Value};
use lasthop_units::{Bytes, DataRate, Dbm, Duration, Time};
use lasthop_wifi::AccessCategory;
use serde_json::{Value as Json, json};

/// Their kind in `lasthop list`.
pub(crate) const KIND: &str = "knob";

/// The kind of entity that a knob belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// a node, in one access category
    Category,
    /// a node with a queue whose law keeps a delay
    Queue,
    /// a node that makes A-MPDUs
    Aggregating,
    /// an access point, for all nodes of its BSS
    AccessPoint,
    /// a station whose access point shares airtime
    Station,
    /// a flow of bulk data over TCP or QUIC
    Flow,
    /// a directed link
    Link,
    /// an access point that serves several users at once
    SeveralUsers,
    /// a node whose power weakens with distance
    Transmitter,
    /// an access point that may move, with its stations
    Movable,
    /// a station that takes part in PPDUs of several users
    User,
}

impl Target {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Target::Category | Target::Queue | Target::Aggregating | Target::Transmitter => "node",
            Target::AccessPoint | Target::SeveralUsers | Target::Movable => "ap",
            Target::Station | Target::User => "station",
            Target::Flow => "flow",
            Target::Link => "link",
        }
    }
}

/// The unit of a knob's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Slots,
    Seconds,
    Segments,
    BitsPerSecond,
    /// none, for whole numbers
    Number,
    Mpdus,
    Bytes,
    Attempts,
    Users,
    Dbm,
}

impl Unit {
    const fn word(self) -> &'static str {
        match self {
            Unit::Slots => "slots",
            Unit::Seconds => "s",
            Unit::Segments => "segments",
            Unit::BitsPerSecond => "bit/s",
            Unit::Number => "",
            Unit::Mpdus => "MPDUs",
            Unit::Bytes => "B",
            Unit::Attempts => "attempts",
            Unit::Users => "users",
            Unit::Dbm => "dBm",
        }
    }

    /// Whether its numbers are whole.
    const fn is_whole(self) -> bool {
        matches!(self, Unit::Slots | Unit::Number | Unit::Mpdus | Unit::Bytes | Unit::Attempts | Unit::Users)
    }
}

/// The settings that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    CwMin,
    CwMax,
    Aifsn,
    TxopLimit,
    Window,
    Pacing,
    /// the rate of an entry of a retry chain, from 0
    Rate(u8),
    /// the attempts at that rate
    Tries(u8),
    TxPower,
    Channel,
    MaxUsers,
    LeastBytes,
    UserRank,
    QueueTarget,
    AirtimeWeight,
    MaxMpdus,
    MaxDuration,
    RtsThreshold,
}

/// A row of the registry.
#[derive(Debug)]
pub struct Knob {
    /// its name, without a category
    pub name: &'static str,
    pub(crate) setting: Setting,
    pub(crate) target: Target,
    pub(crate) unit: Unit,
    /// the smallest value
    pub least: f64,
    /// the greatest value
    pub most: f64,
    /// a sentence about its meaning
    pub summary: &'static str,
    /// the first event for which a new value counts
    pub counts: &'static str,
}

/// The longest PSDU of 802.11ax, which no PPDU exceeds.
pub(crate) const MOST_BYTES: f64 = 6_500_631.0;

/// The first event for which a rate counts.
const RATES_COUNT: &str = "the next frame whose rates are chosen";

/// The knob of the rate of an entry of a retry chain, without name and summary.
const fn chained(entry: u8) -> Knob {
    Knob {
        name: "",
        setting: Setting::Rate(entry),
        target: Target::Link,
        unit: Unit::BitsPerSecond,
        least: 1e5,
        most: 1e11,
        summary: "",
        counts: RATES_COUNT,
    }
}

/// The knob of its attempts.
const fn tries(entry: u8) -> Knob {
    Knob { setting: Setting::Tries(entry), unit: Unit::Attempts, least: 1.0, most: 255.0, ..chained(entry) }
}

/// Every knob.
pub(crate) const KNOBS: &[Knob] = &[
    Knob {
        name: "edca.cw_min",
        setting: Setting::CwMin,
        target: Target::Category,
        unit: Unit::Slots,
        least: 0.0,
        most: 32_767.0,
        summary: "CWmin: the largest backoff before a first attempt, in slots; CWmax is never below it. Any whole number, \
                  though an access point can announce only powers of two less one [802.11-2020 §9.4.2.28].",
        counts: "the next backoff drawn; a contention window outside the new bounds moves to the nearer one at once",
    },
    Knob {
        name: "edca.cw_max",
        setting: Setting::CwMax,
        target: Target::Category,
        unit: Unit::Slots,
        least: 0.0,
        most: 32_767.0,
        summary: "CWmax: the largest backoff, in slots; below CWmin it has the value of CWmin.",
        counts: "the next backoff drawn; a contention window outside the new bounds moves to the nearer one at once",
    },
    Knob {
        name: "edca.aifsn",
        setting: Setting::Aifsn,
        target: Target::Category,
        unit: Unit::Slots,
        least: 1.0,
        most: 15.0,
        summary: "AIFSN: slots between SIFS and the start of the countdown, at stations from 2; only with access categories.",
        counts: "the backoff in progress, which keeps the slots still to count, and later ones",
    },
    Knob {
        name: "edca.txop_limit",
        setting: Setting::TxopLimit,
        target: Target::Category,
        unit: Unit::Seconds,
        least: 0.0,
        most: 2.09712,
        summary: "TXOP limit, rounded to 32 us: the time for which the category may keep the medium; 0: for one exchange; only \
                  with access categories.",
        counts: "the next TXOP",
    },
    Knob {
        name: "window",
        setting: Setting::Window,
        target: Target::Flow,
        unit: Unit::Segments,
        least: 1.0,
        most: 1e5,
        summary: "Congestion window of a flow of bulk data over TCP or QUIC, above that of its congestion control, which keeps learning. It \
                  holds in recovery too. Over QUIC a segment is a datagram.",
        counts: "the next segment that the sender sends or acknowledges",
    },
    Knob {
        name: "pacing",
        setting: Setting::Pacing,
        target: Target::Flow,
        unit: Unit::BitsPerSecond,
        least: 1e3,
        most: 1e12,
        summary: "Rate of payload of a TCP flow of bulk data, above that of its congestion control; only where its segments are \
                  paced, by tcp.pacing = \"on\" or by the congestion control.",
        counts: "the time of the next segment but one",
    },
    Knob {
        name: "rate",
        summary: "Rate of data frames on a link, in place of its rate control: the highest rate of the link that is not above the \
                  number. Alone it is for all attempts; with `rate.fallback` it begins a retry chain.",
        ..chained(0)
    },
    Knob {
        name: "rate.tries",
        summary: "Attempts at the rate that `rate` has set on a link, before those at the next rate of its retry chain; at the start 1. \
                  After those at the last rate of a chain rates are chosen again; without a number it is for all further attempts.",
        ..tries(0)
    },
    Knob {
        name: "rate.fallback",
        summary: "Second rate of the retry chain of a link whose first one `rate` has set.",
        ..chained(1)
    },
    Knob { name: "rate.fallback.tries", summary: "Attempts at `rate.fallback`, as `rate.tries`.", ..tries(1) },
    Knob {
        name: "rate.third",
        summary: "Third rate of the retry chain of a link whose first one `rate` has set.",
        ..chained(2)
    },
    Knob { name: "rate.third.tries", summary: "Attempts at `rate.third`, as `rate.tries`.", ..tries(2) },
    Knob {
        name: "rate.fourth",
        summary: "Fourth and last rate of the retry chain of a link whose first one `rate` has set.",
        ..chained(3)
    },
    Knob { name: "rate.fourth.tries", summary: "Attempts at `rate.fourth`, as `rate.tries`.", ..tries(3) },
    Knob {
        name: "tx_power",
        setting: Setting::TxPower,
        target: Target::Transmitter,
        unit: Unit::Dbm,
        least: -20.0,
        most: 36.0,
        summary: "Transmit power of a node, where a path loss weakens it.",
        counts: "the next PPDU that the node begins",
    },
    Knob {
        name: "channel",
        setting: Setting::Channel,
        target: Target::Movable,
        unit: Unit::Number,
        least: 1.0,
        most: 177.0,
        summary: "Channel of an access point and its stations, which move together, by the number of its primary channel; of their band \
                  and width, and one that overlaps no channel of another BSS in part. A number in between is the nearest one.",
        counts: "once no exchange of the BSS is in progress; it begins one there a DIFS after all that was on the air when it came",
    },
    Knob {
        name: "multi_user.max_users",
        setting: Setting::MaxUsers,
        target: Target::SeveralUsers,
        unit: Unit::Users,
        least: 2.0,
        most: 74.0,
        summary: "Largest number of users of a PPDU of an access point with multi_user.",
        counts: "the next PPDU of several users that the scheduler considers",
    },
    Knob {
        name: "multi_user.least_bytes",
        setting: Setting::LeastBytes,
        target: Target::SeveralUsers,
        unit: Unit::Bytes,
        least: 0.0,
        most: MOST_BYTES,
        summary: "Bytes that wait for the users of a downlink PPDU in all, at least; with fewer the access point serves one user.",
        counts: "the next PPDU of several users that the scheduler considers",
    },
    Knob {
        name: "multi_user.rank",
        setting: Setting::UserRank,
        target: Target::User,
        unit: Unit::Number,
        least: 0.0,
        most: 255.0,
        summary: "Rank of a station among those that an access point serves together, downlink and uplink: its scheduler chooses among \
                  the stations with data of the highest rank, and the others wait. At the start 0.",
        counts: "the next PPDU of several users that the scheduler considers",
    },
    Knob {
        name: "queue.target",
        setting: Setting::QueueTarget,
        target: Target::Queue,
        unit: Unit::Seconds,
        least: 1e-6,
        most: 10.0,
        summary: "Delay that the law of a node's queue keeps: CoDel's target, which stays below its interval, or PIE's.",
        counts: "the next packet that the law judges",
    },
    Knob {
        name: "aggregation.max_mpdus",
        setting: Setting::MaxMpdus,
        target: Target::Aggregating,
        unit: Unit::Mpdus,
        least: 1.0,
        most: 256.0,
        summary: "Largest number of MPDUs of an A-MPDU, at most those that a Block Ack covers; not of PPDUs of several users.",
        counts: "the next A-MPDU that is made",
    },
    Knob {
        name: "aggregation.max_duration",
        setting: Setting::MaxDuration,
        target: Target::Aggregating,
        unit: Unit::Seconds,
        least: 1e-6,
        most: 0.01,
        summary: "Longest duration of an A-MPDU's PPDU, at most that of the standard; not of PPDUs of several users.",
        counts: "the next A-MPDU that is made",
    },
    Knob {
        name: "rts_threshold",
        setting: Setting::RtsThreshold,
        target: Target::AccessPoint,
        unit: Unit::Bytes,
        least: 0.0,
        most: MOST_BYTES,
        summary: "RTS/CTS precedes data PPDUs longer than this, of all nodes of the BSS of the access point; the greatest value is \
                  \"off\".",
        counts: "the next data PPDU",
    },
    Knob {
        name: "airtime_weight",
        setting: Setting::AirtimeWeight,
        target: Target::Station,
        unit: Unit::Number,
        least: 1.0,
        most: 65_535.0,
        summary: "Weight of a station's airtime at an access point with queue = \"airtime_fq_codel\"; the others have 256.",
        counts: "the next turn of the station",
    },
];

/// The place of a knob in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// an access category of a node; none for one without categories
    Category(NodeId, Option<AccessCategory>),
    /// a node or a station
    Node(NodeId),
    /// a flow
    Flow(FlowId),
    /// a directed link
    Link(LinkId),
}

/// A knob of a scenario's node, flow or link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub knob: &'static Knob,
    pub place: Place,
}

/// Knobs that are turned at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub at: Time,
    /// each with its new value
    pub sets: Vec<(Handle, f64)>,
}

impl Knob {
    /// The forms of its name, for lists.
    fn form(&self) -> String {
        match self.target {
            Target::Category => {
                format!("{}:NODE, {}:NODE", self.name, self.name.replacen("edca.", "edca.CATEGORY.", 1))
            }
            Target::Link => format!("{}:SENDER->RECEIVER", self.name),
            target => format!("{}:{}", self.name, target.word().to_uppercase()),
        }
    }

    /// A value within its bounds and, where it counts something, whole.
    ///
    /// # Errors
    /// Another value.
    pub(crate) fn check(&self, value: f64) -> Result<f64, Fault> {
        let is_whole = !self.unit.is_whole() || value.fract() == 0.0;
        if is_whole && (self.least..=self.most).contains(&value) {
            return Ok(value);
        }
        let kind = if self.unit.is_whole() { "a whole number " } else { "" };
        let allowed = format!("{kind}from {} to {} {}", self.least, self.most, self.unit.word());
        Err(Kind::OutOfRange { found: value.to_string(), allowed: allowed.trim_end().into() }.into())
    }

    /// The word for its unit.
    pub fn unit(&self) -> &'static str {
        self.unit.word()
    }

    /// Whether its numbers are whole.
    pub fn is_whole(&self) -> bool {
        self.unit.is_whole()
    }

    /// Reads a value of a scenario file: a number, or a text with its unit.
    ///
    /// # Errors
    /// A value of another type, or out of bounds.
    pub(crate) fn read(&self, value: &Value) -> Result<f64, Fault> {
        let number = match (value, self.unit) {
            (Value::Text(text), Unit::Bytes) => {
                text.parse::<Bytes>().map_err(|error| Fault::from(Kind::Quantity(error.to_string())))?.0 as f64
            }
            (Value::Integer(n), unit) if unit.is_whole() && unit != Unit::Bytes => *n as f64,
            (Value::Text(text), Unit::Seconds) => {
                text.parse::<Duration>().map_err(|error| Fault::from(Kind::Quantity(error.to_string())))?.as_secs_f64()
            }
            (Value::Text(text), Unit::Dbm) => {
                text.parse::<Dbm>().map_err(|error| Fault::from(Kind::Quantity(error.to_string())))?.0
            }
            (Value::Integer(n), Unit::Segments) => *n as f64,
            (Value::Float(x), Unit::Segments) => *x,
            (Value::Text(text), Unit::BitsPerSecond) => {
                text.parse::<DataRate>().map_err(|error| Fault::from(Kind::Quantity(error.to_string())))?.as_bps()
                    as f64
            }
            (found, Unit::Segments) => {
                return Err(Kind::WrongType { expected: "a number".into(), found: found.to_string() }.into());
            }
            (found, unit) => {
                let expected =
                    if unit.is_whole() && unit != Unit::Bytes { "a whole number" } else { "a quantity with its unit" };
                return Err(Kind::WrongType { expected: expected.into(), found: found.to_string() }.into());
            }
        };
        self.check(number)
    }

    /// It in the form of `list` and `show`.
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "kind": KIND, "name": self.name, "form": self.form(), "unit": self.unit.word(), "target": self.target.word(),
            "least": self.least, "most": self.most, "summary": self.summary, "counts": self.counts,
        })
    }
}

/// Splits `edca.be.cw_min` into the knob's name and the category.
pub(crate) fn split_category(name: &str) -> (String, Option<&str>) {
    let steps: Vec<&str> = name.split('.').collect();
    match steps.as_slice() {
        ["edca", category, setting] => (format!("edca.{setting}"), Some(category)),
        _ => (name.to_string(), None),
    }
}

/// The knob called `name`, with or without a category and a target.
pub(crate) fn called(name: &str) -> Option<&'static Knob> {
    let (name, _) = split_category(name.split_once(':').map_or(name, |(name, _)| name));
    KNOBS.iter().find(|knob| knob.name == name)
}
