//! Facts about a field that code queries: whether it exists, its size, the shifts of its bits.
//!
//! Source: `enum bpf_core_relo_kind` and the shifts of `BPF_CORE_READ_BITFIELD` [Linux BTF]. A field exists if lasthop
//! fills it; a bit field is loaded in the smallest word that holds it, as by loaders, so that no neighbour is touched.

use crate::btf::{Access, Btf, Field, Type};
use crate::program::{Kind, Program};
use crate::socket::Socket;

const OFFSET: u32 = 0;
const SIZE: u32 = 1;
const EXISTS: u32 = 2;
const SIGNED: u32 = 3;
const SHIFT_LEFT: u32 = 4;
const SHIFT_RIGHT: u32 = 5;

/// The aligned word that holds a field: its first byte and its bytes.
fn word(field: &Field, own: usize) -> (usize, usize) {
    let mut bytes = own.clamp(1, 8).next_power_of_two();
    loop {
        let first = field.bit_offset / 8 / bytes * bytes;
        if bytes == 8 || field.bit_offset.saturating_add(field.bits) <= (first + bytes).saturating_mul(8) {
            return (first, bytes);
        }
        bytes *= 2;
    }
}

/// The fact that the record queries; `None` leaves the instruction as the compiler made it.
fn fact(btf: &Btf, socket: &Socket, access: &Access, owner: &str, path: &str) -> Option<u64> {
    let (field, has_bits) = btf.reached(access.root, &access.path)?;
    let (first, bytes) = word(&field, btf.size(field.kind));
    Some(match access.kind {
        OFFSET if has_bits => first as u64,
        SIZE if has_bits => bytes as u64,
        EXISTS => u64::from(socket.named(btf, owner, path).is_none_or(|(_, access)| access.is_some())),
        SIGNED => u64::from(matches!(btf.strip(field.kind).1, Type::Int { is_signed: true, .. })),
        SHIFT_LEFT => 64u64.checked_sub(field.bit_offset.checked_add(field.bits)?.checked_sub(8 * first)? as u64)?,
        SHIFT_RIGHT => 64u64.checked_sub(field.bits as u64)?,
        _ => return None,
    })
}

impl Program {
    /// Puts a fact into the instruction that queries it.
    pub(super) fn settle(&mut self, socket: &Socket, at: usize, access: &Access, owner: &str, path: &str) {
        let Some(fact) = fact(&self.btf, socket, access, owner, path) else { return };
        let Some(instruction) = self.instructions.get_mut(at) else { return };
        match instruction.kind {
            Kind::AluImm(..) | Kind::Const => instruction.imm = fact as i64,
            Kind::Load(_) | Kind::LoadSigned(_) | Kind::StoreImm(_) | Kind::StoreReg(_) if access.kind == OFFSET => {
                instruction.offset = i16::try_from(fact).unwrap_or(instruction.offset);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_at_the_end_of_all_numbers_has_a_word() {
        let (_, bytes) = word(&Field { bit_offset: usize::MAX - 3, bits: 8, kind: 0 }, 1);
        assert!(bytes <= 8);
    }
}
