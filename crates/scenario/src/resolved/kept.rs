//! A value that is computed once, of an object that may be copied.

use std::sync::OnceLock;

/// The value, once somebody has asked for it. A copy computes its own, as it may be changed.
pub(super) struct Kept<T>(OnceLock<T>);

impl<T> Kept<T> {
    pub(super) fn get_or_compute(&self, compute: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(compute)
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(OnceLock::new())
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Kept::default()
    }
}
