//! A quantity with its unit: a number or an error of one line.
#![no_main]

use std::fmt::Display;
use std::str::FromStr;

use lasthop_units::{Bytes, DataRate, Db, Dbm, Duration, Metres, Packets};
use libfuzzer_sys::fuzz_target;

fn read<T: FromStr<Err: Display>>(text: &str) {
    if let Err(error) = text.parse::<T>() {
        assert!(!error.to_string().is_empty());
    }
}

fuzz_target!(|text: &str| {
    read::<Bytes>(text);
    read::<DataRate>(text);
    read::<Db>(text);
    read::<Dbm>(text);
    read::<Duration>(text);
    read::<Metres>(text);
    read::<Packets>(text);
});
