//! Segmentation offload, as far as it is visible: large sends carry PSH.
//!
//! Linux hands several segments down as one and lets the device cut them; a send of more than one segment is pushed.
//! Its largest size follows from the pacing rate, about a millisecond's worth, more on short paths, and at most half of
//! the window. A device without offload changes nothing, as software then does the cutting. The endpoint sends single
//! segments, so that large sends are restored here.

use std::collections::BTreeSet;

use lasthop_tcp::{Flags, Info, Segment, SeqNumber};

use crate::packetdrill::setup::Settings;

/// The segments joined so far.
#[derive(Debug, Default)]
pub(crate) struct Offload {
    /// the large send that is being filled
    open: Option<Open>,
    /// first numbers of the large sends so far
    starts: BTreeSet<u32>,
    /// number after the newest segment
    end: Option<SeqNumber>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    next: u32,
    segments: u32,
}

impl Offload {
    /// Begins a new event: segments sent now are not joined to earlier ones.
    pub fn on_event(&mut self) {
        self.open = None;
    }

    /// Passes a segment on. Consecutive ones form large sends of at most `segments` full ones; a retransmission is
    /// joined only with the segments it was joined with before. True if this one belongs to a large send of several.
    pub fn joins(&mut self, segment: &Segment, segments: u32, mss: u32) -> bool {
        let is_new = self.end.is_none_or(|end| segment.seq.distance_from(end) >= 0);
        let may_join = is_new || !self.starts.contains(&segment.seq.0);
        let open = self.open.filter(|open| may_join && open.next == segment.seq.0 && open.segments < segments);
        if is_new {
            self.end = Some(segment.seq.plus(segment.payload));
            if open.is_none() {
                self.starts.insert(segment.seq.0);
            }
        }
        let count = open.map_or(0, |open| open.segments) + 1;
        let ends_here = segment.payload < mss || segment.flags.contains(Flags::PSH);
        let open = Open { next: segment.seq.plus(segment.payload).0, segments: count };
        self.open = (!ends_here).then_some(open);
        count > 1
    }
}

/// The segments that a large send may hold.
pub(crate) fn most_segments(info: &Info, settings: &Settings) -> u32 {
    let mss = u64::from(info.snd_mss.max(1));
    let nearest_us = if info.min_rtt_us == 0 { info.rtt_us } else { info.min_rtt_us };
    let shift = nearest_us >> 9;
    let near = if shift < 32 { 65_536 >> shift } else { 0 };
    let bytes = (pacing_rate(info, settings) >> 10) + near;
    let by_pace = (bytes.min(65_216) / mss).max(settings.sysctl("tcp_min_tso_segs").max(1) as u64) as u32;
    by_pace.min((info.snd_cwnd / 2).max(1))
}

/// Bytes per second: the window over the round trip, and more of it in slow start, as in Linux, with pacing or without.
fn pacing_rate(info: &Info, settings: &Settings) -> u64 {
    if info.pacing_rate != 0 || info.rtt_us == 0 {
        return info.pacing_rate;
    }
    let in_slow_start = info.snd_cwnd < info.snd_ssthresh / 2;
    let ratio = settings.sysctl(if in_slow_start { "tcp_pacing_ss_ratio" } else { "tcp_pacing_ca_ratio" }) as u64;
    let window = u64::from(info.snd_mss) * u64::from(info.snd_cwnd.max(info.unacked));
    window.saturating_mul(ratio * 10_000) / info.rtt_us
}
