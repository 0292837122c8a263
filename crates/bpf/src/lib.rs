//! Congestion controls that were compiled for Linux, in a simulated endpoint.
//!
//! ```text
//!   mine.bpf.o ──► Object ── check, describe ──► controller ──► Box<dyn CongestionControl>
//!    ELF, BTF,      linked, explored              a machine and a socket per connection
//!    .BTF.ext
//! ```
//!
//! Models: objects that Linux loads as `struct_ops` `tcp_congestion_ops`: the instruction set of RFC 9669 as far as
//! clang emits it, functions with frames, data sections, maps, helpers and functions of the kernel that controllers
//! call, and the part of `struct tcp_sock` that a sender's model knows (`docs/model/bpf.md`). The socket lies in memory
//! as in the object's own BTF, so that instructions need no relocation. Every access is checked; accesses that a kernel
//! would refuse are refused.
//!
//! Leaves out: the verifier's proofs, callbacks, dynamic pointers, variables of the kernel's configuration except
//! `CONFIG_HZ`, fields that are declared under another flavour (`___`).

mod analysis;
mod btf;
mod bytes;
mod controller;
mod elf;
mod error;
mod kernel;
mod limits;
mod linker;
mod machine;
mod memory;
mod object;
mod program;
mod socket;
mod states;

pub use error::Error;
pub use object::{Description, Object};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
