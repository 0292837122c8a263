//! A signal raised by a controller's code ends the process, as in any program, after a sentence that names the code.
#![expect(unsafe_code, reason = "signal handlers are C's")]

use std::cell::Cell;
use std::sync::Once;

/// The call that runs on this thread.
#[derive(Clone, Copy)]
struct Call {
    library: *const str,
    function: &'static str,
    /// simulated time in nanoseconds: a controller that writes wildly may have overwritten its own
    now: u64,
}

thread_local! {
    static CALL: Cell<Option<Call>> = const { Cell::new(None) };
}

/// Notes a call until it is dropped.
pub(crate) struct Calling(());

impl Calling {
    /// `library` must outlive the value; `now` is the simulated time in nanoseconds.
    pub fn new(library: &str, function: &'static str, now: u64) -> Calling {
        #[cfg(all(unix, not(miri)))]
        crate::signal_stack::ensure();
        CALL.set(Some(Call { library: &raw const *library, function, now }));
        Calling(())
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        CALL.set(None);
    }
}

/// Sets the handler up, once for the process. A handler that was there already is called afterwards.
#[cfg(unix)]
pub(crate) fn watch() {
    static SET_UP: Once = Once::new();
    SET_UP.call_once(|| {
        for (index, signal) in unix::SIGNALS.into_iter().enumerate() {
            unix::set_up(index, signal);
        }
        unix::set_up_exit();
    });
}

#[cfg(not(unix))]
pub(crate) fn watch() {}

#[cfg(unix)]
mod unix {
    use std::cell::UnsafeCell;
    use std::io::Write as _;
    use std::mem::MaybeUninit;
    use std::ptr;

    use super::CALL;

    pub const SIGNALS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];
    const NAMES: [&str; 5] = ["SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"];

    struct Before(UnsafeCell<[MaybeUninit<libc::sigaction>; 5]>);

    // SAFETY: an entry is written once, before its handler can be called, and then only read.
    unsafe impl Sync for Before {}

    static BEFORE: Before = Before(UnsafeCell::new([const { MaybeUninit::uninit() }; 5]));

    pub fn set_up(index: usize, signal: i32) {
        // SAFETY: the structures are zeroed, which is a valid start for both, and the handler has the type that
        // SA_SIGINFO requires.
        unsafe {
            let before = (*BEFORE.0.get())[index].as_mut_ptr();
            libc::sigaction(signal, ptr::null(), before);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = tell as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }

    /// Has the end of the process told of, if a controller asks for it.
    pub fn set_up_exit() {
        // SAFETY: the function has the type that `atexit` requires, and stays.
        unsafe { libc::atexit(tell_of_exit) };
    }

    /// A controller that ends the process has failed: a sentence, and an exit status that says so.
    extern "C" fn tell_of_exit() {
        if let Ok(Some(call)) = CALL.try_with(std::cell::Cell::get) {
            write(&call, format_args!("has ended the process by exit()"), "a controller gives up with lasthop_cc_fail");
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(1) };
        }
    }

    /// Writes a sentence to standard error, without memory of its own; one that does not fit is cut.
    fn write(call: &super::Call, what: std::fmt::Arguments<'_>, remedy: &str) {
        let mut text = [0u8; 512];
        let mut rest = &mut text[..];
        // SAFETY: it outlives the call, which is running.
        let library = unsafe { &*call.library };
        let at_s = call.now as f64 / 1e9;
        let _ = writeln!(rest, "lasthop: {library}: {} {what} at {at_s:.6} s; {remedy}", call.function);
        let left = rest.len();
        // SAFETY: the buffer exists, and `write` may be called in a handler.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len() - left) };
    }

    /// Writes the sentence, and restores the earlier handler: the fault happens again and calls that one. A signal that was
    /// sent does not happen again, so it is sent once more; it arrives when this handler returns.
    extern "C" fn tell(signal: i32, about: *mut libc::siginfo_t, _: *mut libc::c_void) {
        let index = SIGNALS.iter().position(|one| *one == signal).unwrap_or(0);
        // SAFETY: SA_SIGINFO passes a valid structure.
        let sender = sender(unsafe { &*about });
        if let Some(call) = CALL.get() {
            if sender.is_none_or(|process| process == std::process::id()) {
                let remedy = "compile with -g -fsanitize=address, or run under gdb, to see where";
                write(&call, format_args!("ended the process with {}", NAMES[index]), remedy);
            } else {
                write(
                    &call,
                    format_args!("was running when another process sent {}", NAMES[index]),
                    "it is not the cause",
                );
            }
        }
        // SAFETY: written by `set_up` before this handler could be called.
        unsafe { libc::sigaction(signal, (*BEFORE.0.get())[index].as_ptr(), ptr::null_mut()) };
        if sender.is_some() {
            // SAFETY: sends a signal to this thread.
            unsafe { libc::raise(signal) };
        }
    }

    /// The process that sent a signal, unless a fault raised it.
    fn sender(about: &libc::siginfo_t) -> Option<u32> {
        // Codes of faults are small numbers. Linux gives sent signals 0 and below, macOS 0 and above 0x10000.
        let is_sent = about.si_code <= 0 || about.si_code > 0x1_0000;
        // SAFETY: a signal that was sent has the number of its sender.
        is_sent.then(|| unsafe { about.si_pid() }.cast_unsigned())
    }
}
