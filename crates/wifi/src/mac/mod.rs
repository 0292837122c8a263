//! Medium access [802.11-2020 §10]: the distributed coordination function, and EDCA above it.
//!
//! `contention`: who sends next. `edca`: access categories. `node`: a node, its channel access functions with their
//! queues and counters; `rates`: how far a frame has come in its chain of rates. `exchange`: RTS, CTS, data, acknowledgement, TXOP. `aggregation`: how much goes into an A-MPDU;
//! `ampdu`: what, and what the BlockAck says; `block_ack`: windows and reordering. `outcome`: success, retransmission,
//! giving up; `link_memory`: what rate control did last. `transmission`: what comes on the air and who senses it. `reception`: who decodes what; `received`: what it may come to.
//! `steps`: what an account of time is told.

pub(crate) mod aggregation;
mod ampdu;
mod block_ack;
pub(crate) mod carrier_sense;
pub(crate) mod contention;
pub(crate) mod edca;
mod exchange;
pub(crate) mod interference;
pub(crate) mod link_memory;
pub(crate) mod node;
mod outcome;
pub(crate) mod ppdu;
mod rates;
pub(crate) mod received;
mod reception;
mod steps;
mod transmission;
