//! System calls: what each does, and what it returns.

use lasthop_tcp::{Delay, Info, State, Write};
use lasthop_units::Time;

use crate::connection::Connection;
use crate::errno::Errno;
use crate::host::{File, Host, Role, Socket, Trouble, UnderTest};
use crate::poll;
use crate::script::{Call, Expr};
use crate::send_buffer::Fill;
use crate::symbols::value_of;

/// What became of a call.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Returns(Result<i64, Errno>),
    /// not yet
    Waits,
}

pub(crate) type Called = Result<Outcome, Trouble>;

fn returns(value: i64) -> Called {
    Ok(Outcome::Returns(Ok(value)))
}
fn fails(errno: Errno) -> Called {
    Ok(Outcome::Returns(Err(errno)))
}

/// A call that waits: what it has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// bytes that a write has handed over
    pub written: u64,
    /// connect has begun
    pub begun: bool,
}

impl Host {
    /// Begins a call, or goes on with one that waits.
    pub fn call(&mut self, call: &Call, progress: &mut Progress) -> Called {
        match call.name.as_str() {
            "socket" => self.socket(call),
            "bind" => returns(0),
            "listen" => self.listen(call),
            "accept" | "accept4" => self.accept(call),
            "connect" => self.connect(call, progress),
            "read" | "recv" | "recvfrom" | "readv" | "recvmsg" => self.read(call),
            "write" | "send" | "sendto" | "writev" | "sendmsg" | "sendfile" => self.write(call, progress),
            "close" => self.close(call),
            "shutdown" => self.shutdown(call),
            "setsockopt" => self.set_option(call),
            "getsockopt" => self.get_option(call),
            "fcntl" => self.fcntl(call),
            "ioctl" => self.ioctl(call),
            "poll" => self.poll(call),
            "epoll_create" | "epoll_create1" => {
                let file = result_of(call)?;
                self.files.insert(file, File::Epoll(poll::Epoll::default()));
                returns(file)
            }
            "open" => {
                let file = result_of(call)?;
                self.files.insert(file, File::Plain);
                returns(file)
            }
            "epoll_ctl" => self.epoll_ctl(call),
            "epoll_wait" | "epoll_pwait" => self.epoll_wait(call),
            name => Err(Trouble::Skip(format!("the call {name} has no counterpart"))),
        }
    }

    fn socket(&mut self, call: &Call) -> Called {
        let kind = argument(call, 1)?;
        if kind != 1 && kind != 1 | 0o4000 {
            return Err(Trouble::Skip("sockets other than SOCK_STREAM have no counterpart".into()));
        }
        let file = result_of(call)?;
        let mut socket = Socket::default();
        socket.options.nonblocking = kind & 0o4000 != 0;
        self.files.insert(file, File::Socket(socket));
        self.under_test = UnderTest::Nothing;
        returns(file)
    }

    pub(crate) fn socket_of(&mut self, file: i64) -> Option<&mut Socket> {
        match self.files.get_mut(&file) {
            Some(File::Socket(socket)) => Some(socket),
            _ => None,
        }
    }

    /// The connection that a file stands for.
    pub(crate) fn connection_of(&mut self, file: i64) -> Result<usize, Errno> {
        match self.files.get(&file) {
            Some(File::Socket(Socket { role: Role::Connection(index), .. })) => Ok(*index),
            Some(File::Socket(_)) => Err(Errno::NotConn),
            Some(File::Epoll(_) | File::Plain) => Err(Errno::Inval),
            None => Err(Errno::BadFd),
        }
    }

    fn is_nonblocking(&self, file: i64) -> bool {
        matches!(self.files.get(&file), Some(File::Socket(Socket { options, .. })) if options.nonblocking)
    }

    fn listen(&mut self, call: &Call) -> Called {
        let file = argument(call, 0)?;
        let Some(socket) = self.socket_of(file) else { return fails(Errno::BadFd) };
        socket.role = Role::Listening(Default::default());
        self.under_test = UnderTest::Listener(file);
        returns(0)
    }

    fn accept(&mut self, call: &Call) -> Called {
        let listener = argument(call, 0)?;
        let Some(File::Socket(Socket { role: Role::Listening(queue), options })) = self.files.get(&listener) else {
            return fails(Errno::Inval);
        };
        let options = options.clone();
        let Some(place) = queue.iter().position(|index| self.connections[*index].was_open) else {
            return if options.nonblocking { fails(Errno::Again) } else { Ok(Outcome::Waits) };
        };
        let index = queue[place];
        let file = result_of(call)?;
        if let Some(Socket { role: Role::Listening(queue), .. }) = self.socket_of(listener) {
            queue.remove(place);
        }
        let options = crate::host::SocketOptions { nonblocking: false, ..options };
        self.files.insert(file, File::Socket(Socket { options, role: Role::Connection(index) }));
        returns(file)
    }

    fn connect(&mut self, call: &Call, progress: &mut Progress) -> Called {
        let file = argument(call, 0)?;
        if let Ok(index) = self.connection_of(file) {
            return self.connect_again(index, progress);
        }
        let Some(socket) = self.socket_of(file) else { return fails(Errno::BadFd) };
        let options = socket.options.clone();
        let index = self.open(&options, self.new_mapping(), false)?;
        self.under_test = UnderTest::Connection(index);
        if let Some(socket) = self.socket_of(file) {
            socket.role = Role::Connection(index);
        }
        let now = self.now;
        self.connections[index].endpoint.connect(now);
        progress.begun = true;
        if options.nonblocking { fails(Errno::InProgress) } else { Ok(Outcome::Waits) }
    }

    fn connect_again(&mut self, index: usize, progress: &Progress) -> Called {
        let connection = &mut self.connections[index];
        match connection.endpoint.state() {
            State::SynSent | State::SynReceived if progress.begun => Ok(Outcome::Waits),
            State::SynSent | State::SynReceived => fails(Errno::Already),
            State::Closed => fails(connection.error.take().unwrap_or(Errno::ConnAborted)),
            _ if progress.begun => returns(0),
            _ => fails(Errno::IsConn),
        }
    }

    fn read(&mut self, call: &Call) -> Called {
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
            // What is left, and 1 more if nothing can come after it.
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

    fn write(&mut self, call: &Call, progress: &mut Progress) -> Called {
        let file = argument(call, 0)?;
        if matches!(call.arguments.get(1), Some(Expr::Word(word)) if word == "NULL") {
            return fails(Errno::Fault);
        }
        let index = match self.connection_of(file) {
            Ok(index) => index,
            Err(Errno::NotConn) => return fails(Errno::Pipe),
            Err(errno) => return fails(errno),
        };
        let flags = match call.name.as_str() {
            "sendmsg" => flags_argument(call, 2)?,
            "write" | "writev" | "sendfile" => 0,
            _ => flags_argument(call, 3)?,
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
        // What fills a large send at the head of the queue goes out before the next is filled.
        loop {
            let taken = self.connections[index].write(now, wanted - progress.written, write);
            progress.written += taken;
            if taken == 0 || progress.written == wanted {
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

    fn close(&mut self, call: &Call) -> Called {
        let file = argument(call, 0)?;
        let now = self.now;
        let Some(closed) = self.files.remove(&file) else { return fails(Errno::BadFd) };
        for other in self.files.values_mut() {
            if let File::Epoll(epoll) = other {
                epoll.forget(file);
            }
        }
        match closed {
            File::Socket(Socket { role: Role::Connection(index), options }) => {
                self.connections[index].orphan(now, options.aborts_on_close);
            }
            File::Socket(Socket { role: Role::Listening(queue), .. }) => {
                queue.into_iter().for_each(|index| self.connections[index].endpoint.abort(now));
            }
            _ => {}
        }
        returns(0)
    }

    fn shutdown(&mut self, call: &Call) -> Called {
        let file = argument(call, 0)?;
        let how = argument(call, 1)?;
        let index = match self.connection_of(file) {
            Ok(index) => index,
            Err(errno) => return fails(errno),
        };
        let now = self.now;
        let connection = &mut self.connections[index];
        if connection.endpoint.is_closed() {
            return fails(Errno::NotConn);
        }
        if how == SHUT_RD || how == SHUT_RDWR {
            connection.read_shut = true;
            connection.endpoint.shutdown_reading();
        }
        if how == SHUT_WR || how == SHUT_RDWR {
            connection.write_shut = true;
            connection.endpoint.close(now);
        }
        returns(0)
    }

    fn fcntl(&mut self, call: &Call) -> Called {
        const O_RDWR: i64 = 2;
        const O_NONBLOCK: i64 = 0o4000;
        let file = argument(call, 0)?;
        let Some(socket) = self.socket_of(file) else { return fails(Errno::BadFd) };
        match call.arguments.get(1) {
            Some(Expr::Word(word)) if word == "F_GETFL" => {
                returns(O_RDWR | if socket.options.nonblocking { O_NONBLOCK } else { 0 })
            }
            Some(Expr::Word(word)) if word == "F_SETFL" => {
                let flags = argument(call, 2)?;
                self.socket_of(file).expect("found above").options.nonblocking = flags & O_NONBLOCK != 0;
                returns(0)
            }
            _ => Err(Trouble::Skip("this fcntl has no counterpart".into())),
        }
    }

    fn ioctl(&mut self, call: &Call) -> Called {
        let file = argument(call, 0)?;
        let index = match self.connection_of(file) {
            Ok(index) => index,
            Err(errno) => return fails(errno),
        };
        let connection = &self.connections[index];
        let found = match call.arguments.get(1) {
            Some(Expr::Word(word)) if word == "SIOCINQ" || word == "FIONREAD" => connection.endpoint.readable_bytes(),
            Some(Expr::Word(word)) if word == "SIOCOUTQNSD" => connection.unsent(),
            Some(Expr::Word(word)) if word == "SIOCOUTQ" => connection.unacknowledged(),
            _ => return Err(Trouble::Skip("this ioctl has no counterpart".into())),
        };
        expect_value(call, 2, found as i64, "ioctl")?;
        returns(0)
    }

    fn poll(&mut self, call: &Call) -> Called {
        let Some(Expr::List(polled)) = call.arguments.first() else {
            return Err(Trouble::Skip("poll without a list has no counterpart".into()));
        };
        let mut ready_files = 0;
        let mut wrong = None;
        for entry in polled {
            let number = |name: &str| entry.field(name).map_or(Ok(0), number_of);
            let (file, events, expected) = (number("fd")?, number("events")?, number("revents")?);
            let found = self.readiness(file) & (events | poll::ERR | poll::HUP);
            ready_files += i64::from(found != 0);
            if found != expected {
                wrong = Some(format!("poll says {found:#x} of file {file}, not {expected:#x}"));
            }
        }
        if ready_files == 0 && argument(call, 2)? != 0 {
            return Ok(Outcome::Waits);
        }
        wrong.map_or(returns(ready_files), |why| Err(Trouble::Mismatch(why)))
    }

    fn epoll_ctl(&mut self, call: &Call) -> Called {
        let epoll = argument(call, 0)?;
        let file = argument(call, 2)?;
        let events = match call.arguments.get(3).and_then(|event| event.field("events")) {
            Some(events) => number_of(events)?,
            None => 0,
        };
        if events & !(poll::IN | poll::OUT | poll::ERR | poll::HUP | poll::RDHUP | poll::EDGE) != 0 {
            return Err(Trouble::Skip(format!("epoll events {events:#x} have no counterpart")));
        }
        let Some(File::Epoll(found)) = self.files.get_mut(&epoll) else { return fails(Errno::BadFd) };
        match call.arguments.get(1) {
            Some(Expr::Word(word)) if word == "EPOLL_CTL_DEL" => found.forget(file),
            _ => found.watch(file, events),
        }
        returns(0)
    }

    fn epoll_wait(&mut self, call: &Call) -> Called {
        let epoll = argument(call, 0)?;
        let events = self.epoll_events(epoll);
        if events.is_empty() && argument(call, 3)? != 0 {
            return Ok(Outcome::Waits);
        }
        if let (Some((file, found)), Some(stated)) = (events.first(), call.arguments.get(1)) {
            let stated = if let Expr::List(list) = stated { list.first().unwrap_or(stated) } else { stated };
            let number = |name: &str| stated.field(name).map_or(Ok(0), number_of);
            let (events, stated_file) = (number("events")?, number("fd")?);
            if *found != events & !poll::EDGE || *file != stated_file {
                return Err(Trouble::Mismatch(format!("epoll_wait tells {found:#x} of file {file}, not {events:#x}")));
            }
        }
        returns(events.len() as i64)
    }
}

impl Connection {
    /// Hands bytes to the endpoint, one large send at most, if the send buffer takes them; what was taken.
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

    /// What one large send holds: half of the largest window that the peer has offered, in whole segments.
    fn large_send(&self, info: &Info) -> u64 {
        let mss = u64::from(info.snd_mss.max(1));
        let half = self.endpoint.largest_peer_window() / 2;
        (half.min(65_535 - 320) / mss).max(1) * mss
    }

    /// Room for twice the congestion window, as Linux provides while nobody has set the size.
    fn grow_buffer(&mut self, info: &Info) {
        let segment = u64::from((info.snd_mss + 320 + 320).next_power_of_two()) + 256;
        let segments = u64::from(info.snd_cwnd.max(10).max(info.reordering + 1));
        self.send_buffer.grow_to((2 * segments * segment).min(4_194_304));
    }

    /// The application closes: in order, or by a reset if it leaves data unread.
    fn orphan(&mut self, now: Time, aborts: bool) {
        if aborts {
            self.endpoint.abort(now);
        } else {
            self.endpoint.release(now);
        }
        self.read_shut = true;
        self.write_shut = true;
    }

    fn unacknowledged(&self) -> u64 {
        self.endpoint.flight_size_bytes() + self.unsent()
    }
}

const MSG_DONTWAIT: i64 = 0x40;
const MSG_EOR: i64 = 0x80;
const MSG_WAITALL: i64 = 0x100;
const MSG_NOSIGNAL: i64 = 0x4000;
const MSG_MORE: i64 = 0x8000;
const SOL_TCP: i64 = 6;
const TCP_CM_INQ: i64 = 36;
const SHUT_RD: i64 = 0;
const SHUT_WR: i64 = 1;
const SHUT_RDWR: i64 = 2;

/// The file number that the script gives to what a call returns.
fn result_of(call: &Call) -> Result<i64, Trouble> {
    number_of(&call.result)
}

pub(crate) fn number_of(expression: &Expr) -> Result<i64, Trouble> {
    value_of(expression).map_err(|word| Trouble::Skip(format!("the symbol {word} has no counterpart")))
}

/// The value of an argument.
pub(crate) fn argument(call: &Call, place: usize) -> Result<i64, Trouble> {
    match call.arguments.get(place) {
        Some(argument) => number_of(argument),
        None => Err(Trouble::Skip(format!("{} has fewer arguments than it needs", call.name))),
    }
}

fn flags_argument(call: &Call, place: usize) -> Result<i64, Trouble> {
    if matches!(call.name.as_str(), "read" | "readv") {
        return Ok(0);
    }
    let place = if call.name == "recvmsg" { 2 } else { place };
    call.arguments.get(place).map_or(Ok(0), number_of)
}

/// How many bytes a call is to move.
fn length(call: &Call) -> Result<u64, Trouble> {
    let pieces = match call.name.as_str() {
        "sendmsg" | "recvmsg" => call.arguments.get(1).and_then(|message| message.field("msg_iov")),
        "writev" | "readv" => call.arguments.get(1),
        "sendfile" => return Ok(argument(call, 3)?.max(0) as u64),
        _ => return Ok(argument(call, 2)?.max(0) as u64),
    };
    let control = call.arguments.get(1).and_then(|message| message.field("msg_control"));
    if control.is_some() && call.name != "recvmsg" {
        return Err(Trouble::Skip("control messages have no counterpart".into()));
    }
    let Some(Expr::List(pieces)) = pieces else { return Ok(0) };
    pieces.iter().try_fold(0, |sum, piece| match piece {
        Expr::Fields(parts) if parts.len() == 2 => Ok(sum + number_of(&parts[1].1)?.max(0) as u64),
        _ => Err(Trouble::Skip("a piece of a message that has no length".into())),
    })
}

/// Compares the control message of a recvmsg, which can only be `TCP_CM_INQ`: the bytes that are left.
fn expect_control(call: &Call, left: i64) -> Result<(), Trouble> {
    let Some(Expr::List(messages)) = call.arguments.get(1).and_then(|message| message.field("msg_control")) else {
        return Ok(());
    };
    for message in messages {
        let number = |name: &str| message.field(name).map_or(Ok(0), number_of);
        if (number("cmsg_level")?, number("cmsg_type")?) != (SOL_TCP, TCP_CM_INQ) {
            return Err(Trouble::Skip("control messages other than TCP_CM_INQ have no counterpart".into()));
        }
        let stated = number("cmsg_data")?;
        if stated != left {
            return Err(Trouble::Mismatch(format!("TCP_CM_INQ gives {left}, not {stated}")));
        }
    }
    Ok(())
}

/// Compares what a call writes to its argument `[x]`.
pub(crate) fn expect_value(call: &Call, place: usize, found: i64, what: &str) -> Result<(), Trouble> {
    let stated = match call.arguments.get(place) {
        Some(Expr::List(items)) if items.len() == 1 => number_of(&items[0])?,
        Some(Expr::Ellipsis) | None => return Ok(()),
        Some(other) => number_of(other)?,
    };
    // 32 bits are what the kernel writes
    if stated as u32 == found as u32 {
        return Ok(());
    }
    Err(Trouble::Mismatch(format!("{what} gives {found}, not {stated}")))
}

/// Before a connection is open.
fn is_opening(state: State) -> bool {
    matches!(state, State::SynSent | State::SynReceived | State::Listen)
}

/// Nagle's algorithm and the cork of a socket, for its endpoint.
pub(crate) fn delay_of(nodelay: bool, cork: bool) -> Delay {
    Delay { nagle: !nodelay, cork }
}
