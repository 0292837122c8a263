//! `[[station]]`: a group of stations.

use lasthop_engine::Stream;
use lasthop_link::queue_discipline::{airtime_fq_codel, fifo};
use lasthop_link::{AirtimeSource, Below, QueueDiscipline, QueueDisciplineKind, Serving};
use lasthop_registry::{Amount, Kind, ParamError, Parameter, Shape, Value, Word, params, refuse};
use lasthop_units::{Dbm, Metres, Probability};
use lasthop_wifi::phy::Standard;
use lasthop_wifi::rate_control::RateControlKind;

use super::{DriverChoice, RetryLimit, Waypoint};

/// A larger number is taken for a typing error.
const MOST_STATIONS: u32 = 10_000;

/// The place where a node's packets wait.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one for each table of stations")]
pub(crate) enum NodeQueue {
    /// in a queue discipline, which may drop, one for each access category
    Discipline(QueueDisciplineKind),
    /// in the socket: the device pulls data when it has room, ACKs wait in an unlimited queue
    Backpressure,
}

impl NodeQueue {
    /// The empty queue, above a driver.
    pub fn build<B: Send + 'static>(&self, below: Below, random: Stream) -> Box<dyn QueueDiscipline<B>> {
        let limits_airtime =
            below.airtime != AirtimeSource::None && below.held.is_some_and(|held| held.serving != Serving::Fifo);
        match self {
            NodeQueue::Discipline(kind) => kind.build_above(below, random),
            // mac80211 stands between the socket and such hardware.
            NodeQueue::Backpressure if limits_airtime => {
                QueueDisciplineKind::AirtimeFqCodel(airtime_fq_codel::Params::default()).build_above(below, random)
            }
            NodeQueue::Backpressure => {
                QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Unlimited)).build_above(below, random)
            }
        }
    }
}

/// A queue discipline, or "backpressure".
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StationQueue(pub NodeQueue);

impl Parameter for StationQueue {
    fn shape() -> Shape {
        Shape::AnyOf(vec![QueueDisciplineKind::shape(), Shape::Words(vec!["backpressure".into()])])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let kind = value.get("kind").unwrap_or(value);
        if matches!(kind, Value::Text(word) if word == "backpressure") {
            return Ok(StationQueue(NodeQueue::Backpressure));
        }
        let discipline = QueueDisciplineKind::parse(value, path).map_err(|error| match error.fault.kind {
            Kind::UnknownName { .. } | Kind::Planned { .. } | Kind::NotModelled { .. } => error.or(", backpressure"),
            _ => error,
        })?;
        Ok(StationQueue(NodeQueue::Discipline(discipline)))
    }
    fn to_value(&self) -> Option<Value> {
        match &self.0 {
            NodeQueue::Discipline(discipline) => discipline.to_value(),
            NodeQueue::Backpressure => Some(Value::text("backpressure")),
        }
    }
}

params! {
    /// A group of stations.
    pub(crate) struct StationGroup {
        /// Name of the station; with `count` the prefix of the names, NAME1 to NAMEn.
        pub name: Word = Word::from("sta"),
        /// Number of stations; without it one, called NAME.
        pub count: Option<u32> = None,
        /// Standard of the station if it is older than its BSS's: "802.11b" or "802.11g" in the 2.4 GHz band,
        /// "802.11a" in the 5 GHz band.
        pub standard: Option<Standard> = None,
        /// Distance from the AP, on a circle around it; default: 10 m.
        pub distance: Option<Metres> = None,
        /// Position, instead of `distance`.
        pub position: Option<[Metres; 2]> = None,
        /// Path, instead of `position`: times and positions, with straight lines between them.
        pub waypoints: Option<Vec<Waypoint>> = None,
        /// Queue of its packets: a queue discipline, or "backpressure": data waits in the socket; default with 802.11n
        /// and later and tcp.profile = "linux": "backpressure"; else "fifo".
        pub queue: Option<StationQueue> = None,
        /// Driver and hardware below its queue; default: "ideal".
        pub driver: Option<DriverChoice> = None,
        /// BSS of the station, where there are several.
        pub bss: Option<Word> = None,
        /// Largest number of retransmissions after the first attempt; default: the BSS's.
        pub retry_limit: Option<RetryLimit> = None,
        /// Rate control of both directions of its link; default: the AP's and the BSS's.
        pub rate_control: Option<RateControlKind> = None,
        /// Rate control of the AP's frames to it, where that differs.
        pub downlink_rate_control: Option<RateControlKind> = None,
        /// Probability that noise destroys a data frame of its link, in both directions; default: that of
        /// channel.error_model, which must be "none" or "fixed".
        pub frame_error_rate: Option<Probability> = None,
        /// The same for the AP's frames to it, where that differs.
        pub downlink_frame_error_rate: Option<Probability> = None,
        /// Weight of its airtime under queue = "airtime_fq_codel" at the AP; the others have 256.
        pub airtime_weight: Option<u32> = None,
        /// Transmit power; default: the channel's.
        pub tx_power: Option<Dbm> = None,
        /// Take part in PPDUs of several users; default: true where the access point has them.
        pub multi_user: Option<bool> = None,
    }
    check |this, path| {
        let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if this.name.is_empty() || !this.name.chars().all(allowed) || *this.name == *"ap" {
            return refuse(path, "name", (format!("\"{}\" cannot be a name", this.name), "use letters, digits, - and _, and not \"ap\""));
        }
        if let Some(count) = this.count && !(1..=MOST_STATIONS).contains(&count) {
            return refuse(path, "count", (format!("{count} stations"), format!("from 1 to {MOST_STATIONS}")));
        }
        if this.airtime_weight.is_some_and(|weight| !(1..=65_535).contains(&weight)) {
            return refuse(path, "airtime_weight", "a weight is a whole number from 1 to 65535");
        }
        if this.distance.is_some() && this.position.is_some() {
            return refuse(path, "position", (Kind::Conflict("distance and position both set the place".into()), "keep one of them"));
        }
        if this.position.is_some() && this.count.is_some_and(|count| count > 1) {
            return refuse(path, "position", ("several stations cannot stand at one place", "use distance, or a group each"));
        }
        if let Some(waypoints) = &this.waypoints {
            if this.distance.is_some() || this.position.is_some() {
                let other = if this.position.is_some() { "position" } else { "distance" };
                return refuse(path, "waypoints", (format!("{other} sets the place too"), "remove one of the two"));
            }
            if this.count.is_some_and(|count| count > 1) {
                return refuse(path, "waypoints", ("several stations cannot go one way", "a group each"));
            }
            if waypoints.len() < 2 {
                return refuse(path, "waypoints", ("a path has at least two points", "for a station that does not move, use position"));
            }
            if let Some(late) = (1..waypoints.len()).find(|&i| waypoints[i].at <= waypoints[i - 1].at) {
                let message = format!("{} is not after {}", waypoints[late].at, waypoints[late - 1].at);
                return refuse(path, &format!("waypoints[{late}]"), message);
            }
        }
        if this.distance.is_some_and(|distance| distance.0 < 0.0) {
            return refuse(path, "distance", "a distance cannot be negative");
        }
        Ok(())
    }
}
