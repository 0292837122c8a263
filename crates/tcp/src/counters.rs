//! The counters of an endpoint.

/// Counts since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments with payload sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments with payload retransmitted.
    pub segments_retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_retransmits: u64,
    /// Pure ACKs sent, duplicates and window updates included.
    pub acks_sent: u64,
    /// Duplicate ACKs received, in the sense of RFC 5681 §2, or of RFC 6675 §2 with SACK.
    pub duplicate_acks_received: u64,
    /// Lost ACKs detected; always 0 without `ack_loss`, which looks for them.
    pub ack_losses_detected: u64,
    /// ACKs that directly followed another one, both with new data; always 0 without `ack_loss`.
    pub acks_watched: u64,
    /// Those of `acks_watched` that would have shown the loss of the ACK before. `ack_losses_detected` divided by their
    /// share estimates the number of lost ACKs.
    pub acks_that_would_show: u64,
    /// Segments with payload received.
    pub segments_received: u64,
    /// Segments with new payload that were not the next in order.
    pub segments_out_of_order: u64,
    /// Segments with payload that brought nothing new.
    pub segments_duplicate: u64,
    /// Probes of a zero window sent.
    pub window_probes: u64,
    /// Segments refused because of an old timestamp. [RFC 7323 §5.3]
    pub paws_rejected: u64,
}
