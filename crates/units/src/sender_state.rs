//! States of a TCP sender, which endpoints, records and the kernel's programs share.

/// The state of a sender's congestion control. The numbers are Linux's: `enum tcp_ca_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaState {
    /// no sign of loss
    #[default]
    Open = 0,
    /// duplicate ACKs or SACK blocks, not yet taken for loss
    Disorder = 1,
    /// the window shrinks because of an ECN mark or a full local queue
    Cwr = 2,
    /// fast recovery
    Recovery = 3,
    /// after a retransmission timeout
    Loss = 4,
}

impl CaState {
    const ALL: [CaState; 5] = [CaState::Open, CaState::Disorder, CaState::Cwr, CaState::Recovery, CaState::Loss];

    /// The state with this number.
    pub fn numbered(number: u8) -> Option<CaState> {
        CaState::ALL.get(usize::from(number)).copied()
    }
}

/// The reason for which a sender waits, once it has sent all that it may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// its application has no data, or a short segment waits for more
    Application,
    /// the handshake
    Opening,
    /// the congestion window
    CongestionWindow,
    /// the window that the peer offers
    ReceiveWindow,
    /// pacing
    Pacing,
    /// its own host: small queues, or an interface that pulls when it has room
    Device,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_their_numbers() {
        assert!((0..5).all(|number| CaState::numbered(number).map(|state| state as u8) == Some(number)));
        assert_eq!(CaState::numbered(5), None);
    }
}
