//! A recording: an observer that writes each PPDU, segment, backoff and passage as rows of tables, and hands them over
//! in batches, so that memory does not grow with their number.
//!
//! `tables`: the tables, a line for each column; `table`: the parts of a table. `air`: PPDUs that have not ended;
//! `streams`: sent positions of TCP, 16 bytes for each connection. Left out: the nodes that noticed a PPDU.

mod air;
mod quic;
mod streams;
mod table;
mod tables;

use lasthop_units::Time;

pub use table::{Batch, Cells, Column, NONE, Sink, Table, Values};
pub use tables::{Chosen, GROUPS, TABLES};

use crate::detail::{CaState, Detail, Host, PpduStart, QuicFacts, Run, SegmentFacts};
use crate::{End, FlowId, Hold, Layout, NodeId, Observer, Record, Watcher, step};
use air::Airborne;
use quic::Connections;
use streams::Streams;
use table::{Cell, Loss, Perhaps, QuicEvent, Rows, Serial};
use tables::{
    Backoff, Backoffs, Burst, Bursts, Carried, Carries, Drop, Drops, Ppdu, Ppdus, Queue, Queues, Quic, Quics, Rate,
    Rates, Rtt, Rtts, Segment, Segments, Step, Steps, Wait, Waits, Window, Windows,
};

/// Number of rows in a batch.
const BATCH: usize = 1 << 16;

/// The time span of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// its start
    pub from: Time,
    /// its end, exclusive
    pub until: Time,
}

impl Span {
    #[inline(always)]
    fn holds(self, at: Time) -> bool {
        self.from <= at && at < self.until
    }
}

/// The window of a sender as last reported.
#[derive(Clone, Copy)]
struct Bounds {
    cwnd: f64,
    ssthresh: f64,
    flight_bytes: u64,
    ca_state: CaState,
}

impl Bounds {
    const UNKNOWN: Bounds = Bounds { cwnd: 0.0, ssthresh: f64::INFINITY, flight_bytes: 0, ca_state: CaState::Open };

    fn set(&mut self, cwnd: f64, ssthresh: f64, flight_bytes: u64) {
        (self.cwnd, self.ssthresh, self.flight_bytes) = (cwnd, ssthresh, flight_bytes);
    }

    fn row(&self, t_ns: Time, flow: FlowId) -> Window {
        let Bounds { cwnd: cwnd_segments, ssthresh, flight_bytes, ca_state } = *self;
        let ssthresh_segments = Perhaps(Some(ssthresh).filter(|s| s.is_finite()));
        Window { t_ns, flow, cwnd_segments, ssthresh_segments, flight_bytes, ca_state }
    }
}

/// The destination of rows.
struct Out {
    sink: Box<dyn Sink>,
    failure: Option<String>,
}

impl Out {
    /// Hands over the first `count` of `rows`.
    #[inline(never)]
    fn take(&mut self, rows: &mut impl Rows, count: usize) {
        if self.failure.is_none() {
            self.failure = self.sink.take(&rows.first(count)).err();
        }
        rows.forget(count);
    }
}

/// Rows of a table, if it was chosen.
struct Kept<R>(Option<R>);

impl<R: Rows + Default> Kept<R> {
    fn new(chosen: Chosen) -> Kept<R> {
        Kept(chosen.has(R::TABLE).then(R::default))
    }

    #[inline(always)]
    fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    #[inline(always)]
    fn put(&mut self, out: &mut Out, row: impl FnOnce() -> R::Row) {
        let Some(rows) = &mut self.0 else { return };
        rows.push(row());
        if rows.len() >= BATCH {
            out.take(rows, BATCH);
        }
    }

    /// Hands over the remaining rows.
    fn close(&mut self, out: &mut Out) {
        if let Some(rows) = &mut self.0
            && rows.len() > 0
        {
            let rest = rows.len();
            out.take(rows, rest);
        }
    }
}

/// Keeps the recording of a run.
pub struct Tape {
    span: Span,
    out: Out,
    ppdu: Kept<Ppdus>,
    carries: Kept<Carries>,
    segment: Kept<Segments>,
    quic: Kept<Quics>,
    window: Kept<Windows>,
    rtt: Kept<Rtts>,
    queue: Kept<Queues>,
    drop: Kept<Drops>,
    backoff: Kept<Backoffs>,
    waits: Kept<Waits>,
    rate: Kept<Rates>,
    step: Kept<Steps>,
    interferer: Kept<Bursts>,
    air: Airborne,
    /// PPDUs that have been handed over
    gone: u32,
    streams: Streams,
    connections: Connections,
    /// by flow
    windows: Vec<Bounds>,
    /// last reported reasons to wait, by flow
    waiting: Vec<Option<(Hold, bool, bool)>>,
}

impl Tape {
    /// Records the `chosen` tables during `span` and gives them to `sink`.
    pub fn new(layout: &Layout, chosen: Chosen, span: Span, sink: Box<dyn Sink>) -> Tape {
        Tape {
            span,
            out: Out { sink, failure: None },
            ppdu: Kept::new(chosen),
            carries: Kept::new(chosen),
            segment: Kept::new(chosen),
            quic: Kept::new(chosen),
            window: Kept::new(chosen),
            rtt: Kept::new(chosen),
            queue: Kept::new(chosen),
            drop: Kept::new(chosen),
            backoff: Kept::new(chosen),
            waits: Kept::new(chosen),
            rate: Kept::new(chosen),
            step: Kept::new(chosen),
            interferer: Kept::new(chosen),
            air: Airborne::new(layout.nodes),
            gone: 0,
            streams: Streams::new(layout.flows.len()),
            connections: Connections::new(layout.flows.len()),
            windows: vec![Bounds::UNKNOWN; layout.flows.len()],
            waiting: vec![None; layout.flows.len()],
        }
    }

    /// Hands over the remaining rows.
    ///
    /// # Errors
    /// A sentence that says why the recording could not be kept.
    pub fn close(mut self) -> Result<(), String> {
        let out = &mut self.out;
        self.ppdu.close(out);
        self.carries.close(out);
        self.segment.close(out);
        self.quic.close(out);
        self.window.close(out);
        self.rtt.close(out);
        self.queue.close(out);
        self.drop.close(out);
        self.backoff.close(out);
        self.waits.close(out);
        self.rate.close(out);
        self.step.close(out);
        self.interferer.close(out);
        match self.out.failure {
            Some(failure) => Err(failure),
            None => self.out.sink.finish(),
        }
    }

    #[inline(always)]
    fn holds(&self, at: Time) -> bool {
        self.span.holds(at)
    }

    fn ppdu_starts(&mut self, at: Time, start: &PpduStart) {
        let exchange = self.air.exchange_of(start.initiator);
        if !self.holds(at) {
            return;
        }
        let ppdu = self.air.begin(start.node);
        let Some(rows) = &mut self.ppdu.0 else { return };
        rows.push(Ppdu {
            ppdu: Serial(ppdu),
            start_ns: at,
            duration_ns: start.airtime,
            nav_ns: start.reserves_until.max(at + start.airtime).since(at + start.airtime),
            node: start.node,
            to: start.to,
            initiator: start.initiator,
            link: start.link,
            channel: start.channel,
            kind: start.kind,
            mcs: start.mcs.map(u32::from),
            nss: u32::from(start.streams),
            gi_ns: start.guard_interval.as_nanos() as u32,
            width_mhz: u32::from(start.width_mhz),
            rate_bps: start.rate,
            bytes: start.bytes,
            mpdus: start.mpdus,
            decoded: None,
            lost_to: None,
            exchange: Serial(exchange),
            retried: start.retried,
            ru_tones: start.unit.map(|unit| unit.tones),
            ru_place: start.unit.map(|unit| unit.place),
        });
        if rows.len() >= BATCH {
            // PPDUs on the air are not finished yet, nor are those that come after them.
            let finished = self.air.first_open() - self.gone;
            if finished as usize >= BATCH / 2 {
                self.gone += finished;
                self.out.take(rows, finished as usize);
            }
        }
    }

    fn ppdu_ends(&mut self, end: &End, part: u32) {
        if !end.goes_on {
            self.air.exchange_ends(end.initiator);
        }
        let Some(ppdu) = self.air.end(end.node, part) else { return };
        let Some(rows) = &mut self.ppdu.0 else { return };
        let place = (ppdu - self.gone) as usize;
        rows.decoded[place] = end.decoded;
        rows.lost_to[place] = end.lost_to.and_then(Loss::of).raw();
    }

    fn carries(&mut self, (node, part): (NodeId, u32), run: &Run) {
        let Some(ppdu) = self.air.sent_by(node, part) else { return };
        let Run { flow, up, packet, packets, data_bytes, ack_bytes, decoded } = *run;
        let (ppdu, packet) = (Serial(ppdu), Serial(packet));
        let row = || Carried { ppdu, flow, up, packet, packets, data_bytes, ack_bytes, decoded };
        self.carries.put(&mut self.out, row);
    }

    fn segment(&mut self, at: Time, facts: &SegmentFacts) {
        let again = facts.sent.then(|| self.streams.send(facts));
        if !self.holds(at) {
            return;
        }
        self.segment.put(&mut self.out, || Segment {
            t_ns: at,
            flow: facts.flow,
            connection: facts.connection,
            host: facts.host,
            sent: facts.sent,
            seq: Serial(facts.seq),
            ack: Serial(facts.ack),
            len: facts.payload,
            window: facts.window,
            flags: facts.flags,
            sack_blocks: facts.sack_blocks,
            sack_left: facts.sack.map(|(left, _)| Serial(left)),
            sack_right: facts.sack.map(|(_, right)| Serial(right)),
            again,
            up: facts.sent == (facts.host == Host::Station),
            packet: Serial(facts.packet),
            packet_bytes: facts.packet_bytes,
        });
    }

    fn quic(&mut self, at: Time, facts: &QuicFacts) {
        let number = self.connections.frame(facts);
        if !self.holds(at) {
            return;
        }
        let frame = &facts.frame;
        self.quic.put(&mut self.out, || Quic {
            t_ns: at,
            flow: facts.flow,
            connection: facts.connection,
            host: facts.host,
            event: if facts.sent { QuicEvent::Sent } else { QuicEvent::Received },
            space: facts.space,
            number: Serial(number),
            bytes: facts.bytes,
            frame: Some(frame.kind),
            stream: frame.stream,
            offset: frame.offset,
            len: frame.length,
            fin: frame.is_last,
            acked_first: frame.acked.map(|(first, _)| Serial(first)),
            acked_last: frame.acked.map(|(_, last)| Serial(last)),
            trigger: None,
            up: facts.up,
            packet: Serial(facts.packet),
        });
    }

    fn quic_lost(&mut self, at: Time, (flow, connection, host): (FlowId, u32, Host), packets: u64) {
        let lost = self.connections.lose(flow, connection, host, packets);
        if !self.holds(at) {
            return;
        }
        for packet in lost {
            self.quic.put(&mut self.out, || Quic {
                t_ns: at,
                flow,
                connection,
                host,
                event: QuicEvent::Lost,
                space: packet.space,
                number: Serial(packet.number),
                bytes: 0,
                frame: None,
                stream: None,
                offset: 0,
                len: 0,
                fin: false,
                acked_first: None,
                acked_last: None,
                trigger: Some(packet.trigger),
                up: host == Host::Station,
                packet: Serial(0),
            });
        }
    }

    fn stands(&mut self, at: Time, flow: FlowId, state: CaState) {
        let last = &mut self.windows[flow.index()];
        if last.ca_state != state {
            last.ca_state = state;
            if self.span.holds(at) {
                self.window.put(&mut self.out, || last.row(at, flow));
            }
        }
    }

    fn waits(&mut self, at: Time, flow: FlowId, waiting: (Hold, bool, bool)) {
        let (hold, awaits_answer, withholds_ack) = waiting;
        if self.waiting[flow.index()].replace(waiting) != Some(waiting) {
            let row = || Wait { t_ns: at, flow, hold, awaits_answer, withholds_ack };
            self.waits.put(&mut self.out, row);
        }
    }

    #[inline(never)]
    fn write(&mut self, t_ns: Time, record: &Record) {
        let out = &mut self.out;
        match *record {
            Record::Step(step::Step::Waits { flow, hold, awaits_answer, withholds_ack }) => {
                self.waits(t_ns, flow, (hold, awaits_answer, withholds_ack));
            }
            Record::Queue { node, packets, tcp_acks } => {
                self.queue.put(out, || Queue { t_ns, node, packets, tcp_acks });
            }
            Record::Window { flow, cwnd, ssthresh, flight_bytes } => {
                let last = &mut self.windows[flow.index()];
                last.set(cwnd, ssthresh, flight_bytes);
                self.window.put(out, || last.row(t_ns, flow));
            }
            Record::Rtt { flow, sample, controller } => {
                self.rtt.put(out, || Rtt { t_ns, flow, rtt_ns: sample, controller_rtt_ns: controller });
            }
            Record::Dropped { node, flow, layer, reason, tcp_ack, arrived, up, packet } => {
                let packet = Serial(packet);
                self.drop.put(out, || Drop { t_ns, node, layer, reason, flow, up, packet, tcp_ack, arrived });
            }
            Record::RateChange { link, rate, down, after } => {
                self.rate.put(out, || Rate { t_ns, link, rate_bps: rate, down, after });
            }
            _ => {}
        }
    }

    #[inline(never)]
    fn write_detail(&mut self, at: Time, detail: &Detail) {
        match *detail {
            Detail::PpduStarts(ref start) => self.ppdu_starts(at, start),
            Detail::PpduEnds(ref end) => self.ppdu_ends(end, 0),
            Detail::PartEnds { part, ref end } => self.ppdu_ends(end, part),
            Detail::Carries { node, part, ref run } => self.carries((node, part), run),
            Detail::Segment(ref facts) => self.segment(at, facts),
            Detail::Quic(ref facts) => self.quic(at, facts),
            Detail::QuicLost { flow, connection, host, packets } => {
                self.quic_lost(at, (flow, connection, host), packets);
            }
            Detail::Stands { flow, at: state } => self.stands(at, flow, state),
            Detail::Backoff { .. } | Detail::Passes { .. } | Detail::Burst { .. } if !self.holds(at) => {}
            Detail::Backoff { node, function, slots, cw } => {
                self.backoff.put(&mut self.out, || Backoff { t_ns: at, node, function, slots, cw });
            }
            Detail::Passes { what, node, flow, up, packet } => {
                self.step.put(&mut self.out, || Step { t_ns: at, what, node, flow, up, packet: Serial(packet) });
            }
            Detail::Burst { interferer, duration, level } => {
                let row = || Burst { start_ns: at, duration_ns: duration, interferer, level_db: level.0 };
                self.interferer.put(&mut self.out, row);
            }
            _ => unreachable!("what is for captures is not wanted"),
        }
    }
}

impl Observer for Tape {
    const READS_DETAILS: bool = true;

    #[inline(always)]
    fn reads_waits(&self) -> bool {
        self.waits.is_wanted()
    }

    #[inline(always)]
    fn reads_segments(&self) -> bool {
        self.segment.is_wanted() || self.quic.is_wanted()
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        let is_kept = match record {
            Record::Queue { .. } => self.queue.is_wanted(),
            Record::Window { .. } => self.window.is_wanted(),
            Record::Rtt { .. } => self.rtt.is_wanted(),
            Record::Dropped { .. } => self.drop.is_wanted(),
            Record::RateChange { .. } => self.rate.is_wanted(),
            Record::Step(step::Step::Waits { .. }) => self.waits.is_wanted(),
            _ => false,
        };
        if is_kept && self.holds(at) {
            self.write(at, &record);
        } else if let Record::Window { flow, cwnd, ssthresh, flight_bytes } = record {
            self.windows[flow.index()].set(cwnd, ssthresh, flight_bytes);
        }
    }

    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        // Checked here, since most details belong to tables that may not be chosen.
        let is_wanted = match detail {
            Detail::PpduStarts(_) | Detail::PpduEnds(_) | Detail::PartEnds { .. } => true,
            Detail::Carries { .. } => self.carries.is_wanted(),
            Detail::Segment(_) => self.segment.is_wanted(),
            Detail::Quic(_) | Detail::QuicLost { .. } => self.quic.is_wanted(),
            Detail::Stands { .. } => self.window.is_wanted(),
            Detail::Backoff { .. } => self.backoff.is_wanted(),
            Detail::Passes { .. } => self.step.is_wanted(),
            Detail::Burst { .. } => self.interferer.is_wanted(),
            // For captures.
            Detail::Packet(_) | Detail::Mpdu(_) | Detail::Holds { .. } => false,
            Detail::Requests { .. } | Detail::Heard { .. } | Detail::Told { .. } => false,
            Detail::Names { .. } | Detail::Reports { .. } | Detail::Tuned { .. } => false,
        };
        if is_wanted {
            self.write_detail(at, &detail);
        }
    }
}

impl Watcher for Tape {
    fn failure(&self) -> Option<&str> {
        self.out.failure.as_deref()
    }
}
