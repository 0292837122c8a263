//! Flows, from packets at the points of capture.

use std::collections::BTreeMap;

use lasthop_observe::detail::Detail;
use lasthop_observe::{FlowId, Histogram, Record};
use lasthop_units::{Duration, Time};
use lasthop_wire::tcp::TcpFlags;

use crate::events::Carrier;
use crate::load::Load;
use crate::packet::{Packet, Segment, Transport};
use crate::passing::{Findings, Passing};
use crate::recording;
use crate::site::{Role, Site};
use crate::survey::connection_of;
use crate::tcp::{Connection, StallTally, Told, WindowTally};

/// Counts of a flow besides the metrics.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowTally {
    /// RTT from the point of capture to the receiver and back
    pub rtt_beyond: Histogram,
    /// from the packet that a segment echoes to the segment's acknowledgement: the RTT, plus the sender's time without
    /// data
    pub rtt_by_timestamps: Histogram,
    /// from the point of capture to the sender and back: from a packet that passes towards the sender to a segment
    /// that echoes it
    pub rtt_before: Histogram,
    pub rtt_before_least: Option<Duration>,
    /// segments with data, and the retransmissions among them
    pub segments: u64,
    pub retransmissions: u64,
    pub acks: u64,
    /// acknowledgements of more than two segments
    pub ack_jumps: u64,
    pub duplicate_acks: u64,
    /// D-SACKs: spurious retransmissions
    pub spurious: u64,
    /// the same, as shown by time stamps
    pub spurious_by_timestamps: u64,
    /// the receiver's advertised windows
    pub window: WindowTally,
    pub stalls: StallTally,
    pub out_of_order: u64,
    /// bytes that were acknowledged but never seen
    pub never_seen_bytes: u64,
    pub mss: u32,
    /// its segments have time stamps
    pub has_timestamps: bool,
    /// integral of the flight in bytes times nanoseconds
    pub flight: f64,
    pub load: Load,
}

/// All flows.
pub(crate) struct Flows {
    readings: BTreeMap<(usize, usize), Connection>,
    pub tallies: Vec<FlowTally>,
    window: (Time, Time),
    air: Option<usize>,
    is_recorded: bool,
    /// packets of each flow and direction that passed the point of capture of each file
    passed: BTreeMap<(usize, FlowId, bool), u32>,
}

impl Flows {
    pub(crate) fn new(site: &Site, window: (Time, Time), is_recorded: bool) -> Flows {
        let tallies = vec![FlowTally::default(); site.flows.len()];
        Flows { readings: BTreeMap::new(), tallies, window, air: site.air, is_recorded, passed: BTreeMap::new() }
    }

    /// Handles a packet at the point of capture of `file`; `tell` receives records for observers with their times, of which
    /// only that of a delivery may be earlier.
    pub(crate) fn pass(
        &mut self,
        at: Time,
        file: usize,
        packet: &Packet,
        frame: Carrier,
        site: &Site,
        mut tell: impl FnMut(Time, Record),
    ) -> Option<Detail> {
        let (connection, is_first_way) = connection_of(packet);
        let &role = site.roles.get(&connection)?;
        let is_data_way = is_first_way == role.is_first_way;
        let is_measured = self.window.0 <= at && at < self.window.1;
        match &packet.transport {
            Transport::Udp { bytes } if is_data_way => {
                if file == role.near_sender && is_measured {
                    self.tallies[role.flow.index()].load.datagram(at, *bytes);
                }
                let is_echo = site.flows[role.flow.index()].is_echo;
                datagram(file, Some(*bytes).filter(|_| !is_echo), &role, |record| tell(at, record));
            }
            Transport::Udp { .. } => {}
            Transport::Tcp(segment) => {
                let (flow, is_on_air) = (&site.flows[role.flow.index()], Some(file) == self.air);
                let role = &role;
                self.segment(
                    &Passing { at, segment, frame, role, flow, is_data_way, file, is_on_air, is_measured },
                    &mut tell,
                );
                return self.is_recorded.then(|| self.detail(file, segment, role, is_data_way, site));
            }
        }
        None
    }

    /// A segment in the form of recordings.
    fn detail(&mut self, file: usize, segment: &Segment, role: &Role, is_data_way: bool, site: &Site) -> Detail {
        let is_up = site.flows[role.flow.index()].up == is_data_way;
        let packet = self.passed.entry((file, role.flow, is_up)).or_default();
        *packet = packet.wrapping_add(1);
        recording::passes(role.flow, role.place, segment, (Some(file) == self.air, is_up), *packet)
    }

    fn segment(&mut self, passing: &Passing, mut tell: impl FnMut(Time, Record)) {
        let key = (passing.file, passing.role.number);
        let short_of_receiver = || Connection::short_of_receiver(passing.is_short_of_receiver());
        let connection = self.readings.entry(key).or_insert_with(short_of_receiver);
        let flow = passing.role.flow;
        let findings = passing.read(connection, self.window);
        self.tallies[flow.index()].count(passing, &findings, connection.mss());
        connection.arrivals_beyond(|when, bytes| tell(when, Record::Delivered { flow, bytes }));
        passing.report(&findings, |record| tell(passing.at, record));
    }

    /// Ends all connections; `tell` receives deliveries with their times.
    pub(crate) fn end(&mut self, site: &Site, mut tell: impl FnMut(Time, Record)) {
        let flow_of: BTreeMap<usize, FlowId> = site.roles.values().map(|role| (role.number, role.flow)).collect();
        for ((_, number), reading) in &mut self.readings {
            let flow = flow_of[number];
            reading.end();
            reading.arrivals_beyond(|when, bytes| tell(when, Record::Delivered { flow, bytes }));
        }
    }
}

impl FlowTally {
    /// Counts a segment; `mss` is the MSS of its flow as far as known.
    fn count(&mut self, passing: &Passing, findings: &Findings, mss: u32) {
        self.flight += findings.flight;
        self.mss = self.mss.max(mss);
        self.has_timestamps |= passing.segment.timestamps.is_some();
        if !passing.is_measured {
            return;
        }
        if passing.segment.flags.contains(TcpFlags::SYN) {
            self.load.opens(passing.at);
        }
        if passing.is_on_air {
            self.load.over_the_air(passing.at, passing.segment, passing.is_data_way == passing.flow.up);
            self.never_seen_bytes += findings.told.never_seen;
        }
        if passing.is_near_sender() {
            self.count_at_sender(passing, findings);
        }
        self.out_of_order +=
            u64::from(passing.has_data() && passing.is_near_receiver() && findings.arrival.is_out_of_order);
    }

    fn count_at_sender(&mut self, passing: &Passing, findings: &Findings) {
        self.stalls.add(&findings.ended);
        findings.window.into_iter().for_each(|window| self.window.add(window));
        if let Some(before) = findings.arrival.rtt_before {
            self.rtt_before.add(before);
            self.rtt_before_least = Some(self.rtt_before_least.map_or(before, |least| least.min(before)));
        }
        if passing.has_data() {
            self.count_data(passing, findings);
        }
        if !passing.is_data_way {
            self.count_ack(passing.segment, &findings.told);
        }
    }

    fn count_data(&mut self, passing: &Passing, findings: &Findings) {
        let is_retransmission = findings.arrival.is_retransmission;
        if !is_retransmission {
            self.load.data(passing.at, passing.segment.payload, findings.idle);
        }
        self.segments += 1;
        self.retransmissions += u64::from(is_retransmission);
    }

    fn count_ack(&mut self, segment: &Segment, told: &Told) {
        if let Some(rtt) = told.rtt {
            self.rtt_beyond.add(rtt);
        }
        if let Some(rtt) = told.rtt_of_sender {
            self.rtt_by_timestamps.add(rtt);
        }
        self.acks += u64::from(segment.flags.contains(TcpFlags::ACK) && segment.payload == 0);
        self.ack_jumps += u64::from(told.is_jump);
        self.duplicate_acks += u64::from(told.is_duplicate);
        self.spurious += u64::from(told.is_dsack);
        self.spurious_by_timestamps += told.spurious;
    }
}

/// Handles a datagram; an echo delivers nothing.
fn datagram(file: usize, bytes: Option<u32>, role: &Role, mut tell: impl FnMut(Record)) {
    let flow = role.flow;
    if file == role.near_sender {
        tell(Record::SegmentSent { flow, retransmission: false });
    }
    if let Some(bytes) = bytes.filter(|_| file == role.near_receiver) {
        tell(Record::Delivered { flow, bytes: bytes.into() });
    }
}

/// hashimoto2016's load: a flight in segments as packets of 1500 bytes, over an RTT, in bit/s.
pub(crate) fn load_bps(flight_segments: f64, rtt: Duration) -> Option<f64> {
    (rtt > Duration::ZERO).then(|| flight_segments * 1500.0 * 8.0 / rtt.as_secs_f64())
}
