//! BTF: the types that an object carries.
//!
//! Source: the BTF format [Linux BTF]. Every offset is checked; a reference to a missing type, or an endless chain of
//! references, ends in an error or in `None`.

mod extension;
mod layout;

use crate::bytes::Bytes;
use crate::error::Fallible;
pub(crate) use extension::{Access, Extension, Line};
pub(crate) use layout::{Field, plain_name};

const MAGIC: u16 = 0xeb9f;
/// Types of one object.
const MOST_TYPES: usize = 1 << 20;
/// Names for a type that lead to it: typedefs, qualifiers.
const DEEPEST: usize = 32;

/// A member of a struct or union.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub name: String,
    pub kind: u32,
    pub bit_offset: usize,
    /// width of a bit field; 0 of all others
    pub bits: usize,
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    Int {
        size: usize,
        is_signed: bool,
    },
    Pointer(u32),
    Array {
        element: u32,
        count: usize,
    },
    /// A struct or a union.
    Struct {
        name: String,
        size: usize,
        members: Vec<Member>,
    },
    Enum {
        size: usize,
    },
    /// Another name, or a qualifier.
    Alias(u32),
    Function,
    Prototype {
        parameters: usize,
    },
    Variable {
        name: String,
        kind: u32,
    },
    Section {
        name: String,
        variables: Vec<u32>,
    },
    Other,
}

/// All types of an object; number 0 is void.
#[derive(Clone, Debug)]
pub(crate) struct Btf {
    types: Vec<Type>,
    strings: Vec<u8>,
}

impl Btf {
    pub fn read(bytes: &[u8]) -> Fallible<Btf> {
        let file = Bytes::new(bytes, "its BTF");
        if file.u16(0)? != MAGIC {
            return Err("has BTF that does not begin as BTF does".to_string());
        }
        let head = file.u32(4)? as usize;
        let part = |at: usize| {
            let (offset, len) = (file.u32(at)? as usize, file.u32(at + 4)? as usize);
            file.part(head.saturating_add(offset), len)
        };
        let strings = part(16)?.to_vec();
        let types =
            Reader { types: Bytes::new(part(8)?, "its BTF"), names: Bytes::new(&strings, "its BTF"), at: 0 }.all()?;
        Ok(Btf { types, strings })
    }

    /// A name by its place in the strings.
    pub fn text(&self, at: u32) -> Fallible<String> {
        Bytes::new(&self.strings, "its BTF").text(at as usize)
    }

    pub fn get(&self, id: u32) -> &Type {
        self.types.get(id as usize).unwrap_or(&Type::Other)
    }

    /// The type behind other names and qualifiers.
    pub fn strip(&self, mut id: u32) -> (u32, &Type) {
        for _ in 0..DEEPEST {
            match self.get(id) {
                Type::Alias(of) => id = *of,
                found => return (id, found),
            }
        }
        (id, &Type::Other)
    }

    pub fn all(&self) -> impl Iterator<Item = (u32, &Type)> {
        self.types.iter().enumerate().map(|(id, kind)| (id as u32, kind))
    }

    /// A struct by its name.
    pub fn struct_named(&self, wanted: &str) -> Option<u32> {
        self.all().find_map(|(id, kind)| matches!(kind, Type::Struct { name, .. } if name == wanted).then_some(id))
    }

    /// The variables of a section.
    pub fn variables(&self, section: &str) -> Vec<(&str, u32)> {
        let found = self.all().find_map(|(_, kind)| match kind {
            Type::Section { name, variables } if name == section => Some(variables),
            _ => None,
        });
        let variable = |id: &u32| match self.get(*id) {
            Type::Variable { name, kind } => Some((name.as_str(), *kind)),
            _ => None,
        };
        found.map(|ids| ids.iter().filter_map(variable).collect()).unwrap_or_default()
    }

    /// Bytes that a value of a type takes; 0 where it has no size.
    pub fn size(&self, id: u32) -> usize {
        self.size_within(id, DEEPEST)
    }

    fn size_within(&self, id: u32, depth: usize) -> usize {
        match self.strip(id).1 {
            Type::Int { size, .. } | Type::Enum { size } | Type::Struct { size, .. } => *size,
            Type::Pointer(_) => 8,
            Type::Array { element, count } if depth > 0 => self.size_within(*element, depth - 1).saturating_mul(*count),
            _ => 0,
        }
    }
}

struct Reader<'a> {
    types: Bytes<'a>,
    names: Bytes<'a>,
    at: usize,
}

impl Reader<'_> {
    fn all(mut self) -> Fallible<Vec<Type>> {
        let mut all = vec![Type::Other];
        while self.at < self.types.len() {
            if all.len() > MOST_TYPES {
                return Err(format!("has more than {MOST_TYPES} types"));
            }
            all.push(self.next()?);
        }
        Ok(all)
    }

    fn word(&mut self) -> Fallible<u32> {
        let word = self.types.u32(self.at)?;
        self.at += 4;
        Ok(word)
    }

    fn name(&mut self) -> Fallible<String> {
        let at = self.word()?;
        self.names.text(at as usize)
    }

    fn next(&mut self) -> Fallible<Type> {
        let (name, info, size) = (self.name()?, self.word()?, self.word()?);
        let (kind, count, has_bits) = ((info >> 24) & 31, (info & 0xffff) as usize, info >> 31 == 1);
        Ok(match kind {
            1 => Type::Int { size: size as usize, is_signed: self.word()? >> 24 & 1 == 1 },
            2 => Type::Pointer(size),
            3 => {
                let (element, _index, count) = (self.word()?, self.word()?, self.word()?);
                Type::Array { element, count: count as usize }
            }
            4 | 5 => {
                let members = (0..count).map(|_| self.member(has_bits)).collect::<Fallible<_>>()?;
                Type::Struct { name, size: size as usize, members }
            }
            6 => self.skip(8 * count, Type::Enum { size: size as usize })?,
            8..=11 | 18 => Type::Alias(size),
            12 => Type::Function,
            13 => self.skip(8 * count, Type::Prototype { parameters: count })?,
            14 => self.skip(4, Type::Variable { name, kind: size })?,
            15 => {
                let mut variables = Vec::new();
                for _ in 0..count {
                    variables.push(self.word()?);
                    self.at += 8;
                }
                Type::Section { name, variables }
            }
            7 | 16 => Type::Other,
            17 => self.skip(4, Type::Other)?,
            19 => self.skip(12 * count, Type::Enum { size: size as usize })?,
            _ => return Err(format!("has BTF of a kind ({kind}) that is not known")),
        })
    }

    fn skip(&mut self, bytes: usize, then: Type) -> Fallible<Type> {
        self.types.part(self.at, bytes)?;
        self.at += bytes;
        Ok(then)
    }

    fn member(&mut self, has_bits: bool) -> Fallible<Member> {
        let (name, kind, offset) = (self.name()?, self.word()?, self.word()?);
        let (bits, bit_offset) = if has_bits { (offset >> 24, offset & 0xff_ffff) } else { (0, offset) };
        Ok(Member { name, kind, bit_offset: bit_offset as usize, bits: bits as usize })
    }
}
