//! One end of the connections between a client and a server: an endpoint of the stack, and its open connections.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, PoisonError};

use bytes::BytesMut;
use lasthop_tcp::congestion_control::Outside;
use lasthop_units::{Ecn, Time};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint,
    Endpoint, EndpointConfig, ServerConfig, TransportConfig, ValidationTokenConfig,
};

use crate::clock::{instant, time};
use crate::controller::{Factory, Shared};
use crate::handshake::Tls;
use crate::null_cipher::{ResetKey, TokenKey};
use crate::outgoing::Outgoing;
use crate::settings::Settings;

/// The two ends of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It opens connections.
    Client,
    /// It accepts them.
    Server,
}

impl Role {
    /// The other end.
    pub fn other(self) -> Role {
        match self {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        }
    }

    /// The address at which the other end sees this one. Each pair has its own world, so that all are alike.
    fn address(self) -> SocketAddr {
        match self {
            Role::Client => (Ipv4Addr::new(10, 0, 0, 1), 50_000).into(),
            Role::Server => (Ipv4Addr::new(10, 0, 0, 2), 443).into(),
        }
    }
}

/// A UDP datagram, without its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Its payload: QUIC packets in the clear.
    pub payload: BytesMut,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// The connection to which it belongs; counts the connections of the pair from 0.
    pub connection: u32,
}

impl Datagram {
    /// One that has come with these bytes.
    pub fn received(payload: &[u8], ecn: Ecn) -> Datagram {
        Datagram { payload: BytesMut::from(payload), ecn, connection: 0 }
    }
}

/// Memory for datagrams on their way, which share one piece after the other: memory for each alone is what sending costs most.
#[derive(Default)]
struct Memory {
    /// to which the stack writes
    page: Vec<u8>,
    piece: BytesMut,
}

/// Bytes of a piece of memory.
const PIECE: usize = 1 << 16;

impl Memory {
    /// A copy of the page from here to there.
    fn copy(&mut self, range: std::ops::Range<usize>) -> BytesMut {
        if self.piece.capacity() < range.len() {
            self.piece = BytesMut::with_capacity(PIECE.max(range.len()));
        }
        self.piece.extend_from_slice(&self.page[range]);
        self.piece.split()
    }
}

/// A connection of this end.
pub(crate) struct Line {
    /// counts the connections of the pair from 0
    pub(crate) number: u32,
    handle: ConnectionHandle,
    pub(crate) connection: Connection,
    pub(crate) sender: Shared,
    pub(crate) outgoing: Vec<Outgoing>,
}

impl Line {
    pub(crate) fn packets_lost(&self) -> u64 {
        self.connection.stats().path.lost_packets
    }
}

/// An end.
pub(crate) struct End {
    role: Role,
    endpoint: Endpoint,
    factory: Arc<Factory>,
    transport: Arc<TransportConfig>,
    tls: Arc<Tls>,
    seed: u64,
    pub(crate) lines: Vec<Line>,
    /// packets declared lost on connections that are over
    lost_before: u64,
    /// answers that the endpoint itself gives, such as the refusal of a connection
    answers: Vec<Vec<u8>>,
    memory: Memory,
    /// most datagrams that leave at once
    batch: usize,
    /// the rest of those that leave at once
    rest: VecDeque<Datagram>,
}

/// Connection IDs of eight bytes: four of the seed and a count. The stack demands that they differ, no more.
struct Ids {
    seed: u64,
    count: u32,
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        self.count += 1;
        ConnectionId::new(&[&self.seed.to_be_bytes()[..4], &self.count.to_be_bytes()].concat())
    }
    fn cid_len(&self) -> usize {
        8
    }
    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

/// The connection ID to which a client sends its first packet, of a connection with this number.
fn first_destination(seed: u64, number: u32) -> ConnectionId {
    ConnectionId::new(&[&seed.to_be_bytes()[..], &number.to_be_bytes()].concat())
}

/// The number of the connection that began with this ID.
fn number_of(id: &ConnectionId) -> u32 {
    id.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// splitmix64, so that neighbouring seeds have unrelated streams. [Steele, Lea, Flood 2014]
fn mixed(seed: u64, salt: u64) -> u64 {
    let state = seed.wrapping_add(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl End {
    pub(crate) fn new(role: Role, settings: &Settings, seed: u64) -> End {
        let seed = mixed(seed, 1 + role as u64);
        let factory = Arc::new(Factory {
            control: settings.congestion_control.clone(),
            initial_window: settings.initial_window,
            datagram: settings.datagram_bytes,
            seed,
            outside: Default::default(),
            newest: Default::default(),
        });
        let transport = Arc::new(settings.transport(factory.clone()));
        let tls = Arc::new(Tls { server_flight: settings.server_handshake_bytes });
        let server = (role == Role::Server).then(|| Arc::new(server_config(tls.clone(), transport.clone())));
        let endpoint = Endpoint::new(Arc::new(endpoint_config(settings, seed)), server, settings.path_mtu_probes, None);
        End {
            role,
            endpoint,
            factory,
            transport,
            tls,
            seed,
            lines: Vec::new(),
            lost_before: 0,
            answers: Vec::new(),
            memory: Memory::default(),
            batch: usize::from(settings.batch),
            rest: VecDeque::new(),
        }
    }

    /// The client opens the connection of this number.
    pub(crate) fn connect(&mut self, now: Time, number: u32) {
        let mut config = ClientConfig::new(self.tls.clone());
        let seed = self.seed;
        config.transport_config(self.transport.clone());
        config.initial_dst_cid_provider(Arc::new(move || first_destination(seed, number)));
        let opened = self.endpoint.connect(instant(now), config, Role::Server.address(), "server");
        let (handle, connection) = opened.expect("an endpoint has room, and the name is one");
        self.add(number, handle, connection);
    }

    /// Replaces the window of its senders, on all connections, by one from outside.
    pub(crate) fn set_outside(&mut self, values: Outside) {
        *self.factory.outside.lock().unwrap_or_else(PoisonError::into_inner) = values;
        self.lines.iter().for_each(|line| line.sender.lock().hold(values));
    }

    fn add(&mut self, number: u32, handle: ConnectionHandle, connection: Connection) {
        let newest = self.factory.newest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let sender = newest.expect("the stack makes a controller for each connection");
        self.lines.push(Line { number, handle, connection, sender, outgoing: Vec::new() });
    }

    pub(crate) fn line(&self, number: u32) -> Option<&Line> {
        self.lines.iter().find(|line| line.number == number)
    }

    pub(crate) fn line_mut(&mut self, number: u32) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| line.number == number)
    }

    /// A datagram arrives.
    pub(crate) fn handle(&mut self, now: Time, ecn: Ecn, datagram: BytesMut) {
        let at = instant(now);
        let mut answer = Vec::new();
        let ecn = EcnCodepoint::from_bits(ecn.bits());
        let event = self.endpoint.handle(at, self.role.other().address(), None, ecn, datagram, &mut answer);
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(line) = self.lines.iter_mut().find(|line| line.handle == handle) {
                    line.connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let number = number_of(incoming.orig_dst_cid());
                match self.endpoint.accept(incoming, at, &mut answer, None) {
                    Ok((handle, connection)) => self.add(number, handle, connection),
                    Err(error) => self.answers.extend(error.response.map(|_| answer)),
                }
            }
            Some(DatagramEvent::Response(_)) => self.answers.push(answer),
            None => {}
        }
        self.settle();
    }

    /// Passes events between the endpoint and its connections, and forgets those that are over.
    pub(crate) fn settle(&mut self) {
        let endpoint = &mut self.endpoint;
        for line in &mut self.lines {
            while let Some(event) = line.connection.poll_endpoint_events() {
                if let Some(event) = endpoint.handle_event(line.handle, event) {
                    line.connection.handle_event(event);
                }
            }
        }
    }

    /// Forgets connections that are over.
    pub(crate) fn tidy(&mut self) {
        let over = self.lines.extract_if(.., |line| line.connection.is_drained());
        self.lost_before += over.map(|line| line.packets_lost()).sum::<u64>();
    }

    /// Packets declared lost on all connections, those that are over included.
    pub(crate) fn packets_lost(&self) -> u64 {
        self.lost_before + self.lines.iter().map(Line::packets_lost).sum::<u64>()
    }

    /// The next datagram.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        if let Some(datagram) = self.rest.pop_front() {
            return Some(datagram);
        }
        if let Some(payload) = self.answers.pop() {
            return Some(Datagram::received(&payload, Ecn::NotEct));
        }
        let (batch, page) = (self.batch, &mut self.memory.page);
        page.clear();
        let (connection, sent) = self.lines.iter_mut().find_map(|line| {
            let sent = line.connection.poll_transmit(instant(now), batch, page)?;
            Some((line.number, sent))
        })?;
        let ecn = sent.ecn.map_or(Ecn::NotEct, |codepoint| Ecn::from_bits(codepoint as u8));
        let size = sent.segment_size.unwrap_or(sent.size);
        let mut begin = size;
        while begin < sent.size {
            let end = (begin + size).min(sent.size);
            self.rest.push_back(Datagram { payload: self.memory.copy(begin..end), ecn, connection });
            begin = end;
        }
        Some(Datagram { payload: self.memory.copy(0..size), ecn, connection })
    }

    /// Whether the last datagram leaves together with the next.
    pub(crate) fn is_within_batch(&self) -> bool {
        !self.rest.is_empty()
    }

    /// The time of the earliest timer.
    pub(crate) fn poll_timeout(&mut self) -> Time {
        self.lines.iter_mut().filter_map(|line| line.connection.poll_timeout()).min().map_or(Time::NEVER, time)
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        for line in &mut self.lines {
            line.connection.handle_timeout(instant(now));
        }
        self.settle();
    }
}

fn endpoint_config(settings: &Settings, seed: u64) -> EndpointConfig {
    let mut config = EndpointConfig::new(Arc::new(ResetKey));
    let draws = [mixed(seed, 1), mixed(seed, 2), mixed(seed, 3), mixed(seed, 4)];
    let mut bytes = [0; 32];
    bytes.chunks_exact_mut(8).zip(draws).for_each(|(place, draw)| place.copy_from_slice(&draw.to_be_bytes()));
    config.rng_seed(Some(bytes));
    config.cid_generator(move || Box::new(Ids { seed, count: 0 }));
    // Readers of captures recognise QUIC by this bit.
    config.grease_quic_bit(false);
    let _ = config.max_udp_payload_size(settings.datagram_bytes.max(1472));
    config
}

fn server_config(tls: Arc<Tls>, transport: Arc<TransportConfig>) -> ServerConfig {
    let mut config = ServerConfig::new(tls, Arc::new(TokenKey));
    let mut tokens = ValidationTokenConfig::default();
    // A token carries the time of day.
    tokens.sent(0);
    config.transport_config(transport).migration(false).validation_token_config(tokens);
    config
}
