//! Fields with their own lengths, which follow those of fixed lengths. [radiotap.org, TLV]
//!
//! ```text
//!  type (2)   length (2)   value   padding to a multiple of 4
//! ```

use crate::cursor::Cursor;
use crate::error::Error;

/// The PHY of a PPDU that has its field in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaterPhy {
    /// Sub-1-GHz, 802.11ah.
    S1g,
    /// EHT and what follows it, from 802.11be on: the PPDU begins with a U-SIG.
    Eht,
}

const S1G: u16 = 32;
const U_SIG: u16 = 33;
const EHT: u16 = 34;

/// Reads the list up to its end; returns the PHY that it names.
pub(super) fn read(at: &mut Cursor<'_>) -> Result<Option<LaterPhy>, Error> {
    const PART: &str = "radiotap TLV";
    let mut phy = None;
    at.align(4, PART)?;
    while at.rest().len() >= 4 {
        let (kind, length) = (at.u16_le(PART)?, at.u16_le(PART)?);
        at.take(length.into(), PART)?;
        if !at.rest().is_empty() {
            at.align(4, PART)?;
        }
        match kind {
            S1G => phy = Some(LaterPhy::S1g),
            U_SIG | EHT => phy = Some(LaterPhy::Eht),
            _ => {}
        }
    }
    Ok(phy)
}

#[cfg(test)]
mod tests {
    use crate::radiotap::{LaterPhy, Radiotap};

    #[test]
    fn fields_with_lengths_name_the_phy() {
        // Bits 1 (flags) and 28; three bytes of padding; type 33 with 3 bytes and one of padding.
        let mut bytes = vec![0, 0, 20, 0, 2, 0, 0, 0x10, 0x10, 0, 0, 0, 33, 0, 3, 0, 7, 7, 7, 0, 0xaa];
        let (radiotap, frame) = Radiotap::parse(&bytes).unwrap();
        assert_eq!((radiotap.later_phy, radiotap.has_fcs(), frame), (Some(LaterPhy::Eht), true, &[0xaa][..]));
        bytes[12] = 32;
        assert_eq!(Radiotap::parse(&bytes).unwrap().0.later_phy, Some(LaterPhy::S1g));
        // A list that goes on beyond the header names none, and the frame stays.
        bytes[14] = 200;
        let (radiotap, frame) = Radiotap::parse(&bytes).unwrap();
        assert_eq!((radiotap.later_phy, frame), (None, &[0xaa][..]));
    }
}
