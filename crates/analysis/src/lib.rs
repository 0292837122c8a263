#![doc = include_str!("../README.md")]
//!
//! # How
//!
//! Captures are read twice: first to find nodes and flows, then to measure. The second pass turns its observations into
//! records for the metrics of the simulator ([`lasthop_observe::metric`]), so that a quantity means the same for a
//! capture and for a run. Memory grows with nodes and connections, not with frames.
//!
//! ```text
//! input      files, their packets in the order of time
//! header, frame  link type -> frame or packet     glance, survey, site   nodes and flows
//! packet     headers of TCP and UDP                dialogue   connections, with the flows of both ways
//! ppdu       MPDUs -> PPDU                         durations     airtime and intervals of the PHYs
//! air        PPDUs -> exchanges                    sequence      missed frames
//! waiting    frames that wait for an answer        tally         counts of the air
//! mpdus      data on the air                       cause         unknown modes
//! sniffer    lessons of the first pass             fcs, stamps   how a sniffer writes frames down
//! attempts   rates and retries of attempts         announcement  PPDU announced by an RTS
//! hidden     nodes that do not hear each other      echo          datagrams that come back
//! flows, tcp connections, read in both directions  events        all events in the order of time
//! modes      frames by PHY mode, for link models   mode_errors   the loss of a mode by SNR
//! load       data times and idle time of a flow    document      metrics -> tables
//! signal     how the signal of a link varies
//! measure    records -> metrics                    bounds        of state for each key of a capture
//! recording  PPDUs and segments, in the form of a run's recording
//! ```

mod aids;
mod air;
mod announcement;
mod attempts;
mod bounds;
mod cause;
mod clock;
mod count;
mod dialogue;
mod document;
mod durations;
mod echo;
mod events;
mod fcs;
mod flows;
mod frame;
mod glance;
mod header;
mod hidden;
mod hops;
mod input;
mod load;
mod measure;
mod missed;
mod mode_errors;
mod modes;
mod mpdus;
mod packet;
mod parts;
mod passing;
mod ppdu;
mod quic;
mod reading;

mod recording;
mod sequence;
mod signal;
mod site;
mod sniffer;
mod stamps;
mod subflows;
mod survey;
mod tally;
mod tcp;
mod timeline;
mod unit;
mod unknown;
mod waiting;

pub use document::{Analysis, Table};
pub use durations::ModeFields;
pub use mode_errors::mpdu_losses;
pub use reading::{Request, analyze};
pub use recording::{Begin, Names, Recording};
