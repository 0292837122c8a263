//! Whom a PPDU of several users serves.

use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

use super::{Last, MultiUser, MultiUserKind, Users};
use crate::phy::{ChannelWidth, ModeId, Phy, Ru};

/// The interval of questions to stations, unless the scenario gives one.
const ASKED_AGAIN: Duration = Duration::from_millis(10);

/// The purposes for which stations are taken in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Downlink,
    Uplink,
    Question,
}

impl Users {
    /// The stations that take part.
    pub(crate) fn stations(&self) -> &[NodeId] {
        &self.stations
    }

    /// The stations, from the one whose turn it is on.
    pub(crate) fn in_turn(&self, of: Turn) -> impl Iterator<Item = NodeId> + '_ {
        let (before, from) = self.stations.split_at(self.turns[of as usize].min(self.stations.len()));
        from.iter().chain(before).copied()
    }

    /// The station after `last` comes next.
    pub(crate) fn has_served(&mut self, of: Turn, last: NodeId) {
        let next = self.place_of(last).map_or(0, |place| place + 1);
        self.turns[of as usize] = if next < self.stations.len() { next } else { 0 };
    }

    /// Notes the bytes that a station has reported.
    pub(crate) fn reports(&mut self, station: NodeId, bytes: u64) {
        if let Some(place) = self.place_of(station) {
            // The field counts units of 256 bytes. Its limit of 254 units is left out. [802.11ax-2021 §9.2.4.5.6]
            self.reported[place] = bytes.div_ceil(256) * 256;
        }
    }

    /// Bytes that a station has reported.
    pub(crate) fn backlog(&self, station: NodeId) -> u64 {
        self.place_of(station).map_or(0, |place| self.reported[place])
    }

    /// Returns whether stations are to be served now, rather than the queue of the access point, which `has_data` or not.
    pub(crate) fn serves_uplink(&self, now: Time, of: &MultiUser, has_data: bool) -> bool {
        if !of.uplink || self.stations.is_empty() {
            return false;
        }
        if has_data && self.last == Last::Uplink {
            return false;
        }
        !has_data || self.has_reports() || self.asks(now, of)
    }

    /// Returns whether any station has reported data.
    pub(crate) fn has_reports(&self) -> bool {
        self.reported.iter().any(|bytes| *bytes > 0)
    }

    /// Returns whether stations are asked for the lengths of their queues now, rather than for data.
    ///
    /// Where MU EDCA keeps stations from contending, their answers to downlink data wait for a trigger.
    pub(crate) fn asks(&self, now: Time, of: &MultiUser) -> bool {
        match of.kind {
            // A station may have sent the reported data by itself since.
            MultiUserKind::Ns3Rr => self.last != Last::Question || !self.has_reports(),
            MultiUserKind::Airtime if of.holds_stations && self.last == Last::Downlink => true,
            MultiUserKind::Airtime => {
                let interval = of.access_request.unwrap_or(ASKED_AGAIN);
                self.asked.is_none_or(|at| now.since(at) >= interval)
            }
        }
    }

    /// Notes an exchange with several stations.
    pub(crate) fn note(&mut self, last: Last, asked: Option<Time>) {
        self.last = last;
        self.asked = asked.or(self.asked);
    }
}

/// Data that wait for a station, as a scheduler estimates them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub station: NodeId,
    /// the mode in which it was served last
    pub mode: ModeId,
    pub bytes: u64,
}

/// Times of an exchange besides its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// longest time of data
    pub longest: Duration,
    /// contention and acknowledgement of a PPDU for one
    pub one: Duration,
    /// the same of a PPDU for several
    pub several: Duration,
}

/// Orders all stations but the first by how much their data take longer or shorter than the data of the first, so that little
/// of a PPDU for the first ones is padding.
pub(crate) fn alike_first(phy: &Phy, waiting: &mut [Waiting]) {
    let takes = |user: &Waiting| user.bytes.max(1) as f64 / phy.mode(user.mode).rate.as_bps() as f64;
    let Some((first, others)) = waiting.split_first_mut() else { return };
    let first = takes(first);
    let ratio = |user: &Waiting| (takes(user) / first).max(first / takes(user));
    others.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
}

/// The number of stations, the first of these, whose data bring the most bytes in their time: a PPDU lasts as long as its
/// longest user needs, so that one with little data beside one with much is mostly padding. Without `may_be_one` several
/// are served, as long as there are several.
pub(crate) fn best_number(phy: &Phy, waiting: &[Waiting], most: u32, around: &Around, may_be_one: bool) -> usize {
    let width = phy.channel_width().unwrap_or(ChannelWidth::Mhz20);
    let per_second = |users: &[Waiting], ru: Ru, others: Duration| {
        let share = f64::from(ru.data_subcarriers()) / f64::from(Ru::whole(width).data_subcarriers());
        let takes = |user: &Waiting| user.bytes as f64 * 8.0 / (phy.mode(user.mode).rate.as_bps() as f64 * share);
        let longest = around.longest.as_secs_f64();
        let data = users.iter().map(takes).fold(0.0, f64::max).min(longest);
        let sent: f64 = users.iter().map(|user| user.bytes as f64 * (data / takes(user)).min(1.0)).sum();
        sent / (data + others.as_secs_f64())
    };
    let mut best = (1, per_second(&waiting[..1], Ru::whole(width), around.one));
    if !may_be_one {
        best.1 = 0.0;
    }
    for users in 2..=waiting.len().min(most as usize) {
        let (ru, served) = Ru::equal(width, users as u32);
        if served as usize == users {
            let found = per_second(&waiting[..users], ru, around.several);
            if found >= best.1 {
                best = (users, found);
            }
        }
    }
    best.0
}

/// The units of `users` stations, and the number of stations served.
pub(crate) fn units(width: Option<ChannelWidth>, of: &MultiUser, users: usize) -> (Ru, usize) {
    let (ru, served) = Ru::equal(width.unwrap_or(ChannelWidth::Mhz20), of.max_users.min(users as u32));
    (ru, served as usize)
}

#[cfg(test)]
mod tests {
    use super::super::Acknowledge;
    use super::*;
    use crate::phy::{PhyOptions, Standard};

    const OF: MultiUser = MultiUser {
        kind: MultiUserKind::Airtime,
        downlink: true,
        uplink: true,
        max_users: 8,
        acknowledge: Acknowledge::MuBar,
        bsrp: true,
        access_request: Some(Duration::from_millis(10)),
        least_bytes: None,
        holds_stations: false,
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

    #[test]
    fn stations_with_as_much_data_as_the_first_come_next() {
        let phy = PhyOptions::new(Standard::named("802.11ax").unwrap()).resolve("bss").unwrap();
        let mode = phy.mode_of_mcs(7).unwrap();
        let mut waiting: Vec<Waiting> = [(1, 10_000), (2, 200), (3, 30_000), (4, 5000), (5, 9000), (6, 200)]
            .map(|(station, bytes)| Waiting { station: NodeId(station), mode, bytes })
            .to_vec();
        alike_first(&phy, &mut waiting);
        assert_eq!(waiting.iter().map(|user| user.station.0).collect::<Vec<_>>(), [1, 5, 4, 3, 2, 6]);
    }

    #[test]
    fn little_data_beside_much_does_not_share_a_ppdu() {
        let options = PhyOptions {
            channel_width: Some(ChannelWidth::Mhz80),
            ..PhyOptions::new(Standard::named("802.11ax").unwrap())
        };
        let phy = options.resolve("bss").unwrap();
        let mode = phy.mode_of_mcs(7).unwrap();
        let us = Duration::from_micros;
        let around = Around { longest: us(5000), one: us(200), several: us(350) };
        let of = |bytes: &[u64]| {
            let of = |&bytes: &u64| Waiting { station: NodeId(0), mode, bytes };
            let waiting: Vec<Waiting> = bytes.iter().map(of).collect();
            best_number(&phy, &waiting, 8, &around, true)
        };
        // Much for one, a packet for each of the others: alone. Equal data, much or little: together.
        assert_eq!(of(&[100_000, 1500, 1500, 1500]), 1);
        assert_eq!((of(&[50_000; 4]), of(&[1500; 8])), (4, 8));
        // Two with more, two with less; with much, the tones that two units leave unused cost more than a preamble.
        assert_eq!((of(&[5000, 5000, 1500, 1500]), of(&[50_000, 50_000, 1500, 1500])), (2, 1));
    }
}
