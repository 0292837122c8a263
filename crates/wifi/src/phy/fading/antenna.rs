//! Nodes as fading knows them, and their pairs.

use crate::phy::path_loss::Way;

/// A node as fading knows it.
#[derive(Clone, Copy, Debug)]
pub struct Antenna<'a> {
    /// Its name, which names the random streams.
    pub name: &'a str,
    /// Its way, along which a channel fades.
    pub way: &'a Way,
    /// Centre of its channel.
    pub frequency_hz: f64,
    /// Width of its channel.
    pub bandwidth_hz: f64,
    /// Its antennas.
    pub antennas: u8,
}

/// The place of a pair in a list of all pairs.
pub(super) fn place(a: usize, b: usize) -> usize {
    let (low, high) = (a.min(b), a.max(b));
    high * (high - 1) / 2 + low
}
