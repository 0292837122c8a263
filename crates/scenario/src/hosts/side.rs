//! The two ends of a flow.

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// the source of the data
    Sender,
    /// its destination
    Receiver,
}

impl Side {
    /// The other end.
    pub(super) fn other(self) -> Side {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }
}
