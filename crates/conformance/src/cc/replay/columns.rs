//! The columns of a trace, and their values.

use lasthop_units::{Duration, Time};

use super::limits::{self, within};

/// The header.
pub(super) struct Columns<'a> {
    pub names: Vec<&'a str>,
}

impl Columns<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    pub fn text<'f>(&self, fields: &[&'f str], name: &str) -> Result<&'f str, String> {
        let at = self.names.iter().position(|column| *column == name).ok_or(format!("no column {name}"))?;
        fields.get(at).copied().ok_or(format!("no {name}: {} fields, {} columns", fields.len(), self.names.len()))
    }

    pub fn whole(&self, fields: &[&str], name: &str) -> Result<i64, String> {
        let field = self.text(fields, name)?;
        field.parse().map_err(|_| format!("{name} = \"{field}\" is not a whole number"))
    }

    /// A whole number from 0 to `most`.
    pub fn count(&self, fields: &[&str], name: &str, most: u64) -> Result<u64, String> {
        let number = within(name, self.whole(fields, name)?, 0..=most as i64)?;
        Ok(number as u64)
    }

    /// An RTT in µs; `None` without a sample, which is written below 0.
    pub fn rtt(&self, fields: &[&str], name: &str) -> Result<Option<Duration>, String> {
        let number = within(name, self.whole(fields, name)?, -1..=limits::RTT_US as i64)?;
        Ok(u64::try_from(number).ok().map(Duration::from_micros))
    }

    /// The time of a row.
    pub fn time(&self, fields: &[&str]) -> Result<Time, String> {
        Ok(Time::ZERO + Duration::from_micros(self.count(fields, "t_us", limits::TIME_US)?))
    }

    pub fn real(&self, fields: &[&str], name: &str) -> Result<f64, String> {
        let field = self.text(fields, name)?;
        let number = field.parse().map_err(|_| format!("{name} = \"{field}\" is not a number"))?;
        within(name, number, limits::SSTHRESH)
    }
}
