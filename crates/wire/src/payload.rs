//! A payload of which only the beginning need exist.

/// What a header is followed by: some bytes, and then zeros that nobody need write.
///
/// A simulated segment has a length and no content. Its payload is taken to be zeros: they count for lengths and checksums,
/// so that the headers of a frame that a capture cuts off are those of the whole frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload<'a> {
    /// The beginning.
    pub bytes: &'a [u8],
    /// How many zeros follow it.
    pub zeros: usize,
}

impl<'a> Payload<'a> {
    /// These bytes and no more.
    pub fn bytes(bytes: &'a [u8]) -> Self {
        Payload { bytes, zeros: 0 }
    }

    /// `count` zeros.
    pub fn zeros(count: usize) -> Payload<'static> {
        Payload { bytes: &[], zeros: count }
    }

    /// Length in bytes, zeros included.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.zeros
    }
}
