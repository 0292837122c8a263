#![doc = include_str!("../README.md")]

mod clock;
mod controller;
mod end;
mod handshake;
mod null_cipher;
mod outgoing;
mod pair;
mod sender;
mod settings;

pub use end::Role;
pub use outgoing::Way;
pub use pair::{Change, Datagram, Pair, StreamPlace};
pub use sender::{RttSample, Window};
pub use settings::{Settings, why_not};
