//! Arithmetic and comparisons. [RFC 9669 §4.1, §4.3]

use crate::program::{Alu, Condition, Width};

/// The result of an instruction of that width; the upper half of the register is zero
/// after one of half width.
#[inline(always)]
pub(super) fn wide(width: Width, value: u64) -> u64 {
    match width {
        Width::Full => value,
        Width::Half => u64::from(value as u32),
    }
}

/// The low bits, extended by their sign.
#[inline(always)]
pub(super) fn extend(value: u64, bits: u32) -> u64 {
    let shift = 64 - bits.clamp(1, 64);
    (((value << shift) as i64) >> shift) as u64
}

#[inline(always)]
pub(crate) fn alu(operation: Alu, width: Width, a: u64, b: u64) -> u64 {
    match width {
        Width::Full => alu64(operation, a, b),
        Width::Half => u64::from(alu32(operation, a as u32, b as u32)),
    }
}

/// A division by zero gives zero, a remainder by zero the dividend.
#[inline(always)]
fn alu64(operation: Alu, a: u64, b: u64) -> u64 {
    match operation {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::Mul => a.wrapping_mul(b),
        Alu::Div => a.checked_div(b).unwrap_or(0),
        Alu::SignedDiv if b == 0 => 0,
        Alu::SignedDiv => (a as i64).wrapping_div(b as i64) as u64,
        Alu::Or => a | b,
        Alu::And => a & b,
        Alu::ShiftLeft => a.wrapping_shl(b as u32),
        Alu::ShiftRight => a.wrapping_shr(b as u32),
        Alu::Mod => a.checked_rem(b).unwrap_or(a),
        Alu::SignedMod if b == 0 => a,
        Alu::SignedMod => (a as i64).wrapping_rem(b as i64) as u64,
        Alu::Xor => a ^ b,
        Alu::Move => b,
        Alu::ShiftRightSigned => (a as i64).wrapping_shr(b as u32) as u64,
    }
}

#[inline(always)]
fn alu32(operation: Alu, a: u32, b: u32) -> u32 {
    match operation {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::Mul => a.wrapping_mul(b),
        Alu::Div => a.checked_div(b).unwrap_or(0),
        Alu::SignedDiv if b == 0 => 0,
        Alu::SignedDiv => (a as i32).wrapping_div(b as i32) as u32,
        Alu::Or => a | b,
        Alu::And => a & b,
        Alu::ShiftLeft => a.wrapping_shl(b),
        Alu::ShiftRight => a.wrapping_shr(b),
        Alu::Mod => a.checked_rem(b).unwrap_or(a),
        Alu::SignedMod if b == 0 => a,
        Alu::SignedMod => (a as i32).wrapping_rem(b as i32) as u32,
        Alu::Xor => a ^ b,
        Alu::Move => b,
        Alu::ShiftRightSigned => (a as i32).wrapping_shr(b) as u32,
    }
}

#[inline(always)]
pub(crate) fn compare(condition: Condition, width: Width, a: u64, b: u64) -> bool {
    let (a, b, signed_a, signed_b) = match width {
        Width::Full => (a, b, a as i64, b as i64),
        Width::Half => {
            let (a, b) = (a as u32, b as u32);
            (u64::from(a), u64::from(b), i64::from(a as i32), i64::from(b as i32))
        }
    };
    match condition {
        Condition::Equal => a == b,
        Condition::Above => a > b,
        Condition::AtLeast => a >= b,
        Condition::AnyBit => a & b != 0,
        Condition::Unequal => a != b,
        Condition::SignedAbove => signed_a > signed_b,
        Condition::SignedAtLeast => signed_a >= signed_b,
        Condition::Below => a < b,
        Condition::AtMost => a <= b,
        Condition::SignedBelow => signed_a < signed_b,
        Condition::SignedAtMost => signed_a <= signed_b,
    }
}

/// The low `bits` of a value.
pub(super) fn low(value: u64, bits: u8) -> u64 {
    match bits {
        16 => u64::from(value as u16),
        32 => u64::from(value as u32),
        _ => value,
    }
}

/// The low `bits` of a value, with their bytes in reverse order.
pub(super) fn swap(value: u64, bits: u8) -> u64 {
    match bits {
        16 => u64::from((value as u16).swap_bytes()),
        32 => u64::from((value as u32).swap_bytes()),
        _ => value.swap_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_register_wraps_at_32_bits_and_clears_the_rest() {
        assert_eq!(alu(Alu::Add, Width::Half, u64::MAX, 2), 1);
        assert_eq!(alu(Alu::ShiftRightSigned, Width::Half, 0x8000_0000, 31), 0xffff_ffff);
        assert_eq!(alu(Alu::Move, Width::Half, 0, -1i64 as u64), 0xffff_ffff);
        assert_eq!(alu(Alu::Move, Width::Full, 0, -1i64 as u64), u64::MAX);
    }

    #[test]
    fn nothing_divides_by_zero() {
        for width in [Width::Half, Width::Full] {
            assert_eq!([Alu::Div, Alu::SignedDiv].map(|one| alu(one, width, 7, 0)), [0, 0]);
            assert_eq!([Alu::Mod, Alu::SignedMod].map(|one| alu(one, width, 7, 0)), [7, 7]);
        }
        assert_eq!(alu(Alu::SignedDiv, Width::Full, i64::MIN as u64, u64::MAX), i64::MIN as u64);
        assert_eq!(alu(Alu::SignedDiv, Width::Full, -7i64 as u64, 2), -3i64 as u64);
    }

    #[test]
    fn signs_count_only_where_they_are_asked_for() {
        assert!(compare(Condition::Above, Width::Full, u64::MAX, 1));
        assert!(compare(Condition::SignedBelow, Width::Full, u64::MAX, 1));
        assert!(compare(Condition::SignedBelow, Width::Half, 0xffff_ffff, 1));
        assert!(!compare(Condition::SignedBelow, Width::Full, 0xffff_ffff, 1));
        assert_eq!((extend(0x80, 8), extend(0x7f, 8)), (-128i64 as u64, 127));
    }
}
