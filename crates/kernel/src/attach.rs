//! Attaching to the egress of a device by tcx, of Linux 6.6 and later, for which libbpf-rs has no call yet.

use std::ptr::{NonNull, null};

use libbpf_rs::{AsRawLibbpf, Error, Link, ProgramMut, Result};

/// Attaches the program; the link lasts while it is held or pinned.
#[expect(unsafe_code, reason = "one call of libbpf's that libbpf-rs lacks")]
pub(crate) fn to_egress(program: &ProgramMut<'_>, ifindex: i32) -> Result<Link> {
    // SAFETY: the program is loaded and outlives the call; without options the kernel puts it behind the others.
    let link = unsafe { libbpf_sys::bpf_program__attach_tcx(program.as_libbpf_object().as_ptr(), ifindex, null()) };
    match NonNull::new(link) {
        // SAFETY: libbpf handed over the link, and keeps no pointer to it.
        Some(link) => Ok(unsafe { Link::from_ptr(link) }),
        None => Err(Error::from(std::io::Error::last_os_error())),
    }
}
