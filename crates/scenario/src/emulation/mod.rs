//! Emulation: the network of a scenario between hosts of which some are real.
//!
//! `plan` is what is set up and started, under one seed. `emulated` is the run, which a driver feeds, `hosts` the hosts of both
//! kinds, `carriage` what their packets carry. `classify` finds the flow of a packet, `reading` what packets tell of a flow.
//! `outcome` makes a result of a run, in which `certificate` says whether it can be trusted.

mod carriage;
mod certificate;
mod classify;
mod emulated;
mod hosts;
mod outcome;
mod plan;
mod reading;

pub(crate) use certificate::schema;
pub use certificate::{Carried, Certificate};
pub use classify::Stray;
pub use emulated::{Emulation, KernelView};
pub use hosts::Delivery;
pub use lasthop_capture::Site;
pub use outcome::{Carrier, emulate};
pub use plan::{EmulationPlan, KernelTcp, LiveFlow, LiveNode, Load, Programs, RouteMetrics};
