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

/// Why a receiver has not decoded a frame, as far as that matters to whom it is not meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missed {
    /// it sent itself
    Deaf,
    /// too weak, or it would have been lost in silence too
    Noisy,
    /// others have spoiled it
    Spoiled,
}

impl Reception {
    /// Whether it was decoded, and if not, why, for whom that is enough to know.
    pub(crate) fn in_short(self) -> Result<(), Missed> {
        match self {
            Reception::Decoded => Ok(()),
            Reception::Deaf => Err(Missed::Deaf),
            Reception::Noisy => Err(Missed::Noisy),
            Reception::Collided | Reception::Interfered => Err(Missed::Spoiled),
        }
    }

    /// What an attempt came to whose frame its receiver did not decode.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Reception::Noisy => Outcome::Noise,
            Reception::Interfered => Outcome::Interference,
            Reception::Decoded | Reception::Collided | Reception::Deaf => Outcome::Collision,
        }
    }
}
