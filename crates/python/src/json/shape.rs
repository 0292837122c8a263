//! The keys of rows: the next row most often has the same ones.

use super::Cursor;

/// The keys of a row in their order, each with data about it.
pub(crate) struct Shape<T>(Vec<(String, T)>);

impl<T> Default for Shape<T> {
    fn default() -> Self {
        Shape(Vec::new())
    }
}

impl<T> Shape<T> {
    /// The data about the key in a column, if it is the same as before; moves past it.
    #[inline(always)]
    pub(crate) fn known(&self, cursor: &mut Cursor<'_>, column: usize) -> Option<&T> {
        let (key, known) = self.0.get(column)?;
        cursor.goes_on(key).then_some(known)
    }

    /// Replaces the key in a column; those after it may differ, too.
    #[cold]
    pub(crate) fn learn(&mut self, column: usize, key: &str, known: T) {
        self.0.truncate(column);
        self.0.push((format!("\"{key}\":"), known));
    }
}

impl<T: Copy> Shape<T> {
    /// Reads the key in a column; `find` gives the data about a key that was not there before.
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
