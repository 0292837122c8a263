//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod account;
mod metrics;
mod recording;
