//! The distributed coordination function [802.11-2020 §10.3].
//!
//! `contention`: who sends next. `node`: a station's or AP's queue, frame and counters. `exchange`:
//! RTS, CTS, data, ACK and what follows from their loss. `reception`: who decodes what.

pub(crate) mod contention;
mod exchange;
pub(crate) mod node;
mod reception;
pub(crate) use reception::Reception;
