//! Several TCP connections of one flow at a time, each with an endpoint at either end.
//!
//! A connection is numbered when it is opened and forgotten when both ends have closed it, without their TIME-WAIT.

use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::{FlowId, Observer};
use lasthop_tcp::{Config, Segment, State};
use lasthop_units::Time;

use super::Side;
use super::connection::{Alarms, Connection, Waiting};
use super::driver::Exchanges;
use super::own_queue::OwnQueue;
use crate::traffic::web;

/// A request and its answer, in bytes of their streams.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    request_ends: u64,
    answer: u64,
    answer_ends: u64,
    answered: bool,
}

/// One connection, and the exchanges over it.
struct Line {
    connection: Connection,
    exchanges: VecDeque<Exchange>,
    /// bytes of all requests, and of all answers to them
    asked: u64,
    promised: u64,
    closing: bool,
    opened_at: Time,
}

/// The open TCP connections of a flow.
pub(super) struct Pool {
    flow: FlowId,
    config: Arc<Config>,
    /// Initial sequence numbers.
    iss: Stream,
    lines: Vec<Line>,
    opened: u32,
    own_queue: OwnQueue,
    alarms: Alarms,
    delivered: u64,
    written: u64,
}

impl Line {
    fn number(&self) -> u32 {
        self.connection.number()
    }

    /// Requests without their whole answer.
    fn unanswered(&self) -> usize {
        self.exchanges.len()
    }

    fn is_over(&self) -> bool {
        self.connection.ends().iter().all(|end| matches!(end.state(), State::Closed | State::TimeWait))
    }

    fn has_failed(&self) -> bool {
        self.connection.ends().iter().any(|end| end.failure().is_some())
    }

    /// Answers the requests that have arrived in full. Returns the number of bytes.
    fn answer(&mut self) -> u64 {
        let arrived = self.connection.end(Side::Sender).delivered_bytes();
        let mut written = 0;
        for exchange in self.exchanges.iter_mut().filter(|e| !e.answered && e.request_ends <= arrived) {
            exchange.answered = true;
            written += exchange.answer;
        }
        if written > 0 {
            self.connection.end_mut(Side::Sender).write(written);
        }
        written
    }

    /// The size of the oldest answer if it has arrived in full; returned once.
    fn take_answer(&mut self) -> Option<u64> {
        let arrived = self.connection.end(Side::Receiver).delivered_bytes();
        let first = self.exchanges.front()?;
        if arrived < first.answer_ends {
            return None;
        }
        self.exchanges.pop_front().map(|exchange| exchange.answer)
    }
}

impl Pool {
    /// `own_queue`: the state of a new connection in its station's queue, with the limit there.
    pub(super) fn new(flow: FlowId, config: Arc<Config>, iss: Stream, own_queue: OwnQueue) -> Pool {
        Pool {
            flow,
            config,
            iss,
            lines: Vec::new(),
            opened: 0,
            own_queue,
            alarms: Alarms::new(),
            delivered: 0,
            written: 0,
        }
    }

    /// The reason why a controller cannot continue, if any.
    pub(super) fn controller_failure(&self) -> Option<&str> {
        self.lines.iter().find_map(|line| line.connection.controller_failure())
    }

    /// Opens a new connection from `side`.
    pub(super) fn open_from(&mut self, now: Time, side: Side) -> u32 {
        self.opened += 1;
        let mut connection = Connection::new(self.flow, self.opened, &self.config, &mut self.iss, self.own_queue);
        connection.open(now, side);
        self.lines.push(Line {
            connection,
            exchanges: VecDeque::new(),
            asked: 0,
            promised: 0,
            closing: false,
            opened_at: now,
        });
        self.opened
    }

    fn get(&mut self, number: u32) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| line.number() == number)
    }

    /// The connection of a packet, by the low bits of its number, which lower layers know.
    pub(super) fn connection_of(&mut self, low: u16) -> Option<&mut Connection> {
        self.lines.iter_mut().map(|line| &mut line.connection).find(|connection| connection.number() as u16 == low)
    }

    /// The sender writes the last data of this connection.
    pub(super) fn send_and_close(&mut self, now: Time, number: u32, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
        let Some(line) = self.get(number) else { return };
        line.promised = bytes;
        line.closing = true;
        let sender = line.connection.end_mut(Side::Sender);
        sender.write(bytes);
        sender.close(now);
    }

    /// Removes connections that one end has given up; true if one of them was in use.
    pub(super) fn drop_failed(&mut self) -> bool {
        let lost = self.lines.iter().any(|line| line.has_failed() && !line.closing);
        self.lines.retain(|line| !line.has_failed());
        lost
    }

    /// Handles a segment that arrives at `side`.
    pub(super) fn arrive(
        &mut self,
        now: Time,
        side: Side,
        segment: &Segment,
        number: u32,
        observer: &mut impl Observer,
    ) {
        // Otherwise it is a straggler of a closed connection.
        let Some(index) = self.lines.iter().position(|line| line.number() == number) else { return };
        let line = &mut self.lines[index];
        line.connection.arrive(now, side, segment);
        if side == Side::Sender {
            self.written = self.written.saturating_add(line.answer());
        }
        let before = line.connection.delivered();
        line.connection.tell(now, side, observer);
        self.delivered += line.connection.delivered() - before;
        let end = line.connection.end_mut(side);
        if end.state() == State::CloseWait {
            end.close(now);
            line.closing = true;
        }
    }

    /// The size of the next answer that has arrived in full.
    pub(super) fn take_answer(&mut self) -> Option<u64> {
        self.lines.iter_mut().find_map(Line::take_answer)
    }

    /// Removes the next connection on which all written data is acknowledged. Returns the time at which it was opened.
    pub(super) fn take_completed(&mut self) -> Option<Time> {
        let acked = |line: &Line| line.connection.end(Side::Sender).acked_bytes();
        let line = self.lines.iter_mut().find(|line| line.promised > 0 && acked(line) >= line.promised)?;
        line.promised = 0;
        Some(line.opened_at)
    }

    /// Removes closed connections.
    pub(super) fn tidy(&mut self) {
        self.lines.retain(|line| !line.is_over());
    }

    /// Writes the next segment of `side` into `segment`, one without data of the sender if `held_back`. Returns the
    /// number of its connection.
    pub(super) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        segment: &mut Segment,
        observer: &mut impl Observer,
    ) -> Option<u32> {
        self.lines.iter_mut().find_map(|line| {
            let sends = line.connection.poll(now, side, held_back, segment, observer);
            sends.then(|| line.number())
        })
    }

    pub(super) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        let due = self.lines.iter_mut().map(|line| line.connection.end_mut(side).poll_timeout()).min()?;
        self.alarms.arm(side, due)
    }

    pub(super) fn timer_fires(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        self.alarms.came(side, now);
        for line in &mut self.lines {
            if line.connection.fire_timers(now, side) {
                line.connection.tell(now, side, observer);
            }
        }
    }

    /// The reasons why the ends of all connections wait.
    pub(super) fn waiting(&self, now: Time) -> Waiting {
        self.lines.iter().map(|line| line.connection.waiting(now)).fold(Waiting::IDLE, Waiting::and)
    }

    pub(super) fn check_conservation(&self) -> Result<(), String> {
        if self.delivered <= self.written {
            return Ok(());
        }
        Err(format!("flow {}: {} bytes were delivered, {} written", self.flow.0, self.delivered, self.written))
    }
}

impl Exchanges for Pool {
    fn limits(&self, params: &web::Params) -> (usize, usize) {
        params.limits()
    }

    fn idlest(&self) -> Option<(u32, usize)> {
        let open = self.lines.iter().filter(|line| !line.closing);
        open.map(|line| (line.number(), line.unanswered())).min_by_key(|&(number, unanswered)| (unanswered, number))
    }

    fn open_connections(&self) -> usize {
        self.lines.iter().filter(|line| !line.closing).count()
    }

    fn open(&mut self, now: Time) -> u32 {
        self.open_from(now, Side::Receiver)
    }

    fn ask(&mut self, number: u32, request: u64, answer: u64) {
        let Some(line) = self.get(number) else { return };
        line.asked += request;
        line.promised += answer;
        let (request_ends, answer_ends) = (line.asked, line.promised);
        line.exchanges.push_back(Exchange { request_ends, answer, answer_ends, answered: false });
        line.connection.end_mut(Side::Receiver).write(request);
    }

    fn close_all(&mut self, now: Time) {
        for line in self.lines.iter_mut().filter(|line| !line.closing) {
            line.closing = true;
            line.connection.end_mut(Side::Receiver).close(now);
        }
    }
}
