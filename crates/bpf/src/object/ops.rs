//! The `tcp_congestion_ops` that an object declares.

use crate::btf::{Btf, Type, plain_name};
use crate::elf::Elf;
use crate::error::Fallible;

macro_rules! hooks {
    ($( $hook:ident = $name:literal; )*) => {
        /// A function that the kernel calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Hook { $( $hook ),* }

        impl Hook {
            pub const ALL: &[(Hook, &'static str)] = &[$( (Hook::$hook, $name) ),*];
        }
    };
}

hooks! {
    Init = "init";
    Release = "release";
    Ssthresh = "ssthresh";
    CongAvoid = "cong_avoid";
    SetState = "set_state";
    CwndEvent = "cwnd_event";
    InAckEvent = "in_ack_event";
    PktsAcked = "pkts_acked";
    MinTsoSegs = "min_tso_segs";
    CongControl = "cong_control";
    UndoCwnd = "undo_cwnd";
    SndbufExpand = "sndbuf_expand";
    GetInfo = "get_info";
}

impl Hook {
    pub fn name(self) -> &'static str {
        Hook::ALL.iter().find(|(hook, _)| *hook == self).map_or("", |(_, name)| name)
    }

    /// False for hooks without a call here: sends and buffers are sized elsewhere, and the end is not reported.
    pub fn is_called(self) -> bool {
        !matches!(self, Hook::Release | Hook::MinTsoSegs | Hook::SndbufExpand | Hook::GetInfo)
    }
}

/// One controller of an object.
#[derive(Clone, Debug)]
pub(crate) struct Ops {
    /// as `tcp_available_congestion_control` would list it
    pub name: String,
    /// its variable
    pub variable: String,
    pub flags: u32,
    /// first instructions, by hook
    pub hooks: Vec<(Hook, usize)>,
    /// arguments of `cong_control`, of which there are two or four
    pub cong_control_arguments: usize,
}

impl Ops {
    pub fn entry(&self, hook: Hook) -> Option<usize> {
        self.hooks.iter().find(|(known, _)| *known == hook).map(|(_, entry)| *entry)
    }

    /// The missing hooks without which the kernel accepts no controller.
    pub fn absent(&self) -> Vec<&'static str> {
        let mut absent: Vec<&str> = [Hook::Ssthresh, Hook::UndoCwnd]
            .into_iter()
            .filter(|hook| self.entry(*hook).is_none())
            .map(Hook::name)
            .collect();
        if self.entry(Hook::CongAvoid).is_none() && self.entry(Hook::CongControl).is_none() {
            absent.push("cong_avoid or cong_control");
        }
        absent
    }
}

/// All controllers of an object, in its order; `code` gives the first instruction of a symbol.
pub(crate) fn read(elf: &Elf, btf: &Btf, code: impl Fn(usize) -> Option<usize>) -> Fallible<Vec<Ops>> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for name in [".struct_ops", ".struct_ops.link"] {
        let Some((section, _)) = elf.section(name) else { continue };
        for (variable, kind) in btf.variables(name) {
            match btf.strip(kind) {
                (id, Type::Struct { name, .. }) if plain_name(name) == "tcp_congestion_ops" => {
                    found.push(one(elf, btf, section, variable, id, &code)?);
                }
                (_, Type::Struct { name, .. }) => others.push(name.clone()),
                _ => {}
            }
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    Err(match others.first() {
        Some(other) => format!("has struct_ops {other}, and no tcp_congestion_ops, which a congestion control is"),
        None => {
            "has no struct_ops; a congestion control is a variable struct tcp_congestion_ops in SEC(\".struct_ops\")"
                .to_string()
        }
    })
}

fn one(
    elf: &Elf,
    btf: &Btf,
    section: usize,
    variable: &str,
    id: u32,
    code: &impl Fn(usize) -> Option<usize>,
) -> Fallible<Ops> {
    let symbol = elf.symbols.iter().find(|symbol| symbol.section == Some(section) && symbol.name == variable);
    let begins = symbol.ok_or_else(|| format!("has no symbol {variable}"))?.value;
    let place = |field: &str| begins.checked_add(btf.field(id, field)?.bit_offset / 8);
    let bytes = |field: &str, len: usize| {
        let at = place(field)?;
        elf.sections[section].bytes.get(at..at.checked_add(len)?)
    };
    let name = bytes("name", 16).unwrap_or_default().split(|&byte| byte == 0).next().unwrap_or_default();
    let flags = bytes("flags", 4).map_or(0, |flags| u32::from_le_bytes(flags.try_into().expect("four bytes")));
    let mut hooks = Vec::new();
    for (hook, field) in Hook::ALL {
        let Some(at) = place(field) else { continue };
        let points = elf.relocations[section].iter().find(|relocation| relocation.offset == at);
        if let Some(relocation) = points {
            let entry = code(relocation.symbol).ok_or_else(|| format!("{variable}.{field} points to no function"))?;
            hooks.push((*hook, entry));
        }
    }
    let name = String::from_utf8_lossy(name).into_owned();
    let cong_control_arguments = arguments(btf, id, "cong_control").unwrap_or(4);
    Ok(Ops { name, variable: variable.to_string(), flags, hooks, cong_control_arguments })
}

/// The number of arguments of the function that a member points to.
fn arguments(btf: &Btf, id: u32, member: &str) -> Option<usize> {
    let Type::Pointer(to) = *btf.strip(btf.field(id, member)?.kind).1 else { return None };
    match *btf.strip(to).1 {
        Type::Prototype { parameters } => Some(parameters),
        _ => None,
    }
}
