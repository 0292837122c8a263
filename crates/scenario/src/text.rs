//! JSON written as it comes: of thousands of rows there is never more than the text.

use serde_json::Value as Json;

/// The text of JSON as far as it is written.
#[derive(Default)]
pub(crate) struct Text {
    bytes: Vec<u8>,
    /// Something stands before what comes next, in the same list or table.
    follows: bool,
}

impl Text {
    /// A table, of what `write` writes.
    pub(crate) fn table(&mut self, write: impl FnOnce(&mut Text)) {
        self.within(*b"{}", write);
    }

    /// A list, of what `write` writes.
    pub(crate) fn list(&mut self, write: impl FnOnce(&mut Text)) {
        self.within(*b"[]", write);
    }

    fn within(&mut self, [opens, closes]: [u8; 2], write: impl FnOnce(&mut Text)) {
        self.separate();
        self.bytes.push(opens);
        self.follows = false;
        write(self);
        self.bytes.push(closes);
        self.follows = true;
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.follows, true) {
            self.bytes.push(b',');
        }
    }

    /// The key of what is written next.
    pub(crate) fn key(&mut self, key: &str) -> &mut Text {
        self.separate();
        serde_json::to_writer(&mut self.bytes, key).expect("a key is text");
        self.bytes.push(b':');
        self.follows = false;
        self
    }

    /// A value.
    pub(crate) fn value(&mut self, value: &Json) {
        self.separate();
        serde_json::to_writer(&mut self.bytes, value).expect("its keys are text");
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &str) {
        self.separate();
        serde_json::to_writer(&mut self.bytes, text).expect("text can be written");
    }

    /// A count.
    pub(crate) fn count(&mut self, count: u64) {
        self.separate();
        serde_json::to_writer(&mut self.bytes, &count).expect("a number can be written");
    }

    /// A number; null if it is none.
    pub(crate) fn number(&mut self, number: f64) {
        self.separate();
        serde_json::to_writer(&mut self.bytes, &number).expect("a number can be written");
    }

    /// All of it.
    pub(crate) fn finish(self) -> String {
        String::from_utf8(self.bytes).expect("JSON is text")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_reads_as_the_tree_of_it() {
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
        });
        let tree = json!({
            "a \"b\"": [1.0, 1e300, -0.1, f64::NAN, f64::INFINITY, [], {}],
            "c": u64::MAX,
            "d": { "e": ["f", null] },
            "g": { "h": 0 },
            "i": "j\n\u{1}\u{e9}",
        });
        assert_eq!(text.finish(), tree.to_string());
    }
}
