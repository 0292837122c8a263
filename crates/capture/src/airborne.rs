//! PPDUs on the air, and PPDUs that have ended and wait for one that began before, so that files are in the order of
//! time.

use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_observe::detail::{Mpdu, PpduStart, Unit};
use lasthop_observe::{End, NodeId};
use lasthop_units::{Duration, Ecn, Time};
use lasthop_wire::ieee80211::Bitmap;

use crate::packets::Held;

/// An MPDU, and its first packet.
#[derive(Clone, Copy)]
pub(crate) struct Content {
    pub mpdu: Mpdu,
    /// number of its first packet among those of the PPDU
    pub first: usize,
}

/// A node that has heard a PPDU.
#[derive(Clone, Copy)]
pub(crate) struct Hearing {
    pub by: NodeId,
    pub signal_dbm: i8,
    pub decoded: bool,
}

/// Content of a BlockAck or a BlockAckReq.
#[derive(Clone, Copy)]
pub(crate) struct Agreed {
    pub tid: u8,
    /// first sequence number, never wrapped
    pub start: u64,
    /// bitmap, for a BlockAck
    pub bitmap: Bitmap,
}

/// A station that a frame for several names.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    pub station: Option<NodeId>,
    pub unit: Option<Unit>,
    pub mcs: u8,
    pub streams: u8,
    pub agreed: Agreed,
    /// duration of the answer
    pub answer: Duration,
}

/// A PPDU, or a part of one of several users, as reported so far.
pub(crate) struct Airborne {
    pub at: Time,
    pub start: PpduStart,
    /// number among the parts that its sender sends
    pub part: u32,
    pub contents: Vec<Content>,
    pub packets: Vec<(Held, Ecn)>,
    pub agreed: Option<Agreed>,
    /// the bytes of a group frame of a host's own, without its FCS
    pub frame: Option<Arc<[u8]>>,
    /// of a frame for several stations
    pub named: Vec<Named>,
    /// the Queue Size subfield of its MPDUs, if its sender reports it
    pub queue_size: Option<u8>,
    pub heard: Vec<Hearing>,
    pub end: Option<End>,
    /// set when its report is complete: true if all others of the channel have decoded it
    pub told: Option<bool>,
}

impl Airborne {
    /// The packets of an MPDU.
    pub(crate) fn packets_of(&self, content: &Content) -> &[(Held, Ecn)] {
        &self.packets[content.first..content.first + content.mpdu.packets as usize]
    }
}

/// PPDUs in the order in which they began.
#[derive(Default)]
pub(crate) struct Queue {
    ppdus: VecDeque<Airborne>,
    /// lists for reuse
    spare: Vec<Airborne>,
}

impl Queue {
    /// Adds a PPDU that begins, perhaps a little later than now.
    pub(crate) fn begin(&mut self, at: Time, start: PpduStart, agreed: Option<Agreed>, frame: Option<Arc<[u8]>>) {
        let part = self.ppdus.iter().filter(|of| of.start.node == start.node && of.told.is_none()).count() as u32;
        let begun = match self.spare.pop() {
            Some(spare) => {
                Airborne { at, start, part, agreed, frame, queue_size: None, end: None, told: None, ..spare }
            }
            None => Airborne {
                at,
                start,
                part,
                contents: Vec::new(),
                packets: Vec::new(),
                agreed,
                frame,
                named: Vec::new(),
                queue_size: None,
                heard: Vec::new(),
                end: None,
                told: None,
            },
        };
        let place = self.ppdus.iter().rposition(|other| other.at <= at).map_or(0, |before| before + 1);
        self.ppdus.insert(place, begun);
    }

    /// The PPDU that a node is sending, or that ends now; the part of it with this number.
    pub(crate) fn of(&mut self, node: NodeId, part: u32) -> Option<&mut Airborne> {
        self.ppdus.iter_mut().rev().find(|ppdu| ppdu.start.node == node && ppdu.told.is_none() && ppdu.part == part)
    }

    /// The report of the PPDU of a node, with all its parts, is complete.
    pub(crate) fn told(&mut self, node: NodeId, by_all: bool) {
        let open = self.ppdus.iter_mut().filter(|ppdu| ppdu.start.node == node && ppdu.end.is_some());
        open.for_each(|ppdu| {
            ppdu.told.get_or_insert(by_all);
        });
    }

    /// The next PPDU with a complete report, if none before it is still on the air.
    pub(crate) fn next(&mut self) -> Option<Airborne> {
        let is_told = self.ppdus.front()?.told.is_some();
        if is_told { self.ppdus.pop_front() } else { None }
    }

    /// The PPDUs with complete reports at the end of the run, even if others that began before are still on the air.
    pub(crate) fn rest(&mut self) -> impl Iterator<Item = Airborne> {
        self.ppdus.drain(..).filter(|ppdu| ppdu.told.is_some())
    }

    /// Takes back a PPDU that was written.
    pub(crate) fn give_back(&mut self, mut ppdu: Airborne) {
        ppdu.contents.clear();
        ppdu.packets.clear();
        ppdu.named.clear();
        ppdu.heard.clear();
        self.spare.push(ppdu);
    }
}
