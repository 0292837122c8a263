//! Loads an object file into the kernel, with maps and links pinned.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use libbpf_rs::{MapCore, MapType, Object, ObjectBuilder, OpenObject, ProgramType, Result};

use crate::attach::to_egress;

/// The compiler's section for values set before loading; no map of ours.
const RODATA: &str = ".rodata";

/// A congestion control, which every socket may choose afterwards.
pub(crate) fn controller(object: &str, directory: &Path, settings: &[u8], cgroup: Option<&str>) -> Result<()> {
    let mut open = opened(object, settings)?;
    for mut program in open.progs_mut().filter(|program| program.prog_type() == ProgramType::SockOps) {
        program.set_autoload(cgroup.is_some());
    }
    let mut object = open.load()?;
    for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        map.attach_struct_ops()?.pin(directory.join("controller"))?;
    }
    if let Some(cgroup) = cgroup {
        let folder = File::open(cgroup)?;
        for program in object.progs_mut().filter(|program| program.prog_type() == ProgramType::SockOps) {
            program.attach_cgroup(folder.as_raw_fd())?.pin(directory.join("cgroup"))?;
        }
    }
    pin_maps(&mut object, directory)
}

/// A program for the egress of a device.
pub(crate) fn classifier(object: &str, directory: &Path, settings: &[u8], ifindex: i32) -> Result<()> {
    let mut object = opened(object, settings)?.load()?;
    for program in object.progs_mut() {
        to_egress(&program, ifindex)?.pin(directory.join("egress"))?;
    }
    pin_maps(&mut object, directory)
}

fn opened(object: &str, settings: &[u8]) -> Result<OpenObject> {
    let mut open = ObjectBuilder::default().open_file(object)?;
    for mut map in open.maps_mut().filter(|map| map.name().to_string_lossy().ends_with(RODATA)) {
        match map.initial_value_mut() {
            Some(value) if value.len() == settings.len() => value.copy_from_slice(settings),
            _ => {
                let other = "its settings have another size than this version of lasthop gives";
                return Err(io::Error::new(io::ErrorKind::InvalidData, other).into());
            }
        }
    }
    Ok(open)
}

/// Maps that are read from outside; the others live as long as their programs.
fn pin_maps(object: &mut Object, directory: &Path) -> Result<()> {
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if matches!(map.map_type(), MapType::Array | MapType::RingBuf) && !name.contains('.') {
            map.pin(directory.join(name))?;
        }
    }
    Ok(())
}
