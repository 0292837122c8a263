//! The reachable code of a hook and the fields that it touches, found before it runs.
//!
//! Constants are followed along all paths. As addresses are constants here, the socket is followed through copies, also
//! through the stack and into functions. A value that differs between paths counts as unknown, and a branch that
//! depends on a constant is taken one way. The machine checks the rest at run time.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Fallible;
use crate::kernel::Helper;
use crate::limits::{FRAME_BYTES, STACK_BYTES};
use crate::machine::{alu, compare};
use crate::program::{Instruction, Kfunc, Kind, Program, Size, address, place, region};
use crate::socket::Owner;

/// Instructions that one hook may reach.
const MOST: usize = 1 << 16;
/// Known words on stacks before all of them together.
const MOST_WORDS: usize = 1 << 20;
/// The frame pointer.
const FRAME: usize = 10;

/// An access to the socket or to a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touch {
    pub at: usize,
    pub region: usize,
    pub byte: usize,
    pub size: usize,
    pub writes: bool,
}

/// The possible effects of a hook.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// reachable instructions
    pub reached: BTreeSet<usize>,
    pub touches: BTreeSet<Touch>,
    pub helpers: BTreeSet<&'static str>,
    /// numbers of unknown helpers
    pub unknown_helpers: BTreeMap<i64, usize>,
    pub kfuncs: BTreeSet<&'static str>,
    /// missing names, each with the place of its first use
    pub missing: BTreeMap<usize, usize>,
    /// places without a known instruction
    pub invalid: BTreeSet<usize>,
}

impl Findings {
    pub fn add(&mut self, other: Findings) {
        self.reached.extend(other.reached);
        self.touches.extend(other.touches);
        self.helpers.extend(other.helpers);
        self.unknown_helpers.extend(other.unknown_helpers);
        self.kfuncs.extend(other.kfuncs);
        self.missing.extend(other.missing);
        self.invalid.extend(other.invalid);
    }
}

/// The known values before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    registers: [Option<u64>; 11],
    /// words on the stack, by their address
    stack: BTreeMap<u64, u64>,
}

impl Known {
    /// Keeps the values that both know; true if they are fewer than before.
    fn join(&mut self, other: &Known) -> bool {
        let before = (self.registers, self.stack.len());
        for (mine, theirs) in self.registers.iter_mut().zip(other.registers) {
            *mine = mine.filter(|mine| theirs == Some(*mine));
        }
        self.stack.retain(|at, word| other.stack.get(at) == Some(word));
        before != (self.registers, self.stack.len())
    }

    fn set(&mut self, register: u8, value: Option<u64>) {
        self.registers[usize::from(register).min(FRAME)] = value;
    }

    fn get(&self, register: u8) -> Option<u64> {
        self.registers[usize::from(register).min(FRAME)]
    }
}

/// Follows a hook from its first instruction, called with these arguments.
pub(crate) fn explore(program: &Program, entry: usize, arguments: &[Option<u64>]) -> Fallible<Findings> {
    let mut explorer = Explorer {
        program,
        arguments,
        known: BTreeMap::new(),
        open: vec![entry],
        words: 0,
        findings: Findings::default(),
    };
    let mut registers = [None; 11];
    registers[1] = Some(address(region::ARGUMENTS, 0));
    registers[FRAME] = Some(address(region::STACK, STACK_BYTES));
    explorer.known.insert(entry, Known { registers, stack: BTreeMap::new() });
    while let Some(at) = explorer.open.pop() {
        explorer.step(at);
        if explorer.known.len() > MOST {
            return Err(format!("has a hook of more than {MOST} instructions"));
        }
        if explorer.words > MOST_WORDS {
            return Err("has a hook that keeps too much on its stack; make it shorter, or keep less".to_string());
        }
    }
    Ok(explorer.findings)
}

struct Explorer<'p> {
    program: &'p Program,
    arguments: &'p [Option<u64>],
    known: BTreeMap<usize, Known>,
    open: Vec<usize>,
    /// words of all stacks in `known`
    words: usize,
    findings: Findings,
}

impl Explorer<'_> {
    fn go(&mut self, to: usize, known: &Known) {
        let changed = match self.known.get_mut(&to) {
            Some(there) => {
                let before = there.stack.len();
                let changed = there.join(known);
                self.words -= before - there.stack.len();
                changed
            }
            None => {
                self.words += known.stack.len();
                self.known.insert(to, known.clone());
                true
            }
        };
        if changed {
            self.open.push(to);
        }
    }

    fn step(&mut self, at: usize) {
        let Some(&instruction) = self.program.instructions.get(at) else {
            self.findings.invalid.insert(at);
            return;
        };
        let Some(mut known) = self.known.get(&at).cloned() else { return };
        self.findings.reached.insert(at);
        let target = instruction.target as usize;
        match instruction.kind {
            Kind::Exit => return,
            Kind::Invalid => {
                self.findings.invalid.insert(at);
                return;
            }
            Kind::Goto => return self.go(target, &known),
            Kind::IfImm(condition, width) => match known.get(instruction.dst) {
                Some(value) if compare(condition, width, value, instruction.imm as u64) => {
                    return self.go(target, &known);
                }
                Some(_) => {}
                None => self.go(target, &known),
            },
            Kind::IfReg(condition, width) => match known.get(instruction.dst).zip(known.get(instruction.src)) {
                Some((a, b)) if compare(condition, width, a, b) => return self.go(target, &known),
                Some(_) => {}
                None => self.go(target, &known),
            },
            Kind::CallLocal => self.enter(target, &mut known),
            Kind::CallHelper | Kind::CallKernel | Kind::Missing => self.call(at, &instruction, &mut known),
            _ => self.compute(at, &instruction, &mut known),
        }
        let length = if instruction.kind == Kind::Const { 2 } else { 1 };
        self.go(at + length, &known);
    }

    /// A function with arguments and a frame of its own; its effects on ours are not known.
    fn enter(&mut self, target: usize, known: &mut Known) {
        let mut inside = Known { registers: [None; 11], stack: known.stack.clone() };
        inside.registers[1..=5].copy_from_slice(&known.registers[1..=5]);
        inside.registers[FRAME] = known.registers[FRAME].map(|frame| frame.wrapping_sub(FRAME_BYTES as u64));
        self.go(target, &inside);
        let hands_out_stack = (1..=5).any(|register| known.registers[register].is_some_and(is_stack));
        if hands_out_stack {
            known.stack.clear();
        }
        forget_call(known);
    }

    fn call(&mut self, at: usize, instruction: &Instruction, known: &mut Known) {
        let mut result = None;
        match instruction.kind {
            Kind::CallHelper => match Helper::numbered(instruction.imm) {
                Some(helper) => {
                    self.findings.helpers.insert(helper.name());
                    result = known.registers[1].filter(|_| helper == Helper::ToTcpSocket);
                }
                None => {
                    self.findings.unknown_helpers.entry(instruction.imm).or_insert(at);
                }
            },
            Kind::CallKernel => {
                if let Some(kfunc) = self.program.kfuncs.get(instruction.imm as usize) {
                    self.findings.kfuncs.insert(Kfunc::name(*kfunc));
                }
            }
            _ => {
                self.findings.missing.entry(instruction.imm as usize).or_insert(at);
            }
        }
        // Helpers never write a pointer to the socket to the stack, except for one of these.
        if matches!(instruction.kind, Kind::CallHelper) && Helper::numbered(instruction.imm) == Some(Helper::ReadKernel)
        {
            known.stack.clear();
        }
        forget_call(known);
        known.registers[0] = result;
    }

    fn compute(&mut self, at: usize, instruction: &Instruction, known: &mut Known) {
        let (dst, src) = (known.get(instruction.dst), known.get(instruction.src));
        let by = |base: Option<u64>| base.map(|base| base.wrapping_add(instruction.offset as u64));
        match instruction.kind {
            Kind::Const => known.set(instruction.dst, Some(instruction.imm as u64)),
            Kind::AluImm(operation, width) => {
                let moved = operation == crate::program::Alu::Move;
                let operand = dst.or(moved.then_some(0));
                let value = operand.map(|value| alu(operation, width, value, instruction.imm as u64));
                known.set(instruction.dst, value);
            }
            Kind::AluReg(operation, width) => {
                let moved = operation == crate::program::Alu::Move;
                let operand = dst.or(moved.then_some(0));
                let value = operand.zip(src).map(|(a, b)| alu(operation, width, a, b));
                known.set(instruction.dst, value);
            }
            Kind::Load(size) | Kind::LoadSigned(size) => {
                self.touch(at, by(src), size, false);
                let value = by(src).and_then(|from| self.loaded(known, from, size));
                known.set(instruction.dst, value);
            }
            Kind::StoreImm(size) => self.store(at, known, by(dst), size, None),
            Kind::StoreReg(size) => self.store(at, known, by(dst), size, src),
            Kind::Atomic(size) => {
                self.touch(at, by(dst), size, false);
                self.store(at, known, by(dst), size, None);
                known.set(instruction.src, None);
                known.set(0, None);
            }
            _ => known.set(instruction.dst, None),
        }
    }

    fn store(&mut self, at: usize, known: &mut Known, to: Option<u64>, size: Size, value: Option<u64>) {
        self.touch(at, to, size, true);
        match to {
            Some(to) if is_stack(to) => {
                known
                    .stack
                    .retain(|&word, _| word.saturating_add(8) <= to || to.saturating_add(size.bytes() as u64) <= word);
                if let Some(value) = value.filter(|_| size == Size::B8 && place(to).1 < STACK_BYTES) {
                    known.stack.insert(to, value);
                }
            }
            Some(_) => {}
            // The store may hit any word.
            None => known.stack.clear(),
        }
    }

    fn loaded(&self, known: &Known, from: u64, size: Size) -> Option<u64> {
        let (region, offset) = place(from);
        match region as usize {
            region::ARGUMENTS if size == Size::B8 && offset.is_multiple_of(8) => *self.arguments.get(offset / 8)?,
            region::STACK if size == Size::B8 => known.stack.get(&from).copied(),
            _ => None,
        }
    }

    fn touch(&mut self, at: usize, to: Option<u64>, size: Size, writes: bool) {
        let Some((region, byte)) = to.map(place) else { return };
        if usize::try_from(region).ok().and_then(Owner::of_region).is_some() {
            self.findings.touches.insert(Touch { at, region: region as usize, byte, size: size.bytes(), writes });
        }
    }
}

fn is_stack(at: u64) -> bool {
    place(at).0 == region::STACK as u64
}

/// A call keeps only the registers from 6 on.
fn forget_call(known: &mut Known) {
    known.registers[..=5].fill(None);
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::program::{Alu, Width};

    fn instruction(kind: Kind, dst: u8, src: u8, imm: i64) -> Instruction {
        Instruction { kind, dst, src, offset: 0, imm, target: 0 }
    }

    /// Stores word by word, starting so many bytes beside the frame pointer; then moves.
    #[expect(clippy::disallowed_methods, reason = "a bound on the time that a test takes")]
    fn explored(from: i64, stores: usize, moves: usize) -> Fallible<Findings> {
        let mut code = vec![
            instruction(Kind::AluReg(Alu::Move, Width::Full), 2, 10, 0),
            instruction(Kind::AluImm(Alu::Add, Width::Full), 2, 0, from),
        ];
        let store = instruction(Kind::StoreReg(Size::B8), 2, 10, 0);
        let step = instruction(Kind::AluImm(Alu::Add, Width::Full), 2, 0, 8);
        code.extend((0..stores).flat_map(|_| [store, step]));
        code.extend((0..moves).map(|_| instruction(Kind::AluImm(Alu::Move, Width::Full), 0, 0, 1)));
        code.push(instruction(Kind::Exit, 0, 0, 0));
        let program = Program::of(code);
        let begin = Instant::now();
        let found = explore(&program, 0, &[]);
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        found
    }

    #[test]
    fn stores_beyond_the_stack_are_not_kept() {
        assert_eq!(explored(0, 12_000, 0).unwrap().reached.len(), 2 + 24_000 + 1);
    }

    #[test]
    fn memory_of_stacks_is_bounded() {
        let words = STACK_BYTES / 8;
        assert!(explored(-(STACK_BYTES as i64), words, 500).is_ok());
        let error = explored(-(STACK_BYTES as i64), words, 24_000).unwrap_err();
        assert_eq!(error, "has a hook that keeps too much on its stack; make it shorter, or keep less");
    }
}
