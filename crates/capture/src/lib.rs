//! Captures of a run as pcapng files: an observer that makes frames of what it is told.
//!
//! `capture`: the observer. `site`: what does not change in a run, with addresses and ports. `packets`: headers of packets that
//! are under way. `airborne`: PPDUs that have not ended, or that began after such. `numbering` and `scoreboard`: what of MAC
//! frames follows from frames before, as sequence numbers and bitmaps of BlockAcks. `radio` makes radiotap headers, `frame`
//! MAC frames, `packet` IP packets; `files` writes.

mod airborne;
mod capture;
mod files;
mod frame;
mod numbering;
mod packet;
mod packets;
mod radio;
mod scoreboard;
mod site;

pub use capture::Capture;
pub use files::AIR;
pub use site::{BssSite, FlowSite, Format, NodeSite, Site};

/// Bytes of a frame that are kept where nothing is said: all headers, also those of the first MSDU of an A-MSDU.
pub const SNAP: u32 = 128;
/// The fewest bytes of a frame that may be kept: those of a BlockAck for 256 MPDUs, rounded up.
pub const LEAST_SNAP: u32 = 64;
