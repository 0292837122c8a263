//! Closed forms to compare with the simulation: saturation throughput of the DCF, several rates in one BSS, the ceiling
//! of one frame exchange, A-MPDUs, triggered uplinks of several users, the same-slot probability, and square-root laws.
//!
//! Everything here is a pure function of durations, sizes and counts that the caller supplies; formats of
//! PPDUs are named in `ampdu` alone, which writes their formulas again. Throughputs are in bit/s, probabilities plain numbers.

pub mod ampdu;
pub mod anomaly;
pub mod bianchi;
pub mod exchange;
pub mod frame_times;
pub mod multirate;
pub mod same_slot;
pub mod sqrt_p;
pub mod triggered;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
