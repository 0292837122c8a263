//! What comes of a PPDU at a receiver.

use lasthop_observe::Outcome;

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

impl Reception {
    /// What an attempt came to whose frame its receiver did not decode.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Reception::Noisy => Outcome::Noise,
            Reception::Interfered => Outcome::Interference,
            Reception::Decoded | Reception::Collided | Reception::Deaf => Outcome::Collision,
        }
    }
}
