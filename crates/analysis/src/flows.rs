//! Flows, from packets at the points of capture.

use std::collections::BTreeMap;

use lasthop_observe::detail::Detail;
use lasthop_observe::{FlowId, Histogram, Record};
use lasthop_units::{Duration, Time};
use lasthop_wire::tcp::TcpFlags;

use crate::events::Carrier;
use crate::frame::{Packet, Segment, Transport};
use crate::load::Load;
use crate::recording;
use crate::site::{Role, Site};
use crate::survey::connection_of;
use crate::tcp::{Connection, StallTally, Stream, Told, WindowTally};

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
        match &packet.transport {
            Transport::Udp { bytes } if is_data_way => {
                if file == role.near_sender && self.window.0 <= at && at < self.window.1 {
                    self.tallies[role.flow.index()].load.datagram(at, *bytes);
                }
                let is_echo = site.flows[role.flow.index()].is_echo;
                datagram(file, Some(*bytes).filter(|_| !is_echo), &role, |record| tell(at, record));
            }
            Transport::Udp { .. } => {}
            Transport::Tcp(segment) => {
                self.segment(at, file, segment, frame, (&role, is_data_way), site, &mut tell);
                return self.is_recorded.then(|| self.detail(file, segment, &role, is_data_way, site));
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

    #[expect(clippy::too_many_arguments, reason = "a segment, where and when it passes, and who is told")]
    fn segment(
        &mut self,
        at: Time,
        file: usize,
        segment: &Segment,
        frame: Carrier,
        (role, is_data_way): (&Role, bool),
        site: &Site,
        tell: &mut impl FnMut(Time, Record),
    ) {
        // The air sees only the first hop of an upload.
        let is_short_of_receiver =
            Some(file) == self.air && file == role.near_receiver && site.flows[role.flow.index()].up;
        let reading = self
            .readings
            .entry((file, role.number))
            .or_insert_with(|| Connection::short_of_receiver(is_short_of_receiver));
        let tally = &mut self.tallies[role.flow.index()];
        let sender_is_seen = site.flows[role.flow.index()].sender_is_seen;
        let is_measured = self.window.0 <= at && at < self.window.1;
        let near_sender = file == role.near_sender;
        // While their frames were on the air in vain, data were outstanding.
        let idle = if reading.flight == 0 {
            at.since(reading.since.max(self.window.0)).saturating_sub(frame.in_vain())
        } else {
            Duration::ZERO
        };
        if near_sender {
            let (since, until) = (reading.since.max(self.window.0), at.min(self.window.1));
            tally.flight += reading.flight as f64 * until.since(since).as_nanos() as f64;
            reading.since = at;
        }
        if is_measured && segment.flags.contains(TcpFlags::SYN) {
            tally.load.opens(at);
        }
        if Some(file) == self.air && is_measured {
            tally.load.over_the_air(at, segment, is_data_way == site.flows[role.flow.index()].up);
        }
        let (arrival, told) = reading.read(at, segment, frame.place, is_data_way);
        let mss = reading.streams[0].as_ref().map_or(0, |stream| stream.mss);
        reading.flight = reading.streams[0].as_ref().map_or(0, Stream::flight);
        if near_sender {
            let (ended, window) = reading.watch(at, segment, &arrival, &told, (is_data_way, frame.in_vain()));
            if is_measured {
                tally.stalls.add(&ended);
                window.into_iter().for_each(|window| tally.window.add(window));
                if let Some(before) = arrival.rtt_before {
                    tally.rtt_before.add(before);
                    tally.rtt_before_least = Some(tally.rtt_before_least.map_or(before, |least| least.min(before)));
                }
            }
        }
        tally.mss = tally.mss.max(mss);
        tally.has_timestamps |= segment.timestamps.is_some();
        if Some(file) == self.air && is_measured {
            tally.never_seen_bytes += told.never_seen;
        }
        let flow = role.flow;
        // Data in the other direction is acknowledged here, and its acknowledgement delivers no data of the flow.
        let receiver_is_seen = site.flows[role.flow.index()].receiver_is_seen;
        // A packet that passes here may be lost later: then the acknowledgements show which data arrived.
        let in_order = match (receiver_is_seen, is_data_way) {
            _ if is_short_of_receiver => 0,
            (true, true) => arrival.in_order,
            (true, false) => told.in_order,
            (false, true) => 0,
            (false, false) => told.acknowledged,
        };
        reading.arrivals_beyond(|when, bytes| tell(when, Record::Delivered { flow, bytes }));
        if in_order > 0 && file == role.near_receiver {
            tell(at, Record::Delivered { flow, bytes: in_order });
        }
        if is_data_way && segment.payload > 0 {
            if near_sender {
                tell(at, Record::SegmentSent { flow, retransmission: arrival.is_retransmission });
                if is_measured && !arrival.is_retransmission {
                    tally.load.data(at, segment.payload, idle);
                }
                tally.segments += u64::from(is_measured);
                tally.retransmissions += u64::from(is_measured && arrival.is_retransmission);
            }
            tally.out_of_order += u64::from(is_measured && file == role.near_receiver && arrival.is_out_of_order);
        }
        if !is_data_way && near_sender {
            if let Some(sample) = told.rtt.filter(|_| sender_is_seen) {
                tell(at, Record::Rtt { flow, sample, controller: None });
            }
            if is_measured {
                tally.count_ack(segment, &told);
            }
        }
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
