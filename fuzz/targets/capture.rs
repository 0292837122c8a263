//! A capture, a frame or a packet: what can be read of it, or an error with its place.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/reading/mod.rs"]
mod reading;

fuzz_target!(|bytes: &[u8]| {
    reading::as_anything(bytes);
});
