//! The places of the fields of a struct, by name and by offset.

use super::{Btf, DEEPEST, Member, Type};

/// A field of a struct, counted from the beginning of the struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub bit_offset: usize,
    /// 1 to 64, or more for a field that is not a number
    pub bits: usize,
    pub kind: u32,
}

/// A type's name without the flavour that CO-RE appends after three underscores.
pub(crate) fn plain_name(name: &str) -> &str {
    name.split("___").next().unwrap_or(name)
}

impl Btf {
    /// A field by its path: `icsk_ack.pending`. Members without a name are searched too.
    pub fn field(&self, of: u32, path: &str) -> Option<Field> {
        let mut found = Field { bit_offset: 0, bits: 0, kind: of };
        for part in path.split('.') {
            let (name, index) = match part.split_once('[') {
                Some((name, rest)) => (name, rest.trim_end_matches(']').parse::<usize>().ok()?),
                None => (part, usize::MAX),
            };
            let inner = self.member_named(found.kind, name, DEEPEST)?;
            found = Field { bit_offset: found.bit_offset.checked_add(inner.bit_offset)?, ..inner };
            if index != usize::MAX {
                let Type::Array { element, count } = *self.strip(found.kind).1 else { return None };
                let size = self.size(element);
                let bit_offset = found.bit_offset.checked_add(size.checked_mul(8)?.checked_mul(index)?)?;
                found = (index < count).then_some(Field { bit_offset, bits: size.checked_mul(8)?, kind: element })?;
            }
        }
        Some(found)
    }

    fn member_named(&self, of: u32, name: &str, depth: usize) -> Option<Field> {
        let Type::Struct { members, .. } = self.strip(of).1 else { return None };
        members.iter().find_map(|member| {
            if member.name == name {
                return Some(self.field_of(member));
            }
            if !member.name.is_empty() || depth == 0 {
                return None;
            }
            let inner = self.member_named(member.kind, name, depth - 1)?;
            Some(Field { bit_offset: member.bit_offset.checked_add(inner.bit_offset)?, ..inner })
        })
    }

    fn field_of(&self, member: &Member) -> Field {
        let bits = if member.bits > 0 { member.bits } else { self.size(member.kind).saturating_mul(8) };
        Field { bit_offset: member.bit_offset, bits, kind: member.kind }
    }

    /// The struct and the path of the field at a byte: `tcp_sock.snd_cwnd`. A struct at the beginning of a larger one
    /// gives its own name: `sock.sk_pacing_rate`.
    pub fn name_at(&self, of: u32, byte: usize) -> Option<String> {
        let (mut at, mut bit, mut name) = (of, byte.checked_mul(8)?, String::new());
        for _ in 0..DEEPEST {
            match self.strip(at).1 {
                Type::Struct { name: own, members, .. } => {
                    if name.is_empty() || (bit == byte * 8 && !own.is_empty()) {
                        name = plain_name(own).to_string();
                    }
                    let holds = |member: &&Member| {
                        let field = self.field_of(member);
                        (field.bit_offset..field.bit_offset.saturating_add(field.bits)).contains(&bit)
                    };
                    let Some(member) = members.iter().find(holds) else { break };
                    if !member.name.is_empty() {
                        name = format!("{name}.{}", member.name);
                    }
                    (at, bit) = (member.kind, bit - member.bit_offset);
                }
                Type::Array { element, .. } => {
                    let size = self.size(*element).checked_mul(8)?;
                    bit = bit.checked_rem(size)?;
                    at = *element;
                }
                _ => break,
            }
        }
        name.contains('.').then_some(name)
    }

    /// The struct, and the name of the field in it, that a CO-RE access string leads to: `0:23` of `tcp_sock`. A struct
    /// of these names at the beginning of a larger one counts for itself.
    pub fn accessed(&self, root: u32, access: &str, embedded: &[&str]) -> Option<(String, String)> {
        let (mut at, root) = self.strip(root);
        let Type::Struct { name, .. } = root else { return None };
        let (mut owner, mut path) = (name.clone(), String::new());
        let mut begins = true;
        for step in access.split(':').skip(1) {
            let index: usize = step.parse().ok()?;
            match self.strip(at).1 {
                Type::Struct { members, .. } => {
                    let member = members.get(index)?;
                    begins &= member.bit_offset == 0;
                    if !member.name.is_empty() {
                        path = if path.is_empty() { member.name.clone() } else { format!("{path}.{}", member.name) };
                    }
                    at = member.kind;
                    if let Type::Struct { name, .. } = self.strip(at).1
                        && begins
                        && embedded.contains(&name.as_str())
                    {
                        (owner, path) = (name.clone(), String::new());
                    }
                }
                Type::Array { element, .. } => {
                    at = *element;
                    begins &= index == 0;
                }
                _ => return None,
            }
        }
        Some((owner, path))
    }

    /// The place, in the root struct, of the field that an access string leads to, and whether that is a bit field.
    pub fn reached(&self, root: u32, access: &str) -> Option<(Field, bool)> {
        let mut found = Field { bit_offset: 0, bits: 0, kind: root };
        let mut has_bits = false;
        for step in access.split(':').skip(1) {
            let index: usize = step.parse().ok()?;
            let inner = match self.strip(found.kind).1 {
                Type::Struct { members, .. } => {
                    let member = members.get(index)?;
                    has_bits = member.bits > 0;
                    self.field_of(member)
                }
                Type::Array { element, .. } => {
                    let bits = self.size(*element).checked_mul(8)?;
                    Field { bit_offset: bits.checked_mul(index)?, bits, kind: *element }
                }
                _ => return None,
            };
            found = Field { bit_offset: found.bit_offset.checked_add(inner.bit_offset)?, ..inner };
        }
        Some((found, has_bits))
    }
}
