//! Options of an emulation.

use std::path::PathBuf;

use lasthop_units::{Duration, Time};

/// The machine where the emulator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// on a host, in real time
    Host,
    /// as the first process of a guest, in virtual time
    Guest,
}

impl Machine {
    /// The word for its time.
    pub(super) fn time(self) -> &'static str {
        match self {
            Machine::Host => "real",
            Machine::Guest => "virtual",
        }
    }
}

/// Options of an emulation.
pub struct Options {
    /// machine where it runs
    pub machine: Machine,
    /// time before a deadline in which it watches the clock instead of sleeping
    pub spin: Duration,
    /// time between two queries of the kernels' sockets
    pub interval: Duration,
    /// folder for the output of programs
    pub files: PathBuf,
    /// the flow whose client ends the run when it ends
    pub ends_with: Option<String>,
    /// whether that client has the terminal of this process
    pub terminal: bool,
    /// refusals of the machine, a sentence each
    pub refused: Vec<String>,
    /// receives the time reached
    pub progress: Box<dyn FnMut(Time)>,
}
