//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod airtime;
mod bottleneck;
mod cake;
mod dualpi2;
mod flow_queues;
mod fq_mac;
mod packets;
mod replay;
