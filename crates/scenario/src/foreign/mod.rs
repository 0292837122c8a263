//! Algorithms that lasthop does not have: plug-ins of a caller, and code of a scenario.
//!
//! `kinds` has a row for each kind of algorithm that may be brought, `code` is a scenario's choice of code, and `search`
//! replaces both in the values of a document.

mod code;
mod kinds;
mod search;

pub(crate) use code::in_folder;
pub use code::{ADDRESS, Code};
pub(crate) use kinds::load;
pub use kinds::{Answer, CodeLoader, Loads, Plugins};
pub(crate) use search::{Found, is_named_in, replace_in};
