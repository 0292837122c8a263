//! A snapshot of a connection, in the fields and units of Linux' `tcp_info`.
//!
//! Times are in microseconds, windows and counts in segments unless the name says bytes. A field that this
//! endpoint does not track is 0.

use lasthop_units::{CaState, Duration};

use crate::state::State;

/// Bits of [`Info::options`]: the options on which both SYNs have agreed.
pub mod option_bit {
    /// Timestamps. [RFC 7323 §3]
    pub const TIMESTAMPS: u8 = 1;
    /// Selective acknowledgements. [RFC 2018]
    pub const SACK: u8 = 2;
    /// Window scaling. [RFC 7323 §2]
    pub const WSCALE: u8 = 4;
    /// Explicit congestion notification. [RFC 3168]
    pub const ECN: u8 = 8;
    /// A packet with an ECN codepoint has been received.
    pub const ECN_SEEN: u8 = 16;
}

/// A snapshot of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// State of the connection.
    pub state: State,
    /// State of congestion control.
    pub ca_state: CaState,
    /// Timeouts in a row of the segment now at the head.
    pub retransmits: u32,
    /// Probes of a zero window not yet answered.
    pub probes: u32,
    /// Doublings of the retransmission timeout in force.
    pub backoff: u32,
    /// Bits of [`option_bit`].
    pub options: u8,
    /// Shift of the peer's window field.
    pub snd_wscale: u8,
    /// Shift of the own window field.
    pub rcv_wscale: u8,
    /// The last sample of the delivery rate was limited by the application.
    pub delivery_rate_app_limited: bool,
    /// Retransmission timeout, backoff included.
    pub rto_us: u64,
    /// Delayed-ACK timeout.
    pub ato_us: u64,
    /// Payload of a full segment to send, in bytes.
    pub snd_mss: u32,
    /// Payload that the peer is thought to send, in bytes.
    pub rcv_mss: u32,
    /// Segments sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Segments of `unacked` that are SACKed, or, without SACK, counted by duplicate ACKs.
    pub sacked: u32,
    /// Segments of `unacked` that are thought lost.
    pub lost: u32,
    /// Retransmissions in flight.
    pub retrans: u32,
    /// Segments up to the highest SACKed one; 0 in current kernels.
    pub fackets: u32,
    /// Time since data was last sent.
    pub last_data_sent_us: u64,
    /// Time since data was last received.
    pub last_data_recv_us: u64,
    /// Time since an ACK was last received.
    pub last_ack_recv_us: u64,
    /// Largest IP packet that the path takes, in bytes.
    pub pmtu: u32,
    /// Present limit of the window offered, in bytes.
    pub rcv_ssthresh: u32,
    /// Smoothed RTT.
    pub rtt_us: u64,
    /// Mean deviation of the RTT.
    pub rttvar_us: u64,
    /// Slow-start threshold; [`Info::INFINITE_SSTHRESH`] before the first loss.
    pub snd_ssthresh: u32,
    /// Congestion window.
    pub snd_cwnd: u32,
    /// MSS that the own SYN offers, in bytes.
    pub advmss: u32,
    /// Degree of reordering, in segments.
    pub reordering: u32,
    /// RTT as measured by the receiver.
    pub rcv_rtt_us: u64,
    /// Receive buffer that autotuning aims at, in bytes.
    pub rcv_space: u32,
    /// Segments retransmitted since the start.
    pub total_retrans: u32,
    /// Pacing rate, in bytes per second.
    pub pacing_rate: u64,
    /// Bound of the pacing rate, in bytes per second.
    pub max_pacing_rate: u64,
    /// Bytes acknowledged, SYN and FIN counted.
    pub bytes_acked: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Segments sent.
    pub segs_out: u32,
    /// Segments received.
    pub segs_in: u32,
    /// Bytes written and not yet sent.
    pub notsent_bytes: u32,
    /// Least RTT.
    pub min_rtt_us: u64,
    /// Segments with data received.
    pub data_segs_in: u32,
    /// Segments with data sent.
    pub data_segs_out: u32,
    /// Last sample of the delivery rate, in bytes per second.
    pub delivery_rate: u64,
    /// Time during which there was data to send or outstanding.
    pub busy_us: u64,
    /// Part of `busy_us` in which the peer's window was the limit.
    pub rwnd_limited_us: u64,
    /// Part of `busy_us` in which the send buffer was the limit.
    pub sndbuf_limited_us: u64,
    /// Segments delivered, SACKed ones included.
    pub delivered: u32,
    /// Segments of `delivered` with an ECN mark.
    pub delivered_ce: u32,
    /// Bytes delivered under ECT(1), by the peer's AccECN options. [RFC 9768 §3.2.3]
    pub delivered_e1_bytes: u64,
    /// Bytes delivered under ECT(0), likewise.
    pub delivered_e0_bytes: u64,
    /// Bytes delivered under CE, likewise.
    pub delivered_ce_bytes: u64,
    /// Packets received under CE, with accurate ECN. [RFC 9768 §3.2.1]
    pub received_ce: u32,
    /// Bytes received under ECT(1), CE and ECT(0), if the AccECN option is in use.
    pub received_e1_bytes: u64,
    /// Bytes received under ECT(0), likewise.
    pub received_e0_bytes: u64,
    /// Bytes received under CE, likewise.
    pub received_ce_bytes: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload bytes retransmitted.
    pub bytes_retrans: u64,
    /// Duplicates that the peer reported by DSACK. [RFC 2883]
    pub dsack_dups: u32,
    /// Times at which reordering was seen.
    pub reord_seen: u32,
    /// Segments received out of order.
    pub rcv_ooopack: u32,
    /// The peer's window, in bytes.
    pub snd_wnd: u32,
    /// The window offered to the peer, in bytes.
    pub rcv_wnd: u32,
    /// Retransmission timeouts since the start.
    pub total_rto: u32,
    /// Recoveries that a timeout began.
    pub total_rto_recoveries: u32,
    /// Time spent in recoveries that a timeout began.
    pub total_rto_time_us: u64,
}

impl Info {
    /// `snd_ssthresh` where there is none, as in Linux.
    pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
}

/// Microseconds, rounded down.
pub(crate) fn microseconds(duration: Duration) -> u64 {
    duration.as_nanos() / 1000
}
