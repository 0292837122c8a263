//! A plain twin of the DCF: slot by slot, without the jumps of the medium.
//!
//! It shares nothing with the crate except the random streams. Each node keeps its own counter, its own carrier sense,
//! its own NAV and its own EIFS flag; all nodes are visited in turn at every instant at which anything can happen. It
//! is slow and obvious, so that any errors of the two differ.
//!
//! The rules, for a node that hears the medium go idle at `e`:
//!
//! ```text
//!   ....busy|<---- DIFS ---->|slot|slot|slot|slot|     slots are counted from e + DIFS
//!           e                B0   B1   B2   B3   B4    frames start at a boundary only
//!           |<------- EIFS -------->|                  first boundary: B3, the next on the grid
//!           |<- ACK timeout ->|                        first boundary: B1, likewise
//!           |<-- PIFS -->|                             first boundary: one slot before B0
//! ```
//!
//! * The counter goes down at the end of each slot that the node sensed as idle; with 0 left it sends.
//! * Sensing takes a slot: a frame that started at `s` is noticed from `s + slot` on. Stations on the
//!   same grid thus never count the slot in which the medium turns busy; two that hear each other but
//!   stand on different grids (after hearing different ends) collide if less than a slot apart. For a frame
//!   that arrives in the slot in which another has begun unnoticed, that slot counts as over.
//! * A frame is received if no audible one overlaps it, or with capture if it is stronger than the
//!   sum of the others by the threshold, all the time. A receiver locks on a frame that begins when it hears
//!   nothing, on the strongest of several, and cannot receive any other meanwhile. With capture it locks
//!   on a frame that exceeds all it hears by the threshold, if it is not receiving, or has only just begun to.
//!   A node that sends during any part of a frame receives nothing of it. A node that locked on a frame that
//!   cannot be decoded waits EIFS; any good frame, or sending, ends that.
//! * Where [`Carrier`] says so, a node notices only the frame that it is receiving, signals whose sum reaches the
//!   energy level, and, if it can, a frame that goes on when it has listened for some time, neither sending nor
//!   receiving. It recognises such a frame until the frame ends or it sends, and does not wait for a response any
//!   longer than that.
//! * A node without a frame counts down too; when one arrives with nothing left to count and the
//!   medium idle for DIFS it is sent at once; if the medium is busy then, or turns busy before DIFS is
//!   over, a backoff is drawn. A node that has given up its last frame goes on as if it had another.
//! * With EDCA a node has four functions, each with a counter of its own. Slots are counted from e + AIFS. At the
//!   boundary at which the space ends, and at each that follows while the medium is idle, a function lowers
//!   its counter, or, with 0 left, sends if it has a frame: the slot in which the medium turns busy has thus been
//!   counted, and nothing starts between boundaries. If several functions of a node are ready, the first sends, and
//!   the others act as after a collision. A frame that finds nothing left to count and the medium busy, now or
//!   less than a SIFS ago, waits for a backoff. While a node waits for a response none of its functions counts; if
//!   none comes, the others wait for an AIFS from the timeout on. A winner goes on, a SIFS after each ACK, as long as
//!   its TXOP limit has room for the next frame and its ACK.
//! * The next frame is at the head of the queue from the end of the last attempt on, response included,
//!   though the node learns of a failure only when it gives the response up.
//!
//! * With A-MPDUs a function has one receiver. Retransmissions go first, then new MPDUs, as many as the Block Ack window,
//!   the limits of an A-MPDU and the TXOP hold; the first exchange of a TXOP sends one MPDU at least. Each MPDU has attempts
//!   of its own; each lost exchange, an RTS without CTS too, counts for all that it holds. After one was given up a
//!   BlockAckReq goes first, for the lifetime of an MSDU. The window of a function widens and returns by its exchanges alone.
//! * A Duration field covers the next exchange of the TXOP too, if one fits, or with multiple protection the rest of the
//!   limit; then a CF-End follows when nothing is left that fits, and who decodes it forgets its NAV.
//!
//! * An interferer sends bursts whatever the nodes do. To a node they are energy, which adds to the power of frames where
//!   energy is noticed, and is no frame: who waits for a response goes on to wait for it, no EIFS follows, and a NAV set by
//!   an RTS ends as if nothing was heard. If a burst is over before a node could sense it, the boundary that comes less than
//!   a slot after its start passes as on an idle medium; slots are then counted from the end of the burst + DIFS. A node finds a frame that begins during bursts, and reads its header, if the
//!   frame is 4 dB above their sum; the rest has to be above it by what its rate needs, at every moment.
//!
//! Left out: channel errors, rate control, A-MSDUs, propagation delay, beacons.

#![allow(dead_code)]

mod air;
mod ampdu;
mod bursts;
mod node;
mod users;
mod world;

pub use air::Kind;
pub use ampdu::Aggregation;
pub use bursts::{Burst, Interferers};
pub use users::{Acknowledged, MuEdca, Times, Use, Users, choose_stations, choose_use};

/// Treatment of counters during a busy period of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Countdown {
    /// They wait, as the standard says.
    Frozen,
    /// They go down by one, as in Bianchi's model.
    Bianchi,
}

/// Source of the frames of a node. Queues are unlimited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// It never sends data.
    Silent,
    /// There is always another frame.
    Saturated,
    /// One frame at `first_ns`, then one every `interval_ns`.
    Periodic { first_ns: u64, interval_ns: u64 },
    /// Every `step_ns`, from one step on, a frame with this probability.
    Bernoulli { step_ns: u64, probability: f64 },
}

/// One of the four channel access functions of a node with EDCA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Category {
    pub source: Source,
    pub aifsn: u64,
    pub cw_min: u32,
    pub cw_max: u32,
    /// 0: one exchange for each access.
    pub txop_limit_ns: u64,
    /// Its only receiver, or `None`: all that its node sends to, in turn.
    pub to: Option<usize>,
}

/// One node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeConfig {
    /// Source without EDCA.
    pub source: Source,
    /// True if it waits one slot less than the others, after DIFS and EIFS alike; without EDCA.
    pub pifs: bool,
    /// Duration of its data frames, if it differs from `t_data_ns`.
    pub t_data_ns: Option<u64>,
    /// Number of its AP; an AP has its own number.
    pub ap: usize,
    /// Categories, in order of falling priority.
    pub edca: Option<[Category; 4]>,
}

impl NodeConfig {
    pub fn new(source: Source) -> Self {
        NodeConfig { source, pifs: false, t_data_ns: None, ap: 0, edca: None }
    }

    pub fn edca(categories: [Category; 4]) -> Self {
        NodeConfig { edca: Some(categories), ..NodeConfig::new(Source::Silent) }
    }
}

/// Capture: a frame is received if it is `threshold_db` above the sum of those that overlap it.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    pub threshold_db: f64,
    /// A receiver leaves a frame for one stronger by the threshold that begins less than this after it.
    pub late_ns: u64,
    /// `power_db[i][j]`: power of node `i` at node `j`.
    pub power_db: Vec<Vec<f64>>,
}

/// Carrier sense of a node: it notices the frame that it is receiving, and frames by these rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Carrier {
    /// `power_db[i][j]`: power of node `i` at node `j`.
    pub power_db: Vec<Vec<f64>>,
    /// Level from which on the sum of signals is noticed.
    pub energy_db: f64,
    /// Level from which on a frame is noticed after this long a time of listening, even if its beginning was missed.
    pub mid_packet_db: Option<f64>,
    pub mid_packet_ns: u64,
}

/// A cell: durations in nanoseconds, and its nodes.
pub struct Config {
    pub slot_ns: u64,
    pub sifs_ns: u64,
    pub difs_ns: u64,
    pub eifs_ns: u64,
    pub t_data_ns: u64,
    pub t_ack_ns: u64,
    pub t_rts_ns: u64,
    pub t_cts_ns: u64,
    /// Time from the end of a data frame until its sender stops waiting for the ACK.
    pub ack_timeout_ns: u64,
    pub cts_timeout_ns: u64,
    /// Highest value drawn at first, 31 or 15.
    pub cw_min: u32,
    pub cw_max: u32,
    /// Retransmissions after the first attempt; `None` = unlimited.
    pub retry_limit: Option<u32>,
    pub countdown: Countdown,
    /// `false`: all, the colliders included, count slots from the end of the busy time + DIFS.
    pub eifs: bool,
    pub rts: bool,
    /// Time after the end of an RTS at which a NAV set by it ends if nothing was heard since. `None` = it stays.
    pub nav_timeout_ns: Option<u64>,
    pub capture: Option<Capture>,
    /// `None`: every audible frame is noticed, whatever the node was doing when it began.
    pub carrier: Option<Carrier>,
    /// They need a carrier sense by powers.
    pub interferers: Option<Interferers>,
    /// `hears[i][j]`: node `i` hears node `j`.
    pub hears: Vec<Vec<bool>>,
    /// A-MPDUs under Block Ack, with EDCA; each category has one receiver.
    pub aggregation: Option<Aggregation>,
    /// PPDUs of several users of the only BSS, with A-MPDUs; node 0 is the AP.
    pub users: Option<Users>,
    /// An AP, node 0 if there is only one, sends to all of its stations in turn, and they send to it.
    pub nodes: Vec<NodeConfig>,
}

impl Config {
    /// Basic access, seven attempts, frozen counters, EIFS, an idle AP and `stations` saturated
    /// stations that all hear each other. The timings are those of `timing`, in microseconds.
    pub fn saturated(timing: Timing, stations: usize) -> Config {
        let ns = |us: f64| (us * 1e3).round() as u64;
        let mut nodes = vec![NodeConfig::new(Source::Saturated); stations + 1];
        nodes[0].source = Source::Silent;
        Config {
            slot_ns: ns(timing.slot),
            sifs_ns: ns(timing.sifs),
            difs_ns: ns(timing.sifs + 2.0 * timing.slot),
            eifs_ns: ns(timing.sifs + timing.lowest_ack + timing.sifs + 2.0 * timing.slot),
            t_data_ns: ns(timing.data),
            t_ack_ns: ns(timing.ack),
            t_rts_ns: ns(timing.rts),
            t_cts_ns: ns(timing.cts),
            ack_timeout_ns: ns(timing.sifs + timing.slot + timing.rx_start_delay),
            cts_timeout_ns: ns(timing.sifs + timing.slot + timing.rx_start_delay),
            cw_min: timing.cw_min,
            cw_max: 1023,
            retry_limit: Some(6),
            countdown: Countdown::Frozen,
            eifs: true,
            rts: false,
            nav_timeout_ns: None,
            capture: None,
            carrier: None,
            interferers: None,
            hears: vec![vec![true; stations + 1]; stations + 1],
            aggregation: None,
            users: None,
            nodes,
        }
    }

    /// Makes `i` and `j` deaf to each other.
    pub fn hide(mut self, i: usize, j: usize) -> Config {
        self.hears[i][j] = false;
        self.hears[j][i] = false;
        self
    }
}

/// Durations for [`Config::saturated`]; microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    pub slot: f64,
    pub sifs: f64,
    pub cw_min: u32,
    pub data: f64,
    pub ack: f64,
    pub rts: f64,
    pub cts: f64,
    /// An ACK at the lowest basic rate, for EIFS.
    pub lowest_ack: f64,
    /// aRxPHYStartDelay.
    pub rx_start_delay: f64,
}

impl Timing {
    /// 802.11b, 1500-byte packets at 11 Mbit/s, long preamble, control frames at 1 Mbit/s.
    pub const B_11: Timing = Timing {
        slot: 20.0,
        sifs: 10.0,
        cw_min: 31,
        data: 1309.091,
        ack: 304.0,
        rts: 352.0,
        cts: 304.0,
        lowest_ack: 304.0,
        rx_start_delay: 192.0,
    };
    /// 802.11a, 1500-byte packets at 54 Mbit/s, control frames at 24 Mbit/s.
    pub const A_54: Timing = Timing {
        slot: 9.0,
        sifs: 16.0,
        cw_min: 15,
        data: 248.0,
        ack: 28.0,
        rts: 28.0,
        cts: 28.0,
        lowest_ack: 44.0,
        rx_start_delay: 25.0,
    };
}

/// End and sender of an A-MPDU, and the numbers of its MPDUs with whether each was decoded.
pub type Ampdu = (u64, u32, Vec<(u64, bool)>);

/// Start, end, sender, receiver if it has one, kind, end of the reservation, tones and place of the unit, MPDUs.
pub type Part = (u64, u64, u32, Option<u32>, Kind, u64, Option<(u32, u32)>, u32);

/// Counts of a run, by node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub elapsed_ns: u64,
    /// Data frames received at their destination, without duplicates.
    pub delivered: Vec<u64>,
    /// Attempts that are decided: RTS with RTS, otherwise data.
    pub attempts: Vec<u64>,
    /// Attempts that ended without an ACK. Only other frames can have prevented it.
    pub collided: Vec<u64>,
    /// Frames given up after the last attempt.
    pub drops: Vec<u64>,
    /// Delay from the head of the queue to the end of the first reception, for each delivered frame.
    pub delays_ns: Vec<Vec<u64>>,
    /// Number of times a function had to defer to one of higher priority of its node.
    pub internal_collisions: Vec<u64>,
    /// Start, end and sender of all frames that were sent to their end.
    pub ppdus: Vec<(u64, u64, u32)>,
    /// Kinds of these frames, with the end of the reservation in the Duration field.
    pub kinds: Vec<(u64, u32, Kind, u64)>,
    /// Parts of PPDUs of several users and all other PPDUs that were sent to their end.
    pub parts: Vec<Part>,
    /// A-MPDUs that were sent to their end.
    pub ampdus: Vec<Ampdu>,
    /// MPDUs and acknowledged MPDUs of each attempt of each node, in order.
    pub acknowledged: Vec<Vec<(u32, u32)>>,
    /// Times at which packets were passed on by recipients, with their numbers for each sender and category.
    pub arrived: Vec<(u64, u32)>,
}

impl Outcome {
    /// Notes a frame that has ended.
    fn report(&mut self, config: &Config, t: &air::Transmission) {
        let from = t.from as u32;
        self.ppdus.push((t.start, t.end, from));
        self.kinds.push((t.start, from, t.kind, t.end + t.duration));
        self.report_parts(config, t);
        if t.kind == Kind::Data && config.aggregation.is_some() {
            let decoded = t.decoded(config, t.to);
            self.ampdus.push((t.end, from, t.mpdus.iter().copied().zip(decoded).collect()));
        }
    }

    fn report_parts(&mut self, config: &Config, t: &air::Transmission) {
        let reserved = t.end + t.duration;
        let part = |to: usize, unit: Option<(u32, usize)>, mpdus: usize| {
            let to = (to < config.nodes.len()).then_some(to as u32);
            let unit = unit.map(|(tones, place)| (tones, place as u32));
            (t.start, t.end, t.from as u32, to, t.kind, reserved, unit, mpdus as u32)
        };
        if t.kind == Kind::Mu {
            let tones = t.unit.expect("it has units").0;
            let parts = t.parts.iter().enumerate();
            self.parts.extend(parts.map(|(place, (to, mpdus))| part(*to, Some((tones, place)), mpdus.len())));
        } else {
            self.parts.push(part(t.to, t.unit, t.mpdus.len()));
        }
    }

    /// Payload delivered by all nodes, in Mbit/s.
    pub fn throughput_mbps(&self, payload_bytes: u64) -> f64 {
        (self.delivered.iter().sum::<u64>() * payload_bytes * 8) as f64 * 1e3 / self.elapsed_ns as f64
    }

    /// Attempts lost to a collision over attempts, of all nodes.
    pub fn collision_probability(&self) -> f64 {
        self.collided.iter().sum::<u64>() as f64 / self.attempts.iter().sum::<u64>() as f64
    }

    /// Frames given up over frames finished.
    pub fn drop_probability(&self) -> f64 {
        let drops = self.drops.iter().sum::<u64>() as f64;
        drops / (drops + self.delivered.iter().sum::<u64>() as f64)
    }

    /// The delay in ns that a share `q` of the frames of `node` does not exceed.
    pub fn delay_quantile_ns(&self, node: usize, q: f64) -> u64 {
        let mut sorted = self.delays_ns[node].clone();
        sorted.sort_unstable();
        sorted[((sorted.len() - 1) as f64 * q) as usize]
    }
}

/// Runs the cell for `duration_ns`.
pub fn run(config: &Config, seed: u64, duration_ns: u64) -> Outcome {
    let mut world = world::World::new(config, seed);
    world.run_until(duration_ns);
    world.into_outcome(duration_ns)
}
