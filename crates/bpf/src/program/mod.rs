//! The code of an object in the machine's form: all functions in one array, every name resolved.

mod instruction;
mod kfuncs;
mod map;

use crate::btf::{Btf, Line};
pub(crate) use instruction::{Alu, CALL, CONST, Condition, Instruction, Kind, STORED, Size, Width, decode};
pub(crate) use kfuncs::Kfunc;
pub(crate) use map::{Map, MapKind};

/// A part of memory, and its initial bytes.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub name: String,
    pub bytes: Vec<u8>,
    pub is_writable: bool,
}

/// Places of the regions that every program has.
pub(crate) mod region {
    /// The frames of all calls.
    pub const STACK: usize = 0;
    /// The arguments of a hook.
    pub const ARGUMENTS: usize = 1;
    pub const SOCKET: usize = 2;
    pub const ACK_SAMPLE: usize = 3;
    pub const RATE_SAMPLE: usize = 4;
    /// `CONFIG_HZ`.
    pub const CONFIGURATION: usize = 5;
}

/// Addresses are this tag, a region, and an offset of 32 bits. Sums within 32 bits lead to no other region.
const TAG: u64 = 0x4c68 << 48;
/// Maps by their number; these addresses cannot be read.
const MAP_TAG: u64 = 0x4c6d << 48;

/// The address of a byte in a region.
pub(crate) const fn address(region: usize, offset: usize) -> u64 {
    TAG + ((region as u64) << 32) + offset as u64
}

/// The region and the offset of an address.
#[inline(always)]
pub(crate) const fn place(address: u64) -> (u64, usize) {
    let relative = address.wrapping_sub(TAG);
    (relative >> 32, (relative & 0xffff_ffff) as usize)
}

pub(crate) const fn map_handle(map: usize) -> u64 {
    MAP_TAG + map as u64
}

/// The map of a handle.
pub(crate) fn map_of(handle: u64) -> Option<usize> {
    handle.checked_sub(MAP_TAG).and_then(|map| usize::try_from(map).ok())
}

/// A function, and its instructions.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub start: usize,
    pub end: usize,
}

/// A field that an instruction accesses, by name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub at: usize,
    pub owner: String,
    pub path: String,
}

/// A variable that a scenario may set.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub name: String,
    pub region: usize,
    pub offset: usize,
    pub size: usize,
    pub is_signed: bool,
}

/// All code, with its references.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub instructions: Vec<Instruction>,
    /// functions by their start
    pub functions: Vec<Function>,
    /// lines by instruction
    pub lines: Vec<(usize, Line)>,
    pub named: Vec<Named>,
    pub regions: Vec<Region>,
    pub maps: Vec<Map>,
    /// the region of each map
    pub map_regions: Vec<usize>,
    pub settings: Vec<Setting>,
    /// names for [`Kind::Missing`]: `kfunc bbr_main`
    pub missing: Vec<String>,
    pub kfuncs: Vec<Kfunc>,
    pub btf: Btf,
}

impl Program {
    /// The function that contains an instruction.
    pub fn function_at(&self, at: usize) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.start <= at);
        self.functions[..after].iter().next_back().filter(|function| at < function.end)
    }

    /// The origin of an instruction: `mine.bpf.c:40`, or its function where there are no lines.
    pub fn place(&self, at: usize) -> String {
        let Some(function) = self.function_at(at) else { return "code without a name".to_string() };
        let after = self.lines.partition_point(|(first, _)| *first <= at);
        match self.lines[..after].last().filter(|(first, _)| *first >= function.start) {
            Some((_, line)) => format!("{}:{}", line.file, line.line),
            None => function.name.clone(),
        }
    }
}

#[cfg(test)]
impl Program {
    /// Instructions alone, without types.
    pub fn of(instructions: Vec<Instruction>) -> Program {
        let mut head = [0; 24];
        head[..8].copy_from_slice(&[0x9f, 0xeb, 1, 0, 24, 0, 0, 0]);
        Program {
            instructions,
            functions: Vec::new(),
            lines: Vec::new(),
            named: Vec::new(),
            regions: crate::linker::fixed_regions(),
            maps: Vec::new(),
            map_regions: Vec::new(),
            settings: Vec::new(),
            missing: Vec::new(),
            kfuncs: Vec::new(),
            btf: Btf::read(&head).unwrap(),
        }
    }
}
