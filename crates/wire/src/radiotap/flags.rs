//! The flags of frames received and sent. [radiotap.org, Flags, TX flags]

use crate::bit_set::bit_set;

/// Bits of the flags field. [radiotap.org, Flags]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

bit_set!(Flags);

impl Flags {
    /// The preamble was the short one.
    pub const SHORT_PREAMBLE: Flags = Flags(0x02);
    /// The frame ends with its FCS.
    pub const FCS_AT_END: Flags = Flags(0x10);
    /// Padding to whole words follows the MAC header.
    pub const PADDED_HEADER: Flags = Flags(0x20);
    /// The FCS does not fit the frame.
    pub const BAD_FCS: Flags = Flags(0x40);
    /// HT with the short guard interval.
    pub const SHORT_GUARD_INTERVAL: Flags = Flags(0x80);
}

/// Bits of the TX flags field. [radiotap.org, TX flags]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxFlags(pub u16);

bit_set!(TxFlags);

impl TxFlags {
    /// The frame was given up after too many attempts.
    pub const FAILED: TxFlags = TxFlags(0x0001);
    /// The frame was sent after a CTS-to-self.
    pub const CTS_TO_SELF: TxFlags = TxFlags(0x0002);
    /// The frame was sent after RTS and CTS.
    pub const RTS: TxFlags = TxFlags(0x0004);
    /// No Ack is expected.
    pub const NO_ACK: TxFlags = TxFlags(0x0008);
}
