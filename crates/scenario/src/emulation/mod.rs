//! Emulation: the network of a scenario between hosts some of which are real.
//!
//! `plan` describes the setup and the programs to start, under one seed. `emulated` is the run, which a driver feeds;
//! `hosts` has the hosts of both kinds, `carriage` the bodies of their packets, `frames` the frames of a kernel's Wi-Fi
//! stack, `whereabouts` the nodes of its stations. `classify` finds the flow of a packet, `reading` the state of a flow from its packets. `outcome` turns a run into a
//! result, in which `certificate` says whether it can be trusted.

mod carriage;
mod classify;
mod emulated;
mod frames;
mod hosts;
mod outcome;
mod plan;
mod reading;
mod whereabouts;

pub use crate::certificate::{Association, Carried, Certificate, Roam, StackReport};
pub use crate::description::StackSecurity;
pub use classify::Stray;
pub use emulated::{Emulation, KernelView, StackFrame};
pub use frames::{AirEvent, Ampdu, McsKind, StackRate};
pub use hosts::{Arrives, Delivery};
pub use lasthop_capture::Site;
pub use outcome::{Carrier, emulate};
pub use plan::{Cell, EmulationPlan, KernelTcp, LiveFlow, LiveNode, Load, Programs, RouteMetrics, StackPlan};
