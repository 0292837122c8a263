//! PPDUs assembled from their MPDUs: by the reference of their A-MPDU, else by their TSFT. Sniffers that write neither
//! leave the sender, the TID, the mode, rising sequence numbers, the gaps between time stamps, and the BlockAck behind.

use lasthop_units::{Duration, Time};
use lasthop_wire::MacAddress;
use lasthop_wire::ieee80211::{
    AMPDU_DELIMITER, AckPolicy, AckedStation, BlockAck, DataKind, Frame, FrameFlags, TriggerUser, ru_number,
};
use lasthop_wire::radiotap::{He, Radiotap};

use crate::announcement::is_after;
use crate::bounds::MOST_MPDUS;
use crate::cause::Cause;
use crate::durations::Sending;
use crate::frame::{Content, Heard, packets_of};
use crate::packet::Packet;
use crate::unit::Unit;

/// The kind of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Data,
    Rts,
    Cts,
    Ack,
    BlockAck,
    BlockAckReq,
    Management,
    /// any other control frame
    Control,
}

impl Kind {
    pub(crate) const ALL: [(Kind, &'static str); 8] = [
        (Kind::Data, "data_s"),
        (Kind::Rts, "rts_s"),
        (Kind::Cts, "cts_s"),
        (Kind::Ack, "ack_s"),
        (Kind::BlockAck, "block_ack_s"),
        (Kind::BlockAckReq, "block_ack_req_s"),
        (Kind::Management, "management_s"),
        (Kind::Control, "other_control_s"),
    ];
}

/// An MPDU with data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpdu {
    /// its time stamp
    pub at: Time,
    pub number: u16,
    pub fragment: u8,
    pub tid: u8,
    pub is_retry: bool,
    pub is_good: bool,
    pub is_protected: bool,
    pub is_null: bool,
    /// bytes, FCS included
    pub length: u32,
    /// number of the PPDU's packets up to the end of this MPDU
    pub packets_until: usize,
}

impl Mpdu {
    /// Whether it was captured twice.
    fn is_copied_by(&self, other: &Mpdu) -> bool {
        (self.number, self.fragment, self.tid, self.is_retry)
            == (other.number, other.fragment, other.tid, other.is_retry)
    }
}

/// No PPDU is shorter: the preamble of OFDM and a symbol, less a margin for clocks. [802.11-2020 §17.3.2]
const COPY: Duration = Duration::from_micros(20);

/// A PPDU, as far as it was heard.
#[derive(Clone, Debug)]
pub(crate) struct Ppdu {
    /// the stamp of its first frame; the beginning once that is known
    pub start: Time,
    /// the stamp of its last frame
    pub latest: Time,
    pub kind: Kind,
    /// none in an Ack and a CTS
    pub transmitter: Option<MacAddress>,
    pub receiver: MacAddress,
    pub sending: Option<Sending>,
    /// centre frequency in MHz
    pub channel_mhz: Option<u16>,
    /// bytes of its PSDU
    pub bytes: u32,
    /// that of its first frame with one
    pub signal_dbm: Option<i8>,
    pub is_good: bool,
    /// whether it requests an Ack or a BlockAck
    pub wants_answer: bool,
    pub mpdus: Vec<Mpdu>,
    pub packets: Vec<Packet>,
    /// packets after the first of an A-MSDU were cut off
    pub is_cut_off: bool,
    pub block_ack: Option<BlockAck>,
    /// the records of a BlockAck to several stations
    pub acked: Vec<AckedStation>,
    /// no records after these were cut off
    pub has_all_records: bool,
    /// the stations that a trigger names, and their units
    pub named: Vec<TriggerUser>,
    /// of a part for one station, the AID of that; of a part of a station, its unit as a trigger would name it
    pub sta_id: Option<u16>,
    pub ru: Option<u8>,
    /// its Duration field
    pub reserves_us: u16,
    /// of a BlockAckReq: the TID, and the first MPDU that is not given up
    pub requests: Option<(u8, u16)>,
    pub is_ampdu: bool,
    /// frames that were captured twice
    pub twice: u64,
    /// the cause of an unknown mode
    pub cause: Cause,
    /// its duration by its L-SIG
    pub told: Option<Duration>,
    /// in a PPDU of several users
    pub unit: Option<Unit>,
    /// fields that frames of the same PPDU share
    reference: Option<u32>,
    tsft_us: Option<u64>,
    /// its frames share neither: they belong together by their order
    pub is_guessed: bool,
    /// bytes of the latest frame
    length: u32,
}

/// The Duration field of a frame.
fn duration_us(frame: &Frame<'_>) -> u16 {
    match frame {
        Frame::Data(frame) => frame.duration_us,
        Frame::Rts(frame) => frame.duration_us,
        Frame::Cts(frame) => frame.duration_us,
        Frame::Ack(frame) => frame.duration_us,
        Frame::BlockAck(frame) => frame.duration_us,
        Frame::BlockAckReq(frame) => frame.duration_us,
        _ => 0,
    }
}

/// Bytes of the FCS.
const FCS: u32 = 4;
/// Subtypes of control frames. [802.11-2020 Table 9-1]
const BLOCK_ACK: u8 = 9;
const PS_POLL: u8 = 10;

/// The unit of a part as a trigger would name it, if it is known. [802.11ax-2021 Table 9-31h]
fn ru_of(he: &He) -> Option<u8> {
    let number = ru_number(he.tones()?.into(), he.ru_offset?);
    Some(number << 1 | u8::from(he.secondary_80_mhz.unwrap_or(false)))
}

/// Whether it asks for a frame that the AP holds: an Ack answers it, or that frame. [802.11-2020 §11.2.3.7]
fn is_ps_poll(frame: &Frame<'_>) -> bool {
    matches!(frame, Frame::Control(frame) if frame.control.subtype() == PS_POLL)
}

/// TID of frames without QoS.
pub(crate) const NO_TID: u8 = 16;
/// Longest PPDU [802.11-2020 Table 21-29], with a margin for clocks: later frames belong to another one, whatever their
/// reference.
const LONGEST_NS: u64 = 6_000_000;
/// MPDUs of an A-MPDU are no further apart in their numbers. [802.11ax-2021 §10.3.2.14]
const MOST_APART: u16 = 256;

impl Ppdu {
    /// The PPDU of a frame; none for other frames.
    pub(crate) fn begin(start: Time, heard: &Heard<'_>) -> Option<Ppdu> {
        let radiotap: &Radiotap = &heard.radiotap;
        let (kind, transmitter, receiver) = match &heard.frame {
            Frame::Data(data) => (Kind::Data, Some(data.address_2), data.address_1),
            Frame::Rts(rts) => (Kind::Rts, Some(rts.transmitter), rts.receiver),
            Frame::Cts(cts) => (Kind::Cts, None, cts.receiver),
            Frame::Ack(ack) => (Kind::Ack, None, ack.receiver),
            Frame::BlockAck(answer) => (Kind::BlockAck, Some(answer.transmitter), answer.receiver),
            Frame::BlockAckReq(request) => (Kind::BlockAckReq, Some(request.transmitter), request.receiver),
            Frame::Beacon(beacon) => (Kind::Management, Some(beacon.transmitter), beacon.receiver),
            Frame::Management(frame) => (Kind::Management, Some(frame.transmitter), frame.receiver),
            Frame::Control(frame) => {
                let is_answer = frame.control.subtype() == BLOCK_ACK;
                (if is_answer { Kind::BlockAck } else { Kind::Control }, frame.transmitter(), frame.receiver)
            }
            Frame::Extension(_) => return None,
        };
        let mut ppdu = Ppdu {
            start,
            latest: start,
            kind,
            transmitter,
            receiver,
            sending: Sending::of(radiotap),
            channel_mhz: radiotap.channel.map(|channel| channel.mhz),
            bytes: 0,
            signal_dbm: None,
            is_good: false,
            wants_answer: matches!(kind, Kind::Rts | Kind::BlockAckReq) || is_ps_poll(&heard.frame),
            mpdus: Vec::new(),
            packets: Vec::new(),
            is_cut_off: false,
            block_ack: None,
            acked: Vec::new(),
            has_all_records: true,
            named: Vec::new(),
            sta_id: radiotap.he.as_ref().and_then(|he| he.sta_id),
            ru: radiotap.he.as_ref().and_then(ru_of),
            reserves_us: duration_us(&heard.frame),
            requests: None,
            twice: 0,
            reference: radiotap.ampdu.map(|ampdu| ampdu.reference),
            tsft_us: radiotap.tsft_us,
            is_ampdu: radiotap.ampdu.is_some(),
            cause: Cause::of(radiotap),
            told: Sending::duration_by_l_sig(radiotap),
            unit: radiotap.he.as_ref().and_then(Unit::of),
            is_guessed: false,
            length: heard.length,
        };
        ppdu.add(start, heard);
        Some(ppdu)
    }

    /// Whether it answers, and does not show what.
    pub(crate) fn is_unread_answer(&self) -> bool {
        self.kind == Kind::BlockAck && self.block_ack.is_none() && self.acked.is_empty()
    }

    /// Whether it acknowledges data of several stations.
    pub(crate) fn is_for_several(&self) -> bool {
        !self.acked.is_empty()
    }

    /// Whether another antenna has heard the same PPDU: a copy begins before the shortest PPDU ends.
    pub(crate) fn is_copied_by(&self, other: &Ppdu) -> bool {
        let ends =
            |ppdu: &Ppdu| (ppdu.kind, ppdu.transmitter, ppdu.receiver, ppdu.length, ppdu.sending, ppdu.block_ack);
        let is_same = |(own, other): (&Mpdu, &Mpdu)| own.is_copied_by(other);
        let (own, others) = (self.mpdus.last(), other.mpdus.first());
        ends(self) == ends(other)
            && other.start.since(self.latest) < COPY
            && (self.kind != Kind::Data || own.zip(others).is_some_and(is_same))
    }

    /// Whether it contains this frame as well, by the fields that frames of a PPDU share; none if there are no such fields.
    pub(crate) fn shares(&self, at: Time, heard: &Heard<'_>) -> Option<bool> {
        let Frame::Data(data) = &heard.frame else { return Some(false) };
        if self.mpdus.len() > MOST_MPDUS {
            return Some(false);
        }
        let is_near = at.since(self.start).max(self.start.since(at)).as_nanos() < LONGEST_NS && self.kind == Kind::Data;
        if !is_near || self.transmitter != Some(data.address_2) {
            return Some(false);
        }
        let reference = heard.radiotap.ampdu.map(|ampdu| ampdu.reference);
        match (self.reference, reference) {
            (Some(own), Some(other)) if own == other => Some(true),
            // Some drivers number the MPDUs of an A-MPDU, or all of them with the same number.
            _ if self.tsft_us.is_some() && self.tsft_us == heard.radiotap.tsft_us => Some(true),
            (None, None) => None,
            (Some(_), Some(_)) if self.tsft_us.is_none() && at == self.latest => None,
            _ => Some(false),
        }
    }

    /// Whether a frame that comes next may be of the same A-MPDU by its header and its mode.
    pub(crate) fn goes_on_with(&self, heard: &Heard<'_>) -> bool {
        let (Frame::Data(data), Some(last)) = (&heard.frame, self.mpdus.last()) else { return false };
        let Some(qos) = data.qos.filter(|_| data.kind != DataKind::Null && !last.is_null) else { return false };
        let is_like = self.transmitter == Some(data.address_2)
            && self.receiver == data.address_1
            && !self.receiver.is_group()
            && last.tid == qos.tid
            && matches!(qos.ack_policy, AckPolicy::Normal | AckPolicy::BlockAck);
        let (number, first) = (data.sequence.number, self.mpdus[0].number);
        let is_next = data.sequence.fragment == 0
            && is_after(number, last.number)
            && number.wrapping_sub(first) % 4096 < MOST_APART
            && !data.flags.contains(FrameFlags::MORE_FRAGMENTS);
        let sending = Sending::of(&heard.radiotap);
        is_like && is_next && sending == self.sending && sending.is_none_or(|sending| sending.aggregates())
    }

    /// Whether a frame behind its answer is one of its MPDUs.
    pub(crate) fn is_behind(&self, at: Time, heard: &Heard<'_>) -> bool {
        let (Frame::Data(data), Some(last)) = (&heard.frame, self.mpdus.last()) else { return false };
        let is_of_another = self.tsft_us.zip(heard.radiotap.tsft_us).is_some_and(|(own, other)| own != other);
        if is_of_another {
            return false;
        }
        let is_earlier = !heard.is_retry
            && self.transmitter == Some(data.address_2)
            && self.receiver == data.address_1
            && data.qos.is_some_and(|qos| qos.tid == last.tid)
            && data.sequence.number != last.number
            && !is_after(data.sequence.number, last.number);
        self.shares(at, heard).unwrap_or(is_earlier)
    }

    /// Adds a frame.
    pub(crate) fn add(&mut self, at: Time, heard: &Heard<'_>) {
        (self.start, self.latest) = (self.start.min(at), self.latest.max(at));
        match &heard.frame {
            Frame::Data(data) => {
                let mpdu = Mpdu {
                    at,
                    number: data.sequence.number,
                    fragment: data.sequence.fragment,
                    tid: data.qos.map_or(NO_TID, |qos| qos.tid),
                    is_retry: data.flags.contains(FrameFlags::RETRY),
                    is_good: heard.is_good,
                    is_protected: data.flags.contains(FrameFlags::PROTECTED),
                    is_null: data.kind == DataKind::Null,
                    length: heard.length,
                    packets_until: 0,
                };
                if self.mpdus.iter().any(|own| own.is_copied_by(&mpdu)) {
                    self.twice += 1;
                    return;
                }
                if heard.is_good && packets_of(data, |packet| self.packets.push(packet)) == Content::CutOff {
                    self.is_cut_off = true;
                }
                self.wants_answer |= !data.address_1.is_group()
                    && data.qos.is_none_or(|qos| matches!(qos.ack_policy, AckPolicy::Normal));
                self.mpdus.push(Mpdu { packets_until: self.packets.len(), ..mpdu });
            }
            Frame::BlockAck(answer) => self.block_ack = Some(*answer),
            Frame::BlockAckReq(request) => self.requests = Some((request.tid, request.start.number)),
            Frame::Control(frame) => {
                self.acked = AckedStation::read_all(frame);
                let read: u32 = self.acked.iter().map(|station| station.bytes() as u32).sum();
                self.has_all_records = AckedStation::BEFORE as u32 + read + FCS >= heard.length;
                self.named = TriggerUser::read_all(frame);
            }
            Frame::Management(_) => self.wants_answer = !self.receiver.is_group(),
            _ => {}
        }
        self.signal_dbm = self.signal_dbm.or(heard.radiotap.signal_dbm);
        self.is_good |= heard.is_good;
        self.length = heard.length;
    }

    /// All its frames were heard; `next` comes after them. Several MPDUs, and one that a BlockAck answers, are an A-MPDU.
    pub(crate) fn close(&mut self, next: Option<&Ppdu>) {
        let is_block_ack = |next: &Ppdu| next.kind == Kind::BlockAck && Some(next.receiver) == self.transmitter;
        let aggregates = self.sending.is_none_or(|sending| sending.aggregates());
        self.is_ampdu |= self.mpdus.len() > 1;
        self.is_ampdu |=
            self.kind == Kind::Data && aggregates && self.reference.is_none() && next.is_some_and(is_block_ack);
        // Each except the last is padded to a multiple of four. [802.11-2020 §9.7.1]
        let padded = |bytes: u32, mpdu: &Mpdu| {
            (bytes.saturating_add(3) / 4 * 4).saturating_add(AMPDU_DELIMITER as u32 + mpdu.length)
        };
        self.bytes = if self.is_ampdu { self.mpdus.iter().fold(0, padded) } else { self.length };
    }

    /// The PPDUs of its MPDUs, each sent alone: an Ack answers no A-MPDU.
    pub(crate) fn apart(self) -> Vec<Ppdu> {
        let mut from = 0;
        let alone = |mpdu: &Mpdu| {
            let packets = self.packets[from..mpdu.packets_until].to_vec();
            from = mpdu.packets_until;
            let mpdu = Mpdu { packets_until: packets.len(), ..*mpdu };
            let (start, length) = (mpdu.at, mpdu.length);
            Ppdu {
                start,
                latest: start,
                mpdus: vec![mpdu],
                packets,
                length,
                is_guessed: false,
                twice: 0,
                ..self.clone()
            }
        };
        self.mpdus.iter().map(alone).collect()
    }
}
