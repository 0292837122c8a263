//! A socket, laid out as in the object's own BTF.
//!
//! The instructions of an object have the offsets of its own types. These offsets are used here, and nothing is
//! relocated; a field that the object does not declare lies beyond its reach.

mod fields;

pub(crate) use fields::{Access, FIELDS, Field, Owner};

use crate::btf::Btf;
use crate::error::Fallible;
use crate::memory::{Memory, READABLE, WRITABLE};
use crate::program::region;

/// The structs of a socket, each beginning with the next.
pub(crate) const CHAIN: [&str; 5] = ["tcp_sock", "inet_connection_sock", "inet_sock", "sock", "sock_common"];
/// The largest struct that is accepted.
const LARGEST: usize = 1 << 16;

/// The place of a field.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    region: usize,
    byte: usize,
    /// place of that byte among all bytes of a memory
    start: usize,
    shift: u32,
    /// its bits in the word that begins there
    mask: u64,
    /// bits of the whole field, counted from the first bit of the struct, however long
    first: usize,
    end: usize,
}

/// The places of all fields.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    slots: [Slot; fields::COUNT],
    /// the struct that stands for the socket, for a sample of an ACK, and for one of a rate
    structs: [Option<u32>; 3],
    /// permissions for the bytes of each of the three; none behind the struct
    pub permits: [Vec<u8>; 3],
}

impl Owner {
    pub fn region(self) -> usize {
        match self {
            Owner::Socket => region::SOCKET,
            Owner::AckSample => region::ACK_SAMPLE,
            Owner::RateSample => region::RATE_SAMPLE,
        }
    }

    pub fn of_region(region: usize) -> Option<Owner> {
        [Owner::Socket, Owner::AckSample, Owner::RateSample].into_iter().find(|owner| owner.region() == region)
    }
}

impl Socket {
    /// The layout of an object.
    pub fn new(btf: &Btf) -> Fallible<Socket> {
        let chain = chain(btf)?;
        let outer = chain.iter().flatten().next().copied();
        let structs = [outer, btf.struct_named("ack_sample"), btf.struct_named("rate_sample")];
        let size = |id: Option<u32>| id.map_or(0, |id| btf.size(id));
        let mut permits = structs.map(|id| vec![0; size(id).min(LARGEST)]);
        let mut slots = [Slot::default(); fields::COUNT];
        for (slot, &(_, owner, structure, path, access)) in slots.iter_mut().zip(FIELDS) {
            let declared = match CHAIN.iter().position(|&name| name == structure) {
                Some(link) => chain[link],
                None => structs[owner as usize],
            };
            let permit = &mut permits[owner as usize];
            *slot = declared
                .and_then(|id| slot_of(btf, id, path, owner, permit, access))
                .unwrap_or_else(|| behind(permit, owner));
        }
        Ok(Socket { slots, structs, permits })
    }

    /// The field that lasthop fills among so many bytes.
    pub fn filled_at(&self, owner: Owner, byte: usize, size: usize) -> Option<String> {
        let bits = byte.checked_mul(8)?..byte.checked_add(size)?.checked_mul(8)?;
        let overlaps = |slot: &Slot| slot.first < bits.end && bits.start < slot.end;
        let found = self.slots.iter().zip(FIELDS).find(|(slot, known)| known.1 == owner && overlaps(slot));
        found.map(|(_, (_, _, structure, path, _))| format!("{structure}.{path}"))
    }

    /// `tcp_sock.snd_cwnd` for a byte of one of the three.
    pub fn name_at(&self, btf: &Btf, owner: Owner, byte: usize) -> Option<String> {
        btf.name_at(self.structs[owner as usize]?, byte)
    }

    /// The permission for a field that an instruction names; `None` if it is in none of the three structs. Unlike the
    /// permits of bytes this distinguishes bit fields of one byte.
    pub fn named(&self, btf: &Btf, structure: &str, path: &str) -> Option<(Owner, Option<Access>)> {
        let owner = match structure {
            "ack_sample" => Owner::AckSample,
            "rate_sample" => Owner::RateSample,
            name if CHAIN.contains(&name) => Owner::Socket,
            _ => return None,
        };
        let field = btf.field(btf.struct_named(structure)?, path)?;
        let (first, end) = (field.bit_offset, field.bit_offset.checked_add(field.bits)?);
        let overlaps = |slot: &Slot| slot.end > 0 && slot.first < end && first < slot.end;
        let known = self.slots.iter().zip(FIELDS).find(|(slot, known)| known.1 == owner && overlaps(slot));
        Some((owner, known.map(|(_, known)| known.4)))
    }

    /// Finds the fields in a memory; all memories have the same layout.
    pub fn anchor(&mut self, memory: &Memory) {
        for slot in &mut self.slots {
            slot.start = memory.start(slot.region) + slot.byte;
        }
    }

    #[inline]
    pub fn get(&self, memory: &Memory, field: Field) -> u64 {
        let slot = &self.slots[field as usize];
        (memory.word(slot.start) & slot.mask) >> slot.shift
    }

    #[inline]
    pub fn set(&self, memory: &mut Memory, field: Field, value: u64) {
        let slot = &self.slots[field as usize];
        let word = memory.word(slot.start);
        memory.set_word(slot.start, (word & !slot.mask) | ((value << slot.shift) & slot.mask));
    }

    pub fn get32(&self, memory: &Memory, field: Field) -> u32 {
        self.get(memory, field) as u32
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The structs of the chain that the object has, all of which begin at the same byte.
fn chain(btf: &Btf) -> Fallible<[Option<u32>; 5]> {
    let declared = CHAIN.map(|name| btf.struct_named(name));
    let mut within = Vec::new();
    let mut at = declared.iter().flatten().next().copied();
    while let Some(id) = at.filter(|_| within.len() < 2 * CHAIN.len()) {
        within.push(id);
        at = match btf.get(id) {
            crate::btf::Type::Struct { members, .. } => {
                members.first().map(|first| btf.strip(first.kind).0).filter(|&id| btf.size(id) > 0)
            }
            _ => None,
        };
    }
    for (name, id) in CHAIN.iter().zip(declared) {
        if id.is_some_and(|id| !within.contains(&id)) {
            return Err(format!(
                "declares struct {name} beside the larger socket that begins with it; declare them as the kernel does: tcp_sock \
                 begins with inet_connection_sock, that with inet_sock, that with sock, that with sock_common"
            ));
        }
    }
    Ok(declared)
}

fn slot_of(btf: &Btf, id: u32, path: &str, owner: Owner, permits: &mut [u8], access: Access) -> Option<Slot> {
    let field = btf.field(id, path)?;
    let (byte, shift) = (field.bit_offset / 8, field.bit_offset % 8);
    let end = byte.checked_add(shift.checked_add(field.bits)?.div_ceil(8))?;
    let allowed = if access == Access::Write { READABLE | WRITABLE } else { READABLE };
    permits.get_mut(byte..end)?.iter_mut().for_each(|permit| *permit |= allowed);
    let (first, bits) = (field.bit_offset, field.bits);
    let (shift, mask) = (shift as u32, mask(bits.min(64) as u32) << shift);
    Some(Slot { region: owner.region(), byte, start: 0, shift, mask, first, end: first.checked_add(bits)? })
}

/// A place for a field that the object does not declare, which it cannot reach.
fn behind(permits: &mut Vec<u8>, owner: Owner) -> Slot {
    let byte = permits.len();
    permits.resize(byte + 8, 0);
    Slot { region: owner.region(), byte, start: 0, shift: 0, mask: u64::MAX, first: 0, end: 0 }
}
