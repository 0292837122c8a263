//! The Frame Control field. [802.11-2020 §9.2.4.1]

use crate::bit_set::bit_set;

/// Frame Control: version, type, subtype and flags, as on the air with the lower byte first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameControl(pub u16);

/// The type of a frame. [802.11-2020 §9.2.4.1.3]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// Management.
    Management,
    /// Control.
    Control,
    /// Data.
    Data,
    /// Extension.
    Extension,
}

/// The higher byte of Frame Control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameFlags(pub u8);

bit_set!(FrameFlags);

impl FrameFlags {
    /// No flag.
    pub const NONE: FrameFlags = FrameFlags(0);
    /// To the distribution system.
    pub const TO_DS: FrameFlags = FrameFlags(0x01);
    /// From the distribution system.
    pub const FROM_DS: FrameFlags = FrameFlags(0x02);
    /// A further fragment follows.
    pub const MORE_FRAGMENTS: FrameFlags = FrameFlags(0x04);
    /// Retransmission.
    pub const RETRY: FrameFlags = FrameFlags(0x08);
    /// The station will doze.
    pub const POWER_MANAGEMENT: FrameFlags = FrameFlags(0x10);
    /// The AP has more data for the station.
    pub const MORE_DATA: FrameFlags = FrameFlags(0x20);
    /// The body is encrypted.
    pub const PROTECTED: FrameFlags = FrameFlags(0x40);
    /// In QoS data and management frames: HT Control is present. In others: strictly ordered.
    pub const HTC: FrameFlags = FrameFlags(0x80);
}

impl FrameControl {
    /// A field with version 0, this type and subtype, and these flags.
    pub(super) const fn new(frame_type: FrameType, subtype: u8, flags: FrameFlags) -> FrameControl {
        FrameControl((frame_type as u16) << 2 | (subtype as u16) << 4 | (flags.0 as u16) << 8)
    }

    /// Protocol version; 0 except for S1G control frames.
    pub const fn version(self) -> u8 {
        (self.0 & 0b11) as u8
    }

    /// Type.
    pub const fn frame_type(self) -> FrameType {
        match self.0 >> 2 & 0b11 {
            0 => FrameType::Management,
            1 => FrameType::Control,
            2 => FrameType::Data,
            _ => FrameType::Extension,
        }
    }

    /// Subtype, 0 to 15.
    pub const fn subtype(self) -> u8 {
        (self.0 >> 4 & 0x0f) as u8
    }

    /// Flags.
    pub const fn flags(self) -> FrameFlags {
        FrameFlags((self.0 >> 8) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qos_data_frame_to_the_ap_that_is_sent_again_begins_with_88_09() {
        let control = FrameControl::new(FrameType::Data, 8, FrameFlags::TO_DS.with(FrameFlags::RETRY));
        assert_eq!(control.0.to_le_bytes(), [0x88, 0x09]);
        assert_eq!((control.version(), control.frame_type(), control.subtype()), (0, FrameType::Data, 8));
        assert!(control.flags().contains(FrameFlags::RETRY) && !control.flags().contains(FrameFlags::FROM_DS));
    }
}
