//! Virtual time for a User Mode Linux kernel that was built without it: a library to preload.
//!
//! User Mode Linux is a Linux kernel as a process. It reads the time by a few functions of the C library only, and this
//! library replaces them:
//!
//! ```text
//! clock_gettime   the virtual clock, which a reading moves on by a little, so that waiting in a loop comes to an end
//! timer_settime   stores the time of the kernel's next alarm
//! timer_gettime   called by the idle kernel before it sleeps: the clock jumps to the alarm
//! timer_create,   no timer of the host ever runs
//! timer_delete
//! ```
//!
//! Time stands still while anything runs, and passes at once while all wait. That is `time-travel=inf-cpu` of kernels
//! with that option, with one difference: there, readings in an interrupt are free.
//!
//! `getrandom`, by which the kernel fills its random pool, gives the same bytes each time.
//!
//! `ptrace` writes all vector registers of a process, although the kernel knows only some of them (`registers`).
//!
//! `clock`, `random` and `registers` have the laws without any system call; the kernel calls `interposed`.
//!
//! Leaves out: loops of the kernel that wait for an alarm without a call. The caller's command line disables those
//! (`lpj=` and `initcall_blacklist=raid6_select_algo`), and the device that reads the host's `/dev/random` too.

#[cfg(any(target_os = "linux", test))]
mod clock;
// The tests' own clock must stay the host's.
#[cfg(all(target_os = "linux", not(test)))]
mod interposed;
#[cfg(any(target_os = "linux", test))]
mod random;
#[cfg(any(target_os = "linux", test))]
mod registers;
