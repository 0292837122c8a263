//! Control frames, except those of Block Ack. [802.11-2020 §9.3.1]

use super::frame_control::{FrameControl, FrameFlags, FrameType};
use crate::address::MacAddress;
use crate::cursor::Cursor;
use crate::error::Error;

/// RTS. [802.11-2020 §9.3.1.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rts {
    /// Flags.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// RA.
    pub receiver: MacAddress,
    /// TA.
    pub transmitter: MacAddress,
}

/// CTS, including CTS-to-self. [802.11-2020 §9.3.1.3]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cts {
    /// Flags.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// RA.
    pub receiver: MacAddress,
}

/// Ack. [802.11-2020 §9.3.1.4]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Flags.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// RA.
    pub receiver: MacAddress,
}

/// CF-End, which is parsed as [`Control`]. [802.11-2020 §9.3.1.6]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfEnd {
    /// Flags.
    pub flags: FrameFlags,
    /// BSSID; all nodes receive the frame, and its Duration is 0.
    pub bssid: MacAddress,
}

/// A control frame of which only the beginning is parsed. [802.11-2020 §9.3.1]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control<'a> {
    /// Frame Control, with the subtype: 2 Trigger, 7 wrapper, 8 BlockAckReq, 9 BlockAck, 10 PS-Poll, 14 CF-End.
    pub control: FrameControl,
    /// Duration in µs, or the AID of a PS-Poll.
    pub duration_us: u16,
    /// RA.
    pub receiver: MacAddress,
    /// Bytes after the RA.
    pub rest: &'a [u8],
}

/// Appends the common beginning of all control frames.
pub(super) fn append_head(subtype: u8, flags: FrameFlags, duration_us: u16, receiver: MacAddress, out: &mut Vec<u8>) {
    out.extend_from_slice(&FrameControl::new(FrameType::Control, subtype, flags).0.to_le_bytes());
    out.extend_from_slice(&duration_us.to_le_bytes());
    out.extend_from_slice(&receiver.0);
}

impl Rts {
    pub(super) fn read(control: FrameControl, mut at: Cursor<'_>) -> Result<Rts, Error> {
        const PART: &str = "RTS";
        Ok(Rts {
            flags: control.flags(),
            duration_us: at.u16_le(PART)?,
            receiver: MacAddress(at.array(PART)?),
            transmitter: MacAddress(at.array(PART)?),
        })
    }

    /// Appends the frame without its FCS: 16 bytes.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_head(11, self.flags, self.duration_us, self.receiver, out);
        out.extend_from_slice(&self.transmitter.0);
    }
}

impl Cts {
    pub(super) fn read(control: FrameControl, mut at: Cursor<'_>) -> Result<Cts, Error> {
        const PART: &str = "CTS";
        let flags = control.flags();
        Ok(Cts { flags, duration_us: at.u16_le(PART)?, receiver: MacAddress(at.array(PART)?) })
    }

    /// Appends the frame without its FCS: 10 bytes.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_head(12, self.flags, self.duration_us, self.receiver, out);
    }
}

impl Ack {
    pub(super) fn read(control: FrameControl, mut at: Cursor<'_>) -> Result<Ack, Error> {
        const PART: &str = "Ack";
        let flags = control.flags();
        Ok(Ack { flags, duration_us: at.u16_le(PART)?, receiver: MacAddress(at.array(PART)?) })
    }

    /// Appends the frame without its FCS: 10 bytes.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_head(13, self.flags, self.duration_us, self.receiver, out);
    }
}

impl CfEnd {
    /// Appends the frame without its FCS: 16 bytes.
    pub fn append(&self, out: &mut Vec<u8>) {
        append_head(14, self.flags, 0, MacAddress::BROADCAST, out);
        out.extend_from_slice(&self.bssid.0);
    }
}

impl<'a> Control<'a> {
    /// TA of the subtypes that have one.
    pub fn transmitter(&self) -> Option<MacAddress> {
        /// Trigger, Beamforming Report Poll, NDP Announcement, BlockAckReq, BlockAck, PS-Poll. A CF-End has the BSSID.
        const WITH_TA: [u8; 6] = [2, 4, 5, 8, 9, 10];
        let has = WITH_TA.contains(&self.control.subtype());
        self.rest.first_chunk().filter(|_| has).map(|address| MacAddress(*address))
    }

    pub(super) fn read(control: FrameControl, mut at: Cursor<'a>) -> Result<Control<'a>, Error> {
        const PART: &str = "control frame";
        let duration_us = at.u16_le(PART)?;
        Ok(Control { control, duration_us, receiver: MacAddress(at.array(PART)?), rest: at.rest() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append_fcs;
    use crate::ieee80211::Frame;

    const RECEIVER: MacAddress = MacAddress([0, 1, 2, 3, 4, 5]);

    #[test]
    fn an_ack_is_ten_bytes_and_its_fcs() {
        let ack = Ack { receiver: RECEIVER, ..Ack::default() };
        let mut bytes = Vec::new();
        ack.append(&mut bytes);
        assert_eq!(bytes, [0xd4, 0, 0, 0, 0, 1, 2, 3, 4, 5]);
        assert_eq!(Frame::parse(&bytes), Ok(Frame::Ack(ack)));
        append_fcs(&mut bytes, 0);
        assert_eq!(bytes.len(), 14);
    }

    #[test]
    fn rts_and_cts_carry_their_duration_lower_byte_first() {
        let rts = Rts { duration_us: 0x0123, receiver: RECEIVER, transmitter: MacAddress::BROADCAST, ..Rts::default() };
        let mut bytes = Vec::new();
        rts.append(&mut bytes);
        assert_eq!(bytes, [0xb4, 0, 0x23, 0x01, 0, 1, 2, 3, 4, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        let cts = Cts { flags: FrameFlags::POWER_MANAGEMENT, duration_us: 44, receiver: RECEIVER };
        bytes.clear();
        cts.append(&mut bytes);
        assert_eq!(bytes, [0xc4, 0x10, 44, 0, 0, 1, 2, 3, 4, 5]);
        assert_eq!(Frame::parse(&bytes), Ok(Frame::Cts(cts)));
    }

    #[test]
    fn cf_end_goes_to_all_with_the_bssid_and_no_duration() {
        let mut bytes = Vec::new();
        CfEnd { flags: FrameFlags::NONE, bssid: RECEIVER }.append(&mut bytes);
        assert_eq!(bytes, [0xe4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3, 4, 5]);
        let Ok(Frame::Control(frame)) = Frame::parse(&bytes) else { panic!() };
        assert_eq!((frame.control.subtype(), frame.duration_us, frame.receiver), (14, 0, MacAddress::BROADCAST));
    }

    #[test]
    fn unknown_frame_keeps_its_bytes() {
        let ps_poll = [0xa4, 0x00, 0x01, 0xc0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        let Ok(Frame::Control(frame)) = Frame::parse(&ps_poll) else { panic!() };
        assert_eq!((frame.control.subtype(), frame.duration_us, frame.rest), (10, 0xc001, &ps_poll[10..]));
    }
}
