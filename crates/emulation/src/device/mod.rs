//! Devices through which the emulator takes packets from a network stack and hands packets to it.

mod tun;

pub use tun::{Interface, Tun};
