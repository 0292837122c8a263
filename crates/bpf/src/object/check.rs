//! The reasons why an object cannot run here, or in a kernel: all of them, in one message.

use std::collections::{BTreeMap, BTreeSet};

use super::{COMPATIBLE, Hook, Object};
use crate::error::Error;
use crate::memory::{READABLE, WRITABLE};
use crate::program::{Kind, MapKind};
use crate::socket::{Access, FIELDS, Owner};

/// A field that code touches: the first place of its use, and whether that is allowed.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub at: usize,
    pub is_allowed: bool,
}

/// Fields by name, read and written.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub reads: BTreeMap<String, Use>,
    pub writes: BTreeMap<String, Use>,
}

impl Uses {
    fn note(&mut self, name: String, at: usize, writes: bool, is_allowed: bool) {
        let list = if writes { &mut self.writes } else { &mut self.reads };
        let noted = list.entry(name).or_insert(Use { at, is_allowed });
        noted.is_allowed &= is_allowed;
    }
}

impl Object {
    /// The fields that the hooks touch: by the names noted by the compiler, else by the offset.
    pub(super) fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        let mut named = BTreeSet::new();
        for note in self.program.named.iter().filter(|note| self.findings.reached.contains(&note.at)) {
            let writes = match self.program.instructions[note.at].kind {
                Kind::Load(_) | Kind::LoadSigned(_) => false,
                Kind::StoreImm(_) | Kind::StoreReg(_) | Kind::Atomic(_) => true,
                _ => continue,
            };
            let Some((_, access)) = self.socket.named(&self.program.btf, &note.owner, &note.path) else { continue };
            let is_allowed = if writes { access == Some(Access::Write) } else { access.is_some() };
            uses.note(format!("{}.{}", note.owner, note.path), note.at, writes, is_allowed);
            named.insert(note.at);
        }
        for touch in self.findings.touches.iter().filter(|touch| !named.contains(&touch.at)) {
            let Some(owner) = Owner::of_region(touch.region) else { continue };
            let permits = &self.socket.permits[owner as usize];
            let wanted = if touch.writes { WRITABLE } else { READABLE };
            let part = touch.byte.checked_add(touch.size).and_then(|end| permits.get(touch.byte..end));
            let is_allowed = part.is_some_and(|part| part.iter().all(|permit| permit & wanted != 0));
            let filled = self.socket.filled_at(owner, touch.byte, touch.size).filter(|_| is_allowed);
            let name = filled.or_else(|| self.socket.name_at(&self.program.btf, owner, touch.byte));
            let name = name.unwrap_or_else(|| format!("byte {} of the socket", touch.byte as u32 as i32));
            uses.note(name, touch.at, touch.writes, is_allowed);
        }
        uses
    }

    /// Each missing or forbidden thing, as a part of a sentence.
    pub(super) fn faults(&self) -> Vec<String> {
        let (program, findings, ops) = (&self.program, &self.findings, self.ops());
        let mut faults = Vec::new();
        if !COMPATIBLE.contains(&self.licence.as_str()) {
            faults.push(format!(
                "its licence is \"{}\", with which the kernel refuses it; say \"Dual BSD/GPL\" or \"GPL\" in SEC(\"license\")",
                self.licence
            ));
        }
        if ops.name.is_empty() {
            faults.push(format!("{} has no name", ops.variable));
        }
        faults.extend(ops.absent().iter().map(|hook| format!("{} has no hook {hook}", ops.variable)));
        if ops.entry(Hook::GetInfo).is_some() {
            faults.push(format!("{} has the hook get_info, which the kernel takes from no object", ops.variable));
        }
        for (&name, &at) in &findings.missing {
            faults.push(format!(
                "{} is used at {}; lasthop does not have it",
                program.missing[name],
                program.place(at)
            ));
        }
        for (number, &at) in &findings.unknown_helpers {
            faults.push(format!("helper {number} is called at {}; lasthop does not have it", program.place(at)));
        }
        for map in &program.maps {
            if let MapKind::Other(number) = map.kind {
                faults.push(format!(
                    "map {} is of type {number}; lasthop has arrays, hashes, socket storage, ring buffers",
                    map.name
                ));
            }
        }
        if let Some(&at) = findings.invalid.first() {
            faults.push(format!("there is no instruction that lasthop knows at {}", program.place(at)));
        }
        faults.extend(self.field_faults());
        faults
    }

    fn field_faults(&self) -> Vec<String> {
        let uses = self.uses();
        let place = |it: &Use| self.program.place(it.at);
        let mut faults = Vec::new();
        for (name, it) in uses.writes.iter().filter(|(_, it)| !it.is_allowed) {
            faults.push(format!("{name} is written at {}, which the kernel lets no controller do", place(it)));
        }
        let mut unknown = false;
        for (name, it) in uses.reads.iter().filter(|(_, it)| !it.is_allowed) {
            faults.push(format!("{name} is read at {}; lasthop does not know it", place(it)));
            unknown = true;
        }
        if unknown {
            let known: Vec<String> = FIELDS.iter().map(|(_, _, owner, path, _)| format!("{owner}.{path}")).collect();
            faults.push(format!("lasthop fills: {}", known.join(", ")));
        }
        faults
    }

    /// Checks that every hook finds its needs here, as far as its code shows before it runs.
    ///
    /// # Errors
    /// A message with all that is missing.
    pub fn check(&self) -> Result<(), Error> {
        let faults = self.faults();
        if faults.is_empty() { Ok(()) } else { Err(self.error(faults.join("; "))) }
    }
}
