//! Addresses of stations and of hosts.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::checksum::Checksum;

/// A MAC address of 48 bits. [802.11-2020 §9.2.4.3]
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// All stations.
    pub const BROADCAST: MacAddress = MacAddress([0xff; 6]);

    /// A unicast address from `number`, in the locally administered range. [802.11-2020 §9.2.4.3]
    pub const fn local(number: u32) -> MacAddress {
        let [a, b, c, d] = number.to_be_bytes();
        MacAddress([0x02, 0, a, b, c, d])
    }

    /// True if it names a group of stations.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Source and destination of an IP packet, as they enter a transport's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// IPv4 source and destination.
    V4(Ipv4Addr, Ipv4Addr),
    /// IPv6 source and destination.
    V6(Ipv6Addr, Ipv6Addr),
}

impl Addresses {
    /// The source of the packet.
    pub fn source(&self) -> IpAddr {
        match *self {
            Addresses::V4(source, _) => source.into(),
            Addresses::V6(source, _) => source.into(),
        }
    }

    /// The destination of the packet.
    pub fn destination(&self) -> IpAddr {
        match *self {
            Addresses::V4(_, destination) => destination.into(),
            Addresses::V6(_, destination) => destination.into(),
        }
    }

    /// Adds both to a checksum.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        match self {
            Addresses::V4(source, destination) => [source, destination].iter().for_each(|a| sum.add(&a.octets())),
            Addresses::V6(source, destination) => [source, destination].iter().for_each(|a| sum.add(&a.octets())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_are_unicast_and_differ() {
        assert_eq!(MacAddress::local(0x0102_0304).to_string(), "02:00:01:02:03:04");
        assert!(!MacAddress::local(u32::MAX).is_group() && MacAddress::BROADCAST.is_group());
    }
}
