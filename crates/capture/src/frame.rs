//! MAC frames of PPDUs, up to the stored length.

use lasthop_observe::NodeId;
use lasthop_observe::detail::{PpduKind, Unit};
use lasthop_units::Ecn;
use lasthop_wire::ieee80211::{
    AMPDU_DELIMITER, Ack, AckPolicy, AckedStation, Beacon, BlockAck, BlockAckReq, CfEnd, Cts, Data, DataKind, Elements,
    FrameFlags, Msdu, QosControl, Rts, SequenceControl, Trigger, TriggerKind, TriggerUser, append_elements,
    append_msdu, append_multi_sta_block_ack, ru_number,
};
use lasthop_wire::{EtherType, MacAddress, append_fcs, append_llc_snap};

use crate::airborne::{Airborne, Content, Named};
use crate::ccmp::{RSN, append_protected};
use crate::packet::append_packet;
use crate::packets::Held;
use crate::site::Site;

/// Bytes of the FCS.
pub(crate) const FCS: usize = 4;
/// Bytes of LLC and SNAP.
const LLC_SNAP: usize = 8;
/// Bytes of addresses and length before an MSDU of an A-MSDU.
const SUBFRAME_HEADER: usize = 14;
/// A unit of time of beacons in ns.
const TU_NS: u64 = 1_024_000;
/// The element of an AP without traffic for dozing stations. [802.11-2020 §9.4.2.5]
const NO_TRAFFIC: [u8; 6] = [5, 4, 0, 1, 0, 0];
/// The vendor-specific element, and the first byte of a locally administered vendor number.
const VENDOR: u8 = 221;
const LOCAL: u8 = 0x02;
/// The capability of an AP. [802.11-2020 §9.4.1.4]
const ESS: u16 = 1;
/// The bit of the capability of an AP that protects data. [802.11-2020 §9.4.1.4]
const PRIVACY: u16 = 1 << 4;
/// The largest duration that a frame can express.
const LONGEST_DURATION: u64 = 0x7fff;

/// A frame with a good FCS.
#[derive(Default)]
pub(crate) struct Built {
    /// the stored bytes
    pub bytes: Vec<u8>,
    pub original_length: usize,
    /// number of these that belong to the FCS
    fcs_kept: usize,
}

impl Built {
    /// Cuts off bytes behind `snap`, and fills up a frame of `length` bytes, FCS included.
    fn finish(&mut self, length: usize, snap: usize) {
        let (kept, body) = (length.min(snap), length - FCS);
        self.original_length = length;
        self.fcs_kept = kept.saturating_sub(body);
        if self.fcs_kept > 0 {
            self.bytes.resize(body, 0);
            append_fcs(&mut self.bytes, 0);
        }
        self.bytes.resize(kept, 0);
    }

    /// Turns a good FCS into a wrong one, and vice versa.
    pub(crate) fn flip_fcs(&mut self) {
        let body = self.bytes.len() - self.fcs_kept;
        self.bytes[body..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// The Duration field of a PPDU, in µs. [802.11-2020 §9.2.5.1]
fn duration_us(ppdu: &Airborne) -> u16 {
    let end = ppdu.at + ppdu.start.airtime;
    let reserved = ppdu.start.reserves_until.max(end).since(end);
    reserved.as_nanos().div_ceil(1000).min(LONGEST_DURATION) as u16
}

/// Builds a frame without packets; `number` is for a beacon.
pub(crate) fn build_control(site: &Site, ppdu: &Airborne, number: u16, snap: usize, built: &mut Built) {
    built.bytes.clear();
    let out = &mut built.bytes;
    if let Some(frame) = &ppdu.frame {
        out.extend_from_slice(&frame[..frame.len().min(snap)]);
        return built.finish(ppdu.start.bytes as usize, snap);
    }
    let (duration_us, transmitter) = (duration_us(ppdu), Site::mac(ppdu.start.node));
    let receiver = ppdu.start.to.map_or(transmitter, Site::mac);
    let flags = FrameFlags::NONE;
    match ppdu.start.kind {
        PpduKind::Rts => Rts { flags, duration_us, receiver, transmitter }.append(out),
        PpduKind::Cts | PpduKind::CtsToSelf => Cts { flags, duration_us, receiver }.append(out),
        PpduKind::Ack => Ack { flags, duration_us, receiver }.append(out),
        PpduKind::BlockAck => {
            if let Some(agreed) = ppdu.agreed {
                let (tid, start, bitmap) = (agreed.tid, (agreed.start % 4096) as u16, agreed.bitmap);
                BlockAck { flags, duration_us, receiver, transmitter, no_ack: false, tid, start, bitmap }.append(out);
            }
        }
        PpduKind::BlockAckReq => {
            if let Some(agreed) = ppdu.agreed {
                let (tid, start) = (agreed.tid, SequenceControl::whole((agreed.start % 4096) as u16));
                BlockAckReq { flags, duration_us, receiver, transmitter, no_ack: false, tid, start }.append(out);
            }
        }
        PpduKind::CfEnd => CfEnd { flags, bssid: site.bssid_of(ppdu.start.node) }.append(out),
        PpduKind::Beacon => append_beacon(site, ppdu, number, out),
        PpduKind::Data | PpduKind::Ampdu => unreachable!("they are built by MPDU"),
        PpduKind::MuBar => append_trigger(site, ppdu, TriggerKind::MuBar, duration_us, out),
        PpduKind::Bsrp => append_trigger(site, ppdu, TriggerKind::Bsrp, duration_us, out),
        PpduKind::Trigger => append_trigger(site, ppdu, TriggerKind::Basic, duration_us, out),
        PpduKind::MultiStaBlockAck => {
            let acked = |named: &Named| AckedStation {
                aid: named.station.map_or(TriggerUser::ANY, |station| site.aid(station)),
                tid: named.agreed.tid,
                start: (named.agreed.start % 4096) as u16,
                bitmap: named.agreed.bitmap,
            };
            let stations: Vec<AckedStation> = ppdu.named.iter().map(acked).collect();
            append_multi_sta_block_ack(duration_us, transmitter, &stations, out);
        }
        PpduKind::QosNull => {
            let qos = QosControl { ack_policy: AckPolicy::NoAck, ..qos_with_queue_size(ppdu) };
            let null = Data::to_ap(transmitter, receiver, receiver);
            Data { kind: DataKind::Null, duration_us, qos: Some(qos), ..null }.append(out);
        }
    }
    // It is alone in an A-MPDU.
    let delimiter = if ppdu.start.kind == PpduKind::QosNull { AMPDU_DELIMITER } else { 0 };
    built.finish(ppdu.start.bytes as usize - delimiter, snap);
}

/// Appends a trigger with the stations that it names.
fn append_trigger(site: &Site, ppdu: &Airborne, kind: TriggerKind, duration_us: u16, out: &mut Vec<u8>) {
    let bss = site.bss_of(ppdu.start.node);
    let answer = ppdu.named.first().map_or(0, |named| named.answer.as_nanos() / 1000);
    let user = |named: &Named| {
        let unit = named.unit.unwrap_or(Unit { tones: 242, place: 0, users: 1 });
        let (place, secondary) = in_80_mhz(unit);
        TriggerUser {
            aid: named.station.map_or(TriggerUser::ANY, |station| site.aid(station)),
            ru: ru_number(unit.tones, place) << 1 | u8::from(secondary),
            mcs: named.mcs,
            streams: named.streams,
            open: if named.station.is_none() { unit.users - unit.place } else { 0 } as u8,
            asked: Some((named.agreed.tid, (named.agreed.start % 4096) as u16)),
        }
    };
    let users: Vec<TriggerUser> = ppdu.named.iter().map(user).collect();
    let streams = ppdu.named.iter().map(|named| named.streams).max().unwrap_or(1);
    let trigger = Trigger {
        kind,
        duration_us,
        receiver: MacAddress::BROADCAST,
        transmitter: Site::mac(ppdu.start.node),
        // [802.11ax-2021 equation 27-11] with a signal extension of zero.
        length: ((answer.saturating_sub(20)).div_ceil(4) * 3).saturating_sub(5) as u16,
        bandwidth: match bss.width_mhz {
            40 => 1,
            80 => 2,
            160 => 3,
            _ => 0,
        },
        long_guard_interval: bss.long_guard_interval,
        ltf_symbols: [0, 0, 1, 2, 2, 3, 3, 4, 4][usize::from(streams.min(8))],
    };
    trigger.append(&users, out);
}

/// The place of a unit in its 80 MHz, and whether those are the upper ones.
pub(crate) fn in_80_mhz(unit: Unit) -> (u8, bool) {
    let in_segment = match unit.tones {
        26 => 37,
        52 => 16,
        106 => 8,
        242 => 4,
        484 => 2,
        _ => 1,
    };
    ((unit.place % in_segment) as u8, unit.place >= in_segment)
}

fn append_beacon(site: &Site, ppdu: &Airborne, number: u16, out: &mut Vec<u8>) {
    let bss = site.bss_of(ppdu.start.node);
    let (channel, _) = site.primary(ppdu.start.node, ppdu.start.channel);
    let ssid = &bss.ssid.as_bytes()[..bss.ssid.len().min(32)];
    let rates: Vec<u8> = bss.rates.iter().map(|(rate, basic)| rate | u8::from(*basic) << 7).collect();
    let mut elements = Vec::new();
    append_elements(ssid, &rates, channel, &mut elements);
    elements.extend_from_slice(&NO_TRAFFIC);
    if bss.protected {
        elements.extend_from_slice(&RSN);
    }
    let transmitter = Site::mac(ppdu.start.node);
    let start = out.len();
    let beacon = Beacon {
        receiver: MacAddress::BROADCAST,
        transmitter,
        bssid: transmitter,
        sequence: SequenceControl::whole(number),
        timestamp_us: ppdu.at.as_nanos() / 1000,
        interval_tu: bss.beacons.map_or(100, |interval| (interval.as_nanos() / TU_NS) as u16),
        capability: if bss.protected { ESS | PRIVACY } else { ESS },
        elements: Elements(&elements),
        ..Beacon::default()
    };
    beacon.append(out);
    // Other elements of a beacon are not modelled: a vendor-specific one fills it up to its length.
    let missing = (ppdu.start.bytes as usize - FCS).saturating_sub(out.len() - start);
    if let Some(length @ 3..=255) = missing.checked_sub(2) {
        out.extend_from_slice(&[VENDOR, length as u8, LOCAL]);
        out.resize(out.len() + length - 1, 0);
    }
}

/// QoS Control with the length of its sender's queue, if it reports that: bit 4 is then 1. [802.11ax-2021 §9.2.4.5.6]
fn qos_with_queue_size(ppdu: &Airborne) -> QosControl {
    let (bit_4, higher_byte) = ppdu.queue_size.map_or((false, 0), |queue_size| (true, queue_size));
    QosControl { bit_4, higher_byte, ..QosControl::default() }
}

/// Builds an MPDU with packets, with its sequence number and, if it is protected, its packet number.
pub(crate) fn build_data(
    site: &Site,
    ppdu: &Airborne,
    content: &Content,
    (number, packet_number): (u16, Option<u64>),
    snap: usize,
    built: &mut Built,
) {
    built.bytes.clear();
    let (mpdu, packets) = (&content.mpdu, ppdu.packets_of(content));
    let sender = ppdu.start.node;
    let receiver = ppdu.start.to.unwrap_or(sender);
    if let [(Held { frame: Some(frame), .. }, _)] = packets {
        append_own(frame, ppdu, (mpdu.again, mpdu.sequence.map(|_| number)), snap, &mut built.bytes);
        return built.finish(mpdu.bytes as usize, snap);
    }
    let is_amsdu = packets.len() > 1;
    let frame = header(site, sender, receiver, is_amsdu);
    let has_qos = site.has_qos(sender, receiver);
    let frame = Data {
        flags: flags_of(frame.flags, mpdu.again, packet_number.is_some()),
        duration_us: duration_us(ppdu),
        sequence: SequenceControl::whole(number),
        qos: has_qos.then(|| QosControl { tid: mpdu.tid, is_amsdu, ..qos_with_queue_size(ppdu) }),
        ..frame
    };
    frame.append(&mut built.bytes);
    if let Some(packet_number) = packet_number {
        let protected = mpdu.bytes as usize - frame.header_length() - FCS;
        append_protected(packet_number, protected, snap, &mut built.bytes);
    } else if is_amsdu {
        append_amsdu(site, receiver, packets, snap, &mut built.bytes);
    } else if let [(held, ecn)] = packets {
        append_llc_snap(EtherType::IPV4, &mut built.bytes);
        append_packet(site, held, *ecn, &mut built.bytes);
    }
    let body = packets.iter().map(|(held, _)| held.facts.bytes as usize).sum::<usize>();
    debug_assert!(
        is_amsdu || packet_number.is_some() || frame.header_length() + LLC_SNAP + body + FCS == mpdu.bytes as usize,
        "it has its length"
    );
    built.finish(mpdu.bytes as usize, snap);
}

/// Appends a frame of a host's own with the fields that the MAC fills in: its Duration, Retry, and, under a Block Ack agreement, its
/// sequence number. [802.11-2020 §9.2.4]
fn append_own(frame: &[u8], ppdu: &Airborne, (again, number): (bool, Option<u16>), snap: usize, out: &mut Vec<u8>) {
    const RETRY: u8 = 1 << 3;
    const DURATION: std::ops::Range<usize> = 2..4;
    const SEQUENCE_CONTROL: std::ops::Range<usize> = 22..24;
    let start = out.len();
    out.extend_from_slice(&frame[..frame.len().min(snap)]);
    let out = &mut out[start..];
    if let Some(place) = out.get_mut(DURATION) {
        place.copy_from_slice(&duration_us(ppdu).to_le_bytes());
    }
    if let (Some(number), Some(place)) = (number, out.get_mut(SEQUENCE_CONTROL)) {
        place.copy_from_slice(&(number << 4).to_le_bytes());
    }
    if let Some(flags) = out.get_mut(1).filter(|_| again) {
        *flags |= RETRY;
    }
}

fn flags_of(flags: FrameFlags, again: bool, protected: bool) -> FrameFlags {
    let flags = if again { flags.with(FrameFlags::RETRY) } else { flags };
    if protected { flags.with(FrameFlags::PROTECTED) } else { flags }
}

/// A frame from one node to the other, without the fields that differ between frames. [802.11-2020 Table 9-30]
fn header(site: &Site, sender: NodeId, receiver: NodeId, is_amsdu: bool) -> Data<'static> {
    let (from, to) = (Site::mac(sender), Site::mac(receiver));
    let is_down = site.is_ap(sender);
    let bssid = if is_down { from } else { to };
    // The subframes of an A-MSDU have their own source and destination.
    let beyond = if is_amsdu { bssid } else { Site::SERVER_MAC };
    if is_down { Data::from_ap(from, to, beyond) } else { Data::to_ap(from, to, beyond) }
}

fn append_amsdu(site: &Site, receiver: NodeId, packets: &[(Held, Ecn)], snap: usize, out: &mut Vec<u8>) {
    let start = out.len();
    for (held, ecn) in packets {
        let facts = &held.facts;
        if out.len() >= snap {
            return;
        }
        let station = Site::mac(site.flows[facts.flow.index()].station);
        let (source, destination) =
            if facts.up { (station, Site::SERVER_MAC) } else { (Site::SERVER_MAC, Site::mac(receiver)) };
        let length = (LLC_SNAP + facts.bytes as usize) as u16;
        append_msdu(&Msdu { destination, source, length, bytes: &[] }, start, out);
        let end = out.len() + usize::from(length);
        append_llc_snap(EtherType::IPV4, out);
        append_packet(site, held, *ecn, out);
        out.resize(end, 0);
    }
    debug_assert!(out.len() > start + SUBFRAME_HEADER);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::ieee80211::fcs_is_good;

    #[test]
    fn a_frame_is_cut_off_behind_the_snap_or_filled_up_and_closed_by_its_fcs() {
        for (snap, kept) in [(10, 10), (28, 28), (30, 30), (32, 32), (100, 32)] {
            let mut built = Built { bytes: vec![7; 20], ..Built::default() };
            built.finish(32, snap);
            assert_eq!((built.bytes.len(), built.original_length), (kept, 32));
            assert_eq!(built.bytes[..10], [7; 10]);
            let good = fcs_is_good(&built.bytes, 32);
            assert_eq!(good, (kept == 32).then_some(true));
            built.flip_fcs();
            assert_eq!(fcs_is_good(&built.bytes, 32), good.map(|_| false));
            assert_eq!(built.bytes[..10], [7; 10]);
        }
    }
}
