//! From a scenario file to results: the description of a run, the world it describes, and the run.
//!
//! `document` reads text, `description` says what may stand in it, `resolved` checks it as a whole,
//! `world` wires endpoints, links and the medium together, `run` runs one seed and `campaign` many.

mod account;
mod campaign;
mod description;
mod document;
mod listing;
mod queues;
mod resolved;
mod run;
mod schema;
mod theory;
mod traffic;
mod world;

pub use campaign::{Campaign, RUN_THREAD, RunOutcome};
pub use document::InputError;
pub use listing::{list_json, show_json};
pub use resolved::{DefaultTaken, ResolvedScenario, resolve};
pub use run::{Keep, RunResult, SeriesBlock, run, run_with_account};
pub use schema::schema_json;
pub use theory::theory_json;
