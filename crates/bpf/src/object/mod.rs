//! An object: read once, checked, and the source of a controller for each connection.

mod check;
mod describe;
mod ops;

use core::fmt;

use crate::analysis::{Findings, explore};
use crate::btf::{Btf, Extension};
use crate::elf::Elf;
use crate::error::{Error, Fallible};
use crate::linker::link;
use crate::memory::Memory;
use crate::program::{Program, address, region};
use crate::socket::Socket;
use crate::states::NEEDS_ECN;
pub use describe::Description;
pub(crate) use ops::{Hook, Ops};

/// A compiled congestion control, as accepted by `bpftool struct_ops register`.
pub struct Object {
    name: String,
    licence: String,
    all: Vec<Ops>,
    chosen: usize,
    findings: Findings,
    pub(crate) program: Program,
    pub(crate) socket: Socket,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("name", &self.name).field("controller", &self.ops().name).finish_non_exhaustive()
    }
}

/// Licences that the kernel counts as compatible with its own, without which it gives no functions to an object.
const COMPATIBLE: [&str; 6] =
    ["GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"];

impl Object {
    /// Reads an object file; `name` is its name in errors. The first complete controller in it is chosen.
    ///
    /// # Errors
    /// A sentence, if it is not an object of BPF with types (`-g`) that declares a `tcp_congestion_ops`.
    pub fn read(bytes: &[u8], name: &str) -> Result<Object, Error> {
        Object::read_parts(bytes, name).map_err(|message| Error { object: name.to_string(), message })
    }

    fn read_parts(bytes: &[u8], name: &str) -> Fallible<Object> {
        let elf = Elf::read(bytes)?;
        let (_, types) = elf.section(".BTF").ok_or("has no BTF; compile with clang -O2 -g -target bpf")?;
        let btf = Btf::read(types.bytes)?;
        let extension = match elf.section(".BTF.ext") {
            Some((_, section)) => Extension::read(section.bytes, &btf)?,
            None => Extension::default(),
        };
        let socket = Socket::new(&btf)?;
        let mut program = link(&elf, btf, &extension, &socket)?;
        Memory::size_fields(&mut program.regions, &socket.permits);
        let code = |symbol: usize| {
            let symbol = &elf.symbols[symbol];
            program.functions.iter().find(|function| function.name == symbol.name).map(|function| function.start)
        };
        let all = ops::read(&elf, &program.btf, code)?;
        let chosen = all.iter().position(|ops| ops.absent().is_empty()).unwrap_or(0);
        let licence = elf.section("license").map_or(&[][..], |(_, section)| section.bytes);
        let licence = String::from_utf8_lossy(licence.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned();
        let mut object =
            Object { name: name.to_string(), licence, all, chosen, findings: Findings::default(), program, socket };
        object.findings = object.explore()?;
        Ok(object)
    }

    /// Follows every hook that will be called.
    fn explore(&self) -> Fallible<Findings> {
        let mut findings = Findings::default();
        for &(hook, entry) in self.ops().hooks.iter().filter(|(hook, _)| hook.is_called()) {
            let mut arguments = [None; 8];
            arguments[0] = Some(address(region::SOCKET, 0));
            match hook {
                Hook::PktsAcked => arguments[1] = Some(address(region::ACK_SAMPLE, 0)),
                Hook::CongControl => {
                    let last = self.ops().cong_control_arguments.clamp(2, 4) - 1;
                    arguments[last] = Some(address(region::RATE_SAMPLE, 0));
                }
                _ => {}
            }
            findings.add(explore(&self.program, entry, &arguments)?);
        }
        Ok(findings)
    }

    fn error(&self, message: String) -> Error {
        Error { object: self.name.clone(), message }
    }

    /// The name given when the object was read.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn needs_ecn(&self) -> bool {
        self.ops().flags & NEEDS_ECN != 0
    }

    /// True if it sets the rate at which segments leave.
    pub(crate) fn sets_pacing(&self) -> bool {
        self.uses().writes.keys().any(|name| name == "sock.sk_pacing_rate")
    }

    /// The controller that was chosen.
    pub(crate) fn ops(&self) -> &Ops {
        &self.all[self.chosen]
    }

    /// Chooses another controller of the same object, by the name that it registers or by its variable.
    ///
    /// # Errors
    /// A sentence with the names that it has, if it has none of that name.
    pub fn choose(&mut self, name: &str) -> Result<(), Error> {
        let found = self.all.iter().position(|ops| ops.name == name || ops.variable == name);
        self.chosen = found.ok_or_else(|| {
            let names: Vec<&str> = self.all.iter().map(|ops| ops.name.as_str()).collect();
            self.error(format!("has no controller \"{name}\"; it has: {}", names.join(", ")))
        })?;
        self.findings = self.explore().map_err(|message| self.error(message))?;
        Ok(())
    }

    /// Sets a global variable that is constant to its code: `const volatile`, a whole number.
    /// [`describe`](Self::describe) lists them with their initial values.
    ///
    /// # Errors
    /// A sentence, if there is no such variable, or if the value does not fit into it.
    pub fn with(&mut self, name: &str, value: i64) -> Result<(), Error> {
        let Some(setting) = self.program.settings.iter().find(|setting| setting.name == name) else {
            let names: Vec<&str> = self.program.settings.iter().map(|setting| setting.name.as_str()).collect();
            let have =
                if names.is_empty() { "it has none".to_string() } else { format!("it has: {}", names.join(", ")) };
            return Err(self.error(format!("has no whole number `const volatile` called \"{name}\"; {have}")));
        };
        let bits = 8 * setting.size.min(8) as u32;
        let (least, most) = match setting.is_signed {
            true => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
            false => (0, (u64::MAX >> (64 - bits)).min(i64::MAX as u64) as i64),
        };
        if !(least..=most).contains(&value) {
            return Err(self.error(format!("{name} = {value} does not fit: it may be {least} to {most}")));
        }
        let (region, offset, size) = (setting.region, setting.offset, setting.size.min(8));
        let place = self.program.regions[region].bytes.get_mut(offset..offset.saturating_add(size));
        let Some(place) = place else { return Err(self.error(format!("{name} lies outside of its section"))) };
        place.copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(())
    }
}
