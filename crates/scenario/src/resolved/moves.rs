//! The channels to which an access point and its stations may move during a run.
//!
//! Where BSSs move, no two overlap in part, so all share one set of channels of which any two are the same or disjoint: those
//! at the start, and then of each BSS in turn the lowest that fit. Path losses and fading keep the frequencies of the start, which differ by
//! less than 1 dB in a band.

use lasthop_registry::Fault;
use lasthop_wifi::phy::Phy;

use super::stack::uses_kernel;
use super::{Range, ResolvedScenario};
use crate::knob::{Handle, Knob, Place};

fn are_apart(a: Range, b: Range) -> bool {
    a == b || a.1 <= b.0 || b.1 <= a.0
}

impl ResolvedScenario {
    /// The knob of the channel of an access point.
    ///
    /// # Errors
    /// A scenario whose BSSs cannot move.
    pub(super) fn channel_knob(&self, knob: &'static Knob, ap: usize) -> Result<Handle, Fault> {
        let slot = self.phy_of(ap).slot();
        let own: Vec<Range> = self.channels_for(ap).into_iter().map(|(_, range)| range).collect();
        let could_meet = |phy: &Phy| phy.slot() != slot && phy.channels().any(|(_, range)| own.contains(&range));
        if self.bss.iter().any(|bss| could_meet(&bss.config.phy)) {
            return Err((
                "BSSs with different slots cannot meet on a channel: none could count the slots of the other",
                "set short_slot to the same value",
            )
                .into());
        }
        if self.widths_differ() {
            return Err((
                "BSSs that share a primary channel with different widths keep their channels",
                "set channel_width to the same value, or choose separate channels",
            )
                .into());
        }
        if uses_kernel(&self.description) {
            return Err(("a BSS of a kernel's Wi-Fi stack keeps its channel", "wifi_stack = \"model\"").into());
        }
        Ok(Handle { knob, place: Place::Node(lasthop_observe::NodeId(ap as u32)) })
    }

    /// Whether a knob of it moves BSSs.
    pub(crate) fn may_move(&self) -> bool {
        self.turned.channels
    }

    /// The ranges of the channels at the start, in the order of their numbers in the medium.
    pub(crate) fn ranges_at_start(&self) -> Vec<Range> {
        let mut ranges = Vec::new();
        for bss in &self.bss {
            let range = bss.config.phy.frequency_range_hz();
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        ranges
    }

    /// The channels that an access point may have, in ascending order: the number of the primary channel, and the range.
    pub(crate) fn channels_for(&self, ap: usize) -> Vec<(u8, Range)> {
        let mut all = self.ranges_at_start();
        for bss in &self.bss {
            for (_, range) in bss.config.phy.channels() {
                if all.iter().all(|one| are_apart(*one, range)) {
                    all.push(range);
                }
            }
        }
        self.phy_of(ap).channels().filter(|(_, range)| all.contains(range)).collect()
    }

    /// The one of them whose number is nearest.
    pub(crate) fn channel_near(&self, ap: usize, number: f64) -> (u8, Range) {
        let distance = |(known, _): &(u8, Range)| (f64::from(*known) - number).abs();
        let nearest = self.channels_for(ap).into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.expect("an access point may keep its channel")
    }
}
