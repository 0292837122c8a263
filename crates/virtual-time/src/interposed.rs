//! Replacements of functions of the C library, as declared by `time.h`, `sys/random.h` and `sys/ptrace.h`.
//!
//! The kernel is their only caller, from one thread. It blocks the alarm's signal, or marks it as pending, wherever one
//! must not come, since it must do so for alarms of the host too.
#![expect(unsafe_code, reason = "functions of the C library have its signatures")]

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::{ptr, slice};

use libc::{CLOCK_REALTIME, SIGALRM, TIMER_ABSTIME};
use libc::{PTRACE_GETREGSET, PTRACE_PEEKDATA, PTRACE_PEEKTEXT, PTRACE_PEEKUSER, PTRACE_SETREGSET, SYS_ptrace};
use libc::{c_int, c_long, c_uint, clockid_t, iovec, itimerspec, pid_t, sigevent, size_t, ssize_t, timer_t, timespec};

use crate::clock::{Alarm, Clock, START_NS, Wanted, date_ns};
use crate::random::Stream;
use crate::registers::{LARGEST, completed};

static CLOCK: Clock = Clock::new();
static STREAM: Stream = Stream::new();
/// The environment variable for the clock's initial date, in s since 1970.
const START_DATE: &str = "LASTHOP_START_S";
const NS_PER_S: u64 = 1_000_000_000;
/// `NT_X86_XSTATE` of `linux/elf.h`: the extended state.
const XSTATE: usize = 0x202;

/// Too large for the stack of a kernel's thread.
static ROOM: Room = Room(UnsafeCell::new([0; LARGEST]));

struct Room(UnsafeCell<[u8; LARGEST]>);

// SAFETY: the kernel has one thread.
unsafe impl Sync for Room {}

/// The virtual clock; `CLOCK_REALTIME` has the date, all others count from the start.
///
/// # Safety
/// `time` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    let (now, alarm) = CLOCK.read();
    let shown = if clock == CLOCK_REALTIME { (now - START_NS).saturating_add(start_date()) } else { now };
    // SAFETY: the caller provides a place for the result.
    unsafe { time.write(as_timespec(shown)) };
    give(alarm);
    0
}

/// Makes the kernel's timer, which is the clock's alarm.
///
/// # Safety
/// `timer` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_create(_clock: clockid_t, _event: *mut sigevent, timer: *mut timer_t) -> c_int {
    // SAFETY: the caller provides a place for the result.
    unsafe { timer.write(ptr::null_mut()) };
    0
}

/// Sets the alarm, or switches it off where both times are zero.
///
/// # Safety
/// `wanted` must be valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_settime(
    _timer: timer_t,
    flags: c_int,
    wanted: *const itimerspec,
    _old: *mut itimerspec,
) -> c_int {
    // SAFETY: the caller provides the wanted times.
    let wanted = unsafe { wanted.read() };
    let (value, interval) = (as_ns(wanted.it_value), as_ns(wanted.it_interval));
    CLOCK.set(
        match (value, interval) {
            (0, 0) => Wanted::Never,
            (0, interval) => Wanted::After(interval),
            (time, _) if flags & TIMER_ABSTIME != 0 => Wanted::At(time),
            (delay, _) => Wanted::After(delay),
        },
        interval,
    );
    0
}

/// Called by the idle kernel for the time until its alarm: the clock jumps to it. The kernel then sleeps until a
/// signal, which has come.
///
/// # Safety
/// `left` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_gettime(_timer: timer_t, left: *mut itimerspec) -> c_int {
    let alarm = CLOCK.jump();
    let left_ns = if alarm == Alarm::Due { 1 } else { 0 };
    // SAFETY: the caller provides a place for the result.
    unsafe { left.write(itimerspec { it_interval: as_timespec(0), it_value: as_timespec(left_ns) }) };
    give(alarm);
    0
}

/// Forgets the kernel's timer.
#[unsafe(no_mangle)]
pub extern "C" fn timer_delete(_timer: timer_t) -> c_int {
    CLOCK.set(Wanted::Never, 0);
    0
}

/// Fills all the bytes.
///
/// # Safety
/// `bytes` must be valid for `length` writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(bytes: *mut c_void, length: size_t, _flags: c_uint) -> ssize_t {
    if length > 0 {
        // SAFETY: the caller provides a place for so many bytes; for none it may be NULL.
        STREAM.fill(unsafe { slice::from_raw_parts_mut(bytes.cast::<u8>(), length) });
    }
    length as ssize_t
}

/// The host's call, except that a part of the extended state is completed before it is written.
///
/// # Safety
/// As for `ptrace` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptrace(request: c_uint, process: pid_t, address: usize, data: *mut c_void) -> c_long {
    match request {
        // The call writes the word, the function of the C library returns it.
        PTRACE_PEEKTEXT | PTRACE_PEEKDATA | PTRACE_PEEKUSER => {
            let mut word: c_long = 0;
            // SAFETY: there is a place for the word.
            let failed = unsafe { libc::syscall(SYS_ptrace, request, process, address, &raw mut word) } < 0;
            if failed { -1 } else { word }
        }
        // SAFETY: the caller provides the part.
        PTRACE_SETREGSET if address == XSTATE => unsafe { set_extended_state(process, &*data.cast::<iovec>()) },
        // SAFETY: the caller provides the arguments of the request.
        _ => unsafe { libc::syscall(SYS_ptrace, request, process, address, data) },
    }
}

/// Writes a part of the extended state, or all of it.
unsafe fn set_extended_state(process: pid_t, part: &iovec) -> c_long {
    // SAFETY: one thread, and no alarm interrupts this to come here again.
    let room = unsafe { &mut *ROOM.0.get() };
    let mut vector = iovec { iov_base: room.as_mut_ptr().cast(), iov_len: LARGEST };
    // SAFETY: the vector is of the room.
    let read = unsafe { libc::syscall(SYS_ptrace, PTRACE_GETREGSET, process, XSTATE, &raw mut vector) } == 0;
    let present = if read { &mut room[..vector.iov_len] } else { &mut [][..] };
    // SAFETY: the caller provides the part.
    let given = unsafe { slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len) };
    let mut written = match completed(given, present) {
        Some(whole) => iovec { iov_base: whole.as_mut_ptr().cast(), iov_len: whole.len() },
        None => *part,
    };
    // SAFETY: the vector is of the whole state, or the caller's.
    unsafe { libc::syscall(SYS_ptrace, PTRACE_SETREGSET, process, XSTATE, &raw mut written) }
}

/// Signals an alarm to the kernel.
fn give(alarm: Alarm) {
    if alarm == Alarm::Due {
        // SAFETY: the kernel has a handler for this signal before it sets an alarm.
        unsafe { libc::raise(SIGALRM) };
    }
}

/// In ns since 1970; 1970 itself if the caller gives no date.
fn start_date() -> u64 {
    static DATE: OnceLock<u64> = OnceLock::new();
    *DATE.get_or_init(|| std::env::var(START_DATE).map_or(0, |text| date_ns(&text)))
}

fn as_timespec(ns: u64) -> timespec {
    // Both fit: 2^63 s are enough, and the rest is below 10^9.
    timespec { tv_sec: (ns / NS_PER_S) as _, tv_nsec: (ns % NS_PER_S) as _ }
}

fn as_ns(time: timespec) -> u64 {
    (time.tv_sec as u64).saturating_mul(NS_PER_S).saturating_add(time.tv_nsec as u64)
}
