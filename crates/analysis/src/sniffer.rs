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
    tsft: Running,
}

/// Whether the TSFT of frames runs: some drivers write the same for all.
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    /// TSFT and time of the latest frame that had another PPDU
    latest: Option<(u64, i64)>,
    runs: u32,
    stands: u32,
}

/// No PPDU is longer. [802.11-2020 Table 21-29]
const LONGEST_PPDU_NS: i64 = 6_000_000;

impl Running {
    fn look(&mut self, at_ns: i64, tsft_us: Option<u64>) {
        let Some(tsft_us) = tsft_us else { return };
        let (before_us, before_ns) = *self.latest.get_or_insert((tsft_us, at_ns));
        if at_ns.saturating_sub(before_ns) <= LONGEST_PPDU_NS {
            return;
        }
        self.latest = Some((tsft_us, at_ns));
        match before_us == tsft_us {
            true => self.stands = self.stands.saturating_add(1),
            false => self.runs = self.runs.saturating_add(1),
        }
    }
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
        if let Ok(Seen::Air(mut heard)) = read(captured, &self.fcs) {
            self.tsft.look(captured.time_ns, heard.radiotap.tsft_us);
            if self.tsft_stands() {
                heard.radiotap.tsft_us = None;
            }
            let start_ns = self.clock.start_ns(captured.time_ns, &heard.radiotap);
            self.learner.look(start_ns, &heard);
        }
    }

    /// Whether its TSFT is no time.
    pub(crate) fn tsft_stands(&self) -> bool {
        self.tsft.stands > self.tsft.runs
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
