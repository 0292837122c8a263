//! The input of the tables, and helpers for their rows.

use lasthop_observe::{Report, Series};
use lasthop_units::{Duration, Time};
use serde_json::{Map, Value as Json, json};

use crate::bounds::Bounds;
use crate::count::Counts;
use crate::flows::FlowTally;
use crate::frame::FileSeen;
use crate::input::Damage;
use crate::site::Site;
use crate::stamps::Stamps;
use crate::tally::AirTally;
use crate::unknown::Unknown;

/// The measurements of the second pass.
pub(crate) struct Measured {
    pub window: (Time, Time),
    /// when the first and the last packet passed
    pub span: (Time, Time),
    /// the longest time without a packet, and when it began
    pub pause: (Time, Duration),
    pub report: Report,
    pub series: Option<Series>,
    pub air: AirTally,
    /// the clock of the capture of the air
    pub stamps: Stamps,
    pub unknown: Unknown,
    /// frames with the flag of an FCS have none, and frames without it have one
    pub is_fcs_doubted: Option<(bool, bool)>,
    pub flows: Vec<FlowTally>,
    pub counts: Counts,
    pub files: Vec<FileSeen>,
    pub bounds: Bounds,
}

impl Measured {
    /// The fraction of frames that the sniffer missed, with the bounds of its interval.
    pub(super) fn missed_fraction(&self) -> Option<(f64, f64, f64)> {
        self.air.missed.fraction().filter(|_| !self.unknown.exchanges)
    }
}

/// Damage of each file, by its name.
pub(super) type Damages = Vec<(String, Damage)>;

pub(super) fn map_of(value: Json) -> Map<String, Json> {
    if let Json::Object(map) = value { map } else { Map::new() }
}

/// A row after the columns that identify its entity.
pub(super) fn behind<const N: usize>(columns: [(&str, Json); N], row: Map<String, Json>) -> Json {
    let columns = columns.into_iter().map(|(name, value)| (name.to_string(), value));
    Json::Object(columns.chain(row).collect())
}

pub(super) fn ends_of(site: &Site, (from, to): (u32, u32)) -> [(&'static str, Json); 2] {
    let name = |node: u32| json!(site.nodes[node as usize].name);
    [("node", name(from)), ("peer", name(to))]
}
