#![doc = include_str!("../README.md")]
//!
//! # How
//!
//! Captures are read twice: once to see who is there, once to measure. The second time, what is seen is told to the metrics
//! of the simulator ([`lasthop_observe::metric`]) as records, so that a quantity means the same of a capture and of a run.
//! Memory grows with nodes and connections, not with frames.
//!
//! ```text
//! input      files, their packets in the order of time
//! frame      link type -> frame or packet          glance, survey, site   who is there
//! ppdu       MPDUs -> PPDU                         durations     how long it lasts
//! air        PPDUs -> exchanges                    sequence      what was missed
//! waiting    frames that wait for an answer        tally         what is counted of it
//! attempts   at which rate, which are retries      announcement  what an RTS was about
//! hidden     who does not hear whom
//! flows, tcp connections, read in both directions   events        all of it in the order of time
//! modes      frames by PHY mode, for models of a link   load  what a flow asks for
//! measure    records -> metrics                    document      metrics -> tables
//! recording  PPDUs and segments, as those of a run are recorded
//! ```

mod air;
mod announcement;
mod attempts;
mod clock;
mod document;
mod durations;
mod events;
mod flows;
mod frame;
mod glance;
mod hidden;
mod input;
mod load;
mod measure;
mod missed;
mod modes;
mod ppdu;
mod reading;
mod recording;
mod sequence;
mod site;
mod survey;
mod tally;
mod tcp;
mod waiting;

pub use document::{Analysis, Table};
pub use reading::{Request, analyze};
pub use recording::{Begin, Names, Recording};
