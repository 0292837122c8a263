//! The keys of rows, of which the next has most often the same.

use super::Cursor;

/// The keys of a row as they stand in it, each with what is known of it.
pub(crate) struct Shape<T>(Vec<(String, T)>);

impl<T> Default for Shape<T> {
    fn default() -> Self {
        Shape(Vec::new())
    }
}

impl<T> Shape<T> {
    /// What is known of the key in a column, if it is the one that stood there before; goes on behind it.
    #[inline(always)]
    pub(crate) fn known(&self, cursor: &mut Cursor<'_>, column: usize) -> Option<&T> {
        let (key, known) = self.0.get(column)?;
        cursor.goes_on(key).then_some(known)
    }

    /// Another key stands in a column, and others may in those behind it.
    #[cold]
    pub(crate) fn learn(&mut self, column: usize, key: &str, known: T) {
        self.0.truncate(column);
        self.0.push((format!("\"{key}\":"), known));
    }
}

impl<T: Copy> Shape<T> {
    /// Reads the key in a column; `find` tells what there is to know of one that did not stand there before.
    #[inline(always)]
    pub(crate) fn next(&mut self, cursor: &mut Cursor<'_>, column: usize, find: impl FnOnce(&str) -> T) -> T {
        if let Some(known) = self.known(cursor, column) {
            return *known;
        }
        let key = cursor.key();
        let found = find(key);
        self.learn(column, key, found);
        found
    }
}
