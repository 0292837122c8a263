//! MPLS. [RFC 3032; RFC 4385; RFC 4448]
//!
//! Labels do not name what follows them, so that a payload counts as IP or as Ethernet only if its header is plausible.

use super::layer::{Layer, Step};
use super::left_out::LeftOut;
use crate::error::Error;
use crate::ip::Ipv4;
use crate::part::Part;

/// A stack of labels, up to the one with the bottom bit.
pub(super) fn labels(part: Part<'_>) -> Result<Step<'_>, Error> {
    let mut rest = part;
    loop {
        let ([_, _, bottom, _], next) = rest.split::<4>("MPLS label")?;
        rest = next;
        if bottom & 1 == 1 {
            break;
        }
    }
    if is_ip(rest) {
        return Ok(Step::Down(Layer::Ip, rest));
    }
    // A pseudo-wire may have a control word, whose first four bits are zero.
    if let [0..=0x0f, ..] = rest.bytes
        && let Ok(frame) = rest.after(4, "control word")
        && is_ethernet(frame)
    {
        return Ok(Step::Down(Layer::Ethernet, frame));
    }
    if is_ethernet(rest) {
        Ok(Step::Down(Layer::Ethernet, rest))
    } else if is_as_long_as_ip(rest) {
        // Tools that replace addresses leave the checksum as it was.
        Ok(Step::Down(Layer::Ip, rest))
    } else {
        Step::left_out(LeftOut::Mpls)
    }
}

/// Whether a packet begins here: of IPv4 with a good checksum, or of IPv6 with a possible length.
fn is_ip(part: Part<'_>) -> bool {
    match *part.bytes {
        [0x45..=0x4f, ..] => Ipv4::checksum_is_good(part.bytes),
        [0x60..=0x6f, _, _, _, high, low, ..] => usize::from(u16::from_be_bytes([high, low])) + 40 <= part.length,
        _ => false,
    }
}

/// Whether an IPv4 header has the length of the payload, less padding of a short frame.
fn is_as_long_as_ip(part: Part<'_>) -> bool {
    const SHORTEST_PAYLOAD: usize = 46;
    let [0x45..=0x4f, _, high, low, ..] = *part.bytes else { return false };
    let total = usize::from(u16::from_be_bytes([high, low]));
    total >= 20 && total <= part.length && part.length - total <= SHORTEST_PAYLOAD
}

/// Whether an Ethernet frame with a common type begins here.
fn is_ethernet(part: Part<'_>) -> bool {
    match part.bytes.get(12..15) {
        Some([0x08, 0x00, first]) => first >> 4 == 4,
        Some([0x86, 0xdd, first]) => first >> 4 == 6,
        Some([0x08, 0x06, _] | [0x81, 0x00, _] | [0x88, 0xa8, _]) => true,
        _ => false,
    }
}
