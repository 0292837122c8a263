//! The reason for which a sender sends no more just now, for accounts of its time.

/// The reason for which a sender waits, once it was polled until it had nothing more to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// data from the application, or more of it where a short segment waits for more
    Application,
    /// the handshake
    Opening,
    /// room in the congestion window
    CongestionWindow,
    /// room in the window that the peer offers
    ReceiveWindow,
    /// the time at which pacing lets the next segment out
    Pacing,
    /// nothing of its own: the device has stopped polling
    Device,
}
