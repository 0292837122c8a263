//! Congestion controllers, held to recorded traces.

pub mod replay;
