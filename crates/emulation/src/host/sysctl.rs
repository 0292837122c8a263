//! Settings of the network of a namespace, under `/proc/sys/net`.

use std::fs;
use std::io::ErrorKind;

use crate::error::{Context, Error, Result};
use crate::host::namespace::Namespace;

/// Settings that this kernel does not have, by name.
pub type Missing = Vec<String>;

/// Sets one setting of a namespace, such as `net.ipv4.tcp_sack`.
///
/// # Errors
/// The kernel has no such setting per namespace, refuses the value, or this user may not set it.
pub fn set(namespace: &Namespace, name: &str, value: &str) -> Result<()> {
    let path = path(name)?;
    namespace.enter(|| fs::write(&path, value))?.context(|| format!("{name} = {value} cannot be set"))
}

/// Sets those of many settings that this kernel has, and returns the names of the others.
///
/// # Errors
/// The setting exists and the kernel refuses the value, or this user may not set it.
pub fn set_all(namespace: &Namespace, settings: &[(&str, &str)]) -> Result<Missing> {
    let mut missing = Missing::new();
    for (name, value) in settings {
        match set(namespace, name, value) {
            Err(error) if error.cause().is_some_and(|cause| cause.kind() == ErrorKind::NotFound) => {
                missing.push((*name).to_owned());
            }
            answer => answer?,
        }
    }
    Ok(missing)
}

/// The value of a setting of a namespace.
///
/// # Errors
/// The kernel has no such setting per namespace.
pub fn get(namespace: &Namespace, name: &str) -> Result<String> {
    let path = path(name)?;
    let value = namespace.enter(|| fs::read_to_string(&path))?.context(|| format!("{name} cannot be read"))?;
    Ok(value.trim().to_owned())
}

/// The congestion controls that are loaded, by their names in the kernel.
///
/// # Errors
/// `/proc` is not mounted.
pub fn congestion_controls(namespace: &Namespace) -> Result<Vec<String>> {
    let names = get(namespace, "net.ipv4.tcp_available_congestion_control")?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

fn path(name: &str) -> Result<String> {
    let of_network = name.starts_with("net.");
    if of_network && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')) {
        return Ok(format!("/proc/sys/{}", name.replace('.', "/")));
    }
    Err(Error::new(format!("{name}: this is not a network setting such as net.ipv4.tcp_sack")))
}
