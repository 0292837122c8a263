//! The Sequence Control field. [802.11-2020 §9.2.4.4]

/// Sequence number and fragment number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceControl {
    /// Sequence number, 0 to 4095.
    pub number: u16,
    /// Fragment number, 0 to 15.
    pub fragment: u8,
}

impl SequenceControl {
    /// A frame that is not fragmented; `number` modulo 4096.
    pub const fn whole(number: u16) -> SequenceControl {
        SequenceControl { number: number & 0x0fff, fragment: 0 }
    }

    /// The bits of the field.
    pub(super) const fn bits(self) -> u16 {
        self.number << 4 | (self.fragment & 0x0f) as u16
    }

    /// The contents of the field's bits.
    pub(super) const fn from_bits(bits: u16) -> SequenceControl {
        SequenceControl { number: bits >> 4, fragment: (bits & 0x0f) as u8 }
    }
}
