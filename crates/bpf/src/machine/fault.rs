//! The reason why a program was stopped, as a sentence with its place.

use crate::limits::{FRAME_BYTES, LIMIT, MOST_FRAMES};
use crate::memory::Refused;
use crate::program::{Program, place, region};
use crate::socket::{Owner, Socket};

/// The kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Refused(Refused),
    /// more instructions than the limit
    Endless,
    TooDeep,
    NoInstruction,
    NoHelper(i64),
    /// a name, by its place among the program's missing ones
    Missing(usize),
    /// a part of a sentence
    Misused(String),
}

impl From<Refused> for Trouble {
    fn from(refused: Refused) -> Self {
        Trouble::Refused(refused)
    }
}

/// A fault, with its instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub at: usize,
    pub trouble: Trouble,
}

impl Fault {
    /// One sentence: the place, the function, the fault.
    pub fn sentence(&self, program: &Program, socket: &Socket) -> String {
        let place = program.place(self.at);
        let within = program.function_at(self.at).map(|function| format!(" ({})", function.name)).unwrap_or_default();
        match &self.trouble {
            Trouble::Endless => {
                format!("the loop at {place}{within} did not end after {} instructions", with_commas(LIMIT))
            }
            trouble => format!("{place}{within}: {}", what(trouble, program, socket)),
        }
    }
}

fn what(trouble: &Trouble, program: &Program, socket: &Socket) -> String {
    match trouble {
        Trouble::Refused(refused) => access(refused, program, socket),
        Trouble::TooDeep => format!("calls go deeper than {MOST_FRAMES} functions"),
        Trouble::NoInstruction => "there is no instruction that lasthop knows here".to_string(),
        Trouble::NoHelper(number) => format!("calls helper {number}, which lasthop does not have"),
        Trouble::Missing(name) => {
            format!(
                "uses {}, which lasthop does not have",
                program.missing.get(*name).map_or("something", String::as_str)
            )
        }
        Trouble::Misused(how) => how.clone(),
        Trouble::Endless => String::new(),
    }
}

fn access(refused: &Refused, program: &Program, socket: &Socket) -> String {
    let &Refused { address, size, writes } = refused;
    let does = if writes { "writes" } else { "reads" };
    let (number, offset) = place(address);
    let Some(known) = usize::try_from(number).ok().and_then(|number| program.regions.get(number)) else {
        return match address {
            0 => format!("{does} {size} B at a null pointer"),
            1..4096 => format!("{does} {size} B at {address} from a null pointer"),
            _ => format!("{does} {size} B at {address:#x}, which is not an address of its memory"),
        };
    };
    if number as usize == region::STACK {
        return format!("{does} {size} B outside of the {FRAME_BYTES} B of stack that a function has");
    }
    let name = Owner::of_region(number as usize).and_then(|owner| socket.name_at(&program.btf, owner, offset));
    match name {
        Some(name) if writes => format!("writes {name}, which a controller may not write"),
        Some(name) => format!("reads {name}, which lasthop does not know"),
        None if !known.is_writable && writes && offset < known.bytes.len() => {
            format!("writes to {}, which is read only", known.name)
        }
        None if Owner::of_region(number as usize).is_some() && offset < known.bytes.len() => {
            let may = if writes { "that a controller may write" } else { "that lasthop fills" };
            format!("{does} {size} B at {offset} of {}, where no field begins {may}", known.name)
        }
        None => {
            let offset = offset as u32 as i32;
            format!("{does} {size} B at {offset} of {}, which has {} B", known.name, known.bytes.len())
        }
    }
}

/// A number as 1,000,000.
fn with_commas(number: u32) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}
