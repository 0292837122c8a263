//! Loss recovery as in Linux: one state machine for SACK and for duplicate ACKs, in which every refinement is a
//! switch.
//!
//! ```text
//!            SACK, duplicate ACK          something is lost
//!     Open ─────────────► Disorder ─────────────────────────► Recovery
//!      │ ▲ ▲                                                   │  ▲ │
//!      │ │ └── all ACKed, or the loss was none (undo) ─────────┘  │ │ timeout
//!  ECN │ │     Loss ◄─────────────────────────────────────────────┼─┘
//!      ▼ │      └── a retransmission is lost ──────────────────────┘
//!     CWR (a window ends)
//! ```
//!
//! | file | subject | source |
//! |---|---|---|
//! | `acknowledgement` | the processing of an ACK, from the header to the window | RFC 5681, RFC 6675 §5 |
//! | `facts` | the facts of an ACK | |
//! | `transition` | the figure above, as a decision table | `docs/model/tcp-recovery.md` §5 |
//! | `apply` | the application of the table | RFC 6675 §5, RFC 4015 |
//! | `spurious`, `dsack`, `repetition` | detection of spurious reductions | RFC 3522, RFC 3708, RFC 2883 |
//! | `forward_rto` | detection of spurious timeouts | RFC 5682 |
//! | `duplicates` | duplicate ACKs in place of SACK | RFC 6582 §3.2 |
//! | `timeout` | the effects of a timeout | RFC 6298 §5, RFC 5681 §3.1 |
//! | `timer`, `timekeeping` | the purposes of the timer | RFC 6298, RFC 8985 §8 |
//! | `reduction`, `window` | the fall of the window | RFC 6937, RFC 9937 §6; rate halving |
//! | `rack`, `loss_detection` | loss by time, or by the rule in force | RFC 8985 §6, RFC 6675 §4 |
//! | `probe`, `probing` | tail loss probe | RFC 8985 §7 |
//! | `sending` | the choice of the next segment | RFC 6675 §4, RFC 5682 §3 |
//! | `held_time`, `holding` | the limits that held data back, and for how long | `tcp_info` |
//! | `deferral` | short bursts wait | `docs/model/tcp-recovery.md` §10 |
//! | `rate`, `pacing` | delivery rate, pacing | draft-cheng-iccrg-delivery-rate-estimation |
//! | `usage` | the use of the window | RFC 7661, RFC 9438 §5.8 |
//!
//! Coded from that page and the RFCs. Held against traces of a 6.18 kernel (`lasthop cc recovery`) and against
//! packet scripts (`lasthop cc packetdrill`).
//!
//! Leaves out: forward RTO of SACK reneging (the RTO repairs it), local congestion, path-MTU probes.

mod acknowledgement;
mod apply;
mod deferral;
mod dsack;
mod duplicates;
mod facts;
mod forward_rto;
mod held_time;
mod holding;
mod loss_detection;
mod min_rtt;
mod pacing;
mod probe;
mod probing;
mod rack;
mod rate;
mod reduction;
mod repetition;
mod sending;
mod spurious;
mod timekeeping;
mod timeout;
mod timer;
mod transition;
mod usage;
mod window;

use lasthop_units::{CaState as Phase, Duration, Time};

pub(crate) use self::held_time::HeldBy;
use self::held_time::HeldTime;
use self::min_rtt::MinRtt;
use self::probe::TailProbe;
use self::rack::Rack;
use self::rate::DeliveryRate;
use self::reduction::Reduction;
use self::spurious::Claim;
pub(crate) use self::timer::Purpose;
use self::timer::Timer;
use self::usage::WindowUsage;
use crate::config::Config;

/// Data that may be sent until the next ACK or timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Lost data, then new data.
    #[default]
    LostFirst,
    /// New data, and lost data only if there is no new data. [RFC 5682 §3.1 step 2b]
    NewFirst,
    /// New data only.
    NewOnly,
}

/// The state of recovery.
#[derive(Clone, Debug)]
pub(crate) struct Linux {
    pub phase: Phase,
    /// SND.NXT when Cwr, Recovery or Loss began: its acknowledgement ends it [RFC 6675 §2, RecoveryPoint]
    pub(super) high: u64,
    /// without SACK: segments that have arrived out of order, as duplicate ACKs tell
    pub(super) duplicates: u32,
    /// degree of reordering, in segments
    pub reordering: u32,
    pub reordering_seen: u32,
    /// congestion window in whole segments after the last event
    pub(super) window: u32,
    pub(super) reduction: Reduction,
    pub(super) claim: Claim,
    pub(super) rack: Rack,
    pub(super) probe: TailProbe,
    /// F-RTO is armed: whether the timeout was spurious is not yet known. [RFC 5682]
    pub(super) forward_rto: bool,
    /// timeouts in a row
    pub timeouts: u32,
    pub permission: Permission,
    /// segments that the present send may still contain
    pub(super) released: u32,
    /// where the present send ends, if it has several segments and its last carries PSH; else 0
    pub(super) send_end: u64,
    pub timer: Timer,
    /// the timer stands for a probe after new data that went out at this time in the present event
    pub(super) probe_set_at: Option<Time>,
    pub(super) min_rtt: MinRtt,
    pub rate: DeliveryRate,
    /// segments delivered by the ACKs before the one at hand
    pub(super) delivered_before: u64,
    pub(super) usage: WindowUsage,
    /// duplicates that the peer reported. [RFC 2883]
    pub dsacks: u32,
    pub held: HeldTime,
}

impl Linux {
    pub fn new(config: &Config) -> Linux {
        Linux {
            phase: Phase::Open,
            high: 0,
            duplicates: 0,
            reordering: config.duplicate_ack_threshold,
            reordering_seen: 0,
            window: config.initial_window,
            reduction: Reduction::default(),
            claim: Claim::default(),
            rack: Rack::default(),
            probe: TailProbe::default(),
            forward_rto: false,
            timeouts: 0,
            permission: Permission::default(),
            released: 0,
            send_end: 0,
            timer: Timer::default(),
            probe_set_at: None,
            min_rtt: MinRtt::default(),
            rate: DeliveryRate::default(),
            delivered_before: 0,
            usage: WindowUsage::default(),
            dsacks: 0,
            held: HeldTime::default(),
        }
    }

    /// Starts a new event: the decision to send is made again.
    pub fn release_nothing(&mut self) {
        self.released = 0;
        self.send_end = 0;
        self.probe_set_at = None;
    }

    /// Forgets the losses of the SYN: the connection is open.
    pub fn restart(&mut self) {
        self.phase = Phase::Open;
        self.claim = Claim::default();
        self.timeouts = 0;
        self.timer = Timer::default();
    }

    /// True while the window is being reduced, step by step.
    pub fn reduces(&self) -> bool {
        matches!(self.phase, Phase::Cwr | Phase::Recovery)
    }
    /// Least RTT of the last minutes. [RFC 8985 §6.1]
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.get()
    }
}
