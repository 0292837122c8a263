//! Headers that other sniffers write before 802.11 frames, read as radiotap: their rates, signals, times and flags.

mod avs;
mod ppi;
mod prism;

pub use avs::parse_avs;
pub use ppi::parse_ppi;
pub use prism::parse_prism;

use crate::radiotap::{Channel, Radiotap};

/// The centre frequency of a 20 MHz channel in MHz, by its number. [802.11-2020 Annex E]
fn channel(number: u32) -> Option<Channel> {
    let (mhz, flags) = match number {
        1..=13 => (2407 + 5 * number, Channel::GHZ_2),
        14 => (2484, Channel::GHZ_2),
        32..=177 => (5000 + 5 * number, Channel::GHZ_5),
        _ => return None,
    };
    Some(Channel { mhz: mhz as u16, flags })
}

/// A power in dBm, if the number can be one: drivers also write indicators of their own scale.
fn dbm(value: i32) -> Option<i8> {
    i8::try_from(value).ok().filter(|&value| value < 0)
}

/// Radiotap without rates that cannot be.
fn told(radiotap: Radiotap) -> Radiotap {
    Radiotap { rate_500kbps: radiotap.rate_500kbps.filter(|&rate| rate > 0 && rate & 0x80 == 0), ..radiotap }
}
