//! An object as a congestion control of lasthop: the order of its hooks, and the content of the socket at each call.
//!
//! Source: the kernel's order of calls, as its recorded traces show it (`docs/vectors.md`) and `docs/model/bpf.md` lists it.

mod facts;

use core::fmt;
use std::sync::Arc;

use lasthop_tcp::CaState;
use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, MarkReports, Moment, Needs, Prior, give_up,
};
use lasthop_units::{DataRate, Duration, Time};

use crate::error::Error;
use crate::kernel::{Borrowed, Kernel, Maps};
use crate::machine::Machine;
use crate::memory::Memory;
use crate::object::{Hook, Object};
use crate::program::{address, region};
use crate::socket::Field;
use crate::states::{self, Event, INFINITE, ack_flag, whole};

/// The first argument of every hook.
const SOCKET: u64 = address(region::SOCKET, 0);

/// First instructions of the hooks that are called.
#[derive(Clone, Copy, Debug)]
struct Entries {
    init: Option<usize>,
    ssthresh: Option<usize>,
    cong_avoid: Option<usize>,
    set_state: Option<usize>,
    cwnd_event: Option<usize>,
    in_ack_event: Option<usize>,
    pkts_acked: Option<usize>,
    cong_control: Option<usize>,
    undo_cwnd: Option<usize>,
}

/// One connection's controller.
pub(crate) struct Controller {
    object: Arc<Object>,
    machine: Machine,
    entries: Entries,
    needs: Needs,
    state: CaState,
    /// `init` has run
    has_begun: bool,
    /// segments in flight after the last ACK
    last_flight: u32,
    failure: Option<String>,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cwnd, ssthresh) = (self.cwnd(), self.ssthresh());
        f.debug_struct(self.object.name()).field("cwnd", &cwnd).field("ssthresh", &ssthresh).finish_non_exhaustive()
    }
}

impl Object {
    /// A controller for one connection.
    ///
    /// # Errors
    /// A message with all that is missing, from [`check`](Self::check).
    pub fn controller(self: &Arc<Self>, context: &Context) -> Result<Box<dyn CongestionControl>, Error> {
        self.check()?;
        Ok(Box::new(Controller::new(self, context)))
    }
}

impl Controller {
    pub fn new(object: &Arc<Object>, context: &Context) -> Controller {
        let memory = Memory::new(&object.program.regions, &object.socket.permits);
        let mut socket = object.socket.clone();
        socket.anchor(&memory);
        let kernel = Kernel {
            context: *context,
            draws: context.draws,
            now: Time::ZERO,
            socket,
            maps: Maps::new(&object.program),
            ack: AckSample::default(),
            borrowed: Borrowed::default(),
            copied: 0,
            records: 0,
        };
        let machine = Machine { memory, kernel, executed: 0 };
        let ops = object.ops();
        let entries = Entries {
            init: ops.entry(Hook::Init),
            ssthresh: ops.entry(Hook::Ssthresh),
            cong_avoid: ops.entry(Hook::CongAvoid),
            set_state: ops.entry(Hook::SetState),
            cwnd_event: ops.entry(Hook::CwndEvent),
            in_ack_event: ops.entry(Hook::InAckEvent),
            pkts_acked: ops.entry(Hook::PktsAcked),
            cong_control: ops.entry(Hook::CongControl),
            undo_cwnd: ops.entry(Hook::UndoCwnd),
        };
        let needs = Needs {
            paced: object.sets_pacing(),
            rate_samples: entries.cong_control.is_some(),
            marks: if object.needs_ecn() { MarkReports::EachPacket } else { MarkReports::AsConfigured },
            ..Needs::NONE
        };
        let object = Arc::clone(object);
        let state = CaState::Open;
        let mut made =
            Controller { object, machine, entries, needs, state, has_begun: false, last_flight: 0, failure: None };
        made.fill_constants(context);
        made
    }

    fn set(&mut self, field: Field, value: u64) {
        self.machine.kernel.socket.set(&mut self.machine.memory, field, value);
    }

    fn get(&self, field: Field) -> u64 {
        self.machine.kernel.socket.get(&self.machine.memory, field)
    }

    fn get32(&self, field: Field) -> u32 {
        self.get(field) as u32
    }

    fn jiffies(&self) -> u64 {
        self.machine.kernel.now.as_nanos() / self.machine.kernel.context.tick.as_nanos().max(1)
    }

    /// Calls a hook, if the object has it. A failing hook ends the run.
    fn call(&mut self, entry: Option<usize>, arguments: &[u64]) -> Option<u64> {
        let entry = entry?;
        match self.machine.run(&self.object.program, entry, arguments) {
            Ok(result) => Some(result),
            Err(fault) => {
                let sentence = fault.sentence(&self.object.program, &self.object.socket);
                self.failure = Some(format!("{}: {sentence}", self.object.name()));
                give_up();
            }
        }
    }

    fn event(&mut self, event: Event) {
        self.call(self.entries.cwnd_event, &[SOCKET, event as u64]);
    }

    /// Calls the hook with the new state while the socket still has the old one; for a timeout also without a change.
    fn enter(&mut self, state: CaState) {
        if self.state != state || state == CaState::Loss {
            self.call(self.entries.set_state, &[SOCKET, state as u64]);
            self.set(Field::CaState, state as u64);
            self.state = state;
        }
    }

    /// Sets the time and the sender's position.
    fn stand_at(&mut self, now: Time, snd_una: u64, snd_nxt: u64) {
        self.machine.kernel.now = now;
        self.set(Field::TcpMstamp, now.as_nanos() / 1000);
        self.set(Field::TcpClockCache, now.as_nanos());
        self.set(Field::SndUna, snd_una);
        self.set(Field::SndNxt, snd_nxt);
        let ack = &mut self.machine.kernel.ack;
        (ack.now, ack.snd_una, ack.snd_nxt) = (now, snd_una, snd_nxt);
        if !self.has_begun {
            self.has_begun = true;
            self.set(Field::Lsndtime, self.jiffies());
            self.call(self.entries.init, &[SOCKET]);
        }
    }

    fn control(&mut self, ack: &AckSample) {
        self.fill_rate_sample(ack);
        let sample = address(region::RATE_SAMPLE, 0);
        if self.object.ops().cong_control_arguments < 4 {
            self.call(self.entries.cong_control, &[SOCKET, sample]);
            return;
        }
        let advances = if ack.acked_bytes > 0 { ack_flag::DATA_ACKED | ack_flag::SND_UNA_ADVANCED } else { 0 };
        let reports = if ack.delivered_bytes > ack.acked_bytes { ack_flag::DATA_SACKED } else { 0 };
        let marks = if ack.ece { ack_flag::ECE } else { 0 };
        self.call(self.entries.cong_control, &[SOCKET, ack.snd_una & 0xffff_ffff, advances | reports | marks, sample]);
    }

    /// Finds ssthresh for a falling window, and remembers the values for an undo.
    fn reduce(&mut self, event: &CongestionEvent) {
        if self.entries.cong_control.is_none() || event.cause == CongestionCause::Timeout {
            self.set(Field::SndCwnd, whole(event.window).max(1));
        }
        let window = self.get(Field::SndCwnd);
        let reached = self.get(Field::SndSsthresh).max((window >> 1) + (window >> 2));
        self.set(Field::PriorCwnd, window);
        self.set(Field::PriorSsthresh, reached);
        self.set(Field::HighSeq, event.snd_nxt);
        self.set(Field::PrrDelivered, 0);
        self.set(Field::PrrOut, 0);
        self.set(Field::Lost, event.total_lost);
        self.machine.kernel.ack.total_lost = event.total_lost;
        self.machine.kernel.ack.flight_bytes = event.flight_bytes;
        let ssthresh = self.call(self.entries.ssthresh, &[SOCKET]).unwrap_or(window);
        self.set(Field::SndSsthresh, ssthresh);
        self.set(Field::SndCwndCnt, 0);
    }

    fn take_window(&mut self, window: u64) {
        self.set(Field::SndCwnd, window);
        self.set(Field::SndCwndStamp, self.jiffies());
    }
}

impl CongestionControl for Controller {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.measure(rtt);
        }
        self.stand_at(at.now, at.snd_una, at.snd_nxt);
    }

    fn on_transmit_start(&mut self, at: &Moment) {
        self.stand_at(at.now, at.snd_una, at.snd_nxt);
        self.event(Event::TransmitStart);
        self.set(Field::Lsndtime, self.jiffies());
    }

    fn observe(&mut self, ack: &AckSample) -> bool {
        self.stand_at(ack.now, ack.snd_una, ack.snd_nxt);
        if let Some(rtt) = ack.rtt_sample {
            self.measure(rtt);
        }
        self.count(ack);
        if ack.total_delivered == 0 {
            // The sender keeps no sum.
            self.set(Field::Delivered, self.get(Field::Delivered) + u64::from(ack.delivered_segments));
        }
        self.set(Field::DeliveredCe, self.get(Field::DeliveredCe).wrapping_add(u64::from(ack.ce_segments)));
        // Within a reduction the window is the sender's.
        let own = self.get(Field::SndCwnd);
        let seen = if self.state == CaState::Open || ack.window == 0 { own } else { u64::from(ack.window) };
        self.set(Field::SndCwnd, seen);
        let flags = states::ACK_SLOW_PATH | if ack.ece { states::ACK_ECE } else { 0 };
        self.call(self.entries.in_ack_event, &[SOCKET, flags]);
        self.set(Field::AckPackets, u64::from(ack.acked_segments));
        self.set(Field::AckRtt, ack.rtt_sample.map_or(u64::MAX, |rtt| rtt.as_nanos() / 1000));
        self.call(self.entries.pkts_acked, &[SOCKET, address(region::ACK_SAMPLE, 0)]);
        if self.get(Field::SndCwnd) == seen {
            self.set(Field::SndCwnd, own);
        }
        self.set(Field::Lsndtime, self.jiffies());
        true
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if ack.observed {
            self.stand_at(ack.now, ack.snd_una, ack.snd_nxt);
            self.count(ack);
        } else {
            self.observe(ack);
        }
        self.count_reduction(ack);
        if ack.ends_timeout {
            self.enter(CaState::Open);
        }
        if self.entries.cong_control.is_some() {
            self.control(ack);
        } else if !ack.in_recovery && ack.acked_segments > 0 {
            let arguments = [SOCKET, ack.snd_una & 0xffff_ffff, u64::from(ack.acked_segments)];
            self.call(self.entries.cong_avoid, &arguments);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.stand_at(event.now, event.snd_una, event.snd_nxt);
        self.reduce(event);
        self.enter(if event.cause == CongestionCause::Ecn { CaState::Cwr } else { CaState::Recovery });
        if self.entries.cong_control.is_none() {
            self.set(Field::SndCwnd, self.get(Field::SndSsthresh));
        }
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.stand_at(event.now, event.snd_una, event.snd_nxt);
        if !event.repeated {
            self.reduce(event);
            self.event(Event::Loss);
        }
        self.take_window(1);
        self.set(Field::SndCwndCnt, 0);
        self.enter(CaState::Loss);
    }

    fn on_recovery_exit(&mut self, at: &Moment) {
        self.stand_at(at.now, at.snd_una, at.snd_nxt);
        if self.entries.cong_control.is_none() {
            if self.get(Field::SndSsthresh) < u64::from(INFINITE) {
                self.take_window(self.get(Field::SndSsthresh));
            }
            self.event(Event::ReductionComplete);
        }
        self.enter(CaState::Open);
    }

    fn on_spurious(&mut self, at: &Moment, prior: &Prior) {
        self.stand_at(at.now, at.snd_una, at.snd_nxt);
        self.set(Field::PriorCwnd, whole(prior.cwnd));
        self.set(Field::PriorSsthresh, whole(prior.ssthresh));
        if let Some(window) = self.call(self.entries.undo_cwnd, &[SOCKET]) {
            self.take_window(window);
        }
        self.set(Field::SndSsthresh, self.get(Field::SndSsthresh).max(whole(prior.ssthresh)));
        self.enter(CaState::Open);
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.event(Event::WindowRestart);
        self.take_window(self.get(Field::SndCwnd).min(whole(restart_window)));
    }

    fn set_window(&mut self, segments: f64) {
        self.set(Field::SndCwnd, whole(segments));
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.set(Field::SndSsthresh, whole(segments));
    }

    /// True for a controller with its own rate, which steps its window within recovery too.
    fn owns_recovery(&self) -> bool {
        self.entries.cong_control.is_some()
    }

    fn cwnd(&self) -> f64 {
        f64::from(self.get32(Field::SndCwnd).max(1))
    }

    fn ssthresh(&self) -> f64 {
        let ssthresh = self.get32(Field::SndSsthresh);
        if ssthresh >= INFINITE { f64::INFINITY } else { f64::from(ssthresh) }
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        let rate = self.get(Field::PacingRate);
        (self.needs.paced && rate > 0 && rate < u64::from(u32::MAX) << 16).then(|| DataRate::from_bps(8 * rate))
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
