//! Attaching to the egress of a device by tcx, of Linux 6.6 and later, which libbpf-rs has no call for yet.

use std::ptr::{NonNull, null};

use libbpf_rs::{AsRawLibbpf, Error, Link, ProgramMut, Result};

/// The link lasts as long as somebody holds or has pinned it.
#[expect(unsafe_code, reason = "one call of libbpf's that libbpf-rs lacks")]
pub(crate) fn to_egress(program: &ProgramMut<'_>, ifindex: i32) -> Result<Link> {
    // SAFETY: the program is loaded and outlives the call; without options the kernel puts it behind those that are there.
    let link = unsafe { libbpf_sys::bpf_program__attach_tcx(program.as_libbpf_object().as_ptr(), ifindex, null()) };
    match NonNull::new(link) {
        // SAFETY: libbpf gave the link to us alone.
        Some(link) => Ok(unsafe { Link::from_ptr(link) }),
        None => Err(Error::from(std::io::Error::last_os_error())),
    }
}
