//! A private environment for the emulator and all that it starts, which goes when the emulator does.
//!
//! ```text
//!  caller ── SIGKILL if it ends ──► PID 1 of the place ── SIGKILL if it ends ──► PID 2 ──► programs, data carriers
//!  waits, exits with the status     reaps, exits with the status                 goes on
//! ```
//!
//! When PID 1 of a PID namespace ends, the kernel kills every process in it, and with the last of them go the
//! namespaces and devices. No part has a name that could stay behind, so `kill -9` of any of them cleans up like an
//! orderly end.

use std::fs;

use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal};
use rustix::thread::{CapabilitySet, UnshareFlags};

use crate::error::{Context, Error, Result};
use crate::host::supervise::{signals, supervise};
use crate::system_calls::{Fork, end_with, exit_now, fork_alone, reap_by_waiting, unshare};

/// The parts of the environment, besides private processes and mounts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contain {
    /// private users, even if the caller has the capabilities to do without; an ordinary user gets them in any case
    pub user: bool,
    /// a private network with a loopback device that is down
    pub net: bool,
    /// the caller's parent, whose end ends everything; without it the caller outlives its parent
    pub parent: Option<u32>,
}

/// The environment as it was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Containment {
    /// whether root here is an ordinary user outside
    pub user: bool,
    /// whether `/proc` shows the processes inside; if it is masked, as in some containers, it shows those outside
    pub own_proc: bool,
}

/// Enters a new environment. It returns there, in a process that is PID 2; the calling process waits for its end and
/// exits with its status, or 128 plus the number if a signal ended it.
///
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT of the calling process are passed on. Call it in a process of one thread with
/// flushed buffers: the calling process runs no handlers at its end.
///
/// # Errors
/// This user may not make namespaces. An error that comes after the fork is returned inside.
pub fn contain(how: &Contain) -> Result<Containment> {
    if threads() > Some(1) {
        return Err(Error::new(
            "the emulator has more than one thread; it must be contained before others are started",
        ));
    }
    let user = how.user || !has_capabilities();
    if user {
        become_root_of_own_users()?;
    }
    let mut namespaces = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    namespaces.set(UnshareFlags::NEWNET, how.net);
    unshare(namespaces).context(|| "PID and mount namespaces cannot be made".to_owned())?;
    if let Some(parent) = how.parent {
        end_with_parent(parent);
    }
    let signals = signals();
    let blocked = signals.block();
    descend(&signals)?;
    descend(&signals)?;
    drop(blocked);
    reap_by_waiting();
    settle_mounts().map(|own_proc| Containment { user, own_proc })
}

/// Forks. The child returns and ends with its parent, which waits for it and exits with its status.
fn descend(signals: &crate::system_calls::SignalSet) -> Result<()> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).context(|| "a pipe cannot be had".to_owned())?;
    match fork_alone().context(|| "a process cannot be started".to_owned())? {
        Fork::Parent(below) => {
            drop(read);
            let status = supervise(below, signals);
            drop(write);
            exit_now(status)
        }
        Fork::Child => {
            drop(write);
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
                .context(|| "PR_SET_PDEATHSIG is refused".to_owned())?;
            // The parent may have ended before that. Then the pipe is closed; its number means nothing across
            // namespaces.
            if has_hung_up(&read) {
                exit_now(1);
            }
            Ok(())
        }
    }
}

/// Returns whether no process holds the writing end of a pipe.
fn has_hung_up(pipe: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut descriptors = [PollFd::new(&pipe, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut descriptors, Some(&at_once)).is_ok() && descriptors[0].revents().contains(PollFlags::HUP)
}

/// Makes the kernel kill this process when its parent ends, or ends it if that has happened.
fn end_with_parent(parent: u32) {
    if i32::try_from(parent).ok().and_then(Pid::from_raw).is_none_or(|parent| end_with(parent).is_err()) {
        exit_now(1);
    }
}

/// The number of threads of this process, if `/proc` shows it.
fn threads() -> Option<usize> {
    fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// Returns whether this process may make namespaces, networks and devices as it is.
fn has_capabilities() -> bool {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    rustix::thread::capabilities(None::<Pid>).is_ok_and(|sets| sets.effective.contains(needed))
}

/// Moves into a new user namespace, where this user is root and there are no others.
fn become_root_of_own_users() -> Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(UnshareFlags::NEWUSER).context(|| "a user namespace cannot be made".to_owned()).map_err(|error| {
        error.with_remedy(
            "run as root, or allow them: user.max_user_namespaces above 0, kernel.unprivileged_userns_clone = 1, \
             kernel.apparmor_restrict_unprivileged_userns = 0",
        )
    })?;
    // A group map is accepted only from a process that has given up setgroups(2).
    let maps =
        [("setgroups", "deny".to_owned()), ("uid_map", format!("0 {user} 1")), ("gid_map", format!("0 {group} 1"))];
    for (file, text) in maps {
        fs::write(format!("/proc/self/{file}"), text).context(|| format!("/proc/self/{file} cannot be written"))?;
    }
    Ok(())
}

/// Keeps mounts from reaching the outside, and mounts a `/proc` of the environment. False: it may not be mounted.
fn settle_mounts() -> Result<bool> {
    rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .context(|| "mounts cannot be made private".to_owned())?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(rustix::mount::mount("proc", "/proc", "proc", safe, None).is_ok())
}
