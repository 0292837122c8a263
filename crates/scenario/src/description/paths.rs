//! Paths of keys: `station`, `station.queue`, `station.0.queue`.

use lasthop_registry::{Field, Parameters, Shape};

use super::Description;

/// The name under which keys outside all sections are shown.
pub(crate) const TOP: &str = "scenario";
/// Most sections to name for a key that was put into another one.
const FEW: usize = 3;

/// A path without the indices of items: `station.0.queue` is `station.queue`.
pub(crate) fn without_indices(path: &str) -> String {
    let is_index = |step: &&str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    path.split('.').filter(|step| !is_index(step)).collect::<Vec<_>>().join(".")
}

/// Keys of other sections with the name of the last step of `path`, which its own section does not have: those within this
/// section, else the others, unless many have it.
pub(crate) fn elsewhere(path: &str) -> Vec<String> {
    let path: Vec<&str> = path.split('.').map(|step| step.split('[').next().unwrap_or(step)).collect();
    let path = without_indices(&path.join("."));
    let (section, key) = path.rsplit_once('.').unwrap_or((TOP, &path));
    let fields = Description::fields();
    if table_at(fields.clone(), section).is_none() {
        return Vec::new();
    }
    let mut paths = Vec::new();
    add_paths(&mut paths, "", fields);
    let (within, others): (Vec<String>, Vec<String>) = paths
        .into_iter()
        .filter(|found| found.ends_with(&format!(".{key}")))
        .partition(|found| found.starts_with(&format!("{section}.")));
    match within.is_empty() {
        true if others.len() <= FEW => others,
        true => Vec::new(),
        false => within,
    }
}

/// Adds the paths of these fields and of all within them.
pub(crate) fn add_paths(found: &mut Vec<String>, prefix: &str, fields: Vec<Field>) {
    for field in fields {
        let path = format!("{prefix}{}", field.name);
        add_paths(found, &format!("{path}."), table_of(&field.shape).unwrap_or_default());
        found.push(path);
    }
}

/// The fields of the section at a path, if there is one.
pub(crate) fn table_at(mut fields: Vec<Field>, path: &str) -> Option<Vec<Field>> {
    for step in path.split('.').filter(|step| *step != TOP) {
        let field = fields.into_iter().find(|field| field.name == step)?;
        fields = table_of(&field.shape)?;
    }
    Some(fields)
}

fn table_of(shape: &Shape) -> Option<Vec<Field>> {
    match shape {
        Shape::Table(fields) if !fields.is_empty() => Some(fields.clone()),
        Shape::AnyOf(shapes) => shapes.iter().find_map(table_of),
        Shape::List(item) => table_of(item),
        _ => None,
    }
}
