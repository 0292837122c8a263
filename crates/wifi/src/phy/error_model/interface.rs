//! The interface of error models.

use lasthop_engine::Stream;
use lasthop_units::Time;

use crate::phy::mode::Mode;

/// Kind of a frame for the MAC.
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

/// Direction of a frame.
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
    /// Time at which it ends; never earlier than in a previous call for the same link.
    pub at: Time,
    /// Mode in which it was sent.
    pub mode: &'a Mode,
    /// Its kind.
    pub kind: FrameKind,
    /// Its direction.
    pub direction: Direction,
    /// Number of the pair of transmitter and receiver.
    pub link: u32,
    /// Length of the frame or of the stretch, in bits.
    pub bits: u64,
    /// Ratio of signal to noise and interference within the mode's bandwidth at an antenna: all of the power, however
    /// many streams share it.
    pub sinr: f64,
}

/// Makes the model of a run; its random numbers come from the stream.
pub type ErrorModelMaker = dyn Fn(Stream) -> Box<dyn ErrorModel> + Send + Sync;

/// A model of errors.
pub trait ErrorModel: Send {
    /// Probability from 0 to 1 that all bits of `frame` arrive.
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64;
    /// Returns whether the SINR matters, so that each stretch of a frame is judged by itself. Such a model is a function
    /// of mode, length and SINR, and a stronger signal or fewer bits do no harm: its results are reused.
    fn needs_sinr(&self) -> bool {
        false
    }
    /// Returns whether every frame succeeds, so that nothing needs to be computed or drawn.
    fn is_none(&self) -> bool {
        false
    }
    /// The reason for which it cannot continue, if code from outside has failed and left the run.
    fn failure(&self) -> Option<&str> {
        None
    }
}
