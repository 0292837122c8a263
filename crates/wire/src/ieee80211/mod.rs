//! 802.11 MAC frames. [802.11-2020 §9.2, §9.3]
//!
//! ```text
//!  2              2          6          6          6          2            6          2        4
//! +--------------+----------+----------+----------+----------+------------+----------+--------+-----------+------+-----+
//! | FrameControl | Duration | Address1 | Address2 | Address3 | SequenceC. | Address4 | QoS C. | HT Control | Body | FCS |
//! +--------------+----------+----------+----------+----------+------------+----------+--------+-----------+------+-----+
//! ```
//!
//! The fields of a frame depend on its type and on bits of Frame Control. Frames here are without FCS; [`split_fcs`]
//! removes it, and [`append_fcs`](crate::append_fcs) adds it.

mod ampdu;
mod amsdu;
mod block_ack;
mod control;
mod data;
mod element;
mod frame_control;
mod management;
mod sequence;
mod trigger;

pub use ampdu::{AMPDU_DELIMITER, Delimiter, Mpdu, Mpdus, append_mpdu};
pub use amsdu::{Msdu, Msdus, append_msdu};
pub use block_ack::{Bitmap, BlockAck, BlockAckReq};
pub use control::{Ack, CfEnd, Control, Cts, Rts};
pub use data::{AckPolicy, Data, DataKind, QosControl};
pub use element::{Elements, append_elements};
pub use frame_control::{FrameControl, FrameFlags, FrameType};
pub use management::{Beacon, Management};
pub use sequence::SequenceControl;
pub use trigger::{AckedStation, Trigger, TriggerKind, TriggerUser, append_multi_sta_block_ack, ru_number};

use crate::crc::fcs;
use crate::cursor::Cursor;
use crate::error::Error;

/// A frame, parsed if its type is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// RTS.
    Rts(Rts),
    /// CTS, and CTS-to-self.
    Cts(Cts),
    /// Ack.
    Ack(Ack),
    /// BlockAckReq of the compressed variant.
    BlockAckReq(BlockAckReq),
    /// BlockAck of one TID to one station.
    BlockAck(BlockAck),
    /// Any other control frame, such as Trigger, CF-End, PS-Poll, or a BlockAck to several stations.
    Control(Control<'a>),
    /// Data, QoS Data, Null and QoS Null.
    Data(Data<'a>),
    /// Beacon.
    Beacon(Beacon<'a>),
    /// Any other management frame.
    Management(Management<'a>),
    /// An extension frame, which is not parsed further.
    Extension(FrameControl),
}

impl<'a> Frame<'a> {
    /// Reads a frame without its FCS. The body may have been captured in part.
    ///
    /// # Errors
    /// If bytes end within the header, or if the protocol version is not 0.
    pub fn parse(bytes: &'a [u8]) -> Result<Frame<'a>, Error> {
        Frame::read(bytes, 1)
    }

    /// Does the same as [`parse`](Frame::parse) if the MAC header of a data frame is padded to a multiple of four
    /// bytes, as radiotap's [`PADDED_HEADER`](crate::radiotap::Flags::PADDED_HEADER) says.
    ///
    /// # Errors
    /// The same as for `parse`.
    pub fn parse_padded(bytes: &'a [u8]) -> Result<Frame<'a>, Error> {
        Frame::read(bytes, 4)
    }

    fn read(bytes: &'a [u8], alignment: usize) -> Result<Frame<'a>, Error> {
        let mut cursor = Cursor::new(bytes);
        let control = FrameControl(cursor.u16_le("Frame Control")?);
        if control.version() != 0 {
            return Err(Error::value(0, "802.11 protocol version", control.version(), "it is 0"));
        }
        Ok(match (control.frame_type(), control.subtype()) {
            (FrameType::Control, 8) => BlockAckReq::read(control, cursor)?.map_or_else(
                || Control::read(control, cursor).map(Frame::Control),
                |request| Ok(Frame::BlockAckReq(request)),
            )?,
            (FrameType::Control, 9) => BlockAck::read(control, cursor)?.map_or_else(
                || Control::read(control, cursor).map(Frame::Control),
                |block_ack| Ok(Frame::BlockAck(block_ack)),
            )?,
            (FrameType::Control, 11) => Frame::Rts(Rts::read(control, cursor)?),
            (FrameType::Control, 12) => Frame::Cts(Cts::read(control, cursor)?),
            (FrameType::Control, 13) => Frame::Ack(Ack::read(control, cursor)?),
            (FrameType::Control, _) => Frame::Control(Control::read(control, cursor)?),
            (FrameType::Data, _) => Frame::Data(Data::read(control, cursor, alignment)?),
            (FrameType::Management, 8) => Frame::Beacon(Beacon::read(control, cursor)?),
            (FrameType::Management, _) => Frame::Management(Management::read(control, cursor)?),
            (FrameType::Extension, _) => Frame::Extension(control),
        })
    }
}

/// The frame without its FCS, and the FCS, if both were captured whole.
///
/// `bytes` is the captured part of a frame of `original_length` bytes that ends with its FCS.
pub fn split_fcs(bytes: &[u8], original_length: usize) -> (&[u8], Option<u32>) {
    let body = &bytes[..bytes.len().min(original_length.saturating_sub(4))];
    let check = bytes.get(body.len()..original_length).and_then(|check| check.first_chunk());
    let whole = body.len() + 4 == original_length;
    (body, check.filter(|_| whole).map(|check| u32::from_le_bytes(*check)))
}

/// Returns whether the FCS fits the frame; unknown if not all was captured.
pub fn fcs_is_good(bytes: &[u8], original_length: usize) -> Option<bool> {
    let (body, check) = split_fcs(bytes, original_length);
    check.map(|check| check == fcs(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append_fcs;

    #[test]
    fn the_fcs_is_known_where_all_of_a_frame_was_captured() {
        let mut frame = vec![1, 2, 3];
        append_fcs(&mut frame, 0);
        assert_eq!(split_fcs(&frame, 7), (&[1, 2, 3][..], Some(fcs(&[1, 2, 3]))));
        assert_eq!((fcs_is_good(&frame, 7), fcs_is_good(&frame, 8)), (Some(true), None));
        assert_eq!(split_fcs(&frame[..5], 7), (&[1, 2, 3][..], None));
        assert_eq!(split_fcs(&frame[..2], 7), (&[1, 2][..], None));
        assert_eq!(split_fcs(&frame, 2), (&[][..], None));
        frame[0] = 9;
        assert_eq!(fcs_is_good(&frame, 7), Some(false));
    }

    #[test]
    fn another_version_is_refused() {
        assert_eq!(
            Frame::parse(&[0x01, 0]).unwrap_err().to_string(),
            "byte 0: 802.11 protocol version is 1, but it is 0"
        );
        assert!(Frame::parse(&[0]).is_err());
    }
}
