//! Pieces of JSON without blanks, added to a buffer.

use serde_core::Serialize;

/// Adds a value. Text, numbers and lists of them have a form in JSON, and memory takes every byte.
pub(super) fn write_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("the value has a form in JSON");
}

/// Adds the items with commas, between two brackets.
pub(super) fn write_all<I>(
    out: &mut Vec<u8>,
    [open, close]: [u8; 2],
    items: impl Iterator<Item = I>,
    mut write: impl FnMut(&mut Vec<u8>, I),
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(close);
}
