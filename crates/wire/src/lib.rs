//! Frames and captures, written and parsed.
//!
//! The crate knows bytes and no simulation. Each header is a struct of its fields: `append` writes it to the end of a
//! `Vec<u8>`, `parse` reads it from the front of a slice and borrows from it where it can. No input makes a parser
//! panic: every length is checked, and an [`Error`] names the byte and the fault. A frame may have been captured in
//! part, so a header holds the length of its payload, and the slice beside it the captured part.

mod address;
mod bit_set;
pub mod capture;
mod checksum;
mod crc;
mod cursor;
mod error;
pub mod ieee80211;
pub mod ip;
mod link_layer;
mod network;
mod part;
mod payload;
mod quic;
pub mod radiotap;
mod sniffer;
pub mod tcp;
mod transport;
mod udp;

pub use address::{Addresses, MacAddress};
pub use capture::PcapNg;
pub use crc::{Crc32, append_fcs, delimiter_crc, fcs};
pub use error::{Error, Fault};
pub use link_layer::{EtherType, Ethernet, append_llc_snap, parse_linux_cooked, parse_llc_snap};
pub use network::{Carried, Layer, LeftOut, carried, is_tunnel};
pub use part::Part;
pub use payload::Payload;
pub use quic::{ConnectionId, Quic, QuicKind};
pub use radiotap::Radiotap;
pub use sniffer::{parse_avs, parse_ppi, parse_prism};
pub use tcp::Tcp;
pub use udp::Udp;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
