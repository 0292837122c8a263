//! Counts of the air besides the metrics.

use std::collections::BTreeMap;

use lasthop_observe::LinkId;
use lasthop_units::Duration;

use crate::attempts::{Open, Steps};
use crate::hidden::Hidden;
use crate::missed::Missed;
use crate::modes::LinkModes;
use crate::ppdu::{Kind, Mpdu};

/// A body with no more than LLC and SNAP, the headers of IPv6 and TCP with all options, and the overhead of
/// encryption.
const SHORT_MPDU: u32 = 26 + 8 + 40 + 60 + 16 + 4;

/// Counts of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkTally {
    pub mpdus: u64,
    pub mpdus_retried: u64,
    pub mpdus_protected: u64,
    /// number of these that are as short as a pure TCP ACK
    pub mpdus_short: u64,
    /// by rate in bit/s: attempts, and MPDUs
    pub rates: BTreeMap<u64, (u64, u64)>,
    /// RTS without a CTS
    pub rts_unanswered: u64,
    /// the uncertain ones among these
    pub rts_open: Open,
    pub modes: LinkModes,
}

/// Counts of the whole air.
#[derive(Debug, Default)]
pub(crate) struct AirTally {
    pub links: Vec<LinkTally>,
    /// by node and kind
    pub airtime: BTreeMap<(u32, Kind), Duration>,
    /// airtime of PPDUs whose sender is unknown
    pub airtime_of_others: Duration,
    pub ppdus: u64,
    pub frames: u64,
    pub frames_retried: u64,
    pub bad_fcs: u64,
    pub captured_twice: u64,
    /// PPDUs whose duration does not follow from radiotap
    pub unknown_duration: u64,
    pub is_cut_off: bool,
    pub missed: Missed,
    pub hidden: Hidden,
    pub steps: BTreeMap<LinkId, Steps>,
}

impl LinkTally {
    /// Counts an MPDU.
    pub(crate) fn count(&mut self, mpdu: &Mpdu) {
        self.mpdus += 1;
        self.mpdus_retried += u64::from(mpdu.is_retry);
        self.mpdus_protected += u64::from(mpdu.is_protected);
        self.mpdus_short += u64::from(mpdu.is_protected && mpdu.length <= SHORT_MPDU);
    }
}
