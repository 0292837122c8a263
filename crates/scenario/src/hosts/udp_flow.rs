//! A UDP flow: datagrams as an application offers them, or whenever the interface is free.

use std::collections::VecDeque;

use lasthop_observe::{FlowId, Observer, Record, Row, scope};
use lasthop_units::Time;

use super::Side;
use super::application::{Application, Span, UDP_HEADERS};
use super::reception::{LOSS, Reception};
use crate::resolved::FlowSpec;
use crate::traffic::{Call, TrafficKind};

lasthop_observe::quantities! {
    /// Packets that came too late to be played, over sent.
    LATE: Flow, f64, Summary => "late_fraction", Fraction, One, "late packets", only "voip";
    /// Packet time, look-ahead and mean playout delay.
    MOUTH_TO_EAR: Flow, f64, Summary => "mouth_to_ear_s", Mean, Delay, "mouth-to-ear delay", only "voip";
    /// Rating of the E-model, never below 0. [G.107]
    R_FACTOR: Flow, f64, Summary => "r_factor", Score, One, "R factor", only "voip";
    /// Mean opinion score that corresponds to the rating. [G.107]
    MOS: Flow, f64, Summary => "mos", Score, One, "MOS", only "voip";
}

/// A datagram: its number, the time at which the application wrote it, and its size as an IP
/// packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    pub(super) number: u64,
    pub(super) written_at: Time,
    pub(super) bytes: u32,
}

/// The source of datagrams.
enum Supply {
    /// there is always one of this many bytes
    Saturated(u32),
    /// the application writes, and its writes wait to be sent
    Offered(Application, VecDeque<(u32, Time)>),
}

/// The receiver's use of datagrams.
enum Receiver {
    /// counts them
    Sink,
    /// plays them
    Player(Box<Call>),
    /// sends them back
    Echo(VecDeque<Datagram>),
}

/// A flow of datagrams, with its sender and its receiver.
pub(crate) struct UdpFlow {
    id: FlowId,
    supply: Supply,
    receiver: Receiver,
    started: bool,
    reception: Reception,
}

impl UdpFlow {
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, seed: u64, span: Span) -> UdpFlow {
        let supply = match Application::over_udp(spec, seed, span) {
            Some(application) => Supply::Offered(application, VecDeque::new()),
            None => Supply::Saturated(spec.tcp.config.packet_size.0 as u32),
        };
        let receiver = match &spec.section.traffic {
            TrafficKind::Voip(params) => Receiver::Player(Box::new(Call::new(params.clone()))),
            TrafficKind::Ping(_) => Receiver::Echo(VecDeque::new()),
            _ => Receiver::Sink,
        };
        UdpFlow { id, supply, receiver, started: false, reception: Reception::new(span) }
    }

    pub(crate) fn is_saturated(&self) -> bool {
        matches!(self.supply, Supply::Saturated(_))
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.started = true;
        if let Supply::Offered(application, _) = &mut self.supply {
            application.start(now);
        }
        self.application_offers(now);
    }

    pub(crate) fn application_offers(&mut self, now: Time) {
        if let Supply::Offered(application, backlog) = &mut self.supply {
            while let Some(bytes) = application.take_due(now) {
                backlog.push_back((bytes, now));
            }
        }
    }

    pub(crate) fn application_at(&mut self) -> Option<Time> {
        match &mut self.supply {
            Supply::Offered(application, _) => application.wake_at(),
            Supply::Saturated(_) => None,
        }
    }

    /// The next datagram of the sender.
    pub(crate) fn poll(&mut self, now: Time, observer: &mut impl Observer) -> Option<Datagram> {
        let (bytes, written_at) = match &mut self.supply {
            Supply::Saturated(bytes) => self.started.then_some((*bytes, now))?,
            Supply::Offered(_, backlog) => backlog.pop_front()?,
        };
        let number = self.reception.on_sent(now);
        observer.observe(now, Record::SegmentSent { flow: self.id, retransmission: false });
        Some(Datagram { number, written_at, bytes })
    }

    /// The next answer of the receiver.
    pub(crate) fn poll_answer(&mut self) -> Option<Datagram> {
        match &mut self.receiver {
            Receiver::Echo(answers) => answers.pop_front(),
            Receiver::Sink | Receiver::Player(_) => None,
        }
    }

    pub(crate) fn arrive(&mut self, now: Time, side: Side, datagram: &Datagram, observer: &mut impl Observer) {
        let flow = self.id;
        let taken = now.since(datagram.written_at);
        match (&mut self.receiver, side) {
            (Receiver::Echo(answers), Side::Receiver) => answers.push_back(*datagram),
            (Receiver::Echo(_), Side::Sender) => {
                self.reception.on_arrival(datagram.number, taken);
                observer.observe(now, Record::Rtt { flow, sample: taken, controller: None });
            }
            (receiver, _) => {
                let counts = self.reception.on_arrival(datagram.number, taken);
                if let Receiver::Player(call) = receiver {
                    call.on_packet(datagram.number, taken, counts);
                }
                observer.observe(now, Record::Delivered { flow, bytes: u64::from(datagram.bytes - UDP_HEADERS) });
            }
        }
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        self.reception.check_conservation(self.id.0)
    }

    /// Reports the metrics of such flows.
    pub(crate) fn report(&self, row: &mut Row<scope::Flow>) {
        match &self.receiver {
            Receiver::Echo(_) => row.put(LOSS, self.reception.loss_fraction()),
            Receiver::Sink => self.reception.report(row),
            Receiver::Player(call) => {
                self.reception.report(row);
                let heard = call.report(self.reception.expected());
                row.put(LATE, heard.map(|h| h.late_fraction));
                row.put(MOUTH_TO_EAR, heard.and_then(|h| h.mouth_to_ear_s));
                row.put(R_FACTOR, heard.and_then(|h| h.r_factor));
                row.put(MOS, heard.and_then(|h| h.mos));
            }
        }
    }
}
