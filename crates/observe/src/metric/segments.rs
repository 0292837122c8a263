//! Segments sent, retransmissions, timeouts.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Layout, Record, Report, Transport};

#[derive(Clone, Debug, Default)]
struct Flow {
    tcp: bool,
    sent: u64,
    retransmitted: u64,
    timeouts: u64,
    acks_missing: u64,
}

/// See the module.
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

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (flow, row) in self.flows.iter().zip(&mut report.flows) {
            row.put_count("segments_sent", flow.sent);
            row.put_count("segments_retransmitted", flow.tcp.then_some(flow.retransmitted));
            row.put_count("timeouts", flow.tcp.then_some(flow.timeouts));
            row.put_count("ack_losses_detected", flow.tcp.then_some(flow.acks_missing));
        }
    }
}
