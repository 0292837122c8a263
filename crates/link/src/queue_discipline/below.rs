//! The driver and its hardware below a queue discipline, as the discipline sees them.

use lasthop_registry::words;

words! {
    /// The airtime by which stations are scheduled and limited.
    pub enum AirtimeSource {
        /// that of each attempt, as the driver reports it; the limit of pending airtime (AQL) uses the rate of the last one
        Reported = "reported",
        /// mac80211's estimate for each packet, by its length and by the rate when it leaves the queue
        Estimate = "estimate",
        /// none: stations take turns, without a limit of their pending airtime
        None = "none",
    }
}

/// The order in which a driver gives its packets to the MAC, and the packets that its limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// as they came; the limit is for all
    Fifo,
    /// each receiver and TID in turn; the limit is for all
    Turns,
    /// each receiver and TID in turn; the limit is for each
    EachInTurn,
}

/// Packets that a driver and its hardware hold, from the queue discipline to their completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// most of them
    pub packets: u32,
    /// their order
    pub serving: Serving,
}

/// The driver below a queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Below {
    /// the packets that it holds; `None`: they leave the queue when the MAC takes them
    pub held: Option<Held>,
    /// the airtime that it makes known
    pub airtime: AirtimeSource,
}

impl Below {
    /// No driver: a MAC that takes packets when it needs them, and reports their airtime.
    pub const IDEAL: Below = Below { held: None, airtime: AirtimeSource::Reported };
}
