//! Trigger frames, and BlockAcks to several stations. [802.11ax-2021 §9.3.1.22, §9.3.1.8.6]

use super::block_ack::{ACK_TYPE, Bitmap, MULTI_STA, TYPE};
use super::control::{Control, append_head};
use super::sequence::SequenceControl;
use crate::address::MacAddress;
use crate::cursor::Cursor;
use crate::error::Error;

/// Subtypes of control frames. [802.11ax-2021 Table 9-1]
const TRIGGER: u8 = 2;
const BLOCK_ACK: u8 = 9;

/// The kind of a Trigger frame. [802.11ax-2021 Table 9-31b]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// Asks for data.
    Basic = 0,
    /// Asks for BlockAcks.
    MuBar = 2,
    /// Asks for the lengths of queues.
    Bsrp = 4,
}

/// A Trigger frame, without its users.
#[derive(Clone, Copy, Debug)]
pub struct Trigger {
    /// Its kind.
    pub kind: TriggerKind,
    /// Duration in µs.
    pub duration_us: u16,
    /// RA: a group, or the only station.
    pub receiver: MacAddress,
    /// TA.
    pub transmitter: MacAddress,
    /// LENGTH of the L-SIG field of the answers.
    pub length: u16,
    /// Bandwidth of the answers: 0 to 3 for 20, 40, 80 and 160 MHz.
    pub bandwidth: u8,
    /// Whether their guard interval is 3.2 µs, with 4x HE-LTFs; else it is 1.6 µs with 2x.
    pub long_guard_interval: bool,
    /// Number of HE-LTF symbols less 1, as far as it has a code: 0 to 4 for 1, 2, 4, 6 and 8.
    pub ltf_symbols: u8,
}

/// A station that a Trigger frame names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerUser {
    /// AID12.
    pub aid: u16,
    /// RU allocation: bit 0 for the secondary 80 MHz, then the number of the RU. [802.11ax-2021 Table 9-31h]
    pub ru: u8,
    /// HE-MCS.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// Number of units from this one on for stations that draw one of them, with AID 0 for associated ones.
    pub open: u8,
    /// In an MU-BAR, the traffic and the first sequence number of the BlockAck.
    pub asked: Option<(u8, u16)>,
}

impl TriggerUser {
    /// AID12 of units for any associated station. [802.11ax-2021 Table 9-31g]
    pub const ANY: u16 = 0;

    /// SS Allocation, or RA-RU Information: the number of units less one, and more of them may follow in the TXOP.
    fn allocation(&self) -> u64 {
        match self.open {
            0 => u64::from(self.streams.saturating_sub(1) & 7) << 3,
            open => u64::from((open - 1) & 0x1f),
        }
    }
}

/// The number of an RU of this many tones at a place in its 80 MHz, counted from 0. [802.11ax-2021 Table 9-31h]
pub const fn ru_number(tones: u32, place: u8) -> u8 {
    let first = match tones {
        26 => 0,
        52 => 37,
        106 => 53,
        242 => 61,
        484 => 65,
        996 => 67,
        _ => 68,
    };
    first + place
}

impl Trigger {
    /// Appends the frame without its FCS: 24 bytes, and for each user 5, in a basic one 6, in an MU-BAR 9.
    pub fn append(&self, users: &[TriggerUser], out: &mut Vec<u8>) {
        append_head(TRIGGER, super::FrameFlags::NONE, self.duration_us, self.receiver, out);
        out.extend_from_slice(&self.transmitter.0);
        let gi_and_ltf = if self.long_guard_interval { 2 } else { 1 };
        // All bits of UL HE-SIG-A2 Reserved are set.
        let common = self.kind as u64
            | u64::from(self.length & 0x0fff) << 4
            | u64::from(self.bandwidth & 3) << 18
            | gi_and_ltf << 20
            | u64::from(self.ltf_symbols & 7) << 23
            | 0x01ff << 54;
        out.extend_from_slice(&common.to_le_bytes());
        for user in users {
            // LDPC; the first spatial stream; 127: the station sends with its maximum power.
            let bits = u64::from(user.aid & 0x0fff)
                | u64::from(user.ru) << 12
                | 1 << 20
                | u64::from(user.mcs & 0x0f) << 21
                | user.allocation() << 26
                | 127 << 32;
            out.extend_from_slice(&bits.to_le_bytes()[..5]);
            match (self.kind, user.asked) {
                (TriggerKind::Basic, _) => out.push(0),
                (TriggerKind::MuBar, Some((tid, start))) => {
                    let control = 2 << 1 | u16::from(tid) << 12;
                    out.extend_from_slice(&control.to_le_bytes());
                    out.extend_from_slice(&SequenceControl::whole(start).bits().to_le_bytes());
                }
                (TriggerKind::MuBar, None) => out.extend_from_slice(&[0; 4]),
                (TriggerKind::Bsrp, _) => {}
            }
        }
    }
}

/// A record of a BlockAck to several stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedStation {
    /// AID11.
    pub aid: u16,
    /// Traffic.
    pub tid: u8,
    /// The sequence number of the first bit.
    pub start: u16,
    /// Frames that arrived: 64 or 256.
    pub bitmap: Bitmap,
}

/// AID12 of the padding, after which no user comes. [802.11ax-2021 Table 9-31g]
const PADDING: u16 = 4095;

impl TriggerUser {
    /// The users of a Trigger frame of a known kind, in their order; none of other control frames.
    pub fn read_all(frame: &Control<'_>) -> Vec<TriggerUser> {
        // TA, then Common Info.
        let Some((head, mut rest)) = frame.rest.split_at_checked(14).filter(|_| frame.control.subtype() == TRIGGER)
        else {
            return Vec::new();
        };
        let of_kind = match head[6] & 0x0f {
            0 => 1,
            2 => 4,
            4 => 0,
            _ => return Vec::new(),
        };
        let mut users = Vec::new();
        while let Some((user, later)) = rest.split_at_checked(5 + of_kind) {
            let bits = user[..5].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            let aid = (bits & 0x0fff) as u16;
            if aid == PADDING {
                break;
            }
            let is_open = aid == TriggerUser::ANY;
            let allocation = (bits >> 26 & 0x3f) as u8;
            let asked = (of_kind == 4).then(|| {
                let start = SequenceControl::from_bits(u16::from_le_bytes([user[7], user[8]]));
                (user[6] >> 4, start.number)
            });
            users.push(TriggerUser {
                aid,
                ru: (bits >> 12) as u8,
                mcs: (bits >> 21 & 0x0f) as u8,
                streams: if is_open { 1 } else { (allocation >> 3) + 1 },
                open: if is_open { (allocation & 0x1f) + 1 } else { 0 },
                asked,
            });
            rest = later;
        }
        users
    }
}

impl AckedStation {
    /// Bytes of the frame before its records.
    pub const BEFORE: usize = 18;

    /// Bytes of the record.
    pub fn bytes(&self) -> usize {
        let bitmap = usize::from(self.bitmap.frames() / 8);
        if self.bitmap == Bitmap::All { 2 } else { 4 + bitmap }
    }

    /// The records of a BlockAck to several stations, in their order; none of other control frames. One of which the length is not
    /// known ends them.
    pub fn read_all(frame: &Control<'_>) -> Vec<AckedStation> {
        let Some((head, rest)) = frame.rest.split_at_checked(8).filter(|_| frame.control.subtype() == BLOCK_ACK) else {
            return Vec::new();
        };
        if u16::from_le_bytes([head[6], head[7]]) & TYPE != MULTI_STA {
            return Vec::new();
        }
        let (mut at, mut stations) = (Cursor::new(rest), Vec::new());
        while let Ok(Some(station)) = AckedStation::read(&mut at) {
            stations.push(station);
        }
        stations
    }

    fn read(at: &mut Cursor<'_>) -> Result<Option<AckedStation>, Error> {
        let about = at.u16_le("BlockAck")?;
        let (aid, tid) = (about & 0x07ff, (about >> 12) as u8);
        if about & ACK_TYPE != 0 {
            return Ok(Some(AckedStation { aid, tid, start: 0, bitmap: Bitmap::All }));
        }
        let start = SequenceControl::from_bits(at.u16_le("BlockAck")?);
        let bitmap = Bitmap::read(start.fragment, at)?;
        Ok(bitmap.map(|bitmap| AckedStation { aid, tid, start: start.number, bitmap }))
    }
}

/// Appends a BlockAck to several stations without its FCS: 18 bytes, and for each station 12 or 36.
pub fn append_multi_sta_block_ack(
    duration_us: u16,
    transmitter: MacAddress,
    stations: &[AckedStation],
    out: &mut Vec<u8>,
) {
    append_head(BLOCK_ACK, super::FrameFlags::NONE, duration_us, MacAddress::BROADCAST, out);
    out.extend_from_slice(&transmitter.0);
    out.extend_from_slice(&(11_u16 << 1).to_le_bytes());
    for of in stations {
        out.extend_from_slice(&(of.aid & 0x07ff | u16::from(of.tid) << 12).to_le_bytes());
        let start = SequenceControl { number: of.start & 0x0fff, fragment: of.bitmap.length_code() };
        out.extend_from_slice(&start.bits().to_le_bytes());
        of.bitmap.append(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ieee80211::Frame;

    fn control(bytes: &[u8]) -> Control<'_> {
        match Frame::parse(bytes) {
            Ok(Frame::Control(control)) => control,
            other => panic!("{other:?} is no control frame"),
        }
    }

    const AP: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);

    #[test]
    fn triggers_have_the_fields_of_the_standard() {
        let trigger = Trigger {
            kind: TriggerKind::MuBar,
            duration_us: 0x0102,
            receiver: MacAddress::BROADCAST,
            transmitter: AP,
            length: 0x0abc,
            bandwidth: 2,
            long_guard_interval: true,
            ltf_symbols: 1,
        };
        let user =
            TriggerUser { aid: 5, ru: ru_number(242, 3) << 1, mcs: 11, streams: 2, open: 0, asked: Some((6, 0x0123)) };
        let mut bytes = Vec::new();
        trigger.append(&[user; 2], &mut bytes);
        assert_eq!((bytes.len(), &bytes[..4]), (24 + 2 * 9, &[0x24, 0, 2, 1][..]));
        // MU-BAR and LENGTH; bandwidth 2, GI and LTF 2, one HE-LTF symbol more; the reserved bits 54 to 62.
        assert_eq!(bytes[16..24], [0xc2, 0xab, 0xa8, 0, 0, 0, 0xc0, 0x7f]);
        // AID 5, RU 64 in bits 13 to 19, LDPC, MCS 11, two streams from the first, 127.
        assert_eq!(bytes[24..29], [5, 0, 0x78, 0x21, 0x7f]);
        assert_eq!(bytes[29..33], [0x04, 0x60, 0x30, 0x12]);
        assert_eq!(TriggerUser::read_all(&control(&bytes)), [user; 2]);
        // Padding, and half a user.
        let named = bytes.len();
        for more in [&[0xff; 9][..], &[0; 8]] {
            bytes.truncate(named);
            bytes.extend_from_slice(more);
            assert_eq!(TriggerUser::read_all(&control(&bytes)), [user; 2]);
        }
        let open = TriggerUser { aid: TriggerUser::ANY, streams: 1, open: 3, asked: None, ..user };
        for kind in [TriggerKind::Basic, TriggerKind::Bsrp] {
            bytes.clear();
            Trigger { kind, ..trigger }.append(&[TriggerUser { asked: None, ..user }, open], &mut bytes);
            assert_eq!(TriggerUser::read_all(&control(&bytes))[1], open);
        }
    }

    #[test]
    fn a_block_ack_to_several_stations_has_a_record_for_each() {
        let station = AckedStation { aid: 3, tid: 5, start: 4095, bitmap: Bitmap::Of64(0b101) };
        let long = AckedStation { aid: 4, tid: 0, start: 1, bitmap: Bitmap::Of256([1, 0, 0, 0]) };
        let mut bytes = Vec::new();
        append_multi_sta_block_ack(0, AP, &[station, long], &mut bytes);
        assert_eq!(bytes.len(), AckedStation::BEFORE + 12 + 36);
        assert_eq!((station.bytes(), long.bytes()), (12, 36));
        assert_eq!(bytes[16..22], [0x16, 0, 0x03, 0x50, 0xf0, 0xff]);
        assert_eq!(bytes[30..34], [0x04, 0, 0x14, 0x00]);
        assert_eq!(AckedStation::read_all(&control(&bytes)), [station, long]);
        // A record for a station all of whose frames arrived, then one that is cut off.
        bytes.truncate(30);
        bytes.extend_from_slice(&[0x07, 0x68, 0x04, 0]);
        let all = AckedStation { aid: 7, tid: 6, start: 0, bitmap: Bitmap::All };
        assert_eq!(AckedStation::read_all(&control(&bytes)), [station, all]);
        // A BlockAck of the compressed variant, and another subtype.
        bytes[16] = 2 << 1;
        assert!(AckedStation::read_all(&control(&bytes)).is_empty());
        (bytes[0], bytes[16]) = (0x24, 0x16);
        assert!(AckedStation::read_all(&control(&bytes)).is_empty());
    }
}
