//! Queue disciplines, of this project or of others: their promises to a MAC and a wire.
//!
//! [`suite`] tests a [`Candidate`] against all promises; each rule is a function that can be called by itself. Steps of
//! failures are packets.
//!
//! ```
//! use lasthop_conformance::queue::{self, Candidate};
//! use lasthop_link::{Below, QueueDisciplineKind};
//!
//! // Any Box<dyn QueueDiscipline<u64>> will do.
//! let kind = &QueueDisciplineKind::all()[0];
//! let build = queue::registered(kind, Below::IDEAL);
//! assert_eq!(queue::suite(&Candidate::new("mine", &build)), []);
//! ```

mod bench;
mod candidate;
mod rules;

use std::ops::Range;

pub use candidate::{Candidate, Order, registered};
pub use rules::{
    a_flow_keeps_its_order, an_empty_queue_gives_nothing, only_pure_acks_are_filtered,
    packets_are_conserved_and_counted, the_same_packets_have_the_same_fate, whoever_has_the_turn_has_something_to_send,
    whoever_is_asked_for_is_found,
};

use crate::failure::{Failure, rules};

rules! {
    /// A promise of queue disciplines.
    Candidate;
    packets_are_conserved_and_counted: 1..2,
    a_flow_keeps_its_order: 2..3,
    the_same_packets_have_the_same_fate: 3..4,
    an_empty_queue_gives_nothing: 1..2,
    whoever_is_asked_for_is_found: 4..5,
    only_pure_acks_are_filtered: 5..6,
    whoever_has_the_turn_has_something_to_send: 6..7,
}
