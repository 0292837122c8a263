//! QUIC in captures: its packets by kind, and the RTT that the spin bit shows. [RFC 9000 §17; RFC 9312 §3.8]
//!
//! ```text
//! client   0 0 0 1 1 1 1 0 0 0     the client inverts the latest bit of the server,
//! server     0 0 0 0 1 1 1 1 0     the server repeats the latest of the client
//! ```
//!
//! The time between two edges in one direction is an RTT, as long as the ends had something to send. Ends that do not
//! take part send zeros, or random bits.

use lasthop_observe::Histogram;
use lasthop_units::{Duration, Time};
use lasthop_wire::{Quic, QuicKind};
use serde_json::{Value as Json, json};

use crate::bounds::{Bounds, Kept};

/// Samples of an RTT that are kept of a direction.
const MOST_SAMPLES: usize = 1 << 14;
/// Fewer edges in a direction show no RTT.
const LEAST_EDGES: u64 = 4;
/// Random bits turn at every second packet, spin bits once in an RTT: at most one packet in so many may turn.
const PACKETS_PER_EDGE: u64 = 3;
/// Edges of both directions may differ by one in so many: loss may hide two.
const EDGES_DIFFER: u64 = 10;
/// The port of HTTP/3. [RFC 9114 §3.1]
const HTTPS: u16 = 443;
/// Short headers without a handshake before them are QUIC on its port alone, if so many and all have the fixed bit.
const LEAST_SHORT: u64 = 8;

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicWay {
    packets: [u64; QuicKind::ALL.len()],
    versions: Vec<u32>,
    /// datagrams that cannot be QUIC
    others: u64,
    spin: Option<bool>,
    /// edges of the spin bit, and the time of the latest
    edges: u64,
    edge: Option<Time>,
    samples: Vec<Duration>,
}

/// Both directions of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicConnection {
    pub ways: [QuicWay; 2],
}

impl QuicConnection {
    /// Whether datagrams with these headers and ports may be QUIC.
    pub(crate) fn may_begin(quic: &Quic, ports: [u16; 2]) -> bool {
        quic.version.is_some() || ports.contains(&HTTPS)
    }

    /// A datagram passes.
    pub(crate) fn pass(&mut self, at: Time, way: usize, quic: Option<&Quic>, bounds: &mut Bounds) {
        self.ways[way].pass(at, quic, bounds);
    }

    /// Whether it is QUIC: a long header has shown it, or all short ones may be.
    pub(crate) fn is_quic(&self) -> bool {
        let short: u64 = self.ways.iter().map(|way| way.of(QuicKind::Short)).sum();
        let others: u64 = self.ways.iter().map(|way| way.others).sum();
        self.ways.iter().any(|way| !way.versions.is_empty()) || short >= LEAST_SHORT && others == 0
    }

    /// Whether its spin bit is one.
    pub(crate) fn spins(&self) -> bool {
        let [one, other] = self.ways.each_ref().map(|way| way.edges);
        let packets = self.ways.iter().map(|way| way.of(QuicKind::Short)).max().unwrap_or(0);
        let (fewer, more) = (one.min(other), one.max(other));
        fewer >= LEAST_EDGES && more * PACKETS_PER_EDGE <= packets && more - fewer <= 2 + more / EDGES_DIFFER
    }
}

impl QuicWay {
    fn of(&self, kind: QuicKind) -> u64 {
        self.packets[kind as usize]
    }

    fn pass(&mut self, at: Time, quic: Option<&Quic>, bounds: &mut Bounds) {
        let Some(quic) = quic else {
            self.others += 1;
            return;
        };
        for (sum, count) in self.packets.iter_mut().zip(quic.packets) {
            *sum += u64::from(count);
        }
        if let Some(version) = quic.version.filter(|version| !self.versions.contains(version))
            && bounds.admits(Kept::QuicVersions, self.versions.len())
        {
            self.versions.push(version);
        }
        if let Some(spin) = quic.spin
            && self.spin.replace(spin).is_some_and(|before| before != spin)
        {
            self.edges += 1;
            if let Some(before) = self.edge.replace(at).filter(|_| self.samples.len() < MOST_SAMPLES) {
                self.samples.push(at.since(before));
            }
        }
    }
}

/// QUIC of a flow, over all its connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicTally {
    packets: [u64; QuicKind::ALL.len()],
    versions: Vec<u32>,
    edges: u64,
    rtt: Histogram,
    least: Option<Duration>,
    pub ids: Vec<String>,
}

impl QuicTally {
    /// Adds a direction of a connection, and its RTTs if its bit `spins`.
    pub(crate) fn add(&mut self, way: &QuicWay, spins: bool) {
        self.packets.iter_mut().zip(way.packets).for_each(|(sum, count)| *sum += count);
        self.versions.extend(
            way.versions.iter().filter(|version| !self.versions.contains(version)).copied().collect::<Vec<_>>(),
        );
        if spins {
            self.edges += way.edges;
            way.samples.iter().for_each(|sample| self.rtt.add(*sample));
            self.least = self.least.into_iter().chain(way.samples.iter().copied()).min();
        }
    }

    /// Its form in the document.
    pub(crate) fn to_json(&self) -> Json {
        let of = |kind: QuicKind| self.packets[kind as usize];
        let version = |version: &u32| match version {
            1 => "1".to_string(),
            0x6b33_43cf => "2".to_string(),
            draft if draft >> 8 == 0x00ff_0000 => format!("draft-{:02}", draft & 0xff),
            other => format!("0x{other:08x}"),
        };
        json!({
            "versions": self.versions.iter().map(version).collect::<Vec<_>>(),
            "original_connection_ids": self.ids,
            "initial": of(QuicKind::Initial),
            "zero_rtt": of(QuicKind::ZeroRtt),
            "handshake": of(QuicKind::Handshake),
            "retry": of(QuicKind::Retry),
            "version_negotiation": of(QuicKind::VersionNegotiation),
            "other_long": of(QuicKind::OtherLong),
            "short": of(QuicKind::Short),
            "spin_edges": self.edges,
            "spin_rtt_mean_s": self.rtt.mean_s(),
            "spin_rtt_p95_s": self.rtt.quantile_s(0.95),
            "spin_rtt_min_s": self.least.map(Duration::as_secs_f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(spin: bool) -> Quic {
        Quic::parse(&[if spin { 0x60 } else { 0x40 }, 1, 2, 3]).unwrap()
    }
    fn initial() -> Quic {
        Quic::parse(&[0xc0, 0, 0, 0, 1, 1, 7, 0, 0, 2, 9, 9]).unwrap()
    }
    fn ms(at: u64) -> Time {
        Time::from_nanos(at * 1_000_000)
    }

    /// A connection of an RTT of 40 ms, with a packet each way every 5 ms, whose bits are `bit` of way and number.
    fn connection(bit: impl Fn(usize, u64) -> bool) -> QuicConnection {
        let mut connection = QuicConnection::default();
        connection.pass(ms(0), 0, Some(&initial()), &mut Bounds::default());
        for number in 0..200 {
            connection.pass(ms(5 * number), 0, Some(&short(bit(0, number))), &mut Bounds::default());
            connection.pass(ms(5 * number + 2), 1, Some(&short(bit(1, number))), &mut Bounds::default());
        }
        connection
    }

    #[test]
    fn edges_are_an_rtt_apart() {
        // Eight packets of 5 ms are an RTT; the server repeats the bit half an RTT later.
        let spinning = connection(|way, number| (number + 4 * way as u64) / 8 % 2 == 1);
        assert!(spinning.is_quic() && spinning.spins());
        let mut tally = QuicTally::default();
        tally.add(&spinning.ways[0], true);
        assert_eq!(
            (tally.least, tally.rtt.mean_s().map(|mean_s| (mean_s * 1e3).round())),
            (Some(Duration::from_millis(40)), Some(40.0))
        );
        assert_eq!((tally.to_json()["initial"].clone(), tally.to_json()["short"].clone()), (json!(1), json!(200)));
    }

    #[test]
    fn bits_that_rest_or_are_random_show_no_rtt() {
        assert!(!connection(|_, _| true).spins());
        let random = |way: usize, number: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (40 + way)) & 1 == 1;
        assert!(!connection(random).spins());
        // One end takes part and the other does not.
        assert!(!connection(|way, number| way == 0 && number / 8 % 2 == 1).spins());
    }

    #[test]
    fn short_headers_alone_need_the_fixed_bit() {
        let mut connection = QuicConnection::default();
        for number in 0..8 {
            assert!(!connection.is_quic());
            connection.pass(ms(number), 0, Some(&short(false)), &mut Bounds::default());
        }
        assert!(connection.is_quic());
        connection.pass(ms(9), 1, None, &mut Bounds::default());
        assert!(!connection.is_quic());
    }
}
