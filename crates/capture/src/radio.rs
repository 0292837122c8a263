//! Radiotap headers of PPDUs.

use lasthop_observe::detail::{PpduKind, PpduStart, Unit};
use lasthop_units::{Duration, Time};
use lasthop_wire::Radiotap;
use lasthop_wire::ieee80211::Delimiter;
use lasthop_wire::radiotap::{AmpduStatus, Channel, Flags, He, HeFormat, HeMu, LSig, Mcs, Timestamp, Vht};

use crate::frame::in_80_mhz;
use crate::site::{BssSite, Format, Site};

/// Silence that counts as part of a PPDU of OFDM at 2.4 GHz. [802.11-2020 §10.3.8]
const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

/// The longest of these headers, for the snap length of an interface; with fields of several users or without.
pub(crate) const fn longest(several_users: bool) -> u32 {
    if several_users { 84 } else { 64 }
}

/// Returns whether a PPDU holds an A-MPDU, and whether that holds a single MPDU with its own acknowledgement.
fn is_ampdu(start: &PpduStart, format: Option<Format>) -> (bool, bool) {
    let has_mcs = start.mcs.is_some();
    // VHT and HE have no other PSDUs [802.11-2020 §10.12.6].
    let single = start.kind == PpduKind::Data && matches!(format, Some(Format::Vht | Format::He));
    (has_mcs && (single || start.kind == PpduKind::Ampdu), single)
}

/// The header of the MPDUs of a PPDU that began at `at`, without its TSFT and the fields that differ between them.
pub(crate) fn of_ppdu(start: &PpduStart, at: Time, site: &Site) -> Radiotap {
    let bss = site.bss_of(start.node);
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
        (Some(mcs), Some(Format::He)) => match start.unit {
            Some(unit) => of_part(start, mcs, unit, site, &mut radiotap),
            None => radiotap.he = Some(He::single_user(mcs, streams, width, guard_ns)),
        },
        _ => radiotap.rate_500kbps = Some((start.rate.as_bps() / 500_000) as u8),
    }
    let band = if bss.mhz < 3000 { Channel::GHZ_2 } else { Channel::GHZ_5 };
    let modulation = if is_dsss { Channel::CCK } else { Channel::OFDM };
    let (_, mhz) = site.primary(start.node, start.channel);
    radiotap.channel = Some(Channel { mhz, flags: band | modulation });
    Radiotap { flags: Some(flags), ..radiotap }
}

/// The HE fields of a part of a PPDU of several users.
fn of_part(start: &PpduStart, mcs: u8, unit: Unit, site: &Site, radiotap: &mut Radiotap) {
    let bss = site.bss_of(start.node);
    let guard_ns = start.guard_interval.as_nanos() as u16;
    let (place, secondary) = in_80_mhz(unit);
    let is_up = start.node != start.initiator;
    radiotap.he = Some(He {
        format: if is_up { HeFormat::TriggerBased } else { HeFormat::Mu },
        uplink: Some(is_up),
        bandwidth: He::code_of_tones(unit.tones as u16),
        secondary_80_mhz: Some(secondary),
        ru_offset: Some(place),
        sta_id: start.to.filter(|_| !is_up).map(|to| site.aid(to)),
        ..He::single_user(mcs, start.streams, start.width_mhz, guard_ns)
    });
    let lasts = if bss.mhz < 3000 { start.airtime - SIGNAL_EXTENSION } else { start.airtime };
    radiotap.l_sig = Some(LSig::of_he(lasts.as_nanos(), !is_up));
    if is_up {
        return;
    }
    // Units of one size in each block of 20 MHz; a block that no user needs is empty. [802.11ax-2021 Table 27-26]
    let blocks = usize::from(bss.width_mhz / 20).clamp(1, 8);
    let (allocation, in_block): (u8, u32) = match unit.tones {
        26 => (0, 9),
        52 => (112, 4),
        106 => (96, 2),
        242 => (192, 1),
        484 => (200, 1),
        _ => (208, 1),
    };
    let used = if unit.tones > 242 { blocks as u32 } else { unit.users.div_ceil(in_block) };
    let mut channels = [[0; 4]; 2];
    for block in 0..blocks {
        channels[block % 2][block / 2] = if (block as u32) < used { allocation } else { 113 };
    }
    radiotap.he_mu = Some(HeMu {
        sig_b_mcs: None,
        bandwidth: [20, 40, 80, 160].iter().position(|width| *width == bss.width_mhz).map(|code| code as u8),
        channel_1: Some(channels[0]),
        channel_2: (blocks > 1).then_some(channels[1]),
    });
}

/// The A-MPDU of a QoS Null, which is alone in it.
pub(crate) fn place_alone(start: &PpduStart, reference: u32, bytes: u32) -> Option<AmpduStatus> {
    let delimiter = Delimiter { end_of_frame: true, length: bytes as u16 };
    (start.kind == PpduKind::QosNull).then(|| AmpduStatus {
        reference,
        is_last: Some(true),
        delimiter_crc: Some(delimiter.bytes()[2]),
        end_of_frame: Some(true),
        ..AmpduStatus::default()
    })
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
