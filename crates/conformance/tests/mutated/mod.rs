//! Files from elsewhere, changed at random: any content gives a verdict or a sentence with its place; never a panic, a
//! number that wraps, or work without end.

mod mutation;
mod recordings;
mod scripts;
mod traces;
