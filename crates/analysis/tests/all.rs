//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod bad_bytes;
mod bounds;
mod exchanges;
mod made;
mod sniffers;
