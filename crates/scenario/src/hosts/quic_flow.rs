//! A QUIC flow: its application, the connections between a client and a server, and its counts.
//!
//! The client is the end at which the application decides: the sender of the data, or a browser or player, which
//! receives it. The stack is not polled while its data waits for the device, so that window and pacing act on data that
//! has left.

use std::collections::{BTreeMap, VecDeque};

use lasthop_observe::detail::{Detail, Host};
use lasthop_observe::{FlowId, Hold, Observer, Record, Row, scope};
use lasthop_quic::{Change, Datagram, Pair, Role, StreamPlace, Way};
use lasthop_tcp::congestion_control::Outside;
use lasthop_units::Time;

use super::Side;
use super::application::{Application, Span};
use super::connection::{Alarms, Waiting};
use super::driver::Driver;
use super::process::Cost;
use super::quic_lines::Lines;
use crate::description::QuicSection;
use crate::resolved::FlowSpec;

lasthop_observe::quantities! {
    /// Packets that the sender has declared lost, in the whole run. QUIC sends data again in new packets. [RFC 9002 §6.1]
    PACKETS_DECLARED_LOST: Flow, u64, Feature
        => "packets_declared_lost", Count, Packets, "packets declared lost", only "QUIC";
}

/// A datagram has at least 1200 B: one of fewer has room for every frame that a receiver without data may have to send.
const NEARLY_FULL: u32 = 1000;

/// The values last reported of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Told {
    cwnd: f64,
    ssthresh: f64,
    flight_bytes: u64,
}

/// Transfers one after the other, or one without an end.
#[derive(Clone, Copy, Debug)]
struct Bulk {
    size: Option<u64>,
    transfers_left: u32,
    /// streams of the transfer, and of these the ones that are not acknowledged
    streams: u32,
    unacknowledged: u32,
}

/// The data of a flow.
enum Load {
    Bulk(Bulk),
    /// as its application writes it, to one of so many streams after the other
    Writes {
        application: Application,
        streams: u32,
        writes: u64,
    },
    /// answers to requests
    Answers(Driver),
}

/// A flow over QUIC.
pub(crate) struct QuicFlow {
    id: FlowId,
    up: bool,
    span: Span,
    load: Load,
    lines: Lines,
    running: bool,
    started_at: Time,
    wake: Option<Time>,
    /// the interface pulls the sender's datagrams when it has room
    asked: bool,
    /// the sender has sent all that it may until something arrives or a timer expires
    is_dry: bool,
    cost: Option<Cost>,
    /// by [`Side`]: datagrams that its process is sending, and those that it has sent and the device has not taken
    making: [Vec<Datagram>; 2],
    made: [VecDeque<Datagram>; 2],
    /// the receiver has no data of its own, no probes, and takes no time
    is_quiet_receiver: bool,
    /// the rest of a batch follows its first datagram into the device
    is_leaving: bool,
    alarms: Alarms,
    told: Told,
    /// by connection and end: packets reported lost, if a recording has them
    told_lost: BTreeMap<(u32, bool), u64>,
    delivered: u64,
    offered: u64,
}

impl Bulk {
    /// The bytes of each stream; the first have those that do not divide.
    fn shares(&self) -> impl Iterator<Item = Option<u64>> + use<> {
        let (size, streams) = (self.size, u64::from(self.streams));
        (0..streams).map(move |index| size.map(|size| size / streams + u64::from(index < size % streams)))
    }
}

impl QuicFlow {
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, quic: &QuicSection, seed: u64, span: Span, asked: bool) -> QuicFlow {
        let streams = quic.streams.unwrap_or(1);
        let (size, transfers_left) = (spec.section.size.map(|bytes| bytes.0), spec.section.repeat);
        let bulk = || Load::Bulk(Bulk { size, transfers_left, streams, unacknowledged: 0 });
        let of_writes = |application| Load::Writes { application, streams, writes: 0 };
        let writes = || Application::over_quic(spec, quic, seed, span).map_or_else(bulk, of_writes);
        let load = Driver::of(spec, seed).map_or_else(writes, Load::Answers);
        let seed = lasthop_engine::Stream::named(seed, "quic", &spec.stream).bits();
        let settings = quic.settings();
        let may_rest = !settings.path_mtu_probes && Cost::of(quic).is_none();
        let is_quiet_receiver = may_rest && !matches!(load, Load::Answers(_));
        QuicFlow {
            id,
            up: spec.up,
            span,
            load,
            lines: Lines::new(Pair::new(&settings, seed), quic.streams),
            running: false,
            started_at: Time::ZERO,
            wake: None,
            asked,
            is_dry: false,
            cost: Cost::of(quic),
            making: Default::default(),
            made: Default::default(),
            is_quiet_receiver,
            is_leaving: false,
            alarms: Alarms::new(),
            told: Told::default(),
            told_lost: BTreeMap::new(),
            delivered: 0,
            offered: 0,
        }
    }

    /// Gives its sender a window in datagrams above that of its congestion control.
    pub(crate) fn hold(&mut self, values: Outside) {
        let role = self.role(Side::Sender);
        self.lines.pair.set_outside(role, values);
    }

    /// The end at which the application decides the next step: the client.
    pub(crate) fn active_side(&self) -> Side {
        match self.load {
            Load::Bulk(_) | Load::Writes { .. } => Side::Sender,
            Load::Answers(_) => Side::Receiver,
        }
    }

    fn role(&self, side: Side) -> Role {
        if side == self.active_side() { Role::Client } else { Role::Server }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.running = true;
        self.started_at = now;
        match &mut self.load {
            Load::Bulk(bulk) => {
                bulk.transfers_left -= 1;
                bulk.unacknowledged = bulk.streams;
                let connection = self.lines.open_plain(now);
                for share in bulk.shares() {
                    self.lines.pair.write_stream(connection, Way::One, share);
                }
            }
            Load::Writes { application, streams, .. } => {
                let connection = self.lines.open_plain(now);
                for _ in 0..*streams {
                    self.lines.pair.open_stream(connection);
                }
                application.start(now);
            }
            Load::Answers(driver) => driver.start(now),
        }
        self.application_offers(now);
    }

    /// Runs the application at the time that it set.
    pub(crate) fn application_offers(&mut self, now: Time) {
        match &mut self.load {
            Load::Bulk(_) => {}
            Load::Writes { application, streams, writes } => {
                while let Some(bytes) = application.take_due(now) {
                    self.offered += u64::from(bytes);
                    let stream = (*writes % u64::from(*streams)) as usize;
                    *writes += 1;
                    self.lines.pair.write(self.lines.newest, stream, u64::from(bytes));
                }
                self.is_dry = false;
            }
            Load::Answers(driver) => driver.run(now, &mut self.lines),
        }
        self.set_alarm();
    }

    fn set_alarm(&mut self) {
        let wake = match &mut self.load {
            Load::Bulk(_) => None,
            Load::Writes { application, .. } => application.wake_at(),
            Load::Answers(driver) => driver.wakes_at(),
        };
        self.wake = wake.filter(|&at| at < self.span.end);
    }

    /// The time at which the application continues by itself; returned once for each.
    pub(crate) fn application_at(&mut self) -> Option<Time> {
        self.wake.take()
    }

    pub(crate) fn arrive(&mut self, now: Time, side: Side, datagram: Datagram, observer: &mut impl Observer) {
        let role = self.role(side);
        if side == Side::Sender && (self.asked || self.cost.is_some()) {
            self.lines.pair.set_held_up(role, !self.is_dry);
        }
        self.lines.pair.handle(now, role, datagram);
        self.changed(now, side, observer);
    }

    /// Reports changes at `side`, and acts on them.
    fn changed<O: Observer>(&mut self, now: Time, side: Side, observer: &mut O) {
        self.is_dry = false;
        if O::READS_DETAILS && observer.reads_segments() {
            self.tell_losses(now, side, observer);
        }
        if side == Side::Sender {
            self.tell_rtt(now, observer);
        }
        let sender = self.role(Side::Sender);
        while let Some((role, change)) = self.lines.pair.next_change() {
            match change {
                Change::Arrived { stream, bytes, is_end } if role != sender => {
                    self.data_arrives(now, stream, bytes, is_end, observer);
                }
                Change::Arrived { stream, is_end: true, .. } => self.lines.answer(stream),
                Change::Acknowledged(stream) if role == sender => self.is_acknowledged(now, stream, observer),
                Change::Lost { connection, .. } => self.connection_is_lost(now, role, connection),
                Change::Arrived { .. } | Change::Acknowledged(_) => {}
            }
        }
        if side == Side::Sender {
            self.tell_window(now, observer);
        }
    }

    fn data_arrives(&mut self, now: Time, stream: StreamPlace, bytes: u64, is_end: bool, observer: &mut impl Observer) {
        if bytes > 0 {
            self.delivered += bytes;
            observer.observe(now, Record::Delivered { flow: self.id, bytes });
        }
        if let Load::Answers(driver) = &mut self.load
            && is_end
            && let Some(answer) = self.lines.complete(stream)
        {
            driver.on_answer(now, answer, &mut self.lines, self.span);
            self.set_alarm();
        }
    }

    /// A transfer is complete when all of it is acknowledged.
    fn is_acknowledged(&mut self, now: Time, stream: StreamPlace, observer: &mut impl Observer) {
        let Load::Bulk(bulk) = &mut self.load else { return };
        if stream.connection != self.lines.newest {
            return;
        }
        bulk.unacknowledged -= 1;
        if bulk.unacknowledged > 0 {
            return;
        }
        let transfers_left = bulk.transfers_left;
        observer.observe(now, Record::Completed { flow: self.id, took: now.since(self.started_at) });
        self.running = false;
        self.lines.pair.close(now, Role::Client, stream.connection);
        if transfers_left > 0 {
            self.start(now);
        }
    }

    /// A connection that the stack gave up: an application of requests goes on over another.
    fn connection_is_lost(&mut self, now: Time, role: Role, connection: u32) {
        match &mut self.load {
            Load::Answers(driver) if role == Role::Client => {
                if self.lines.lose(connection) {
                    driver.on_loss(now, &mut self.lines);
                    self.set_alarm();
                }
            }
            Load::Answers(_) => {}
            Load::Bulk(_) | Load::Writes { .. } => self.running &= connection != self.lines.newest,
        }
    }

    #[cold]
    fn tell_losses(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        let host = if (side == Side::Sender) == self.up { Host::Station } else { Host::Server };
        for (connection, lost) in self.lines.pair.losses(self.role(side)) {
            let told = self.told_lost.entry((connection, side == Side::Sender)).or_insert(0);
            let packets = lost - std::mem::replace(told, lost);
            if packets > 0 {
                observer.detail(now, Detail::QuicLost { flow: self.id, connection, host, packets });
            }
        }
    }

    fn tell_rtt(&mut self, now: Time, observer: &mut impl Observer) {
        if let Some(rtt) = self.lines.pair.take_rtt(self.role(Side::Sender), self.lines.newest) {
            let (sample, controller) = (rtt.sample, rtt.controller);
            observer.observe(now, Record::Rtt { flow: self.id, sample, controller });
        }
    }

    fn tell_window<O: Observer>(&mut self, now: Time, observer: &mut O) {
        let Some(window) = self.lines.pair.window(self.role(Side::Sender), self.lines.newest) else { return };
        if O::READS_DETAILS {
            observer.detail(now, Detail::Stands { flow: self.id, at: window.state });
        }
        let told = Told { cwnd: window.cwnd, ssthresh: window.ssthresh, flight_bytes: window.flight_bytes };
        if told != self.told {
            self.told = told;
            let Told { cwnd, ssthresh, flight_bytes } = told;
            observer.observe(now, Record::Window { flow: self.id, cwnd, ssthresh, flight_bytes });
        }
    }

    /// The next datagram of `side`; the sender does not send if `held_back`.
    pub(crate) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        observer: &mut impl Observer,
    ) -> Option<Datagram> {
        let role = self.role(side);
        let is_next_of_batch =
            if self.cost.is_some() { self.is_leaving } else { self.lines.pair.is_within_batch(role) };
        if held_back && !is_next_of_batch {
            return None;
        }
        if self.cost.is_some() { self.next_made(side) } else { self.ask(now, side, observer) }
    }

    /// The next datagram of the sender, whose device has room.
    pub(crate) fn pull(&mut self, now: Time, observer: &mut impl Observer) -> Option<Datagram> {
        if self.cost.is_none() {
            return self.ask(now, Side::Sender, observer);
        }
        let datagram = self.next_made(Side::Sender);
        self.is_leaving = !self.made[Side::Sender as usize].is_empty();
        datagram
    }

    /// Whether the datagram that the sender has just sent leaves together with the next.
    pub(crate) fn is_within_batch(&self) -> bool {
        self.is_leaving || self.lines.pair.is_within_batch(self.role(Side::Sender))
    }

    fn next_made(&mut self, side: Side) -> Option<Datagram> {
        let made = &mut self.made[side as usize];
        let datagram = made.pop_front();
        self.is_leaving &= !made.is_empty();
        datagram
    }

    /// The time that its datagrams take at its hosts, if they take any.
    #[inline]
    pub(super) fn cost(&self) -> Option<Cost> {
        self.cost
    }

    /// The process of `side` begins to send. False if the stack has no datagram.
    pub(super) fn make(&mut self, now: Time, side: Side, observer: &mut impl Observer) -> bool {
        let role = self.role(side);
        while let Some(datagram) = self.ask(now, side, observer) {
            self.making[side as usize].push(datagram);
            if !self.lines.pair.is_within_batch(role) {
                break;
            }
        }
        !self.making[side as usize].is_empty()
    }

    /// The process of `side` has sent the datagrams that it made.
    pub(super) fn leaves(&mut self, side: Side) {
        self.made[side as usize].extend(self.making[side as usize].drain(..));
    }

    /// Whether the receiver has no more to send after a datagram of so many bytes: one without data of its own puts all that
    /// waits into one datagram, if it is not nearly full. A probe of the path's MTU comes in addition.
    #[inline]
    pub(crate) fn receiver_rests(&self, bytes: u32) -> bool {
        self.is_quiet_receiver && bytes < NEARLY_FULL && self.lines.pair.is_established(self.role(Side::Receiver))
    }

    /// Asks the stack for the next datagram of `side`.
    fn ask(&mut self, now: Time, side: Side, observer: &mut impl Observer) -> Option<Datagram> {
        let datagram = self.lines.pair.poll_transmit(now, self.role(side));
        if side == Side::Sender {
            self.is_dry = datagram.is_none();
            if datagram.is_some() {
                observer.observe(now, Record::SegmentSent { flow: self.id, retransmission: false });
                self.tell_window(now, observer);
            }
        }
        datagram
    }

    pub(crate) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        let due = self.lines.pair.poll_timeout(self.role(side));
        self.alarms.arm(side, due)
    }

    pub(crate) fn timer_fires(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        self.alarms.came(side, now);
        let role = self.role(side);
        if self.lines.pair.poll_timeout(role) <= now {
            self.lines.pair.handle_timeout(now, role);
            self.changed(now, side, observer);
        }
    }

    /// The reasons why its ends wait. The stack does not report that it withholds an ACK.
    pub(super) fn waiting(&self) -> Waiting {
        let is_idle = matches!(self.load, Load::Answers(_)) && !self.lines.awaits_answers();
        if !self.running || is_idle {
            return Waiting::IDLE;
        }
        let hold = |role| self.lines.pair.hold(role, self.lines.newest);
        let is_held_up = (self.asked || self.cost.is_some()) && !self.is_dry;
        let hold = match (is_held_up, hold(Role::Client)) {
            (true, _) => Hold::Device,
            (false, Hold::Opening) => Hold::Opening,
            (false, _) => hold(self.role(Side::Sender)),
        };
        Waiting { hold, awaits_answer: self.told.flight_bytes > 0, withholds_ack: false }
    }

    /// The reason why one of its congestion controllers cannot continue, if any.
    pub(crate) fn controller_failure(&self) -> Option<String> {
        self.lines.pair.controller_failure()
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        let most = match &self.load {
            Load::Bulk(Bulk { size, .. }) => size.map(|size| size.saturating_mul(u64::from(self.lines.newest) + 1)),
            Load::Writes { .. } => Some(self.offered),
            Load::Answers(_) => Some(self.lines.written),
        };
        match most {
            Some(most) if self.delivered > most => {
                Err(format!("flow {}: {} bytes were delivered, {most} written", self.id.0, self.delivered))
            }
            _ => Ok(()),
        }
    }

    /// Reports the metrics of such flows, and of its application.
    pub(crate) fn report(&self, row: &mut Row<scope::Flow>) {
        let lost = self.lines.pair.packets_lost(self.role(Side::Sender));
        row.put_of_feature(PACKETS_DECLARED_LOST, Some(lost));
        if let Load::Answers(driver) = &self.load {
            driver.report(self.span, row);
        }
    }
}
