//! The contents of the maps of one connection.

use std::collections::BTreeMap;

use crate::program::{Map, MapKind, Program, address};

/// Flags of an update: only if the key is absent, only if it is present. [enum in
/// uapi/linux/bpf.h]
const ONLY_NEW: u64 = 1;
const ONLY_OLD: u64 = 2;

/// Error codes of the kernel: -ENOENT, -EEXIST, -E2BIG, -EINVAL.
const NO_ENTRY: u64 = -2i64 as u64;
const EXISTS: u64 = -17i64 as u64;
const TOO_MANY: u64 = -7i64 as u64;
const INVALID: u64 = -22i64 as u64;

#[derive(Clone, Debug)]
enum Content {
    /// All values, by index.
    Array,
    /// Slots by key, and free slots.
    Hash {
        slots: BTreeMap<Vec<u8>, usize>,
        free: Vec<usize>,
    },
    /// The one value of this socket, once it is there.
    Storage {
        is_there: bool,
    },
    /// Bytes in use, and records not yet submitted. Once none is open, all are taken as read.
    Ring {
        used: usize,
        open: usize,
    },
    None,
}

/// The maps of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps {
    contents: Vec<Content>,
}

impl Maps {
    pub fn new(program: &Program) -> Maps {
        let content = |map: &Map| match map.kind {
            MapKind::Array => Content::Array,
            MapKind::Hash => Content::Hash { slots: BTreeMap::new(), free: (0..map.entries).rev().collect() },
            MapKind::SocketStorage => Content::Storage { is_there: false },
            MapKind::RingBuffer => Content::Ring { used: 0, open: 0 },
            MapKind::Other(_) => Content::None,
        };
        Maps { contents: program.maps.iter().map(content).collect() }
    }

    /// The address of the value under a key.
    pub fn find(&self, program: &Program, map: usize, key: &[u8]) -> Option<u64> {
        let declared = &program.maps[map];
        let slot = match &self.contents[map] {
            Content::Array => {
                let index = u32::from_le_bytes(key.get(..4)?.try_into().ok()?) as usize;
                (index < declared.entries).then_some(index)?
            }
            Content::Hash { slots, .. } => *slots.get(key)?,
            _ => return None,
        };
        Some(address(program.map_regions[map], slot * declared.stride()))
    }

    /// A place for the value under a key, new or present; otherwise the reason why there is none.
    pub fn place(&mut self, program: &Program, map: usize, key: &[u8], flags: u64) -> Result<u64, u64> {
        match (self.find(program, map, key), flags) {
            (Some(_), ONLY_NEW) => return Err(EXISTS),
            (Some(found), _) => return Ok(found),
            (None, ONLY_OLD) => return Err(NO_ENTRY),
            (None, _) => {}
        }
        let Content::Hash { slots, free } = &mut self.contents[map] else { return Err(TOO_MANY) };
        let slot = free.pop().ok_or(TOO_MANY)?;
        slots.insert(key.to_vec(), slot);
        Ok(address(program.map_regions[map], slot * program.maps[map].stride()))
    }

    pub fn remove(&mut self, map: usize, key: &[u8]) -> u64 {
        let Content::Hash { slots, free } = &mut self.contents[map] else { return INVALID };
        match slots.remove(key) {
            Some(slot) => {
                free.push(slot);
                0
            }
            None => NO_ENTRY,
        }
    }

    /// The socket's own value, and whether it is new; `creates` makes it if it is absent.
    pub fn storage(&mut self, program: &Program, map: usize, creates: bool) -> Option<(u64, bool)> {
        let Content::Storage { is_there } = &mut self.contents[map] else { return None };
        let was_there = core::mem::replace(is_there, *is_there || creates);
        (was_there || creates).then(|| (address(program.map_regions[map], 0), !was_there))
    }

    /// Forgets the socket's own value.
    pub fn forget(&mut self, map: usize) -> u64 {
        match &mut self.contents[map] {
            Content::Storage { is_there } if *is_there => {
                *is_there = false;
                0
            }
            _ => NO_ENTRY,
        }
    }

    /// A place for a record.
    pub fn reserve(&mut self, program: &Program, map: usize, size: u64) -> Option<u64> {
        let Content::Ring { used, open } = &mut self.contents[map] else { return None };
        let size = usize::try_from(size).ok()?.checked_add(7)? & !7;
        let at = *used;
        let end = at.checked_add(size).filter(|&end| end <= program.maps[map].entries)?;
        (*used, *open) = (end, *open + 1);
        Some(address(program.map_regions[map], at))
    }

    /// A record is submitted or given up; once none is open, all are taken as read.
    pub fn submit(&mut self, map: usize) {
        if let Content::Ring { used, open } = &mut self.contents[map] {
            *open = open.saturating_sub(1);
            if *open == 0 {
                *used = 0;
            }
        }
    }
}
