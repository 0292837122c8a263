//! A process that supervises another until that one ends.

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::system_calls::{FromWhom, SignalSet};

/// The signals that are passed on to the supervised process.
const HANDED_ON: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// The signals that a supervisor waits for. Block them before the fork, so that none is lost.
pub(super) fn signals() -> SignalSet {
    let mut all = HANDED_ON.to_vec();
    all.push(Signal::CHILD);
    SignalSet::new(&all)
}

/// Waits until `below` has ended, passes signals on to it, and reaps all other children. Returns the exit status: that
/// of `below`, or 128 plus the number of the signal that ended it.
pub(super) fn supervise(below: Pid, signals: &SignalSet) -> i32 {
    loop {
        if let Some(status) = reap(below) {
            return status;
        }
        match signals.wait() {
            // A key pressed at the terminal already reaches the process below.
            Some((signal, FromWhom::Process)) if HANDED_ON.contains(&signal) => {
                rustix::process::kill_process(below, signal).ok();
            }
            _ => {}
        }
    }
}

/// Reaps all children that have ended. Returns the exit status if `below` is one of them or no child is left.
fn reap(below: Pid) -> Option<i32> {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((process, status))) if process == below => return Some(exit_status(status)),
            Ok(Some(_)) => {}
            Ok(None) | Err(rustix::io::Errno::INTR) => return None,
            Err(_) => return Some(1),
        }
    }
}

fn exit_status(status: WaitStatus) -> i32 {
    status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal)).unwrap_or(1)
}
