//! System calls: their effects and results.

use lasthop_tcp::{Delay, State};
use lasthop_units::Time;

use crate::packetdrill::arguments::{argument, expect_value, number_of, result_of};
use crate::packetdrill::connection::Connection;
use crate::packetdrill::epoll::Epoll;
use crate::packetdrill::errno::Errno;
use crate::packetdrill::host::{File, Host, Role, Socket, Trouble, UnderTest};
use crate::packetdrill::poll;
use crate::packetdrill::script::{Call, Expr};

/// The outcome of a call.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Returns(Result<i64, Errno>),
    /// not yet
    Waits,
}

pub(crate) type Called = Result<Outcome, Trouble>;

pub(crate) fn returns(value: i64) -> Called {
    Ok(Outcome::Returns(Ok(value)))
}
pub(crate) fn fails(errno: Errno) -> Called {
    Ok(Outcome::Returns(Err(errno)))
}

/// A call that waits, with its progress so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// bytes that a write has handed over
    pub written: u64,
    /// connect has begun
    pub begun: bool,
}

impl Host {
    /// Begins a call, or continues one that waits.
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
                self.files.insert(file, File::Epoll(Epoll::default()));
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

    /// The connection of a file.
    pub(crate) fn connection_of(&mut self, file: i64) -> Result<usize, Errno> {
        match self.files.get(&file) {
            Some(File::Socket(Socket { role: Role::Connection(index), .. })) => Ok(*index),
            Some(File::Socket(_)) => Err(Errno::NotConn),
            Some(File::Epoll(_) | File::Plain) => Err(Errno::Inval),
            None => Err(Errno::BadFd),
        }
    }

    pub(crate) fn is_nonblocking(&self, file: i64) -> bool {
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
        let options = crate::packetdrill::host::SocketOptions { nonblocking: false, ..options };
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
        self.note_work(polled.len());
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

const SHUT_RD: i64 = 0;
const SHUT_WR: i64 = 1;
const SHUT_RDWR: i64 = 2;

/// Nagle's algorithm and the cork of a socket, for its endpoint.
pub(crate) fn delay_of(nodelay: bool, cork: bool) -> Delay {
    Delay { nagle: !nodelay, cork }
}
