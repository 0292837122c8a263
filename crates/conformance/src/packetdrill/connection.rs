//! One connection of the host: an endpoint, and its socket.

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
    /// error for the next call
    pub error: Option<Errno>,
    /// the application has shut down sending
    pub write_shut: bool,
    /// the application has shut down receiving
    pub read_shut: bool,
    /// the connection has been in ESTABLISHED
    pub was_open: bool,
    /// number of news for the application: data, their end, an error, room to write
    pub wakeups: u64,
}

/// The facts whose changes are news.
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

    /// Hands a segment to the endpoint and notes its news for the application.
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

    /// Reports room to the application, if it lacked it, after an acknowledgement has released data.
    pub fn tell_of_room(&mut self) {
        if self.send_buffer.was_full && self.send_buffer.is_writable(self.unsent()) {
            self.send_buffer.was_full = false;
            self.wakeups += 1;
        }
    }

    /// Reports a full send buffer to the endpoint, which accounts for that time.
    pub fn tell_endpoint_of_room(&mut self, now: Time) {
        self.endpoint.set_send_buffer_full(now, self.send_buffer.was_full);
    }

    /// True if nothing more will come.
    pub fn at_end(&self) -> bool {
        self.endpoint.is_peer_closed() || self.read_shut || (self.endpoint.is_closed() && self.was_open)
    }

    /// Bytes written and not yet sent.
    pub fn unsent(&self) -> u64 {
        self.endpoint.unsent_bytes()
    }
}

/// The application's error after a failure of the connection in this state.
fn error_of(failure: Failure, state: State) -> Option<Errno> {
    match failure {
        Failure::Refused => Some(Errno::ConnRefused),
        Failure::Reset if state == State::CloseWait => Some(Errno::Pipe),
        Failure::Reset => Some(Errno::ConnReset),
        Failure::TimedOut => Some(Errno::TimedOut),
        Failure::Unread => None,
    }
}
