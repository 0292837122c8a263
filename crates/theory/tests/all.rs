//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod ceilings;
mod dcf;
mod table;
