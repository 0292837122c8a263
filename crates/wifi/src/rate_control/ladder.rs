//! The modes of a peer in the order of their rates, one for each rate.

use std::cmp::Ordering;

use super::interface::PeerModes;
use crate::phy::{Mode, ModeId};

/// The modes of a peer as a ladder: strictly growing in rate. Among modes of one rate it has the one that needs the
/// weakest signal.
pub(super) fn ladder(peer: &PeerModes) -> Vec<ModeId> {
    one_of_each_rate(peer, |a, b| a.sensitivity.0.total_cmp(&b.sensitivity.0))
}

/// The ladder of the simplest mode for each rate: the one with the fewest streams, then the narrowest.
pub(super) fn simplest(peer: &PeerModes) -> Vec<ModeId> {
    one_of_each_rate(peer, |a, b| a.streams.cmp(&b.streams).then_with(|| a.bandwidth_hz.total_cmp(&b.bandwidth_hz)))
}

/// Modes strictly growing in rate; among those of one rate the first in `order`, then the one with the longest guard
/// interval.
fn one_of_each_rate(peer: &PeerModes, order: impl Fn(&Mode, &Mode) -> Ordering) -> Vec<ModeId> {
    let mut modes = peer.modes.to_vec();
    modes.sort_by(|a, b| {
        let (a, b) = (peer.phy.mode(*a), peer.phy.mode(*b));
        let by_guard_interval = || b.guard_interval.cmp(&a.guard_interval);
        a.rate.cmp(&b.rate).then_with(|| order(a, b)).then_with(by_guard_interval)
    });
    modes.dedup_by_key(|m| peer.phy.mode(*m).rate);
    modes
}
