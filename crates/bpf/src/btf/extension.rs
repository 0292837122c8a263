//! `.BTF.ext`: the source line of each instruction, and the field that it accesses.

use super::Btf;
use crate::bytes::Bytes;
use crate::error::Fallible;

const MAGIC: u16 = 0xeb9f;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub file: String,
    pub line: u32,
}

/// A record of a section: the byte of its instruction, and its content.
#[derive(Clone, Debug)]
pub(crate) struct Note<T> {
    pub section: String,
    pub byte: usize,
    pub what: T,
}

/// A field that an instruction accesses. [Linux BTF, struct bpf_core_relo]
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub root: u32,
    pub path: String,
    /// the fact about the field that goes into the instruction; 0: its offset in bytes
    pub kind: u32,
}

/// The content of `.BTF.ext`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extension {
    pub lines: Vec<Note<Line>>,
    pub accesses: Vec<Note<Access>>,
}

impl Extension {
    pub fn read(bytes: &[u8], btf: &Btf) -> Fallible<Extension> {
        let file = Bytes::new(bytes, "its .BTF.ext");
        if file.u16(0)? != MAGIC {
            return Err("has a .BTF.ext that does not begin as one does".to_string());
        }
        let head = file.u32(4)? as usize;
        let part = |at: usize| {
            let (offset, len) = (file.u32(at)? as usize, file.u32(at + 4)? as usize);
            Ok::<_, String>(Bytes::new(file.part(head.saturating_add(offset), len)?, "its .BTF.ext"))
        };
        let lines = notes(&part(16)?, btf, 16, |record| {
            let (file, line) = (record.u32(4)?, record.u32(12)? >> 10);
            let file = btf.text(file)?;
            let file = file.rsplit('/').next().unwrap_or_default().to_string();
            Ok(Line { file, line })
        })?;
        let accesses = if head < 32 {
            Vec::new()
        } else {
            notes(&part(24)?, btf, 16, |record| {
                Ok(Access { root: record.u32(4)?, path: btf.text(record.u32(8)?)?, kind: record.u32(12)? })
            })?
        };
        Ok(Extension { lines, accesses })
    }
}

/// The records of one part: their size, then for each section its name, their number, and the records.
fn notes<T>(part: &Bytes, btf: &Btf, least: usize, read: impl Fn(&Bytes) -> Fallible<T>) -> Fallible<Vec<Note<T>>> {
    let mut all = Vec::new();
    if part.len() == 0 {
        return Ok(all);
    }
    let size = part.u32(0)? as usize;
    if size < least {
        return Err(format!("has records of {size} B in its .BTF.ext, which have {least} at least"));
    }
    let mut at = 4;
    while at < part.len() {
        let (section, count) = (btf.text(part.u32(at)?)?, part.u32(at + 4)?);
        at += 8;
        for _ in 0..count {
            let record = Bytes::new(part.part(at, size)?, "its .BTF.ext");
            all.push(Note { section: section.clone(), byte: record.u32(0)? as usize, what: read(&record)? });
            at += size;
        }
    }
    Ok(all)
}
