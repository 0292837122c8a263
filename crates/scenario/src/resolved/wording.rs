//! The words for the flows or stations that a warning concerns.

/// Number of names listed one by one.
const NAMED: usize = 4;

/// `flow a`, `flows a and b`, `all 16 flows`, `12 of 16 flows (a, b, c, d and more)`.
pub(crate) fn named(noun: &str, names: &[&str], of: usize) -> String {
    match names {
        [name] => format!("{noun} {name}"),
        _ if names.len() == of => format!("all {of} {noun}s"),
        [first @ .., last] if names.len() <= NAMED => format!("{noun}s {} and {last}", first.join(", ")),
        _ => format!("{} of {of} {noun}s ({} and more)", names.len(), names[..NAMED].join(", ")),
    }
}

/// Groups equal messages, in the order of their first occurrence, each with the names that it
/// concerns.
pub(crate) fn alike<'a, T: PartialEq>(said: impl Iterator<Item = (&'a str, T)>) -> Vec<(T, Vec<&'a str>)> {
    let mut groups: Vec<(T, Vec<&str>)> = Vec::new();
    for (name, what) in said {
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(name),
            None => groups.push((what, vec![name])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_names_are_listed() {
        assert_eq!(named("flow", &["a"], 1), "flow a");
        assert_eq!(named("flow", &["a"], 9), "flow a");
        assert_eq!(named("flow", &["a", "b", "c"], 9), "flows a, b and c");
        assert_eq!(named("flow", &["a", "b"], 2), "all 2 flows");
        assert_eq!(named("flow", &["a", "b", "c", "d", "e"], 9), "5 of 9 flows (a, b, c, d and more)");
    }
}
