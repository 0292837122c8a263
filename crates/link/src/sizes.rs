//! How large what is handled often is, for the test that holds it; no part of the interface.

use crate::packet::{Packet, PacketMeta};

/// Names and sizes in bytes; `B` is the body of packets.
pub fn sizes_in_bytes<B>() -> Vec<(&'static str, usize)> {
    vec![("Packet", size_of::<Packet<B>>()), ("PacketMeta", size_of::<PacketMeta>())]
}
