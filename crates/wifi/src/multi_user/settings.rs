//! Settings of PPDUs of several users.

use lasthop_registry::words;
use lasthop_units::{Bytes, Duration};

use super::random_access::RandomAccess;

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
    /// units of triggers for stations that they do not name
    pub random_access: Option<RandomAccess>,
    /// time constant of averages of throughput, for schedulers that have them
    pub average: Option<Duration>,
    /// whether MU EDCA keeps stations from contending after triggered data
    pub holds_stations: bool,
}

impl Default for MultiUser {
    fn default() -> MultiUser {
        MultiUser {
            downlink: true,
            uplink: true,
            max_users: 8,
            acknowledge: Acknowledge::MuBar,
            bsrp: true,
            access_request: Some(Duration::from_millis(10)),
            least_bytes: None,
            random_access: None,
            average: None,
            holds_stations: false,
        }
    }
}
