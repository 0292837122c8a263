//! Several users in one PPDU: settings, an access point's knowledge of its stations, and its choice of them (`schedule`). The
//! exchanges are in `joint`.

pub(crate) mod schedule;

use lasthop_observe::NodeId;
use lasthop_registry::words;
use lasthop_units::{Bytes, Duration, Time};

use crate::phy::frame_size;

words! {
    /// The choice of the stations that a PPDU serves.
    pub enum MultiUserKind {
        /// those whose turn it is by the queue's airtime, or in turn; uplink as soon as stations report data
        Airtime = "airtime",
        /// as the scheduler of ns-3 does: in turn, an uplink exchange after each one downlink
        Ns3Rr = "ns3_rr",
    }
}

words! {
    /// The acknowledgement of a downlink PPDU of several users.
    pub enum Acknowledge {
        /// a trigger after the data, which all answer together
        MuBar = "mu_bar",
        /// the first user answers at once, each other one a BlockAckReq
        Bar = "bar",
        /// a trigger among the data of each user, which all answer together
        Aggregated = "aggregated",
    }
}

/// Use of PPDUs of several users by an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiUser {
    /// the scheduler
    pub kind: MultiUserKind,
    /// whether data to several stations may go together
    pub downlink: bool,
    /// whether stations are asked for their data
    pub uplink: bool,
    /// most users of a PPDU
    pub max_users: u32,
    /// the acknowledgement of downlink data
    pub acknowledge: Acknowledge,
    /// whether stations are asked for the length of their queues first
    pub bsrp: bool,
    /// interval in which the access point asks for the medium to ask stations, if it has nothing to send; `None`: it asks only
    /// when it has
    pub access_request: Option<Duration>,
    /// a downlink PPDU serves several only if this many bytes wait for them in all; `None`: however few
    pub least_bytes: Option<Bytes>,
    /// whether MU EDCA keeps stations from contending after triggered data
    pub holds_stations: bool,
}

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

/// The latest exchange of an access point with its stations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Last {
    #[default]
    Downlink,
    /// asked for the lengths of queues
    Question,
    Uplink,
}

/// An access point's knowledge of its stations.
#[derive(Debug, Default)]
pub(crate) struct Users {
    /// the stations that can take part, in their order
    stations: Vec<NodeId>,
    /// bytes that each has reported last
    reported: Vec<u64>,
    /// place of the station that is next in turn: downlink, uplink, and for questions
    turns: [usize; 3],
    last: Last,
    /// time of the latest question
    asked: Option<Time>,
}

impl Users {
    pub(crate) fn new(stations: Vec<NodeId>) -> Users {
        Users { reported: vec![0; stations.len()], stations, ..Users::default() }
    }

    fn place_of(&self, station: NodeId) -> Option<usize> {
        self.stations.binary_search(&station).ok()
    }
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
    let all: u64 = tones.clone().map(u64::from).sum::<u64>().max(1);
    let mut before = 0;
    tones.map(move |tones| {
        let end = |tones: u64| (u128::from(whole.as_nanos()) * u128::from(tones) / u128::from(all)) as u64;
        let from = end(before);
        before += u64::from(tones);
        Duration::from_nanos(end(before) - from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
