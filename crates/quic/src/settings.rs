//! Settings of both endpoints of a connection.

use std::sync::Arc;

use lasthop_tcp::congestion_control::{Algorithm, cubic};
use lasthop_units::Duration;
use quinn_proto::{AckFrequencyConfig, MtuDiscoveryConfig, TransportConfig, VarInt};

use crate::controller::{Factory, context};
use crate::stack_control::Control;

/// Bytes that a sender keeps, over those that a receiver grants: the stack's ratio.
const SEND_WINDOWS: u64 = 8;

/// The least payload of a full datagram. [RFC 9000 §14]
const LEAST_DATAGRAM: u16 = 1200;

/// Settings of both endpoints of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Congestion control of both ends.
    pub congestion_control: Control,
    /// Payload of a full UDP datagram, at least 1200 bytes. The stack looks for no larger one.
    pub datagram_bytes: u16,
    /// Whether datagrams have 1200 bytes until probes of `datagram_bytes` or less have arrived. [RFC 9000 §14.3]
    pub path_mtu_probes: bool,
    /// Most datagrams that the stack makes at once, for segmentation by the kernel.
    pub batch: u16,
    /// Congestion window at the start, in datagrams. [RFC 9002 §7.2]
    pub initial_window: u32,
    /// RTT that a sender assumes before the first sample. [RFC 9002 §6.2.2]
    pub initial_rtt: Duration,
    /// An ACK is sent for so many packets that ask for one; 2 is the stack's default, another number is asked for by the
    /// extension of draft-ietf-quic-ack-frequency.
    pub ack_every: u32,
    /// Flow control of each stream: the bytes that a receiver grants beyond those that were read.
    pub stream_window_bytes: u64,
    /// Bytes of the server's handshake from its encrypted extensions on, certificates included.
    pub server_handshake_bytes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            congestion_control: Control::Ours(Algorithm::Cubic(cubic::Params::default())),
            datagram_bytes: 1452,
            path_mtu_probes: false,
            batch: 1,
            initial_window: 10,
            initial_rtt: Duration::from_millis(333),
            ack_every: 2,
            stream_window_bytes: 1_250_000,
            server_handshake_bytes: 3000,
        }
    }
}

impl Settings {
    fn least_datagram(&self) -> u16 {
        if self.path_mtu_probes { LEAST_DATAGRAM } else { self.datagram_bytes }
    }

    fn probes(&self) -> Option<MtuDiscoveryConfig> {
        self.path_mtu_probes.then(|| {
            let mut config = MtuDiscoveryConfig::default();
            config.upper_bound(self.datagram_bytes);
            config
        })
    }

    /// The settings in the stack's form, with senders of `factory`.
    pub(crate) fn transport(&self, factory: Arc<Factory>) -> TransportConfig {
        let window = |bytes: u64| VarInt::from_u64(bytes).unwrap_or(VarInt::MAX);
        let mut config = TransportConfig::default();
        config
            .congestion_controller_factory(factory)
            .initial_rtt(std::time::Duration::from_nanos(self.initial_rtt.as_nanos()))
            // The simulated path carries every datagram: without probes a loss never means that it was too large.
            .initial_mtu(self.least_datagram())
            .min_mtu(self.least_datagram())
            .mtu_discovery_config(self.probes())
            .stream_receive_window(window(self.stream_window_bytes))
            .send_window(self.stream_window_bytes.saturating_mul(SEND_WINDOWS))
            // A TCP connection without data lasts as long.
            .max_idle_timeout(None)
            .datagram_receive_buffer_size(None)
            .enable_segmentation_offload(self.batch > 1);
        if self.ack_every != 2 {
            let mut frequency = AckFrequencyConfig::default();
            frequency.ack_eliciting_threshold(VarInt::from_u32(self.ack_every.saturating_sub(1)));
            config.ack_frequency_config(Some(frequency));
        }
        config
    }
}

/// The reason why a controller does not work over QUIC, if there is one: the stack measures no delivery rates, paces from
/// the window and reports marks once for each ACK.
pub fn why_not(algorithm: &Algorithm) -> Option<&'static str> {
    let needs = algorithm.build(&context(10, 1452, 0)).needs();
    if needs.rate_samples {
        return Some("it works with delivery rates, which the QUIC stack does not measure");
    }
    if needs.is_scalable {
        return Some("it needs ECT(1), and the QUIC stack sends ECT(0)");
    }
    if needs.lives_on_marks() {
        return Some("it needs the number of marked packets, which the QUIC stack keeps to itself");
    }
    needs.paced.then_some("it sets a pacing rate, and the QUIC stack paces from the window")
}
