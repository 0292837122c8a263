//! What an error model is asked.

use lasthop_units::Time;

use crate::phy::mode::Mode;

/// What a frame is to the MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// data
    Data,
    /// Ack or Block Ack
    Ack,
    /// RTS, CTS and other control frames
    Control,
    /// beacons and other management frames
    Management,
}

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// from a station to its AP
    Up,
    /// from an AP to its station
    Down,
}

/// A frame at its receiver, or a stretch of one with constant interference.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedFrame<'a> {
    /// When it ends; never earlier than in a question before about the same link.
    pub at: Time,
    /// How it was sent.
    pub mode: &'a Mode,
    /// What it is.
    pub kind: FrameKind,
    /// Which way it goes.
    pub direction: Direction,
    /// Which pair of transmitter and receiver this is.
    pub link: u32,
    /// Length of the frame or of the stretch, in bits.
    pub bits: u64,
    /// Signal over noise and interference within the mode's bandwidth at an antenna, as a ratio: all of the
    /// power, however many streams share it.
    pub sinr: f64,
}

/// A model of errors.
pub trait ErrorModel: Send {
    /// Probability from 0 to 1 that all bits of `frame` arrive.
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64;
    /// Whether the SINR matters, so that stretches of a frame are asked for one by one.
    fn needs_sinr(&self) -> bool {
        false
    }
    /// Whether every frame succeeds, so that nothing need be asked or drawn.
    fn is_none(&self) -> bool {
        false
    }
}
