//! BlockAckReq and BlockAck of the compressed variant. [802.11-2020 §9.3.1.7, §9.3.1.8; 802.11ax-2021 §9.3.1.8.2]

use super::control::append_head;
use super::frame_control::{FrameControl, FrameFlags};
use super::sequence::SequenceControl;
use crate::address::MacAddress;
use crate::cursor::Cursor;
use crate::error::Error;

/// Bit of a BAR or BA control: the frame itself needs no acknowledgement. [802.11-2020 §9.3.1.7.1, §9.3.1.8.1]
const NO_ACK: u16 = 0x0001;
/// The type of a BAR or BA control. [802.11-2020 §9.3.1.7.1, §9.3.1.8.1]
pub(super) const TYPE: u16 = 0x001e;
/// The basic variant, with a bit for each of 16 fragments of 64 MSDUs.
const BASIC: u16 = 0;
/// The extended compressed variant, with the fields of the compressed one first. [802.11-2020 §9.3.1.8.5]
const EXTENDED_COMPRESSED: u16 = 1 << 1;
/// The compressed variant.
const COMPRESSED: u16 = 2 << 1;
/// The variant for several TIDs. [802.11-2020 §9.3.1.8.4]
const MULTI_TID: u16 = 3 << 1;
/// The variant for several stations. [802.11ax-2021 §9.3.1.8.6]
pub(super) const MULTI_STA: u16 = 11 << 1;
/// In a record of the variant for several stations: it has no bitmap, and acknowledges all. [802.11ax-2021 Table 9-30a]
pub(super) const ACK_TYPE: u16 = 1 << 11;

/// BlockAckReq: moves the window of a recipient, and requests a BlockAck. [802.11-2020 §9.3.1.7.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockAckReq {
    /// Flags.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// RA.
    pub receiver: MacAddress,
    /// TA.
    pub transmitter: MacAddress,
    /// True if this frame needs no acknowledgement.
    pub no_ack: bool,
    /// Traffic, 0 to 15.
    pub tid: u8,
    /// The first sequence number that the BlockAck shall cover.
    pub start: SequenceControl,
}

/// BlockAck. [802.11-2020 §9.3.1.8.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockAck {
    /// Flags.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// RA.
    pub receiver: MacAddress,
    /// TA.
    pub transmitter: MacAddress,
    /// True if this frame needs no acknowledgement.
    pub no_ack: bool,
    /// Traffic, 0 to 15.
    pub tid: u8,
    /// The sequence number of the first bit, 0 to 4095.
    pub start: u16,
    /// Frames that arrived.
    pub bitmap: Bitmap,
}

/// Bitmap of the frames that arrived: bit 0 of the first word is the first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bitmap {
    /// No bitmap: all frames of the PPDU before it arrived. [802.11ax-2021 Table 9-30b]
    All,
    /// 64 frames.
    Of64(u64),
    /// 256 frames, 64 a word. [802.11ax-2021 §9.3.1.8.2]
    Of256([u64; 4]),
    /// 512 frames. [802.11be-2024 §9.3.1.8.2]
    Of512([u64; 8]),
    /// 1024 frames.
    Of1024([u64; 16]),
}

impl Default for Bitmap {
    fn default() -> Self {
        Bitmap::Of64(0)
    }
}

impl Bitmap {
    /// Number of frames that it covers; 0 for [`All`](Bitmap::All), whose PPDU has the number.
    pub fn frames(&self) -> u16 {
        self.words().len() as u16 * 64
    }

    /// Its words.
    fn words(&self) -> &[u64] {
        match self {
            Bitmap::All => &[],
            Bitmap::Of64(word) => std::slice::from_ref(word),
            Bitmap::Of256(words) => words,
            Bitmap::Of512(words) => words,
            Bitmap::Of1024(words) => words,
        }
    }

    /// True if the frame `offset` after the first arrived; false beyond the end.
    pub fn contains(&self, offset: u16) -> bool {
        let word = self.words().get(usize::from(offset / 64)).copied().unwrap_or(0);
        *self == Bitmap::All || word >> (offset % 64) & 1 == 1
    }

    /// The fragment number that encodes the length of the bitmap. [802.11be-2024 Table 9-35]
    pub(super) fn length_code(&self) -> u8 {
        match self {
            Bitmap::All | Bitmap::Of64(_) => 0b0000,
            Bitmap::Of256(_) => 0b0100,
            Bitmap::Of512(_) => 0b1000,
            Bitmap::Of1024(_) => 0b1010,
        }
    }

    /// Reads the bitmap whose length is encoded by `code`; none if the code is of fragments, or is reserved.
    pub(super) fn read(code: u8, at: &mut Cursor<'_>) -> Result<Option<Bitmap>, Error> {
        Ok(Some(match code {
            0b0000 => Bitmap::Of64(words::<1>(at)?[0]),
            0b0100 => Bitmap::Of256(words(at)?),
            0b1000 => Bitmap::Of512(words(at)?),
            0b1010 => Bitmap::Of1024(words(at)?),
            _ => return Ok(None),
        }))
    }

    /// Reads the bitmap of the basic variant: an MSDU arrived if one of its fragments did.
    fn read_basic(at: &mut Cursor<'_>) -> Result<Bitmap, Error> {
        (0..64).try_fold(0, |word, place| Ok(word | u64::from(at.u16_le(BITMAP)? != 0) << place)).map(Bitmap::Of64)
    }

    pub(super) fn append(&self, out: &mut Vec<u8>) {
        self.words().iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }
}

const BITMAP: &str = "BlockAck bitmap";

/// Some words of a bitmap.
fn words<const N: usize>(at: &mut Cursor<'_>) -> Result<[u64; N], Error> {
    let mut words = [0; N];
    for word in &mut words {
        *word = at.u64_le(BITMAP)?;
    }
    Ok(words)
}

/// A BAR or BA control of the compressed variant. [802.11-2020 §9.3.1.7.1, §9.3.1.8.1]
fn compressed(no_ack: bool, tid: u8) -> u16 {
    COMPRESSED | if no_ack { NO_ACK } else { 0 } | u16::from(tid) << 12
}

impl BlockAckReq {
    /// Reads the frame; `None` if it is of another variant.
    pub(super) fn read(control: FrameControl, mut at: Cursor<'_>) -> Result<Option<BlockAckReq>, Error> {
        const PART: &str = "BlockAckReq";
        let duration_us = at.u16_le(PART)?;
        let (receiver, transmitter) = (MacAddress(at.array(PART)?), MacAddress(at.array(PART)?));
        let bar = at.u16_le(PART)?;
        if bar & TYPE != COMPRESSED {
            return Ok(None);
        }
        let start = SequenceControl::from_bits(at.u16_le(PART)?);
        let (no_ack, tid) = (bar & NO_ACK != 0, (bar >> 12) as u8);
        Ok(Some(BlockAckReq { flags: control.flags(), duration_us, receiver, transmitter, no_ack, tid, start }))
    }

    /// Appends the frame without its FCS: 20 bytes.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_head(8, self.flags, self.duration_us, self.receiver, out);
        out.extend_from_slice(&self.transmitter.0);
        out.extend_from_slice(&compressed(self.no_ack, self.tid).to_le_bytes());
        out.extend_from_slice(&self.start.bits().to_le_bytes());
    }
}

impl BlockAck {
    /// Reads the frame, with one record for one station; `None` for several, and for other variants.
    pub(super) fn read(control: FrameControl, mut at: Cursor<'_>) -> Result<Option<BlockAck>, Error> {
        const PART: &str = "BlockAck";
        let duration_us = at.u16_le(PART)?;
        let (receiver, transmitter) = (MacAddress(at.array(PART)?), MacAddress(at.array(PART)?));
        let ba = at.u16_le(PART)?;
        let read = match ba & TYPE {
            BASIC => {
                let start = SequenceControl::from_bits(at.u16_le(PART)?);
                Some((ba >> 12, start.number, Bitmap::read_basic(&mut at)?))
            }
            COMPRESSED | EXTENDED_COMPRESSED => BlockAck::read_record(ba >> 12, &mut at)?,
            // The number of TIDs, less 1.
            MULTI_TID if ba >> 12 == 0 => {
                let tid = at.u16_le(PART)? >> 12;
                BlockAck::read_record(tid, &mut at)?
            }
            MULTI_STA if !receiver.is_group() => BlockAck::read_of_stations(&mut at)?,
            _ => None,
        };
        Ok(read.map(|(tid, start, bitmap)| BlockAck {
            flags: control.flags(),
            duration_us,
            receiver,
            transmitter,
            no_ack: ba & NO_ACK != 0,
            tid: tid as u8,
            start,
            bitmap,
        }))
    }

    /// A starting number and a bitmap.
    fn read_record(tid: u16, at: &mut Cursor<'_>) -> Result<Option<(u16, u16, Bitmap)>, Error> {
        let start = SequenceControl::from_bits(at.u16_le("BlockAck")?);
        Ok(Bitmap::read(start.fragment, at)?.map(|bitmap| (tid, start.number, bitmap)))
    }

    /// The only record of the variant for several stations.
    fn read_of_stations(at: &mut Cursor<'_>) -> Result<Option<(u16, u16, Bitmap)>, Error> {
        let about = at.u16_le("BlockAck")?;
        let is_all = about & ACK_TYPE != 0;
        let record = if is_all { Some((about >> 12, 0, Bitmap::All)) } else { BlockAck::read_record(about >> 12, at)? };
        Ok(record.filter(|_| at.rest().is_empty()))
    }

    /// Appends the frame without its FCS: 28 bytes with a bitmap for 64 frames, 52 for 256, 84 for 512, 148 for 1024, and 20
    /// without one.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_head(9, self.flags, self.duration_us, self.receiver, out);
        out.extend_from_slice(&self.transmitter.0);
        if self.bitmap == Bitmap::All {
            let (ba, about) = (MULTI_STA | u16::from(self.no_ack), ACK_TYPE | u16::from(self.tid) << 12);
            out.extend_from_slice(&ba.to_le_bytes());
            out.extend_from_slice(&about.to_le_bytes());
            return;
        }
        out.extend_from_slice(&compressed(self.no_ack, self.tid).to_le_bytes());
        let start = SequenceControl { number: self.start & 0x0fff, fragment: self.bitmap.length_code() };
        out.extend_from_slice(&start.bits().to_le_bytes());
        self.bitmap.append(out);
    }

    /// True if the frame with this sequence number arrived according to this BlockAck.
    pub fn acknowledges(&self, number: u16) -> bool {
        self.bitmap.contains(number.wrapping_sub(self.start) & 0x0fff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ieee80211::Frame;

    const STATION: MacAddress = MacAddress([4; 6]);

    fn block_ack() -> BlockAck {
        BlockAck {
            duration_us: 0x0102,
            receiver: MacAddress([1; 6]),
            transmitter: MacAddress([2; 6]),
            tid: 5,
            start: 4095,
            bitmap: Bitmap::Of64(0b101),
            ..BlockAck::default()
        }
    }

    #[test]
    fn a_compressed_block_ack_has_28_bytes() {
        let mut bytes = Vec::new();
        block_ack().append(&mut bytes);
        let head = [0x94, 0, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2];
        assert_eq!(bytes[..16], head);
        // Type 2 in bits 1 to 4, TID 5 in bits 12 to 15: 5004. Start 4095, fragment 0: fff0.
        assert_eq!(bytes[16..], [0x04, 0x50, 0xf0, 0xff, 0b101, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Frame::parse(&bytes), Ok(Frame::BlockAck(block_ack())));
    }

    #[test]
    fn numbers_wrap_at_4096() {
        let sent = block_ack();
        assert!(sent.acknowledges(4095) && !sent.acknowledges(0) && sent.acknowledges(1));
        assert!(!sent.acknowledges(4094) && !sent.acknowledges(63));
        let long = BlockAck { bitmap: Bitmap::Of256([0, 0, 0, 1 << 63]), start: 0, ..sent };
        assert!(long.acknowledges(255) && !long.acknowledges(256));
    }

    #[test]
    fn bitmap_for_256_frames_makes_52_bytes_with_its_size_field() {
        let sent = BlockAck { bitmap: Bitmap::Of256([1, 2, 3, 4]), ..block_ack() };
        let mut bytes = Vec::new();
        sent.append(&mut bytes);
        assert_eq!((bytes.len(), bytes[18]), (52, 0xf4));
        assert_eq!(Frame::parse(&bytes), Ok(Frame::BlockAck(sent)));
        assert_eq!(
            Frame::parse(&bytes[..51]).unwrap_err().to_string(),
            "byte 44: BlockAck bitmap: of 8 bytes there are 7"
        );
        // A code of fragments.
        bytes[18] = 0xf1;
        assert!(matches!(Frame::parse(&bytes), Ok(Frame::Control(_))));
    }

    #[test]
    fn long_bitmaps_of_802_11be_are_read() {
        for (bitmap, length, code) in
            [(Bitmap::Of512([7; 8]), 84, 0xf8), (Bitmap::Of1024([1 << 63; 16]), 148, 0xfa), (Bitmap::All, 20, 0)]
        {
            let start = if bitmap == Bitmap::All { 0 } else { 4095 };
            let sent = BlockAck { bitmap, start, receiver: STATION, ..block_ack() };
            let mut bytes = Vec::new();
            sent.append(&mut bytes);
            assert_eq!((bytes.len(), bytes.get(18).copied().unwrap_or(0) & code), (length, code));
            assert_eq!(Frame::parse(&bytes), Ok(Frame::BlockAck(sent)));
        }
        assert!(BlockAck { bitmap: Bitmap::Of1024([1 << 63; 16]), ..block_ack() }.acknowledges((4095 + 1023) % 4096));
    }

    #[test]
    fn one_record_of_the_other_variants_is_read_as_the_compressed_one() {
        let mut head = Vec::new();
        let expected = BlockAck { receiver: STATION, ..block_ack() };
        expected.append(&mut head);
        head.truncate(16);
        // BA control, the record's own TID, start 4095, then bits 0 and 2.
        let eight = [0xf0, 0xff, 0b101, 0, 0, 0, 0, 0, 0, 0];
        let basic = [&[0x00, 0x50, 0xf0, 0xff, 1, 0, 0, 0, 0, 0x80][..], &[0; 122]].concat();
        let extended = [&[0x02, 0x50], &eight[..]].concat();
        let multi_tid = [&[0x06, 0, 0, 0x50], &eight[..]].concat();
        let multi_sta = [&[0x16, 0, 0x07, 0x50], &eight[..]].concat();
        for rest in [&basic, &extended, &multi_tid, &multi_sta] {
            assert_eq!(Frame::parse(&[&head, &rest[..]].concat()), Ok(Frame::BlockAck(expected)), "{rest:x?}");
        }
        // Two records, and a frame for a group, whose records go to stations by number.
        let two = [&head, &multi_sta[..], &multi_sta[2..]].concat();
        assert!(matches!(Frame::parse(&two), Ok(Frame::Control(_))));
        head[4..10].fill(0xff);
        assert!(matches!(Frame::parse(&[&head, &multi_sta[..]].concat()), Ok(Frame::Control(_))));
    }

    #[test]
    fn other_variants_are_control_frames() {
        let mut bytes = Vec::new();
        block_ack().append(&mut bytes);
        // GCR.
        bytes[16] = 6 << 1;
        assert!(matches!(Frame::parse(&bytes), Ok(Frame::Control(frame)) if frame.rest.len() == 18));
    }
}
