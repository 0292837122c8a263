//! The rows of a flow's book that are kept by holder of the medium.

/// A row of times by holder of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row(u8);

impl Row {
    /// at the head of a MAC
    pub const HEAD: Row = Row(0);
    /// in the queue of the station, or of its AP
    pub const QUEUES: [Row; 2] = [Row(1), Row(2)];
    /// at the head of the MAC of a station that may not contend
    pub const HELD: Row = Row(3);
    /// in the queue of the station, or of its AP, until a head is chosen
    pub const UNDECIDED: [Row; 2] = [Row(4), Row(5)];
    /// in the queue of a station that may not contend, until a head is chosen
    pub const UNDECIDED_HELD: Row = Row(6);
    /// The number of rows.
    pub const ALL: usize = 7;

    /// The side, if it is a row whose head is yet to be chosen.
    pub fn undecided_side(self) -> Option<usize> {
        match self {
            Row::UNDECIDED_HELD => Some(0),
            _ => self.0.checked_sub(Row::UNDECIDED[0].0).map(usize::from),
        }
    }

    pub fn is_undecided(self) -> bool {
        self.undecided_side().is_some()
    }

    /// Its place among all.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
