//! The ELF file of an object: sections, symbols, relocations.
//!
//! Source: the System V ABI, and the relocations of BPF [LLVM BPF ABI]. Accepts 64 bits, little-endian, machine BPF,
//! and nothing else.

use crate::bytes::Bytes;
use crate::error::Fallible;

/// Machine of an ELF file: BPF.
const EM_BPF: u16 = 247;
const SYMBOL_TABLE: u32 = 2;
const RELOCATIONS: u32 = 9;
const NO_BITS: u32 = 8;
const EXECUTABLE: u64 = 4;
/// Largest section without bits in the file, and largest object: 16 MiB.
const LARGEST: usize = 16 << 20;
/// Bytes of the header of a section.
const HEADER: usize = 64;
/// Sections of one object.
const MOST_SECTIONS: usize = 4096;

/// A section.
#[derive(Clone, Debug)]
pub(crate) struct Section<'a> {
    pub name: String,
    pub bytes: &'a [u8],
    /// final size; more than its bytes where it has none in the file
    pub size: usize,
    pub is_executable: bool,
    kind: u32,
    link: usize,
    info: usize,
}

/// The meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    Function,
    Section,
    Other,
}

/// A symbol; `section` is `None` if it is defined elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    pub section: Option<usize>,
    pub value: usize,
}

/// A relocation: its place in its section, and its symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    pub offset: usize,
    pub symbol: usize,
}

/// A file, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Elf<'a> {
    pub sections: Vec<Section<'a>>,
    pub symbols: Vec<Symbol>,
    /// by section
    pub relocations: Vec<Vec<Relocation>>,
}

impl<'a> Elf<'a> {
    pub fn read(bytes: &'a [u8]) -> Fallible<Elf<'a>> {
        let file = Bytes::new(bytes, "the ELF file");
        check_head(&file)?;
        let sections = read_sections(&file)?;
        let symbols = match sections.iter().position(|section| section.kind == SYMBOL_TABLE) {
            Some(table) => read_symbols(&sections, table)?,
            None => {
                return Err("has no symbols; compile with clang -O2 -g -target bpf, and do not strip it".to_string());
            }
        };
        let mut relocations = vec![Vec::new(); sections.len()];
        for section in sections.iter().filter(|section| section.kind == RELOCATIONS) {
            let to = relocations.get_mut(section.info).ok_or("has relocations of a section that is not there")?;
            read_relocations(section, symbols.len(), to)?;
        }
        Ok(Elf { sections, symbols, relocations })
    }

    /// A section by name, with its index.
    pub fn section(&self, name: &str) -> Option<(usize, &Section<'a>)> {
        self.sections.iter().enumerate().find(|(_, section)| section.name == name)
    }
}

fn check_head(file: &Bytes) -> Fallible<()> {
    if file.part(0, 4).ok() != Some(b"\x7fELF") {
        return Err("is not an ELF file; a .bpf.o comes from clang -O2 -g -target bpf".to_string());
    }
    if (file.u8(4)?, file.u8(5)?) != (2, 1) {
        return Err("is not a 64-bit little-endian ELF file; compile with -target bpfel".to_string());
    }
    let machine = file.u16(18)?;
    if machine != EM_BPF {
        return Err(format!("is compiled for machine {machine}, not for BPF ({EM_BPF})"));
    }
    Ok(())
}

fn read_sections<'a>(file: &Bytes<'a>) -> Fallible<Vec<Section<'a>>> {
    let (table, count, names) = (file.index(40)?, usize::from(file.u16(60)?), usize::from(file.u16(62)?));
    if usize::from(file.u16(58)?) != HEADER || count > MOST_SECTIONS {
        return Err("has a section table of another form".to_string());
    }
    let mut sections = Vec::with_capacity(count);
    let mut name_offsets = Vec::with_capacity(count);
    let mut total = 0usize;
    for index in 0..count {
        let at = table.checked_add(HEADER * index).ok_or("has a section table beyond its end")?;
        let header = Bytes::new(file.part(at, HEADER)?, "the section table");
        let (kind, size) = (header.u32(4)?, header.index(32)?);
        let has_bytes = kind != NO_BITS && kind != 0;
        total = total.saturating_add(if has_bytes { 0 } else { size });
        if total > LARGEST {
            return Err(format!("has more than {LARGEST} B of data without bits"));
        }
        name_offsets.push(header.u32(0)? as usize);
        sections.push(Section {
            name: String::new(),
            bytes: if has_bytes { file.part(header.index(24)?, size)? } else { &[] },
            size,
            is_executable: header.u64(8)? & EXECUTABLE != 0,
            kind,
            link: header.u32(40)? as usize,
            info: header.u32(44)? as usize,
        });
    }
    let names = Bytes::new(sections.get(names).ok_or("has no names of sections")?.bytes, "the table of section names");
    for (section, at) in sections.iter_mut().zip(name_offsets) {
        section.name = names.text(at)?;
    }
    Ok(sections)
}

fn read_symbols(sections: &[Section], table: usize) -> Fallible<Vec<Symbol>> {
    let names = sections.get(sections[table].link).ok_or("has symbols without names")?;
    let (names, table) =
        (Bytes::new(names.bytes, "the table of symbol names"), Bytes::new(sections[table].bytes, "the symbol table"));
    let read = |at: usize| {
        let (info, section) = (table.u8(at + 4)?, usize::from(table.u16(at + 6)?));
        let kind = match info & 15 {
            2 => SymbolKind::Function,
            3 => SymbolKind::Section,
            _ => SymbolKind::Other,
        };
        let section = (1..sections.len()).contains(&section).then_some(section);
        let own = names.text(table.u32(at)? as usize)?;
        let name = match section {
            Some(section) if kind == SymbolKind::Section => sections[section].name.clone(),
            _ => own,
        };
        Ok(Symbol { name, kind, section, value: table.index(at + 8)? })
    };
    (0..table.len() / 24).map(|index| read(24 * index)).collect()
}

fn read_relocations(section: &Section, symbols: usize, to: &mut Vec<Relocation>) -> Fallible<()> {
    let table = Bytes::new(section.bytes, "a relocation table");
    for index in 0..table.len() / 16 {
        let symbol = (table.u64(16 * index + 8)? >> 32) as usize;
        if symbol >= symbols {
            return Err(format!("{} names symbol {symbol}, which is not there", section.name));
        }
        to.push(Relocation { offset: table.index(16 * index)?, symbol });
    }
    Ok(())
}
