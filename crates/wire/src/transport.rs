//! The checksum, which all transports above IP share.

use crate::address::Addresses;
use crate::checksum::Checksum;
use crate::payload::Payload;

/// The checksum of a transport: pseudo header, header, payload. [RFC 9293 §3.1; RFC 768; RFC 8200 §8.1]
pub(crate) fn checksum(addresses: &Addresses, protocol: u8, header: &[u8], payload: Payload<'_>) -> u16 {
    let mut sum = Checksum::default();
    addresses.add_to(&mut sum);
    sum.add(&((header.len() + payload.length()) as u32).to_be_bytes());
    sum.add(&u32::from(protocol).to_be_bytes());
    sum.add(header);
    sum.add(payload.bytes);
    sum.value()
}
