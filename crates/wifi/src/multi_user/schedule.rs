//! Whom a PPDU of several users serves.

use lasthop_observe::NodeId;
use lasthop_units::Time;

use super::{Last, MultiUser, MultiUserKind, Users};
use crate::phy::{ChannelWidth, Ru};

/// The purposes for which stations are taken in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Downlink,
    Uplink,
    Question,
}

impl Users {
    /// The stations that take part.
    pub(super) fn stations(&self) -> &[NodeId] {
        &self.stations
    }

    /// The stations, from the one whose turn it is on.
    pub(super) fn in_turn(&self, of: Turn) -> impl Iterator<Item = NodeId> + '_ {
        let (before, from) = self.stations.split_at(self.turns[of as usize].min(self.stations.len()));
        from.iter().chain(before).copied()
    }

    /// The next turn is that of the station after `last`.
    pub(super) fn has_served(&mut self, of: Turn, last: NodeId) {
        let next = self.place_of(last).map_or(0, |place| place + 1);
        self.turns[of as usize] = if next < self.stations.len() { next } else { 0 };
    }

    /// Notes the bytes that a station has reported.
    pub(super) fn reports(&mut self, station: NodeId, bytes: u64) {
        if let Some(place) = self.place_of(station) {
            // The field counts units of 256 bytes, up to 254 of them, and 255 means more. [802.11ax-2021 §9.2.4.5.6]
            self.reported[place] = bytes.div_ceil(256) * 256;
        }
    }

    /// Bytes that a station has reported.
    pub(super) fn backlog(&self, station: NodeId) -> u64 {
        self.place_of(station).map_or(0, |place| self.reported[place])
    }

    /// Returns whether stations are to be served now, rather than the queue of the access point, which `has_data` or not.
    pub(super) fn serves_uplink(&self, now: Time, of: &MultiUser, has_data: bool) -> bool {
        if !of.uplink || self.stations.is_empty() {
            return false;
        }
        if has_data && self.last == Last::Uplink {
            return false;
        }
        match of.kind {
            MultiUserKind::Ns3Rr => true,
            MultiUserKind::Airtime => !has_data || self.has_reports() || self.asks(now, of),
        }
    }

    /// Returns whether any station has reported data.
    pub(super) fn has_reports(&self) -> bool {
        self.reported.iter().any(|bytes| *bytes > 0)
    }

    /// Returns whether stations that have reported nothing are asked again.
    fn asks(&self, now: Time, of: &MultiUser) -> bool {
        of.access_request.is_some_and(|interval| self.asked.is_none_or(|at| now.since(at) >= interval))
    }

    /// Notes an exchange with several stations.
    pub(super) fn note(&mut self, last: Last, asked: Option<Time>) {
        self.last = last;
        self.asked = asked.or(self.asked);
    }
}

/// The units of `users` stations, and the number of stations served.
pub(super) fn units(width: Option<ChannelWidth>, of: &MultiUser, users: usize) -> (Ru, usize) {
    let (ru, served) = Ru::equal(width.unwrap_or(ChannelWidth::Mhz20), of.max_users.min(users as u32));
    (ru, served as usize)
}

#[cfg(test)]
mod tests {
    use lasthop_units::Duration;

    use super::super::Acknowledge;
    use super::*;

    const OF: MultiUser = MultiUser {
        kind: MultiUserKind::Airtime,
        downlink: true,
        uplink: true,
        max_users: 8,
        acknowledge: Acknowledge::MuBar,
        bsrp: true,
        access_request: Some(Duration::from_millis(10)),
        least_bytes: None,
    };

    fn users() -> Users {
        Users::new([3, 5, 8].map(NodeId).to_vec())
    }
    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn stations_have_their_turns() {
        let mut users = users();
        let order = |users: &Users| users.in_turn(Turn::Uplink).map(|node| node.0).collect::<Vec<_>>();
        assert_eq!(order(&users), [3, 5, 8]);
        users.has_served(Turn::Uplink, NodeId(5));
        assert_eq!(order(&users), [8, 3, 5]);
        users.has_served(Turn::Uplink, NodeId(8));
        assert_eq!(order(&users), [3, 5, 8]);
    }

    #[test]
    fn uplink_and_downlink_alternate_where_both_have_data() {
        let mut users = users();
        assert!(users.serves_uplink(ms(0), &OF, true), "nobody was asked yet");
        users.note(Last::Uplink, Some(ms(0)));
        assert!(!users.serves_uplink(ms(1), &OF, true));
        users.note(Last::Downlink, None);
        assert!(!users.serves_uplink(ms(2), &OF, true), "it is early to ask again");
        users.reports(NodeId(5), 1);
        assert!(users.serves_uplink(ms(2), &OF, true));
        assert_eq!((users.backlog(NodeId(5)), users.backlog(NodeId(4))), (256, 0));
        assert!(!users.serves_uplink(ms(2), &MultiUser { uplink: false, ..OF }, false));
    }

    #[test]
    fn stations_without_reports_are_asked_again_after_the_interval() {
        let mut users = users();
        users.note(Last::Downlink, Some(ms(0)));
        assert_eq!([9, 10].map(|at| users.serves_uplink(ms(at), &OF, true)), [false, true]);
    }
}
