//! The host under test: its files, its connections, and the packets that they have sent.

use std::collections::{BTreeMap, VecDeque};

use lasthop_tcp::{Delay, Endpoint, Flags, Segment, State};
use lasthop_units::Time;

use crate::packetdrill::connection::Connection;
use crate::packetdrill::endpoint_config::{SocketConfig, accecn_option, config};
use crate::packetdrill::epoll::Epoll;
use crate::packetdrill::offload::most_segments;
use crate::packetdrill::script::Tcp;
use crate::packetdrill::send_buffer::SendBuffer;
use crate::packetdrill::setup::Settings;
use crate::packetdrill::wire::Mapping;

/// First number of the endpoint; any will do.
const LOCAL_ISN: u32 = 0x2000_0000;

/// The reason why a script cannot go on.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// the simulator does not model something
    Skip(String),
    /// something differs from the script
    Mismatch(String),
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub at: Time,
    pub segment: Segment,
}

/// The object of a file descriptor.
#[derive(Debug)]
pub(crate) enum File {
    Socket(Socket),
    Epoll(Epoll),
    /// a file of the disk, of which only the length matters when it is sent
    Plain,
}

/// A socket before and while it is used.
#[derive(Debug, Default)]
pub(crate) struct Socket {
    pub options: SocketOptions,
    pub role: Role,
}

/// Options set by calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketOptions {
    pub config: SocketConfig,
    pub nonblocking: bool,
    pub nodelay: bool,
    pub cork: bool,
    pub send_buffer: Option<u64>,
    pub notsent_lowat: Option<i64>,
    /// `SO_LINGER` with a time of 0: closing sends a reset
    pub aborts_on_close: bool,
}

#[derive(Debug, Default)]
pub(crate) enum Role {
    #[default]
    Fresh,
    /// connections that are not accepted yet
    Listening(VecDeque<usize>),
    Connection(usize),
}

/// The connection that receives the script's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnderTest {
    Nothing,
    /// a SYN begins a connection of this file
    Listener(i64),
    Connection(usize),
}

/// The host.
#[derive(Debug)]
pub(crate) struct Host {
    pub settings: Settings,
    pub mtu: u32,
    pub now: Time,
    pub files: BTreeMap<i64, File>,
    pub connections: Vec<Connection>,
    pub under_test: UnderTest,
    pub sent: VecDeque<Sent>,
    /// segments sent and connections processed
    work: usize,
}

/// Limit of the work; a script that needs this much runs away.
const MOST_WORK: usize = 2_000_000;

impl Host {
    pub fn new(settings: Settings, mtu: u32, now: Time) -> Self {
        Host {
            settings,
            mtu,
            now,
            files: BTreeMap::new(),
            connections: Vec::new(),
            under_test: UnderTest::Nothing,
            sent: VecDeque::new(),
            work: 0,
        }
    }

    /// Counts work.
    pub fn note_work(&mut self, work: usize) {
        self.work += work;
    }

    /// True if the script has run away.
    pub fn is_exhausted(&self) -> bool {
        self.work > MOST_WORK
    }

    /// # Errors
    /// A message, if the script has run away.
    pub fn check_work(&self) -> Result<(), Trouble> {
        if self.is_exhausted() {
            return Err(Trouble::Mismatch(format!("more than {MOST_WORK} segments and timeouts until here")));
        }
        Ok(())
    }

    pub fn connection(&self) -> Option<&Connection> {
        match self.under_test {
            UnderTest::Connection(index) => Some(&self.connections[index]),
            _ => None,
        }
    }

    /// Makes a connection with the options of a socket.
    pub fn open(&mut self, options: &SocketOptions, mapping: Mapping, is_passive: bool) -> Result<usize, Trouble> {
        let socket = SocketConfig { mtu: self.mtu, is_passive, ..options.config.clone() };
        let config = config(&self.settings, &socket).map_err(Trouble::Skip)?;
        let mut endpoint = Endpoint::new(&config, LOCAL_ISN);
        endpoint.pause_reading();
        endpoint.set_delay(Delay { nagle: !options.nodelay, cork: options.cork });
        let mut buffer = SendBuffer::new(self.settings.triple("tcp_wmem").get(1).copied().unwrap_or(16_384) as u64);
        if let Some(limit) = options.send_buffer {
            buffer.limit = limit;
            buffer.is_locked = true;
        }
        buffer.notsent_lowat = self.notsent_lowat(options.notsent_lowat);
        self.connections.push(Connection::new(endpoint, mapping, buffer));
        Ok(self.connections.len() - 1)
    }

    /// The socket's own limit, or that of the host; none if it is not below 4 GB.
    pub fn notsent_lowat(&self, own: Option<i64>) -> Option<u64> {
        let bound = own.filter(|&bound| bound != 0).unwrap_or(self.settings.sysctl("tcp_notsent_lowat"));
        (bound >= 0 && bound < i64::from(u32::MAX)).then_some(bound as u64)
    }

    pub fn new_mapping(&self) -> Mapping {
        Mapping::from(LOCAL_ISN)
    }

    /// Handles a packet of the peer.
    pub fn receive(&mut self, tcp: &Tcp, flags: Flags, guess_echo: bool) -> Result<(), Trouble> {
        let index = match self.under_test {
            UnderTest::Connection(index) => index,
            UnderTest::Listener(file) => self.child(file, tcp)?,
            UnderTest::Nothing => return Err(Trouble::Skip("a packet without a socket has no counterpart".into())),
        };
        let connection = &mut self.connections[index];
        let is_answer = flags.contains(Flags::SYN) && connection.endpoint.state() == State::SynSent;
        if is_answer {
            connection.mapping.remote_isn = tcp.seq;
        }
        let segment = connection.mapping.to_segment(tcp, flags, guess_echo).map_err(Trouble::Mismatch)?;
        connection.receive(self.now, &segment);
        self.settle();
        self.connections[index].tell_of_room();
        self.connections[index].tell_endpoint_of_room(self.now);
        Ok(())
    }

    /// The connection that begins with a first packet to a listener.
    fn child(&mut self, file: i64, tcp: &Tcp) -> Result<usize, Trouble> {
        let Some(File::Socket(Socket { options, .. })) = self.files.get(&file) else {
            return Err(Trouble::Mismatch("the listener has gone".into()));
        };
        let options = options.clone();
        let mut mapping = self.new_mapping();
        mapping.remote_isn = tcp.seq;
        let index = self.open(&options, mapping, true)?;
        self.connections[index].endpoint.listen();
        if let Some(File::Socket(Socket { role: Role::Listening(queue), .. })) = self.files.get_mut(&file) {
            queue.push_back(index);
        }
        self.under_test = UnderTest::Connection(index);
        Ok(index)
    }

    /// Takes the segments that the connections have to send; those of the one under test are kept.
    pub fn settle(&mut self) {
        for (index, connection) in self.connections.iter_mut().enumerate() {
            connection.offload.on_event();
            self.work += 1;
            if self.settings.blocked {
                // A sender learns that its data were refused, and keeps them; ACKs are lost.
                while self.work <= MOST_WORK && connection.endpoint.poll_control(self.now).is_some() {
                    self.work += 1;
                }
                continue;
            }
            while self.work <= MOST_WORK
                && let Some(mut segment) = connection.endpoint.poll_transmit(self.now)
            {
                self.work += 1;
                let info = connection.endpoint.info(self.now);
                if connection.offload.joins(&segment, most_segments(&info, &self.settings), info.snd_mss) {
                    segment.flags = segment.flags | Flags::PSH;
                }
                if self.under_test == UnderTest::Connection(index) {
                    self.sent.push_back(Sent { at: self.now, segment });
                }
            }
        }
    }

    /// Changes settings while the script runs.
    pub fn set_up(&mut self, lines: &str) -> Result<(), Trouble> {
        self.settings.run(lines).map_err(Trouble::Skip)?;
        let policy = accecn_option(&self.settings).map_err(Trouble::Skip)?;
        for connection in &mut self.connections {
            connection.endpoint.set_accecn_option(policy);
        }
        let limits_patience = |file: &File| match file {
            File::Socket(socket) => socket.options.config.user_timeout_ms.is_some(),
            _ => false,
        };
        if self.settings.blocked && self.files.values().any(limits_patience) {
            return Err(Trouble::Skip("giving up on a local queue that takes nothing has no counterpart".into()));
        }
        self.settle();
        Ok(())
    }

    /// The time of the next timeout.
    pub fn next_timeout(&self) -> Time {
        self.connections.iter().map(|connection| connection.endpoint.poll_timeout()).min().unwrap_or(Time::NEVER)
    }

    /// Moves on to a time no later than the next timeout.
    pub fn advance(&mut self, to: Time) {
        assert!(to >= self.now, "time goes back");
        self.now = to;
        for connection in &mut self.connections {
            if connection.endpoint.poll_timeout() <= to {
                connection.on_time(to);
            }
        }
        self.settle();
    }
}
