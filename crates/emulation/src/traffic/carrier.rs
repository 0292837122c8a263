//! The process that carries data: one loop over all sockets and one timer.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};

use super::http::{Conversation, HttpConnection, HttpServer};
use super::listeners::{Listener, Sink};
use super::message::{Completion, Message};
use super::sender::{Progress, Sender};
use super::sockets::connect;
use super::transfer::Transfer;
use crate::clock::{monotonic_ns, timespec};
use crate::error::{Context, Error, Result};

/// Keys of the sources other than sockets of a transfer.
const CHANNEL: u64 = 0;
const TIMER: u64 = 1;
const FIRST_SOCKET: u64 = 2;

/// A socket, and its purpose.
enum Socket {
    Listener(Listener),
    Sink(Sink),
    Sender { sender: Sender, transfer: usize, interest: EventFlags },
    Server(OwnedFd),
    Client { connection: HttpConnection, interest: EventFlags },
}

/// The next timed action of a transfer.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// opens its first connection
    Open(u64),
    /// offers more on the connection with this key
    Offer(u64, u64),
}

impl Due {
    fn at_ns(self) -> u64 {
        match self {
            Due::Open(at_ns) | Due::Offer(at_ns, _) => at_ns,
        }
    }
}

/// All transfers, and their open sockets.
pub(super) struct Carrier<'a> {
    channel: OwnedFd,
    epoll: OwnedFd,
    timer: OwnedFd,
    transfers: &'a [Transfer<'a>],
    /// the connection that each transfer has reached
    connections: Vec<u32>,
    due: Vec<Option<Due>>,
    /// time at which the timer will wake the process, in nanoseconds; 0: never
    armed_ns: u64,
    sockets: BTreeMap<u64, Socket>,
    next_key: u64,
    scratch: Vec<u8>,
}

impl<'a> Carrier<'a> {
    /// Sets everything up: when this returns, the servers and the sockets of first connections listen.
    pub fn new(transfers: &'a [Transfer<'a>], servers: &[HttpServer<'_>], channel: OwnedFd) -> Result<Carrier<'a>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).context(|| "epoll cannot be had".to_owned())?;
        let timer =
            rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)
                .context(|| "a timer cannot be had".to_owned())?;
        let mut carrier = Carrier {
            channel,
            epoll,
            timer,
            transfers,
            connections: vec![0; transfers.len()],
            due: vec![None; transfers.len()],
            armed_ns: 0,
            sockets: BTreeMap::new(),
            next_key: FIRST_SOCKET,
            scratch: vec![0; 128 * 1024],
        };
        carrier.watch(&carrier.channel, CHANNEL, EventFlags::IN)?;
        carrier.watch(&carrier.timer, TIMER, EventFlags::IN)?;
        for transfer in 0..transfers.len() {
            carrier.listen(transfer).map_err(|error| carrier.named(transfer, &error))?;
        }
        for server in servers {
            let socket = server.listen()?;
            carrier.watch(&socket, carrier.next_key, EventFlags::IN)?;
            carrier.keep(Socket::Server(socket));
        }
        Ok(carrier)
    }

    /// Carries data until the emulator is gone. Returns earlier only with an error.
    pub fn run(&mut self) -> Result<()> {
        Message::Ready.send(&self.channel).context(|| "the emulator cannot be told".to_owned())?;
        let Some(zero_ns) = self.wait_for_zero()? else { return Ok(()) };
        for (due, transfer) in self.due.iter_mut().zip(self.transfers) {
            *due = Some(Due::Open(zero_ns + transfer.start.as_nanos()));
        }
        let mut events = Vec::with_capacity(64);
        loop {
            self.set_timer()?;
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error).context(|| "epoll failed".to_owned()),
            }
            for event in &events {
                let data = event.data;
                match data.u64() {
                    CHANNEL => return Ok(()),
                    TIMER => self.handle_timer()?,
                    key => self.handle_socket(key)?,
                }
            }
        }
    }

    /// The start time of the transfers, in nanoseconds of `CLOCK_MONOTONIC`; `None` if the emulator is gone.
    fn wait_for_zero(&self) -> Result<Option<u64>> {
        let mut bytes = [0; 8];
        loop {
            match rustix::net::recv(&self.channel, &mut bytes[..], RecvFlags::empty()) {
                Ok((8, _)) => return Ok(Some(u64::from_ne_bytes(bytes))),
                Ok(_) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error).context(|| "time zero cannot be read".to_owned()),
            }
        }
    }

    /// Arms the timer for the first due action, at its own time; disarms it if there is none.
    fn set_timer(&mut self) -> Result<()> {
        let first = self.due.iter().flatten().map(|due| due.at_ns()).min().unwrap_or(0);
        if std::mem::replace(&mut self.armed_ns, first) == first {
            return Ok(());
        }
        let setting = Itimerspec { it_interval: timespec(0), it_value: timespec(first) };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)
            .map(drop)
            .context(|| "the timer cannot be set".to_owned())
    }

    fn handle_timer(&mut self) -> Result<()> {
        let mut count = [0; 8];
        match rustix::io::read(&self.timer, &mut count) {
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error).context(|| "the timer cannot be read".to_owned()),
        }
        let now_ns = monotonic_ns();
        for transfer in 0..self.due.len() {
            while let Some(due) = self.due[transfer].filter(|due| due.at_ns() <= now_ns) {
                match due {
                    Due::Open(at_ns) => self.open(transfer, at_ns).map_err(|error| self.named(transfer, &error))?,
                    Due::Offer(at_ns, key) => self.offer(transfer, at_ns, key)?,
                }
            }
        }
        Ok(())
    }

    /// Opens a socket for the connection that a transfer opens next.
    fn listen(&mut self, transfer: usize) -> Result<()> {
        let (_, receiver) = self.transfers[transfer].ends(self.connections[transfer]);
        let there = self.sockets.values_mut().find_map(|socket| match socket {
            Socket::Listener(listener) if listener.is_at(receiver.address) => Some(listener),
            _ => None,
        });
        if let Some(listener) = there {
            listener.await_one_more();
            return Ok(());
        }
        let listener = Listener::open(&receiver, &self.transfers[transfer].socket)?;
        self.watch(listener.socket(), self.next_key, EventFlags::IN)?;
        self.keep(Socket::Listener(listener));
        Ok(())
    }

    /// Opens the current connection of a transfer. `at_ns` is its nominal time, from which its offers are counted.
    fn open(&mut self, transfer: usize, at_ns: u64) -> Result<()> {
        let of = &self.transfers[transfer];
        let (from, to) = of.ends(self.connections[transfer]);
        let socket = connect(&from, to.address, &of.socket)?;
        let sender = Sender::new(socket, of.size, of.rate);
        let interest = EventFlags::IN | EventFlags::OUT;
        self.watch(sender.socket(), self.next_key, interest)?;
        self.due[transfer] = match of.rate {
            Some(offers) if !sender.is_offered_all() => {
                Some(Due::Offer(at_ns + offers.interval.as_nanos(), self.next_key))
            }
            _ => None,
        };
        self.keep(Socket::Sender { sender, transfer, interest });
        Ok(())
    }

    fn offer(&mut self, transfer: usize, at_ns: u64, key: u64) -> Result<()> {
        self.due[transfer] = None;
        let (Some(offers), Some(Socket::Sender { sender, .. })) =
            (self.transfers[transfer].rate, self.sockets.get_mut(&key))
        else {
            return Ok(());
        };
        sender.offer(offers.bytes);
        if !sender.is_offered_all() {
            self.due[transfer] = Some(Due::Offer(at_ns + offers.interval.as_nanos(), key));
        }
        self.handle_socket(key)
    }

    fn handle_socket(&mut self, key: u64) -> Result<()> {
        match self.sockets.get_mut(&key) {
            Some(Socket::Listener(listener)) => {
                let sink = listener.accept();
                if listener.is_done() {
                    self.sockets.remove(&key);
                }
                self.keep_accepted(sink, |sink| (sink.socket(), EventFlags::IN), Socket::Sink)
            }
            Some(Socket::Server(server)) => {
                let client = HttpConnection::accept(server);
                let interest = EventFlags::IN;
                let socket = |connection| Socket::Client { connection, interest };
                self.keep_accepted(client, |client| (client.socket(), interest), socket)
            }
            Some(Socket::Sink(sink)) => {
                match sink.read(&mut self.scratch) {
                    Ok(true) | Err(Errno::AGAIN | Errno::INTR) => {}
                    // The sender sees a reset as well, and reports it.
                    Ok(false) | Err(_) => drop(self.sockets.remove(&key)),
                }
                Ok(())
            }
            Some(Socket::Client { connection, interest }) => {
                let wanted = match connection.advance(&mut self.scratch) {
                    Conversation::Over => {
                        self.sockets.remove(&key);
                        return Ok(());
                    }
                    Conversation::Reads => EventFlags::IN,
                    Conversation::Writes => EventFlags::OUT,
                };
                renew_interest(&self.epoll, key, connection.socket(), interest, wanted)
            }
            Some(Socket::Sender { sender, transfer, interest }) => match sender.advance() {
                Ok(Progress::Open) => {
                    let room = if sender.waits_for_room() { EventFlags::OUT } else { EventFlags::empty() };
                    renew_interest(&self.epoll, key, sender.socket(), interest, EventFlags::IN | room)
                }
                Ok(Progress::Complete) => {
                    let transfer = *transfer;
                    self.complete(key, transfer)
                }
                Err(error) => {
                    let transfer = *transfer;
                    Err(self.named(transfer, &format!("the connection has failed: {error}")))
                }
            },
            None => Ok(()),
        }
    }

    /// Registers and keeps a connection that was accepted, if there was one.
    fn keep_accepted<T>(
        &mut self,
        accepted: rustix::io::Result<T>,
        watched: impl Fn(&T) -> (&OwnedFd, EventFlags),
        socket: impl Fn(T) -> Socket,
    ) -> Result<()> {
        match accepted {
            Ok(connection) => {
                let (descriptor, interest) = watched(&connection);
                self.watch(descriptor, self.next_key, interest)?;
                self.keep(socket(connection));
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(()),
            Err(error) => Err(error).context(|| "a connection cannot be accepted".to_owned()),
        }
    }

    /// Reports that a connection is complete, and opens the next one.
    fn complete(&mut self, key: u64, transfer: usize) -> Result<()> {
        self.sockets.remove(&key);
        self.due[transfer] = None;
        let (connection, at_ns) = (self.connections[transfer], monotonic_ns());
        Message::Completed(Completion { transfer, connection, at_ns })
            .send(&self.channel)
            .context(|| "the emulator cannot be told".to_owned())?;
        if connection + 1 >= self.transfers[transfer].repeat {
            return Ok(());
        }
        self.connections[transfer] += 1;
        self.listen(transfer).and_then(|()| self.open(transfer, at_ns)).map_err(|error| self.named(transfer, &error))
    }

    fn watch(&self, what: impl AsFd, key: u64, interest: EventFlags) -> Result<()> {
        epoll::add(&self.epoll, what, EventData::new_u64(key), interest)
            .context(|| "a descriptor cannot be watched".to_owned())
    }

    fn keep(&mut self, socket: Socket) {
        self.sockets.insert(self.next_key, socket);
        self.next_key += 1;
    }

    fn named(&self, transfer: usize, error: &dyn std::fmt::Display) -> Error {
        Error::new(format!("{}: {error}", self.transfers[transfer].name))
    }
}

/// Registers the events that a socket waits for now. A socket with room but nothing to write would otherwise wake the
/// process all the time.
fn renew_interest(
    epoll: &OwnedFd,
    key: u64,
    socket: &OwnedFd,
    interest: &mut EventFlags,
    wanted: EventFlags,
) -> Result<()> {
    if *interest == wanted {
        return Ok(());
    }
    *interest = wanted;
    epoll::modify(epoll, socket, EventData::new_u64(key), wanted).context(|| "a socket cannot be watched".to_owned())
}
