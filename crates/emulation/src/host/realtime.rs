//! Means for a process to wake on time.

use std::num::NonZeroU64;

use rustix::mm::MlockAllFlags;

use crate::system_calls::set_fifo;

/// The priority among real-time processes, from 1 to 99: above ordinary ones, below kernel threads at 50 and more.
const PRIORITY: i32 = 49;

/// The means that were granted, and those that were refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// `SCHED_FIFO` for this thread; processes that it starts later have the usual schedule
    pub fifo: bool,
    /// the memory of the process stays in RAM
    pub locked_memory: bool,
    /// timers are not delayed to be bundled with others
    pub exact_timers: bool,
    /// a sentence for each that was refused
    pub refused: Vec<String>,
}

/// Requests all of them. The process goes on without those that are refused.
pub fn ask_for_realtime() -> Granted {
    let mut granted = Granted::default();
    granted.fifo = granted.note(set_fifo(PRIORITY), "SCHED_FIFO", "CAP_SYS_NICE, or an RLIMIT_RTPRIO of 49");
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE;
    let locked = rustix::mm::mlockall(all).map_err(Into::into);
    granted.locked_memory = granted.note(locked, "locked memory", "CAP_IPC_LOCK, or a larger RLIMIT_MEMLOCK");
    let exact = rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).map_err(Into::into);
    granted.exact_timers = granted.note(exact, "a timer slack of 1 ns", "a kernel with PR_SET_TIMERSLACK");
    granted
}

impl Granted {
    fn note(&mut self, answer: std::io::Result<()>, what: &str, needs: &str) -> bool {
        if let Err(cause) = &answer {
            self.refused.push(format!("{what} is refused: {cause}; it needs {needs}"));
        }
        answer.is_ok()
    }
}
