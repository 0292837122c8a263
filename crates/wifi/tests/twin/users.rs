//! PPDUs of several users: the rules of an access point that asks, and of stations that answer.
//!
//! ```text
//!   data      AP  | data of each on its unit |     | MU-BAR |
//!             STA                                             | BlockAcks |       or one after another: BlockAck, then
//!                                                                                 BlockAckReq and BlockAck of each other
//!   question  AP  | BSRP |              then, in the same TXOP if data fit:  | trigger |          | Multi-STA BlockAck |
//!             STA          | QoS Nulls |                                                | data |
//! ```
//!
//! * All frames of an exchange are a SIFS apart. A function of an access point contends as any other, for data, or to ask.
//! * Units are of one size: the smallest of which there are as many as users or fewer. A PPDU has the users that get one.
//! * Each user of a PPDU has as many MPDUs as fit: retransmissions first, within its Block Ack window. A PPDU is as long as its
//!   longest user needs, never longer than the longest PPDU, and its exchange ends within the TXOP.
//! * A trigger names stations, units and a length. The answers of all have this length: who has no data, or none that fits,
//!   sends a QoS Null. For data the length is what the reports of those named need at most, or as long as may be.
//! * A frame for several goes to all: its reservation is kept by those that it names too, who answer nevertheless.
//! * PPDUs on different units that answer one trigger do not disturb one another, and who is not asked takes them for frames
//!   of others, without EIFS.
//! * An exchange failed if nobody answered: the window of the access point widens. Else it returns to the smallest, and each
//!   user's MPDUs are acknowledged by its own answer.
//! * An answer to a trigger changes neither the backoff nor the window of its station. Acknowledged MPDUs start its MU EDCA
//!   timer again; until it ends its function has the MU EDCA parameters, or with AIFSN 0 does not contend: it neither counts
//!   nor sends.
//! * Data and QoS Nulls report the MPDUs that wait at their station when they are put together, in bytes, without those that
//!   they carry themselves; of new packets as many count as a Block Ack window holds.
//! * An access point asks after each interval, once it has the medium, and again after answers as long as reports name data.
//!   In a TXOP it goes on with data for one station, and with a trigger for data after a question.

use super::ampdu::{Aggregation, Agreement};

/// How downlink data are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    MuBar,
    Bar,
    Aggregated,
}

/// The use of the medium that an access point has won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Queue,
    Question,
    Data,
}

/// Parameters of stations after triggered data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuEdca {
    pub aifsn: u64,
    pub cw_min: u32,
    pub cw_max: u32,
    pub timer_ns: u64,
}

/// Durations that a PHY knows, in nanoseconds.
pub trait Times {
    /// A PPDU for several, whose users have PSDUs of these bytes.
    fn mu_ns(&self, tones: u32, psdus: &[u64]) -> u64;
    /// An answer of data, at most of these bytes on each unit.
    fn tb_ns(&self, tones: u32, users: usize, bytes: u64) -> u64;
    /// A QoS Null of these bytes as an answer, in the slowest mode.
    fn null_ns(&self, tones: u32, users: usize, bytes: u64) -> u64;
    /// A trigger, or the BlockAck to several, of these bytes.
    fn trigger_ns(&self, bytes: u64) -> u64;
    /// An answer of a frame of control of these bytes.
    fn tb_control_ns(&self, tones: u32, users: usize, bytes: u64) -> u64;
    /// A frame of control of these bytes for all to read.
    fn control_ns(&self, bytes: u64) -> u64;
    /// The longest answer within `room`.
    fn tb_longest_ns(&self, tones: u32, users: usize, room: u64) -> Option<u64>;
    /// Bytes of a queue as a report has them.
    fn report(&self, bytes: u64) -> u64;
}

/// Several users in one PPDU, at an access point.
pub struct Users {
    pub times: Box<dyn Times>,
    pub width_mhz: u32,
    pub longest_ns: u64,
    pub max_users: usize,
    pub max_mpdus: usize,
    pub uplink: bool,
    pub acknowledged: Acknowledged,
    pub bsrp: bool,
    pub access_request_ns: Option<u64>,
    pub mu_edca: Option<MuEdca>,
    /// Function that has all data.
    pub category: usize,
    pub packet_bytes: u64,
    /// Bytes of an A-MPDU at most.
    pub max_bytes: u64,
    pub bitmap_bytes: u64,
    /// Time after a trigger at which answers are given up.
    pub tb_timeout_ns: u64,
}

/// The choice of use, from facts that both sides know: the time, whether packets wait, whether reports name data.
pub fn choose_use(now: u64, has_data: bool, has_reports: bool, bsrp: bool) -> Use {
    let ask = match (bsrp, has_reports) {
        (false, _) => Use::Data,
        (true, false) => Use::Question,
        (true, true) => [Use::Data, Use::Question][usize::from(dice(now, 1, 4) == 0)],
    };
    if has_data && dice(now, 2, 2) == 0 { Use::Queue } else { ask }
}

/// The choice of stations among those that wait, by their places: some of them from one on, as many as there are units.
pub fn choose_stations(now: u64, waiting: &[usize], most: usize, width_mhz: u32) -> Vec<usize> {
    let first = dice(now, 3, waiting.len() as u64) as usize;
    let count = (1 + dice(now, 4, most as u64) as usize).min(waiting.len());
    let turned: Vec<usize> = waiting[first..].iter().chain(&waiting[..first]).copied().collect();
    turned[..units(width_mhz, count).1].to_vec()
}

fn dice(now: u64, of: u64, sides: u64) -> u64 {
    let mixed = (now / 100 + of.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 40) % sides
}

/// Tones of the units for `users`, and the number of users that get one. [802.11ax-2021 Table 27-8]
pub fn units(width_mhz: u32, users: usize) -> (u32, usize) {
    let sizes: &[(u32, usize)] = match width_mhz {
        20 => &[(242, 1), (106, 2), (52, 4), (26, 9)],
        40 => &[(484, 1), (242, 2), (106, 4), (52, 8), (26, 18)],
        80 => &[(996, 1), (484, 2), (242, 4), (106, 8), (52, 16), (26, 37)],
        _ => unreachable!("a width of these cells"),
    };
    let of = sizes.iter().rev().find(|size| size.1 <= users.max(1)).expect("all of the channel is a unit");
    (of.0, of.1)
}

/// A station as its access point knows it.
#[derive(Clone, Debug, Default)]
pub struct Client {
    pub agreement: Agreement,
    /// Packets that wait for it.
    pub waiting: u64,
    pub reported: u64,
    /// True if it has answered in this exchange.
    pub answered: bool,
}

/// The exchange that an access point has begun.
#[derive(Clone, Debug, Default)]
pub struct Asking {
    pub of: Option<Use>,
    /// Nodes of the users, in order of their units.
    pub users: Vec<usize>,
    pub tones: u32,
    /// Next user that is asked for its BlockAck, if they are asked one after another.
    pub next: usize,
}

/// The state of an access point.
#[derive(Clone, Debug, Default)]
pub struct AccessPoint {
    /// By node; the access point uses none.
    pub clients: Vec<Client>,
    pub asking: Asking,
    /// True if it contends to ask.
    pub asks: bool,
    pub next_request: Option<u64>,
    /// Place of the next station that is asked for its queue.
    pub turn: usize,
    /// Packets that have come.
    pub packets: usize,
    /// Receiver of a PPDU for one, whose agreement and packets its function has meanwhile.
    pub serves: Option<usize>,
}

/// An answer that a station owes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owed {
    pub tones: u32,
    pub place: usize,
    pub users: usize,
    pub length_ns: u64,
}

impl Users {
    pub fn mpdu_bytes(&self) -> u64 {
        26 + 8 + self.packet_bytes + 4
    }

    /// Bytes of a PSDU for all that a report names; for a station of which nothing is known there is time for 2000.
    pub fn needed_bytes(&self, reported: u64) -> u64 {
        if reported > 0 { reported } else { 2000 }
    }

    /// Bytes of an MPDU with its delimiter.
    pub fn subframe_bytes(&self) -> u64 {
        4 + 26 + 8 + self.packet_bytes + 4
    }

    pub fn psdu_bytes(&self, mpdus: usize) -> u64 {
        let one = self.subframe_bytes();
        (mpdus as u64).saturating_sub(1) * one.next_multiple_of(4) + one
    }

    /// Limits of the A-MPDU of one of `users` on units of `tones`.
    pub fn limits(&self, plain: &Aggregation, tones: u32, users: usize, triggered: bool, extra: u64) -> Aggregation {
        let lasts = |mpdus: usize| {
            let bytes = self.psdu_bytes(mpdus) + extra;
            if triggered { self.times.tb_ns(tones, users, bytes) } else { self.times.mu_ns(tones, &vec![bytes; users]) }
        };
        let fits = |mpdus: &usize| self.psdu_bytes(*mpdus) <= self.max_bytes;
        let durations_ns = (1..=self.max_mpdus).take_while(fits).map(lasts).collect();
        Aggregation { durations_ns, ..plain.clone() }
    }

    /// A trigger: 16 bytes of header, 8 of common information, 5 for each user, FCS; one for data has another for each
    /// user, with the preferred category. [802.11ax-2021 §9.3.1.22]
    pub fn trigger_ns(&self, users: usize, for_data: bool) -> u64 {
        self.times.trigger_ns(28 + (5 + u64::from(for_data)) * users as u64)
    }

    /// BAR Control and Starting Sequence Control of each user come in addition.
    pub fn mu_bar_bytes(&self, users: usize) -> u64 {
        28 + 9 * users as u64
    }

    pub fn mu_bar_ns(&self, users: usize) -> u64 {
        self.times.control_ns(self.mu_bar_bytes(users))
    }

    pub fn answer_ack_ns(&self, tones: u32, users: usize) -> u64 {
        self.times.tb_control_ns(tones, users, 24 + self.bitmap_bytes)
    }

    /// A QoS Null: header, FCS, delimiter.
    pub fn null_ns(&self, tones: u32, users: usize) -> u64 {
        self.times.null_ns(tones, users, 4 + 26 + 4)
    }

    /// A Multi-STA BlockAck. [802.11ax-2021 §9.3.1.8.6]
    pub fn multi_ack_ns(&self, users: usize) -> u64 {
        self.times.trigger_ns(22 + users as u64 * (4 + self.bitmap_bytes))
    }
}
