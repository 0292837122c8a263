//! A TCP flow: one connection after another, each with an endpoint at either end.

use lasthop_engine::Stream;
use lasthop_observe::{FlowId, Observer, Record};
use lasthop_tcp::{Config, Endpoint, Segment, State};
use lasthop_units::{Duration, Time};

use super::Side;
use super::application::{Application, Span};
use super::flow::Waiting;
use super::own_queue::OwnQueue;
use crate::description::UdpRate;
use crate::resolved::FlowSpec;

/// What was last reported of a sender, so that only changes are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reported {
    cwnd: f64,
    ssthresh: f64,
    flight_bytes: u64,
}

/// See the module.
pub(crate) struct TcpFlow {
    id: FlowId,
    config: Config,
    /// Initial sequence numbers.
    iss: Stream,
    sender: Endpoint,
    receiver: Endpoint,
    connection: u32,
    size: Option<u64>,
    transfers_left: u32,
    /// Bytes and interval of an application that offers data at a rate.
    paced: Option<(u64, Duration)>,
    /// An application that writes at times of its own.
    application: Option<Application>,
    next_offer: Option<Time>,
    /// Bytes offered on this connection.
    offered: u64,
    running: bool,
    started_at: Time,
    armed: [Time; 2],
    reported: Reported,
    delivered_before: u64,
    delivered: u64,
    timeouts: u64,
    acks_missing: u64,
    rtt_samples: u64,
    own_queue: OwnQueue,
}

fn endpoints(config: &Config, iss: &mut Stream) -> (Endpoint, Endpoint) {
    let mut next = || (iss.bits() >> 32) as u32;
    (Endpoint::new(config, next()), Endpoint::new(config, next()))
}

impl TcpFlow {
    /// `asked`: its interface asks for data when it has room.
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, seed: u64, span: Span, asked: bool) -> TcpFlow {
        let config = spec.tcp.config.clone();
        let mut iss = Stream::named(seed, "iss", &spec.stream);
        let (sender, receiver) = endpoints(&config, &mut iss);
        let application = Application::over_tcp(spec, seed, span);
        let paced = match spec.section.rate {
            Some(UdpRate::Constant(rate)) if application.is_none() => {
                let bytes = u64::from(config.payload_bytes());
                Some((bytes, rate.time_for(lasthop_units::Bytes(bytes))))
            }
            _ => None,
        };
        // The wired link is the path of all servers, no port of one of them.
        let own_queue = if asked || !spec.up { OwnQueue::none(&config) } else { OwnQueue::new(&config) };
        TcpFlow {
            id,
            own_queue,
            config,
            iss,
            sender,
            receiver,
            connection: 0,
            size: spec.section.size.map(|b| b.0),
            transfers_left: spec.section.repeat,
            paced,
            application,
            next_offer: None,
            offered: 0,
            running: false,
            started_at: Time::ZERO,
            armed: [Time::NEVER; 2],
            reported: Reported::default(),
            delivered_before: 0,
            delivered: 0,
            timeouts: 0,
            acks_missing: 0,
            rtt_samples: 0,
        }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.running = true;
        self.started_at = now;
        self.transfers_left -= 1;
        self.receiver.listen();
        self.sender.connect(now);
        if let Some(application) = &mut self.application {
            application.start(now);
            return self.application_offers(now);
        }
        match (self.size, self.paced) {
            (None, None) => self.sender.write_forever(),
            (Some(size), None) => {
                self.sender.write(size);
                self.sender.close(now);
            }
            (_, Some(_)) => self.application_offers(now),
        }
    }

    pub(crate) fn application_offers(&mut self, now: Time) {
        if let Some(application) = &mut self.application {
            while let Some(bytes) = application.take_due(now) {
                self.sender.write(u64::from(bytes));
            }
            return;
        }
        let Some((bytes, interval)) = self.paced else { return };
        let offered = self.offered;
        let left = self.size.map_or(bytes, |size| size.saturating_sub(offered).min(bytes));
        self.sender.write(left);
        self.offered += left;
        if self.size.is_some_and(|size| offered + left >= size) {
            self.sender.close(now);
        } else {
            self.next_offer = Some(now + interval);
        }
    }

    pub(crate) fn application_at(&mut self) -> Option<Time> {
        match &mut self.application {
            Some(application) => application.wake_at(),
            None => self.next_offer.take(),
        }
    }

    fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Sender => &mut self.sender,
            Side::Receiver => &mut self.receiver,
        }
    }

    pub(crate) fn arrive(
        &mut self,
        now: Time,
        side: Side,
        segment: &Segment,
        connection: u32,
        observer: &mut impl Observer,
    ) {
        if connection != self.connection {
            // A straggler of an earlier connection; its ports are closed.
            return;
        }
        self.endpoint(side).handle_segment(now, segment);
        match side {
            Side::Sender => self.sender_changed(now, observer),
            Side::Receiver => self.receiver_changed(now, observer),
        }
    }

    fn receiver_changed(&mut self, now: Time, observer: &mut impl Observer) {
        let delivered = self.receiver.delivered_bytes();
        if delivered > self.delivered {
            observer.observe(now, Record::Delivered { flow: self.id, bytes: delivered - self.delivered });
            self.delivered = delivered;
        }
        if self.receiver.state() == State::CloseWait {
            self.receiver.close(now);
        }
    }

    fn sender_changed(&mut self, now: Time, observer: &mut impl Observer) {
        let flow = self.id;
        let counters = self.sender.counters();
        if self.sender.rtt_samples() != self.rtt_samples {
            self.rtt_samples = self.sender.rtt_samples();
            if let Some(sample) = self.sender.latest_rtt() {
                observer.observe(now, Record::Rtt { flow, sample, controller: self.sender.controller_rtt() });
            }
        }
        let (timeouts, acks_missing) = (counters.timeouts, counters.ack_losses_detected);
        for _ in self.timeouts..timeouts {
            observer.observe(now, Record::Timeout { flow });
        }
        self.timeouts = timeouts;
        if acks_missing > self.acks_missing {
            observer.observe(now, Record::AckLoss { flow, missing: acks_missing - self.acks_missing });
            self.acks_missing = acks_missing;
        }
        self.report_window(now, observer);
        if let Some(size) = self.size
            && self.running
            && self.sender.acked_bytes() >= size
        {
            self.transfer_is_complete(now, observer);
        }
    }

    fn report_window(&mut self, now: Time, observer: &mut impl Observer) {
        let reported = Reported {
            cwnd: self.sender.cwnd_segments(),
            ssthresh: self.sender.ssthresh_segments(),
            flight_bytes: self.sender.flight_size_bytes(),
        };
        if reported != self.reported {
            self.reported = reported;
            let Reported { cwnd, ssthresh, flight_bytes } = reported;
            observer.observe(now, Record::Window { flow: self.id, cwnd, ssthresh, flight_bytes });
        }
    }

    fn transfer_is_complete(&mut self, now: Time, observer: &mut impl Observer) {
        observer.observe(now, Record::Completed { flow: self.id, took: now.since(self.started_at) });
        self.running = false;
        if self.transfers_left == 0 {
            return;
        }
        self.connection += 1;
        (self.sender, self.receiver) = endpoints(&self.config, &mut self.iss);
        self.delivered_before += self.delivered;
        self.delivered = 0;
        self.offered = 0;
        self.timeouts = 0;
        self.acks_missing = 0;
        self.rtt_samples = 0;
        self.reported = Reported::default();
        self.start(now);
    }

    pub(crate) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        observer: &mut impl Observer,
    ) -> Option<(Segment, u32)> {
        let before = self.endpoint(side).counters().segments_retransmitted;
        let waits = held_back || (side == Side::Sender && self.own_queue.is_full(&self.sender));
        let endpoint = self.endpoint(side);
        let segment = if waits { endpoint.poll_control(now)? } else { endpoint.poll_transmit(now)? };
        if segment.payload > 0 && side == Side::Sender {
            let retransmission = self.sender.counters().segments_retransmitted > before;
            observer.observe(now, Record::SegmentSent { flow: self.id, retransmission });
            self.report_window(now, observer);
        }
        Some((segment, self.connection))
    }

    /// A packet with data goes to the queue of the sender's own host.
    pub(crate) fn enters_own_queue(&mut self, bytes: u32) {
        if self.own_queue.counts() {
            self.own_queue.enter(bytes);
        }
    }

    /// It is out of it, perhaps because the queue refused it. True if data waits for the room.
    pub(crate) fn leaves_own_queue(
        &mut self,
        now: Time,
        bytes: u32,
        refused: bool,
        observer: &mut impl Observer,
    ) -> bool {
        if !self.own_queue.counts() {
            return false;
        }
        if refused {
            self.sender.on_local_drop(now);
            self.report_window(now, observer);
        }
        self.own_queue.leave(bytes)
    }

    pub(crate) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        let due = self.endpoint(side).poll_timeout();
        let armed = &mut self.armed[side as usize];
        (due < *armed).then(|| {
            *armed = due;
            due
        })
    }

    pub(crate) fn timer_fires(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        // Events that were overtaken by an earlier one come and find nothing due.
        if self.armed[side as usize] <= now {
            self.armed[side as usize] = Time::NEVER;
        }
        if self.endpoint(side).poll_timeout() <= now {
            self.endpoint(side).handle_timeout(now);
            match side {
                Side::Sender => self.sender_changed(now, observer),
                Side::Receiver => self.receiver_changed(now, observer),
            }
        }
    }

    /// What its ends wait for.
    pub(super) fn waiting(&self, now: Time) -> Waiting {
        Waiting::of([&self.sender, &self.receiver], now)
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        let (acked, delivered) = (self.sender.acked_bytes(), self.receiver.delivered_bytes());
        if acked > delivered {
            return Err(format!("flow {}: {acked} bytes were acknowledged, only {delivered} delivered", self.id.0));
        }
        let all = self.delivered_before + delivered;
        match self.size {
            Some(size) if all > size.saturating_mul(u64::from(self.connection) + 1) => {
                Err(format!("flow {}: {all} bytes were delivered, more than were sent", self.id.0))
            }
            _ => Ok(()),
        }
    }
}
