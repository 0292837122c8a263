//! One connection of the host: an endpoint, and what the socket above it adds.

use lasthop_tcp::{Endpoint, Failure, Segment, State};
use lasthop_units::Time;

use crate::packetdrill::errno::Errno;
use crate::packetdrill::offload::Offload;
use crate::packetdrill::send_buffer::SendBuffer;
use crate::packetdrill::wire::Mapping;

/// An endpoint with its socket.
#[derive(Debug)]
pub(crate) struct Connection {
    pub endpoint: Endpoint,
    pub mapping: Mapping,
    pub send_buffer: SendBuffer,
    pub offload: Offload,
    /// what the next call is told
    pub error: Option<Errno>,
    /// the application has said that it sends no more
    pub write_shut: bool,
    /// or that it reads no more
    pub read_shut: bool,
    /// it has been in ESTABLISHED
    pub was_open: bool,
    /// how often there was news for the application: data, their end, an error, room to write
    pub wakeups: u64,
}

/// What news are about.
type Known = (u64, bool, Option<Errno>, bool);

impl Connection {
    pub fn new(endpoint: Endpoint, mapping: Mapping, send_buffer: SendBuffer) -> Self {
        Connection {
            endpoint,
            mapping,
            send_buffer,
            offload: Offload::default(),
            error: None,
            write_shut: false,
            read_shut: false,
            was_open: false,
            wakeups: 0,
        }
    }

    /// Hands a segment to the endpoint and notes what it means for the application.
    pub fn receive(&mut self, now: Time, segment: &Segment) {
        let (before, known) = (self.endpoint.state(), self.known());
        self.endpoint.handle_segment(now, segment);
        self.note(before, known);
    }

    /// Lets timers run out.
    pub fn on_time(&mut self, now: Time) {
        let (before, known) = (self.endpoint.state(), self.known());
        self.endpoint.handle_timeout(now);
        self.note(before, known);
    }

    fn known(&self) -> Known {
        (self.endpoint.readable_bytes(), self.endpoint.is_peer_closed(), self.error, self.was_open)
    }

    fn note(&mut self, before: State, known: Known) {
        self.was_open |= self.endpoint.is_established();
        if self.endpoint.is_closed() && before != State::Closed {
            self.error = self.endpoint.failure().and_then(|failure| error_of(failure, before));
        }
        self.send_buffer.on_acked(self.endpoint.acked_bytes());
        self.wakeups += u64::from(self.known() != known);
    }

    /// After what an acknowledgement lets out has gone out: the application is told of room, if it lacked it.
    pub fn tell_of_room(&mut self) {
        if self.send_buffer.was_full && self.send_buffer.is_writable(self.unsent()) {
            self.send_buffer.was_full = false;
            self.wakeups += 1;
        }
    }

    /// The endpoint keeps account of how long the send buffer held data back.
    pub fn tell_endpoint_of_room(&mut self, now: Time) {
        self.endpoint.set_send_buffer_full(now, self.send_buffer.was_full);
    }

    /// Nothing more will come.
    pub fn at_end(&self) -> bool {
        self.endpoint.is_peer_closed() || self.read_shut || (self.endpoint.is_closed() && self.was_open)
    }

    /// Bytes written and not yet sent.
    pub fn unsent(&self) -> u64 {
        self.endpoint.unsent_bytes()
    }
}

/// What the application is told of a connection that failed in this state.
fn error_of(failure: Failure, state: State) -> Option<Errno> {
    match failure {
        Failure::Refused => Some(Errno::ConnRefused),
        Failure::Reset if state == State::CloseWait => Some(Errno::Pipe),
        Failure::Reset => Some(Errno::ConnReset),
        Failure::TimedOut => Some(Errno::TimedOut),
        Failure::Unread => None,
    }
}
