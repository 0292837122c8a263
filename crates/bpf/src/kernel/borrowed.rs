//! Controllers of lasthop in place of the kernel's that objects call: `cubictcp_*` is `cubic` and `dctcp_*` is `dctcp`,
//! as in the profile `linux`.
//!
//! They keep their own state, not in `icsk_ca_priv`, and their part of a segment not in `snd_cwnd_cnt`. Windows and
//! thresholds are those of the socket.

use lasthop_tcp::congestion_control::{
    AckSample, Algorithm, CongestionCause, CongestionControl, CongestionEvent, Moment, cubic, dctcp,
};
use lasthop_tcp::{CaState, Profile};
use lasthop_units::Duration;

use super::Kernel;
use crate::memory::Memory;
use crate::socket::Field;
use crate::states::{Event, INFINITE};

/// CUBIC as in the profile `linux`.
fn cubic_of_linux() -> Algorithm {
    match Profile::Linux.config().congestion_control {
        cubic @ Algorithm::Cubic(_) => cubic,
        _ => Algorithm::Cubic(cubic::Params { era: cubic::CubicEra::Linux, ..Default::default() }),
    }
}

impl Kernel {
    fn moment(&self) -> Moment {
        Moment {
            now: self.now,
            snd_una: self.ack.snd_una,
            snd_nxt: self.ack.snd_nxt,
            app_limited: self.ack.app_limited,
        }
    }

    fn event(&self, memory: &Memory, cause: CongestionCause, repeated: bool) -> CongestionEvent {
        CongestionEvent {
            now: self.now,
            cause,
            window: f64::from(self.socket.get32(memory, Field::SndCwnd)),
            flight_bytes: self.ack.flight_bytes,
            repeated,
            snd_una: self.ack.snd_una,
            snd_nxt: self.ack.snd_nxt,
            total_lost: self.ack.total_lost,
        }
    }

    fn cubic(&mut self) -> &mut Box<dyn CongestionControl> {
        let context = &self.context;
        self.borrowed.cubic.get_or_insert_with(|| cubic_of_linux().build(context))
    }

    fn dctcp(&mut self) -> &mut Box<dyn CongestionControl> {
        let context = &self.context;
        self.borrowed.dctcp.get_or_insert_with(|| dctcp::Params::default().build(context))
    }

    /// The socket's window and threshold, in the form of a controller of lasthop.
    fn windows(&self, memory: &Memory) -> (f64, f64) {
        let (cwnd, ssthresh) =
            (self.socket.get32(memory, Field::SndCwnd), self.socket.get32(memory, Field::SndSsthresh));
        (f64::from(cwnd), if ssthresh >= INFINITE { f64::INFINITY } else { f64::from(ssthresh) })
    }

    pub(super) fn cubic_init(&mut self, _: &Memory) -> u64 {
        let at = self.moment();
        self.borrowed.cubic = None;
        self.cubic().on_established(&at, None);
        0
    }

    pub(super) fn cubic_ssthresh(&mut self, memory: &Memory) -> u64 {
        let event = self.event(memory, CongestionCause::Loss, false);
        let cubic = self.cubic();
        cubic.on_congestion(&event);
        cubic.ssthresh() as u64
    }

    pub(super) fn cubic_acked(&mut self, memory: &mut Memory) -> u64 {
        let (ack, (cwnd, ssthresh)) = (self.ack, self.windows(memory));
        let cubic = self.cubic();
        cubic.set_window(cwnd);
        cubic.set_ssthresh(ssthresh);
        cubic.observe(&ack);
        // HyStart ends slow start here.
        let ends = cubic.ssthresh() < ssthresh;
        let found = cubic.ssthresh();
        if ends {
            self.socket.set(memory, Field::SndSsthresh, found as u64);
        }
        0
    }

    pub(super) fn cubic_cong_avoid(&mut self, memory: &mut Memory, acked: u32) -> u64 {
        let (cwnd, ssthresh) = self.windows(memory);
        let sample = AckSample {
            acked_segments: acked,
            slow_start_credit: f64::from(acked),
            avoidance_credit: f64::from(acked),
            app_limited: self.socket.get(memory, Field::IsCwndLimited) == 0,
            in_recovery: false,
            ends_timeout: false,
            observed: true,
            ..self.ack
        };
        let cubic = self.cubic();
        cubic.set_window(cwnd);
        cubic.set_ssthresh(ssthresh);
        cubic.on_ack(&sample);
        let grown = cubic.cwnd() as u64;
        self.socket.set(memory, Field::SndCwnd, grown);
        0
    }

    pub(super) fn cubic_state(&mut self, memory: &Memory, state: u8) -> u64 {
        let (at, event) = (self.moment(), self.event(memory, CongestionCause::Timeout, true));
        match CaState::numbered(state) {
            Some(CaState::Loss) => self.cubic().on_timeout(&event),
            Some(CaState::Open) => self.cubic().on_recovery_exit(&at),
            _ => {}
        }
        0
    }

    pub(super) fn cubic_event(&mut self, event: u32) -> u64 {
        let at = self.moment();
        if event == Event::TransmitStart as u32 {
            self.cubic().on_transmit_start(&at);
        }
        0
    }

    pub(super) fn dctcp_init(&mut self) -> u64 {
        let at = self.moment();
        self.borrowed.dctcp = None;
        self.dctcp().on_established(&at, None::<Duration>);
        0
    }

    pub(super) fn dctcp_update(&mut self) -> u64 {
        let ack = self.ack;
        self.dctcp().observe(&ack);
        0
    }

    pub(super) fn dctcp_ssthresh(&mut self, memory: &Memory) -> u64 {
        self.borrowed.loss_cwnd = self.socket.get32(memory, Field::SndCwnd);
        let event = self.event(memory, CongestionCause::Ecn, false);
        let dctcp = self.dctcp();
        dctcp.on_congestion(&event);
        dctcp.ssthresh() as u64
    }

    /// A loss takes half, whatever the share of marks. [RFC 8257 §3.5]
    fn dctcp_loss(&mut self, memory: &mut Memory) {
        let cwnd = self.socket.get32(memory, Field::SndCwnd);
        self.borrowed.loss_cwnd = cwnd;
        self.socket.set(memory, Field::SndSsthresh, u64::from((cwnd / 2).max(2)));
    }

    pub(super) fn dctcp_state(&mut self, memory: &mut Memory, state: u8) -> u64 {
        let is_new = self.socket.get(memory, Field::CaState) != CaState::Recovery as u64;
        if CaState::numbered(state) == Some(CaState::Recovery) && is_new {
            self.dctcp_loss(memory);
        }
        0
    }

    pub(super) fn dctcp_event(&mut self, memory: &mut Memory, event: u32) -> u64 {
        if event == Event::Loss as u32 {
            self.dctcp_loss(memory);
        }
        0
    }

    pub(super) fn dctcp_undo(&mut self, memory: &Memory) -> u64 {
        u64::from(self.socket.get32(memory, Field::SndCwnd).max(self.borrowed.loss_cwnd))
    }
}
