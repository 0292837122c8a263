//! From a scenario file to results: the description of a run, the world it describes, and the run.
//!
//! `document` reads text, `description` defines its keys, `resolved` checks it as a whole, `hosts` has the flows,
//! `simulation` puts them on a network and can be stepped, `run` runs one seed, `campaign` many, and `pool` those of
//! several scenarios. `emulation` defines the setup of `lasthop emulate` on kernels, and `application` the programs
//! that it starts. `foreign` has the algorithms that a caller or a scenario brings.

mod account;
mod account_so_far;
mod agent;
mod application;
mod campaign;
mod capture;
mod certificate;
mod description;
mod diagnostic;
mod document;
pub mod emulation;
mod foreign;
mod glob;
mod hosts;
mod in_parts;
mod json;
mod knob;
mod listing;
mod plan;
mod policy;
mod pool;
pub mod quantities;
mod queues;
pub mod recording;
mod resolved;
mod run;
mod run_state;
mod run_tables;
mod schema;
mod setting;
mod settings;
mod simulation;
mod sizes;
mod tables;
mod theory;
mod trace_file;
mod traffic;
mod turn;
mod world;

pub use account_so_far::AccountSoFar;
pub use campaign::{Campaign, run_here};
pub use capture::{Captures, LEAST_SNAP, SNAP};
pub use description::{KernelChoice, TimeKind};
pub use diagnostic::{Diagnostic, Origin, Severity, Span, sentence};
pub use document::{located, parse_json};
pub use emulation::{EmulationPlan, KernelTcp, LiveFlow, LiveNode, Load, Programs, RouteMetrics};
pub use foreign::{ADDRESS, Answer, Code, CodeLoader, Loads, Plugins};
pub use in_parts::{run, run_with_account};
pub use listing::{list_json, show_json, texts};
pub use policy::{Observed, Policy, PolicyContext, PolicyKind, PolicyMaker, linear_values, load_linear};
pub use pool::Pool;
pub use quantities::{quantities, result_schema_json};
pub use resolved::{DefaultTaken, ResolvedScenario, resolve, resolve_with};
pub use run::{Keep, OpenRun, RUN_THREAD, RunOutcome, RunResult, SeriesBlock, WALL_TIME};
pub use run_tables::{Cell, Column, Part, Row, RunTables, Table, Values};
pub use schema::schema_json;
pub use simulation::{Finished, Simulation};
/// For the test that limits the size of frequently handled objects.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;
pub use theory::theory_json;

pub use knob::Knob;
pub use plan::Control;
pub use world::{Stepped, Task, World, Worlds};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
