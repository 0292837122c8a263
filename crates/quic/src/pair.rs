//! A client and a server, the connections between them, and the data on their streams.
//!
//! Data is counted, not made: an application writes a number of bytes, which are zeros on the wire, and learns how many
//! have arrived. The caller carries the datagrams and keeps the time.

use std::collections::VecDeque;

use bytes::Bytes;
use lasthop_tcp::congestion_control::Outside;
use lasthop_units::{Hold, Time};
use quinn_proto::{Dir, Event, Side, StreamEvent, StreamId, VarInt};

use crate::clock::instant;
use crate::end::{Datagram, End, Line, Role};
use crate::outgoing::{Outgoing, Way};
use crate::sender::{RttSample, Window};
use crate::settings::Settings;

/// A stream: its connection, and its place among the streams of its kind, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPlace {
    /// Counts the connections of the pair from 0.
    pub connection: u32,
    /// The direction in which data may flow.
    pub way: Way,
    /// Counts the client's streams of this kind on the connection from 0.
    pub index: u64,
}

/// A change that an application reacts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Data has arrived in order.
    Arrived {
        /// where
        stream: StreamPlace,
        /// how much since the last change
        bytes: u64,
        /// whether it was the last
        is_end: bool,
    },
    /// All data that this end wrote to a stream is acknowledged.
    Acknowledged(StreamPlace),
    /// The peer has closed the connection, or this end has given it up.
    Lost {
        /// counts the connections of the pair from 0
        connection: u32,
        /// whether the peer closed it without a mistake
        is_closed: bool,
    },
}

/// A client and a server.
pub struct Pair {
    ends: [End; 2],
    opened: u32,
    changes: VecDeque<(Role, Change)>,
}

impl Pair {
    /// A pair without connections. The same seed gives the same bytes.
    pub fn new(settings: &Settings, seed: u64) -> Pair {
        let end = |role| End::new(role, settings, seed);
        Pair { ends: [end(Role::Client), end(Role::Server)], opened: 0, changes: VecDeque::new() }
    }

    fn end(&self, role: Role) -> &End {
        &self.ends[role as usize]
    }

    fn end_mut(&mut self, role: Role) -> &mut End {
        &mut self.ends[role as usize]
    }

    /// The client opens a connection. Returns its number.
    pub fn open(&mut self, now: Time) -> u32 {
        let number = self.opened;
        self.opened += 1;
        self.end_mut(Role::Client).connect(now, number);
        number
    }

    /// The client opens a stream and writes `bytes` to it, which end it; `None`: it never ends. Before the end of the
    /// handshake, all of this waits.
    pub fn write_stream(&mut self, connection: u32, way: Way, bytes: Option<u64>) {
        if let Some(line) = self.end_mut(Role::Client).line_mut(connection) {
            line.outgoing.push(Outgoing { way, stream: None, left: bytes, ends: true });
            line.write();
        }
    }

    /// The client opens another stream to the server, to which it [writes](Pair::write) from time to time.
    pub fn open_stream(&mut self, connection: u32) {
        if let Some(line) = self.end_mut(Role::Client).line_mut(connection) {
            line.outgoing.push(Outgoing { way: Way::One, stream: None, left: Some(0), ends: false });
            line.write();
        }
    }

    /// The client writes to the `index`-th of these streams.
    pub fn write(&mut self, connection: u32, index: usize, bytes: u64) {
        let Some(line) = self.end_mut(Role::Client).line_mut(connection) else { return };
        if let Some(open) = line.outgoing.iter_mut().filter(|outgoing| !outgoing.ends).nth(index) {
            open.left = open.left.map(|left| left + bytes);
        }
        line.write();
    }

    /// The server answers on a stream that the client opened, with `bytes`, which end it.
    pub fn answer(&mut self, stream: StreamPlace, bytes: u64) {
        if let Some(line) = self.end_mut(Role::Server).line_mut(stream.connection) {
            let id = StreamId::new(Side::Client, stream.way.dir(), stream.index);
            line.outgoing.push(Outgoing { way: stream.way, stream: Some(id), left: Some(bytes), ends: true });
            line.write();
        }
    }

    /// An end closes a connection. Data that is not acknowledged is lost.
    pub fn close(&mut self, now: Time, role: Role, connection: u32) {
        if let Some(line) = self.end_mut(role).line_mut(connection) {
            line.connection.close(instant(now), VarInt::from_u32(0), Bytes::new());
            line.outgoing.clear();
        }
        self.end_mut(role).settle();
    }

    /// A datagram arrives at an end.
    pub fn handle(&mut self, now: Time, role: Role, datagram: Datagram) {
        let Datagram { payload, ecn, .. } = datagram;
        self.end_mut(role).handle(now, ecn, payload);
        self.react(role);
    }

    /// The next datagram that an end may send.
    pub fn poll_transmit(&mut self, now: Time, role: Role) -> Option<Datagram> {
        self.end_mut(role).poll_transmit(now)
    }

    /// Whether an end has one connection alone, whose handshake is over.
    pub fn is_established(&self, role: Role) -> bool {
        matches!(&self.end(role).lines[..], [line] if !line.connection.is_handshaking())
    }

    /// Whether the last datagram of an end leaves together with the next, which [`poll_transmit`](Self::poll_transmit)
    /// returns.
    pub fn is_within_batch(&self, role: Role) -> bool {
        self.end(role).is_within_batch()
    }

    /// Reports before an arrival whether an end was not polled for all that it would send, since its device is full or
    /// its host is busy: a window that this leaves unused does not grow.
    pub fn set_held_up(&mut self, role: Role, is_held_up: bool) {
        for line in &self.end(role).lines {
            line.sender.lock().set_held_up(is_held_up);
        }
    }

    /// Replaces the window of an end, on all connections, by one from outside, in datagrams. The stack paces by its window, so that a
    /// pacing rate has no effect.
    pub fn set_outside(&mut self, role: Role, values: Outside) {
        self.end_mut(role).set_outside(values);
    }

    /// The time of an end's earliest timer.
    pub fn poll_timeout(&mut self, role: Role) -> Time {
        self.end_mut(role).poll_timeout()
    }

    /// Fires an end's timers that are due.
    pub fn handle_timeout(&mut self, now: Time, role: Role) {
        self.end_mut(role).handle_timeout(now);
        self.react(role);
    }

    /// The next change, and the end at which it is.
    pub fn next_change(&mut self) -> Option<(Role, Change)> {
        self.changes.pop_front()
    }

    /// The window of an end, if it has the connection.
    pub fn window(&self, role: Role, connection: u32) -> Option<Window> {
        self.end(role).line(connection).map(|line| line.sender.lock().window())
    }

    /// The last RTT that an end has measured on a connection; returned once.
    pub fn take_rtt(&self, role: Role, connection: u32) -> Option<RttSample> {
        self.end(role).line(connection)?.sender.lock().take_rtt()
    }

    /// The reason for which an end that has been polled dry does not send; it has no data if the connection is gone.
    pub fn hold(&self, role: Role, connection: u32) -> Hold {
        self.end(role).line(connection).map_or(Hold::Application, Line::hold)
    }

    /// Packets that an end has declared lost, on all its connections.
    pub fn packets_lost(&self, role: Role) -> u64 {
        self.end(role).packets_lost()
    }

    /// By open connection: packets that an end has declared lost.
    pub fn losses(&self, role: Role) -> impl Iterator<Item = (u32, u64)> {
        self.end(role).lines.iter().map(|line| (line.number, line.packets_lost()))
    }

    /// The reason why a controller cannot continue, if there is one.
    pub fn controller_failure(&self) -> Option<String> {
        let lines = self.ends.iter().flat_map(|end| &end.lines);
        lines.into_iter().find_map(|line| line.sender.lock().failure().map(str::to_string))
    }

    /// Handles the events of the connections of an end.
    fn react(&mut self, role: Role) {
        let changes = &mut self.changes;
        let end = &mut self.ends[role as usize];
        for line in &mut end.lines {
            while let Some(event) = line.connection.poll() {
                line.react(event, &mut |change| changes.push_back((role, change)));
            }
        }
        end.settle();
        end.tidy();
    }
}

impl Line {
    fn react(&mut self, event: Event, tell: &mut impl FnMut(Change)) {
        match event {
            Event::Connected => self.write(),
            Event::Stream(StreamEvent::Opened { dir }) => {
                while let Some(id) = self.connection.streams().accept(dir) {
                    self.read(id, tell);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(id, tell),
            Event::Stream(StreamEvent::Writable { .. } | StreamEvent::Available { .. }) => self.write(),
            Event::Stream(StreamEvent::Finished { id }) => tell(Change::Acknowledged(self.place(id))),
            Event::ConnectionLost { reason } => {
                let is_closed = matches!(reason, quinn_proto::ConnectionError::ApplicationClosed(_));
                tell(Change::Lost { connection: self.number, is_closed });
            }
            Event::HandshakeDataReady
            | Event::Stream(StreamEvent::Stopped { .. })
            | Event::DatagramReceived
            | Event::DatagramsUnblocked => {}
        }
    }

    fn place(&self, id: StreamId) -> StreamPlace {
        let way = if id.dir() == Dir::Uni { Way::One } else { Way::Both };
        StreamPlace { connection: self.number, way, index: id.index() }
    }

    fn hold(&self) -> Hold {
        let sender = self.sender.lock();
        if self.connection.is_handshaking() {
            Hold::Opening
        } else if sender.is_full() {
            Hold::CongestionWindow
        } else if !sender.is_app_limited() {
            Hold::Pacing
        } else if !self.outgoing.iter().any(Outgoing::waits) {
            Hold::Application
        } else {
            Hold::ReceiveWindow
        }
    }

    /// Reads all that has arrived on a stream.
    fn read(&mut self, id: StreamId, tell: &mut impl FnMut(Change)) {
        let stream = self.place(id);
        let mut incoming = self.connection.recv_stream(id);
        let Ok(mut chunks) = incoming.read(true) else { return };
        let mut bytes = 0;
        let is_end = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => bytes += chunk.bytes.len() as u64,
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        let _ = chunks.finalize();
        if bytes > 0 || is_end {
            tell(Change::Arrived { stream, bytes, is_end });
        }
    }

    /// Hands the stack as much of the waiting data as it takes.
    fn write(&mut self) {
        let connection = &mut self.connection;
        self.outgoing.retain_mut(|outgoing| !outgoing.is_written(connection));
    }
}
