//! Maps, as an object declares them.

use crate::btf::{Btf, Type};
use crate::error::Fallible;

/// The kind of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapKind {
    Array,
    Hash,
    SocketStorage,
    RingBuffer,
    /// A kind that does not exist here, by its number.
    Other(usize),
}

/// A map.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub name: String,
    pub kind: MapKind,
    pub key_size: usize,
    pub value_size: usize,
    pub entries: usize,
}

/// Largest map, in bytes of keys and values.
const LARGEST: usize = 1 << 20;

impl MapKind {
    fn of(number: usize) -> MapKind {
        match number {
            1 | 5 | 9 | 10 => MapKind::Hash,
            2 | 6 => MapKind::Array,
            24 => MapKind::SocketStorage,
            27 => MapKind::RingBuffer,
            other => MapKind::Other(other),
        }
    }

    pub fn name(self) -> String {
        match self {
            MapKind::Array => "array".to_string(),
            MapKind::Hash => "hash".to_string(),
            MapKind::SocketStorage => "socket storage".to_string(),
            MapKind::RingBuffer => "ring buffer".to_string(),
            MapKind::Other(number) => format!("type {number}"),
        }
    }
}

impl Map {
    /// Reads the type of its variable: a struct whose members are pointers that carry the
    /// values in their types.
    pub fn read(btf: &Btf, name: &str, kind: u32) -> Fallible<Map> {
        let Type::Struct { members, .. } = btf.strip(kind).1 else {
            return Err(format!("map {name}: its definition is not a struct"));
        };
        let pointed = |wanted: &str| {
            let member = members.iter().find(|member| member.name == wanted)?;
            match *btf.strip(member.kind).1 {
                Type::Pointer(to) => Some(to),
                _ => None,
            }
        };
        let number = |wanted: &str| match *btf.strip(pointed(wanted)?).1 {
            Type::Array { count, .. } => Some(count),
            _ => None,
        };
        let size = |kind: &str, size: &str| pointed(kind).map(|id| btf.size(id)).or_else(|| number(size)).unwrap_or(0);
        let kind = MapKind::of(number("type").ok_or_else(|| format!("map {name}: its definition has no type"))?);
        let entries = if kind == MapKind::SocketStorage { 1 } else { number("max_entries").unwrap_or(0) };
        let (key_size, value_size) = (size("key", "key_size"), size("value", "value_size"));
        Map { name: name.to_string(), kind, key_size, value_size, entries }.checked()
    }

    /// The map, if a connection can have its own.
    fn checked(self) -> Fallible<Map> {
        let Map { name, kind, key_size, value_size, .. } = &self;
        if *kind == MapKind::Hash && (*key_size == 0 || *value_size == 0) {
            return Err(format!(
                "map {name} is a hash of keys of {key_size} B with values of {value_size} B; declare both"
            ));
        }
        let held = self.bytes().saturating_add(self.key_bytes());
        if held > LARGEST {
            return Err(format!("map {name} holds {held} B; {LARGEST} B are the most, as each connection has its own"));
        }
        Ok(self)
    }

    /// Distance in bytes from one value to the next.
    pub fn stride(&self) -> usize {
        self.value_size.saturating_add(7) & !7
    }

    /// Bytes of all keys that are kept.
    fn key_bytes(&self) -> usize {
        if self.kind == MapKind::Hash { self.key_size.saturating_mul(self.entries) } else { 0 }
    }

    /// Bytes of all values; those of a ring buffer are its entries.
    pub fn bytes(&self) -> usize {
        match self.kind {
            MapKind::RingBuffer => self.entries,
            MapKind::Other(_) => 0,
            _ => self.stride().saturating_mul(self.entries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(key_size: usize, value_size: usize, entries: usize) -> Fallible<Map> {
        Map { name: "table".to_string(), kind: MapKind::Hash, key_size, value_size, entries }.checked()
    }

    #[test]
    fn a_hash_has_keys_and_values() {
        let said = |key_size, value_size| hash(key_size, value_size, u32::MAX as usize).unwrap_err();
        assert_eq!(said(4, 0), "map table is a hash of keys of 4 B with values of 0 B; declare both");
        assert_eq!(said(0, 8), "map table is a hash of keys of 0 B with values of 8 B; declare both");
    }

    #[test]
    fn size_limit_of_a_map_counts_keys() {
        assert!(hash(24, 8, LARGEST / 32).is_ok());
        let error = hash(24, 8, LARGEST / 32 + 1).unwrap_err();
        assert_eq!(error, "map table holds 1048608 B; 1048576 B are the most, as each connection has its own");
    }
}
