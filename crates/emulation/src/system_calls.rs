//! The system calls that no library offers as safe functions, each behind a safe one.

#![expect(unsafe_code, reason = "the one place where the kernel is called without a library that checks the arguments")]

use std::ffi::c_int;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;

use rustix::ioctl::{Setter, ioctl, opcode};
use rustix::process::{Pid, Signal};
use rustix::thread::UnshareFlags;

/// The process in which a fork returns.
pub(crate) enum Fork {
    /// the new one
    Child,
    /// the old one, with the number of the new one
    Parent(Pid),
}

/// Forks this process.
///
/// The child has only this thread. Call it only if no other thread may hold a lock that the child will need, as in a
/// process of one thread; the allocator of glibc is prepared for it.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: the C library makes the child's state consistent; the note above says what callers owe.
    match unsafe { libc::fork() } {
        0 => Ok(Fork::Child),
        number => Pid::from_raw(number).filter(|_| number > 0).map(Fork::Parent).ok_or_else(io::Error::last_os_error),
    }
}

/// Ends this process at once: no handlers run and no buffers are written.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: `_exit` takes any number and does not return.
    unsafe { libc::_exit(status) }
}

/// Moves this thread into new namespaces.
pub(crate) fn unshare(what: UnshareFlags) -> io::Result<()> {
    assert!(!what.contains(UnshareFlags::FILES), "descriptors stay shared");
    // SAFETY: the descriptors stay shared between threads, as asserted.
    Ok(unsafe { rustix::thread::unshare_unsafe(what) }?)
}

/// Makes an open `/dev/net/tun` the device `name`: IP packets without a header before them.
pub(crate) fn attach_tun(descriptor: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<c_int>(b'T', 202);
    /// The part of `struct ifreq` that `TUNSETIFF` reads.
    #[repr(C)]
    struct Request {
        name: [u8; libc::IFNAMSIZ],
        flags: i16,
        rest: [u8; 22],
    }
    let mut request =
        Request { name: [0; libc::IFNAMSIZ], flags: (libc::IFF_TUN | libc::IFF_NO_PI) as i16, rest: [0; 22] };
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: the kernel reads and writes a `struct ifreq`, whose size `Request` has, within this call.
    Ok(unsafe { ioctl(descriptor, Setter::<TUNSETIFF, Request>::new(request)) }?)
}

/// Sets a socket option whose value is a number.
pub(crate) fn set_number(socket: BorrowedFd<'_>, level: c_int, option: c_int, value: c_int) -> io::Result<()> {
    let length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: `value` lives through the call, and `length` is its size.
    match unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives this thread a real-time schedule, under which it runs until it waits. Its children are ordinary ones.
pub(crate) fn set_fifo(priority: c_int) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: `parameters` lives through the call.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Slack in nanoseconds by which Linux may delay ordinary timers, to bundle them.
const ORDINARY_SLACK: std::num::NonZeroU64 = std::num::NonZeroU64::new(50_000).unwrap();

/// Starts a program that ends with this process, and whose timers are those of an ordinary process.
pub(crate) fn spawn_as_ordinary(command: &mut Command) -> io::Result<Child> {
    let prepare = || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        Ok(rustix::thread::set_current_timer_slack(Some(ORDINARY_SLACK))?)
    };
    // SAFETY: between fork and exec, `prepare` makes two system calls and nothing else.
    unsafe { command.pre_exec(prepare) }.spawn()
}

/// The source of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FromWhom {
    /// a process has sent it
    Process,
    /// the kernel has sent it: a key at the terminal, or the end of a child
    Kernel,
}

/// Some signals.
#[derive(Clone, Copy)]
pub(crate) struct SignalSet(libc::sigset_t);

/// The signals that this thread had blocked before. At the end of the scope these are blocked, and no others.
pub(crate) struct Blocked(libc::sigset_t);

impl SignalSet {
    pub(crate) fn new(signals: &[Signal]) -> SignalSet {
        let mut set = MaybeUninit::uninit();
        // SAFETY: `sigemptyset` initializes the set, and `sigaddset` takes any number.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                libc::sigaddset(set.as_mut_ptr(), signal.as_raw());
            }
            SignalSet(set.assume_init())
        }
    }

    /// Blocks the signals for this thread. Also makes children that have ended wait to be reaped.
    pub(crate) fn block(&self) -> Blocked {
        let mut before = self.0;
        // SAFETY: both sets live through the call; the default action of a signal runs no code.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const self.0, &raw mut before);
        }
        Blocked(before)
    }

    /// Waits for one of the signals, which must be blocked. `None`: the wait was interrupted.
    pub(crate) fn wait(&self) -> Option<(Signal, FromWhom)> {
        let mut about = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: both arguments live through the call; zeros are a valid `siginfo_t`.
        let (number, about) =
            unsafe { (libc::sigwaitinfo(&raw const self.0, about.as_mut_ptr()), about.assume_init()) };
        let whom = if about.si_code <= 0 { FromWhom::Process } else { FromWhom::Kernel };
        Signal::from_named_raw(number).map(|signal| (signal, whom))
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set lives through the call, and the old one is not asked for.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}
