//! The rows of a flow's book that are kept by holder of the medium.

/// A row of times by holder of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row(u8);

impl Row {
    /// at the head of a MAC
    pub const HEAD: Row = Row(0);
    /// in the queue of the station, or of its AP
    pub const QUEUES: [Row; 2] = [Row(1), Row(2)];
    /// the same, until a head is chosen
    pub const UNDECIDED: [Row; 2] = [Row(3), Row(4)];
    /// The number of rows.
    pub const ALL: usize = 5;

    /// The side, if it is a row whose head is yet to be chosen.
    pub fn undecided_side(self) -> Option<usize> {
        self.0.checked_sub(Row::UNDECIDED[0].0).map(usize::from)
    }

    pub fn is_undecided(self) -> bool {
        self.undecided_side().is_some()
    }

    /// Its place among all.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
