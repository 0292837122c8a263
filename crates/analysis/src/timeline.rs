//! Times of a file whose clock was set while it was captured: by NTP, to another zone, or from 1970. They go on without the
//! jump.

use std::collections::BTreeMap;

/// Packets of one interface are out of order by less.
const DISORDER_NS: i64 = 1_000_000_000;
/// A silence is shorter: a year.
const SILENCE_NS: i64 = 31_536_000_000_000_000;
/// So many packets may be late at once, before their clock counts as set.
const LATE: u32 = 100;

/// The clock of an interface.
#[derive(Clone, Copy, Debug)]
struct Clock {
    latest_ns: i64,
    /// nanoseconds to add
    shift_ns: i64,
    /// the latest time and the shift before the clock was set, and the packets since then
    before: Option<(i64, i64, u32)>,
}

/// The clocks of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    clocks: BTreeMap<u32, Clock>,
    /// how often a clock was set, and by how much at first
    pub sets: u64,
    pub first_set_ns: Option<i64>,
}

impl Timeline {
    /// The time of a packet of an interface, from its time stamp.
    pub(crate) fn time_ns(&mut self, interface: u32, told_ns: i64) -> i64 {
        let new = Clock { latest_ns: told_ns, shift_ns: 0, before: None };
        let clock = self.clocks.entry(interface).or_insert(new);
        let mut jump_ns = told_ns.saturating_sub(clock.latest_ns);
        if let Some((latest_ns, shift_ns, packets)) = &mut clock.before {
            *packets += 1;
            if jump_ns >= DISORDER_NS && told_ns >= *latest_ns && *packets <= LATE {
                // Those were late packets, and the clock is as before.
                jump_ns = told_ns.saturating_sub(*latest_ns);
                (clock.latest_ns, clock.shift_ns) = (*latest_ns, *shift_ns);
                clock.before = None;
                self.sets -= 1;
            }
        }
        if !(-DISORDER_NS..=SILENCE_NS).contains(&jump_ns) {
            clock.before = (jump_ns < 0).then_some((clock.latest_ns, clock.shift_ns, 0));
            clock.shift_ns = clock.shift_ns.saturating_sub(jump_ns);
            clock.latest_ns = told_ns;
            self.sets += 1;
            self.first_set_ns.get_or_insert(jump_ns);
        }
        clock.latest_ns = clock.latest_ns.max(told_ns);
        told_ns.saturating_add(clock.shift_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn times(told: &[i64]) -> (Vec<i64>, u64) {
        let mut timeline = Timeline::default();
        let times = told.iter().map(|told| timeline.time_ns(0, *told)).collect();
        (times, timeline.sets)
    }

    #[test]
    fn a_clock_that_is_set_goes_on() {
        // An hour back, and from 1970 to today.
        assert_eq!(times(&[5000 * S, 5001 * S, 1401 * S, 1402 * S]), (vec![5000 * S, 5001 * S, 5001 * S, 5002 * S], 1));
        assert_eq!(times(&[S, 2 * S, 1_700_000_000 * S, 1_700_000_003 * S]), (vec![S, 2 * S, 2 * S, 5 * S], 1));
    }

    #[test]
    fn silence_and_late_packets_are_no_set_clock() {
        assert_eq!(times(&[0, 86_400 * S, 86_400 * S - 1]), (vec![0, 86_400 * S, 86_400 * S - 1], 0));
        assert_eq!(times(&[0, 9 * S, 2 * S, 3 * S, 10 * S]), (vec![0, 9 * S, 9 * S, 10 * S, 10 * S], 0));
    }

    #[test]
    fn each_interface_has_its_clock() {
        let mut timeline = Timeline::default();
        let told = [(0, 100 * S), (1, 2 * S), (0, 101 * S), (1, 3 * S)];
        let times = told.map(|(interface, told)| timeline.time_ns(interface, told));
        assert_eq!((times, timeline.sets), ([100 * S, 2 * S, 101 * S, 3 * S], 0));
    }
}
