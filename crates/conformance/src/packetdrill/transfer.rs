//! Reading and writing.

use lasthop_tcp::{Info, State, Write};
use lasthop_units::Time;

use crate::packetdrill::arguments::{argument, expect_control, flags_argument, length};
use crate::packetdrill::calls::{Called, Outcome, Progress, fails, returns};
use crate::packetdrill::connection::Connection;
use crate::packetdrill::errno::Errno;
use crate::packetdrill::host::{Host, Trouble};
use crate::packetdrill::script::{Call, Expr};
use crate::packetdrill::send_buffer::Fill;

const MSG_DONTWAIT: i64 = 0x40;
const MSG_EOR: i64 = 0x80;
const MSG_WAITALL: i64 = 0x100;
const MSG_NOSIGNAL: i64 = 0x4000;
const MSG_MORE: i64 = 0x8000;
const MSG_FASTOPEN: i64 = 0x2000_0000;

impl Host {
    pub(crate) fn read(&mut self, call: &Call) -> Called {
        let file = argument(call, 0)?;
        if matches!(call.arguments.get(1), Some(Expr::Word(word)) if word == "NULL") {
            return fails(Errno::Fault);
        }
        let index = match self.connection_of(file) {
            Ok(index) => index,
            Err(errno) => return fails(errno),
        };
        let wanted = length(call)?;
        let flags = flags_argument(call, 3)?;
        if flags & !(MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL) != 0 {
            return Err(Trouble::Skip(format!("{} with flags {flags:#x} has no counterpart", call.name)));
        }
        let nonblocking = self.is_nonblocking(file) || flags & MSG_DONTWAIT != 0;
        let now = self.now;
        let connection = &mut self.connections[index];
        let readable = connection.endpoint.readable_bytes();
        let waits_for_all = flags & MSG_WAITALL != 0 && readable < wanted;
        if readable > 0 && !waits_for_all {
            let taken = connection.endpoint.read(now, wanted);
            // The remaining bytes, and 1 more if nothing can come after them.
            let left = connection.endpoint.readable_bytes();
            let end = u64::from(left == 0 && connection.endpoint.is_peer_closed());
            expect_control(call, (left + end) as i64)?;
            return returns(taken as i64);
        }
        if let Some(error) = connection.error.take() {
            // A reset after the peer's FIN is the end of the data, no error of reading.
            return if error == Errno::Pipe { returns(0) } else { fails(error) };
        }
        if connection.at_end() {
            return returns(connection.endpoint.read(now, wanted) as i64);
        }
        if connection.endpoint.is_closed() || connection.endpoint.state() == State::SynSent && nonblocking {
            return fails(if connection.endpoint.is_closed() { Errno::NotConn } else { Errno::Again });
        }
        if nonblocking { fails(Errno::Again) } else { Ok(Outcome::Waits) }
    }

    pub(crate) fn write(&mut self, call: &Call, progress: &mut Progress) -> Called {
        let file = argument(call, 0)?;
        if matches!(call.arguments.get(1), Some(Expr::Word(word)) if word == "NULL") {
            return fails(Errno::Fault);
        }
        let flags = match call.name.as_str() {
            "sendmsg" => flags_argument(call, 2)?,
            "write" | "writev" | "sendfile" => 0,
            _ => flags_argument(call, 3)?,
        };
        if flags & MSG_FASTOPEN != 0 {
            return Err(Trouble::Skip("TCP Fast Open has no counterpart".into()));
        }
        let index = match self.connection_of(file) {
            Ok(index) => index,
            Err(Errno::NotConn) => return fails(Errno::Pipe),
            Err(errno) => return fails(errno),
        };
        if flags & !(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_EOR) != 0 {
            return Err(Trouble::Skip(format!("{} with flags {flags:#x} has no counterpart", call.name)));
        }
        let nonblocking = self.is_nonblocking(file) || flags & MSG_DONTWAIT != 0;
        let wanted = length(call)?;
        let now = self.now;
        let write = Write { more: flags & MSG_MORE != 0, ends_record: flags & MSG_EOR != 0 };
        let connection = &mut self.connections[index];
        if let Some(errno) = connection.error.take() {
            return fails(errno);
        }
        if connection.write_shut || connection.endpoint.is_closed() {
            return fails(Errno::Pipe);
        }
        if is_opening(connection.endpoint.state()) {
            return if nonblocking { fails(Errno::Again) } else { Ok(Outcome::Waits) };
        }
        if progress.written > 0 && !connection.send_buffer.is_writable(connection.unsent()) {
            return Ok(Outcome::Waits);
        }
        // A large send that is full at the head of the queue leaves before the next is filled.
        loop {
            let taken = self.connections[index].write(now, wanted - progress.written, write);
            progress.written += taken;
            if taken == 0 || progress.written == wanted || self.is_exhausted() {
                break;
            }
            self.settle();
        }
        self.connections[index].tell_endpoint_of_room(now);
        match progress.written {
            written if written == wanted => returns(written as i64),
            0 if nonblocking => fails(Errno::Again),
            written if nonblocking => returns(written as i64),
            _ => Ok(Outcome::Waits),
        }
    }
}

impl Connection {
    /// Hands bytes to the endpoint, one large send at most, if the send buffer takes them; their number.
    pub fn write(&mut self, now: Time, bytes: u64, write: Write) -> u64 {
        let unsent = self.unsent();
        let info = self.endpoint.info(now);
        self.grow_buffer(&info);
        let goal = self.large_send(&info);
        let taken = self.send_buffer.take(bytes, Fill { goal, unsent }, write.ends_record);
        if taken == bytes {
            self.endpoint.send(taken, write);
        } else if taken > 0 {
            self.endpoint.send(taken, Write { more: true, ends_record: false });
        } else {
            self.endpoint.push();
        }
        taken
    }

    /// The size of one large send: half of the peer's largest window, in whole segments.
    fn large_send(&self, info: &Info) -> u64 {
        let mss = u64::from(info.snd_mss.max(1));
        let half = self.endpoint.largest_peer_window() / 2;
        (half.min(65_535 - 320) / mss).max(1) * mss
    }

    /// Makes room for twice the congestion window, as in Linux while no size was set.
    fn grow_buffer(&mut self, info: &Info) {
        let segment = u64::from((info.snd_mss + 320 + 320).next_power_of_two()) + 256;
        let segments = u64::from(info.snd_cwnd.max(10).max(info.reordering + 1));
        self.send_buffer.grow_to((2 * segments * segment).min(4_194_304));
    }
}

/// True before a connection is open.
fn is_opening(state: State) -> bool {
    matches!(state, State::SynSent | State::SynReceived | State::Listen)
}
