//! One node: its frames, its waits, and its counts.

use std::collections::VecDeque;

use lasthop_engine::Stream;

use super::air::Kind;
use super::ampdu::{Agreement, Recipient};
use super::users::{AccessPoint, Owed};
use super::{Config, NodeConfig, Source};

/// The frame at the head of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub to: usize,
    pub number: u64,
    pub head_since: u64,
}

/// A response that is due.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    pub kind: Kind,
    /// The end of the frame that it answers.
    pub since: u64,
    /// The end of that frame or of the response to it, heard or not.
    pub over: u64,
    /// Time at which to give up; `None`: that time came during a frame that may be the response, whose end decides.
    pub deadline: Option<u64>,
}

/// A frame that is sent a SIFS after the one before it, whatever the medium does.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub at: u64,
    pub kind: Kind,
    pub to: usize,
    pub duration: u64,
}

/// The next moment at which a backoff slot begins.
#[derive(Clone, Copy, Debug)]
pub struct Boundary {
    pub at: u64,
    /// True if no slot has passed before it.
    pub first: bool,
    /// True if the medium has been busy since the boundary before, but so shortly that the node does not know of it here.
    pub unnoticed: bool,
}

/// A channel access function: the only one of a node, or one of four.
pub struct Function {
    pub source: Source,
    /// Time from the end of the busy time to the first boundary.
    pub space_ns: u64,
    pub edca: bool,
    pub cw_min: u32,
    pub cw_max: u32,
    pub txop_limit_ns: u64,
    /// Nodes to which it sends in turn.
    pub peers: Vec<usize>,
    pub draws: Stream,
    pub arrivals: Stream,
    pub next_arrival: Option<u64>,
    /// Arrival times of the frames behind the head.
    pub queue: VecDeque<u64>,
    /// Whether it contends, if the queue does not decide.
    pub wants: Option<bool>,
    pub frame: Option<Frame>,
    pub numbered: u64,
    /// Its A-MPDUs, instead of a frame.
    pub agreement: Option<Agreement>,
    /// True from its first frame in an exchange or TXOP to the end of the last.
    pub holds: bool,
    pub cw: u32,
    /// Failures of the frame, or with A-MPDUs failures in a row: QSRC. [802.11-2020 §10.23.2.2]
    pub retries: u32,
    pub counter: u32,
    /// Backoff of a function that has a frame and sends at the end of the inter-frame space without one; it applies if
    /// the medium turns busy before. Without EDCA.
    pub newcomer: Option<u32>,
    pub boundary: Option<Boundary>,
    /// True if it has given up its last frame and counts on as if it had another. Without EDCA.
    pub gave_up: bool,
    /// Earliest boundary: a response is given up at this time.
    pub not_before: u64,
}

pub struct Node {
    pub config: NodeConfig,
    pub functions: Vec<Function>,
    /// The function that has the exchange, and the latest end of the exchange.
    pub active: usize,
    pub txop_ends: Option<u64>,
    pub is_busy: bool,
    /// Start of the last busy time; a frame that begins at most a SIFS after the end of another continues it.
    pub busy_since: u64,
    /// End of the last busy time, physical or virtual; it may be in the future.
    pub idle_since: u64,
    /// End of the last signal.
    pub quiet_since: u64,
    pub nav_until: u64,
    /// Who holds the TXOP that has set the NAV.
    pub nav_holder: usize,
    /// Time at which to forget a NAV that an RTS set, and the end of that RTS.
    pub nav_check: Option<(u64, u64)>,
    /// Start of the last frame that it heard or sent.
    pub last_start: u64,
    pub eifs: bool,
    pub awaited: Option<Awaited>,
    pub pending: Option<Pending>,
    /// Number of the last data frame received from each function of each node.
    pub last_received: Vec<[Option<u64>; 4]>,
    /// What has come under Block Ack from each function of each node.
    pub recipients: Vec<[Recipient; 4]>,
    /// An access point that sends to several users, or asks them.
    pub access_point: Option<AccessPoint>,
    /// Its answer to a trigger.
    pub owed: Owed,
    /// Bytes that wait besides its latest MPDUs, as these report.
    pub report: Option<u64>,
    /// Until when its function for triggered data has MU EDCA parameters.
    pub mu_edca_until: Option<u64>,
}

impl Node {
    pub fn new(config: &Config, which: usize, seed: u64) -> Node {
        Node {
            config: config.nodes[which],
            functions: functions(config, which, seed),
            active: 0,
            txop_ends: None,
            is_busy: false,
            busy_since: 0,
            idle_since: 0,
            quiet_since: 0,
            nav_until: 0,
            nav_holder: usize::MAX,
            nav_check: None,
            last_start: 0,
            eifs: false,
            awaited: None,
            pending: None,
            last_received: vec![[None; 4]; config.nodes.len()],
            recipients: vec![Default::default(); config.nodes.len()],
            access_point: access_point(config, which),
            owed: Owed::default(),
            report: None,
            mu_edca_until: None,
        }
    }

    /// Handles a medium that turns busy or stays busy.
    pub fn turn_busy(&mut self, config: &Config, now: u64) {
        let goes_on = self.quiet_since > 0 && now <= self.quiet_since + config.sifs_ns;
        if !self.is_busy && !goes_on {
            self.busy_since = now;
        }
        self.is_busy = true;
    }

    /// Time at which the node has waited long enough after the medium turned idle: DIFS, AIFS, EIFS, or a slot less
    /// with PIFS. EIFS counts from the end of the signal, whatever the NAV [802.11-2020 §10.3.2.3.7].
    fn earliest(&self, config: &Config, function: usize) -> u64 {
        let function = &self.functions[function];
        let over = self.idle_since + function.space_ns;
        let eifs_over = self.quiet_since + config.eifs_ns + function.space_ns - config.difs_ns;
        let over = if self.eifs { over.max(eifs_over) } else { over };
        over.max(function.not_before)
    }

    /// The first boundary, on the grid of slots after the inter-frame space, that is not too early.
    pub fn first_boundary(&self, config: &Config, function: usize) -> Boundary {
        let earliest = self.earliest(config, function);
        let mut at = self.idle_since + self.functions[function].space_ns;
        while at < earliest {
            at += config.slot_ns;
        }
        Boundary { at, first: true, unnoticed: false }
    }

    /// Returns whether a frame that arrives at `now` has waited long enough to be sent at once.
    pub fn has_waited(&self, config: &Config, function: usize, now: u64) -> bool {
        self.quiet_since <= self.idle_since && now >= self.earliest(config, function)
    }
}

fn access_point(config: &Config, which: usize) -> Option<AccessPoint> {
    let users = config.users.as_ref().filter(|_| config.nodes[which].ap == which)?;
    let next_request = users.access_request_ns.filter(|_| users.uplink);
    let clients = vec![Default::default(); config.nodes.len()];
    Some(AccessPoint { clients, next_request, ..AccessPoint::default() })
}

/// The channel access functions of a node.
fn functions(config: &Config, which: usize, seed: u64) -> Vec<Function> {
    let node = &config.nodes[which];
    let stations = || (0..config.nodes.len()).filter(|i| config.nodes[*i].ap == which && *i != which);
    let peers: Vec<usize> = if node.ap == which { stations().collect() } else { vec![node.ap] };
    let draws = |suffix: &str| Stream::named(seed, "backoff", &format!("node{which}{suffix}"));
    let arrivals = || Stream::new(seed, "arrivals", which as u64);
    let Some(categories) = node.edca else {
        let space_ns = if node.pifs { config.difs_ns - config.slot_ns } else { config.difs_ns };
        let plain = Function::new(node.source, space_ns, (config.cw_min, config.cw_max), draws(""), arrivals());
        return vec![Function { peers, ..plain }.with_first_frame()];
    };
    let one = |(category, suffix): (super::Category, &str)| {
        let space_ns = config.sifs_ns + category.aifsn * config.slot_ns;
        let windows = (category.cw_min, category.cw_max);
        let plain = Function::new(category.source, space_ns, windows, draws(suffix), arrivals());
        let peers = category.to.map_or_else(|| peers.clone(), |to| vec![to]);
        let (agreement, txop_limit_ns) =
            (config.aggregation.as_ref().map(|_| Agreement::default()), category.txop_limit_ns);
        Function { edca: true, peers, agreement, txop_limit_ns, ..plain }.with_first_frame()
    };
    categories.into_iter().zip([" vo", " vi", "", " bk"]).map(one).collect()
}

impl Function {
    fn new(source: Source, space_ns: u64, (cw_min, cw_max): (u32, u32), draws: Stream, arrivals: Stream) -> Function {
        Function {
            source,
            space_ns,
            edca: false,
            cw_min,
            cw_max,
            txop_limit_ns: 0,
            peers: Vec::new(),
            draws,
            arrivals,
            next_arrival: None,
            queue: VecDeque::new(),
            wants: None,
            frame: None,
            numbered: 0,
            agreement: None,
            holds: false,
            cw: cw_min,
            retries: 0,
            counter: 0,
            newcomer: None,
            boundary: None,
            gave_up: false,
            not_before: 0,
        }
    }

    fn with_first_frame(mut self) -> Function {
        self.next_arrival = match self.source {
            Source::Silent | Source::Saturated => None,
            Source::Periodic { first_ns, .. } => Some(first_ns),
            Source::Bernoulli { .. } => Some(self.bernoulli_after(0)),
        };
        self.take_next_frame(0);
        if self.frame.is_some() && !self.edca {
            self.enter_without_backoff();
        }
        self
    }

    fn bernoulli_after(&mut self, mut at: u64) -> u64 {
        let Source::Bernoulli { step_ns, probability } = self.source else { unreachable!() };
        assert!(probability > 0.0, "a source that never sends is Silent");
        loop {
            at += step_ns;
            if self.arrivals.chance(probability) {
                return at;
            }
        }
    }

    /// Queues the frame that arrives now and looks for the next.
    pub fn accept_arrival(&mut self, now: u64) {
        self.queue.push_back(now);
        self.next_arrival = match self.source {
            Source::Periodic { interval_ns, .. } => Some(now + interval_ns),
            _ => Some(self.bernoulli_after(now)),
        };
    }

    /// Packets that wait behind the head.
    pub fn waiting(&self) -> u64 {
        if self.source == Source::Saturated { u64::MAX / 2 } else { self.queue.len() as u64 }
    }

    /// Whether there is a frame to send.
    pub fn has_frame(&self) -> bool {
        if let Some(wants) = self.wants {
            return wants;
        }
        self.frame.is_some() || self.agreement.as_ref().is_some_and(|a| self.waiting() > 0 || a.has_more())
    }

    /// Moves a frame to the head if there is one. The AP serves all stations in turn.
    pub fn take_next_frame(&mut self, now: u64) {
        self.frame = None;
        if self.agreement.is_some() {
            return;
        }
        let arrival = match self.source {
            Source::Saturated => Some(now),
            _ => self.queue.pop_front(),
        };
        let Some(arrival) = arrival else { return };
        let to = self.peers[(self.numbered % self.peers.len() as u64) as usize];
        self.frame = Some(Frame { to, number: self.numbered, head_since: now.max(arrival) });
        self.numbered += 1;
    }

    pub fn draw_backoff(&mut self) {
        self.counter = self.draws.up_to(self.cw);
    }

    /// Handles a frame with nothing left to count on an idle medium, though not idle for long enough yet.
    pub fn enter_without_backoff(&mut self) {
        self.newcomer = Some(self.draws.up_to(self.cw));
    }

    /// Widens the window after a failure, or resets it after the last; returns whether another attempt follows.
    pub fn widen_window(&mut self, retry_limit: Option<u32>) -> bool {
        if retry_limit == Some(self.retries) {
            self.reset_window();
            return false;
        }
        self.retries += 1;
        self.cw = (2 * (self.cw + 1) - 1).min(self.cw_max);
        true
    }

    pub fn reset_window(&mut self) {
        self.cw = self.cw_min;
        self.retries = 0;
    }
}
