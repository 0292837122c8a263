//! A handshake with the messages and sizes of TLS 1.3, which agrees on transport parameters and on no keys.
//!
//! ```text
//!  client                                server
//!  Initial    ClientHello, 300 B     ──►
//!                                    ◄── Initial    ServerHello, 90 B
//!                                    ◄── Handshake  EncryptedExtensions .. Finished, a setting
//!  Handshake  Finished, 36 B         ──►
//! ```
//!
//! Sizes are those of a handshake with X25519 and SHA-256 and without resumption. [RFC 8446 §4; RFC 9001 §4] A hello that
//! carries transport parameters begins with their length, so that its end is known without its size.

use std::any::Any;
use std::sync::Arc;

use quinn_proto::crypto::{
    ClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};

use crate::null_cipher::{keys, packet_keys};

/// The ClientHello, with a key share and transport parameters.
const CLIENT_HELLO: usize = 300;
/// The ServerHello: 6 + 32 + 32 B, and 20 B of version and key share less its key, which is in the 32.
const SERVER_HELLO: usize = 90;
/// Header and verify data of a Finished message.
const FINISHED: usize = 36;
/// The lengths that precede a hello: of all of it, and of its transport parameters.
const LENGTHS: usize = 6;

/// The handshake of either side, for the connections of an endpoint.
pub(crate) struct Tls {
    /// Bytes from EncryptedExtensions to Finished of the server, its certificates included.
    pub(crate) server_flight: usize,
}

impl ClientConfig for Tls {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        own: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, own, CLIENT_HELLO)))
    }
}

impl ServerConfig for Tls {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }
    fn start_session(self: Arc<Self>, _: u32, own: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, own, self.server_flight))
    }
}

/// The messages that a side has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Nothing,
    Hello,
    /// and has the keys of its Handshake packets
    Keyed,
    All,
}

struct Handshake {
    side: Side,
    /// the hello with transport parameters that this side sends
    hello: Vec<u8>,
    sent: Sent,
    /// bytes that have come and were not read yet
    unread: Vec<u8>,
    has_server_hello: bool,
    peer: Option<TransportParameters>,
    has_finished: bool,
}

impl Handshake {
    fn new(side: Side, own: &TransportParameters, size: usize) -> Handshake {
        let mut parameters = Vec::new();
        own.write(&mut parameters);
        let size = size.max(LENGTHS + parameters.len());
        let mut hello = Vec::with_capacity(size);
        hello.extend((size as u32).to_be_bytes());
        hello.extend((parameters.len() as u16).to_be_bytes());
        hello.extend(parameters);
        hello.resize(size, 0);
        Handshake {
            side,
            hello,
            sent: Sent::Nothing,
            unread: Vec::new(),
            has_server_hello: side.is_server(),
            peer: None,
            has_finished: false,
        }
    }

    /// Removes the next `count` bytes, if they have come.
    fn take(&mut self, count: usize) -> bool {
        let has = self.unread.len() >= count;
        if has {
            self.unread.drain(..count);
        }
        has
    }

    /// Reads the peer's hello, if all of it has come; true if it has.
    fn read_hello(&mut self) -> Result<bool, TransportError> {
        let Some((lengths, rest)) = self.unread.split_at_checked(LENGTHS) else { return Ok(false) };
        let size = u32::from_be_bytes([lengths[0], lengths[1], lengths[2], lengths[3]]) as usize;
        let length = usize::from(u16::from_be_bytes([lengths[4], lengths[5]]));
        if self.unread.len() < size {
            return Ok(false);
        }
        let malformed = || TransportError::from(TransportErrorCode::TRANSPORT_PARAMETER_ERROR);
        let mut parameters = rest.get(..length).ok_or_else(malformed)?;
        let peer = TransportParameters::read(self.side, &mut parameters).map_err(|_| malformed())?;
        self.peer = Some(peer);
        self.unread.drain(..size);
        Ok(true)
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => self.peer.is_none(),
            Side::Server => !self.has_finished,
        }
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.unread.extend_from_slice(bytes);
        if !self.has_server_hello {
            self.has_server_hello = self.take(SERVER_HELLO);
        }
        if self.has_server_hello && self.peer.is_none() {
            return self.read_hello();
        }
        if self.side.is_server() && self.peer.is_some() && !self.has_finished {
            self.has_finished = self.take(FINISHED);
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let (next, keys) = match (self.side, self.sent) {
            (Side::Client, Sent::Nothing) => {
                buffer.extend_from_slice(&self.hello);
                (Sent::Hello, None)
            }
            (Side::Client, Sent::Hello) if self.has_server_hello => (Sent::Keyed, Some(keys())),
            (Side::Client, Sent::Keyed) if self.peer.is_some() => {
                buffer.resize(buffer.len() + FINISHED, 0);
                (Sent::All, Some(keys()))
            }
            (Side::Server, Sent::Nothing) if self.peer.is_some() => {
                buffer.resize(buffer.len() + SERVER_HELLO, 0);
                (Sent::Keyed, Some(keys()))
            }
            (Side::Server, Sent::Keyed) => {
                buffer.extend_from_slice(&self.hello);
                (Sent::All, Some(keys()))
            }
            _ => return None,
        };
        self.sent = next;
        keys
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }
    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }
    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
