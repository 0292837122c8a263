//! `[quic]`. A flow over QUIC may override any key of it.

use lasthop_quic::Settings;
use lasthop_registry::{Kind, ParamError, params, refuse, words};
use lasthop_units::{Bytes, Duration};

use super::quic_control::QuicControl;

words! {
    /// The QUIC stack.
    pub(crate) enum Stack {
        /// quinn-proto 0.11.19
        Quinn = "quinn",
    }
}

words! {
    /// Probes of the path's MTU.
    pub(crate) enum PathMtuProbes {
        /// full datagrams from the start
        Off = "off",
        /// datagrams of 1200 B until larger probes have arrived
        On = "on",
    }
}

params! {
    /// Sizes of a handshake.
    pub(crate) struct Handshake {
        /// Bytes that the server sends from its encrypted extensions to its Finished message, which is mostly its
        /// certificates. [RFC 8446 §4.3, §4.4]
        pub server: Bytes = Bytes(3000),
    }
    check |this, path| {
        if (200..=16_000).contains(&this.server.0) {
            return Ok(());
        }
        refuse(path, "server", Kind::OutOfRange { found: this.server.to_string(), allowed: "from 200 B to 16 kB".into() })
    }
}

params! {
    /// Keys of `[quic]`.
    pub(crate) struct QuicSection {
        /// The stack, whose code runs: "quinn" is quinn-proto 0.11.19.
        pub stack: Stack = Stack::Quinn,
        /// Congestion control of both ends.
        pub congestion_control: QuicControl = QuicControl::default(),
        /// Payload of a full UDP datagram; its IP packet has 28 B more. The stack does not look for a larger one. [RFC 9000 §14]
        pub datagram: Bytes = Bytes(1452),
        /// "on": datagrams have 1200 B at first, and the stack probes sizes up to `datagram`. [RFC 9000 §14.3]
        pub path_mtu_probes: PathMtuProbes = PathMtuProbes::Off,
        /// Congestion window at the start, in datagrams. [RFC 9002 §7.2]
        pub initial_window: u32 = 10,
        /// RTT that an end assumes before its first sample. [RFC 9002 §6.2.2]
        pub initial_rtt: Duration = Duration::from_millis(333),
        /// Number of packets that ask for an ACK for which one is sent; other than 2 by the frame ACK_FREQUENCY.
        /// [RFC 9000 §13.2.2; draft-ietf-quic-ack-frequency]
        pub ack_every: u32 = 2,
        /// Bytes of a stream that a receiver grants beyond those that its application has read. [RFC 9000 §4.1]
        pub stream_window: Bytes = Bytes(1_250_000),
        /// Streams over which bulk data is spread, by default 1, or over which a page's objects come at a time, by default
        /// as many as the stack allows, 100.
        pub streams: Option<u32> = None,
        /// Datagrams that the stack may make at once and that leave together, as with UDP segmentation offload.
        pub batch: u32 = 1,
        /// CPU time of a host for each datagram that it reads and each batch that it sends. A host does one thing at a
        /// time, for all its QUIC flows: datagrams, timers and data wait until it is free.
        pub cost: Duration = Duration::ZERO,
        /// Datagrams that a busy host sends, or reads, before it turns to the other.
        pub max_datagrams: u32 = 20,
        /// Sizes of the handshake.
        pub handshake: Handshake = Handshake::default(),
    }
    check |this, path| { this.check(path) }
}

/// The least payload of a full datagram by RFC 9000 §14.1, and the largest in a frame of 802.11.
const DATAGRAMS: std::ops::RangeInclusive<u64> = 1200..=2268;
/// The least stream window: with less, a stream waits for its receiver after each datagram.
const LEAST_WINDOW: u64 = 16_384;
/// The longest time of a datagram at a host.
const LONGEST_COST: Duration = Duration::from_secs(1);

impl QuicSection {
    fn check(&self, path: &str) -> Result<(), ParamError> {
        let out_of = |key: &str, found: String, allowed: &str| {
            refuse(path, key, Kind::OutOfRange { found, allowed: allowed.into() })
        };
        self.congestion_control.check(path)?;
        if !DATAGRAMS.contains(&self.datagram.0) {
            return out_of("datagram", self.datagram.to_string(), "from 1200 B to 2268 B");
        }
        if !(2..=1000).contains(&self.initial_window) {
            return out_of("initial_window", self.initial_window.to_string(), "from 2 to 1000 datagrams");
        }
        if self.initial_rtt < Duration::from_millis(1) || self.initial_rtt > Duration::from_secs(10) {
            return out_of("initial_rtt", self.initial_rtt.to_string(), "from 1 ms to 10 s");
        }
        if !(1..=100).contains(&self.ack_every) {
            return out_of("ack_every", self.ack_every.to_string(), "from 1 to 100 packets");
        }
        if !(LEAST_WINDOW..=1 << 30).contains(&self.stream_window.0) {
            return out_of("stream_window", self.stream_window.to_string(), "from 16 KiB to 1 GiB");
        }
        if self.streams.is_some_and(|streams| !(1..=100).contains(&streams)) {
            return out_of("streams", self.streams.unwrap_or(0).to_string(), "from 1 to 100");
        }
        if !(1..=64).contains(&self.batch) {
            return out_of("batch", self.batch.to_string(), "from 1 to 64 datagrams");
        }
        if self.cost > LONGEST_COST {
            return out_of("cost", self.cost.to_string(), "from 0 s to 1 s");
        }
        if !(1..=1000).contains(&self.max_datagrams) {
            return out_of("max_datagrams", self.max_datagrams.to_string(), "from 1 to 1000");
        }
        if self.cost == Duration::ZERO && self.max_datagrams != QuicSection::default().max_datagrams {
            let without = Kind::NoEffect("`max_datagrams` has no effect on a host that takes no time".into());
            return refuse(path, "max_datagrams", (without, "set `cost`, or remove it"));
        }
        Ok(())
    }

    /// The settings of the stack.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            congestion_control: self.congestion_control.0.clone(),
            datagram_bytes: self.datagram.0 as u16,
            path_mtu_probes: self.path_mtu_probes == PathMtuProbes::On,
            batch: self.batch as u16,
            initial_window: self.initial_window,
            initial_rtt: self.initial_rtt,
            ack_every: self.ack_every,
            stream_window_bytes: self.stream_window.0,
            server_handshake_bytes: self.handshake.server.0 as usize,
        }
    }
}
