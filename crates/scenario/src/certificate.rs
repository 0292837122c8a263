//! The description of an emulation in its result, and whether it can be trusted.

use lasthop_units::Duration;
use serde_json::{Value as Json, json};

/// Whether real time kept up with the model's, and whether anything was lost between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Certificate {
    /// reasons why the run is not valid, a sentence each; empty for a valid run
    pub faults: Vec<String>,
    /// features that the kernel lacked, a sentence each
    pub notes: Vec<String>,
    /// packets that were handed to real hosts
    pub deliveries: u64,
    /// packets that real hosts sent
    pub taken: u64,
    /// median delay between the due time of a packet and its delivery to its host
    pub lateness_p50: Duration,
    /// its 99th percentile
    pub lateness_p99: Duration,
    /// 99.9th percentile
    pub lateness_p999: Duration,
    /// the maximum
    pub lateness_max: Duration,
    /// packets that a kernel dropped before the model could take them
    pub tun_drops: u64,
    /// packets that a kernel refused to take
    pub refused: u64,
    /// packets of no flow of the scenario, by reason; they did not enter
    pub strays: Vec<(String, u64)>,
}

impl Certificate {
    /// Whether the run is valid.
    pub fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }

    fn json(&self) -> Json {
        let strays: serde_json::Map<String, Json> =
            self.strays.iter().map(|(why, count)| (why.clone(), json!(count))).collect();
        json!({
            "valid": self.is_valid(),
            "faults": self.faults,
            "notes": self.notes,
            "deliveries": self.deliveries,
            "packets_sent": self.taken,
            "lateness_p50_s": self.lateness_p50.as_secs_f64(),
            "lateness_p99_s": self.lateness_p99.as_secs_f64(),
            "lateness_p999_s": self.lateness_p999.as_secs_f64(),
            "lateness_max_s": self.lateness_max.as_secs_f64(),
            "tun_drops": self.tun_drops,
            "refused": self.refused,
            "strays": strays,
        })
    }
}

/// A station of a kernel's Wi-Fi stack that has joined an access point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    /// the station's name
    pub station: String,
    /// the name of its access point
    pub ap: String,
    /// time from the start of its supplicant until data could flow
    pub took: Duration,
}

/// A change of a station from one access point to another during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roam {
    /// the station's name
    pub station: String,
    /// the name of the access point before
    pub from: String,
    /// the name of the one after
    pub to: String,
    /// when it was reassociated
    pub at: Duration,
    /// whether it authenticated by 802.11r
    pub fast_transition: bool,
    /// time from the last data frame over the one before to the first over the one after, if there was such a frame
    pub gap: Option<Duration>,
}

/// The Wi-Fi stack of a kernel in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackReport {
    /// the stations, in their order
    pub associations: Vec<Association>,
    /// roams in their order
    pub roams: Vec<Roam>,
    /// frames that kernels' radios sent during the run
    pub frames: u64,
    /// frames among them between nodes without a link, which were lost
    pub unlinked: u64,
}

impl StackReport {
    fn columns(&self) -> [(&'static str, Json); 5] {
        let of = |one: &Association| json!({ "station": one.station, "ap": one.ap, "took_s": one.took.as_secs_f64() });
        let roam = |one: &Roam| {
            json!({
                "station": one.station,
                "from": one.from,
                "to": one.to,
                "at_s": one.at.as_secs_f64(),
                "fast_transition": one.fast_transition,
                "gap_s": one.gap.map(Duration::as_secs_f64),
            })
        };
        [
            ("wifi_stack", json!("kernel")),
            ("associations", self.associations.iter().map(of).collect()),
            ("roams", self.roams.iter().map(roam).collect()),
            ("stack_frames", json!(self.frames)),
            ("stack_frames_unlinked", json!(self.unlinked)),
        ]
    }
}

/// How the packets of an emulation were carried.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// "virtual" or "real"
    pub time: &'static str,
    /// release of the kernel that ran TCP, such as `6.12.117`
    pub kernel: String,
    /// digest of times, nodes and bytes of all deliveries: equal for equal runs
    pub digest: u64,
    /// whether it can be trusted
    pub certificate: Certificate,
    /// the kernel's Wi-Fi stack, if it is not lasthop's own
    pub stack: Option<StackReport>,
}

impl Carried {
    /// The columns of "simulator" in a result besides its quantities.
    pub(crate) fn columns(&self) -> Vec<(&'static str, Json)> {
        let mut columns = vec![
            ("kind", json!("emulation")),
            ("time", json!(self.time)),
            ("kernel", json!(self.kernel)),
            ("digest", json!(format!("{:016x}", self.digest))),
            ("certificate", self.certificate.json()),
        ];
        columns.extend(self.stack.iter().flat_map(StackReport::columns));
        columns
    }
}

/// The schema of these columns.
pub(crate) fn schema() -> [(&'static str, Json); 10] {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let seconds = |description: &str| json!({ "type": "number", "minimum": 0, "description": description });
    let count = |description: &str| json!({ "type": "integer", "minimum": 0, "description": description });
    let certificate = json!({
        "valid": { "type": "boolean", "description": "Whether the run is valid." },
        "faults": { "type": "array", "items": { "type": "string" }, "description": "Reasons against it." },
        "notes": { "type": "array", "items": { "type": "string" }, "description": "Settings that a kernel did not apply." },
        "deliveries": count("Packets that were delivered to real hosts."),
        "packets_sent": count("Packets that real hosts have sent."),
        "lateness_p50_s": seconds("Lateness of deliveries to hosts: median, in seconds."),
        "lateness_p99_s": seconds("The 99th percentile."),
        "lateness_p999_s": seconds("The 99.9th percentile."),
        "lateness_max_s": seconds("The most."),
        "tun_drops": count("Packets that a kernel dropped before the model could take them."),
        "refused": count("Packets that a kernel refused to take."),
        "strays": {
            "type": "object",
            "description": "Packets that belong to no flow of the scenario, by reason.",
            "additionalProperties": { "type": "integer", "minimum": 0 },
        },
    });
    [
        ("kind", text("\"emulation\"; absent in a simulation.")),
        ("time", text("\"virtual\" or \"real\".")),
        ("kernel", text("Release of the kernel whose TCP ran.")),
        ("digest", text("Digest of times, nodes and bytes of all deliveries to real hosts, equal for equal runs.")),
        ("certificate", json!({ "type": "object", "properties": certificate })),
        ("wifi_stack", text("\"kernel\"; absent with lasthop's own.")),
        (
            "associations",
            json!({
                "type": "array",
                "description": "Stations of a kernel's Wi-Fi stack and their access points.",
                "items": { "type": "object", "properties": {
                    "station": text("The station."),
                    "ap": text("Its access point."),
                    "took_s": seconds("Time from the start of its supplicant until data could flow, before time zero."),
                } },
            }),
        ),
        (
            "roams",
            json!({
                "type": "array",
                "description": "Changes of stations of a kernel's Wi-Fi stack from one access point to another.",
                "items": { "type": "object", "properties": {
                    "station": text("The station."),
                    "from": text("The access point before."),
                    "to": text("The one after."),
                    "at_s": seconds("When it was reassociated."),
                    "fast_transition": { "type": "boolean", "description": "Whether it authenticated by 802.11r." },
                    "gap_s": {
                        "type": ["number", "null"],
                        "minimum": 0,
                        "description": "Time from the last data frame over the one to the first over the other; null without such a frame.",
                    },
                } },
            }),
        ),
        ("stack_frames", count("Frames that the radios of a kernel's Wi-Fi stack sent.")),
        ("stack_frames_unlinked", count("Frames among them between nodes without a link, which were lost.")),
    ]
}
