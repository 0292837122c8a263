//! The access points of stations, from the frames on the air: authentications, associations, and the last and first data frame
//! around a roam. [802.11-2020 §9.2.4.1, §9.3.3]

use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

/// A frame that matters for associations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Authentication {
        algorithm: u16,
    },
    /// the answer to a request of association or reassociation
    Association {
        status: u16,
    },
    /// data with a payload that is no frame of an authentication by EAPOL
    Data,
    Other,
}

/// The authentication algorithm of 802.11r. [802.11-2020 §9.4.1.1]
const FAST_TRANSITION: u16 = 2;

fn kind_of(frame: &[u8]) -> Kind {
    const HEADER: usize = 24;
    const QOS: usize = 2;
    const EAPOL: [u8; 2] = [0x88, 0x8e];
    let number = |place: usize| frame.get(place..place + 2).map(|two| u16::from_le_bytes([two[0], two[1]]));
    let (Some(first), is_protected) = (frame.first(), frame.get(1).is_some_and(|flags| flags & 0x40 != 0)) else {
        return Kind::Other;
    };
    match ((first >> 2) & 3, first >> 4) {
        (0, 11) => number(HEADER).map_or(Kind::Other, |algorithm| Kind::Authentication { algorithm }),
        (0, 1 | 3) => number(HEADER + 2).map_or(Kind::Other, |status| Kind::Association { status }),
        // Those without data have the third bit of the subtype, those with QoS the fourth.
        (2, subtype) if subtype & 4 == 0 => {
            let body = HEADER + if subtype & 8 != 0 { QOS } else { 0 };
            let is_eapol = !is_protected && frame.get(body + 6..body + 8) == Some(&EAPOL);
            if is_eapol { Kind::Other } else { Kind::Data }
        }
        _ => Kind::Other,
    }
}

/// A station's roam.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Roamed {
    pub(super) station: NodeId,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) at: Time,
    pub(super) fast_transition: bool,
    pub(super) gap: Option<Duration>,
}

/// The state of a station.
#[derive(Clone, Debug, Default)]
struct Station {
    ap: Option<NodeId>,
    /// whether it has begun to leave its access point, and by which algorithm
    leaves: Option<u16>,
    last_data: Option<Time>,
    /// its roam since which no data has passed
    open: Option<usize>,
}

/// The access points of all stations, and their roams so far.
#[derive(Clone, Debug)]
pub(super) struct Roams {
    aps: usize,
    /// by node; those of access points stay empty
    stations: Vec<Station>,
    pub(super) list: Vec<Roamed>,
}

impl Roams {
    pub(super) fn new(aps: usize, nodes: usize) -> Roams {
        Roams { aps, stations: vec![Station::default(); nodes], list: Vec::new() }
    }

    /// The access point that a station has joined.
    pub(super) fn access_point_of(&self, station: NodeId) -> Option<NodeId> {
        self.stations[station.index()].ap
    }

    /// A node sends a frame to another.
    pub(super) fn sent(&mut self, from: NodeId, to: NodeId, frame: &[u8]) {
        if let Kind::Authentication { algorithm } = kind_of(frame)
            && from.index() >= self.aps
            && self.stations[from.index()].ap != Some(to)
        {
            self.stations[from.index()].leaves = Some(algorithm);
        }
    }

    /// A frame has reached the other node.
    pub(super) fn arrived(&mut self, at: Time, from: NodeId, to: NodeId, frame: &[u8]) {
        if kind_of(frame) != Kind::Data {
            return;
        }
        let (station, ap) = if from.index() >= self.aps { (from, to) } else { (to, from) };
        let of = &mut self.stations[station.index()];
        if of.ap != Some(ap) || of.leaves.is_some() {
            return;
        }
        if let Some(open) = of.open.take() {
            self.list[open].gap = of.last_data.map(|last| at.since(last));
        }
        of.last_data = Some(at);
    }

    /// An access point's frame to a station was acknowledged.
    pub(super) fn acknowledged(&mut self, at: Time, from: NodeId, to: NodeId, frame: &[u8]) {
        if from.index() >= self.aps || kind_of(frame) != (Kind::Association { status: 0 }) {
            return;
        }
        let of = &mut self.stations[to.index()];
        let algorithm = of.leaves.take();
        let before = of.ap.replace(from);
        if let Some(before) = before.filter(|before| *before != from) {
            of.open = Some(self.list.len());
            let fast_transition = algorithm == Some(FAST_TRANSITION);
            self.list.push(Roamed { station: to, from: before, to: from, at, fast_transition, gap: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATION: NodeId = NodeId(2);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A frame of this type and subtype with this body.
    fn frame(first: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 24];
        bytes[0] = first;
        bytes.extend(body);
        bytes
    }

    fn data() -> Vec<u8> {
        frame(0x88, &[0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 1, 2])
    }

    fn roams(algorithm: u8) -> Roams {
        let mut roams = Roams::new(2, 3);
        let (auth, response) = (frame(0xb0, &[algorithm, 0, 1, 0]), frame(0x30, &[1, 0, 0, 0, 1, 0xc0]));
        roams.acknowledged(ms(1), NodeId(0), STATION, &frame(0x10, &[1, 0, 0, 0]));
        roams.arrived(ms(10), STATION, NodeId(0), &data());
        roams.sent(STATION, NodeId(1), &auth);
        // On its way to a station that has left.
        roams.arrived(ms(12), NodeId(0), STATION, &data());
        roams.acknowledged(ms(20), NodeId(1), STATION, &response);
        roams
    }

    #[test]
    fn a_gap_is_from_the_last_data_before_to_the_first_after() {
        let mut roams = roams(0);
        assert_eq!(roams.access_point_of(STATION), Some(NodeId(1)));
        // EAPOL, then a null frame: neither is data.
        roams.arrived(ms(22), NodeId(1), STATION, &frame(0x88, &[0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0x8e]));
        roams.arrived(ms(23), STATION, NodeId(1), &frame(0xc8, &[0, 0]));
        assert_eq!(roams.list[0].gap, None);
        roams.arrived(ms(25), NodeId(1), STATION, &data());
        roams.arrived(ms(26), NodeId(1), STATION, &data());
        let of = &roams.list[0];
        assert_eq!((of.from, of.to, of.at, of.fast_transition), (NodeId(0), NodeId(1), ms(20), false));
        assert_eq!(of.gap, Some(Duration::from_millis(15)));
    }

    #[test]
    fn the_algorithm_says_whether_it_was_by_802_11r() {
        assert!(roams(2).list[0].fast_transition);
    }

    #[test]
    fn a_refused_or_repeated_association_is_no_roam() {
        let mut roams = Roams::new(2, 3);
        roams.acknowledged(ms(1), NodeId(0), STATION, &frame(0x10, &[1, 0, 0, 0]));
        roams.acknowledged(ms(2), NodeId(1), STATION, &frame(0x30, &[1, 0, 17, 0]));
        roams.acknowledged(ms(3), NodeId(0), STATION, &frame(0x30, &[1, 0, 0, 0]));
        assert!(roams.list.is_empty());
        assert_eq!(roams.access_point_of(STATION), Some(NodeId(0)));
    }
}
