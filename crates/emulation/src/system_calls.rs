//! The system calls that no library offers as safe functions, each behind a safe one.

#![expect(unsafe_code, reason = "the one place where the kernel is called without a library that checks the arguments")]

use std::ffi::c_int;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;
use std::{fs, io};

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

/// Forks this process. The child has only this thread.
///
/// # Safety
/// No other thread may hold a lock that the child will need, as in a process of one thread; the allocator of glibc is
/// prepared for it.
unsafe fn fork() -> io::Result<Fork> {
    // SAFETY: promised by the caller; the C library makes the child's state consistent.
    match unsafe { libc::fork() } {
        0 => Ok(Fork::Child),
        number => Pid::from_raw(number).filter(|_| number > 0).map(Fork::Parent).ok_or_else(io::Error::last_os_error),
    }
}

/// Forks this process, which must have one thread.
///
/// # Errors
/// `/proc` shows further threads, or no further process can be created.
pub(crate) fn fork_alone() -> io::Result<Fork> {
    if fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() > 1) {
        return Err(io::Error::other("the emulator has more than one thread"));
    }
    // SAFETY: this is the only thread. Without `/proc` the callers' own rule remains: they fork before they start any.
    unsafe { fork() }
}

/// Makes the kernel kill this process when `parent` ends.
///
/// # Errors
/// `parent` has ended already, or the kernel refuses.
pub(crate) fn end_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A parent that ended before that call sends no signal.
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
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

/// A protocol of a packet socket, such as `ETH_P_ALL`, in the order of the network.
pub(crate) fn packet_protocol(number: c_int) -> rustix::net::Protocol {
    let number = std::num::NonZeroU32::new(u32::from((number as u16).to_be())).expect("it is not zero");
    rustix::net::Protocol::from_raw(number)
}

/// A packet that a packet socket has seen.
pub(crate) struct SeenPacket {
    pub(crate) length: usize,
    /// `sll_pkttype`
    pub(crate) kind: u8,
    pub(crate) is_ipv4: bool,
    /// whether it came over the loopback device
    pub(crate) is_local: bool,
    /// its sender's address
    pub(crate) sender: [u8; 6],
}

/// Reads the next packet that a packet socket has seen, if there is one.
pub(crate) fn receive_packet(socket: BorrowedFd<'_>, packet: &mut [u8]) -> io::Result<Option<SeenPacket>> {
    let mut from = MaybeUninit::<libc::sockaddr_ll>::zeroed();
    let mut size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the buffer and the address have the lengths that are given, and zeros are a valid address.
    let (length, from) = unsafe {
        let (place, room) = (packet.as_mut_ptr().cast(), packet.len());
        let length = libc::recvfrom(
            socket.as_raw_fd(),
            place,
            room,
            libc::MSG_DONTWAIT,
            from.as_mut_ptr().cast(),
            &raw mut size,
        );
        (length, from.assume_init())
    };
    if length < 0 {
        let error = io::Error::last_os_error();
        let is_none = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
        return if is_none { Ok(None) } else { Err(error) };
    }
    Ok(Some(SeenPacket {
        length: length as usize,
        kind: from.sll_pkttype,
        is_ipv4: u16::from_be(from.sll_protocol) == libc::ETH_P_IP as u16,
        is_local: from.sll_hatype == libc::ARPHRD_LOOPBACK,
        sender: from.sll_addr[..6].try_into().expect("it has eight bytes"),
    }))
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
    let parent = rustix::process::getpid();
    let prepare = move || {
        end_with(parent)?;
        Ok(rustix::thread::set_current_timer_slack(Some(ORDINARY_SLACK))?)
    };
    // SAFETY: between fork and exec, `prepare` makes three system calls and nothing else; its errors are numbers.
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

/// The signals that this thread had blocked before, and the earlier action of SIGCHLD. Both return at the end of the
/// scope.
pub(crate) struct Blocked {
    mask: libc::sigset_t,
    child: libc::sigaction,
}

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
        let child = reap_by_waiting();
        let mut mask = self.0;
        // SAFETY: both sets live through the call.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const self.0, &raw mut mask) };
        Blocked { mask, child }
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
        // SAFETY: both values live through the calls, and the old ones are not asked for.
        unsafe {
            libc::sigaction(libc::SIGCHLD, &raw const self.child, ptr::null_mut());
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, ptr::null_mut());
        }
    }
}

/// Gives SIGCHLD its default action, under which a child that has ended waits to be reaped. A caller may have had it
/// ignored. Returns the earlier action.
pub(crate) fn reap_by_waiting() -> libc::sigaction {
    // SAFETY: zeros are a valid `sigaction`, which has the default action; both values live through the call.
    unsafe {
        let (ordinary, mut before): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigaction(libc::SIGCHLD, &raw const ordinary, &raw mut before);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action_of_child() -> usize {
        // SAFETY: zeros are a valid `sigaction`, and a NULL asks for the present action only.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGCHLD, ptr::null(), &raw mut now);
            now.sa_sigaction
        }
    }

    /// Hears of a child, which still waits to be reaped: other tests may have some.
    extern "C" fn hear(_: c_int) {}

    #[test]
    fn blocked_signals_return_with_the_action_of_sigchld() {
        let own = hear as *const () as libc::sighandler_t;
        // SAFETY: the handler has the type that the call requires, and does nothing.
        let before = unsafe { libc::signal(libc::SIGCHLD, own) };
        let blocked = SignalSet::new(&[Signal::CHILD]).block();
        assert_eq!(action_of_child(), libc::SIG_DFL);
        drop(blocked);
        assert_eq!(action_of_child(), own);
        // SAFETY: the action that was there.
        unsafe { libc::signal(libc::SIGCHLD, before) };
    }

    #[test]
    fn a_process_does_not_outlive_a_parent_that_has_ended_already() {
        let other = Pid::from_raw(i32::MAX).unwrap();
        let error = end_with(other).unwrap_err();
        rustix::process::set_parent_process_death_signal(None).unwrap();
        assert_eq!(error.raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn a_process_of_several_threads_is_not_forked() {
        let error = std::thread::spawn(|| fork_alone().map(|_| ()).unwrap_err()).join().unwrap();
        assert!(error.to_string().contains("more than one thread"));
    }
}
