//! The medium's own account of a run, in the terms of the twin.

use std::collections::BTreeMap;

use crate::cell::Seen;
use crate::twin::{Ampdu, Kind};
use lasthop_observe::Record;
use lasthop_observe::detail::{Detail, PpduKind};
use lasthop_units::Time;

/// Kinds of PPDUs that have ended by `end_ns`, with their reservations.
pub fn kinds(seen: &Seen, end_ns: u64) -> Vec<(u64, u32, Kind, u64)> {
    let of = |kind| match kind {
        PpduKind::Rts => Kind::Rts,
        PpduKind::Cts => Kind::Cts,
        PpduKind::Ampdu => Kind::Data,
        PpduKind::BlockAck => Kind::BlockAck,
        PpduKind::BlockAckReq => Kind::BlockAckReq,
        PpduKind::CfEnd => Kind::CfEnd,
        other => panic!("{other:?} has no place in these cells"),
    };
    let start = |(at, detail): &(Time, Detail)| match detail {
        Detail::PpduStarts(p) if (*at + p.airtime).as_nanos() <= end_ns => {
            Some((at.as_nanos(), p.node.0, of(p.kind), p.reserves_until.as_nanos()))
        }
        _ => None,
    };
    let mut all: Vec<_> = seen.details.iter().filter_map(start).collect();
    all.sort_unstable();
    all
}

/// A-MPDUs that have ended: end, sender, numbers of the MPDUs and whether each was decoded.
pub fn ampdus(seen: &Seen) -> Vec<Ampdu> {
    let mut all: BTreeMap<(u64, u32), Vec<(u64, bool)>> = BTreeMap::new();
    for (at, detail) in &seen.details {
        if let Detail::Mpdu(mpdu) = detail {
            let number = mpdu.sequence.expect("it is under Block Ack");
            all.entry((at.as_nanos(), mpdu.node.0)).or_default().push((number, mpdu.decoded));
        }
    }
    all.into_iter().map(|((end, node), mpdus)| (end, node, mpdus)).collect()
}

/// MPDUs and acknowledged MPDUs of each attempt of `node`.
pub fn acknowledged(seen: &Seen, node: usize) -> Vec<(u32, u32)> {
    let of = |(_, record): &(_, Record)| match record {
        Record::Attempt { node: n, mpdus, acknowledged, .. } if n.index() == node => Some((*mpdus, *acknowledged)),
        _ => None,
    };
    seen.records.iter().filter_map(of).collect()
}
