//! An epoll file and its watched files.

use std::collections::BTreeMap;

/// An epoll file.
#[derive(Debug, Default)]
pub(crate) struct Epoll {
    pub watched: BTreeMap<i64, Watch>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub events: i64,
    /// edge-triggered: the wake-ups that it has reported
    pub told: Option<u64>,
}

impl Epoll {
    pub fn watch(&mut self, file: i64, events: i64) {
        self.watched.insert(file, Watch { events, told: None });
    }
    pub fn forget(&mut self, file: i64) {
        self.watched.remove(&file);
    }
}
