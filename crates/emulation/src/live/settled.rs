//! The environment that the emulator enters before it does anything else.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;

use super::options::Machine;
use crate::error::Result;
use crate::host::{Contain, Granted, Namespace, Netlink, ask_for_realtime, contain, guest};

/// Moves this process, which must have one thread, into the environment of an emulator. On a host these are private
/// namespaces; in a guest, whose first process it is, a process below one that switches the guest off at the end.
/// `parent`: the number of the process that started this one, whose end ends the environment on a host. `modules`:
/// files of kernel modules to load in a guest, in order.
///
/// It returns in a child, with the means granted for waking on time; the calling process ends with the child's status.
///
/// # Errors
/// The machine or this user may not have such an environment.
pub fn settle(machine: Machine, parent: Option<u32>, modules: &[&Path]) -> Result<Granted> {
    match machine {
        Machine::Host => {
            contain(&Contain { net: true, parent, ..Contain::default() })?;
        }
        Machine::Guest => {
            guest::mount_guest()?;
            modules.iter().try_for_each(|module| guest::load_module(module))?;
            allow_congestion_controls();
            write_files_at_the_end();
            draw_secrets();
            guest::go_on_below_init(|_| {})?;
        }
    }
    Ok(ask_for_realtime())
}

/// Lets namespaces of a guest choose any congestion control of its kernel; by default only the first namespace may.
fn allow_congestion_controls() {
    const ALGORITHMS: &str = "/proc/sys/net/ipv4/tcp_";
    let available = fs::read_to_string(format!("{ALGORITHMS}available_congestion_control")).unwrap_or_default();
    // A kernel that refuses this refuses it later for each host, where it is reported.
    fs::write(format!("{ALGORITHMS}allowed_congestion_control"), available).ok();
}

/// Keeps a guest's kernel from waking to write files while hosts run, so that recordings have no effect on the run.
fn write_files_at_the_end() {
    fs::write("/proc/sys/vm/dirty_writeback_centisecs", "0").ok();
}

/// Opens a connection, for which a kernel draws the secrets of all sequence numbers and timestamps. If the first
/// connection of the run drew them, they would depend on the preparations before it, such as files for a recording.
fn draw_secrets() {
    let connect = || -> Option<()> {
        Netlink::open(&Namespace::own().ok()?).ok()?.bring_up("lo").ok()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        TcpStream::connect(listener.local_addr().ok()?).ok().map(drop)
    };
    // Without loopback the secrets are drawn later.
    connect();
}
