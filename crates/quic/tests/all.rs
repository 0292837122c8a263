//! The integration tests of this crate in one program; a new file needs a row here.

mod equal_windows;
mod recovery;
mod repetition;
mod sizes;
mod world;
