//! Exchanges with several users at once [802.11ax-2021 §26.5].
//!
//! ```text
//! downlink   AP       | HE MU: data of several |      | MU-BAR |                     (or a BlockAckReq for each, or
//!            stations                                            | TB: BlockAcks |     the trigger within the data)
//! uplink     AP       | trigger |                    | Multi-STA BlockAck |
//!            stations            | TB: data of several |                     each a SIFS after the last
//! ```
//!
//! The access point wins the medium as ever; a station that a trigger names sends without contending, and keeps its
//! backoff, its window and its retry counters. `downlink`, `uplink`: the exchanges. `parts`: their PPDUs.

mod downlink;
mod parts;
mod uplink;
