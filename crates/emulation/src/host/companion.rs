//! A separate process of the emulator with its own task, and a channel of messages between the two.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use rustix::process::{Pid, Signal, WaitOptions};

use crate::error::{Context, Result};
use crate::system_calls::{Fork, end_with, exit_now, fork_alone};

/// A fork of the emulator. It ends with this value, and with the process that started it.
#[derive(Debug)]
pub(crate) struct Companion {
    /// its name in errors
    name: &'static str,
    process: Pid,
    channel: OwnedFd,
}

impl Companion {
    /// Starts a process that runs `life` with its end of the channel. Call it in a process of one thread.
    ///
    /// # Errors
    /// No further process can be created.
    pub(crate) fn start(name: &'static str, life: impl FnOnce(OwnedFd)) -> Result<Companion> {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .context(|| "a pair of sockets cannot be had".to_owned())?;
        let parent = rustix::process::getpid();
        match fork_alone().context(|| format!("{name} cannot be started"))? {
            Fork::Child => {
                drop(ours);
                // The end of the emulator is also seen on the channel; this covers an end while the process does not
                // read it.
                if end_with(parent).is_err() {
                    exit_now(1);
                }
                // A panic must not run on into the emulator's own code.
                let whole = catch_unwind(AssertUnwindSafe(|| life(theirs)));
                exit_now(i32::from(whole.is_err()))
            }
            Fork::Parent(process) => Ok(Companion { name, process, channel: ours }),
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Its process number.
    pub(crate) fn process(&self) -> u32 {
        self.process.as_raw_nonzero().get().unsigned_abs()
    }

    /// Sets time zero, in nanoseconds of `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn begin(&self, zero_ns: u64) -> Result<()> {
        rustix::net::send(&self.channel, &zero_ns.to_ne_bytes(), SendFlags::NOSIGNAL)
            .map(drop)
            .context(|| format!("{} cannot be told when to begin", self.name))
    }
}

impl AsFd for Companion {
    /// Readable when it has sent a message.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        rustix::process::kill_process(self.process, Signal::KILL).ok();
        while matches!(rustix::process::waitpid(Some(self.process), WaitOptions::empty()), Err(Errno::INTR)) {}
    }
}
