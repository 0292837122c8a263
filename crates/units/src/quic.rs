//! Vocabulary of QUIC, which stack and records share.

/// A packet number space of QUIC. [RFC 9000 §12.3]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QuicSpace {
    /// of Initial packets
    Initial,
    /// of Handshake packets
    Handshake,
    /// of 1-RTT packets
    Application,
}

/// The kind of a frame of QUIC, by the name of qlog's `frame_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of RFC 9000 §19")]
pub enum QuicFrameKind {
    Padding,
    Ping,
    Ack,
    ResetStream,
    StopSending,
    Crypto,
    NewToken,
    Stream,
    MaxData,
    MaxStreamData,
    MaxStreams,
    DataBlocked,
    StreamDataBlocked,
    StreamsBlocked,
    NewConnectionId,
    RetireConnectionId,
    PathChallenge,
    PathResponse,
    ConnectionClose,
    HandshakeDone,
    /// of an extension: ACK_FREQUENCY, IMMEDIATE_ACK
    Unknown,
}
