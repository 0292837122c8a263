//! Sizes, rates, powers, distances and probabilities.

use core::fmt;
use core::ops::{Add, Sub};

use crate::Duration;

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A count of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRate(u64);

/// A power relative to one milliwatt.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

/// A ratio of powers.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Db(pub f64);

/// A relative error of a clock, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ppm(pub f64);

/// A power on the linear scale, so that interference can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Milliwatts(pub f64);

/// A distance in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Metres(pub f64);

/// A frequency in hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Hertz(pub f64);

/// A speed in metres per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Speed(pub f64);

/// A probability between 0 and 1, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl DataRate {
    /// From bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        DataRate(bps)
    }
    /// From units of 100 kbit/s, the grain of the 802.11 tables (55 is 5.5 Mbit/s).
    pub const fn from_100kbps(rate: u64) -> Self {
        DataRate(rate * 100_000)
    }
    /// In bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// In Mbit/s.
    pub fn as_mbps_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// Time to send `bits`, rounded up to the nanosecond; [`Duration::MAX`] if it is longer.
    pub const fn time_for_bits(self, bits: u64) -> Duration {
        match bits.checked_mul(1_000_000_000) {
            Some(scaled) => Duration::from_nanos(scaled.div_ceil(self.0)),
            None => self.long_time_for(bits as u128),
        }
    }
    /// Time to send `size`, rounded up to the nanosecond; [`Duration::MAX`] if it is longer.
    pub const fn time_for(self, size: Bytes) -> Duration {
        match size.0.checked_mul(8) {
            Some(bits) => self.time_for_bits(bits),
            None => self.long_time_for(size.0 as u128 * 8),
        }
    }
    const fn long_time_for(self, bits: u128) -> Duration {
        let ns = (bits * 1_000_000_000).div_ceil(self.0 as u128);
        if ns > u64::MAX as u128 { Duration::MAX } else { Duration::from_nanos(ns as u64) }
    }
}

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability(0.0);
    /// Always.
    pub const ONE: Probability = Probability(1.0);

    /// `None` outside 0..=1 or for NaN.
    pub const fn new(p: f64) -> Option<Self> {
        if 0.0 <= p && p <= 1.0 { Some(Probability(p)) } else { None }
    }
    /// The same for a constant: in `const { Probability::of(0.1) }` the compiler refuses any other number.
    ///
    /// # Panics
    /// If `p` is outside 0..=1 or NaN.
    pub const fn of(p: f64) -> Self {
        Self::new(p).expect("a probability is between 0 and 1")
    }
    /// As a number between 0 and 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Dbm {
    /// On the linear scale: `10^(dBm/10)` milliwatts.
    pub fn to_milliwatts(self, pow10: impl Fn(f64) -> f64) -> Milliwatts {
        Milliwatts(pow10(self.0 / 10.0))
    }
}

impl Sub<Db> for Dbm {
    type Output = Dbm;
    fn sub(self, loss: Db) -> Dbm {
        Dbm(self.0 - loss.0)
    }
}
impl Add<Db> for Dbm {
    type Output = Dbm;
    fn add(self, gain: Db) -> Dbm {
        Dbm(self.0 + gain.0)
    }
}
impl Sub for Dbm {
    type Output = Db;
    fn sub(self, other: Dbm) -> Db {
        Db(self.0 - other.0)
    }
}
impl Add for Db {
    type Output = Db;
    fn add(self, other: Db) -> Db {
        Db(self.0 + other.0)
    }
}
impl Add for Milliwatts {
    type Output = Milliwatts;
    fn add(self, other: Milliwatts) -> Milliwatts {
        Milliwatts(self.0 + other.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}
impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.0)
    }
}
impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps >= 1_000_000_000 && bps.is_multiple_of(100_000_000) => {
                write!(f, "{} Gbit/s", bps as f64 / 1e9)
            }
            bps if bps >= 1_000_000 => write!(f, "{} Mbit/s", bps as f64 / 1e6),
            bps if bps >= 1_000 => write!(f, "{} kbit/s", bps as f64 / 1e3),
            bps => write!(f, "{bps} bit/s"),
        }
    }
}
impl fmt::Display for Dbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dBm", self.0)
    }
}
impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}
impl fmt::Display for Ppm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ppm", self.0)
    }
}
impl fmt::Display for Metres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m", self.0)
    }
}
impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 1e6 { write!(f, "{} MHz", self.0 / 1e6) } else { write!(f, "{} Hz", self.0) }
    }
}
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m/s", self.0)
    }
}
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
