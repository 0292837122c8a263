//! A connection of a library as a controller of lasthop's endpoints.
//!
//! Leaves out: nothing of the trait. [`CongestionControl::on_ack`] passes an ACK without an earlier `observe` to
//! `pkts_acked` first, so that it receives each once.

use std::sync::Arc;

use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, MarkReports, Moment, Needs, Prior, give_up,
};
use lasthop_units::{DataRate, Duration, Time};

use crate::abi::{self, CwndEvent, Sock, State, flag};
use crate::connection::Connection;
use crate::error::Error;
use crate::library::{Library, Setting};
use crate::told;

impl Library {
    /// A controller for one connection, with the parameters of the scenario. It keeps the library loaded.
    pub fn controller(
        self: &Arc<Self>,
        context: &Context,
        settings: &[(String, Setting)],
    ) -> Result<Box<dyn CongestionControl>, Error> {
        Ok(Box::new(Controller::new(Connection::new(self, context, settings)?)?))
    }
}

/// The window after a timeout, in segments. [RFC 5681 §3.1]
const LOSS_WINDOW: f64 = 1.0;
/// A threshold in whole segments that counts as none, as do larger ones.
const NO_SSTHRESH: f64 = i32::MAX as f64;

#[derive(Debug)]
pub(crate) struct Controller {
    connection: Connection,
    needs: Needs,
    owns_recovery: bool,
    whole_segments: bool,
    failure: Option<String>,
}

impl Controller {
    /// A controller of a connection whose `init` has been called.
    pub fn new(connection: Connection) -> Result<Controller, Error> {
        let flags = connection.sock().flags;
        let refuse = |what: &str| Err(Error::new(connection.name(), what));
        if flags & !flag::ALL != 0 {
            return refuse("init set a flag that this version of lasthop_cc.h does not have");
        }
        if let Some(fault) = fault(connection.sock()) {
            return refuse(&format!("init left {fault}"));
        }
        let marks = match (flags & flag::MARKS_EACH_PACKET != 0, flags & flag::MARKS_COUNTED != 0) {
            (false, false) => MarkReports::AsConfigured,
            (true, false) => MarkReports::EachPacket,
            (false, true) => MarkReports::Counted,
            (true, true) => return refuse("init set two flags of how marks are reported; leave one out"),
        };
        let needs = Needs {
            paced: flags & flag::PACED != 0,
            rate_samples: flags & flag::RATE_SAMPLES != 0,
            marks,
            is_scalable: flags & flag::SCALABLE != 0,
            eases_marks: flags & flag::EASES_MARKS != 0,
        };
        let whole_segments = flags & flag::WHOLE_SEGMENTS != 0;
        let owns_recovery = flags & flag::OWNS_RECOVERY != 0;
        let mut controller = Controller { connection, needs, owns_recovery, whole_segments, failure: None };
        let sock = controller.connection.sock();
        let (cwnd, ssthresh) = (sock.cwnd, sock.ssthresh);
        controller.write(controller.cut(cwnd), controller.cut_ssthresh(ssthresh));
        Ok(controller)
    }

    fn cut(&self, segments: f64) -> f64 {
        if self.whole_segments { f64::from(segments as u32) } else { segments }
    }

    fn cut_ssthresh(&self, segments: f64) -> f64 {
        let cut = self.cut(segments);
        if self.whole_segments && cut >= NO_SSTHRESH { f64::INFINITY } else { cut }
    }

    /// Replaces window and threshold, and keeps the earlier ones.
    fn write(&mut self, cwnd: f64, ssthresh: f64) {
        let sock = self.connection.sock_mut();
        (sock.prior_cwnd, sock.prior_ssthresh) = (sock.cwnd, sock.ssthresh);
        (sock.cwnd, sock.ssthresh) = (cwnd, ssthresh);
    }

    fn look_at(&mut self, at: &Moment) {
        let sock = self.connection.sock_mut();
        (sock.now, sock.snd_una, sock.snd_nxt) = (at.now.as_nanos(), at.snd_una, at.snd_nxt);
        sock.app_limited = at.app_limited.into();
    }

    fn look_at_ack(&mut self, ack: &AckSample) {
        let (now, app_limited) = (ack.now, ack.app_limited);
        self.look_at(&Moment { now, snd_una: ack.snd_una, snd_nxt: ack.snd_nxt, app_limited });
    }

    /// Calls the controller for an event, unless it is a repetition; after a timeout the window is `LOSS_WINDOW`.
    fn reduce(&mut self, event: &CongestionEvent, state: State) {
        let app_limited = self.connection.sock().app_limited != 0;
        self.look_at(&Moment { now: event.now, snd_una: event.snd_una, snd_nxt: event.snd_nxt, app_limited });
        let told = told::event(event);
        let ssthresh = if event.repeated { self.ssthresh() } else { self.asked_ssthresh(&told) };
        self.write(if state == State::Loss { LOSS_WINDOW } else { ssthresh }, ssthresh);
        self.connection.set_state(state, Some(&told));
        self.check("set_state");
    }

    fn asked_ssthresh(&mut self, event: &abi::Event) -> f64 {
        let ssthresh = self.connection.ssthresh(event);
        if !(ssthresh > 0.0 && ssthresh < f64::INFINITY) {
            self.fail(format!("ssthresh returned {ssthresh}; it must be a finite number above 0, in segments"));
        }
        self.check("ssthresh");
        ssthresh
    }

    fn event(&mut self, event: CwndEvent) {
        if self.connection.cwnd_event(event) {
            self.check("cwnd_event");
        }
    }

    fn enter_open(&mut self) {
        self.connection.set_state(State::Open, None);
        self.check("set_state");
    }

    /// Leaves the run if the last call has left an impossible value.
    #[inline]
    fn check(&mut self, function: &str) {
        let sock = self.connection.sock();
        if sock.error[0] != 0 || fault(sock).is_some() || self.connection.is_overrun() {
            self.explain(function);
        }
    }

    #[cold]
    fn explain(&mut self, function: &str) {
        let fault = || fault(self.connection.sock()).map(|fault| format!("{function} left {fault}"));
        let overrun = || format!("{function} wrote just before or behind the bytes of `private_size`");
        let why = self.connection.complaint().or_else(fault).unwrap_or_else(overrun);
        self.fail(why);
    }

    #[cold]
    fn fail(&mut self, why: String) -> ! {
        let at = Time::from_nanos(self.connection.sock().now).as_secs_f64();
        self.failure = Some(format!("{}, at {at:.6} s: {why}", self.connection.name()));
        give_up()
    }
}

/// The fault of window or threshold.
fn fault(sock: &Sock) -> Option<String> {
    if !(sock.cwnd > 0.0 && sock.cwnd < f64::INFINITY) {
        return Some(format!("a window of {}; cwnd must be a finite number above 0, in segments", sock.cwnd));
    }
    if sock.ssthresh.is_nan() || sock.ssthresh < 0.0 {
        return Some(format!(
            "an ssthresh of {}; it must be a number that is not negative, in segments",
            sock.ssthresh
        ));
    }
    None
}

impl CongestionControl for Controller {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        self.look_at(at);
        self.connection.established(told::or_none(rtt));
        self.check("established");
    }

    fn on_transmit_start(&mut self, at: &Moment) {
        self.look_at(at);
        self.event(CwndEvent::TxStart);
    }

    fn observe(&mut self, ack: &AckSample) -> bool {
        if !self.connection.hears_acks() {
            return false;
        }
        self.look_at_ack(ack);
        self.connection.pkts_acked(ack);
        self.check("pkts_acked");
        true
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.look_at_ack(ack);
        if !ack.observed {
            self.observe(ack);
        }
        if ack.ends_timeout {
            self.enter_open();
        }
        if self.connection.grows_in_any_state() || !(ack.in_recovery || ack.app_limited) {
            self.connection.grow(ack);
            self.check(if self.connection.grows_in_any_state() { "cong_control" } else { "cong_avoid" });
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.reduce(event, if event.cause == CongestionCause::Ecn { State::Cwr } else { State::Recovery });
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        self.reduce(event, State::Loss);
    }

    fn on_recovery_exit(&mut self, at: &Moment) {
        self.look_at(at);
        self.event(CwndEvent::CompleteCwr);
        self.enter_open();
    }

    fn on_spurious(&mut self, at: &Moment, prior: &Prior) {
        self.look_at(at);
        let told = abi::Prior { cwnd: prior.cwnd, ssthresh: prior.ssthresh };
        let own = self.connection.undo_cwnd(&told);
        self.check("undo_cwnd");
        let cwnd = own.unwrap_or_else(|| self.cut(self.cwnd().max(prior.cwnd)));
        self.write(cwnd, self.cut_ssthresh(self.ssthresh().max(prior.ssthresh)));
        self.check("undo_cwnd");
        self.enter_open();
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.write(self.cwnd().min(self.cut(restart_window)), self.ssthresh());
        self.event(CwndEvent::CwndRestart);
    }

    fn set_window(&mut self, segments: f64) {
        self.write(self.cut(segments), self.ssthresh());
        self.event(CwndEvent::CwndSet);
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.write(self.cwnd(), self.cut_ssthresh(segments));
        self.event(CwndEvent::SsthreshSet);
    }

    fn owns_recovery(&self) -> bool {
        self.owns_recovery
    }

    fn holds_back(&self) -> bool {
        self.connection.sock().holds_back != 0
    }

    fn cwnd(&self) -> f64 {
        self.connection.sock().cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.connection.sock().ssthresh
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        Some(self.connection.sock().pacing_rate_bps).filter(|bps| *bps > 0).map(DataRate::from_bps)
    }

    fn longest_send(&self) -> Option<Duration> {
        Some(self.connection.sock().longest_send_ns).filter(|ns| *ns > 0).map(Duration::from_nanos)
    }

    fn rtt(&self) -> Option<Duration> {
        u64::try_from(self.connection.sock().rtt_ns).ok().map(Duration::from_nanos)
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
