//! Files from elsewhere, changed at random: whatever stands in one, there is a verdict or a sentence with its place; never a
//! panic, a number that wraps, or work without end.

mod mutation;
mod recordings;
mod scripts;
mod traces;
