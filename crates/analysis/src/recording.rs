//! Recordings from captures: each PPDU that was heard, and each segment at a point of capture, in the tables of a run.
//!
//! The outcome of an Ack or a CTS and the cause of a loss are unknown: both are null.

use std::fmt;
use std::sync::Arc;

use lasthop_observe::detail::{Detail, Host, PpduKind, PpduStart, SegmentFacts};
use lasthop_observe::recording::{Chosen, NONE, Sink, Span, Tape};
use lasthop_observe::{End, FlowId, Layout, LinkId};
use lasthop_units::{Duration, Time};

use crate::durations::{Durations, Mode};
use crate::packet::Segment;
use crate::ppdu::{Kind, Ppdu};
use crate::site::{Site, id};

/// Names for the rows of a recording, which have numbers.
#[derive(Clone, Debug)]
pub struct Names {
    /// of nodes
    pub nodes: Vec<String>,
    /// ids of flows
    pub flows: Vec<String>,
    /// "sender->receiver" of links
    pub links: Vec<String>,
}

/// Begins a recording, and returns the keeper of the rows of these tables.
pub type Begin = dyn Fn(Chosen, Names) -> Result<Box<dyn Sink>, String> + Send + Sync;

/// The choice of a recording.
#[derive(Clone)]
pub struct Recording {
    /// its tables; those without data in captures stay empty
    pub chosen: Chosen,
    /// its keeper
    pub begin: Arc<Begin>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("chosen", &self.chosen).finish()
    }
}

impl Recording {
    /// The tape for this site, within a window.
    pub(crate) fn tape(&self, site: &Site, layout: &Layout, window: (Time, Time)) -> Result<Tape, String> {
        let name = |node: u32| site.nodes[node as usize].name.as_str();
        let names = Names {
            nodes: site.nodes.iter().map(|node| node.name.clone()).collect(),
            flows: site.flows.iter().map(|flow| flow.id.clone()).collect(),
            links: site.link_ends.iter().map(|&(from, to)| format!("{}->{}", name(from), name(to))).collect(),
        };
        let sink = (self.begin)(self.chosen, names)?;
        Ok(Tape::new(layout, self.chosen, Span { from: window.0, until: window.1 }, sink))
    }
}

/// The nodes of a PPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub from: u32,
    pub to: Option<u32>,
    pub channel: u32,
    /// link of the PPDU, which for an answer leads back
    pub link: Option<LinkId>,
}

/// A PPDU at its start; none for a kind that recordings do not have.
pub(crate) fn begins(ppdu: &Ppdu, mode: Mode, ends: &Ends, site: &Site, durations: &Durations) -> Option<Detail> {
    let is_to_itself = ends.to == Some(ends.from);
    let kind = match ppdu.kind {
        Kind::Data if ppdu.is_ampdu => PpduKind::Ampdu,
        Kind::Data => PpduKind::Data,
        Kind::Rts => PpduKind::Rts,
        Kind::Cts if is_to_itself => PpduKind::CtsToSelf,
        Kind::Cts => PpduKind::Cts,
        Kind::Ack => PpduKind::Ack,
        Kind::BlockAck => PpduKind::BlockAck,
        Kind::BlockAckReq => PpduKind::BlockAckReq,
        Kind::Management if ppdu.receiver.is_group() => PpduKind::Beacon,
        Kind::Management | Kind::Control => return None,
    };
    let is_answer = matches!(kind, PpduKind::Cts | PpduKind::Ack | PpduKind::BlockAck);
    let initiator = ends.to.filter(|_| is_answer).unwrap_or(ends.from);
    let link = if is_answer { ends.to.and_then(|to| site.link(to, ends.from)) } else { ends.link };
    let about = durations.about(mode);
    let airtime = durations.ppdu(mode, ppdu.bytes);
    let reserved = if ppdu.reserves_us < 1 << 15 { ppdu.reserves_us } else { 0 };
    Some(Detail::PpduStarts(PpduStart {
        node: id(ends.from),
        to: ends.to.filter(|_| !is_to_itself).map(id),
        initiator: id(initiator),
        link,
        channel: ends.channel,
        kind,
        unit: None,
        airtime,
        reserves_until: ppdu.start + airtime + Duration::from_micros(reserved.into()),
        rate: about.rate,
        mcs: about.mcs_index(),
        streams: about.streams,
        guard_interval: about.guard_interval,
        // A PPDU without an MCS is sent in the primary 20 MHz, DSSS too.
        width_mhz: if about.mcs.is_some() { (about.bandwidth_hz / 1e6) as u16 } else { 20 },
        bytes: ppdu.bytes,
        mpdus: ppdu.mpdus.len().max(1) as u32,
        retried: ppdu.mpdus.iter().filter(|mpdu| mpdu.is_retry).count() as u32,
    }))
}

/// The end of a PPDU with `decoded` MPDUs known to have arrived; none if that is unknown.
pub(crate) fn ends(node: u32, initiator: u32, mpdus: u32, decoded: Option<u32>, goes_on: bool) -> Detail {
    let decoded = decoded.unwrap_or(NONE);
    Detail::PpduEnds(End { node: id(node), initiator: id(initiator), mpdus, decoded, lost_to: None, goes_on })
}

/// Bytes of an IPv4 header without options.
const IPV4_HEADER: u32 = 20;

/// A segment at a point of capture: on the air it has arrived at the station, or leaves it as far as is known; on a
/// wire the same for the server.
pub(crate) fn passes(
    flow: FlowId,
    connection: u32,
    segment: &Segment,
    (is_on_air, is_up): (bool, bool),
    packet: u32,
) -> Detail {
    let blocks = segment.sack.iter().flatten().count() as u32;
    Detail::Segment(SegmentFacts {
        flow,
        connection,
        host: if is_on_air { Host::Station } else { Host::Server },
        sent: is_on_air == is_up,
        seq: segment.seq,
        ack: segment.ack,
        payload: segment.payload,
        window: segment.window.into(),
        flags: segment.flags.0.into(),
        sack_blocks: blocks,
        sack: segment.sack[0],
        packet,
        packet_bytes: IPV4_HEADER + segment.header + segment.payload,
    })
}
