//! Sizes of frequently used types, for the test that checks them; not part of the interface.

use crate::packet::{Packet, PacketMeta};

/// Names and sizes in bytes; `B` is the body of packets.
pub fn sizes_in_bytes<B>() -> Vec<(&'static str, usize)> {
    vec![("Packet", size_of::<Packet<B>>()), ("PacketMeta", size_of::<PacketMeta>())]
}
