//! A description of an object, for people.

use core::fmt;

use super::{Hook, Object};
use crate::program::{MapKind, Region, Setting};

/// A description of an object, its uses and its faults. As text, a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name given when the object was read.
    pub object: String,
    /// The name that it registers, as `tcp_available_congestion_control` would list it.
    pub name: String,
    /// Other controllers in the same object.
    pub others: Vec<String>,
    /// The licence that it declares.
    pub licence: String,
    /// The hooks that it has, each with the number of its function's instructions.
    pub hooks: Vec<(String, usize)>,
    /// Hooks among these that lasthop never calls.
    pub not_called: Vec<String>,
    /// True if it needs congestion marks to be reported packet by packet.
    pub needs_ecn: bool,
    /// Fields that it reads, with their structs.
    pub reads: Vec<String>,
    /// Fields that it writes, with their structs.
    pub writes: Vec<String>,
    /// Functions of the kernel that it calls.
    pub kfuncs: Vec<String>,
    /// Helpers of the kernel that it calls.
    pub helpers: Vec<String>,
    /// Maps, each with its kind.
    pub maps: Vec<(String, String)>,
    /// Variables that may be set, each with its initial value.
    pub settings: Vec<(String, i64)>,
    /// Instructions that its hooks can reach.
    pub instructions: usize,
    /// The reasons why it cannot run.
    pub missing: Vec<String>,
}

impl Object {
    /// Describes the object, its uses and its faults.
    pub fn describe(&self) -> Description {
        let (ops, uses, program) = (self.ops(), self.uses(), &self.program);
        let owned = |names: &std::collections::BTreeSet<&'static str>| names.iter().map(ToString::to_string).collect();
        let length = |entry: usize| program.function_at(entry).map_or(0, |function| function.end - function.start);
        let named = |hook: &Hook| hook.name().to_string();
        let hooks = ops.hooks.iter();
        Description {
            object: self.name.clone(),
            name: ops.name.clone(),
            others: self
                .all
                .iter()
                .filter(|other| other.variable != ops.variable)
                .map(|other| other.name.clone())
                .collect(),
            licence: self.licence.clone(),
            hooks: hooks.clone().map(|(hook, entry)| (named(hook), length(*entry))).collect(),
            not_called: hooks.filter(|(hook, _)| !hook.is_called()).map(|(hook, _)| named(hook)).collect(),
            needs_ecn: self.needs_ecn(),
            reads: uses.reads.into_keys().collect(),
            writes: uses.writes.into_keys().collect(),
            kfuncs: owned(&self.findings.kfuncs),
            helpers: owned(&self.findings.helpers),
            maps: program.maps.iter().map(|map| (map.name.clone(), kind_of(map))).collect(),
            settings: program
                .settings
                .iter()
                .map(|one| (one.name.clone(), value_of(&program.regions[one.region], one)))
                .collect(),
            instructions: self.findings.reached.len(),
            missing: self.faults(),
        }
    }
}

fn kind_of(map: &crate::program::Map) -> String {
    match map.kind {
        MapKind::SocketStorage => format!("{}, {} B", map.kind.name(), map.value_size),
        MapKind::RingBuffer => format!("{}, {} B", map.kind.name(), map.entries),
        _ => format!("{}, {} of {} B", map.kind.name(), map.entries, map.value_size),
    }
}

fn value_of(region: &Region, setting: &Setting) -> i64 {
    let size = setting.size.min(8);
    let stored = region.bytes.get(setting.offset..setting.offset.saturating_add(size)).unwrap_or_default();
    let mut word = [0; 8];
    word[..stored.len()].copy_from_slice(stored);
    let shift = 64 - 8 * size.max(1) as u32;
    let word = i64::from_le_bytes(word) << shift;
    if setting.is_signed { word >> shift } else { (word as u64 >> shift) as i64 }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecn = if self.needs_ecn { ", needs ECN" } else { "" };
        writeln!(f, "{}: congestion control \"{}\" ({}{ecn})", self.object, self.name, self.licence)?;
        let hooks: Vec<String> = self.hooks.iter().map(|(hook, length)| format!("{hook} ({length})")).collect();
        let maps: Vec<String> = self.maps.iter().map(|(name, what)| format!("{name} ({what})")).collect();
        let settings: Vec<String> = self.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let lines: [(&str, &[String]); 9] = [
            ("hooks (instructions)", &hooks),
            ("not called here", &self.not_called),
            ("reads", &self.reads),
            ("writes", &self.writes),
            ("kfuncs", &self.kfuncs),
            ("helpers", &self.helpers),
            ("maps", &maps),
            ("settings", &settings),
            ("others in this file", &self.others),
        ];
        for (title, items) in lines.into_iter().filter(|(_, items)| !items.is_empty()) {
            writeln!(f, "  {title}: {}", items.join(", "))?;
        }
        writeln!(f, "  instructions: {}", self.instructions)?;
        match self.missing.is_empty() {
            true => writeln!(f, "  missing: nothing"),
            false => self.missing.iter().try_for_each(|what| writeln!(f, "  missing: {what}")),
        }
    }
}
