//! Results of a PPDU at a receiver.

use lasthop_observe::Outcome;

/// Reception of a PPDU, or of the frame in it, by a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    Decoded,
    /// lost to another PPDU that began within a slot of it, or whose sender is heard by its sender
    Collided,
    /// lost to PPDUs that its sender does not hear
    Interfered,
    /// lost to bursts of interferers
    Drowned,
    /// the receiver was sending itself
    Deaf,
    /// lost to noise, or too weak
    Noisy,
}

/// Reason why a receiver has not decoded a frame, as far as it matters to a node that is not the frame's destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missed {
    /// the receiver was sending
    Deaf,
    /// the frame was too weak, or would have been lost without interference too
    Noisy,
    /// other PPDUs have spoiled it
    Spoiled,
}

impl Reception {
    /// Returns whether it was decoded, and otherwise a short form of the reason.
    pub(crate) fn in_short(self) -> Result<(), Missed> {
        match self {
            Reception::Decoded => Ok(()),
            Reception::Deaf => Err(Missed::Deaf),
            Reception::Noisy => Err(Missed::Noisy),
            Reception::Collided | Reception::Interfered | Reception::Drowned => Err(Missed::Spoiled),
        }
    }

    /// The outcome of an attempt whose frame was not decoded.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Reception::Noisy => Outcome::Noise,
            Reception::Interfered => Outcome::Interference,
            Reception::Drowned => Outcome::Interferer,
            Reception::Decoded | Reception::Collided | Reception::Deaf => Outcome::Collision,
        }
    }
}
