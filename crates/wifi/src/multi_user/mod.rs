//! Several users in one PPDU: settings, an access point's knowledge of its stations, and its choice of them (`scheduler`). The
//! exchanges are in `joint`.

pub(crate) mod queue_size;
pub(crate) mod random_access;
pub mod scheduler;
pub mod settings;

use lasthop_observe::NodeId;
use lasthop_units::{Bytes, Duration, Time};

use crate::phy::{ChannelWidth, Ru, frame_size};
use queue_size::QueueSize;
use random_access::Contender;
pub use random_access::RandomAccess;
use scheduler::{Scheduler, Turn, Waiting};
pub use settings::{Acknowledge, MultiUser};

/// Lifetime of a report at an access point of ns-3: `BsrLifetime` of its `ApWifiMac`.
const NS3_LIFETIME: Duration = Duration::from_millis(20);

/// EDCA parameters of a station for some time after a triggered PPDU [802.11ax-2021 §26.2.7].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MuEdca {
    /// slots after SIFS; zero: the function does not contend while the timer runs
    pub aifsn: u8,
    /// least contention window
    pub cw_min: u32,
    /// largest contention window
    pub cw_max: u32,
    /// duration of the timer
    pub timer: Duration,
}

/// The purposes for which stations are taken in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Downlink,
    Uplink,
    Question,
}

/// An access point's knowledge of its stations, and its scheduler.
pub(crate) struct Users {
    /// the stations that can take part, in their order
    stations: Vec<NodeId>,
    /// bytes that each has reported last
    pub(crate) reported: Vec<u64>,
    /// time of that report, if reports are forgotten; `None`: nothing is known of its queue
    heard: Vec<Option<Time>>,
    /// the time after which a report is forgotten; `None`: never
    lifetime: Option<Duration>,
    /// time of the latest use of the medium by the access point
    pub(crate) accessed: Time,
    /// place of the station that is next in turn, by [`Order`]
    turns: [usize; 3],
    /// how they report
    pub(crate) queue_size: QueueSize,
    /// random access of each station; empty without
    contenders: Vec<Contender>,
    /// rank of each station; empty while all are alike
    ranks: Vec<u8>,
    /// the choice of stations
    pub(crate) scheduler: Box<dyn Scheduler>,
}

impl Users {
    pub(crate) fn new(
        stations: Vec<NodeId>,
        as_ns3: bool,
        contenders: Vec<Contender>,
        scheduler: Box<dyn Scheduler>,
    ) -> Users {
        let queue_size = if as_ns3 { QueueSize::Plain } else { QueueSize::Scaled };
        let (reported, heard, ranks) = (vec![0; stations.len()], vec![None; stations.len()], Vec::new());
        let (lifetime, accessed) = (as_ns3.then_some(NS3_LIFETIME), Time::ZERO);
        Users { reported, heard, lifetime, accessed, stations, turns: [0; 3], queue_size, contenders, ranks, scheduler }
    }

    /// The stations that take part.
    pub(crate) fn stations(&self) -> &[NodeId] {
        &self.stations
    }

    /// The place of a station among them.
    pub(crate) fn place_of(&self, station: NodeId) -> Option<usize> {
        self.stations.binary_search(&station).ok()
    }

    /// Gives a station another rank.
    pub(crate) fn rank(&mut self, station: NodeId, rank: u8) {
        if let Some(place) = self.place_of(station) {
            self.ranks.resize(self.stations.len(), 0);
            self.ranks[place] = rank;
        }
    }

    /// Leaves the stations of the highest rank.
    pub(crate) fn keep_first_rank(&self, waiting: &mut Vec<Waiting>) {
        if self.ranks.is_empty() {
            return;
        }
        let highest = waiting.iter().map(|one| self.ranks[one.place]).max();
        waiting.retain(|one| Some(self.ranks[one.place]) == highest);
    }

    /// A station's contention for open units, if there are any.
    pub(crate) fn contender(&mut self, station: NodeId) -> Option<&mut Contender> {
        let place = self.place_of(station)?;
        self.contenders.get_mut(place)
    }

    /// The stations in the order of the scheduler, or from the one whose turn it is on.
    pub(crate) fn in_turn(&self, of: Order) -> impl Iterator<Item = NodeId> + use<> {
        let (before, from) = self.stations.split_at(self.turns[of as usize].min(self.stations.len()));
        let order = match self.scheduler.order() {
            Some(order) => order.into_iter().map(|place| self.stations[place]).collect(),
            None => [from, before].concat(),
        };
        order.into_iter()
    }

    /// Notes a downlink PPDU of several stations.
    pub(crate) fn has_sent(&mut self, airtime: Duration, stations: &[(NodeId, u64)]) {
        let places: Vec<usize> = stations.iter().filter_map(|(station, _)| self.place_of(*station)).collect();
        self.scheduler.on_downlink(airtime, &places);
    }

    /// The station after `last` comes next.
    pub(crate) fn has_served(&mut self, of: Order, last: NodeId) {
        let next = self.place_of(last).map_or(0, |place| place + 1);
        self.turns[of as usize] = if next < self.stations.len() { next } else { 0 };
    }

    /// Notes the bytes that a station has reported.
    pub(crate) fn reports(&mut self, now: Time, station: NodeId, bytes: u64) {
        if let Some(place) = self.place_of(station) {
            self.reported[place] = self.queue_size.bytes(self.queue_size.field(bytes));
            self.heard[place] = Some(now);
        }
    }

    /// Forgets reports at the end of their lifetime.
    pub(crate) fn forget(&mut self, now: Time) {
        let Some(lifetime) = self.lifetime else { return };
        for (heard, reported) in self.heard.iter_mut().zip(&mut self.reported) {
            *heard = heard.filter(|at| now.since(*at) < lifetime);
            if heard.is_none() {
                *reported = 0;
            }
        }
    }

    /// Returns whether nothing is known of a station's queue, since its report was forgotten or none has come. Where reports are not
    /// forgotten, a station without one has an empty queue.
    pub(crate) fn is_unknown(&self, station: NodeId) -> bool {
        self.lifetime.is_some() && self.place_of(station).is_some_and(|place| self.heard[place].is_none())
    }

    /// Returns whether any station is worth a trigger for data: it has reported some, or nothing is known.
    pub(crate) fn may_have_data(&self) -> bool {
        self.has_reports() || (self.lifetime.is_some() && self.heard.contains(&None))
    }

    /// Bytes that a station has reported.
    pub(crate) fn backlog(&self, station: NodeId) -> u64 {
        self.place_of(station).map_or(0, |place| self.reported[place])
    }

    /// Returns whether any station has reported data.
    pub(crate) fn has_reports(&self) -> bool {
        self.reported.iter().any(|bytes| *bytes > 0)
    }

    /// Notes an exchange with stations, and the bytes for which each was given airtime.
    pub(crate) fn have_turn(&mut self, now: Time, turn: Turn, stations: &[(NodeId, u64)]) {
        self.scheduler.on_turn(now, turn);
        for &(station, bytes) in stations {
            self.grants(now, station, bytes);
        }
        // Others were chosen out of turn.
        let last = stations.first();
        let order = if turn == Turn::Queue { Order::Downlink } else { Order::Uplink };
        last.into_iter().for_each(|(station, _)| self.has_served(order, *station));
    }

    /// Notes the bytes for which a station was given airtime.
    pub(crate) fn grants(&mut self, now: Time, station: NodeId, bytes: u64) {
        if let Some(place) = self.place_of(station) {
            self.scheduler.on_grant(now, place, bytes);
        }
    }
}

/// The units of `users` stations, and the number of stations served.
pub(crate) fn units(width: Option<ChannelWidth>, most: u32, users: usize) -> (Ru, usize) {
    let (ru, served) = Ru::equal(width.unwrap_or(ChannelWidth::Mhz20), most.min(users as u32));
    (ru, served as usize)
}

/// The purpose of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// one user
    Single,
    /// data to several stations
    Downlink {
        acknowledge: Acknowledge,
        /// number of users that have been asked for their BlockAck, if they are asked one by one
        asked: u32,
    },
    /// the lengths of their queues
    Questions,
    /// data of several stations, for each of which there is this time
    Uplink {
        /// duration of the symbols
        data: Duration,
    },
}

/// Frames of several users. [802.11ax-2021 §9.3.1.22, §9.3.1.8.6]
pub(crate) mod sizes {
    use super::{Bytes, frame_size};

    /// Header of a Trigger frame: Frame Control, Duration, two addresses, Common Info; and its FCS.
    const TRIGGER: u64 = 2 + 2 + 12 + 8 + frame_size::FCS.0;
    /// User Info, without what depends on the kind of trigger.
    const USER_INFO: u64 = 5;

    /// A Basic Trigger frame for this many users: a byte of Trigger Dependent User Info each.
    pub fn basic_trigger(users: u64) -> Bytes {
        Bytes(TRIGGER + users * (USER_INFO + 1))
    }
    /// A BSRP Trigger frame.
    pub fn bsrp(users: u64) -> Bytes {
        Bytes(TRIGGER + users * USER_INFO)
    }
    /// An MU-BAR Trigger frame: BAR Control and the starting sequence number for each user.
    pub fn mu_bar(users: u64) -> Bytes {
        Bytes(TRIGGER + users * (USER_INFO + 4))
    }
    /// A Multi-STA BlockAck: Frame Control, Duration, two addresses, BA Control; for each user AID and TID, starting sequence
    /// number, bitmap.
    pub fn multi_sta_block_ack(users: u64, window: u16) -> Bytes {
        let bitmap = if window <= 64 { 8 } else { 32 };
        Bytes(2 + 2 + 12 + 2 + users * (2 + 2 + bitmap) + frame_size::FCS.0)
    }
    /// A QoS Null frame with the length of the queue in its QoS Control field, as the only MPDU of an A-MPDU.
    pub const QOS_NULL: Bytes = Bytes(frame_size::AMPDU_DELIMITER.0 + 26 + frame_size::FCS.0);
}

/// Shares of a duration for parts with these tones, which add up to it.
pub(crate) fn shares(whole: Duration, tones: impl Iterator<Item = u32> + Clone) -> impl Iterator<Item = Duration> {
    let all = tones.clone().sum();
    let mut before = 0;
    tones.map(move |tones| {
        before += tones;
        whole.part(before - tones, before, all)
    })
}

#[cfg(test)]
mod tests {
    use lasthop_engine::Stream;

    use super::scheduler::{SchedulerContext, SchedulerKind};
    use super::*;

    #[test]
    fn stations_have_their_turns() {
        let context = SchedulerContext { stations: 3, of: MultiUser::default(), random: Stream::new(1, "test", 0) };
        let mut users =
            Users::new([3, 5, 8].map(NodeId).to_vec(), true, Vec::new(), SchedulerKind::default().build(context));
        let order = |users: &Users| users.in_turn(Order::Uplink).map(|node| node.0).collect::<Vec<_>>();
        assert_eq!(order(&users), [3, 5, 8]);
        users.has_served(Order::Uplink, NodeId(5));
        assert_eq!(order(&users), [8, 3, 5]);
        users.has_served(Order::Uplink, NodeId(8));
        assert_eq!(order(&users), [3, 5, 8]);
        users.reports(Time::ZERO, NodeId(5), 1);
        assert_eq!((users.backlog(NodeId(5)), users.backlog(NodeId(4)), users.has_reports()), (256, 0, true));
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        for nanos in [1, 999, 1_000_003, 5_484_000] {
            for tones in [vec![242; 4], vec![106; 7], vec![26, 52, 106], vec![996]] {
                let of: Vec<Duration> = shares(Duration::from_nanos(nanos), tones.iter().copied()).collect();
                assert_eq!(of.iter().map(|one| one.as_nanos()).sum::<u64>(), nanos);
                let (least, most) = (of.iter().min(), of.iter().max());
                assert!(
                    tones.windows(2).any(|w| w[0] != w[1]) || most.unwrap().as_nanos() - least.unwrap().as_nanos() <= 1
                );
            }
        }
    }

    #[test]
    fn triggers_have_the_sizes_of_their_fields() {
        // 28 bytes around the users.
        assert_eq!((sizes::bsrp(4), sizes::basic_trigger(4), sizes::mu_bar(4)), (Bytes(48), Bytes(52), Bytes(64)));
        assert_eq!((sizes::multi_sta_block_ack(4, 64), sizes::multi_sta_block_ack(2, 256)), (Bytes(70), Bytes(94)));
    }
}
