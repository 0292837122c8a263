//! The terms of a flow's time: the words of its book.

use crate::{LinkId, NodeId};

macro_rules! terms {
    ($( $(#[$doc:meta])* $name:ident = $word:literal ),* $(,)?) => {
        /// A term of a flow's time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Term { $( $(#[$doc])* $name ),* }

        impl Term {
            /// All, in display order.
            pub const ALL: &'static [Term] = &[$( Term::$name ),*];
            /// Its name in results.
            pub fn word(self) -> &'static str {
                match self { $( Term::$name => $word ),* }
            }
        }
    };
}

terms! {
    /// PPDUs with its data that arrived, for the time they would take at the best rate
    OwnData = "own_data",
    /// the same for its TCP ACKs
    OwnAcks = "own_tcp_acks",
    /// RTS, CTS, Ack, BlockAck, BlockAckReq and SIFS of its exchanges
    OwnControl = "own_control",
    /// excess of its PPDUs over that time
    RateBelowBest = "rate_below_best",
    /// the same as own data and TCP ACKs, in PPDUs that a trigger asked for
    Triggered = "triggered",
    /// time in PPDUs of several users after the last symbols with data
    Padding = "padding",
    /// its exchanges that were lost to a collision
    Collisions = "collisions",
    /// its exchanges that were lost to nodes that the sender does not hear
    Interference = "interference",
    /// its exchanges that were lost to interferers
    Interferers = "interferers",
    /// its exchanges that were lost to noise
    Noise = "noise",
    /// at the head of a MAC with the medium free: backoff, inter-frame spaces, timeouts of responses
    Backoff = "backoff_and_spaces",
    /// at the head of a MAC that MU EDCA keeps from contending, with the medium free
    WaitsForTrigger = "waits_for_trigger",
    /// at the head of a MAC while others have the medium
    WaitingForOthers = "waiting_for_others",
    /// in a queue
    Queues = "queues",
    /// packets in flight, the congestion window full
    CongestionWindow = "congestion_window",
    /// packets in flight, or a probe, the receiver's window full
    ReceiveWindow = "receive_window",
    /// pacing delays the next segment
    Pacing = "pacing",
    /// data waits in the socket for its own host's interface
    Device = "device",
    /// the handshake is in progress
    Opening = "opening",
    /// packets in flight, and the application has nothing more for the sender
    OnTheWire = "on_the_wire",
    /// nothing is in flight and something is not acknowledged: only a timer continues
    RtoSilence = "rto_silence",
    /// the application has nothing to send
    ApplicationIdle = "application_idle",
    /// none of these
    Unattributed = "unattributed",
}

impl Term {
    /// Whether only exchanges of several users have it.
    pub fn is_of_several_users(self) -> bool {
        matches!(self, Term::Triggered | Term::Padding | Term::WaitsForTrigger)
    }

    /// Whether only runs with interferers have it.
    pub fn is_of_interferers(self) -> bool {
        self == Term::Interferers
    }
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// of the station's interface
    Station,
    /// of the AP's interface
    Ap,
    /// of the wired link from the server
    WireDown,
    /// of the wired link to the server
    WireUp,
}

/// A holder of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rival {
    /// an exchange on this link
    Link(LinkId),
    /// an exchange of this AP with several users
    Several(NodeId),
    /// exchanges that were lost in collisions
    Collisions,
    /// a beacon
    Beacons,
}
