//! A call, one direction of it: a codec's frames in RTP over UDP, as D-ITG and Flent's `voip` tests send them.
//!
//! Frames come at equal intervals. Speech is continuous, as in Flent, or comes in talk spurts [P.59 §1.2] with
//! exponential lengths: 1.004 s of speech, 1.587 s of pause. Both directions of a call are drawn independently,
//! which leaves out P.59's states of mutual silence and double talk; echo and room noise are left out too. The
//! receiver is in `playout`, the quality in `e_model`.

use lasthop_engine::Stream;
use lasthop_registry::{ParamError, Parameter, Shape, Value, params, refuse, words};
use lasthop_units::Duration;

use super::distribution::exponential;
use super::source::{Offer, Source};

/// IPv4, UDP and RTP headers. [RFC 791, RFC 768, RFC 3550 §5.1]
const HEADERS: u32 = 20 + 8 + 12;
/// Mean length of a talk spurt. [P.59 §1.2]
const SPURT: Duration = Duration::from_millis(1004);
/// Mean length of a pause. [P.59 §1.2]
const PAUSE: Duration = Duration::from_millis(1587);

words! {
    /// The codec of speech.
    pub enum Codec {
        /// 64 kbit/s
        G711 = "g711",
        /// 8 kbit/s
        G729 = "g729",
        /// 24 kbit/s, a usual setting for wideband speech
        Opus = "opus",
    }
}

impl Codec {
    /// Bytes of one frame of 20 ms.
    fn frame_bytes(self) -> u32 {
        match self {
            Codec::G711 => 160,
            Codec::G729 => 20,
            Codec::Opus => 60,
        }
    }
    /// Speech that the coder needs beyond its frame. [G.729 §2.1: 5 ms; RFC 6716 §2: 6.5 ms by default]
    fn lookahead(self) -> Duration {
        match self {
            Codec::G711 => Duration::ZERO,
            Codec::G729 => Duration::from_millis(5),
            Codec::Opus => Duration::from_micros(6500),
        }
    }
    /// Equipment impairment and robustness against loss, for codecs of G.113: G.711 with the concealment of its
    /// Appendix I, G.729 as G.729A. [G.113 Tables I.2, I.4]
    fn impairment(self) -> Option<(f64, f64)> {
        match self {
            Codec::G711 => Some((0.0, 25.1)),
            Codec::G729 => Some((11.0, 19.0)),
            Codec::Opus => None,
        }
    }
}

words! {
    /// The periods of speech.
    pub enum Speech {
        /// all the time
        Continuous = "continuous",
        /// in talk spurts
        P59 = "p59",
    }
}

/// The time for which a packet waits to be played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JitterBuffer {
    /// follows past delays
    Adaptive,
    /// a fixed time beyond the delay of the first packet
    Fixed(Duration),
}

impl Parameter for JitterBuffer {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["adaptive".into()]), Duration::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        if matches!(value, Value::Text(word) if word == "adaptive") {
            return Ok(JitterBuffer::Adaptive);
        }
        let fixed = Duration::parse(value, path).map_err(|error| error.or(", or \"adaptive\""))?;
        Ok(JitterBuffer::Fixed(fixed))
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            JitterBuffer::Adaptive => Some(Value::text("adaptive")),
            JitterBuffer::Fixed(time) => time.to_value(),
        }
    }
}

params! {
    /// Parameters of `voip`.
    pub struct Params {
        /// "g711", "g729" or "opus".
        pub codec: Codec = Codec::G711,
        /// Length of speech in a packet: a multiple of 20 ms.
        pub packet_time: Duration = Duration::from_millis(20),
        /// "continuous", or "p59" for talk spurts. [P.59]
        pub speech: Speech = Speech::Continuous,
        /// Playout delay of a packet: "adaptive", or a fixed time beyond the delay of the first one.
        pub jitter_buffer: JitterBuffer = JitterBuffer::Adaptive,
        /// Equipment impairment factor of the codec, in place of G.113's. [G.107 §7.5]
        pub ie: Option<f64> = None,
        /// Packet-loss robustness factor of the codec, in place of G.113's. [G.107 §7.5]
        pub bpl: Option<f64> = None,
    }
    check |this, path| {
        let frame = FRAME.as_nanos();
        if !this.packet_time.as_nanos().is_multiple_of(frame) || !(1..=6).contains(&(this.packet_time.as_nanos() / frame)) {
            return refuse(path, "packet_time", "a packet holds whole frames: 20, 40, 60, 80, 100 or 120 ms");
        }
        if this.ie.is_some_and(|ie| !(0.0..=95.0).contains(&ie)) {
            return refuse(path, "ie", "from 0 to 95");
        }
        if this.bpl.is_some_and(|bpl| !(bpl > 0.0 && bpl <= 1000.0)) {
            return refuse(path, "bpl", "above 0, to 1000");
        }
        if this.ie.is_some() != this.bpl.is_some() {
            return refuse(path, if this.ie.is_some() { "ie" } else { "bpl" }, ("`ie` and `bpl` belong together", "give both, or neither"));
        }
        Ok(())
    }
}

/// Length of speech in a frame.
const FRAME: Duration = Duration::from_millis(20);

impl Params {
    /// Size of its IP packets.
    pub(crate) fn packet_bytes(&self) -> u32 {
        let frames = self.packet_time.div_floor(FRAME) as u32;
        self.codec.frame_bytes() * frames + HEADERS
    }
    /// The delay from the mouth to the first byte on the wire: the speech of a packet and the coder's lookahead.
    pub(crate) fn coding_delay(&self) -> Duration {
        self.packet_time + self.codec.lookahead()
    }
    /// Ie and Bpl, if they are known.
    pub(crate) fn impairment(&self) -> Option<(f64, f64)> {
        self.ie.zip(self.bpl).or_else(|| self.codec.impairment())
    }
}

/// The packets of one direction.
pub(crate) struct Talker {
    params: Params,
    draws: Stream,
    next: Duration,
    spurt_ends: Option<Duration>,
}

impl Talker {
    /// A talker whose first spurt begins at once.
    pub(crate) fn new(params: Params, mut draws: Stream) -> Talker {
        let spurt_ends = (params.speech == Speech::P59).then(|| exponential(&mut draws, SPURT));
        Talker { params, draws, next: Duration::ZERO, spurt_ends }
    }
}

impl Source for Talker {
    fn next(&mut self) -> Option<Offer> {
        while let Some(ends) = self.spurt_ends.filter(|&ends| self.next >= ends) {
            let starts = ends + exponential(&mut self.draws, PAUSE);
            self.spurt_ends = Some(starts + exponential(&mut self.draws, SPURT));
            self.next = starts;
        }
        let offer = Offer { at: self.next, bytes: self.params.packet_bytes() };
        self.next += self.params.packet_time;
        Some(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{offers, rate_bps};
    use super::*;

    fn talker(params: Params) -> Talker {
        Talker::new(params, Stream::new(1, "test", 0))
    }

    #[test]
    fn a_g711_call_is_80_kbit_a_second_with_its_headers() {
        // 50 packets a second of 160 + 40 B.
        assert_eq!(rate_bps(&mut talker(Params::default()), 10), 80_000.0);
        // 25 of 2 x 20 + 40 B.
        let g729 = Params { codec: Codec::G729, packet_time: Duration::from_millis(40), ..Params::default() };
        assert_eq!(rate_bps(&mut talker(g729), 10), 16_000.0);
    }

    #[test]
    fn talk_spurts_take_their_share_of_the_time() {
        // A spurt of mean 1.004 s begins with a packet and has 1/(1 - e^(-20/1004)) = 50.7 packets on average, in
        // 2.591 s: 19.57 a second. 3860 cycles deviate by sqrt(2)/62, about 2 %.
        let params = Params { speech: Speech::P59, ..Params::default() };
        let packets = offers(&mut talker(params), 10_000).len() as f64 / 1e4;
        assert!((packets / 19.57 - 1.0).abs() < 0.05, "{packets}");
    }
}
