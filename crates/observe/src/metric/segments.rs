//! Segments sent, retransmissions, timeouts.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Layout, Places, Record, Report, Transport};

crate::quantities! {
    /// Segments with payload that the sender of the data sent, retransmissions included; over UDP and QUIC
    /// datagrams, with QUIC's handshake and ACKs.
    SEGMENTS_SENT: Flow, u64, Summary => "segments_sent", Count, One, "segments sent";
    /// Segments with payload that were retransmitted.
    SEGMENTS_RETRANSMITTED: Flow, u64, Summary
        => "segments_retransmitted", Count, One, "segments retransmitted", only "TCP";
    /// Expiries of the retransmission timer.
    TIMEOUTS: Flow, u64, Summary => "timeouts", Count, One, "timeouts", only "TCP";
    /// ACKs that the sender found missing; 0 without `ack_loss`, which looks for them.
    ACK_LOSSES_DETECTED: Flow, u64, Summary => "ack_losses_detected", Count, One, "ACK losses detected", only "TCP";
}

#[derive(Clone, Debug, Default)]
struct Flow {
    tcp: bool,
    sent: u64,
    retransmitted: u64,
    timeouts: u64,
    acks_missing: u64,
}

/// Segments, retransmissions, timeouts and lost ACKs of each flow.
#[derive(Clone)]
pub struct Segments {
    flows: Vec<Flow>,
}

impl Metric for Segments {
    fn new(layout: &Layout) -> Self {
        let flows = layout.flows.iter().map(|&(t, _)| Flow { tcp: t == Transport::Tcp, ..Flow::default() });
        Segments { flows: flows.collect() }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        match *record {
            Record::SegmentSent { flow, retransmission } => {
                let flow = &mut self.flows[flow.index()];
                flow.sent += 1;
                flow.retransmitted += u64::from(retransmission);
            }
            Record::Timeout { flow } => self.flows[flow.index()].timeouts += 1,
            Record::AckLoss { flow, missing } => self.flows[flow.index()].acks_missing += missing,
            _ => {}
        }
    }

    fn start(&mut self, _: Time) {
        self.flows.iter_mut().for_each(|f| *f = Flow { tcp: f.tcp, ..Flow::default() });
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (flow, row) in self.flows.iter().zip(&mut report.flows) {
            row.put(SEGMENTS_SENT, flow.sent);
            row.put(SEGMENTS_RETRANSMITTED, flow.tcp.then_some(flow.retransmitted));
            row.put(TIMEOUTS, flow.tcp.then_some(flow.timeouts));
            row.put(ACK_LOSSES_DETECTED, flow.tcp.then_some(flow.acks_missing));
        }
    }
}
