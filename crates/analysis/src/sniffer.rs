//! The lessons of the first pass about the sniffer of a file: its FCS and its clock.

use lasthop_wire::capture::LinkType;

use crate::clock::RadioClock;
use crate::fcs::Fcs;
use crate::frame::{Seen, read};
use crate::input::Captured;
use crate::stamps::{Learner, Stamps};

/// Link types of the air.
const AIR: [LinkType; 5] = [LinkType::RADIOTAP, LinkType::IEEE_802_11, LinkType::PRISM, LinkType::AVS, LinkType::PPI];

/// A sniffer that is being learned about.
#[derive(Default)]
pub(crate) struct Sniffer {
    pub fcs: Fcs,
    clock: RadioClock,
    learner: Learner,
}

impl Sniffer {
    /// Learns from a packet, as long as there is something to learn.
    pub(crate) fn look(&mut self, captured: &Captured) {
        if !AIR.contains(&captured.link_type) {
            return;
        }
        self.fcs.look(captured);
        if self.learner.is_done() {
            return;
        }
        if let Ok(Seen::Air(heard)) = read(captured, &self.fcs) {
            let start_ns = self.clock.start_ns(captured.time_ns, &heard.radiotap);
            self.learner.look(start_ns, &heard);
        }
    }

    /// The verdict about its time stamps.
    pub(crate) fn stamps(&self) -> Stamps {
        self.learner.stamps()
    }

    /// Nanoseconds between the beginning of the first PPDU and its stamp.
    pub(crate) fn begins_before_ns(&self) -> i64 {
        let lasts = self.learner.first_lasts().filter(|_| self.stamps().is_of_end());
        lasts.map_or(0, |lasts| lasts.as_nanos() as i64)
    }
}
