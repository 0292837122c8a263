//! The machine that runs a program: eleven registers, a stack, checked memory, a limit of instructions.
//!
//! Source: RFC 9669. Leaves out: packet access of old programs, tail calls, callbacks.

mod arithmetic;
mod fault;

use arithmetic::wide;
pub(crate) use arithmetic::{alu, compare};
pub(crate) use fault::{Fault, Trouble};

use crate::kernel::{Helper, HelperFault, Kernel};
use crate::limits::{FRAME_BYTES, LIMIT, MOST_FRAMES, STACK_BYTES};
use crate::memory::{Memory, Refused};
use crate::program::{Instruction, Kind, Program, Size, Width, address, region};

/// The memory of one connection, and the state behind its calls.
#[derive(Debug)]
pub(crate) struct Machine {
    pub memory: Memory,
    pub kernel: Kernel,
    /// instructions run so far
    pub executed: u64,
}

/// The return address of a call, and the registers to restore.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    back_to: usize,
    kept: [u64; 5],
}

/// The place and the frames of one run.
struct Run {
    at: usize,
    frames: [Frame; MOST_FRAMES],
    depth: usize,
}

/// The frame pointer.
const FRAME: usize = 10;

impl Machine {
    /// Runs the function at `entry` with these arguments, and returns its result.
    pub fn run(&mut self, program: &Program, entry: usize, arguments: &[u64]) -> Result<u64, Fault> {
        for (index, argument) in arguments.iter().enumerate() {
            self.memory.set_word(self.memory.start(region::ARGUMENTS) + 8 * index, *argument);
        }
        let mut run = Run { at: entry, frames: Default::default(), depth: 0 };
        let mut registers = [0; 16];
        registers[1] = address(region::ARGUMENTS, 0);
        registers[FRAME] = address(region::STACK, STACK_BYTES);
        self.memory.stack_floor = STACK_BYTES - FRAME_BYTES;
        let mut left = LIMIT;
        let result = self.steps(program, &mut run, registers, &mut left);
        self.executed += u64::from(LIMIT - left);
        result.map_err(|trouble| Fault { at: run.at, trouble })
    }

    fn steps(
        &mut self,
        program: &Program,
        run: &mut Run,
        mut registers: [u64; 16],
        left: &mut u32,
    ) -> Result<u64, Trouble> {
        loop {
            let Some(instruction) = program.instructions.get(run.at) else { return Err(Trouble::NoInstruction) };
            if *left == 0 {
                return Err(Trouble::Endless);
            }
            *left -= 1;
            let (dst, src) = (usize::from(instruction.dst & 15), usize::from(instruction.src & 15));
            let imm = instruction.imm as u64;
            let mut next = run.at + 1;
            match instruction.kind {
                Kind::AluImm(operation, width) => registers[dst] = alu(operation, width, registers[dst], imm),
                Kind::AluReg(operation, width) => {
                    registers[dst] = alu(operation, width, registers[dst], registers[src])
                }
                Kind::Const => {
                    registers[dst] = imm;
                    next += 1;
                }
                Kind::Load(size) => {
                    registers[dst] = self.load(size, registers[src].wrapping_add(instruction.offset as u64))?;
                }
                Kind::LoadSigned(size) => {
                    let loaded = self.load(size, registers[src].wrapping_add(instruction.offset as u64))?;
                    registers[dst] = arithmetic::extend(loaded, 8 * size.bytes() as u32);
                }
                Kind::StoreImm(size) => {
                    self.store(size, registers[dst].wrapping_add(instruction.offset as u64), imm)?
                }
                Kind::StoreReg(size) => {
                    self.store(size, registers[dst].wrapping_add(instruction.offset as u64), registers[src])?;
                }
                Kind::IfImm(condition, width) => {
                    if compare(condition, width, registers[dst], imm) {
                        next = instruction.target as usize;
                    }
                }
                Kind::IfReg(condition, width) => {
                    if compare(condition, width, registers[dst], registers[src]) {
                        next = instruction.target as usize;
                    }
                }
                Kind::Goto => next = instruction.target as usize,
                Kind::MoveSigned(width, bits) => {
                    registers[dst] = wide(width, arithmetic::extend(registers[src], u32::from(bits)));
                }
                Kind::Negate(width) => registers[dst] = wide(width, registers[dst].wrapping_neg()),
                Kind::Truncate(bits) => registers[dst] = arithmetic::low(registers[dst], bits),
                Kind::BigEndian(bits) | Kind::Swap(bits) => registers[dst] = arithmetic::swap(registers[dst], bits),
                Kind::Atomic(size) => self.atomic(instruction, size, &mut registers)?,
                Kind::CallHelper => self.helper(program, instruction, &mut registers, left)?,
                Kind::CallKernel => self.kfunc(program, instruction, &mut registers)?,
                Kind::CallLocal => {
                    run.enter(next, &mut registers)?;
                    self.memory.stack_floor -= FRAME_BYTES;
                    next = instruction.target as usize;
                }
                Kind::Exit => match run.leave(&mut registers) {
                    Some(back_to) => {
                        self.memory.stack_floor += FRAME_BYTES;
                        next = back_to;
                    }
                    None => return Ok(registers[0]),
                },
                Kind::Missing => return Err(Trouble::Missing(instruction.imm as usize)),
                Kind::Invalid => return Err(Trouble::NoInstruction),
            }
            run.at = next;
        }
    }

    #[inline(always)]
    fn load(&self, size: Size, address: u64) -> Result<u64, Trouble> {
        let loaded = match size {
            Size::B1 => self.memory.load(address).map(|[byte]| u64::from(byte)),
            Size::B2 => self.memory.load(address).map(|bytes| u64::from(u16::from_le_bytes(bytes))),
            Size::B4 => self.memory.load(address).map(|bytes| u64::from(u32::from_le_bytes(bytes))),
            Size::B8 => self.memory.load(address).map(u64::from_le_bytes),
        };
        loaded.ok_or_else(|| refused(address, size, false))
    }

    #[inline(always)]
    fn store(&mut self, size: Size, address: u64, value: u64) -> Result<(), Trouble> {
        let stored = match size {
            Size::B1 => self.memory.store(address, [value as u8]),
            Size::B2 => self.memory.store(address, (value as u16).to_le_bytes()),
            Size::B4 => self.memory.store(address, (value as u32).to_le_bytes()),
            Size::B8 => self.memory.store(address, value.to_le_bytes()),
        };
        stored.ok_or_else(|| refused(address, size, true))
    }

    /// [RFC 9669 §5.3]
    fn atomic(&mut self, instruction: &Instruction, size: Size, registers: &mut [u64; 16]) -> Result<(), Trouble> {
        let (dst, src) = (usize::from(instruction.dst & 15), usize::from(instruction.src & 15));
        let at = registers[dst].wrapping_add(instruction.offset as u64);
        let (old, operand) = (self.load(size, at)?, registers[src]);
        let width = if size == Size::B8 { Width::Full } else { Width::Half };
        let fetches = instruction.imm & 1 == 1;
        let new = match instruction.imm & 0xf0 {
            0x00 => old.wrapping_add(operand),
            0x40 => old | operand,
            0x50 => old & operand,
            0xa0 => old ^ operand,
            0xe0 => operand,
            0xf0 => {
                let is_expected = wide(width, registers[0]) == old;
                registers[0] = old;
                return if is_expected { self.store(size, at, operand) } else { Ok(()) };
            }
            _ => return Err(Trouble::NoInstruction),
        };
        self.store(size, at, new)?;
        if fetches {
            registers[src] = old;
        }
        Ok(())
    }

    /// Each eight bytes that a helper copies count as an instruction.
    fn helper(
        &mut self,
        program: &Program,
        instruction: &Instruction,
        registers: &mut [u64; 16],
        left: &mut u32,
    ) -> Result<(), Trouble> {
        let helper = Helper::numbered(instruction.imm).ok_or(Trouble::NoHelper(instruction.imm))?;
        self.kernel.copied = 0;
        let answer = self.kernel.help(program, helper, &mut self.memory, &arguments(registers));
        *left = left.saturating_sub(u32::try_from(self.kernel.copied / 8).unwrap_or(u32::MAX));
        registers[0] = answer.map_err(|fault| match fault {
            HelperFault::Refused(refused) => Trouble::Refused(refused),
            HelperFault::Misused(how) => Trouble::Misused(how.to_string()),
        })?;
        Ok(())
    }

    fn kfunc(
        &mut self,
        program: &Program,
        instruction: &Instruction,
        registers: &mut [u64; 16],
    ) -> Result<(), Trouble> {
        let kfunc = *program.kfuncs.get(instruction.imm as usize).ok_or(Trouble::NoInstruction)?;
        registers[0] = self.kernel.call(kfunc, &mut self.memory, &arguments(registers)).map_err(Trouble::Misused)?;
        Ok(())
    }
}

#[cold]
fn refused(address: u64, size: Size, writes: bool) -> Trouble {
    Trouble::Refused(Refused { address, size: size.bytes(), writes })
}

fn arguments(registers: &[u64; 16]) -> [u64; 5] {
    [registers[1], registers[2], registers[3], registers[4], registers[5]]
}

impl Run {
    /// Enters a function, with a frame of its own.
    fn enter(&mut self, back_to: usize, registers: &mut [u64; 16]) -> Result<(), Trouble> {
        if self.depth + 1 == MOST_FRAMES {
            return Err(Trouble::TooDeep);
        }
        let kept = [registers[6], registers[7], registers[8], registers[9], registers[FRAME]];
        self.frames[self.depth] = Frame { back_to, kept };
        self.depth += 1;
        registers[FRAME] = registers[FRAME].wrapping_sub(FRAME_BYTES as u64);
        Ok(())
    }

    /// Leaves a function; returns the place of its call, if it was called.
    fn leave(&mut self, registers: &mut [u64; 16]) -> Option<usize> {
        self.depth = self.depth.checked_sub(1)?;
        let Frame { back_to, kept } = self.frames[self.depth];
        registers[6..=FRAME].copy_from_slice(&kept);
        Some(back_to)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use lasthop_tcp::Profile;
    use lasthop_tcp::congestion_control::{AckSample, Context};
    use lasthop_units::Time;

    use super::*;
    use crate::kernel::{Borrowed, Maps};
    use crate::program::Region;
    use crate::socket::Socket;

    fn machine(program: &mut Program) -> Machine {
        let mut socket = Socket::new(&program.btf).unwrap();
        Memory::size_fields(&mut program.regions, &socket.permits);
        let memory = Memory::new(&program.regions, &socket.permits);
        socket.anchor(&memory);
        let context = Context::new(&Profile::Linux.config(), 1);
        let kernel = Kernel {
            context,
            draws: context.draws,
            now: Time::ZERO,
            socket,
            maps: Maps::new(program),
            ack: AckSample::default(),
            borrowed: Borrowed::default(),
            copied: 0,
            records: 0,
        };
        Machine { memory, kernel, executed: 0 }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a bound on the time that a test takes")]
    fn a_loop_that_copies_much_is_stopped_soon() {
        const READ_KERNEL: i64 = 113;
        let size = 1 << 20;
        let instruction = |kind, dst, imm| Instruction { kind, dst, imm, target: 0, ..Instruction::INVALID };
        let mut program = Program::of(Vec::new());
        let large = address(program.regions.len(), 0) as i64;
        program.regions.push(Region { name: "large".to_string(), bytes: vec![0; size], is_writable: true });
        program.instructions = [(1, large), (2, size as i64), (3, large)]
            .into_iter()
            .flat_map(|(register, value)| [instruction(Kind::Const, register, value), Instruction::INVALID])
            .chain([instruction(Kind::CallHelper, 0, READ_KERNEL), instruction(Kind::Goto, 0, 0)])
            .collect();
        let mut machine = machine(&mut program);
        let begin = Instant::now();
        assert_eq!(machine.run(&program, 0, &[]).unwrap_err().trouble, Trouble::Endless);
        assert_eq!(machine.executed, u64::from(LIMIT));
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    }
}
