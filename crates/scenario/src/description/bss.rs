//! `[bss]` and `[bss.ap]`.

use lasthop_link::{AirtimeSource, QueueDisciplineKind};
use lasthop_registry::{Kind, ParamError, Parameter, Shape, Switch, Value, Word, params, refuse, words};
use lasthop_units::{Bytes, DataRate, Dbm, Duration, Metres, Packets};
use lasthop_wifi::phy::{ChannelWidth, GuardInterval, Preamble, Rates, Standard};
use lasthop_wifi::rate_control::RateControlKind;
use lasthop_wifi::{
    Access, AccessCategory, Aggregation, Countdown, EdcaParameters, Protection, Security, TxopProtection,
};

use super::{DriverChoice, MuEdcaTable, MultiUserChoice};

words! {
    /// Named departures from the standard, for comparison with other simulators.
    pub(crate) enum Compat {
        /// none
        None = "none",
        /// ns-3: a collision of equal powers has no detectable preamble, so nobody waits EIFS after it; the TXOP limit of
        /// best effort and background is zero; a BlockAckReq follows an A-MPDU that no BlockAck answered; who missed the preamble
        /// of an OFDM PPDU notices it from `cca_preamble` on; clocks of sources are exact; an access point asks several users as in
        /// ns-3
        Ns3 = "ns3",
    }
}

/// Address resolution: all addresses are known in advance.
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
                Err(ParamError::new(path, ("resolving addresses is not there yet", "\"filled\"")))
            }
            _ => Err(ParamError::new(path, format!("expected \"filled\", found {value}"))),
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
                format!("expected a whole number from 0 to 1000 or \"unlimited\", found {value}"),
            )),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(self.0.map_or(Value::text("unlimited"), |n| Value::Integer(i64::from(n))))
    }
}

words! {
    /// The access category of L4S packets.
    pub(crate) enum L4sCategory {
        /// Best effort.
        BestEffort = "be",
        /// Video, by user priority 5.
        Video = "vi",
    }
}

impl L4sCategory {
    /// The user priority of its packets. [802.11-2020 Table 10-1]
    pub(crate) const fn user_priority(self) -> u8 {
        match self {
            L4sCategory::BestEffort => 0,
            L4sCategory::Video => 5,
        }
    }
}

/// Medium access of the AP.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AccessChoice {
    /// as the other nodes of its BSS, or a slot earlier
    Space(Access),
    /// EDCA parameters of its own
    Edca(Edca),
}

impl Parameter for AccessChoice {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Access::shape(), Shape::Words(vec!["edca".into()]), Edca::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let Value::Table(entries) = value else {
            return Access::parse(value, path).map(AccessChoice::Space);
        };
        let kind = value.get("kind").unwrap_or(value);
        let rest: Vec<_> = entries.iter().filter(|(key, _)| key != "kind").cloned().collect();
        if matches!(kind, Value::Text(word) if word == "edca") {
            return Edca::parse(&Value::Table(rest), path).map(AccessChoice::Edca);
        }
        if let Some((key, _)) = rest.first() {
            return refuse(path, key, Kind::UnknownKey { key: key.clone(), known: vec!["kind".into()] });
        }
        Access::parse(kind, path).map(AccessChoice::Space)
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            AccessChoice::Space(access) => access.to_value(),
            AccessChoice::Edca(edca) => {
                let mut entries = vec![("kind".to_string(), Value::text("edca"))];
                if let Some(Value::Table(own)) = edca.to_value() {
                    entries.extend(own);
                }
                Some(Value::Table(entries))
            }
        }
    }
}

params! {
    /// Parameters of an access category that replace the standard's defaults.
    pub(crate) struct Category {
        /// Slots between SIFS and the start of the countdown.
        pub aifsn: Option<u8> = None,
        /// CWmin: the largest backoff before a first attempt, in slots.
        pub cw_min: Option<u32> = None,
        /// CWmax: the largest backoff, in slots.
        pub cw_max: Option<u32> = None,
        /// TXOP limit: time for which it may keep the medium after winning it; "0 us": for one exchange.
        pub txop_limit: Option<Duration> = None,
    }
    check |this, path| {
        if this.aifsn.is_some_and(|n| !(1..=15).contains(&n)) {
            return refuse(path, "aifsn", "from 2 to 15 slots, for an access point from 1");
        }
        for (key, window) in [("cw_min", this.cw_min), ("cw_max", this.cw_max)] {
            if window.is_some_and(|w| w > 32_767 || !(w + 1).is_power_of_two()) {
                return refuse(path, key, "a contention window is a power of two less one: 0, 1, 3, 7, 15, … 32767");
            }
        }
        if let (Some(least), Some(most)) = (this.cw_min, this.cw_max) && least > most {
            return refuse(path, "cw_max", "smaller than cw_min");
        }
        if this.txop_limit.is_some_and(|limit| limit.as_nanos() % 32_000 != 0 || limit.as_nanos() > 65_535 * 32_000) {
            return refuse(path, "txop_limit", "a TXOP limit is a multiple of 32 us, at most 2.097 s");
        }
        Ok(())
    }
}

params! {
    /// EDCA parameters, in place of the standard's.
    pub(crate) struct Edca {
        /// Voice.
        pub vo: Option<Category> = None,
        /// Video.
        pub vi: Option<Category> = None,
        /// Best effort.
        pub be: Option<Category> = None,
        /// Background.
        pub bk: Option<Category> = None,
    }
}

impl AggregationTable {
    /// The table for these limits.
    pub(crate) fn of(limits: Option<Aggregation>) -> Switch<AggregationTable> {
        let Some(limits) = limits else { return Switch::Off };
        Switch::On(AggregationTable {
            max_mpdus: Some(limits.max_mpdus),
            max_bytes: Some(Bytes(u64::from(limits.max_bytes))),
            max_duration: Some(limits.max_duration),
            amsdu: limits.max_amsdu.map_or(Switch::Off, |bytes| Switch::On(Bytes(u64::from(bytes)))),
            min_start_spacing: limits.min_start_spacing,
        })
    }
}

impl Edca {
    /// The table for these parameters, in the order of [`AccessCategory::ALL`].
    pub(crate) fn of_all(categories: &[EdcaParameters; 4]) -> Edca {
        let [vo, vi, be, bk] = categories.map(|of| {
            Some(Category {
                aifsn: Some(of.aifsn),
                cw_min: Some(of.cw_min),
                cw_max: Some(of.cw_max),
                txop_limit: Some(of.txop_limit),
            })
        });
        Edca { vo, vi, be, bk }
    }

    /// The table of a category, if it is set.
    pub(crate) fn of(&self, category: AccessCategory) -> Option<&Category> {
        match category {
            AccessCategory::Vo => self.vo.as_ref(),
            AccessCategory::Vi => self.vi.as_ref(),
            AccessCategory::Be => self.be.as_ref(),
            AccessCategory::Bk => self.bk.as_ref(),
        }
    }
}

params! {
    /// Limits of A-MPDUs besides those of the standard.
    pub(crate) struct AggregationTable {
        /// Largest number of MPDUs of a PPDU; default: those that a Block Ack covers, 64, with 802.11ax 256.
        pub max_mpdus: Option<u32> = None,
        /// Largest PSDU in bytes; default: the limit of receivers of the standard.
        pub max_bytes: Option<Bytes> = None,
        /// Longest duration of a PPDU; default: 5.484 ms.
        pub max_duration: Option<Duration> = None,
        /// Largest A-MSDU in bytes; "off": one MSDU per MPDU.
        pub amsdu: Switch<Bytes> = Switch::Off,
        /// Minimum MPDU start spacing that receivers ask for; ath9k asks for 8 us.
        pub min_start_spacing: Duration = Duration::ZERO,
    }
}

params! {
    /// The access point.
    pub(crate) struct Ap {
        /// Position.
        pub position: [Metres; 2] = [Metres(0.0), Metres(0.0)],
        /// Queue of the packets for stations; default with 802.11n and later and tcp.profile = "linux":
        /// "airtime_fq_codel", with 4 MiB of memory for 802.11n; else "fifo".
        pub queue: Option<QueueDisciplineKind> = None,
        /// A second FIFO below the queue discipline, as in older drivers: driver = { packets = … }.
        pub driver_queue: Packets = Packets(0),
        /// Driver and hardware below the queues; default: "ideal".
        pub driver: Option<DriverChoice> = None,
        /// Airtime by which "airtime_fq_codel" schedules stations and limits their packets in the MAC; default: "reported",
        /// with driver = "iwlwifi" "none".
        pub airtime: Option<AirtimeSource> = None,
        /// Medium access: "difs" as the others of its BSS, "pifs" one slot earlier, or EDCA parameters of its own.
        pub access: AccessChoice = AccessChoice::Space(Access::Difs),
        /// Rate control of the AP; default: the BSS's.
        pub rate_control: Option<RateControlKind> = None,
        /// Largest number of retransmissions after the first attempt; default: the BSS's.
        pub retry_limit: Option<RetryLimit> = None,
        /// Transmit power; default: the channel's.
        pub tx_power: Option<Dbm> = None,
        /// PPDUs of several users (OFDMA), with 802.11ax: a scheduler; default: "off".
        pub multi_user: Option<MultiUserChoice> = None,
    }
}

params! {
    /// A basic service set.
    pub(crate) struct Bss {
        /// Name of the BSS, where there are several.
        pub name: Option<Word> = None,
        /// SSID; default: the name, or "lasthop". Stations of a kernel's Wi-Fi stack roam among the access points of one.
        pub ssid: Option<Word> = None,
        /// "802.11b", "802.11a", "802.11g", "802.11n", "802.11ac" or "802.11ax".
        pub standard: Option<Standard> = None,
        /// Channel number (the primary channel of a bonded one); default: the first of the band, for 802.11n and later
        /// 36.
        pub channel: Option<u8> = None,
        /// Preamble of DSSS frames; default: "long".
        pub preamble: Option<Preamble> = None,
        /// Width of the channel; default: "20 MHz".
        pub channel_width: Option<ChannelWidth> = None,
        /// Largest number of spatial streams of a data frame, and number of antennas of every station; default: 1.
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
        /// RTS/CTS precedes a data PPDU that takes at least this long with its acknowledgement: the TXOP Duration RTS
        /// Threshold of 802.11ax. [802.11ax-2021 §26.2.1]
        pub txop_duration_rts_threshold: Switch<Duration> = Switch::Off,
        /// Reservation of the medium in a TXOP: of each exchange for itself and the next one, or of all to its limit, with a
        /// CF-End that gives back the rest. [802.11-2020 §9.2.5.2]
        pub txop_protection: TxopProtection = TxopProtection::Single,
        /// Protection of OFDM frames from 802.11b stations; default: "cts_to_self" with [[station]] standard = "802.11b",
        /// else "none".
        pub protection: Option<Protection> = None,
        /// Use slots of 9 us in 802.11g, and with stations of 802.11b or g; default: true unless a basic rate is of 802.11b.
        pub short_slot: Option<bool> = None,
        /// Beacon interval.
        pub beacons: Switch<Duration> = Switch::Off,
        /// Protection of data frames: "open", the default, or "ccmp" (WPA2), which adds 16 B to each. [802.11-2020 §12.5.3]
        pub security: Option<Security> = None,
        /// Address resolution (ARP): simulated, or addresses known in advance.
        pub arp: Arp = Arp,
        /// Bystanders of a failed frame wait EIFS, and its sender its ACK timeout; false: all wait DIFS.
        pub eifs: bool = true,
        /// Backoff counters during a transmission of others.
        pub countdown: Countdown = Countdown::Frozen,
        /// EDCA parameters of the access categories.
        pub edca: Option<Edca> = None,
        /// EDCA parameters of stations after data that a trigger asked for (MU EDCA); default: none.
        pub mu_edca: Option<MuEdcaTable> = None,
        /// Access category of packets with ECT(1), and with DSCP 45 (NQB): "be", or "vi" with user priority 5; default: by their
        /// DSCP. [RFC 9331 §5.1]
        pub l4s_category: Option<L4sCategory> = None,
        /// Named departures from the standard.
        pub compat: Compat = Compat::None,
        /// Aggregation of MPDUs; default: for 802.11n and later all that the standard allows.
        pub aggregation: Option<Switch<AggregationTable>> = None,
        /// Rate control of every link; default with 802.11n and later: "minstrel_ht"; else "fixed", at the highest rate.
        pub rate_control: Option<RateControlKind> = None,
        /// Largest number of retransmissions after the first attempt, for every node: 0 is one attempt; or "unlimited".
        pub retry_limit: RetryLimit = RetryLimit(Some(7)),
        /// The access point.
        pub ap: Ap = Ap::default(),
    }
}

impl Bss {
    /// Its SSID.
    pub(crate) fn ssid(&self) -> &str {
        self.ssid.as_deref().or(self.name.as_deref()).unwrap_or("lasthop")
    }
}
