//! A table may be anywhere in memory, as that of a language that compiles at run time.
#![expect(unsafe_code, reason = "the address of a table is given as a number")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use lasthop_native::{Error, Library};
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::Context;

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
    cong_avoid: Option<extern "C" fn(*mut c_void, *const c_void)>,
    cong_control: *const c_void,
    ssthresh: Option<extern "C" fn(*mut c_void, *const c_void) -> f64>,
    set_state: *const c_void,
    undo_cwnd: *const c_void,
    cwnd_event: *const c_void,
}

extern "C" fn grow(_: *mut c_void, _: *const c_void) {}
extern "C" fn two(_: *mut c_void, _: *const c_void) -> f64 {
    2.0
}

/// A table that is never freed.
fn table(size: usize, version: u32) -> usize {
    let none = ptr::null();
    let table = Box::leak(Box::new(Table {
        size: size as u32,
        version,
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
    }));
    ptr::from_mut(table).expose_provenance()
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
