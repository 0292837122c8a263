//! Quantities that a capture does not give, because the durations or the rates of its PPDUs are unknown, or because its clock
//! is too coarse, or its packets are encrypted. They are absent.

use lasthop_observe::metric::airtime::{OF_LINK, OF_NODE};
use lasthop_observe::metric::frames::{self, DATA_RATE, DATA_RATE_MEAN, LINK_DATA_RATE_MEAN, MPDU_LOSS};
use lasthop_observe::metric::goodput::{self, GOODPUT};
use lasthop_observe::metric::medium::{BUSY, IDLE};
use lasthop_observe::{Report, Series, SeriesBlock};
use lasthop_units::{Duration, Time};

use crate::site::Site;
use crate::stamps::Stamps;
use crate::tally::{AirTally, Known};

/// A rate over less than this many steps of the clock is too uncertain.
const FEWEST_STEPS: u64 = 100;
/// A time that is shorter is that of one packet.
const SHORTEST: Duration = Duration::from_micros(1);

/// The causes that make quantities unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unknown {
    /// durations of the PPDUs of the air
    pub durations: bool,
    /// overlap of PPDUs, and the gaps between them
    pub overlap: bool,
    /// frames that answers belong to
    pub exchanges: bool,
    /// frames of one PPDU
    pub ppdus: bool,
    /// outcomes of attempts: the capture has no answers
    pub outcomes: bool,
    /// the length of the measured time
    pub length: bool,
    /// all packets have the same time
    pub instant: bool,
    /// the time for which the sniffer heard each channel
    pub channels: bool,
    /// packets, which are encrypted on the air and were captured nowhere else
    pub packets: bool,
}

impl Unknown {
    pub(crate) fn of(air: &AirTally, stamps: &Stamps, site: &Site, window: (Time, Time), is_hopping: bool) -> Unknown {
        let instant = window.1.since(window.0) < SHORTEST;
        if site.air.is_none() {
            return Unknown { length: instant, instant, ..Unknown::default() };
        }
        let step = stamps.step.unwrap_or(Duration::ZERO);
        Unknown {
            durations: !air.lasting.suffices(),
            overlap: stamps.is_coarse(),
            exchanges: stamps.is_disordered,
            ppdus: stamps.is_mixed,
            outcomes: air.answers == 0,
            length: instant || window.1.since(window.0) < step.saturating_mul(FEWEST_STEPS),
            instant,
            channels: is_hopping,
            packets: !site.has_wire && !air.readable().suffices(),
        }
    }

    /// Makes unknown quantities absent.
    pub(crate) fn withdraw(&self, site: &Site, air: &AirTally, report: &mut Report, series: Option<&mut Series>) {
        if self.durations || self.overlap || self.channels {
            report.medium.withdraw(BUSY);
            report.medium.withdraw(IDLE);
        }
        for (node, row) in (0..).zip(&mut report.nodes) {
            if self.length || !air.of_node(node).suffices() {
                row.withdraw(OF_NODE);
            }
            if !rated_of(node, site, air).suffices() {
                row.withdraw(DATA_RATE_MEAN);
            }
            if self.ppdus {
                row.withdraw(frames::FRAMES_SENT);
                row.withdraw(frames::FRAMES_RETRIED);
                row.withdraw(frames::MPDUS_MEAN);
            }
        }
        for (tally, row) in air.links.iter().zip(&mut report.links) {
            if self.length || !tally.lasting.suffices() {
                row.withdraw(OF_LINK);
            }
            if !tally.rated.suffices() {
                row.withdraw(LINK_DATA_RATE_MEAN);
            }
            if self.exchanges || self.outcomes {
                row.withdraw(MPDU_LOSS);
            } else if let Some(loss) = air.loss_by_retries(tally) {
                row.replace(MPDU_LOSS, loss);
            }
            if self.ppdus {
                row.withdraw(frames::LINK_FRAMES_SENT);
                row.withdraw(frames::LINK_MPDUS_MEAN);
                row.withdraw(frames::RETRIES);
            }
        }
        if self.length {
            report.flows.iter_mut().for_each(|flow| flow.withdraw(GOODPUT));
        }
        if self.length || self.packets {
            withdraw_totals(report);
        }
        if let Some(series) = series {
            self.blank(air, series);
        }
    }

    fn blank(&self, air: &AirTally, series: &mut Series) {
        let of = |link: u32| &air.links[link as usize];
        for block in &mut series.blocks {
            if block.quantity.is(OF_LINK.definition()) {
                blank_columns(block, |link| !of(link).lasting.suffices());
            } else if block.quantity.is(DATA_RATE.definition()) {
                blank_columns(block, |link| !of(link).rated.suffices());
            }
        }
    }
}

/// Attempts of a node.
fn rated_of(node: u32, site: &Site, air: &AirTally) -> Known {
    let own = site.link_ends.iter().zip(&air.links).filter(|((from, _), _)| *from == node);
    own.map(|(_, tally)| tally.rated).sum()
}

fn withdraw_totals(report: &mut Report) {
    report.totals.withdraw(goodput::GOODPUT_OF_ALL);
    report.totals.withdraw(goodput::GOODPUT_OF_UPLOADS);
    report.totals.withdraw(goodput::GOODPUT_OF_DOWNLOADS);
}

/// Replaces the values of some entities by NaN.
pub(crate) fn blank_columns(block: &mut SeriesBlock, is_unknown: impl Fn(u32) -> bool) {
    for row in block.values.chunks_mut(block.entities.len().max(1)) {
        for (value, _) in row.iter_mut().zip(&block.entities).filter(|(_, entity)| is_unknown(**entity)) {
            *value = f64::NAN;
        }
    }
}
