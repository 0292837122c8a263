//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod endpoints;
mod examples;
mod failures;
mod maps;
mod mutated;
mod objects;
mod rules;
mod selftests;
mod traces;
