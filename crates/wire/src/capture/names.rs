//! Names of addresses. [draft-ietf-opsawg-pcapng §4.5]

use core::net::{Ipv4Addr, Ipv6Addr};

use super::fields::{Fields, text};
use crate::address::MacAddress;
use crate::error::Error;

/// An address and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The address.
    pub address: NamedAddress,
    /// Its name, without zeros.
    pub name: &'a str,
}

/// An address that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedAddress {
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// An IPv6 address.
    V6(Ipv6Addr),
    /// The address of a station.
    Mac(MacAddress),
}

/// The names of a block, in their order. An address with several names comes once for each.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    fields: Fields<'a>,
    /// The current address, and its remaining names.
    now: Option<(NamedAddress, &'a [u8])>,
    ended: bool,
}

const END: u16 = 0;
const V4: u16 = 1;
const V6: u16 = 2;
const EUI_48: u16 = 3;

impl<'a> Names<'a> {
    pub(super) fn new(fields: Fields<'a>) -> Self {
        Names { fields, now: None, ended: false }
    }

    /// The next name of the address; `None` after the last.
    fn name(&mut self) -> Option<Name<'a>> {
        let (address, rest) = self.now.take()?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        self.now = Some((address, &rest[end + 1..]));
        Some(Name { address, name: text(&rest[..end]).unwrap_or("") })
    }

    /// Moves to the next record; false after the last.
    fn record(&mut self) -> Result<bool, Error> {
        const PART: &str = "name resolution record";
        if self.fields.at.rest().is_empty() {
            return Ok(false);
        }
        let (kind, length) = (self.fields.u16(PART)?, self.fields.u16(PART)?);
        let value = self.fields.padded(length.into(), PART)?;
        self.now = match kind {
            END => return Ok(false),
            V4 => value.split_first_chunk::<4>().map(|(bytes, rest)| (NamedAddress::V4((*bytes).into()), rest)),
            V6 => value.split_first_chunk::<16>().map(|(bytes, rest)| (NamedAddress::V6((*bytes).into()), rest)),
            EUI_48 => value.split_first_chunk::<6>().map(|(bytes, rest)| (NamedAddress::Mac(MacAddress(*bytes)), rest)),
            _ => None,
        };
        Ok(true)
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = Result<Name<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            if let Some(name) = self.name() {
                return Some(Ok(name));
            }
            match self.record() {
                Ok(more) => self.ended = !more,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// Two blocks are equal if they have the same names.
impl PartialEq for Names<'_> {
    fn eq(&self, other: &Self) -> bool {
        (*self).eq(*other)
    }
}

impl Name<'_> {
    /// Appends the record, lower bytes first. A name ends at its first zero.
    pub(super) fn append(&self, out: &mut Vec<u8>) {
        let mut record = |kind: u16, address: &[u8]| {
            let name = self.name.split('\0').next().unwrap_or("").as_bytes();
            let name = &name[..name.len().min(usize::from(u16::MAX) - address.len() - 1)];
            out.extend_from_slice(&kind.to_le_bytes());
            out.extend_from_slice(&((address.len() + name.len() + 1) as u16).to_le_bytes());
            out.extend_from_slice(address);
            out.extend_from_slice(name);
            out.push(0);
            out.resize(out.len().next_multiple_of(4), 0);
        };
        match self.address {
            NamedAddress::V4(address) => record(V4, &address.octets()),
            NamedAddress::V6(address) => record(V6, &address.octets()),
            NamedAddress::Mac(address) => record(EUI_48, &address.0),
        }
    }

    /// Appends the record that ends all names.
    pub(super) fn append_end(out: &mut Vec<u8>) {
        out.extend_from_slice(&END.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::fields::Order;

    fn names(bytes: &[u8], order: Order) -> Vec<Result<Name<'_>, Error>> {
        Names::new(Fields::new(bytes, order)).collect()
    }

    #[test]
    fn records_are_read_name_by_name() {
        let host = Name { address: NamedAddress::V4(Ipv4Addr::new(127, 0, 0, 1)), name: "localhost" };
        let bytes = b"\x00\x01\x00\x10\x7f\x00\x00\x01localhost\0me\0\0\0\0\x00\x09\x00\x01\x07\0\0\0\0\0\0\0\xff";
        let other = Name { name: "me", ..host };
        // 4 + 10 + 3 = 17 bytes; a record of kind 9 is skipped; reading stops at the end.
        let mut bytes = bytes.to_vec();
        bytes[3] = 17;
        assert_eq!(names(&bytes, Order::Big), [Ok(host), Ok(other)]);
    }

    #[test]
    fn a_record_that_does_not_fit_is_an_error_and_the_last() {
        let found = names(&[1, 0, 9, 0, 1, 2, 3, 4], Order::Little);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].unwrap_err().to_string(), "byte 4: name resolution record: of 9 bytes there are 4");
    }
}
