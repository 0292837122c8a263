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
const TYPE: u16 = 0x001e;
/// The compressed variant.
const COMPRESSED: u16 = 2 << 1;

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
    /// 64 frames.
    Of64(u64),
    /// 256 frames, 64 a word. [802.11ax-2021 §9.3.1.8.2]
    Of256([u64; 4]),
}

impl Default for Bitmap {
    fn default() -> Self {
        Bitmap::Of64(0)
    }
}

impl Bitmap {
    /// Number of frames that it covers.
    pub fn frames(&self) -> u16 {
        match self {
            Bitmap::Of64(_) => 64,
            Bitmap::Of256(_) => 256,
        }
    }

    /// True if the frame `offset` after the first arrived; false beyond the end.
    pub fn contains(&self, offset: u16) -> bool {
        let word = match self {
            Bitmap::Of64(word) => {
                if offset < 64 {
                    *word
                } else {
                    0
                }
            }
            Bitmap::Of256(words) => words.get(usize::from(offset / 64)).copied().unwrap_or(0),
        };
        word >> (offset % 64) & 1 == 1
    }

    /// The fragment number that encodes the length of the bitmap. [802.11ax-2021 §9.3.1.8.2]
    fn length_code(&self) -> u8 {
        match self {
            Bitmap::Of64(_) => 0b0000,
            Bitmap::Of256(_) => 0b0100,
        }
    }

    /// Reads the bitmap whose length is encoded by `code`.
    fn read(code: u8, at: &mut Cursor<'_>) -> Result<Bitmap, Error> {
        const PART: &str = "BlockAck bitmap";
        match code {
            0b0000 => Ok(Bitmap::Of64(at.u64_le(PART)?)),
            0b0100 => Ok(Bitmap::Of256([at.u64_le(PART)?, at.u64_le(PART)?, at.u64_le(PART)?, at.u64_le(PART)?])),
            _ => Err(Error::value(at.at() - 2, "BlockAck fragment number", code, "it is 0 or 4: 64 or 256 frames")),
        }
    }

    fn append(&self, out: &mut Vec<u8>) {
        let words = match self {
            Bitmap::Of64(word) => std::slice::from_ref(word),
            Bitmap::Of256(words) => words,
        };
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }
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
    /// Reads the frame; `None` if it is of another variant.
    pub(super) fn read(control: FrameControl, mut at: Cursor<'_>) -> Result<Option<BlockAck>, Error> {
        const PART: &str = "BlockAck";
        let duration_us = at.u16_le(PART)?;
        let (receiver, transmitter) = (MacAddress(at.array(PART)?), MacAddress(at.array(PART)?));
        let ba = at.u16_le(PART)?;
        if ba & TYPE != COMPRESSED {
            return Ok(None);
        }
        let start = SequenceControl::from_bits(at.u16_le(PART)?);
        let bitmap = Bitmap::read(start.fragment, &mut at)?;
        let (no_ack, tid, start) = (ba & NO_ACK != 0, (ba >> 12) as u8, start.number);
        Ok(Some(BlockAck { flags: control.flags(), duration_us, receiver, transmitter, no_ack, tid, start, bitmap }))
    }

    /// Appends the frame without its FCS: 28 bytes with a bitmap for 64 frames, 52 for 256.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_head(9, self.flags, self.duration_us, self.receiver, out);
        out.extend_from_slice(&self.transmitter.0);
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
        bytes[18] = 0xf2;
        assert_eq!(
            Frame::parse(&bytes).unwrap_err().to_string(),
            "byte 18: BlockAck fragment number is 2, but it is 0 or 4: 64 or 256 frames"
        );
    }

    #[test]
    fn other_variants_are_control_frames() {
        let mut bytes = Vec::new();
        block_ack().append(&mut bytes);
        bytes[16] = 11 << 1;
        assert!(matches!(Frame::parse(&bytes), Ok(Frame::Control(frame)) if frame.rest.len() == 18));
    }
}
