//! The distributed coordination function [802.11-2020 §10.3].
//!
//! `contention`: who sends next. `node`: a station's or AP's queue, frame and counters. `exchange`:
//! RTS, CTS, data, ACK. `outcome`: success, retransmission, giving up. `transmission`: what comes on the
//! air and who senses it. `reception`: who decodes what.

pub(crate) mod carrier_sense;
pub(crate) mod contention;
mod exchange;
pub(crate) mod interference;
pub(crate) mod node;
mod outcome;
pub(crate) mod ppdu;
mod reception;
mod transmission;
