//! Reading quantities: a number, a space or none, and a unit.

use core::fmt;
use core::str::FromStr;

use crate::{Bytes, DataRate, Db, Dbm, Duration, Hertz, Metres, Packets, Ppm, Speed};

/// The reason why a text is not a quantity; its `Display` names the units that would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// The mistake in words.
    pub what: String,
    /// The remedy, if there is one.
    pub remedy: Option<String>,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.remedy.as_ref().map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}
impl std::error::Error for UnitError {}

/// A unit and its factor to the base unit of the quantity.
pub type Unit = (&'static str, f64);

/// A quantity that is written with a unit.
pub trait Measured {
    /// The units that may follow the number.
    const UNITS: &'static [Unit];
}

const TIME: &[Unit] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("h", 3600e9),
    ("TU", 1_024_000.0),
];
const SIZE: &[Unit] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
const RATE: &[Unit] = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
];
const POWER: &[Unit] = &[("dBm", 1.0), ("mW", 1.0), ("W", 1000.0)];
const RATIO: &[Unit] = &[("dB", 1.0)];
const PARTS: &[Unit] = &[("ppm", 1.0)];
const LENGTH: &[Unit] = &[("m", 1.0), ("cm", 0.01), ("km", 1000.0)];
const FREQUENCY: &[Unit] = &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];
const SPEED: &[Unit] = &[("m/s", 1.0), ("km/h", 1.0 / 3.6)];
const COUNT: &[Unit] = &[("packets", 1.0), ("packet", 1.0)];

macro_rules! measured {
    ($($quantity:ty: $units:ident),*) => {
        $(impl Measured for $quantity {
            const UNITS: &'static [Unit] = $units;
        })*
    };
}
measured!(
    Duration: TIME,
    Bytes: SIZE,
    Packets: COUNT,
    DataRate: RATE,
    Dbm: POWER,
    Db: RATIO,
    Ppm: PARTS,
    Metres: LENGTH,
    Hertz: FREQUENCY,
    Speed: SPEED
);

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = (c == 'e' || c == 'E')
                && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            let sign_of_exponent = (c == '-' || c == '+') && (i == 0 || text[..i].ends_with(['e', 'E']));
            !(c.is_ascii_digit() || c == '.' || exponent || sign_of_exponent)
        })
        .map_or(text.len(), |(i, _)| i);
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim()))
}

fn units_of(table: &[Unit]) -> String {
    let names: Vec<&str> = table.iter().map(|u| u.0).collect();
    names.join(", ")
}

fn read(text: &str, what: &str, example: &str, table: &[Unit]) -> Result<f64, UnitError> {
    let remedy = || format!("write {what} like \"{example}\" (units: {})", units_of(table));
    let complaint = |what: String| UnitError { what, remedy: Some(remedy()) };
    let Some((number, unit)) = split(text) else {
        return Err(complaint(format!("\"{text}\" is not {what}")));
    };
    if unit.is_empty() {
        return Err(complaint(format!("\"{text}\" has no unit")));
    }
    match table.iter().find(|u| u.0 == unit) {
        Some((_, factor)) => Ok(number * factor),
        None => Err(complaint(format!("\"{unit}\" is not a unit of {what}"))),
    }
}

fn read_whole(text: &str, what: &str, example: &str, table: &[Unit]) -> Result<u64, UnitError> {
    let value = read(text, what, example, table)?;
    if value < 0.0 {
        return Err(UnitError { what: format!("\"{text}\" is negative; {what} cannot be"), remedy: None });
    }
    if value > 9.0e18 {
        return Err(UnitError { what: format!("\"{text}\" is too large for {what}"), remedy: None });
    }
    Ok(value.round() as u64)
}

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read_whole(text, "a time", "50 ms", TIME).map(Duration::from_nanos)
    }
}
impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read_whole(text, "a size", "1500 B", SIZE).map(Bytes)
    }
}
impl FromStr for Packets {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read_whole(text, "a number of packets", "50 packets", COUNT).map(Packets)
    }
}
impl FromStr for DataRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read_whole(text, "a data rate", "11 Mbit/s", RATE).map(DataRate::from_bps)
    }
}
impl FromStr for Dbm {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = read(text, "a power", "16 dBm", POWER)?;
        if text.trim_end().ends_with("dBm") {
            return Ok(Dbm(number));
        }
        // The logarithm of milliwatts is kept.
        if number <= 0.0 {
            let remedy = Some("above 0, or in dBm".into());
            return Err(UnitError { what: format!("\"{text}\" is not a power"), remedy });
        }
        Ok(Dbm(10.0 * libm::log10(number)))
    }
}
impl FromStr for Db {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read(text, "a power ratio", "10 dB", RATIO).map(Db)
    }
}
impl FromStr for Ppm {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read(text, "a clock error", "10 ppm", PARTS).map(Ppm)
    }
}
impl FromStr for Metres {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read(text, "a distance", "10 m", LENGTH).map(Metres)
    }
}

impl FromStr for Hertz {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read(text, "a frequency", "6 Hz", FREQUENCY).map(Hertz)
    }
}
impl FromStr for Speed {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read(text, "a speed", "1 m/s", SPEED).map(Speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_the_field_writes_them() {
        assert_eq!("50 ms".parse(), Ok(Duration::from_millis(50)));
        assert_eq!("0.2ms".parse(), Ok(Duration::from_micros(200)));
        assert_eq!("102.4 ms".parse(), Ok(Duration::from_micros(102_400)));
        assert_eq!("5.5 Mbit/s".parse(), Ok(DataRate::from_100kbps(55)));
        assert_eq!("11 Mbps".parse(), Ok(DataRate::from_bps(11_000_000)));
        assert_eq!("64 KiB".parse(), Ok(Bytes(65536)));
        assert_eq!("-82 dBm".parse(), Ok(Dbm(-82.0)));
        // 10 log10 of the power in milliwatts
        assert_eq!("100 mW".parse(), Ok(Dbm(20.0)));
        assert_eq!("1 W".parse(), Ok(Dbm(30.0)));
        assert_eq!("1e3 m".parse(), Ok(Metres(1000.0)));
        assert_eq!("50 packets".parse(), Ok(Packets(50)));
        assert_eq!("-2.5 ppm".parse(), Ok(Ppm(-2.5)));
        assert_eq!("1.5 kHz".parse(), Ok(Hertz(1500.0)));
        assert_eq!("20 MHz".parse(), Ok(Hertz(20e6)));
        assert_eq!((Hertz(20e6).to_string(), Hertz(6.5).to_string()), ("20 MHz".into(), "6.5 Hz".into()));
        assert_eq!("1.2 km/h".parse(), Ok(Speed(1.2 / 3.6)));
    }

    #[test]
    fn a_bare_number_is_an_error_that_names_the_units() {
        let error = "50".parse::<Duration>().unwrap_err().to_string();
        assert!(error.contains("no unit") && error.contains("ms"), "{error}");
        let error = "50 kg".parse::<DataRate>().unwrap_err().to_string();
        assert!(error.contains("\"kg\" is not a unit of a data rate"), "{error}");
    }

    #[test]
    fn negative_endless_and_meaningless_values_are_errors() {
        for bad in ["-1 s", "NaN s", "inf s", "1e300 s", "", "s", "--1 s", "e5 s", "1e s"] {
            assert!(bad.parse::<Duration>().is_err(), "{bad}");
        }
        assert!("0 mW".parse::<Dbm>().is_err() && "-1 W".parse::<Dbm>().is_err());
    }

    #[test]
    fn display_reads_back_as_the_same_value() {
        for ns in [0, 1, 999, 1_000, 20_000, 1_500_000, 102_400_000, 2_000_000_000, 1_234_567_000] {
            let d = Duration::from_nanos(ns);
            assert_eq!(d.to_string().parse(), Ok(d), "{d}");
        }
        for bps in [1, 1_000, 5_500_000, 54_000_000, 1_000_000_000] {
            let r = DataRate::from_bps(bps);
            assert_eq!(r.to_string().parse(), Ok(r), "{r}");
        }
    }
}
