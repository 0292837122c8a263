//! JSON with a line for each entry.

use pyo3::prelude::*;

/// Compact JSON, with a blank after each colon, as Python's `json` writes it with an indent of two: a line for each entry of
/// a table or a list. `depth`: how deep it stands itself.
#[pyfunction]
pub(crate) fn indented(text: &str, depth: usize) -> String {
    let mut lines = Lines { text: String::with_capacity(text.len() * 2), depth };
    let mut rest = text;
    while let Some(place) = rest.find(['"', '{', '[', '}', ']', ',']) {
        let (before, from) = rest.split_at(place);
        lines.text.push_str(before);
        rest = lines.take(from);
    }
    lines.text.push_str(rest);
    lines.text
}

struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    /// Takes the string or the sign with which `rest` begins; what follows it.
    fn take<'a>(&mut self, rest: &'a str) -> &'a str {
        let (sign, after) = rest.split_at(1);
        match sign {
            "\"" => {
                let (string, after) = rest.split_at(end_of_string(rest));
                self.text.push_str(string);
                return after;
            }
            "," => {
                self.text.push(',');
                self.begin_line();
            }
            "{" | "[" => {
                // What is empty stays on its line.
                if let "}" | "]" = &after[..1] {
                    self.text.push_str(&rest[..2]);
                    return &after[1..];
                }
                self.text.push_str(sign);
                self.depth += 1;
                self.begin_line();
            }
            _ => {
                self.depth -= 1;
                self.begin_line();
                self.text.push_str(sign);
            }
        }
        after
    }

    fn begin_line(&mut self) {
        self.text.push('\n');
        (0..self.depth).for_each(|_| self.text.push_str("  "));
    }
}

/// Where the string ends with which `text` begins.
fn end_of_string(text: &str) -> usize {
    let mut from = 1;
    while let Some(place) = text[from..].find(['"', '\\']) {
        from += place + 1;
        if text.as_bytes()[from - 1] == b'"' {
            return from;
        }
        // The escaped sign is no end, whatever it is.
        from += 1;
    }
    text.len()
}
