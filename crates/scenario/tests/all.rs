//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod account;
mod ampdu_saturation;
mod applications;
mod bounds;
mod bytes;
mod captures;
mod clocks;
mod code;
mod determinism;
mod drivers;
mod emulation_plan;
mod flow_names;
mod metamorphic;
mod mid_packet_detection;
mod older_stations;
mod one_way_hearing;
mod programs;
mod protection;
mod quantities;
mod queues;
mod quic;
mod security;
mod simultaneous_starts;
mod small_queues;
mod space;
mod stepping;
