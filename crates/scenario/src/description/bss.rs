//! `[bss]` and `[bss.ap]`.

use lasthop_link::{QueueDisciplineKind, queue_discipline::fifo};
use lasthop_registry::{ParamError, Parameter, Shape, Switch, Value, params, words};
use lasthop_units::{Bytes, DataRate, Dbm, Duration, Metres, Packets};
use lasthop_wifi::phy::{ChannelWidth, GuardInterval, Preamble, Rates, Standard};
use lasthop_wifi::rate_control::{RateControlKind, fixed};
use lasthop_wifi::{Access, Countdown, Protection};

use super::Later;

words! {
    /// Named departures from the standard, for comparison with other simulators.
    pub(crate) enum Compat {
        /// none
        None = "none",
        /// ns-3: a collision of equal powers has no detectable preamble, so nobody waits EIFS after it
        Ns3 = "ns3",
    }
}

/// Who resolves addresses: all are known in advance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arp;

impl Parameter for Arp {
    fn shape() -> Shape {
        Shape::Words(vec!["filled".into()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "filled" => Ok(Arp),
            Value::Text(word) if word == "resolve" => {
                Err(ParamError::new(path, "resolving addresses is not there yet; \"filled\""))
            }
            _ => Err(ParamError::new(path, format!("{value} stands where \"filled\" is needed"))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::text("filled"))
    }
}

/// Retransmissions after the first attempt, or "unlimited".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RetryLimit(pub Option<u32>);

impl Parameter for RetryLimit {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Integer { min: 0, max: 1000 }, Shape::Words(vec!["unlimited".into()])])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Integer(n @ 0..=1000) => Ok(RetryLimit(Some(*n as u32))),
            Value::Text(word) if word == "unlimited" => Ok(RetryLimit(None)),
            _ => Err(ParamError::new(
                path,
                format!("{value} stands where a whole number from 0 to 1000 or \"unlimited\" is needed"),
            )),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(self.0.map_or(Value::text("unlimited"), |n| Value::Integer(i64::from(n))))
    }
}

/// The inter-frame space of the AP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AccessChoice(pub Access);

impl Parameter for AccessChoice {
    fn shape() -> Shape {
        Access::shape()
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let kind = if let Value::Table(_) = value { value.get("kind").unwrap_or(value) } else { value };
        if matches!(kind, Value::Text(word) if word == "edca") {
            return Err(ParamError::new(path, "the access \"edca\" is not there yet; one of: difs, pifs"));
        }
        if let Value::Table(entries) = value
            && let Some((key, _)) = entries.iter().find(|(key, _)| key != "kind")
        {
            return Err(ParamError::new(format!("{path}.{key}"), format!("unknown key \"{key}\"; one of: kind")));
        }
        Access::parse(kind, path).map(AccessChoice)
    }
    fn to_value(&self) -> Option<Value> {
        self.0.to_value()
    }
}

fn no_driver_queue(path: &str, packets: Packets) -> Result<(), ParamError> {
    if packets == Packets(0) {
        return Ok(());
    }
    Err(ParamError::new(
        format!("{path}.driver_queue"),
        "a driver queue below the queue discipline is not there yet; \"0 packets\"",
    ))
}

params! {
    /// The access point.
    pub(crate) struct Ap {
        /// Where it stands.
        pub position: [Metres; 2] = [Metres(0.0), Metres(0.0)],
        /// Where packets for stations wait.
        pub queue: QueueDisciplineKind = QueueDisciplineKind::Fifo(fifo::Params::default()),
        /// A second FIFO below the queue discipline, as older drivers had.
        pub driver_queue: Packets = Packets(0),
        /// Inter-frame space before it contends: "pifs" gives it priority.
        pub access: AccessChoice = AccessChoice(Access::Difs),
        /// Rate control for what it sends; default: the BSS's.
        pub rate_control: Option<RateControlKind> = None,
        /// Retransmissions after the first attempt; default: the BSS's.
        pub retry_limit: Option<RetryLimit> = None,
        /// Its transmit power; default: the channel's.
        pub tx_power: Option<Dbm> = None,
    }
    check |this, path| { no_driver_queue(path, this.driver_queue) }
}

params! {
    /// A basic service set.
    pub(crate) struct Bss {
        /// Its name, where there are several.
        pub name: Option<String> = None,
        /// "802.11b", "802.11a", "802.11g", "802.11n", "802.11ac" or "802.11ax".
        pub standard: Option<Standard> = None,
        /// Channel number, of the primary channel where several are bonded; default: the first of the band, for
        /// 802.11n and later 36.
        pub channel: Option<u8> = None,
        /// Preamble of DSSS frames; default: "long".
        pub preamble: Option<Preamble> = None,
        /// Width of the channel; default: "20 MHz".
        pub channel_width: Option<ChannelWidth> = None,
        /// The most spatial streams of a data frame, and the antennas of every station; default: 1.
        pub spatial_streams: Option<u8> = None,
        /// Guard interval of data frames; default: "long" for 802.11n and 802.11ac, "0.8 us" for 802.11ax.
        /// With "short", rate controls may use the long one too.
        pub guard_interval: Option<GuardInterval> = None,
        /// Rates for control responses and group frames, without MCS; default: the mandatory ones (802.11g and later:
        /// of OFDM).
        pub basic_rates: Option<Vec<DataRate>> = None,
        /// Rates for data frames: "all" that the standard has (802.11n and later: those with an MCS), or a list.
        pub rates: Rates = Rates::All,
        /// Data frames (MPDUs) longer than this are preceded by RTS/CTS.
        pub rts_threshold: Switch<Bytes> = Switch::Off,
        /// What precedes OFDM frames of 802.11g so that 802.11b stations keep silent.
        pub protection: Protection = Protection::None,
        /// Slots of 9 us in 802.11g; default: unless a basic rate is of 802.11b.
        pub short_slot: Option<bool> = None,
        /// Interval of beacons.
        pub beacons: Switch<Duration> = Switch::Off,
        /// Whether addresses are known in advance.
        pub arp: Arp = Arp,
        /// Whether bystanders of a failed frame wait EIFS and its sender its ACK timeout; false: all wait DIFS.
        pub eifs: bool = true,
        /// What happens to backoff counters during a transmission of others.
        pub countdown: Countdown = Countdown::Frozen,
        /// EDCA parameters of the access categories.
        pub edca: Option<Later> = None,
        /// Named departures from the standard.
        pub compat: Compat = Compat::None,
        /// Aggregation of MPDUs.
        pub aggregation: Switch<Later> = Switch::Off,
        /// Rate control of every link; default: the highest rate, fixed.
        pub rate_control: RateControlKind = RateControlKind::Fixed(fixed::Params::default()),
        /// Retransmissions of every node after the first attempt: 0 is one attempt; or "unlimited".
        pub retry_limit: RetryLimit = RetryLimit(Some(7)),
        /// The access point.
        pub ap: Ap = Ap::default(),
    }
}
