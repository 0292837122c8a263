//! Counts of the air besides the metrics.

use std::collections::BTreeMap;

use lasthop_observe::LinkId;
use lasthop_units::Duration;
use lasthop_wire::ieee80211::{DataKind, Frame, FrameFlags};

use crate::attempts::{Open, Steps};
use crate::bounds::{Bounds, Kept};
use crate::cause::Cause;
use crate::events::Attempt;
use crate::frame::Heard;
use crate::hidden::Hidden;
use crate::missed::Missed;
use crate::modes::LinkModes;
use crate::ppdu::{Kind, Mpdu, Ppdu};
use crate::signal::Signal;

/// A body with no more than LLC and SNAP, the headers of IPv6 and TCP with all options, and the overhead of
/// encryption.
const SHORT_MPDU: u32 = 26 + 8 + 40 + 60 + 16 + 4;

/// A quantity of PPDUs is absent if it is unknown for more than one of so many.
const ONE_OF: u64 = 100;

/// PPDUs, and those of them of which something is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    pub all: u64,
    pub unknown: u64,
}

impl Known {
    pub(crate) fn count(&mut self, is_known: bool) {
        self.all += 1;
        self.unknown += u64::from(!is_known);
    }

    /// Whether a sum over those that are known is the sum over all.
    pub(crate) fn suffices(&self) -> bool {
        self.unknown * ONE_OF <= self.all
    }

    pub(crate) fn fraction(&self) -> Option<f64> {
        (self.all > 0).then(|| (self.all - self.unknown) as f64 / self.all as f64)
    }
}

impl std::iter::Sum for Known {
    fn sum<I: Iterator<Item = Known>>(all: I) -> Known {
        all.fold(Known::default(), |sum, one| Known { all: sum.all + one.all, unknown: sum.unknown + one.unknown })
    }
}

/// Counts of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkTally {
    pub mpdus: u64,
    pub mpdus_retried: u64,
    /// MPDUs whose Retry bit shows an attempt that was not heard
    pub mpdus_of_unheard_attempts: u64,
    /// MPDUs that were acknowledged, and the ones with the Retry bit
    pub arrived: u64,
    pub arrived_again: u64,
    pub mpdus_protected: u64,
    /// number of these that are as short as a pure TCP ACK
    pub mpdus_short: u64,
    /// by rate in bit/s: attempts, and MPDUs
    pub rates: BTreeMap<u64, (u64, u64)>,
    /// attempts by whether their rates are known
    pub rated: Known,
    /// PPDUs by whether their durations are known
    pub lasting: Known,
    /// RTS without a CTS
    pub rts_unanswered: u64,
    /// the uncertain ones among these
    pub rts_open: Open,
    pub modes: LinkModes,
    /// of PPDUs that name their sender
    pub signal: Signal,
}

/// The time of PPDUs of one node and kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub time: Duration,
    pub lasting: Known,
}

/// Counts of the whole air.
#[derive(Debug, Default)]
pub(crate) struct AirTally {
    pub links: Vec<LinkTally>,
    /// by node and kind
    pub spent: BTreeMap<(u32, Kind), Spent>,
    /// airtime of PPDUs whose sender is unknown
    pub airtime_of_others: Duration,
    pub frames: u64,
    /// bytes of all frames, FCS included
    pub bytes: u64,
    pub frames_retried: u64,
    pub bad_fcs: u64,
    pub captured_twice: u64,
    /// Acks, and BlockAcks that are understood
    pub answers: u64,
    /// other BlockAcks
    pub unread_answers: u64,
    /// data frames with four addresses
    pub direct: u64,
    /// data frames for groups
    pub to_groups: u64,
    /// PPDUs by whether their durations follow from radiotap
    pub lasting: Known,
    pub causes: BTreeMap<Cause, u64>,
    pub is_cut_off: bool,
    pub missed: Missed,
    pub hidden: Hidden,
    pub steps: BTreeMap<LinkId, Steps>,
}

impl AirTally {
    pub(crate) fn new(links: usize) -> AirTally {
        AirTally { links: vec![LinkTally::default(); links], ..AirTally::default() }
    }

    /// Counts a frame.
    pub(crate) fn count_frame(&mut self, heard: &Heard<'_>) {
        self.frames += 1;
        self.bytes += u64::from(heard.length);
        self.bad_fcs += u64::from(!heard.is_good);
        self.frames_retried += u64::from(heard.is_retry);
        if let Frame::Data(data) = &heard.frame {
            self.direct += u64::from(data.address_4.is_some());
            let is_readable = !data.flags.contains(FrameFlags::PROTECTED) && data.kind == DataKind::Data;
            self.to_groups += u64::from(is_readable && data.address_1.is_group() && data.address_4.is_none());
        }
    }

    /// Counts a PPDU of a node over a link, as far as they are known; whether its duration is known, and its mode.
    pub(crate) fn count_ppdu(
        &mut self,
        ppdu: &Ppdu,
        (is_known, has_mode): (bool, bool),
        (from, link): (Option<u32>, Option<LinkId>),
    ) {
        self.captured_twice += ppdu.twice;
        self.lasting.count(is_known);
        let is_unread = ppdu.is_unread_answer();
        self.unread_answers += u64::from(is_unread);
        self.answers += u64::from(matches!(ppdu.kind, Kind::Ack | Kind::BlockAck) && !is_unread);
        if !has_mode {
            *self.causes.entry(ppdu.cause).or_default() += 1;
        }
        if let Some(from) = from {
            self.spent.entry((from, ppdu.kind)).or_default().lasting.count(is_known);
        }
        if let Some(link) = link {
            let link = &mut self.links[link.index()];
            link.lasting.count(is_known);
            if let (Some(dbm), Some(_)) = (ppdu.signal_dbm, ppdu.transmitter) {
                link.signal.see(ppdu.start, dbm);
            }
        }
    }

    /// The share of lost MPDUs of a link by its Retry bits, if attempts were not heard because they failed: sniffers often
    /// write no damaged frames. If attempts fail independently with probability p, then the first one of a share p of all
    /// MPDUs that arrive has failed.
    pub(crate) fn loss_by_retries(&self, link: &LinkTally) -> Option<f64> {
        let is_needed = self.bad_fcs == 0 && link.mpdus_of_unheard_attempts > 0 && link.arrived > 0;
        is_needed.then(|| link.arrived_again as f64 / link.arrived as f64)
    }

    /// Forgets the rates over time of links that have too many with those before them.
    pub(crate) fn bound_tracks(&mut self, bounds: &mut Bounds) {
        let mut kept = 0;
        for link in &mut self.links {
            let intervals = link.modes.intervals();
            if intervals > 0 && !bounds.admits(Kept::Intervals, kept + intervals - 1) {
                link.modes.forget_track();
            }
            kept += link.modes.intervals();
        }
    }

    /// MPDUs over all links, and the encrypted ones.
    pub(crate) fn readable(&self) -> Known {
        self.links.iter().map(|link| Known { all: link.mpdus, unknown: link.mpdus_protected }).sum()
    }

    /// Attempts over all links.
    pub(crate) fn rated(&self) -> Known {
        self.links.iter().map(|link| link.rated).sum()
    }

    /// PPDUs of a node.
    pub(crate) fn of_node(&self, node: u32) -> Known {
        let own = self.spent.range((node, Kind::ALL[0].0)..(node + 1, Kind::ALL[0].0));
        own.map(|(_, spent)| spent.lasting).sum()
    }
}

impl LinkTally {
    /// Counts an attempt that has ended.
    pub(crate) fn count_attempt(&mut self, attempt: &Attempt) {
        self.rated.count(attempt.rate.is_some());
        if let Some(rate) = attempt.rate {
            let (attempts, mpdus) = self.rates.entry(rate.as_bps()).or_default();
            (*attempts, *mpdus) = (*attempts + 1, *mpdus + u64::from(attempt.mpdus));
        }
    }

    /// Counts an MPDU, whose Retry bit perhaps shows an attempt that was not heard.
    pub(crate) fn count(&mut self, mpdu: &Mpdu, shows_unheard: bool) {
        self.mpdus += 1;
        self.mpdus_of_unheard_attempts += u64::from(shows_unheard);
        self.mpdus_retried += u64::from(mpdu.is_retry);
        self.mpdus_protected += u64::from(mpdu.is_protected);
        self.mpdus_short += u64::from(mpdu.is_protected && mpdu.length <= SHORT_MPDU);
    }
}
