//! Receive offload: the segments that a host joins before TCP sees them.
//!
//! A host joins the segments of a connection that came at one instant, as the MPDUs of an A-MPDU do, if each continues the one
//! before and has the same ECN field and flags, up to 64 KiB together; one with PSH is the last. TCP takes in all of them
//! before it answers, so one ACK answers a run. It follows the generic receive offload of Linux. A segment that does not
//! continue the run ends it: TCP answers at once, for the run and for that segment. Left out: segments that wait for a
//! timer of the driver (`gro_flush_timeout`, off by default).

use lasthop_tcp::{Flags, Segment};
use lasthop_units::{Ecn, Time};

/// Most bytes in one run: the length of an IPv4 packet. [Linux `GRO_LEGACY_MAX_SIZE`]
const MOST_BYTES: u32 = 65_535;

/// Whether a packet is joined with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// no: TCP answers at once
    Not,
    /// the first of a run, which TCP answers after the packets of this instant
    First,
    /// with those before it
    Before,
}

/// The run of a receiver's host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offload {
    run: Option<Run>,
}

/// The facts in which the segments of a run are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    connection: u32,
    flags: u16,
    ecn: Ecn,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    at: Time,
    kind: Kind,
    /// sequence number that continues it
    next: u32,
    bytes: u32,
}

impl Offload {
    /// Takes note of a segment that arrives.
    pub(super) fn joins(&mut self, now: Time, segment: &Segment, connection: u32) -> Joins {
        let may_differ = (Flags::PSH | Flags::ECE | Flags::AE).bits();
        if segment.payload == 0 || segment.flags.bits() & !may_differ != Flags::ACK.bits() {
            self.run = None;
            return Joins::Not;
        }
        let (start, bytes) = (segment.seq.0, segment.payload);
        let kind = Kind { connection, flags: segment.flags.bits() & !Flags::PSH.bits(), ecn: segment.ecn };
        let is_next = |run: &Run| (run.at, run.kind, run.next) == (now, kind, start) && run.bytes + bytes <= MOST_BYTES;
        let continued = self.run.filter(is_next);
        // A segment with PSH is the last of its run.
        let length = if segment.flags.contains(Flags::PSH) { MOST_BYTES } else { bytes };
        let of_this_instant = self.run.is_some_and(|run| run.at == now);
        match continued {
            Some(run) => {
                self.run =
                    Some(Run { next: start.wrapping_add(bytes), bytes: run.bytes.saturating_add(length), ..run });
                Joins::Before
            }
            // The run ends; the segment begins none, as TCP answers both at once.
            None if of_this_instant => {
                self.run = None;
                Joins::Not
            }
            None => {
                self.run = Some(Run { at: now, kind, next: start.wrapping_add(bytes), bytes: length });
                Joins::First
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lasthop_tcp::SeqNumber;
    use lasthop_units::Duration;

    use super::*;

    /// The treatment of segments of 1000 B, each by its time in us, its sequence number and its ECN field.
    fn joined(segments: &[(u64, u32, Ecn, Flags)]) -> Vec<Joins> {
        let mut offload = Offload::default();
        let at = |us| Time::ZERO + Duration::from_micros(us);
        let one = |&(us, seq, ecn, flags): &(u64, u32, Ecn, Flags)| {
            let segment = Segment { seq: SeqNumber(seq), payload: 1000, ecn, flags, ..Segment::default() };
            offload.joins(at(us), &segment, 0)
        };
        segments.iter().map(one).collect()
    }

    #[test]
    fn segments_of_one_instant_are_joined_in_order() {
        use Joins::{Before, First, Not};
        let plain = |us, seq| (us, seq, Ecn::NotEct, Flags::ACK);
        assert_eq!(joined(&[plain(1, 0), plain(1, 1000), plain(1, 2000)]), [First, Before, Before]);
        assert_eq!(joined(&[plain(1, 0), plain(2, 1000), plain(2, 2000)]), [First, First, Before]);
        // A gap, another ECN field, and a SYN each end a run.
        assert_eq!(joined(&[plain(1, 0), plain(1, 2000), plain(1, 3000)]), [First, Not, First]);
        assert_eq!(joined(&[plain(1, 0), (1, 1000, Ecn::Ce, Flags::ACK)]), [First, Not]);
        assert_eq!(joined(&[plain(1, 0), (1, 1000, Ecn::NotEct, Flags::SYN)]), [First, Not]);
        // PSH is the last of its run.
        let pushed = (1, 1000, Ecn::NotEct, Flags::ACK | Flags::PSH);
        assert_eq!(joined(&[plain(1, 0), pushed, plain(1, 2000)]), [First, Before, Not]);
    }

    #[test]
    fn a_run_is_no_longer_than_a_packet() {
        let segments: Vec<_> = (0..70).map(|n| (1, 1000 * n, Ecn::NotEct, Flags::ACK)).collect();
        let first = joined(&segments).iter().skip(1).position(|joins| *joins != Joins::Before);
        // 65 segments of 1000 B are below 65,535 B.
        assert_eq!(first, Some(64));
    }
}
