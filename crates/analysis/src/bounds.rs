//! Bounds of the state that grows with a capture's addresses, connections and numbers: a file may hold any number of
//! them. A bound that is reached is a note.

use std::collections::BTreeMap;

/// No PPDU has more MPDUs; one more shows that a capture is wrong.
pub(crate) const MOST_MPDUS: usize = 1024;

/// State of which there is one for each key in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kept {
    Addresses,
    Channels,
    Connections,
    Subflows,
    Tokens,
    QuicConnections,
    QuicVersions,
    SequenceNumbers,
    HiddenPairs,
    OpenPpdus,
    MpdusOfAPpdu,
    UnansweredRts,
    Names,
    Intervals,
}

impl Kept {
    /// The bound, and the consequence beyond it.
    fn most(self) -> (usize, &'static str) {
        match self {
            Kept::Addresses => (2_000_000, "addresses: frames of later ones are not looked at for nodes"),
            Kept::Channels => (64, "channels: frames on later ones count as on the first"),
            Kept::Connections => (100_000, "connections: packets of later ones are left out"),
            Kept::Subflows => (20_000, "subflows of MPTCP: later ones are left out"),
            Kept::Tokens => (20_000, "tokens of MPTCP: later subflows are not joined"),
            Kept::QuicConnections => (2_000, "connections of QUIC: the packets of later ones are not told apart"),
            Kept::QuicVersions => (16, "versions of QUIC in one direction: later ones are not listed"),
            Kept::SequenceNumbers => {
                (20_000, "pairs of nodes and TIDs: duplicates and missed frames of later ones are unknown")
            }
            Kept::HiddenPairs => (10_000, "pairs of nodes that do not hear each other: later ones are left out"),
            Kept::OpenPpdus => (1_000, "PPDUs at one time: the first of them end early"),
            Kept::MpdusOfAPpdu => (MOST_MPDUS, "MPDUs in a PPDU: later ones begin another"),
            Kept::UnansweredRts => (4_096, "RTS without a CTS in 0.5 s: the announcements of later ones are not read"),
            Kept::Intervals => (2_000_000, "intervals of rates over time: those of further links are left out"),
            Kept::Names => (100_000, "names of addresses: later ones are not read"),
        }
    }
}

/// Bounds, and the number of times that each was reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// bounds are smaller by this factor, in tests; 0 as 1
    divisor: usize,
    reached: BTreeMap<Kept, u64>,
}

impl Bounds {
    /// Bounds that are smaller than usual by a factor.
    pub(crate) fn over(divisor: usize) -> Bounds {
        Bounds { divisor, ..Bounds::default() }
    }

    /// Whether there is room for the state of one more key next to `kept` others.
    pub(crate) fn admits(&mut self, what: Kept, kept: usize) -> bool {
        let is_admitted = kept < self.most(what);
        if !is_admitted {
            *self.reached.entry(what).or_default() += 1;
        }
        is_admitted
    }

    fn most(&self, what: Kept) -> usize {
        (what.most().0 / self.divisor.max(1)).max(1)
    }

    /// Adds the bounds that another part has reached.
    pub(crate) fn add(&mut self, other: &Bounds) {
        for (what, times) in &other.reached {
            *self.reached.entry(*what).or_default() += times;
        }
    }

    /// A sentence for each bound that was reached.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.reached.iter().map(|(what, times)| {
            let times = if *times == 1 { "once".into() } else { format!("{times} times") };
            format!("more than {} {} ({times})", self.most(*what), what.most().1)
        })
    }
}
