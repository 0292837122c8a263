//! A UDP flow: packets of one size at a constant rate, or whenever the interface is free.

use lasthop_observe::{Collector, FlowId, Histogram, Observer, Record, Row};
use lasthop_units::{Bytes, Duration, Time};

use crate::description::UdpRate;
use crate::resolved::FlowSpec;

/// IPv4 and UDP headers. [RFC 791, RFC 768]
const HEADERS: u64 = 28;

/// A datagram: its number and when it left the application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    number: u64,
    sent_at: Time,
}

/// See the module.
pub(crate) struct UdpFlow {
    id: FlowId,
    packet: Bytes,
    interval: Option<Duration>,
    started: bool,
    /// Packets offered and not yet sent.
    backlog: u64,
    next_offer: Option<Time>,
    sent: u64,
    received: u64,
    highest: Option<u64>,
    late: u64,
    delays: Histogram,
    /// Smoothed difference of transit times, in seconds [RFC 3550 §6.4.1].
    jitter_s: f64,
    last_transit: Option<Duration>,
    end: Time,
}

impl UdpFlow {
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, duration: Duration) -> UdpFlow {
        let packet = spec.tcp.config.packet_size;
        let interval = match spec.section.rate {
            // The rate is that of the IP packets.
            Some(UdpRate::Constant(rate)) => Some(rate.time_for(packet)),
            Some(UdpRate::Saturated) | None => None,
        };
        UdpFlow {
            id,
            packet,
            interval,
            started: false,
            backlog: 0,
            next_offer: None,
            sent: 0,
            received: 0,
            highest: None,
            late: 0,
            delays: Histogram::default(),
            jitter_s: 0.0,
            last_transit: None,
            end: Time::ZERO + duration,
        }
    }

    pub(crate) fn is_saturated(&self) -> bool {
        self.interval.is_none()
    }

    pub(crate) fn packet_bytes(&self) -> u32 {
        self.packet.0 as u32
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.started = true;
        if self.interval.is_some() {
            self.application_offers(now);
        }
    }

    pub(crate) fn application_offers(&mut self, now: Time) {
        if let Some(interval) = self.interval {
            self.backlog += 1;
            self.next_offer = Some(now + interval).filter(|at| *at < self.end);
        }
    }

    pub(crate) fn application_at(&mut self) -> Option<Time> {
        self.next_offer.take()
    }

    pub(crate) fn poll(&mut self, now: Time, collector: &mut Collector) -> Option<Datagram> {
        if !self.started || (self.interval.is_some() && self.backlog == 0) {
            return None;
        }
        self.backlog = self.backlog.saturating_sub(1);
        self.sent += 1;
        collector.observe(now, Record::SegmentSent { flow: self.id, retransmission: false });
        Some(Datagram { number: self.sent, sent_at: now })
    }

    pub(crate) fn arrive(&mut self, now: Time, datagram: &Datagram, collector: &mut Collector) {
        self.received += 1;
        self.late += u64::from(self.highest.is_some_and(|highest| datagram.number < highest));
        self.highest = self.highest.max(Some(datagram.number));
        let transit = now.since(datagram.sent_at);
        self.delays.add(transit);
        if let Some(last) = self.last_transit {
            let difference = (transit.as_secs_f64() - last.as_secs_f64()).abs();
            self.jitter_s += (difference - self.jitter_s) / 16.0;
        }
        self.last_transit = Some(transit);
        collector.observe(now, Record::Delivered { flow: self.id, bytes: self.packet.0 - HEADERS });
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        if self.received <= self.sent {
            return Ok(());
        }
        Err(format!("flow {} received {} datagrams of {} sent", self.id.0, self.received, self.sent))
    }

    /// Loss, delay and jitter over the whole run.
    pub(crate) fn report(&self, row: &mut Row) {
        let lost = |sent: u64| (sent - self.received) as f64 / sent as f64;
        row.put("loss_fraction", (self.sent > 0).then(|| lost(self.sent)));
        row.put_count("reordered", self.late);
        row.put("delay_p50_s", self.delays.quantile_s(0.5));
        row.put("delay_p95_s", self.delays.quantile_s(0.95));
        row.put("jitter_s", self.last_transit.map(|_| self.jitter_s));
    }
}
