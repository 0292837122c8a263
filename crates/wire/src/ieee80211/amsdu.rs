//! A-MSDUs: MSDUs behind headers with addresses and a length. [802.11-2020 §9.3.2.2]

use crate::address::MacAddress;
use crate::cursor::Cursor;
use crate::error::Error;

/// An MSDU of an A-MSDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msdu<'a> {
    /// DA.
    pub destination: MacAddress,
    /// SA.
    pub source: MacAddress,
    /// Length of the MSDU in bytes; the last may have been captured in part.
    pub length: u16,
    /// LLC, SNAP and packet.
    pub bytes: &'a [u8],
}

/// Appends an MSDU to an A-MSDU that begins at `start` of `out`, after the padding of the subframe before it.
///
/// The MSDU may be longer than `bytes`; the caller appends the rest, and `length` includes it.
pub fn append_msdu(msdu: &Msdu<'_>, start: usize, out: &mut Vec<u8>) {
    out.resize(start + (out.len() - start).next_multiple_of(4), 0);
    out.extend_from_slice(&msdu.destination.0);
    out.extend_from_slice(&msdu.source.0);
    out.extend_from_slice(&msdu.length.to_be_bytes());
    out.extend_from_slice(msdu.bytes);
}

/// The MSDUs of an A-MSDU, in their order; the last may be cut off. A header that is cut off is an error, and the last.
#[derive(Clone, Debug)]
pub struct Msdus<'a> {
    at: Cursor<'a>,
    ended: bool,
}

impl<'a> Msdus<'a> {
    /// The MSDUs of the A-MSDU in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Msdus { at: Cursor::new(bytes), ended: false }
    }

    fn read(&mut self) -> Result<Msdu<'a>, Error> {
        const PART: &str = "A-MSDU subframe header";
        let (destination, source) = (MacAddress(self.at.array(PART)?), MacAddress(self.at.array(PART)?));
        let length = self.at.u16_be(PART)?;
        let captured = usize::from(length).min(self.at.rest().len());
        let bytes = self.at.take(captured, "MSDU")?;
        self.ended = self.at.align(4, "padding of an A-MSDU subframe").is_err();
        Ok(Msdu { destination, source, length, bytes })
    }
}

impl<'a> Iterator for Msdus<'a> {
    type Item = Result<Msdu<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || self.at.rest().is_empty() {
            return None;
        }
        let read = self.read();
        self.ended |= read.is_err();
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn msdu(bytes: &[u8]) -> Msdu<'_> {
        Msdu { destination: MacAddress([1; 6]), source: MacAddress([2; 6]), length: bytes.len() as u16, bytes }
    }

    #[test]
    fn subframes_are_padded_but_the_last() {
        let mut bytes = vec![0xee];
        append_msdu(&msdu(b"first"), 1, &mut bytes);
        append_msdu(&msdu(b"second"), 1, &mut bytes);
        let bytes = &bytes[1..];
        // 14 + 5 = 19, padded to 20.
        assert_eq!(bytes.len(), 20 + 14 + 6);
        assert_eq!(bytes[12..14], [0, 5]);
        assert!(Msdus::new(bytes).eq([Ok(msdu(b"first")), Ok(msdu(b"second"))]));
        let cut: Vec<_> = Msdus::new(&bytes[..36]).collect();
        assert_eq!(cut[1], Ok(Msdu { length: 6, ..msdu(b"se") }));
        let cut: Vec<_> = Msdus::new(&bytes[..30]).collect();
        assert_eq!(cut[1].unwrap_err().to_string(), "byte 26: A-MSDU subframe header: of 6 bytes there are 4");
    }
}
