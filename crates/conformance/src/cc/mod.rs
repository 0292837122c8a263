//! Congestion controllers, of this project or of others: their promises, and recordings of others of their kind.
//!
//! [`suite`] tests a [`Candidate`] against all promises; each rule is a function that can be called by itself.
//!
//! ```
//! use lasthop_conformance::cc;
//! use lasthop_tcp::congestion_control::{Algorithm, CongestionControl, Context};
//!
//! // Any Box<dyn CongestionControl> will do.
//! let build = |context: &Context| -> Box<dyn CongestionControl> { Algorithm::all()[0].build(context) };
//! let candidate = cc::Candidate::new("mine", &build);
//! cc::no_path_drives_it_out_of_bounds(&candidate, 0..3).expect("a finite window, whatever happens");
//! ```

mod bottleneck;
mod candidate;
pub mod dumbbell;
mod events;
pub mod replay;
mod samples;
mod storm;

use std::ops::Range;

pub use bottleneck::{
    a_loss_leaves_its_share, equal_flows_come_to_equal_shares, kept_by_losses, late_comers_gain_where_it_is_said,
    no_window_grows_that_is_not_used, one_flow_uses_the_bottleneck, shares, the_same_seed_gives_the_same_result,
    utilisation,
};
pub use candidate::Candidate;
pub use events::{
    holds_a_window_that_is_not_used, repeated_timeout_holds_ssthresh, shrinks_on_loss_and_never_below_two_segments,
    starts_as_told_and_doubles_in_slow_start,
};
pub use storm::{no_arithmetic_wraps, no_path_drives_it_out_of_bounds};

use crate::failure::{Failure, rules};

rules! {
    /// A promise of controllers.
    Candidate;
    starts_as_told_and_doubles_in_slow_start: 1..2,
    shrinks_on_loss_and_never_below_two_segments: 1..2,
    repeated_timeout_holds_ssthresh: 1..2,
    holds_a_window_that_is_not_used: 1..2,
    no_path_drives_it_out_of_bounds: 0..30,
    no_arithmetic_wraps: 0..30,
    one_flow_uses_the_bottleneck: 1..2,
    a_loss_leaves_its_share: 1..2,
    equal_flows_come_to_equal_shares: 1..2,
    late_comers_gain_where_it_is_said: 1..2,
    the_same_seed_gives_the_same_result: 5..6,
    no_window_grows_that_is_not_used: 1..2,
}
