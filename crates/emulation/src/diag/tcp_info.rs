//! The facts of a connection, and their offsets in `struct tcp_info`.

use std::net::SocketAddrV4;

use lasthop_units::Duration;

/// The state of a connection [RFC 9293 §3.3.2], numbered as in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// data may be sent both ways
    Established,
    /// has sent a SYN for a connection
    SynSent,
    /// has received a SYN for a connection
    SynReceived,
    /// has ended its data, not acknowledged yet
    FinWait1,
    /// has ended its data, which is acknowledged
    FinWait2,
    /// both have ended at once
    Closing,
    /// the peer has ended its data
    CloseWait,
    /// both have ended, the peer first
    LastAck,
    /// any other
    Other(u8),
}

/// State of the congestion state machine (`enum tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// nothing is wrong
    Open,
    /// SACKs or duplicate ACKs have come
    Disorder,
    /// the window is being reduced for ECN or for a local drop
    Cwr,
    /// fast recovery
    Recovery,
    /// after a timeout
    Loss,
    /// any other
    Other(u8),
}

/// A TCP connection as its kernel sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketInfo {
    /// the address and port of this end
    pub local: SocketAddrV4,
    /// the address and port of the other end
    pub remote: SocketAddrV4,
    /// the state of the connection
    pub state: State,
    /// the state of the sender's congestion control
    pub congestion_state: CongestionState,
    /// the kernel's name of the congestion control
    pub congestion_control: Option<String>,
    /// congestion window, in segments
    pub cwnd: u32,
    /// slow start threshold, in segments; `None` while it is infinite
    pub ssthresh: Option<u32>,
    /// maximum segment size, in bytes
    pub mss: u32,
    /// smoothed round-trip time, once there is a sample
    pub rtt: Option<Duration>,
    /// mean deviation of the round-trip time, once there is a sample
    pub rttvar: Option<Duration>,
    /// least round-trip time of the last five minutes
    pub min_rtt: Option<Duration>,
    /// retransmission timeout
    pub rto: Duration,
    /// segments that are not acknowledged
    pub unacked: u32,
    /// number of these that were SACKed
    pub sacked: u32,
    /// number of these that are considered lost
    pub lost: u32,
    /// retransmissions so far, in segments
    pub retransmissions: u32,
    /// segments delivered so far
    pub delivered: Option<u32>,
    /// segments delivered so far with a CE mark
    pub delivered_ce: Option<u32>,
    /// bytes that the other end has acknowledged
    pub bytes_acked: Option<u64>,
    /// bytes received in order
    pub bytes_received: Option<u64>,
    /// bytes that were written but not sent
    pub bytes_not_sent: Option<u32>,
    /// rate of delivery, in bytes per second
    pub delivery_rate: Option<u64>,
    /// rate of pacing, in bytes per second; `None` if there is no limit
    pub pacing_rate: Option<u64>,
    /// the window that the other end has announced, in bytes
    pub send_window: Option<u32>,
    /// the window that this end has announced, in bytes
    pub receive_window: Option<u32>,
    /// timeouts so far, reported by kernels from 6.7 on
    pub timeouts: Option<u16>,
}

/// `struct tcp_info` of linux/tcp.h, up to the length received. Fields keep their offsets from kernel to kernel.
struct TcpInfo<'a>(&'a [u8]);

impl SocketInfo {
    /// Reads a `struct tcp_info`; `None` if it is shorter than that of any kernel.
    pub(super) fn read(
        bytes: &[u8],
        local: SocketAddrV4,
        remote: SocketAddrV4,
        congestion_control: Option<String>,
    ) -> Option<SocketInfo> {
        let info = TcpInfo(bytes);
        // The kernel's values for "infinite", "no sample yet" and "no limit".
        let (infinite, no_sample, no_limit) = (0x7fff_ffff, u32::MAX, u64::MAX);
        let rtt_us = info.u32(68).filter(|us| *us > 0);
        Some(SocketInfo {
            local,
            remote,
            state: State::from(info.u8(0)?),
            congestion_state: CongestionState::from(info.u8(1)?),
            congestion_control,
            rto: micros(info.u32(8)?),
            mss: info.u32(16)?,
            unacked: info.u32(24)?,
            sacked: info.u32(28)?,
            lost: info.u32(32)?,
            rtt: rtt_us.map(micros),
            rttvar: rtt_us.and(info.u32(72)).map(micros),
            ssthresh: info.u32(76).filter(|segments| *segments < infinite),
            cwnd: info.u32(80)?,
            retransmissions: info.u32(100)?,
            pacing_rate: info.u64(104).filter(|rate| *rate != no_limit),
            bytes_acked: info.u64(120),
            bytes_received: info.u64(128),
            bytes_not_sent: info.u32(144),
            min_rtt: info.u32(148).filter(|us| *us != no_sample).map(micros),
            delivery_rate: info.u64(160).filter(|rate| *rate > 0),
            delivered: info.u32(192),
            delivered_ce: info.u32(196),
            send_window: info.u32(228),
            receive_window: info.u32(232),
            timeouts: info.field(240).map(u16::from_ne_bytes),
        })
    }
}

impl TcpInfo<'_> {
    fn field<const LENGTH: usize>(&self, at: usize) -> Option<[u8; LENGTH]> {
        self.0.get(at..at + LENGTH)?.try_into().ok()
    }

    fn u8(&self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.field(at).map(u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.field(at).map(u64::from_ne_bytes)
    }
}

fn micros(us: u32) -> Duration {
    Duration::from_micros(us.into())
}

impl From<u8> for State {
    fn from(number: u8) -> State {
        match number {
            1 => State::Established,
            2 => State::SynSent,
            3 => State::SynReceived,
            4 => State::FinWait1,
            5 => State::FinWait2,
            8 => State::CloseWait,
            9 => State::LastAck,
            11 => State::Closing,
            other => State::Other(other),
        }
    }
}

impl From<u8> for CongestionState {
    fn from(number: u8) -> CongestionState {
        match number {
            0 => CongestionState::Open,
            1 => CongestionState::Disorder,
            2 => CongestionState::Cwr,
            3 => CongestionState::Recovery,
            4 => CongestionState::Loss,
            other => CongestionState::Other(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> Option<SocketInfo> {
        let address = SocketAddrV4::new([10, 0, 0, 1].into(), 1);
        SocketInfo::read(bytes, address, address, None)
    }

    #[test]
    fn field_beyond_the_kernels_struct_is_absent() {
        let whole = told(&[1; 248]).unwrap();
        assert_eq!((whole.delivered, whole.timeouts), (Some(0x0101_0101), Some(0x0101)));
        // Linux 4.18 ends after `delivered_ce`, Linux 3.x after `total_retrans`.
        let of_4_18 = told(&[1; 200]).unwrap();
        assert_eq!((of_4_18.delivered, of_4_18.timeouts), (Some(0x0101_0101), None));
        let of_3_0 = told(&[1; 104]).unwrap();
        assert_eq!((of_3_0.cwnd, of_3_0.delivered, of_3_0.bytes_acked), (0x0101_0101, None, None));
        assert_eq!(told(&[1; 100]), None);
    }

    #[test]
    fn field_of_a_later_kernel_is_absent() {
        let mut bytes = [0; 248];
        bytes[76..80].copy_from_slice(&0x7fff_ffff_u32.to_ne_bytes());
        bytes[104..112].copy_from_slice(&[0xff; 8]);
        bytes[148..152].copy_from_slice(&[0xff; 4]);
        let info = told(&bytes).unwrap();
        assert_eq!(
            (info.ssthresh, info.pacing_rate, info.min_rtt, info.rtt, info.rttvar),
            (None, None, None, None, None)
        );
    }
}
