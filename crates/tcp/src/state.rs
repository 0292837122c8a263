//! The states of a connection. [RFC 9293 §3.3.2]
//!
//! ```text
//!            listen                connect
//!   CLOSED ────────► LISTEN    CLOSED ───► SYN-SENT
//!                      │ SYN                  │ SYN+ACK
//!                 SYN-RECEIVED ── ACK ──► ESTABLISHED
//!                            own FIN ┌────────┴───────┐ peer's FIN
//!                               FIN-WAIT-1        CLOSE-WAIT
//!                    ACK of FIN │      │ FIN          │ own FIN
//!                          FIN-WAIT-2 CLOSING      LAST-ACK
//!                           FIN │      │ ACK of FIN   │ ACK of FIN
//!                               TIME-WAIT ─────────► CLOSED
//! ```

/// The reason for which a connection ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No endpoint listens there: a reset answered the SYN.
    Refused,
    /// The peer sent a reset.
    Reset,
    /// The peer was silent for too long.
    TimedOut,
    /// Data came that the application will not read.
    Unread,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// No connection, before or after.
    #[default]
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent, or about to be.
    SynSent,
    /// SYN received, SYN+ACK sent or about to be.
    SynReceived,
    /// Open in both directions.
    Established,
    /// FIN sent, not yet acknowledged.
    FinWait1,
    /// FIN acknowledged, the peer's not yet received.
    FinWait2,
    /// The peer's FIN received, own not yet sent.
    CloseWait,
    /// Both FINs sent, own not yet acknowledged.
    Closing,
    /// The peer's FIN received, own sent.
    LastAck,
    /// Over; lasts to acknowledge the peer's FIN again.
    TimeWait,
}

impl State {
    /// True before sequence numbers are agreed upon.
    pub(crate) fn is_opening(self) -> bool {
        matches!(self, State::SynSent | State::SynReceived)
    }

    /// True where new data, or the FIN after it, may be sent.
    pub(crate) fn may_send_data(self) -> bool {
        matches!(self, State::Established | State::CloseWait)
    }

    /// True where the peer may still send data.
    pub(crate) fn may_receive_data(self) -> bool {
        matches!(self, State::Established | State::FinWait1 | State::FinWait2)
    }

    /// True once the peer's FIN has come.
    pub(crate) fn has_peer_closed(self) -> bool {
        matches!(self, State::CloseWait | State::Closing | State::LastAck | State::TimeWait)
    }

    /// The state after the own FIN is sent.
    pub(crate) fn after_own_fin(self) -> State {
        match self {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => unreachable!("a FIN is not sent in {other:?}"),
        }
    }
}
