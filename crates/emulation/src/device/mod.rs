//! Devices through which the emulator takes packets from a network stack and hands packets to it.

mod capabilities;
mod radio;
mod tap;
mod tun;

pub(crate) use radio::{RadioFrame, Radios, address_of};
pub(crate) use tap::{Announcements, Tap};
pub use tun::{Interface, Tun};
