//! One endpoint, and a peer whose segments are written by hand. Both sides number from 0: the SYN is 0, the first byte 1.
#![allow(dead_code)]

use lasthop_tcp::{Config, Endpoint, Flags, Profile, SackBlock, Segment, SeqNumber, Timestamps};
use lasthop_units::{Bytes, Duration, Time};

/// Payload of a full segment.
pub const MSS: u32 = 1000;

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A current Linux with segments of 1000 bytes and no timestamps, so that numbers are round.
pub fn linux() -> Config {
    Config { mss: Some(Bytes(u64::from(MSS))), timestamps: false, ..Profile::Linux612.config() }
}

/// The same with the rules of the standards.
pub fn rfc() -> Config {
    Config { arrival_rules: lasthop_tcp::ArrivalRules::Rfc9293, answer_interval: Duration::ZERO, ..linux() }
}

/// An endpoint under the hand's control.
pub struct Hand {
    pub now: Time,
    pub end: Endpoint,
}

impl Hand {
    /// A listening endpoint.
    pub fn listening(config: &Config) -> Hand {
        let mut end = Endpoint::new(config, 0);
        end.listen();
        Hand { now: Time::ZERO, end }
    }

    /// An endpoint to which the peer has opened a connection; the handshake took 100 ms.
    pub fn server(config: &Config) -> Hand {
        Hand::server_by(config, Segment { ..syn() })
    }

    /// The same, with another SYN.
    pub fn server_by(config: &Config, syn: Segment) -> Hand {
        let mut hand = Hand::listening(config);
        let answer = hand.send(syn);
        assert_eq!(answer.len(), 1, "a SYN+ACK");
        hand.now += ms(100);
        let stamps = answer[0].timestamps.map(|t| Timestamps { value: 100, echo: t.value });
        assert_eq!(hand.send(Segment { timestamps: stamps, ..ack(1) }), []);
        assert!(hand.end.is_established());
        hand
    }

    /// An endpoint that opened a connection to the peer in 100 ms.
    pub fn client(config: &Config) -> Hand {
        let mut hand = Hand { now: Time::ZERO, end: Endpoint::new(config, 0) };
        hand.end.connect(hand.now);
        assert_eq!(hand.poll().len(), 1, "a SYN");
        hand.now += ms(100);
        let answers = hand.send(Segment { flags: Flags::SYN | Flags::ACK, ack: SeqNumber(1), ..syn() });
        assert_eq!(answers.len(), 1, "an ACK");
        hand
    }

    /// All segments that the endpoint sends now.
    pub fn poll(&mut self) -> Vec<Segment> {
        std::iter::from_fn(|| self.end.poll_transmit(self.now)).collect()
    }

    /// The answers to a segment.
    pub fn send(&mut self, segment: Segment) -> Vec<Segment> {
        self.end.handle_segment(self.now, &segment);
        self.poll()
    }

    /// Sends it after a time, in which timers run out.
    pub fn send_after(&mut self, wait: Duration, segment: Segment) -> Vec<Segment> {
        let mut all: Vec<Segment> = self.wait(wait).into_iter().map(|(_, segment)| segment).collect();
        all.extend(self.send(segment));
        all
    }

    /// The segments that timers send in a time, with the milliseconds from its start.
    pub fn wait(&mut self, time: Duration) -> Vec<(u64, Segment)> {
        let (start, end) = (self.now, self.now + time);
        let mut sent = Vec::new();
        while self.end.poll_timeout() <= end {
            self.now = self.end.poll_timeout();
            self.end.handle_timeout(self.now);
            let at = self.now.since(start).as_nanos() / 1_000_000;
            sent.extend(self.poll().into_iter().map(|segment| (at, segment)));
        }
        self.now = end;
        sent
    }

    /// Acknowledgement numbers of the answers to each of a number of full segments, from the `first` on.
    pub fn stream(&mut self, first: u32, count: u32) -> Vec<u32> {
        (first..first + count).flat_map(|n| acks(&self.send(data(n)))).collect()
    }
}

/// The peer's SYN.
pub fn syn() -> Segment {
    Segment {
        flags: Flags::SYN,
        window: 65_000,
        mss: Some(MSS as u16),
        sack_permitted: true,
        window_scale: Some(7),
        ..Segment::default()
    }
}

/// The peer's pure ACK of all below `number`, after its SYN.
pub fn ack(number: u32) -> Segment {
    Segment { seq: SeqNumber(1), ack: SeqNumber(number), flags: Flags::ACK, window: 1000, ..Segment::default() }
}

/// The peer's `n`-th full segment, from 0.
pub fn data(n: u32) -> Segment {
    bytes(1 + n * MSS, MSS)
}

/// So many bytes of the peer's stream from there on.
pub fn bytes(seq: u32, payload: u32) -> Segment {
    Segment { seq: SeqNumber(seq), payload, ..ack(1) }
}

pub fn acks(segments: &[Segment]) -> Vec<u32> {
    segments.iter().map(|segment| segment.ack.0).collect()
}

/// The SACK blocks of a segment.
pub fn blocks(segment: &Segment) -> Vec<(u32, u32)> {
    segment.sack.as_slice().iter().map(|SackBlock { left, right }| (left.0, right.0)).collect()
}
