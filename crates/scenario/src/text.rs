//! JSON written row by row: for thousands of rows, only the text is in memory.

use std::ops::Range;

use serde_json::Value as Json;

/// The text of JSON written so far.
#[derive(Default)]
pub(crate) struct Text {
    bytes: Vec<u8>,
    /// Whether the next value follows another in the same list or table.
    follows: bool,
    /// The number of open lists and tables.
    depth: usize,
    /// The keys of the outermost table, and the positions of their values.
    parts: Vec<Part>,
}

type Part = (Box<str>, Range<usize>);

/// The outcome of a run, as JSON without blanks, and the positions of its values by key.
#[derive(Clone, Debug)]
pub struct RunDocument {
    text: String,
    parts: Vec<Part>,
}

impl RunDocument {
    /// A table in `text`, without blanks; `parts`: its keys, and the positions of their values.
    pub fn new(text: String, parts: Vec<(Box<str>, Range<usize>)>) -> RunDocument {
        RunDocument { text, parts }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, without a copy.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Its keys, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(key, _)| &**key)
    }

    /// The value of a key as JSON.
    pub fn part(&self, key: &str) -> Option<&str> {
        self.parts.iter().find(|(known, _)| **known == *key).map(|(_, place)| &self.text[place.clone()])
    }
}

impl Text {
    /// Writes a table, with the content that `write` writes.
    pub(crate) fn table(&mut self, write: impl FnOnce(&mut Text)) {
        self.within(*b"{}", write);
    }

    /// Writes a list, with the content that `write` writes.
    pub(crate) fn list(&mut self, write: impl FnOnce(&mut Text)) {
        self.within(*b"[]", write);
    }

    fn within(&mut self, [opens, closes]: [u8; 2], write: impl FnOnce(&mut Text)) {
        self.separate();
        self.bytes.push(opens);
        self.follows = false;
        self.depth += 1;
        write(self);
        self.end_part(self.bytes.len());
        self.depth -= 1;
        self.bytes.push(closes);
        self.follows = true;
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.follows, true) {
            self.bytes.push(b',');
        }
    }

    /// Writes the key of the next value.
    pub(crate) fn key(&mut self, key: &str) -> &mut Text {
        self.end_part(self.bytes.len());
        self.text(key);
        self.bytes.push(b':');
        self.follows = false;
        if self.depth == 1 {
            self.parts.push((key.into(), self.bytes.len()..0));
        }
        self
    }

    /// Writes the key of the next value, within a table of the outermost: a name that needs no
    /// escapes.
    #[inline]
    pub(crate) fn name(&mut self, name: &'static str) -> &mut Text {
        debug_assert!(self.depth > 1 && name.bytes().all(is_plain), "{name}");
        self.bytes.reserve(name.len() + 4);
        self.separate();
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
        self.follows = false;
        self
    }

    /// Ends the value of the outermost key written last, if one is open.
    fn end_part(&mut self, end: usize) {
        if let (1, Some((_, place))) = (self.depth, self.parts.last_mut()) {
            place.end = end;
        }
    }

    /// Writes a value.
    pub(crate) fn value(&mut self, value: &Json) {
        self.separate();
        serde_json::to_writer(&mut self.bytes, value).expect("its keys are text");
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.separate();
        if !text.bytes().all(is_plain) {
            return serde_json::to_writer(&mut self.bytes, text).expect("text can be written");
        }
        self.bytes.reserve(text.len() + 2);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(b'"');
    }

    /// Writes `null`.
    #[inline]
    pub(crate) fn null(&mut self) {
        self.separate();
        self.bytes.extend_from_slice(b"null");
    }

    /// Writes a count.
    #[inline]
    pub(crate) fn count(&mut self, count: u64) {
        self.separate();
        if count < 10 {
            return self.bytes.push(b'0' + count as u8);
        }
        serde_json::to_writer(&mut self.bytes, &count).expect("a number can be written");
    }

    /// Writes a number; null if it is not finite.
    pub(crate) fn number(&mut self, number: f64) {
        self.separate();
        serde_json::to_writer(&mut self.bytes, &number).expect("a number can be written");
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        self.finish_table().text
    }

    /// The whole text, as a table.
    pub(crate) fn finish_table(self) -> RunDocument {
        RunDocument { text: String::from_utf8(self.bytes).expect("JSON is text"), parts: self.parts }
    }
}

/// Whether a byte of text needs no escape in JSON.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn written_text_parses_to_its_tree() {
        let mut text = Text::default();
        text.table(|text| {
            text.key("a \"b\"").list(|text| {
                [1.0, 1e300, -0.1, f64::NAN, f64::INFINITY].into_iter().for_each(|number| text.number(number));
                text.list(|_| {});
                text.table(|_| {});
            });
            text.key("c").count(u64::MAX);
            text.key("d").value(&json!({ "e": ["f", null] }));
            text.key("g").table(|text| text.key("h").count(0));
            text.key("i").text("j\n\u{1}\u{e9}");
            text.key("k").list(|text| ["l \u{e9}", "\\", "\"", ""].into_iter().for_each(|word| text.text(word)));
            text.key("m").table(|text| {
                text.name("n").null();
                text.name("o").count(9);
                text.name("p").count(10);
            });
        });
        let tree = json!({
            "a \"b\"": [1.0, 1e300, -0.1, f64::NAN, f64::INFINITY, [], {}],
            "c": u64::MAX,
            "d": { "e": ["f", null] },
            "g": { "h": 0 },
            "i": "j\n\u{1}\u{e9}",
            "k": ["l \u{e9}", "\\", "\"", ""],
            "m": { "n": null, "o": 9, "p": 10 },
        });
        assert_eq!(text.finish(), tree.to_string());
    }

    #[test]
    fn the_parts_of_a_table_are_its_values() {
        let mut text = Text::default();
        text.table(|text| {
            text.key("a").count(7);
            text.key("rows").list(|text| text.table(|text| text.key("a").text("},{")));
            text.key("none").table(|_| {});
            text.key("last").number(0.5);
        });
        let document = text.finish_table();
        assert_eq!(document.keys().collect::<Vec<_>>(), ["a", "rows", "none", "last"]);
        let tree: Json = serde_json::from_str(document.text()).unwrap();
        for key in document.keys() {
            assert_eq!(serde_json::from_str::<Json>(document.part(key).unwrap()).unwrap(), tree[key], "{key}");
        }
        assert_eq!(document.part("b"), None);
    }
}
