#![doc = include_str!("../README.md")]

mod clock;
mod controller;
mod end;
mod handshake;
mod mirror;
mod null_cipher;
mod outgoing;
mod packets;
mod pair;
mod sender;
mod settings;
mod stack_control;

pub use end::{Datagram, Role};
pub use outgoing::Way;
pub use packets::{Frame, Packet, packets};
pub use pair::{Change, Pair, StreamPlace};
pub use sender::{RttSample, Window};
pub use settings::{Settings, why_not};
pub use stack_control::{Control, StackControl, quinn_cubic, quinn_newreno};
