//! One list of parameters, one list of algorithms.
//!
//! [`params!`](crate::params) turns a struct whose fields carry doc comments and defaults into all text
//! functions: reading with errors that name the place and the remedy, defaults, a resolved form for results,
//! and the descriptions for the schema, the manual and the help. [`registry!`](crate::registry) does the same
//! for a table of algorithms: one row makes the module, the enum variant, the name, the parsing and the entry
//! in `lasthop list`.

mod code;
mod error;
mod fault;
mod foreign;
mod macros;
mod not_modelled;
mod parameter;
mod shape;
mod text;
mod value;

pub use code::Language;
pub use error::{ParamError, refuse, suggestion};
pub use fault::{Fault, Kind};
pub use foreign::{Finds, Foreign, Pluggable, Plugged, Slot, find_foreign};
pub use not_modelled::not_modelled;
pub use parameter::{
    Amount, KIND_IS_NEEDED, Parameter, Parameters, Switch, no_word, not_a_table, read_table, table_to_value,
    unknown_key, wrong_type,
};
#[doc(hidden)]
pub use parameter::{entries, field, set_entry};
pub use shape::{Entry, Field, Names, Registry, Shape};
pub use text::{CommandLine, FileName, Word};
pub use value::Value;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
