//! Faults of bytes that do not parse, with their place.

use core::fmt;

/// A fault in some bytes, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Offset in bytes from the beginning of the parsed bytes; for captures, from the beginning of the file.
    pub offset: u64,
    /// The fault.
    pub fault: Fault,
}

/// Possible faults of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Bytes end within a part.
    Short {
        /// The part, as its standard names it.
        part: &'static str,
        /// Bytes that it needs.
        needs: u64,
        /// Bytes that are left.
        has: u64,
    },
    /// A field has an invalid value.
    Value {
        /// The field, as its standard names it.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The rule for its value.
        rule: &'static str,
    },
}

impl Error {
    /// An error of a field at `offset` that holds `found`, against the `rule`.
    pub(crate) fn value(offset: usize, field: &'static str, found: impl Into<u64>, rule: &'static str) -> Error {
        Error { offset: offset as u64, fault: Fault::Value { field, found: found.into(), rule } }
    }

    /// An error of the part at `offset`, which needs `needs` bytes, with only `has` left.
    pub(crate) fn short(offset: usize, part: &'static str, needs: usize, has: usize) -> Error {
        Error { offset: offset as u64, fault: Fault::Short { part, needs: needs as u64, has: has as u64 } }
    }

    /// The same error, if the parsed bytes begin `offset` bytes further on.
    #[must_use]
    pub fn moved_by(self, offset: u64) -> Error {
        Error { offset: self.offset.saturating_add(offset), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        match self.fault {
            Fault::Short { part, needs, has } => write!(f, "{part}: of {needs} bytes there are {has}"),
            Fault::Value { field, found, rule } => write!(f, "{field} is {found}, but {rule}"),
        }
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_place_and_reason() {
        assert_eq!(Error::short(14, "IPv4 header", 20, 6).to_string(), "byte 14: IPv4 header: of 20 bytes there are 6");
        let error = Error::value(12, "TCP data offset", 3u8, "it is 5 to 15 words").moved_by(34);
        assert_eq!(error.to_string(), "byte 46: TCP data offset is 3, but it is 5 to 15 words");
    }
}
