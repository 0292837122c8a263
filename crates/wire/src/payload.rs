//! Payloads of which only the beginning is stored.

/// The payload behind a header: some bytes, and then zeros that need not be stored.
///
/// A simulated segment has a length and no content. Its payload is taken to be zeros, which count for lengths and
/// checksums, so the headers of a frame that a capture cuts off are those of the whole frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload<'a> {
    /// The stored beginning.
    pub bytes: &'a [u8],
    /// Number of zeros after it.
    pub zeros: usize,
}

impl<'a> Payload<'a> {
    /// A payload of these bytes without zeros.
    pub fn bytes(bytes: &'a [u8]) -> Self {
        Payload { bytes, zeros: 0 }
    }

    /// A payload of `count` zeros.
    pub fn zeros(count: usize) -> Payload<'static> {
        Payload { bytes: &[], zeros: count }
    }

    /// Length in bytes, zeros included.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.zeros
    }
}
