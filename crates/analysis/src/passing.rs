//! A segment at a point of capture: its place between the ends of its flow, the findings about it, and the records of them.

use lasthop_observe::{FlowId, Record};
use lasthop_units::{Duration, Time};

use crate::dialogue::{Point, Role};
use crate::events::Carrier;
use crate::packet::Segment;
use crate::site::Flow;
use crate::tcp::{Advertised, Arrival, Connection, Ended, Told};

/// A segment at a point of capture.
pub(crate) struct Passing<'a> {
    pub at: Time,
    pub segment: &'a Segment,
    pub frame: Carrier,
    pub role: &'a Role,
    pub flow: &'a Flow,
    pub is_data_way: bool,
    pub point: Point,
    /// it passes within the window of measurement
    pub is_measured: bool,
}

/// The findings about a segment.
pub(crate) struct Findings {
    pub arrival: Arrival,
    pub told: Told,
    /// the stall that it ends, at the sender
    pub ended: Ended,
    /// the window that it advertises, at the sender
    pub window: Option<Advertised>,
    /// time without data in flight before it
    pub idle: Duration,
    /// bytes in flight before it, times nanoseconds, at the sender
    pub flight: f64,
}

impl Passing<'_> {
    pub(crate) fn is_near_sender(&self) -> bool {
        self.point == self.role.near_sender
    }

    pub(crate) fn is_near_receiver(&self) -> bool {
        self.point == self.role.near_receiver
    }

    /// Whether data may be lost between the point of capture and the receiver: the air has only the first hop of an
    /// upload.
    pub(crate) fn is_short_of_receiver(&self) -> bool {
        self.point.is_air && self.is_near_receiver() && self.flow.up
    }

    pub(crate) fn has_data(&self) -> bool {
        self.is_data_way && self.segment.payload > 0
    }

    /// Reads the segment; `window` is the time of measurement.
    pub(crate) fn read(&self, connection: &mut Connection, window: (Time, Time)) -> Findings {
        let in_vain = self.frame.in_vain();
        // While their frames were on the air in vain, data were outstanding.
        let idle = connection.idle_until(self.at, window.0).saturating_sub(in_vain);
        let flight = if self.is_near_sender() { connection.take_flight(self.at, window) } else { 0.0 };
        let (arrival, told) = connection.read(self.at, self.segment, self.frame.novelty, self.is_data_way);
        let (ended, advertised) = if self.is_near_sender() {
            connection.watch(self.at, self.segment, &arrival, &told, (self.is_data_way, in_vain))
        } else {
            (Ended::default(), None)
        };
        Findings { arrival, told, ended, window: advertised, idle, flight }
    }

    /// Calls `tell` with the records of the segment.
    pub(crate) fn report(&self, findings: &Findings, mut tell: impl FnMut(Record)) {
        let flow: FlowId = self.role.flow;
        let bytes = self.delivered(findings);
        if bytes > 0 && self.is_near_receiver() {
            tell(Record::Delivered { flow, bytes });
        }
        if self.has_data() && self.is_near_sender() {
            tell(Record::SegmentSent { flow, retransmission: findings.arrival.is_retransmission });
        }
        if !self.is_data_way
            && self.is_near_sender()
            && self.flow.sender_is_seen
            && let Some(sample) = findings.told.rtt
        {
            tell(Record::Rtt { flow, sample, controller: None });
        }
    }

    /// Bytes of the flow that have become in order at the receiver.
    ///
    /// Data in the other direction is acknowledged here, and its acknowledgement delivers no data of the flow. A packet
    /// that passes here may be lost later: then the acknowledgements show which data arrived.
    fn delivered(&self, findings: &Findings) -> u64 {
        match (self.flow.receiver_is_seen, self.is_data_way) {
            _ if self.is_short_of_receiver() => 0,
            (true, true) => findings.arrival.in_order,
            (true, false) => findings.told.in_order,
            (false, true) => 0,
            (false, false) => findings.told.acknowledged,
        }
    }
}
