//! Reacts to lost ACKs: halves the window when too many ACKs are missing, around any controller that has a window.
//!
//! Source: hashimoto2008 §III; RFC 5690 §4.3 for how a sender can tell that ACKs are missing.
//!
//! ```text
//!             more than `threshold` missing                 one RTT later
//!   Armed ───────────────────────────────────► Waiting ──────────────────────► halve, Armed
//!     ▲                                           │
//!     └── one RTT after ── Disarmed ◄─────────────┴── data loss, timeout
//! ```
//! An acknowledgement number that jumps by more than is normal hides the ACKs in between. `mode = "paper"` takes
//! `normal_jump` as normal. `mode = "general"` learns it: the jump that acknowledged the median segment of the last
//! round trip, two segments at least until 64 ACKs have been seen [RFC 1122 §4.2.3.2]; waiting begins a round trip, by
//! whose median the earlier jumps are counted again. A jump does not count if its ACK echoes the tick in which the
//! first segment that it covers was sent, since the receiver cannot have acknowledged that segment before [RFC 7323
//! §4.3], except another one of the same tick. An ACK that echoes a later tick hides an ACK at least, unless half of
//! the segments or more come so: then something on the way leaves ACKs out, and only jumps count. Duplicate ACKs count
//! as ACKs that came. A DSACK while waiting shows reordering or an ACK path that repeats, and cancels. [RFC 2883]
//! Leaves out: RFC 5690's agreement with the receiver on the ratio.

use lasthop_units::{CaState, Duration, Time};

use super::Sender;
use super::ack_watch::{Sighting, Tick};
use super::arriving::Acknowledgement;
use super::recovery::Phase;
use crate::congestion_control::CongestionCause;
use crate::counters::Counters;

/// The least window after halving, in segments.
const LEAST_WINDOW: f64 = 2.0;

impl Sender {
    /// The state before an acknowledgement is taken in; `None` if ACKs are not watched.
    pub(super) fn sight(&self, ack: &Acknowledgement) -> Option<Sighting> {
        self.ack_watch.as_ref()?;
        let una = self.board.una();
        let echo = Tick { ends: ack.echo_ends, length: self.config.timestamp_clock };
        let first_block = ack.sack.as_slice().first();
        let dsack =
            first_block.and_then(|block| self.numbering.offset(block.right, una)).is_some_and(|end| end <= ack.ack);
        Some(Sighting {
            now: ack.now,
            jump: ack.ack.saturating_sub(una).div_ceil(u64::from(self.mss)).min(u64::from(u32::MAX)) as u32,
            head_sent_at: self.board.head().map_or(ack.now, |head| head.sent_at),
            echo: (ack.echo_ends != Time::NEVER).then_some(echo),
            dsack,
            in_recovery: false,
            srtt: Duration::ZERO,
            snd_una: ack.ack.max(una),
            snd_nxt: self.board.nxt(),
        })
    }

    /// Halves the window when it is time. [hashimoto2008 §III]
    pub(super) fn watch_acks(&mut self, seen: &Sighting, counters: &mut Counters) {
        let in_recovery = self.recovers_data();
        let srtt = self.rtt.srtt().unwrap_or(Duration::ZERO);
        let Some(watch) = &mut self.ack_watch else { return };
        let sets_ssthresh = watch.params.set_ssthresh;
        let found = watch.on_ack(&Sighting { in_recovery, srtt, ..*seen });
        counters.ack_losses_detected += u64::from(found.missing);
        counters.acks_watched += u64::from(found.would_show.is_some());
        counters.acks_that_would_show += u64::from(found.would_show == Some(true));
        if found.halve && !in_recovery {
            self.halve(seen.now, sets_ssthresh);
        }
    }

    fn recovers_data(&self) -> bool {
        if self.is_linux() {
            matches!(self.linux.phase, CaState::Recovery | CaState::Loss)
        } else {
            self.recovery.phase != Phase::Open
        }
    }

    /// Reports a loss to the controller, as its memory needs it; then the window is half of its earlier value.
    fn halve(&mut self, now: Time, sets_ssthresh: bool) {
        let (cwnd, ssthresh) = (self.control.cwnd(), self.control.ssthresh());
        let half = (cwnd / 2.0).max(LEAST_WINDOW);
        let event = self.congestion_event(now, CongestionCause::Loss);
        self.control.on_congestion(&event);
        self.control.on_recovery_exit(&self.moment(now));
        self.control.set_window(half.min(cwnd));
        self.control.set_ssthresh(if sets_ssthresh { half } else { ssthresh });
        self.settle_window();
    }
}
