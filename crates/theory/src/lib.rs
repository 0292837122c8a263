//! Closed forms to hold the simulation against: saturation throughput of the DCF, several rates in
//! one BSS, the ceiling of one frame exchange, the same-slot probability, and square-root laws.
//!
//! Everything here is a pure function of durations and window sizes that the caller supplies; no
//! 802.11 standard is named in the code. Throughputs are in bit/s, probabilities plain numbers.

pub mod anomaly;
pub mod bianchi;
pub mod exchange;
pub mod frame_times;
pub mod multirate;
pub mod same_slot;
pub mod sqrt_p;
