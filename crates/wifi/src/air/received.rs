//! Results of a PPDU at a receiver.

use lasthop_observe::Outcome;

/// Reception of a PPDU, or of the frame in it, by a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// the receiver has the frame, or at least one MPDU of an A-MPDU, with a correct FCS [802.11-2020 §9.2.4.8]
    Decoded,
    /// lost to another PPDU that began within a slot of it, or whose sender is heard by its sender: a loss that contention
    /// should have prevented [802.11-2020 §10.3.3]
    Collided,
    /// lost to PPDUs that its sender does not hear: hidden nodes
    Interfered,
    /// lost to bursts of interferers
    Drowned,
    /// the receiver was sending itself: a radio is half duplex
    Deaf,
    /// lost to noise, as without any interference, or too weak: below `cca_preamble`, or below the sensitivity of its mode
    /// [802.11-2020 §17.3.10.6, §17.3.10.2]
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
    /// it is wider than the receiver's channel
    TooWide,
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
