//! A stack for signal handlers of each thread that calls a controller, so that endless recursion in C, which leaves no
//! room on the thread's own stack, still ends with a sentence.
#![expect(unsafe_code, reason = "signal stacks are C's")]

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;

/// Room for the registers of any processor, and for the handler.
const BYTES: usize = 128 << 10;

thread_local! {
    static IS_THERE: Cell<bool> = const { Cell::new(false) };
    /// The stack of this thread, unless another was there before.
    static OWN: Cell<Option<Stack>> = const { Cell::new(None) };
}

/// Gives this thread a stack for signals at its first call, unless it has one.
#[inline]
pub(crate) fn ensure() {
    if !IS_THERE.get() {
        set_up();
    }
}

#[cold]
fn set_up() {
    IS_THERE.set(true);
    if !has_one() {
        OWN.set(Stack::new());
    }
}

/// Whether this thread has a stack for signals, of whatever origin.
fn has_one() -> bool {
    let mut now = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: a NULL asks for the present stack only, which is written to a valid place; zeros are valid too.
    let now = unsafe {
        libc::sigaltstack(ptr::null(), now.as_mut_ptr());
        now.assume_init()
    };
    now.ss_flags & libc::SS_DISABLE == 0 && !now.ss_sp.is_null()
}

/// Memory that this thread's signal handlers run on.
struct Stack(*mut libc::c_void);

impl Stack {
    /// Memory of its own, in use. If the system refuses it, endless recursion ends without a sentence.
    fn new() -> Option<Stack> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: new memory, at an address that the system chooses.
        let start = unsafe { libc::mmap(ptr::null_mut(), BYTES, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let stack = Stack(start);
        stack.put(0);
        Some(stack)
    }

    /// Makes it the stack for signals; `SS_DISABLE` takes it out of use.
    fn put(&self, flags: i32) {
        let wanted = libc::stack_t { ss_sp: self.0, ss_flags: flags, ss_size: BYTES };
        // SAFETY: the memory stays mapped until `drop`, which takes it out of use first.
        unsafe { libc::sigaltstack(&raw const wanted, ptr::null_mut()) };
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.put(libc::SS_DISABLE);
        // SAFETY: mapped by `new`, and no longer in use.
        unsafe { libc::munmap(self.0, BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_a_stack_for_signals_after_its_first_call() {
        // SAFETY: a thread of the C library has no such stack, unlike a thread of Rust's in a program of Rust's.
        extern "C" fn look(_: *mut libc::c_void) -> *mut libc::c_void {
            let before = has_one();
            ensure();
            let after = has_one();
            ptr::without_provenance_mut(usize::from(before) | usize::from(after) << 1)
        }
        let (mut thread, mut found) = (MaybeUninit::uninit(), ptr::null_mut());
        // SAFETY: the function has the type that the call requires, and the thread is joined.
        unsafe {
            assert_eq!(libc::pthread_create(thread.as_mut_ptr(), ptr::null(), look, ptr::null_mut()), 0);
            libc::pthread_join(thread.assume_init(), &raw mut found);
        }
        assert_eq!(found.addr(), 0b10);
    }
}
