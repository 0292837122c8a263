//! Radiotap headers of PPDUs.

use lasthop_observe::detail::{PpduKind, PpduStart};
use lasthop_units::Time;
use lasthop_wire::Radiotap;
use lasthop_wire::ieee80211::Delimiter;
use lasthop_wire::radiotap::{AmpduStatus, Channel, Flags, He, Mcs, Timestamp, Vht};

use crate::site::{BssSite, Format};

/// The longest of these headers, for the snap length of an interface.
pub(crate) const LONGEST: u32 = 64;

/// Returns whether a PPDU holds an A-MPDU, and whether that holds a single MPDU with its own acknowledgement.
fn is_ampdu(start: &PpduStart, format: Option<Format>) -> (bool, bool) {
    let has_mcs = start.mcs.is_some();
    // VHT and HE have no other PSDUs [802.11-2020 §10.12.6].
    let single = start.kind == PpduKind::Data && matches!(format, Some(Format::Vht | Format::He));
    (has_mcs && (single || start.kind == PpduKind::Ampdu), single)
}

/// The header of the MPDUs of a PPDU that began at `at`, without its TSFT and the fields that differ between them.
pub(crate) fn of_ppdu(start: &PpduStart, at: Time, bss: &BssSite) -> Radiotap {
    let mut radiotap = Radiotap { timestamp: Some(Timestamp::ppdu_start_ns(at.as_nanos())), ..Radiotap::default() };
    let guard_ns = start.guard_interval.as_nanos() as u16;
    let is_dsss = start.mcs.is_none() && guard_ns == 0;
    let mut flags = Flags::FCS_AT_END;
    if is_dsss && bss.short_preamble && start.rate.as_bps() > 1_000_000 {
        flags = flags.with(Flags::SHORT_PREAMBLE);
    }
    let (short_gi, width, streams) = (guard_ns == 400, start.width_mhz, start.streams);
    match (start.mcs, bss.format) {
        (Some(mcs), Some(Format::Ht)) => {
            radiotap.mcs = Some(Mcs::mixed(mcs, width, short_gi));
            if short_gi {
                flags = flags.with(Flags::SHORT_GUARD_INTERVAL);
            }
        }
        (Some(mcs), Some(Format::Vht)) => radiotap.vht = Some(Vht::single_user(mcs, streams, width, short_gi)),
        (Some(mcs), Some(Format::He)) => radiotap.he = Some(He::single_user(mcs, streams, width, guard_ns)),
        _ => radiotap.rate_500kbps = Some((start.rate.as_bps() / 500_000) as u8),
    }
    let band = if bss.mhz < 3000 { Channel::GHZ_2 } else { Channel::GHZ_5 };
    let modulation = if is_dsss { Channel::CCK } else { Channel::OFDM };
    radiotap.channel = Some(Channel { mhz: bss.mhz, flags: band | modulation });
    Radiotap { flags: Some(flags), ..radiotap }
}

/// The place of an MPDU of `bytes` in the A-MPDU of a PPDU, if there is one; `reference` is that of the PPDU.
pub(crate) fn place(
    start: &PpduStart,
    bss: &BssSite,
    reference: u32,
    bytes: u32,
    is_last: bool,
) -> Option<AmpduStatus> {
    let (is_ampdu, single) = is_ampdu(start, bss.format);
    let delimiter = Delimiter { end_of_frame: single, length: bytes as u16 };
    is_ampdu.then(|| AmpduStatus {
        reference,
        is_last: Some(is_last),
        delimiter_crc: Some(delimiter.bytes()[2]),
        end_of_frame: Some(single),
        ..AmpduStatus::default()
    })
}

/// The header with the fields that differ: the signal at its receiver, and whether it was decoded there.
pub(crate) fn received(radiotap: &Radiotap, signal_dbm: Option<i8>, is_good: bool) -> Radiotap {
    let flags = radiotap.flags.map(|flags| if is_good { flags } else { flags.with(Flags::BAD_FCS) });
    Radiotap { flags, signal_dbm, ..*radiotap }
}
