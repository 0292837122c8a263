//! A table may be anywhere in memory, as that of a language that compiles at run time. The functions here are Rust's, so that Miri
//! runs these tests: `cargo +nightly miri test -p lasthop-native --lib --test address`.
#![expect(unsafe_code, reason = "the address of a table is given as a number")]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use lasthop_native::{Error, Library};
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::{AckSample, CongestionCause, CongestionEvent, Context};
use lasthop_units::Time;

/// `struct lasthop_cc_v1`, written again from the header.
#[repr(C)]
struct Table {
    size: u32,
    version: u32,
    name: *const c_void,
    private_size: u64,
    init: *const c_void,
    release: *const c_void,
    established: *const c_void,
    pkts_acked: *const c_void,
    cong_avoid: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    cong_control: *const c_void,
    ssthresh: Option<unsafe extern "C" fn(*mut c_void, *const c_void) -> f64>,
    set_state: *const c_void,
    undo_cwnd: *const c_void,
    cwnd_event: *const c_void,
}

/// The beginning of `struct lasthop_cc_sock`, written again from the header.
#[repr(C)]
struct Sock {
    cwnd: f64,
    ssthresh: f64,
    rates: [u64; 3],
    words: [u32; 4],
    times: [u64; 3],
    prior: [f64; 2],
    own: *mut u64,
    host: *const Host,
}

/// The beginning of `struct lasthop_cc_host`.
#[repr(C)]
struct Host {
    functions: [*const c_void; 4],
    random_u32: unsafe extern "C" fn(*mut c_void) -> u32,
    random_below: unsafe extern "C" fn(*mut c_void, u32) -> u32,
}

/// Adds a random part of a segment, and counts the calls in its own memory.
unsafe extern "C" fn grow_at_random(sock: *mut c_void, _: *const c_void) {
    let it = sock.cast::<Sock>();
    // SAFETY: the sock of the call, with memory for one number.
    unsafe {
        let host = (*it).host;
        *(*it).own += 1;
        (*it).cwnd += f64::from(((*host).random_below)(sock, 100)) / 100.0;
        ((*host).random_u32)(sock);
    }
}

/// Half of the window, and the number of calls before.
unsafe extern "C" fn half(sock: *mut c_void, _: *const c_void) -> f64 {
    let it = sock.cast::<Sock>();
    // SAFETY: as above.
    unsafe { (*it).cwnd / 2.0 + *(*it).own as f64 }
}

/// Writes behind its own memory.
unsafe extern "C" fn beyond(sock: *mut c_void, _: *const c_void) {
    // SAFETY: a guard follows its own memory of 16 bytes, and is of the same allocation.
    unsafe { *(*sock.cast::<Sock>()).own.add(2) = 1 };
}

extern "C" fn grow(_: *mut c_void, _: *const c_void) {}
extern "C" fn two(_: *mut c_void, _: *const c_void) -> f64 {
    2.0
}

/// A table that is never freed.
fn table(size: usize, version: u32) -> usize {
    leaked(Table { size: size as u32, version, ..plain() })
}

fn leaked(table: Table) -> usize {
    ptr::from_mut(Box::leak(Box::new(table))).expose_provenance()
}

fn plain() -> Table {
    let none = ptr::null();
    Table {
        size: size_of::<Table>() as u32,
        version: 1,
        name: none,
        private_size: 0,
        init: none,
        release: none,
        established: none,
        pkts_acked: none,
        cong_avoid: Some(grow),
        cong_control: none,
        ssthresh: Some(two),
        set_state: none,
        undo_cwnd: none,
        cwnd_event: none,
    }
}

fn at(address: usize) -> Result<Library, Error> {
    // SAFETY: each address of these tests is that of a table that is never freed, 0 or misaligned.
    unsafe { Library::at(address) }
}

#[test]
fn a_table_is_found_by_its_address() {
    let library = Arc::new(at(table(size_of::<Table>(), 1)).unwrap());
    let control = library.controller(&Context::new(&Profile::Linux.config(), 1), &[]).unwrap();
    assert_eq!((library.name(), control.cwnd()), ("controller", 10.0));
}

#[test]
fn a_table_of_an_older_header_lacks_the_functions_at_its_end() {
    let up_to_ssthresh = std::mem::offset_of!(Table, set_state);
    assert!(at(table(up_to_ssthresh, 1)).is_ok());
    assert!(at(table(up_to_ssthresh - 8, 1)).is_err());
}

#[test]
fn no_table_and_one_of_another_version_are_refused() {
    for address in [0, 0x1003] {
        let refused = at(address).unwrap_err().to_string();
        assert!(refused.contains("there is no table of functions"), "{refused}");
    }
    let refused = at(table(size_of::<Table>(), 2)).unwrap_err().to_string();
    assert!(refused.contains("is made for version 2 of lasthop_cc.h, this is 1"), "{refused}");
}

#[test]
fn a_controller_uses_its_own_memory_and_its_own_random_numbers() {
    let own = Table { private_size: 8, cong_avoid: Some(grow_at_random), ssthresh: Some(half), ..plain() };
    let library = Arc::new(at(leaked(own)).unwrap());
    let context = Context::new(&Profile::Linux.config(), 1);
    let mut both = [library.controller(&context, &[]).unwrap(), library.controller(&context, &[]).unwrap()];
    for control in &mut both {
        (0..3).for_each(|n| control.on_ack(&AckSample { now: Time::from_nanos(n), ..AckSample::default() }));
    }
    let window = both[0].cwnd();
    assert!(window > 10.0 && window < 13.0 && both[1].cwnd() == window, "{window}");
    let [first, second] = &mut both;
    first.on_congestion(&loss(window));
    // Three calls of `cong_avoid` came before.
    assert_eq!((first.ssthresh(), second.ssthresh()), (window / 2.0 + 3.0, f64::INFINITY));
}

fn loss(window: f64) -> CongestionEvent {
    CongestionEvent {
        now: Time::from_nanos(9),
        cause: CongestionCause::Loss,
        window,
        flight_bytes: 0,
        repeated: false,
        snd_una: 0,
        snd_nxt: 0,
        total_lost: 1,
    }
}

#[test]
fn a_store_behind_its_own_memory_is_noticed() {
    let library = Arc::new(at(leaked(Table { private_size: 16, cong_avoid: Some(beyond), ..plain() })).unwrap());
    let mut control = library.controller(&Context::new(&Profile::Linux.config(), 1), &[]).unwrap();
    let thrown = catch_unwind(AssertUnwindSafe(|| control.on_ack(&AckSample::default())));
    assert!(thrown.is_err());
    assert!(control.failure().unwrap().contains("wrote just before or behind the bytes of `private_size`"));
}
