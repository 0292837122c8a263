//! JSON with a line for each entry, in the form of Python's `json` with an indent of two.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{Cursor, Shape, push_number};

/// A new line, and enough spaces for most depths; deeper lines are filled up.
const SPACE: &[u8; 65] = b"\n                                                                ";

/// JSON without blanks, with a line for each entry of a table or a list. `depth`: the depth of the value
/// itself.
#[pyfunction]
pub(crate) fn indented<'py>(py: Python<'py>, text: &str, depth: usize) -> Bound<'py, PyBytes> {
    let mut out = Vec::with_capacity(text.len() * 2);
    Lines::at(depth).write(&mut Cursor::new(text), &mut out, usize::MAX);
    PyBytes::new(py, &out)
}

/// The state of a depth: tables there are rows, most often with the same keys.
#[derive(Default)]
struct Level {
    /// Each key with the start of its line.
    shape: Shape<Vec<u8>>,
    /// Number of keys of the open table so far.
    column: usize,
}

/// JSON in conversion to lines.
pub(crate) struct Lines {
    /// The depth of the next item.
    depth: usize,
    levels: Vec<Level>,
}

impl Lines {
    pub(crate) fn at(depth: usize) -> Lines {
        let mut lines = Lines { depth: 0, levels: Vec::new() };
        lines.go_to(depth);
        lines
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Continues until there are `most` bytes or a few more, or until nothing is left: then false.
    pub(crate) fn write(&mut self, cursor: &mut Cursor<'_>, out: &mut Vec<u8>, most: usize) -> bool {
        while out.len() < most {
            match cursor.peek() {
                0 => return false,
                b'"' => self.string(cursor, out),
                b',' => self.next(cursor, out),
                b'{' | b'[' => self.open(cursor, out),
                sign @ (b'}' | b']') => {
                    cursor.pass();
                    self.depth -= 1;
                    self.begin_line(out);
                    out.push(sign);
                }
                b'-' | b'0'..=b'9' => push_number(out, cursor.word()),
                _ => out.extend_from_slice(cursor.word().as_bytes()),
            }
        }
        true
    }

    fn go_to(&mut self, depth: usize) {
        self.depth = depth;
        if self.levels.len() <= depth {
            self.levels.resize_with(depth + 1, Level::default);
        }
        self.levels[depth].column = 0;
    }

    /// The next entry or item.
    #[inline(always)]
    fn next(&mut self, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) {
        cursor.pass();
        out.push(b',');
        let level = &mut self.levels[self.depth];
        if let Some(line) = level.shape.known(cursor, level.column) {
            level.column += 1;
            return out.extend_from_slice(line);
        }
        self.begin_line(out);
    }

    /// A string; with the text after it if it is a key.
    fn string(&mut self, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) {
        let string = cursor.string();
        out.extend_from_slice(string.as_bytes());
        if cursor.peek() != b':' {
            return;
        }
        cursor.pass();
        out.extend_from_slice(b": ");
        let mut line = Vec::new();
        self.begin_line(&mut line);
        line.extend_from_slice(string.as_bytes());
        line.extend_from_slice(b": ");
        let level = &mut self.levels[self.depth];
        level.shape.learn(level.column, &string[1..string.len() - 1], line);
        level.column += 1;
    }

    fn open(&mut self, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) {
        out.push(cursor.peek());
        cursor.pass();
        let next = cursor.peek();
        // An empty table or list stays on its line.
        if matches!(next, b'}' | b']') {
            cursor.pass();
            return out.push(next);
        }
        self.go_to(self.depth + 1);
        let level = &mut self.levels[self.depth];
        if let Some(line) = level.shape.known(cursor, 0) {
            level.column = 1;
            return out.extend_from_slice(line);
        }
        self.begin_line(out);
    }

    #[inline(always)]
    fn begin_line(&self, out: &mut Vec<u8>) {
        let wide = 2 * self.depth;
        if let Some(line) = SPACE.get(..=wide) {
            return out.extend_from_slice(line);
        }
        out.push(b'\n');
        out.resize(out.len() + wide, b' ');
    }
}
