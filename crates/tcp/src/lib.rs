//! A TCP endpoint without input and output: it takes the time and segments, and returns segments to send and the time
//! of its next timer.
//!
//! ```text
//!   write, close                                        delivered_bytes
//!        │                                                    ▲
//!   ┌────▼──────────────── Endpoint ────────────────────────┐ │
//!   │ Sender: scoreboard, recovery, RTO, congestion control │ │
//!   │ Receiver: reassembly, ACK policy, window              ├─┘
//!   └────┬───────────────────────────────────────▲──────────┘
//!   poll_transmit(now)                   handle_segment(now, …)
//!   poll_timeout()                       handle_timeout(now)
//! ```
//!
//! Models: connection set-up and end, flow control, zero-window probes and reassembly [RFC 9293];
//! slow start, congestion avoidance and fast retransmit [RFC 5681]; NewReno [RFC 6582] and SACK
//! [RFC 6675] recovery; recovery as in Linux, with RACK and TLP [RFC 8985], PRR [RFC 6937, RFC 9937], F-RTO [RFC 5682], undo [RFC
//! 4015] and pacing; limited transmit [RFC 3042]; the retransmission timer [RFC 6298]; a reaction to lost ACKs
//! \[hashimoto2008\]; timestamps, PAWS and window scaling [RFC 7323]; delayed ACKs [RFC 1122 §4.2.3.2], also as in
//! Linux, and ACK skipping \[gopal2005\]; DSACK [RFC 2883]; a receive buffer that tunes itself; ECN [RFC 3168, RFC
//! 8257, RFC 9768]; challenge ACKs [RFC 5961]; giving up [RFC 9293 §3.8.3].
//!
//! Leaves out: urgent data, keep-alives, Fast Open, probes for the path's MTU, merging of segments on arrival. Payload is
//! counted, not carried.

mod arrival;
mod config;
pub mod congestion_control;
mod counters;
mod device;
mod ecn;
mod endpoint;
mod info;
mod profile;
mod ranges;
mod receive;
mod report;
mod segment;
mod send;
mod sequence;
mod sizes;
mod state;
mod tick;
mod timer;
mod transmit;
mod truesize;

pub use config::{
    AccEcnOption, AceWraps, AckLoss, AckLossMode, AckPolicy, ArrivalRules, Autotune, Config, CountOver, DecreaseFrom,
    DelayedAck, EcnUse, Growth, GrowthMode, LocalDrop, LossDetection, Pacing, Pending, ReceiveOffload, ReceiveWindow,
    RecoveryMachine, RtoFormula, Segments, Skip, SmallQueue, WindowReduction, WindowValidation,
};
pub use counters::Counters;
pub use endpoint::Endpoint;
pub use info::{Info, option_bit};
pub use lasthop_units::{CaState, Hold};
pub use profile::Profile;
pub use segment::{AccEcn, Flags, SackBlock, SackBlocks, Segment, Timestamps};
pub use send::{Delay, Write};
pub use sequence::SeqNumber;
/// For the test of the sizes of frequently handled types.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;
pub use state::{Failure, State};
pub use truesize::truesize;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
