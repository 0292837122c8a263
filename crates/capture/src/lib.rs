//! Captures of a run as pcapng files: an observer that builds frames from its records.
//!
//! `capture`: the observer. `site`: the constants of a run, with addresses and ports. `packets`: headers of packets
//! under way. `airborne`: PPDUs that have not ended, or that began after such. `numbering` and `scoreboard`: fields of
//! MAC frames that follow from frames before, such as sequence numbers and bitmaps of BlockAcks; `ccmp` protected bodies. `radio` builds
//! radiotap headers, `frame` MAC frames, `packet` IP packets; `files` writes.

mod airborne;
mod capture;
mod ccmp;
mod files;
mod frame;
mod numbering;
mod own_frames;
mod packet;
mod packets;
mod radio;
mod scoreboard;
mod site;

pub use capture::Capture;
pub use files::AIR;
pub use site::{BssSite, FlowSite, Format, NodeSite, Site};

/// Default number of stored bytes of a frame: all headers, including those of the first MSDU of an A-MSDU.
pub const SNAP: u32 = 128;
/// The fewest bytes of a frame that may be stored: those of a BlockAck for 256 MPDUs, rounded up.
pub const LEAST_SNAP: u32 = 64;
