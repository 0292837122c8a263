//! One end of a connection: the interface for an application and a network.

use std::sync::Arc;

use lasthop_registry::Switch;
use lasthop_units::{Duration, Ecn, Present, Time};

use crate::config::{AccEcnOption, Config};
use crate::congestion_control::{CongestionControl, Context, Outside};
use crate::counters::Counters;
use crate::ecn::Feedback;
use crate::receive::{Pace, Receiver};
use crate::segment::{Segment, accecn_bytes};
use crate::send::{Delay, Sender, Write};
use crate::sequence::SeqNumber;
use crate::state::{Failure, State};
use crate::tick::Tick;
use crate::timer::{Timer, Timers};

/// The options on which both SYNs agree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreed {
    pub timestamps: bool,
    pub sack: bool,
    pub scaling: bool,
    /// shift of the peer's window field
    pub peer_scale: u8,
    pub ecn: Feedback,
    /// how the peer's SYN arrived
    pub syn_ecn: Ecn,
}

/// State that ends a connection without answers, or one that is no longer wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// time since which retransmitted data is not acknowledged
    stalled_since: Option<Time>,
    /// end of the user timeout
    ends: Time,
    syns_again: u32,
    /// last answer to an unacceptable segment
    answered: Option<Time>,
}

impl Patience {
    fn new() -> Self {
        Patience { stalled_since: None, ends: Time::NEVER, syns_again: 0, answered: None }
    }

    /// Starts again after an acknowledgement of data.
    pub fn renew(&mut self) {
        self.stalled_since = None;
        self.ends = Time::NEVER;
    }
}

/// A zero-window probe. [RFC 9293 §3.8.6.1]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Probe {
    pub is_due: bool,
    /// probes in a row without an open window
    pub sent: u32,
}

/// One end of a TCP connection. The [crate] lists what it models.
/// After every call that may give it data to send ([`connect`](Self::connect), [`write`](Self::write),
/// [`close`](Self::close), [`handle_segment`](Self::handle_segment), [`handle_timeout`](Self::handle_timeout), …) call
/// [`poll_transmit`](Self::poll_transmit) until it returns `None`, then [`poll_timeout`](Self::poll_timeout). If the
/// device has no room, stop polling and continue later: a segment is chosen, and gets its time, when it is polled.
#[derive(Debug)]
pub struct Endpoint {
    /// shared with the sender, and with other endpoints: it is large, and little of it is read often
    pub(crate) config: Arc<Config>,
    /// of the timestamp clock
    pub(crate) clock: Tick,
    pub(crate) state: State,
    pub(crate) agreed: Agreed,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) timers: Timers,
    pub(crate) probe: Probe,
    pub(crate) patience: Patience,
    /// the application takes no more data: it has gone, or shut that direction
    pub(crate) reading_is_over: bool,
    /// the peer spoke first
    pub(crate) is_passive: bool,
    pub(crate) failure: Option<Failure>,
    /// a reset, or an answer without a connection
    pub(crate) answer: Option<Segment>,
    pub(crate) counters: Counters,
    pub(crate) present: Present,
}

impl Endpoint {
    /// A closed endpoint whose numbers start at `iss`.
    pub fn new(config: &Config, iss: u32) -> Endpoint {
        Endpoint::sharing(&Arc::new(config.clone()), iss)
    }

    /// As [`new`](Self::new), for several endpoints with the same settings.
    pub fn sharing(config: &Arc<Config>, iss: u32) -> Endpoint {
        let control = config.congestion_control.build(&Context::new(config, iss));
        Endpoint::controlled(config, iss, control)
    }

    /// As [`new`](Self::new), with your own controller in place of the one that `config` names; [`Context::new`] makes
    /// its context.
    pub fn with_control(config: &Config, iss: u32, control: Box<dyn CongestionControl>) -> Endpoint {
        Endpoint::controlled(&Arc::new(config.clone()), iss, control)
    }

    fn controlled(config: &Arc<Config>, iss: u32, control: Box<dyn CongestionControl>) -> Endpoint {
        Endpoint {
            config: Arc::clone(config),
            clock: Tick::new(config.timestamp_clock),
            state: State::Closed,
            agreed: Agreed::default(),
            sender: Sender::new(config, SeqNumber(iss), control),
            receiver: Receiver::new(config),
            timers: Timers::new(),
            probe: Probe::default(),
            patience: Patience::new(),
            reading_is_over: false,
            is_passive: false,
            failure: None,
            answer: None,
            counters: Counters::default(),
            present: Present::default(),
        }
    }

    /// Active open: a SYN is ready to be polled. [RFC 9293 §3.10.1]
    pub fn connect(&mut self, now: Time) {
        self.present.advance(now);
        assert_eq!(self.state, State::Closed, "connect on an endpoint that is in use");
        self.state = State::SynSent;
    }

    /// Passive open. [RFC 9293 §3.10.1]
    pub fn listen(&mut self) {
        assert_eq!(self.state, State::Closed, "listen on an endpoint that is in use");
        self.state = State::Listen;
        self.is_passive = true;
    }

    /// The application writes `bytes` more bytes. After [`close`](Self::close) they are refused.
    pub fn write(&mut self, bytes: u64) {
        self.send(bytes, Write::default());
    }

    /// As [`write`](Self::write), with hints of the application about these bytes.
    pub fn send(&mut self, bytes: u64, write: Write) {
        if !self.sender.is_closed() {
            self.sender.renew_burst();
            self.sender.write(bytes, write);
        }
    }

    /// Lets all data written so far go out; nothing that belongs to it follows soon.
    pub fn push(&mut self) {
        self.sender.push_short();
    }

    /// Lets a short segment that waits go out, even a corked one.
    pub fn send_short(&mut self) {
        self.sender.send_short();
    }

    /// Sets when a short segment waits for more; at first it does not.
    pub fn set_delay(&mut self, delay: Delay) {
        self.sender.set_delay(delay);
    }
    /// The condition on which a short segment waits for more.
    pub fn delay(&self) -> Delay {
        self.sender.delay()
    }
    /// The largest window that the peer has offered, in bytes.
    pub fn largest_peer_window(&self) -> u64 {
        self.sender.largest_peer_window()
    }
    /// Bytes written and not yet sent.
    pub fn unsent_bytes(&self) -> u64 {
        self.sender.unsent_bytes()
    }

    /// Gives the application an endless supply of data.
    pub fn write_forever(&mut self) {
        if !self.sender.is_closed() {
            self.sender.write_forever();
            self.sender.renew_burst();
        }
    }

    /// Ends writing; a FIN follows the last byte. Before the connection is open this waits for it, where [RFC 9293
    /// §3.10.4] would give up a connection in SYN-SENT.
    pub fn close(&mut self, now: Time) {
        self.present.advance(now);
        match self.state {
            State::Listen => self.enter_closed(),
            _ => {
                self.sender.close();
                self.sender.renew_burst();
            }
        }
    }

    /// Ends the connection at once, by a reset. [RFC 9293 §3.10.5]
    pub fn abort(&mut self, now: Time) {
        self.present.advance(now);
        let has_peer = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait);
        if has_peer {
            self.answer = Some(self.reset(now));
        }
        self.enter_closed();
    }

    /// Closes both directions. Unread data is answered by a reset [RFC 2525 §2.17], and so is later data [RFC 9293
    /// §3.6.1]. Otherwise as [`close`](Self::close).
    pub fn release(&mut self, now: Time) {
        self.present.advance(now);
        if self.receiver.unread_bytes() > 0 {
            return self.abort(now);
        }
        self.reading_is_over = true;
        match self.state {
            State::SynSent => self.enter_closed(),
            State::FinWait2 => self.wait_for_fin(now),
            _ => self.close(now),
        }
    }

    /// Time for which sent data may remain unacknowledged; `None`: as long as the retries last. [RFC 5482]
    pub fn set_user_timeout(&mut self, limit: Option<Duration>) {
        Arc::make_mut(&mut self.config).user_timeout = limit.map_or(Switch::Off, Switch::On);
    }

    /// Stops reading for good: data that comes after the own FIN is answered by a reset.
    pub fn shutdown_reading(&mut self) {
        self.reading_is_over = true;
    }

    /// Bounds FIN-WAIT-2 where nothing reads any more.
    pub(crate) fn wait_for_fin(&mut self, now: Time) {
        self.timers.set(Timer::TimeWait, now + self.config.fin_timeout);
    }

    /// Stops reading: the window closes as data comes in, until the application [reads](Self::read).
    pub fn pause_reading(&mut self) {
        self.receiver.pause();
    }

    /// After [`pause_reading`](Self::pause_reading): takes up to `bytes` that are in order; returns their number.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        self.present.advance(now);
        self.receiver.read(now, bytes)
    }

    /// Bytes in order that wait to be [read](Self::read).
    pub fn readable_bytes(&self) -> u64 {
        self.receiver.unread_bytes()
    }

    /// True once the peer's FIN has been reached in order: nothing comes after the readable data.
    pub fn is_peer_closed(&self) -> bool {
        self.receiver.is_finished()
    }

    /// The reason for which the connection ended early, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Reads all there is, and goes on reading at once.
    pub fn resume_reading(&mut self) {
        self.receiver.resume();
    }

    pub(crate) fn enter_closed(&mut self) {
        self.state = State::Closed;
        self.timers.stop_all();
        self.probe = Probe::default();
        self.patience.renew();
    }

    /// Ends the connection at once, for this reason.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.enter_closed();
    }

    pub(crate) fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.timers.stop_all();
        self.timers.set(Timer::TimeWait, now + self.config.time_wait);
    }

    /// The earliest time at which [`handle_timeout`](Self::handle_timeout) has something to do; [`Time::NEVER`] if none.
    pub fn poll_timeout(&self) -> Time {
        self.timers.earliest().min(self.patience.ends)
    }

    /// Does what is due; calling it early does nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        self.present.advance(now);
        if self.poll_timeout() > now {
            return;
        }
        if self.patience.ends <= now {
            return self.fail(Failure::TimedOut);
        }
        self.sender.renew_burst();
        if self.timers.take_due(Timer::Retransmit, now) {
            self.on_retransmission_timeout(now);
        }
        self.timers.take_due(Timer::Pacing, now);
        if self.timers.take_due(Timer::DelayedAck, now) {
            self.receiver.on_delayed_ack_timeout(now, self.sender.rtt().rto());
        }
        if self.timers.take_due(Timer::Persist, now) {
            self.probe.is_due = self.sender.needs_probe();
            if self.sender.is_held() {
                self.sender.push_short();
            }
        }
        if self.timers.take_due(Timer::TimeWait, now) {
            self.enter_closed();
        }
    }

    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.sender.board().is_empty() {
            return;
        }
        if (self.state.is_opening() || self.sender.is_retransmission_due()) && self.gives_up(now) {
            return self.fail(Failure::TimedOut);
        }
        if self.state.is_opening() {
            self.counters.timeouts += 1;
            self.sender.on_syn_timeout(self.patience.syns_again > self.linear_syns());
        } else if self.sender.is_linux() {
            self.sender.on_timer(now, &mut self.counters);
            self.follow_sender();
        } else {
            self.counters.timeouts += 1;
            self.sender.on_timeout(now);
        }
    }

    /// Takes over the timer of a sender that keeps its own, and the time at which pacing lets it go on.
    pub(crate) fn follow_sender(&mut self) {
        if let Some(deadline) = self.sender.deadline().filter(|_| !self.state.is_opening()) {
            self.timers.set(Timer::Retransmit, deadline);
        }
    }

    /// Notes whether the application waits for room in its send buffer; only [`Info`](crate::Info) shows it.
    pub fn set_send_buffer_full(&mut self, now: Time, full: bool) {
        self.present.advance(now);
        self.sender.set_buffer_full(now, full);
    }

    /// True if the SYN that goes out is the first one after the original.
    pub(crate) fn is_first_syn_again(&self) -> bool {
        self.patience.syns_again == 1
    }

    /// True if a SYN has been sent again after a timeout, and goes out for at least the third time.
    pub(crate) fn has_repeated_syn(&self) -> bool {
        self.patience.syns_again > 1
    }

    /// Lets payload leave room for the AccECN option, while all data carries it.
    pub(crate) fn reserve_for_accecn(&mut self) {
        let fills = self.config.options_on_wire && self.receiver.fills_data_with_accecn();
        self.sender.reserve(if fills { accecn_bytes(3) } else { 0 });
    }

    /// Changes which segments carry the AccECN option, once accurate ECN is agreed on and unless the configuration lacks
    /// `accecn_option`.
    pub fn set_accecn_option(&mut self, policy: AccEcnOption) {
        self.receiver.set_accecn_option(policy);
        self.reserve_for_accecn();
    }

    /// True if a SYN has timed out.
    pub(crate) fn has_lost_syn(&self) -> bool {
        self.patience.syns_again > 0
    }

    /// Own SYNs that are sent again before the timeout doubles.
    fn linear_syns(&self) -> u32 {
        if self.state == State::SynSent { self.config.syn_linear_timeouts.unwrap_or(0) } else { 0 }
    }

    /// True if the retransmission timer has expired once too often. [RFC 9293 §3.8.3]
    fn gives_up(&mut self, now: Time) -> bool {
        let Patience { stalled_since, syns_again, .. } = self.patience;
        let Some(since) = stalled_since else {
            self.patience.stalled_since = Some(now);
            if let Switch::On(limit) = self.config.user_timeout {
                self.patience.ends = now + limit;
            }
            self.patience.syns_again = 1;
            return self.state.is_opening() && self.config.syn_retries == Switch::On(0) && self.linear_syns() == 0;
        };
        self.patience.syns_again += 1;
        if self.state.is_opening() {
            let linear = self.linear_syns();
            return self.config.syn_retries.as_option().is_some_and(|retries| syns_again >= retries + linear);
        }
        let Switch::On(retries) = self.config.retries else { return false };
        now.since(since) >= backed_off(retries, self.config.min_rto, self.config.max_rto)
    }

    /// True if an unacceptable segment without data is to be answered. [RFC 5961 §7]
    pub(crate) fn may_answer(&mut self, now: Time) -> bool {
        let too_early = |last: Time| now.since(last) < self.config.answer_interval;
        if self.patience.answered.is_some_and(too_early) {
            return false;
        }
        self.patience.answered = Some(now);
        true
    }

    /// Timing of the sending half, for the receiving half.
    pub(crate) fn pace(&self) -> Pace {
        Pace { rto: self.sender.rtt().rto(), srtt: self.sender.rtt().srtt() }
    }

    /// The state of the connection.
    pub fn state(&self) -> State {
        self.state
    }
    /// True while both directions are open.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }
    /// True before the connection, and after TIME-WAIT.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Bytes handed to the application in order, each once.
    pub fn delivered_bytes(&self) -> u64 {
        self.receiver.delivered_bytes()
    }
    /// Bytes of the application that the peer has acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.sender.acked_bytes()
    }
    /// Payload bytes sent and not acknowledged: FlightSize. [RFC 5681 §2]
    pub fn flight_size_bytes(&self) -> u64 {
        self.sender.board().outstanding_bytes()
    }
    /// Payload bytes thought to be in the network. [RFC 6675 §4]
    pub fn pipe_bytes(&self) -> u64 {
        self.sender.board().pipe_bytes()
    }
    /// Congestion window in segments: without NewReno's inflation in recovery, but with rate reduction.
    pub fn cwnd_segments(&self) -> f64 {
        self.sender.cwnd_segments()
    }
    /// The window and the pacing rate from outside, if they are set.
    pub fn outside(&self) -> Outside {
        self.sender.control().outside()
    }
    /// Replaces the window or the pacing rate of the congestion controller, from the next segment on that the endpoint
    /// sends or acknowledges. A rate has an effect only if segments are [paced](Config::is_paced).
    pub fn set_outside(&mut self, values: Outside) {
        self.sender.set_outside(values);
    }
    /// Slow-start threshold in segments; infinite before the first loss.
    pub fn ssthresh_segments(&self) -> f64 {
        self.sender.control().ssthresh()
    }
    /// Smoothed round-trip time. [RFC 6298 §2]
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.rtt().srtt()
    }
    /// The last RTT sample.
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.sender.rtt().latest()
    }
    /// The RTT that the congestion controller uses, if any.
    pub fn controller_rtt(&self) -> Option<Duration> {
        self.sender.control().rtt()
    }
    /// The reason for which the congestion controller has given up, if it has; see
    /// [`give_up`](crate::congestion_control::give_up).
    pub fn controller_failure(&self) -> Option<&str> {
        self.sender.control().failure()
    }
    /// The current retransmission timeout, backoff included. [RFC 6298]
    pub fn rto(&self) -> Duration {
        self.sender.rtt().rto()
    }
    /// The counters of this endpoint.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

/// The time from the first timeout to the one after `retries` more, doubled from `least` to at most `most`.
fn backed_off(retries: u32, least: Duration, most: Duration) -> Duration {
    let doublings = (most.as_nanos() / least.as_nanos().max(1)).max(1).ilog2();
    let doubled = retries.min(doublings);
    least.saturating_mul((2u64 << doubled) - 1) + most.saturating_mul(u64::from(retries - doubled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_retries_take_924_seconds() {
        // 0.2 s (2^10 - 1) + 6 * 120 s: net.ipv4.tcp_retries2 of Linux
        let time = backed_off(15, Duration::from_millis(200), Duration::from_secs(120));
        assert_eq!(time, Duration::from_millis(924_600));
        assert_eq!(backed_off(3, Duration::from_millis(200), Duration::from_secs(120)), Duration::from_secs(3));
    }
}
