//! The keys of a scenario that take any text, with the meaning of the text.

use std::collections::BTreeMap;

use lasthop_registry::{Field, Names, Parameters, Registry, Shape};

use crate::description::Description;

/// Every key that takes any text, by its last step, in alphabetical order. A key whose text names a file in one section does so
/// in all, as the stricter rule is the safe one.
pub fn texts() -> Vec<(&'static str, Names)> {
    let mut found = BTreeMap::new();
    add_fields(&mut found, &Description::fields());
    found.into_iter().collect()
}

fn add_fields(found: &mut BTreeMap<&'static str, Names>, fields: &[Field]) {
    for field in fields {
        add(found, field.name, &field.shape);
    }
}

fn add(found: &mut BTreeMap<&'static str, Names>, key: &'static str, shape: &Shape) {
    match shape {
        Shape::Text(names) => {
            let before = found.entry(key).or_insert(*names);
            *before = stricter(*before, *names);
        }
        Shape::Table(fields) => add_fields(found, fields),
        Shape::List(item) => add(found, key, item),
        Shape::AnyOf(shapes) => shapes.iter().for_each(|shape| add(found, key, shape)),
        Shape::Algorithm(registry) => add_registry(found, registry),
        Shape::Boolean | Shape::Integer { .. } | Shape::Number { .. } | Shape::Quantity { .. } | Shape::Words(_) => {}
    }
}

fn add_registry(found: &mut BTreeMap<&'static str, Names>, registry: &Registry) {
    for entry in registry.all_entries() {
        add_fields(found, &(entry.fields)());
    }
}

/// The meaning that allows less.
fn stricter(one: Names, other: Names) -> Names {
    match (one, other) {
        (Names::Command, _) | (_, Names::Command) => Names::Command,
        (Names::File, _) | (_, Names::File) => Names::File,
        (Names::Word, Names::Word) => Names::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_meanings_of_their_manual() {
        let of = |names| texts().into_iter().filter(|(_, of)| *of == names).map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(of(Names::File), ["file", "hostapd", "kernel", "library", "object", "wpa_supplicant"]);
        assert_eq!(of(Names::Command), ["client", "server"]);
        assert_eq!(
            of(Names::Word),
            ["at", "bss", "class", "control", "description", "hidden", "name", "observe", "ssid", "station"]
        );
    }
}
