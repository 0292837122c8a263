//! Shell patterns for names: `*` matches any text, `?` one character.

/// Whether `name` matches `pattern`.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // The last star, and the first character of the name that it does not cover.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((last, covered)) = star else { return false };
                star = Some((last, covered + 1));
                at = last + 1;
                in_name = covered + 1;
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_a_shell() {
        let right =
            [("*", "sta1"), ("sta?", "sta1"), ("s*1", "sta1"), ("sta1", "sta1"), ("*", ""), ("a*b*c", "axbybc")];
        for (pattern, name) in right {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        let wrong = [("sta?", "sta10"), ("up*", "sta1"), ("", "sta1"), ("?", ""), ("a*b", "abc"), ("a*a", "a")];
        for (pattern, name) in wrong {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_pattern_times_name() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }
}
