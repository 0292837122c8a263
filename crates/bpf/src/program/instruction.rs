//! Instructions, decoded once. [RFC 9669]

/// Arithmetic of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    Add,
    Sub,
    Mul,
    Div,
    SignedDiv,
    Or,
    And,
    ShiftLeft,
    ShiftRight,
    Mod,
    SignedMod,
    Xor,
    Move,
    ShiftRightSigned,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Equal,
    Above,
    AtLeast,
    AnyBit,
    Unequal,
    SignedAbove,
    SignedAtLeast,
    Below,
    AtMost,
    SignedBelow,
    SignedAtMost,
}

/// Bits of a register that an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Half,
    Full,
}

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    B1,
    B2,
    B4,
    B8,
}

impl Size {
    pub fn bytes(self) -> usize {
        match self {
            Size::B1 => 1,
            Size::B2 => 2,
            Size::B4 => 4,
            Size::B8 => 8,
        }
    }
}

/// The operation of an instruction. Jumps and calls have the index of their target in `imm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    AluImm(Alu, Width),
    AluReg(Alu, Width),
    /// the low bits, extended by their sign
    MoveSigned(Width, u8),
    Negate(Width),
    /// the low bits in the order of the network, the others zero
    BigEndian(u8),
    /// the low bits with their bytes reversed, the others zero
    Swap(u8),
    /// the low bits, the others zero
    Truncate(u8),
    Const,
    Load(Size),
    LoadSigned(Size),
    StoreImm(Size),
    StoreReg(Size),
    /// read, change and write; `imm` has the operation
    Atomic(Size),
    Goto,
    IfImm(Condition, Width),
    IfReg(Condition, Width),
    CallLocal,
    CallHelper,
    /// a function of the kernel, by its place in a table
    CallKernel,
    /// a missing name, by its place among the names of the program
    Missing,
    Exit,
    /// no instruction, or the second half of one
    Invalid,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub kind: Kind,
    pub dst: u8,
    pub src: u8,
    pub offset: i16,
    pub imm: i64,
    /// target of a conditional jump
    pub target: u32,
}

impl Instruction {
    pub const INVALID: Instruction = Instruction { kind: Kind::Invalid, dst: 0, src: 0, offset: 0, imm: 0, target: 0 };
}

/// Bytes of a stored instruction.
pub(crate) const STORED: usize = 8;
/// The stored code of a call, and that of a constant of 64 bits.
pub(crate) const CALL: u8 = 0x85;
pub(crate) const CONST: u8 = 0x18;

/// Decodes the instruction at `at` of some code, whose first instruction will have the index `base`.
pub(crate) fn decode(code: &[u8], at: usize, base: usize) -> Instruction {
    let Some(raw) = code.get(STORED * at..STORED * at + STORED) else { return Instruction::INVALID };
    let (opcode, dst, src) = (raw[0], raw[1] & 15, raw[1] >> 4);
    let offset = i16::from_le_bytes([raw[2], raw[3]]);
    let imm = i32::from_le_bytes([raw[4], raw[5], raw[6], raw[7]]);
    let mut made = Instruction {
        kind: Kind::Invalid,
        dst,
        src,
        offset,
        imm: i64::from(imm),
        target: target(base + at, i64::from(offset)),
    };
    if dst > 10 || (src > 10 && opcode & 7 != 6) {
        return made;
    }
    made.kind = match opcode & 7 {
        0 if opcode == CONST => {
            let high = code
                .get(STORED * at + 12..STORED * at + 16)
                .map_or(0, |high| u32::from_le_bytes([high[0], high[1], high[2], high[3]]));
            made.imm = (u64::from(imm as u32) | u64::from(high) << 32) as i64;
            Kind::Const
        }
        1 => load(opcode),
        2 if opcode >> 5 == 3 => Kind::StoreImm(size(opcode)),
        3 if opcode >> 5 == 3 => Kind::StoreReg(size(opcode)),
        3 if opcode >> 5 == 6 && opcode & 0x18 != 8 && opcode & 0x18 != 0x10 => Kind::Atomic(size(opcode)),
        4 => arithmetic(opcode, offset, imm, Width::Half),
        5 => jump(opcode, src, imm, base + at, &mut made),
        6 if opcode == 0x06 => {
            made.target = target(base + at, i64::from(imm));
            Kind::Goto
        }
        6 => condition(opcode, Width::Half),
        7 => arithmetic(opcode, offset, imm, Width::Full),
        _ => Kind::Invalid,
    };
    made
}

/// The index of the target of a jump by `by`; beyond all code where that is below the first.
fn target(here: usize, by: i64) -> u32 {
    u32::try_from(here as i64 + 1 + by).unwrap_or(u32::MAX)
}

fn size(opcode: u8) -> Size {
    match opcode & 0x18 {
        0x00 => Size::B4,
        0x08 => Size::B2,
        0x10 => Size::B1,
        _ => Size::B8,
    }
}

fn load(opcode: u8) -> Kind {
    match opcode >> 5 {
        3 => Kind::Load(size(opcode)),
        4 if size(opcode) != Size::B8 => Kind::LoadSigned(size(opcode)),
        _ => Kind::Invalid,
    }
}

fn arithmetic(opcode: u8, offset: i16, imm: i32, width: Width) -> Kind {
    let alu = match (opcode >> 4, offset) {
        (0x0, _) => Alu::Add,
        (0x1, _) => Alu::Sub,
        (0x2, _) => Alu::Mul,
        (0x3, 0) => Alu::Div,
        (0x3, _) => Alu::SignedDiv,
        (0x4, _) => Alu::Or,
        (0x5, _) => Alu::And,
        (0x6, _) => Alu::ShiftLeft,
        (0x7, _) => Alu::ShiftRight,
        (0x8, _) => return Kind::Negate(width),
        (0x9, 0) => Alu::Mod,
        (0x9, _) => Alu::SignedMod,
        (0xa, _) => Alu::Xor,
        (0xb, 8 | 16 | 32) if opcode & 8 != 0 => return Kind::MoveSigned(width, offset as u8),
        (0xb, 0) => Alu::Move,
        (0xc, _) => Alu::ShiftRightSigned,
        (0xd, _) => return byte_order(opcode, imm, width),
        _ => return Kind::Invalid,
    };
    if opcode & 8 == 0 { Kind::AluImm(alu, width) } else { Kind::AluReg(alu, width) }
}

fn byte_order(opcode: u8, imm: i32, width: Width) -> Kind {
    let bits = match imm {
        16 | 32 | 64 => imm as u8,
        _ => return Kind::Invalid,
    };
    match (width, opcode & 8) {
        (Width::Full, _) => Kind::Swap(bits),
        (Width::Half, 0) => Kind::Truncate(bits),
        (Width::Half, _) => Kind::BigEndian(bits),
    }
}

fn jump(opcode: u8, src: u8, imm: i32, here: usize, made: &mut Instruction) -> Kind {
    match (opcode, src) {
        (0x05, _) => Kind::Goto,
        (CALL, 0) => Kind::CallHelper,
        (CALL, 1) => {
            made.target = target(here, i64::from(imm));
            Kind::CallLocal
        }
        (0x95, _) => Kind::Exit,
        // One of the kernel's, which has a relocation that names it.
        (CALL, _) => Kind::Invalid,
        _ => condition(opcode, Width::Full),
    }
}

fn condition(opcode: u8, width: Width) -> Kind {
    let condition = match opcode >> 4 {
        0x1 => Condition::Equal,
        0x2 => Condition::Above,
        0x3 => Condition::AtLeast,
        0x4 => Condition::AnyBit,
        0x5 => Condition::Unequal,
        0x6 => Condition::SignedAbove,
        0x7 => Condition::SignedAtLeast,
        0xa => Condition::Below,
        0xb => Condition::AtMost,
        0xc => Condition::SignedBelow,
        0xd => Condition::SignedAtMost,
        _ => return Kind::Invalid,
    };
    if opcode & 8 == 0 { Kind::IfImm(condition, width) } else { Kind::IfReg(condition, width) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One instruction of these parts, decoded at index 10.
    fn decoded(opcode: u8, registers: u8, offset: i16, imm: i32) -> Instruction {
        let mut code = vec![opcode, registers];
        code.extend(offset.to_le_bytes());
        code.extend(imm.to_le_bytes());
        decode(&code, 0, 10)
    }

    #[test]
    fn jumps_lead_to_the_index_behind_them_and_their_offset() {
        let back = decoded(0x05, 0, -3, 0);
        assert_eq!((back.kind, back.target), (Kind::Goto, 8));
        assert_eq!(decoded(0x06, 0, 0, 100_000).target, 100_011, "those of version 4 have 32 bits");
        assert_eq!(decoded(0x05, 0, -20, 0).target, u32::MAX, "before the first is nowhere");
        assert_eq!(decoded(CALL, 0x10, 0, -1).kind, Kind::CallLocal);
    }

    #[test]
    fn version_4_has_signs() {
        assert_eq!(decoded(0x91, 0x21, 4, 0).kind, Kind::LoadSigned(Size::B1));
        assert_eq!(decoded(0xbf, 0x21, 16, 0).kind, Kind::MoveSigned(Width::Full, 16));
        assert_eq!(decoded(0x3c, 0x21, 1, 0).kind, Kind::AluReg(Alu::SignedDiv, Width::Half));
        assert_eq!(decoded(0xd7, 0x01, 0, 32).kind, Kind::Swap(32));
    }

    #[test]
    fn unknown_opcode_is_invalid() {
        // A register 11; a load of packets; an atomic operation on a byte; a call of a kernel function without its name.
        for (opcode, registers) in [(0xbf, 0x1b), (0x20, 0), (0xd3, 0), (CALL, 0x20)] {
            assert_eq!(decoded(opcode, registers, 0, 0).kind, Kind::Invalid, "{opcode:#x}");
        }
        assert_eq!(decode(&[0xb7, 0, 0], 0, 0).kind, Kind::Invalid, "cut off");
    }
}
