//! How an emulation is carried.

use std::path::PathBuf;

use lasthop_units::{Duration, Time};

/// Where the emulator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// on a host, in real time
    Host,
    /// as the first process of a guest, in virtual time
    Guest,
}

impl Place {
    /// The word for its time.
    pub(super) fn time(self) -> &'static str {
        match self {
            Place::Host => "real",
            Place::Guest => "virtual",
        }
    }
}

/// How an emulation is carried.
pub struct Ways {
    /// where it runs
    pub place: Place,
    /// how long before a deadline the clock is watched instead of slept by
    pub spin: Duration,
    /// between two looks at what kernels say of their sockets
    pub interval: Duration,
    /// where what programs print is written
    pub files: PathBuf,
    /// the flow whose client's end is that of the run
    pub ends_with: Option<String>,
    /// whether that client has the terminal of this process
    pub terminal: bool,
    /// what the machine has refused, a sentence each
    pub refused: Vec<String>,
    /// is told how far it is
    pub progress: Box<dyn FnMut(Time)>,
}
