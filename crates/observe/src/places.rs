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
