//! Nodes that begin to send while another is sending, and so do not hear it.
//!
//! Stations whose countdowns end in the same slot begin together; a node that begins later than a slot after another's
//! PPDU did not sense it. [802.11-2020 §10.3.2.1] A frame a SIFS after one that concerned its sender is sent whatever
//! the state of the medium, and proves nothing.
//!
//! ```text
//!  a        |=============================|
//!  b           |=====|                        within a slot: a collision
//!  c                      |=====|             c does not hear a
//!           <slot>
//! ```
//!
//! A sniffer that hears both is rarer than one that hears one of them: pairs that are not seen may still be hidden.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use lasthop_units::{Duration, Time};

use crate::bounds::{Bounds, Kept};

/// A PPDU as others sense it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sensed {
    pub start: Time,
    pub end: Time,
    pub channel: u32,
    pub from: u32,
    /// the other node of the exchange
    pub to: Option<u32>,
}

/// PPDUs on the air, and nodes that did not defer to them.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    on_air: Vec<Sensed>,
    /// end of the latest PPDU sent by a node or addressed to it
    involved: BTreeMap<u32, Time>,
    /// counts by current sender and new sender
    pub pairs: BTreeMap<(u32, u32), u64>,
    /// PPDUs of each node that do not follow another by a SIFS
    pub begun: BTreeMap<u32, u64>,
}

impl Hidden {
    /// A PPDU begins; `slot` and `sifs` are those of its PHY, and clocks are off by up to `clock`.
    pub(crate) fn begin(
        &mut self,
        ppdu: &Sensed,
        (slot, sifs): (Duration, Duration),
        clock: Duration,
        counts: bool,
        bounds: &mut Bounds,
    ) {
        self.on_air.retain(|other| other.end > ppdu.start);
        let follows = self.involved.get(&ppdu.from).is_some_and(|end| ppdu.start <= *end + sifs + clock);
        if counts && !follows {
            *self.begun.entry(ppdu.from).or_default() += 1;
            for other in self.on_air.iter().filter(|other| other.channel == ppdu.channel && other.from != ppdu.from) {
                if ppdu.start > other.start + slot + clock {
                    let kept = self.pairs.len();
                    match self.pairs.entry((other.from, ppdu.from)) {
                        Entry::Occupied(mut times) => *times.get_mut() += 1,
                        Entry::Vacant(place) if bounds.admits(Kept::HiddenPairs, kept) => drop(place.insert(1)),
                        Entry::Vacant(_) => {}
                    }
                }
            }
        }
        for node in std::iter::once(ppdu.from).chain(ppdu.to) {
            let latest = self.involved.entry(node).or_insert(ppdu.end);
            *latest = ppdu.end.max(*latest);
        }
        if bounds.admits(Kept::OpenPpdus, self.on_air.len()) {
            self.on_air.push(*ppdu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ppdus: &[(u64, u64, u32, Option<u32>)]) -> Vec<((u32, u32), u64)> {
        let mut hidden = Hidden::default();
        let times = (Duration::from_micros(9), Duration::from_micros(16));
        for &(start, end, from, to) in ppdus {
            let us = |n: u64| Time::from_nanos(n * 1000);
            let ppdu = Sensed { start: us(start), end: us(end), channel: 0, from, to };
            hidden.begin(&ppdu, times, Duration::ZERO, true, &mut Bounds::default());
        }
        hidden.pairs.into_iter().collect()
    }

    #[test]
    fn start_during_another_ppdu_means_hidden() {
        assert_eq!(pairs(&[(0, 500, 1, Some(0)), (300, 600, 2, Some(0))]), [((1, 2), 1)]);
    }

    #[test]
    fn start_in_same_slot_or_response_does_not_mean_hidden() {
        assert_eq!(pairs(&[(0, 500, 1, Some(0)), (9, 600, 2, Some(0))]), []);
        assert_eq!(pairs(&[(0, 100, 1, Some(0)), (50, 400, 2, Some(3)), (116, 160, 0, Some(1))]), [((1, 2), 1)]);
    }
}
