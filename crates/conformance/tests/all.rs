//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod broken_controllers;
mod broken_queues;
mod controllers;
mod known_behaviour;
mod marks;
mod mutated;
mod queues;
mod recordings;
mod vectors;
