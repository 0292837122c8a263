//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod any;
mod captures;
mod mutated;
mod reading;
mod round_trips;
mod tshark;
