//! The application of a flow that only sends: when it writes, and how much.

use lasthop_engine::Stream;
use lasthop_units::{Bytes, DataRate, Duration, Time};

use crate::description::{QuicSection, UdpRate};
use crate::resolved::FlowSpec;
use crate::traffic::{
    Clock, Clocked, Offer, Source, TrafficKind, on_off::OnOff, ping::Steady, poisson::Poisson, trace::Trace,
    voip::Talker,
};

/// IPv4 and UDP headers. [RFC 791, RFC 768]
pub(super) const UDP_HEADERS: u32 = 28;

/// Bytes of a QUIC datagram that a write leaves to headers: of a short packet and a STREAM frame at most 35 B, a tag of
/// 16 B. [RFC 9000 §17.3, §19.8; RFC 9001 §5.3]
const ROOM_OF_HEADERS: u64 = 52;

/// The time at which a run begins to count, and its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub from: Time,
    pub end: Time,
}

/// An application that writes by itself, with the time of its next write.
pub(super) struct Application {
    source: Box<dyn Source>,
    started: Time,
    upcoming: Option<Offer>,
    /// The time of `upcoming`, until it has been read.
    wake: Option<Time>,
    end: Time,
}

impl Application {
    /// The application that `spec` describes, over UDP: sizes are those of IP packets. `None` for a saturated
    /// source.
    pub(super) fn over_udp(spec: &FlowSpec, seed: u64, span: Span) -> Option<Application> {
        let packet = spec.tcp.config.packet_size;
        Application::new(source(spec, seed, packet, UDP_HEADERS)?, span)
    }

    /// The application that `spec` describes, over TCP: sizes are those of writes. `None` where the flow itself
    /// decides its writes.
    pub(super) fn over_tcp(spec: &FlowSpec, seed: u64, span: Span) -> Option<Application> {
        if matches!(spec.section.traffic, TrafficKind::Bulk(_)) {
            return None;
        }
        let write = spec.section.size.unwrap_or(Bytes(u64::from(spec.tcp.config.payload_bytes())));
        Application::new(source(spec, seed, write, 0)?, span)
    }

    /// The application that `spec` describes, over QUIC: sizes are those of writes. `None` where the flow itself decides
    /// its writes.
    pub(super) fn over_quic(spec: &FlowSpec, quic: &QuicSection, seed: u64, span: Span) -> Option<Application> {
        let write = Bytes(quic.datagram.0 - ROOM_OF_HEADERS);
        Application::new(source(spec, seed, write, 0)?, span)
    }

    fn new(source: Box<dyn Source>, span: Span) -> Option<Application> {
        Some(Application { source, started: Time::ZERO, upcoming: None, wake: None, end: span.end })
    }

    /// The application starts.
    pub(super) fn start(&mut self, now: Time) {
        self.started = now;
        self.advance();
    }

    fn advance(&mut self) {
        self.upcoming = self.source.next();
        self.wake = self.upcoming_at();
    }

    fn upcoming_at(&self) -> Option<Time> {
        self.upcoming.map(|offer| self.started + offer.at).filter(|&at| at < self.end)
    }

    /// The next write due at `now`.
    pub(super) fn take_due(&mut self, now: Time) -> Option<u32> {
        self.upcoming_at().filter(|&at| at <= now)?;
        let bytes = self.upcoming.map(|offer| offer.bytes);
        self.advance();
        bytes
    }

    /// The time of its next write; returned once for each write.
    pub(super) fn wake_at(&mut self) -> Option<Time> {
        self.wake.take()
    }
}

/// A source of packets or writes of `unit`, each with `headers` in addition to the size in a trace.
fn source(spec: &FlowSpec, seed: u64, unit: Bytes, headers: u32) -> Option<Box<dyn Source>> {
    let draws = || Stream::named(seed, "application", &spec.stream);
    // Units above 4 GB are transfers, whose size the flow has.
    let bytes = u32::try_from(unit.0).unwrap_or(u32::MAX);
    let gap = |rate: DataRate| rate.time_for(unit);
    let rate = match spec.section.rate {
        Some(UdpRate::Constant(rate)) => Some(rate),
        Some(UdpRate::Saturated) | None => None,
    };
    let source: Box<dyn Source> = match &spec.section.traffic {
        TrafficKind::Bulk(_) => Box::new(Steady::new(bytes, gap(rate?))),
        TrafficKind::OnOff(params) => Box::new(OnOff::new(params.clone(), draws(), bytes, gap(rate?))),
        TrafficKind::Poisson(_) => Box::new(Poisson::new(draws(), bytes, gap(rate?))),
        TrafficKind::Voip(params) => Box::new(Talker::new(params.clone(), draws())),
        TrafficKind::Ping(params) => Box::new(Steady::new(params.payload.0 as u32 + headers, params.interval)),
        TrafficKind::Trace(_) => Box::new(WithHeaders { trace: Trace::new(spec.trace.clone()?), headers }),
        TrafficKind::Web(_) | TrafficKind::Video(_) => return None,
    };
    Some(match clock_of(spec, seed, unit) {
        Some(clock) => Box::new(Clocked::new(source, clock)),
        None => source,
    })
}

/// The clock of a flow that sends at equal intervals, in writes of `unit` if its traffic has no size of its own.
pub(super) fn clock_of(spec: &FlowSpec, seed: u64, unit: Bytes) -> Option<Clock> {
    let interval = match (&spec.section.traffic, spec.section.rate) {
        (TrafficKind::Voip(params), _) => params.packet_time,
        (TrafficKind::Ping(params), _) => params.interval,
        (_, Some(UdpRate::Constant(rate))) if spec.section.is_of_constant_rate() => rate.time_for(unit),
        _ => return None,
    };
    Some(Clock::of((spec.section.phase, spec.section.clock_error), interval, (seed, &spec.stream)))
}

/// A trace of payloads as packets.
struct WithHeaders {
    trace: Trace,
    headers: u32,
}

impl Source for WithHeaders {
    fn next(&mut self) -> Option<Offer> {
        let offer = self.trace.next()?;
        Some(Offer { bytes: offer.bytes + self.headers, ..offer })
    }
}

/// The shortest time for a sent packet to arrive before the run ends.
const GRACE: Duration = Duration::from_secs(1);

impl Span {
    /// A packet sent before this time that has not arrived is lost; one sent later may be in flight.
    pub(super) fn settled(&self) -> Time {
        let length = self.end.since(self.from);
        self.end - GRACE.min(length / 10)
    }
}
