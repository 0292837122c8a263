//! The interface of path loss laws.

use lasthop_units::Db;

use super::position::Position;

/// A law of path loss.
pub trait PathLoss: Send {
    /// Loss between a transmitter and a receiver; never negative: nothing arrives stronger than it left.
    fn loss(&self, tx: Position, rx: Position, frequency_hz: f64) -> Db;
}
