//! A TCP flow: one connection after another, each with an endpoint at either end.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::{FlowId, Observer, Record};
use lasthop_tcp::congestion_control::Outside;
use lasthop_tcp::{Config, Segment, State};
use lasthop_units::{Bytes, Duration, Time};

use super::Side;
use super::application::{Application, Span, clock_of};
use super::connection::{Alarms, Connection, Waiting};
use super::own_queue::OwnQueue;
use crate::description::UdpRate;
use crate::resolved::FlowSpec;
use crate::traffic::Clock;

/// An application that offers data at a rate.
#[derive(Clone, Copy)]
struct Paced {
    bytes: u64,
    interval: Duration,
    clock: Clock,
    /// The time of the first write on this connection, and the number of writes since.
    first: Time,
    writes: u64,
}

impl Paced {
    /// The time of the next write, after one more.
    fn advance(&mut self) -> Time {
        self.writes += 1;
        self.first + self.clock.after(self.interval * self.writes)
    }
}

/// A flow with one TCP connection at a time: bulk data, a sized transfer, or an application that only writes.
pub(crate) struct TcpFlow {
    id: FlowId,
    config: Arc<Config>,
    /// Initial sequence numbers.
    iss: Stream,
    connection: Connection,
    size: Option<u64>,
    transfers_left: u32,
    /// An application that offers data at a rate.
    paced: Option<Paced>,
    /// An application with write times of its own.
    application: Option<Application>,
    next_offer: Option<Time>,
    /// Bytes offered on this connection.
    offered: u64,
    running: bool,
    started_at: Time,
    alarms: Alarms,
    delivered_before: u64,
}

impl TcpFlow {
    /// `asked`: its interface pulls data when it has room.
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, seed: u64, span: Span, asked: bool) -> TcpFlow {
        let config = Arc::new(spec.tcp.config.clone());
        let mut iss = Stream::named(seed, "iss", &spec.stream);
        let application = Application::over_tcp(spec, seed, span);
        let paced = match spec.section.rate {
            Some(UdpRate::Constant(rate)) if application.is_none() => {
                let unit = Bytes(u64::from(config.payload_bytes()));
                clock_of(spec, seed, unit).map(|clock| Paced {
                    bytes: unit.0,
                    interval: rate.time_for(unit),
                    clock,
                    first: Time::ZERO,
                    writes: 0,
                })
            }
            _ => None,
        };
        let own_queue = OwnQueue::new(&config, spec.up, asked);
        TcpFlow {
            id,
            connection: Connection::new(id, 0, &config, &mut iss, own_queue),
            config,
            iss,
            size: spec.section.size.map(|b| b.0),
            transfers_left: spec.section.repeat,
            paced,
            application,
            next_offer: None,
            offered: 0,
            running: false,
            started_at: Time::ZERO,
            alarms: Alarms::new(),
            delivered_before: 0,
        }
    }

    /// Gives its sender a window in segments, or a pacing rate, above those of its congestion control.
    pub(crate) fn hold(&mut self, values: Outside) {
        let sender = self.connection.end_mut(Side::Sender);
        let before = sender.outside();
        let (window, pacing) = (values.window.or(before.window), values.pacing.or(before.pacing));
        sender.set_outside(Outside { window, pacing });
    }

    pub(crate) fn controller_failure(&self) -> Option<&str> {
        self.connection.controller_failure()
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.running = true;
        self.started_at = now;
        self.transfers_left -= 1;
        self.connection.open(now, Side::Sender);
        if let Some(application) = &mut self.application {
            application.start(now);
            return self.application_offers(now);
        }
        let sender = self.connection.end_mut(Side::Sender);
        match (self.size, self.paced) {
            (None, None) => sender.write_forever(),
            (Some(size), None) => {
                sender.write(size);
                sender.close(now);
            }
            (_, Some(paced)) => self.start_paced(now, paced),
        }
    }

    /// The first transfer begins a phase after the start; a later one when its connection is opened.
    fn start_paced(&mut self, now: Time, paced: Paced) {
        let is_first = self.connection.number() == 0;
        let first = if is_first { now + paced.clock.phase() } else { now };
        self.paced = Some(Paced { first, writes: 0, ..paced });
        match first == now {
            true => self.application_offers(now),
            false => self.next_offer = Some(first),
        }
    }

    pub(crate) fn application_offers(&mut self, now: Time) {
        let sender = self.connection.end_mut(Side::Sender);
        if let Some(application) = &mut self.application {
            while let Some(bytes) = application.take_due(now) {
                sender.write(u64::from(bytes));
            }
            return;
        }
        let Some(paced) = &mut self.paced else { return };
        let offered = self.offered;
        let left = self.size.map_or(paced.bytes, |size| size.saturating_sub(offered).min(paced.bytes));
        sender.write(left);
        self.offered += left;
        if self.size.is_some_and(|size| offered + left >= size) {
            sender.close(now);
        } else {
            self.next_offer = Some(paced.advance());
        }
    }

    pub(crate) fn application_at(&mut self) -> Option<Time> {
        match &mut self.application {
            Some(application) => application.wake_at(),
            None => self.next_offer.take(),
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
        if connection != self.connection.number() {
            // A straggler of an earlier connection; its ports are closed.
            return;
        }
        self.connection.arrive(now, side, segment);
        self.changed(now, side, observer);
    }

    /// Reports changes at `side`, and acts on them.
    #[inline(always)]
    fn changed(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        self.connection.tell(now, side, observer);
        if side == Side::Receiver {
            let receiver = self.connection.end_mut(Side::Receiver);
            if receiver.state() == State::CloseWait {
                receiver.close(now);
            }
        } else if self.running && self.size.is_some_and(|size| self.connection.end(Side::Sender).acked_bytes() >= size)
        {
            self.transfer_is_complete(now, observer);
        }
    }

    #[cold]
    #[inline(never)]
    fn transfer_is_complete(&mut self, now: Time, observer: &mut impl Observer) {
        observer.observe(now, Record::Completed { flow: self.id, took: now.since(self.started_at) });
        self.running = false;
        if self.transfers_left == 0 {
            return;
        }
        self.delivered_before += self.connection.delivered();
        self.offered = 0;
        let (number, own_queue) = (self.connection.number() + 1, self.connection.own_queue());
        let outside = self.connection.end(Side::Sender).outside();
        self.connection = Connection::new(self.id, number, &self.config, &mut self.iss, own_queue);
        if outside != Outside::default() {
            self.connection.end_mut(Side::Sender).set_outside(outside);
        }
        self.start(now);
    }

    /// Writes the next segment of `side` into `segment`. Returns the number of its connection.
    #[inline(always)]
    pub(crate) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        segment: &mut Segment,
        observer: &mut impl Observer,
    ) -> Option<u32> {
        self.connection.poll(now, side, held_back, segment, observer).then_some(self.connection.number())
    }

    /// Whether the receiver, which has sent a pure ACK, has nothing more to send. It never sends data, so the fate
    /// of the ACK does not matter to it.
    pub(crate) fn receiver_rests(&mut self, now: Time) -> bool {
        self.connection.rests(now, Side::Receiver)
    }

    /// The connection whose packets wait in the queue of the station: an earlier one of the flow leaves them to its
    /// successor.
    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(crate) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        let due = self.connection.end_mut(side).poll_timeout();
        self.alarms.arm(side, due)
    }

    pub(crate) fn timer_fires(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        self.alarms.came(side, now);
        if self.connection.fire_timers(now, side) {
            self.changed(now, side, observer);
        }
    }

    /// The reasons why its ends wait.
    pub(super) fn waiting(&self, now: Time) -> Waiting {
        self.connection.waiting(now)
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        let [sender, receiver] = self.connection.ends();
        let (acked, delivered) = (sender.acked_bytes(), receiver.delivered_bytes());
        if acked > delivered {
            return Err(format!("flow {}: {acked} bytes were acknowledged, only {delivered} delivered", self.id.0));
        }
        let all = self.delivered_before + delivered;
        match self.size {
            Some(size) if all > size.saturating_mul(u64::from(self.connection.number()) + 1) => {
                Err(format!("flow {}: {all} bytes were delivered, more than were sent", self.id.0))
            }
            _ => Ok(()),
        }
    }
}
