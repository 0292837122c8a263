//! Valid files made invalid, for tests of readers of files from elsewhere.
//!
//! `PROPTEST_CASES=100000 cargo test --profile checked -p lasthop-conformance --test all mutated` makes a campaign of such a test.

use std::time::{Duration, Instant};

use proptest::prelude::*;

/// Values that occur in no valid file, and bounds of fields.
const STRANGE: [&str; 48] = [
    "",
    "0",
    "-1",
    "1",
    "2",
    "-0",
    "0.5",
    "1e-308",
    "1e308",
    "-1e308",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "255",
    "256",
    "32767",
    "32768",
    "65535",
    "65536",
    "86400",
    "86401",
    "100000",
    "741534",
    "120000000",
    "86400000000",
    "1000000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "x",
    "\"",
    "null",
    "true",
    "[",
    "]",
    "{",
    "}",
    ",",
    "`",
    "%{",
    "\u{e4}\u{1F4E1}",
];

/// One change to a text. Places wrap around, so that every mutation fits every text.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    kind: u8,
    at: usize,
    other: usize,
}

/// Up to `most` changes, one at least.
pub fn mutations(most: usize) -> impl Strategy<Value = Vec<Mutation>> {
    let one = (0..20u8, any::<usize>(), any::<usize>()).prop_map(|(kind, at, other)| Mutation { kind, at, other });
    proptest::collection::vec(one, 1..=most)
}

/// The text with all changes made to it, one after another.
pub fn mutated(text: &str, mutations: &[Mutation]) -> String {
    mutations.iter().fold(text.to_string(), |text, mutation| mutation.apply(&text))
}

/// The configuration of a test: `default` cases, or the number from the environment.
pub fn cases(default: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(default), failure_persistence: None, ..ProptestConfig::default() }
}

/// The result of `work`, which must finish in a bounded time.
#[allow(clippy::disallowed_methods, reason = "how long a parser takes is what is asked")]
pub fn soon<T>(work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let found = work();
    assert!(begun.elapsed() < Duration::from_secs(20), "this took {:?}", begun.elapsed());
    found
}

impl Mutation {
    fn apply(self, text: &str) -> String {
        let strange = STRANGE[self.other % STRANGE.len()];
        match self.kind {
            0..=7 => with_number(text, self.at, strange),
            8..=10 => with_number(text, self.at, number(text, self.other)),
            11 | 12 => with_line(text, self.at, |lines, at| {
                lines.remove(at);
            }),
            13 => with_line(text, self.at, |lines, at| {
                let line = lines[at];
                lines.insert(at, line);
            }),
            14 => with_line(text, self.at, |lines, at| {
                let other = self.other % lines.len();
                lines.swap(at, other);
            }),
            15 => with_line(text, self.at, |lines, at| lines.truncate(at)),
            16 => with_letters(text, self.at, 1, ""),
            17 => with_letters(text, self.at, self.other % 20, ""),
            _ => with_letters(text, self.at, 0, strange),
        }
    }
}

/// The places of numbers: first byte, and the one after the last.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        let is_digit = byte.is_ascii_digit();
        match found.last_mut() {
            Some((_, end)) if *end == at && (is_digit || byte == b'.') => *end += 1,
            _ if is_digit => found.push((at, at + 1)),
            _ => {}
        }
    }
    found
}

fn number(text: &str, which: usize) -> &str {
    let found = numbers(text);
    found.get(which % found.len().max(1)).map_or("7", |(from, to)| &text[*from..*to])
}

fn with_number(text: &str, which: usize, new: &str) -> String {
    let found = numbers(text);
    let Some((from, to)) = found.get(which % found.len().max(1)) else { return format!("{text}{new}") };
    format!("{}{new}{}", &text[..*from], &text[*to..])
}

fn with_line(text: &str, which: usize, change: impl FnOnce(&mut Vec<&str>, usize)) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if !lines.is_empty() {
        let at = which % lines.len();
        change(&mut lines, at);
    }
    lines.join("\n")
}

/// The text with `length` letters replaced by others.
fn with_letters(text: &str, which: usize, length: usize, new: &str) -> String {
    let letters = text.chars().count();
    let at = which % (letters + 1);
    text.chars().take(at).chain(new.chars()).chain(text.chars().skip(at + length)).collect()
}
