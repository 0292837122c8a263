//! A part of a run within the whole.

/// The indices of a part's entities in the whole run.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// of its flows
    pub flows: Vec<u32>,
    /// of its nodes, the APs first
    pub nodes: Vec<u32>,
    /// of its directed links
    pub links: Vec<u32>,
    /// of its channels
    pub channels: Vec<u32>,
}

/// Puts what a part has of each of its entities into their places.
pub(crate) fn put<T>(all: &mut [T], places: &[u32], of_part: impl IntoIterator<Item = T>) {
    for (place, one) in places.iter().zip(of_part) {
        all[*place as usize] = one;
    }
}
