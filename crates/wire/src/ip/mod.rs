//! IP packets, of either version.

mod v4;
mod v6;

pub use v4::{Fragment, Ipv4};
pub use v6::Ipv6;

use lasthop_units::Ecn;

use crate::address::Addresses;
use crate::error::Error;

/// Numbers of protocols above IP.
pub mod protocol {
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
}

/// An IP packet of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip<'a> {
    /// IPv4.
    V4(Ipv4<'a>),
    /// IPv6.
    V6(Ipv6),
}

impl<'a> Ip<'a> {
    /// Reads the header at the front of `bytes`; gives it with what was captured of its payload.
    ///
    /// # Errors
    /// If the version is neither 4 nor 6, and those of [`Ipv4::parse`] and [`Ipv6::parse`].
    pub fn parse(bytes: &'a [u8]) -> Result<(Ip<'a>, &'a [u8]), Error> {
        match bytes.first().map(|byte| byte >> 4) {
            None => Err(Error::short(0, "IP header", 1, 0)),
            Some(4) => Ipv4::parse(bytes).map(|(header, payload)| (Ip::V4(header), payload)),
            Some(6) => Ipv6::parse(bytes).map(|(header, payload)| (Ip::V6(header), payload)),
            Some(version) => Err(Error::value(0, "IP version", version, "it is 4 or 6")),
        }
    }

    /// Source and destination.
    pub fn addresses(&self) -> Addresses {
        match self {
            Ip::V4(header) => header.addresses(),
            Ip::V6(header) => header.addresses(),
        }
    }

    /// What it carries, behind extension headers.
    pub fn protocol(&self) -> u8 {
        match self {
            Ip::V4(header) => header.protocol,
            Ip::V6(header) => header.protocol,
        }
    }

    /// Differentiated services code point, 0 to 63.
    pub fn dscp(&self) -> u8 {
        match self {
            Ip::V4(header) => header.dscp,
            Ip::V6(header) => header.dscp,
        }
    }

    /// ECN field.
    pub fn ecn(&self) -> Ecn {
        match self {
            Ip::V4(header) => header.ecn,
            Ip::V6(header) => header.ecn,
        }
    }

    /// Bytes of the payload, captured or not. 0 where a host left it to its network card and the capture cannot know.
    pub fn payload_length(&self) -> usize {
        match self {
            Ip::V4(header) => header.payload_length.into(),
            Ip::V6(header) => header.payload_length.into(),
        }
    }

    /// True if it is a fragment other than the first, so that no transport header stands in it.
    pub fn is_later_fragment(&self) -> bool {
        match self {
            Ip::V4(header) => header.fragment.offset > 0,
            Ip::V6(header) => header.fragment_offset > 0,
        }
    }
}
