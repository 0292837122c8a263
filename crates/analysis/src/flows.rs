//! Flows, from packets at the points of capture.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use lasthop_observe::detail::Detail;
use lasthop_observe::{FlowId, Histogram, Record};
use lasthop_units::{Duration, Time};
use lasthop_wire::Quic;
use lasthop_wire::tcp::TcpFlags;

use crate::bounds::{Bounds, Kept};
use crate::count::{Count, Counted, Counts};
use crate::dialogue::{Dialogue, Point, connection_of};
use crate::echo::{Content, Echo, Requests};
use crate::events::Carrier;
use crate::load::Load;
use crate::packet::{Packet, Segment, Transport};
use crate::passing::{Findings, Passing};
use crate::quic::{QuicConnection, QuicTally};
use crate::recording;
use crate::site::Site;
use crate::tcp::{Arrival, Connection, StallTally, Told, WindowTally};

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
    /// packets of its direction
    pub count: Count,
    /// those of QUIC, if its datagrams are
    pub quic: Option<QuicTally>,
    /// of datagrams that come back
    pub requests: u64,
    pub requests_answered: u64,
}

/// All flows.
pub(crate) struct Flows {
    /// by point, number of the connection, and way of the data
    readings: BTreeMap<(Point, usize, usize), Connection>,
    pub tallies: Vec<FlowTally>,
    /// packets of all connections, also of those without data
    pub counts: Counts,
    /// by number of the connection: those that may be QUIC
    quic: BTreeMap<usize, QuicConnection>,
    /// by number of the connection: requests that await their echo
    echoes: BTreeMap<usize, Requests>,
    pub bounds: Bounds,
    window: (Time, Time),
    is_recorded: bool,
    /// packets of each flow and direction that passed each point of capture
    passed: BTreeMap<(Point, FlowId, bool), u32>,
}

/// A packet of a connection at a point of capture.
struct Passes<'a> {
    at: Time,
    point: Point,
    frame: Carrier,
    dialogue: &'a Dialogue,
    way: usize,
    is_measured: bool,
}

impl Passes<'_> {
    /// Whether counts have it: at the point nearest to its sender.
    fn is_counted(&self) -> bool {
        self.is_measured && self.point == self.dialogue.counted_at[self.way]
    }
}

impl Flows {
    pub(crate) fn new(site: &Site, window: (Time, Time), is_recorded: bool, bounds: Bounds) -> Flows {
        let tallies = vec![FlowTally::default(); site.flows.len()];
        Flows {
            readings: BTreeMap::new(),
            tallies,
            counts: Counts::default(),
            quic: BTreeMap::new(),
            echoes: BTreeMap::new(),
            bounds,
            window,
            is_recorded,
            passed: BTreeMap::new(),
        }
    }

    /// Handles a packet at a point of capture; `tell` receives records for observers with their times, of which only
    /// a delivery's may be earlier.
    pub(crate) fn pass(
        &mut self,
        at: Time,
        point: Point,
        packet: &Packet,
        frame: Carrier,
        site: &Site,
        mut tell: impl FnMut(Time, Record),
    ) -> Option<Detail> {
        let (connection, is_first_way) = connection_of(packet);
        let dialogue = site.dialogues.get(&connection)?;
        let is_measured = self.window.0 <= at && at < self.window.1;
        let passes = Passes { at, point, frame, dialogue, way: usize::from(!is_first_way), is_measured };
        let (counted, detail) = match &packet.transport {
            Transport::Udp { content, quic } => {
                let bytes = content.bytes();
                if let Some(echo) = dialogue.echo {
                    self.echo(&passes, (*content, echo), site, &mut tell);
                } else {
                    self.datagram(&passes, bytes, &mut tell);
                }
                self.watch_quic(&passes, quic.as_ref(), [packet.from.1, packet.to.1]);
                (Counted { bytes, ..Counted::default() }, None)
            }
            Transport::Tcp(segment) => {
                let arrival = self.segment(&passes, segment, site, &mut tell);
                let Arrival { is_retransmission, is_repeated, .. } = arrival;
                (
                    Counted { bytes: segment.payload, is_retransmission, is_repeated },
                    self.detail(&passes, segment, site),
                )
            }
        };
        self.count(&passes, connection.2, counted);
        detail
    }

    /// Counts a packet at the point nearest to its sender.
    fn count(&mut self, passes: &Passes<'_>, is_tcp: bool, counted: Counted) {
        let &Passes { dialogue, way, .. } = passes;
        if passes.is_counted() {
            self.counts.add(is_tcp, dialogue.is_up(way), counted);
            if let Some(role) = dialogue.roles[way] {
                self.tallies[role.flow.index()].count.add(counted);
            }
        }
    }

    /// Counts the packets of a datagram, if its connection may be QUIC.
    fn watch_quic(&mut self, passes: &Passes<'_>, quic: Option<&Quic>, ports: [u16; 2]) {
        let &Passes { at, dialogue, way, .. } = passes;
        let kept = self.quic.len();
        if !passes.is_counted() {
            return;
        }
        let connection = match self.quic.entry(dialogue.number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if !quic.is_some_and(|quic| QuicConnection::may_begin(quic, ports)) => return,
            Entry::Vacant(_) if !self.bounds.admits(Kept::QuicConnections, kept) => return,
            Entry::Vacant(place) => place.insert(QuicConnection::default()),
        };
        connection.pass(at, way, quic, &mut self.bounds);
    }

    /// Adds the connections of QUIC to their flows.
    fn end_quic(&mut self, site: &Site) {
        for (connection, dialogue) in &site.dialogues {
            let Some(quic) = self.quic.get(&dialogue.number).filter(|quic| quic.is_quic()) else { continue };
            for role in dialogue.roles.iter().flatten() {
                let tally = self.tallies[role.flow.index()].quic.get_or_insert_default();
                tally.add(&quic.ways[role.way], quic.spins());
                tally.ids.extend(site.initial_ids.get(connection).into_iter().flatten().cloned());
            }
        }
    }

    fn datagram(&mut self, passes: &Passes<'_>, bytes: u32, mut tell: impl FnMut(Time, Record)) {
        let Some(role) = &passes.dialogue.roles[passes.way] else { return };
        let (flow, at) = (role.flow, passes.at);
        if passes.point == role.near_sender {
            tell(at, Record::SegmentSent { flow, retransmission: false });
            if passes.is_measured {
                self.tallies[flow.index()].load.datagram(at, bytes);
            }
        }
        if passes.point == role.near_receiver {
            tell(at, Record::Delivered { flow, bytes: bytes.into() });
        }
    }

    /// A request or its answer at the point nearest to the sender of requests; both deliver nothing.
    fn echo(
        &mut self,
        passes: &Passes<'_>,
        (content, echo): (Content, Echo),
        site: &Site,
        mut tell: impl FnMut(Time, Record),
    ) {
        let &Passes { at, dialogue, is_measured, .. } = passes;
        let Some(role) = dialogue.roles[dialogue.main].filter(|role| role.near_sender == passes.point) else { return };
        let (flow, at_ns) = (role.flow, at.as_nanos() as i64);
        let requests = self.echoes.entry(dialogue.number).or_default();
        let tally = &mut self.tallies[flow.index()];
        if passes.way == role.way {
            requests.sent(at_ns, content);
            tell(at, Record::SegmentSent { flow, retransmission: false });
            if is_measured {
                tally.load.datagram(at, content.bytes());
                tally.requests += 1;
            }
        } else if let Some((took_ns, _)) = requests.answered(at_ns, content).filter(|_| is_measured) {
            tally.requests_answered += 1;
            if !echo.has_round_trips {
                return;
            }
            let sample = Duration::from_nanos(took_ns.max(0) as u64);
            tally.rtt_beyond.add(sample);
            if site.flows[flow.index()].sender_is_seen {
                tell(at, Record::Rtt { flow, sample, controller: None });
            }
        }
    }

    /// A segment in the form of recordings.
    fn detail(&mut self, passes: &Passes<'_>, segment: &Segment, site: &Site) -> Option<Detail> {
        let &Passes { point, dialogue, way, .. } = passes;
        let role = dialogue.roles[dialogue.main].filter(|_| self.is_recorded)?;
        let is_up = site.flows[role.flow.index()].up == (way == role.way);
        let packet = self.passed.entry((point, role.flow, is_up)).or_default();
        *packet = packet.wrapping_add(1);
        Some(recording::passes(role.flow, role.place, segment, (point.is_air, is_up), *packet))
    }

    /// Reads a segment as data of one flow and as acknowledgement of the other, as far as they exist.
    fn segment(
        &mut self,
        passes: &Passes<'_>,
        segment: &Segment,
        site: &Site,
        mut tell: impl FnMut(Time, Record),
    ) -> Arrival {
        let &Passes { at, point, frame, dialogue, way, is_measured } = passes;
        let mut arrival = None;
        for role in dialogue.roles.iter().flatten() {
            let (flow, is_data_way) = (&site.flows[role.flow.index()], role.way == way);
            let passing = Passing { at, segment, frame, role, flow, is_data_way, point, is_measured };
            arrival = Some(self.passing(&passing, dialogue.number, &mut tell));
        }
        arrival.unwrap_or_else(|| {
            let connection = self.readings.entry((point, dialogue.number, 0)).or_default();
            connection.read(at, segment, frame.novelty, way == 0).0
        })
    }

    fn passing(&mut self, passing: &Passing, number: usize, mut tell: impl FnMut(Time, Record)) -> Arrival {
        let key = (passing.point, number, passing.role.way);
        let short_of_receiver = || Connection::short_of_receiver(passing.is_short_of_receiver());
        let connection = self.readings.entry(key).or_insert_with(short_of_receiver);
        let flow = passing.role.flow;
        let findings = passing.read(connection, self.window);
        self.tallies[flow.index()].count(passing, &findings, connection.mss());
        connection.arrivals_beyond(|when, bytes| tell(when, Record::Delivered { flow, bytes }));
        passing.report(&findings, |record| tell(passing.at, record));
        findings.arrival
    }

    /// Ends all connections; `tell` receives deliveries with their times.
    pub(crate) fn end(&mut self, site: &Site, mut tell: impl FnMut(Time, Record)) {
        self.end_quic(site);
        let roles = site
            .dialogues
            .values()
            .flat_map(|dialogue| dialogue.roles.iter().flatten().map(|role| ((dialogue.number, role.way), role.flow)));
        let flow_of: BTreeMap<(usize, usize), FlowId> = roles.collect();
        for ((_, number, way), reading) in &mut self.readings {
            let Some(&flow) = flow_of.get(&(*number, *way)) else { continue };
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
        if passing.point.is_air {
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
        if passing.has_data() && !findings.arrival.is_retransmission {
            self.load.data(passing.at, passing.segment.payload, findings.idle);
        }
        if !passing.is_data_way {
            self.count_ack(passing.segment, &findings.told);
        }
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

/// hashimoto2016's load: a flight in segments as packets of 1500 bytes, over an RTT, in bit/s.
pub(crate) fn load_bps(flight_segments: f64, rtt: Duration) -> Option<f64> {
    (rtt > Duration::ZERO).then(|| flight_segments * 1500.0 * 8.0 / rtt.as_secs_f64())
}
