//! One connection of the host: an endpoint, and what the socket above it adds.

use lasthop_tcp::{Endpoint, Segment, State};
use lasthop_units::Time;

use crate::errno::Errno;
use crate::offload::Offload;
use crate::send_buffer::SendBuffer;
use crate::wire::Mapping;

/// An endpoint with its socket.
#[derive(Debug)]
pub(crate) struct Connection {
    pub endpoint: Endpoint,
    pub mapping: Mapping,
    pub send_buffer: SendBuffer,
    pub offload: Offload,
    /// bytes that the application has read
    pub read: u64,
    /// what the next call is told
    pub error: Option<Errno>,
    /// the application has said that it sends no more
    pub write_shut: bool,
    /// or that it reads no more
    pub read_shut: bool,
    /// no file refers to it
    pub orphaned: bool,
    /// it has been in ESTABLISHED
    pub was_open: bool,
    /// the peer's FIN was reached in order
    pub peer_closed: bool,
    /// how often there was news for the application: data, their end, an error, room to write
    pub wakeups: u64,
}

impl Connection {
    pub fn new(endpoint: Endpoint, mapping: Mapping, send_buffer: SendBuffer) -> Self {
        Connection {
            endpoint,
            mapping,
            send_buffer,
            offload: Offload::default(),
            read: 0,
            error: None,
            write_shut: false,
            read_shut: false,
            orphaned: false,
            was_open: false,
            peer_closed: false,
            wakeups: 0,
        }
    }

    /// Hands a segment to the endpoint and notes what it means for the application.
    pub fn receive(&mut self, now: Time, segment: &Segment) {
        let before = self.endpoint.state();
        let known = (self.readable(), self.peer_closed, self.error, self.was_open);
        self.endpoint.handle_segment(now, segment);
        let is_reset = segment.flags.contains(lasthop_tcp::Flags::RST);
        if is_reset && self.endpoint.is_closed() && before != State::Closed {
            self.error = match before {
                State::SynSent => Some(Errno::ConnRefused),
                State::CloseWait => Some(Errno::Pipe),
                State::TimeWait => None,
                _ => Some(Errno::ConnReset),
            };
        }
        self.note_state();
        if (self.readable(), self.peer_closed, self.error, self.was_open) != known {
            self.wakeups += 1;
        }
    }

    /// After what an acknowledgement lets out has gone out: the application is told of room, if it lacked it.
    pub fn tell_of_room(&mut self) {
        if self.send_buffer.was_full && self.send_buffer.is_writable(self.unsent()) {
            self.send_buffer.was_full = false;
            self.wakeups += 1;
        }
    }

    /// Lets timers run out.
    pub fn on_time(&mut self, now: Time) {
        let before = self.endpoint.state();
        self.endpoint.handle_timeout(now);
        if self.endpoint.is_closed() && !matches!(before, State::Closed | State::TimeWait) {
            self.error = Some(Errno::TimedOut);
        }
        self.note_state();
    }

    fn note_state(&mut self) {
        self.was_open |= self.endpoint.is_established();
        self.peer_closed |=
            matches!(self.endpoint.state(), State::CloseWait | State::Closing | State::LastAck | State::TimeWait);
        self.send_buffer.on_acked(self.endpoint.acked_bytes());
    }

    /// Bytes that wait to be read.
    pub fn readable(&self) -> u64 {
        self.endpoint.delivered_bytes().saturating_sub(self.read)
    }

    /// A read returns at once: with data, the end of it, or an error.
    pub fn read_is_ready(&self) -> bool {
        self.readable() > 0 || self.at_end() || self.error.is_some()
    }

    /// Nothing more will come.
    pub fn at_end(&self) -> bool {
        self.peer_closed || self.read_shut || (self.endpoint.is_closed() && self.was_open)
    }

    /// Bytes written and not yet sent.
    pub fn unsent(&self) -> u64 {
        self.endpoint.unsent_bytes()
    }
}
