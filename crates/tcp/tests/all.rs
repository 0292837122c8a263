//! The integration tests of this crate in one program, so that it links the engine once; a new file needs a row here.

mod accecn;
mod ack_loss;
mod ack_skipping;
mod arrivals;
mod connection;
mod delayed_acks;
mod duplicates;
mod ecn;
mod giving_up;
mod hand;
mod limited_transmit;
mod prediction;
mod present;
mod prr;
mod receive_window;
mod recovery;
mod reliability;
mod unused_windows;
mod world;
