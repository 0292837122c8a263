//! Links sections and relocations to one array of instructions and a list of regions.

use crate::program::{
    CALL, CONST, Function, Instruction, Kfunc, Kind, Map, Named, Program, Region, STORED, Setting, address, decode,
    map_handle, region,
};
mod field_facts;

use crate::btf::{Btf, Extension, Type, plain_name};
use crate::elf::{Elf, Relocation, Symbol, SymbolKind};
use crate::error::Fallible;
use crate::limits::STACK_BYTES;
use crate::socket::{CHAIN, Socket};

/// Sections of code and data that are not memory of the program.
const NOT_DATA: [&str; 4] = ["license", "version", ".maps", ".ksyms"];
/// The only variable of the kernel's configuration here.
const CONFIG_HZ: &str = "CONFIG_HZ";

/// The new addresses of the sections of an object.
struct Addresses<'e, 'a> {
    elf: &'e Elf<'a>,
    /// first instruction, by section
    code: Vec<Option<usize>>,
    /// region, by section
    data: Vec<Option<usize>>,
}

/// Links an object; the first regions exist with their sizes, and its data adds to them.
pub(crate) fn link(elf: &Elf, btf: Btf, extension: &Extension, socket: &Socket) -> Fallible<Program> {
    let mut program = Program {
        instructions: Vec::new(),
        functions: Vec::new(),
        lines: Vec::new(),
        named: Vec::new(),
        regions: fixed_regions(),
        maps: Vec::new(),
        map_regions: Vec::new(),
        settings: Vec::new(),
        missing: Vec::new(),
        kfuncs: Vec::new(),
        btf,
    };
    let mut addresses = Addresses { elf, code: vec![None; elf.sections.len()], data: vec![None; elf.sections.len()] };
    addresses.lay_out(&mut program);
    program.add_maps()?;
    for (section, code) in addresses.code.iter().enumerate() {
        if let Some(base) = *code {
            for relocation in &elf.relocations[section] {
                addresses.relocate(&mut program, section, base, relocation)?;
            }
        }
    }
    addresses.note_functions(&mut program);
    addresses.note_lines(&mut program, extension);
    addresses.note_accesses(&mut program, extension, socket);
    addresses.note_settings(&mut program);
    Ok(program)
}

pub(crate) fn fixed_regions() -> Vec<Region> {
    let part = |name: &str, size, is_writable| Region { name: name.to_string(), bytes: vec![0; size], is_writable };
    vec![
        part("the stack", STACK_BYTES, true),
        part("the arguments", 64, false),
        part("the socket", 0, true),
        part("the ACK's sample", 0, false),
        part("the rate sample", 0, false),
        part("the configuration", 8, false),
    ]
}

impl Addresses<'_, '_> {
    fn lay_out(&mut self, program: &mut Program) {
        for (index, section) in self.elf.sections.iter().enumerate() {
            let name = section.name.as_str();
            if section.is_executable && section.size > 0 {
                let base = program.instructions.len();
                self.code[index] = Some(base);
                let count = section.bytes.len() / STORED;
                program.instructions.extend((0..count).map(|at| decode(section.bytes, at, base)));
                hide_second_halves(&mut program.instructions[base..]);
            } else if [".data", ".rodata", ".bss"].iter().any(|kind| name.starts_with(kind))
                && !NOT_DATA.contains(&name)
            {
                let mut bytes = section.bytes.to_vec();
                bytes.resize(section.size, 0);
                self.data[index] = Some(program.regions.len());
                let is_writable = !name.starts_with(".rodata");
                program.regions.push(Region { name: name.to_string(), bytes, is_writable });
            }
        }
    }

    fn relocate(&self, program: &mut Program, section: usize, base: usize, relocation: &Relocation) -> Fallible<()> {
        let at = base + relocation.offset / STORED;
        let symbol = &self.elf.symbols[relocation.symbol];
        let opcode = self.elf.sections[section].bytes.get(relocation.offset).copied();
        if at >= program.instructions.len() || !relocation.offset.is_multiple_of(STORED) {
            return Err(format!("has a relocation at {}, where there is no instruction", relocation.offset));
        }
        match opcode {
            Some(CONST) => self.relocate_constant(program, at, symbol),
            Some(CALL) => self.relocate_call(program, at, symbol),
            _ => return Err(format!("has a relocation to {} in an instruction that takes none", symbol.name)),
        }
        Ok(())
    }

    fn relocate_constant(&self, program: &mut Program, at: usize, symbol: &Symbol) {
        let addend = program.instructions[at].imm as u32 as usize;
        let value = match symbol.section {
            None if symbol.name == CONFIG_HZ => Some(address(region::CONFIGURATION, 0)),
            None => None,
            Some(section) if self.elf.sections[section].name == ".maps" => {
                program.maps.iter().position(|map| map.name == symbol.name).map(map_handle)
            }
            Some(section) => self.data[section].map(|to| address(to, symbol.value.wrapping_add(addend) & 0xffff_ffff)),
        };
        match value {
            Some(value) => program.instructions[at].imm = value as i64,
            None => program.miss(at, &format!("variable {}", symbol.name)),
        }
    }

    fn relocate_call(&self, program: &mut Program, at: usize, symbol: &Symbol) {
        let Some(section) = symbol.section else {
            match Kfunc::named(&symbol.name) {
                Some(kfunc) => {
                    program.instructions[at].kind = Kind::CallKernel;
                    program.instructions[at].imm = program.kfuncs.len() as i64;
                    program.kfuncs.push(kfunc);
                }
                None => program.miss(at, &format!("kfunc {}", symbol.name)),
            }
            return;
        };
        let into = match symbol.kind {
            SymbolKind::Section => program.instructions[at].imm + 1,
            _ => (symbol.value / STORED) as i64,
        };
        let target = self.code[section].and_then(|base| u32::try_from(base as i64 + into).ok());
        let made = &mut program.instructions[at];
        (made.kind, made.target) = (Kind::CallLocal, target.unwrap_or(u32::MAX));
    }

    fn note_functions(&self, program: &mut Program) {
        for symbol in self.elf.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function) {
            let Some(base) = symbol.section.and_then(|section| self.code[section]) else { continue };
            let start = base.saturating_add(symbol.value / STORED);
            program.functions.push(Function { name: symbol.name.clone(), start, end: start });
        }
        program.functions.sort_by_key(|function| function.start);
        let mut end = program.instructions.len();
        for function in program.functions.iter_mut().rev() {
            (function.end, end) = (end, function.start);
        }
    }

    /// The index of the instruction at a byte of a section.
    fn instruction(&self, section: &str, byte: usize) -> Option<usize> {
        let (index, _) = self.elf.section(section)?;
        Some(self.code[index]?.saturating_add(byte / STORED))
    }

    fn note_lines(&self, program: &mut Program, extension: &Extension) {
        let lines = extension.lines.iter();
        program.lines =
            lines.filter_map(|note| Some((self.instruction(&note.section, note.byte)?, note.what.clone()))).collect();
        program.lines.sort_by_key(|(at, _)| *at);
    }

    fn note_accesses(&self, program: &mut Program, extension: &Extension, socket: &Socket) {
        for note in &extension.accesses {
            let found = self.instruction(&note.section, note.byte).zip(program.btf.accessed(
                note.what.root,
                &note.what.path,
                &CHAIN,
            ));
            let Some((at, (owner, path))) = found else { continue };
            program.settle(socket, at, &note.what, &owner, &path);
            if note.what.kind == 0 && !owner.contains("___") {
                program.named.push(Named { at, owner, path });
            }
        }
        program.named.sort_by_key(|named| named.at);
    }

    /// Notes the variables in `.rodata`: their places are in the symbols, since BTF leaves them
    /// to the linker.
    fn note_settings(&self, program: &mut Program) {
        for (index, section) in self.elf.sections.iter().enumerate() {
            let Some(region) = self.data[index].filter(|&region| !program.regions[region].is_writable) else {
                continue;
            };
            for (name, kind) in program.btf.variables(&section.name) {
                let (Type::Int { size, is_signed }, Some(symbol)) =
                    (program.btf.strip(kind).1.clone(), self.symbol_in(index, name))
                else {
                    continue;
                };
                if size == 0 {
                    continue;
                }
                let name = plain_name(name).to_string();
                program.settings.push(Setting { name, region, offset: symbol.value, size, is_signed });
            }
        }
    }

    fn symbol_in(&self, section: usize, name: &str) -> Option<&Symbol> {
        self.elf.symbols.iter().find(|symbol| symbol.section == Some(section) && symbol.name == name)
    }
}

/// A constant takes two places; nothing may jump to the second.
fn hide_second_halves(code: &mut [Instruction]) {
    let mut at = 0;
    while at < code.len() {
        let is_long = code[at].kind == Kind::Const;
        if is_long && at + 1 < code.len() {
            code[at + 1] = Instruction::INVALID;
        }
        at += if is_long { 2 } else { 1 };
    }
}

impl Program {
    fn miss(&mut self, at: usize, what: &str) {
        let known = self.missing.iter().position(|name| name == what);
        let index = known.unwrap_or_else(|| {
            self.missing.push(what.to_string());
            self.missing.len() - 1
        });
        self.instructions[at].kind = Kind::Missing;
        self.instructions[at].imm = index as i64;
    }

    fn add_maps(&mut self) -> Fallible<()> {
        let maps: Vec<Map> = self
            .btf
            .variables(".maps")
            .into_iter()
            .map(|(name, kind)| Map::read(&self.btf, name, kind))
            .collect::<Fallible<_>>()?;
        for map in maps {
            self.map_regions.push(self.regions.len());
            let name = format!("map {}", map.name);
            self.regions.push(Region { name, bytes: vec![0; map.bytes()], is_writable: true });
            self.maps.push(map);
        }
        let total: usize = self.regions.iter().map(|region| region.bytes.len()).sum();
        if total > 4 << 20 {
            return Err(format!("has {total} B of data and maps; 4 MiB are the most, as each connection has its own"));
        }
        Ok(())
    }
}
