//! What is wrong with bytes that do not parse, and where.

use core::fmt;

/// Bytes that are not what they should be: the place, and what is wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Bytes from the beginning of what was parsed; for captures, from the beginning of the file.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What may be wrong with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Bytes end within a part.
    Short {
        /// The part, as its standard names it.
        part: &'static str,
        /// Bytes that it takes.
        needs: u64,
        /// Bytes that there are.
        has: u64,
    },
    /// A field has a value that it may not have.
    Value {
        /// The field, as its standard names it.
        field: &'static str,
        /// What it holds.
        found: u64,
        /// What it may hold.
        rule: &'static str,
    },
}

impl Error {
    /// A field at `offset` holds `found`, against the `rule`.
    pub(crate) fn value(offset: usize, field: &'static str, found: impl Into<u64>, rule: &'static str) -> Error {
        Error { offset: offset as u64, fault: Fault::Value { field, found: found.into(), rule } }
    }

    /// The part at `offset` takes `needs` bytes, and there are `has`.
    pub(crate) fn short(offset: usize, part: &'static str, needs: usize, has: usize) -> Error {
        Error { offset: offset as u64, fault: Fault::Short { part, needs: needs as u64, has: has as u64 } }
    }

    /// The same error, where what was parsed stands `offset` bytes further on.
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
    fn an_error_says_where_and_what() {
        assert_eq!(Error::short(14, "IPv4 header", 20, 6).to_string(), "byte 14: IPv4 header: of 20 bytes there are 6");
        let error = Error::value(12, "TCP data offset", 3u8, "it is 5 to 15 words").moved_by(34);
        assert_eq!(error.to_string(), "byte 46: TCP data offset is 3, but it is 5 to 15 words");
    }
}
