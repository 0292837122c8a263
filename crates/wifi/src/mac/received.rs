//! What comes of a PPDU at a receiver.

/// What a receiver made of a PPDU, or of the frame in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    Decoded,
    /// lost to another that began within a slot of it, or whose sender its sender hears
    Collided,
    /// lost to others that its sender does not hear
    Interfered,
    /// the receiver was sending itself
    Deaf,
    /// lost to noise, or too weak
    Noisy,
}
