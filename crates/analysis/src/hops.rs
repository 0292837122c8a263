//! Changes of the channel: a sniffer with one radio stays on each for a while, and several radios hear theirs at once.

/// A sniffer stays longer on a channel.
const SHORTEST_NS: i64 = 10_000_000;
/// One in so many stays may seem shorter: frames of a neighbouring channel are heard, too.
const SELDOM: u64 = 10;

/// The stays on channels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hops {
    /// file, channel in MHz, and the time of its first frame
    now: Option<(usize, u16, i64)>,
    stays: u64,
    short: u64,
}

impl Hops {
    /// A frame on a channel.
    pub(crate) fn hear(&mut self, file: usize, at_ns: i64, mhz: u16) {
        let (before, own, since_ns) = *self.now.get_or_insert((file, mhz, at_ns));
        if before != file || own == mhz {
            return;
        }
        self.now = Some((file, mhz, at_ns));
        self.stays += 1;
        self.short += u64::from(at_ns.saturating_sub(since_ns) < SHORTEST_NS);
    }

    /// Whether one radio heard several channels in turn.
    pub(crate) fn are_hops(&self) -> bool {
        self.stays > 0 && self.short * SELDOM <= self.stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(stay_ns: i64) -> Hops {
        let mut hops = Hops::default();
        for frame in 0..1000 {
            hops.hear(0, frame * 1_000_000, [2412, 2437][(frame * 1_000_000 / stay_ns) as usize % 2]);
        }
        hops
    }

    #[test]
    fn long_stays_are_of_one_radio() {
        assert!(hops(100_000_000).are_hops());
        assert!(!hops(2_000_000).are_hops() && !hops(i64::MAX).are_hops());
    }
}
