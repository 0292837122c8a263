//! JSON without blanks, read in place: runs of thousands of stations never become a tree.
//!
//! All of it comes from the engine or from Python's encoder, so it is well formed.

mod cursor;
mod lines;
mod numbers;
mod shape;
mod values;

pub(crate) use cursor::Cursor;
pub(crate) use lines::{Lines, indented};
pub(crate) use numbers::push_number;
pub(crate) use shape::Shape;
pub(crate) use values::{columns, first_items, table, value};
