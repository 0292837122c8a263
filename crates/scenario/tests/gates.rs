//! The cost of a run, counted rather than timed: events, allocations and allocated bytes for each delivered segment and
//! each frame, and the sizes of frequently handled objects. It is the same on every x86-64, so any change is visible,
//! however small.
//!
//! The cases are those of `benches/gates.toml`, the numbers those of `tests/data/gates.tsv`; both are counted after
//! start-up, between two moments of a run. `make gates` rewrites the numbers.

// An allocator needs unsafe code.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lasthop_observe::metric::frames::FRAMES_SENT;
use lasthop_observe::metric::goodput::BYTES_DELIVERED;
use lasthop_scenario::{Simulation, resolve, sizes_in_bytes};
use lasthop_units::{Duration, Time};

/// With this variable the test writes the table instead of comparing with it.
const WRITE: &str = "LASTHOP_WRITE_GATES";
const HEAD: &str = "\
# What a run costs, counted: see crates/scenario/tests/gates.rs. `make gates` writes this file.
# subject\tquantity\tcount\ta segment\ta frame
";

/// The system's allocator, with a count of each thread's requests.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Successful allocations, and their bytes.
    static ALLOCATED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

fn count(bytes: usize) {
    ALLOCATED.with(|allocated| {
        let (calls, all) = allocated.get();
        allocated.set((calls + 1, all + bytes as u64));
    });
}

// SAFETY: each call is passed unchanged to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size);
        unsafe { System.realloc(memory, layout, new_size) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

/// A row of `benches/gates.toml`.
struct Case {
    name: String,
    file: PathBuf,
    settings: Vec<(String, String)>,
    payload: u64,
    from_s: f64,
    to_s: f64,
}

impl Case {
    fn of(table: &toml::Table) -> Case {
        let text = |key: &str| table[key].as_str().expect("a text").to_string();
        let seconds =
            |key: &str| table[key].as_float().or(table[key].as_integer().map(|s| s as f64)).expect("a number");
        let (from_s, to_s) = (seconds("from_s"), seconds("to_s"));
        let told = table.get("settings").and_then(|settings| settings.as_array()).into_iter().flatten();
        let pair = |word: &str| word.split_once('=').map(|(path, value)| (path.to_string(), value.to_string()));
        let mut settings: Vec<_> = told.map(|word| word.as_str().and_then(pair).expect("path=value")).collect();
        settings.push(("duration".to_string(), format!("{to_s} s")));
        settings.push(("warmup".to_string(), format!("{from_s} s")));
        let payload = table["payload"].as_integer().expect("a number") as u64;
        Case { name: text("name"), file: root().join(text("scenario")), settings, payload, from_s, to_s }
    }
}

/// The cost of a case between its two moments, and its deliveries.
struct Cost {
    segments: u64,
    frames: u64,
    events: u64,
    allocations: u64,
    allocated_bytes: u64,
}

impl Cost {
    fn of(case: &Case) -> Cost {
        let text = std::fs::read_to_string(&case.file).unwrap_or_else(|error| panic!("{:?}: {error}", case.file));
        let scenario = resolve(&text, &case.name, &case.settings).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(Arc::new(scenario), 1);
        // The metrics start with the first of the events of that moment.
        simulation.run_until(at(case.from_s) + Duration::from_nanos(1));
        let (events, (calls, bytes)) = (simulation.events(), ALLOCATED.get());
        simulation.run_until(at(case.to_s));
        let (events, (calls_then, bytes_then)) = (simulation.events() - events, ALLOCATED.get());
        let report = simulation.metrics().expect("the warm-up is over");
        let delivered: u64 = report.flows.iter().filter_map(|row| row.get(BYTES_DELIVERED)).sum();
        Cost {
            segments: delivered / case.payload,
            frames: report.nodes.iter().filter_map(|row| row.get(FRAMES_SENT)).sum(),
            events,
            allocations: calls_then - calls,
            allocated_bytes: bytes_then - bytes,
        }
    }

    /// Its rows of the table: counts, and their ratios to segments and to frames.
    fn rows(&self, name: &str) -> String {
        let counts =
            [("events", self.events), ("allocations", self.allocations), ("allocated bytes", self.allocated_bytes)];
        let mut rows = format!("{name}\tsegments\t{}\t\t\n{name}\tframes\t{}\t\t\n", self.segments, self.frames);
        for (what, count) in counts {
            let [a_segment, a_frame] = [self.segments, self.frames].map(|n| count as f64 / n as f64);
            writeln!(rows, "{name}\t{what}\t{count}\t{a_segment:.3}\t{a_frame:.3}").expect("a text takes anything");
        }
        rows
    }
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(root().join("benches/gates.toml")).expect("the cases can be read");
    let table: toml::Table = text.parse().expect("the cases are TOML");
    table["case"].as_array().expect("a list").iter().map(|case| Case::of(case.as_table().expect("a table"))).collect()
}

fn table() -> String {
    let mut table = HEAD.to_string();
    for (name, bytes) in sizes_in_bytes() {
        writeln!(table, "{name}\tsize\t{bytes}\t\t").expect("a text takes anything");
    }
    for case in cases() {
        table += &Cost::of(&case).rows(&case.name);
    }
    table
}

/// A row: its subject and quantity, and its count as shown.
type Row<'a> = ([&'a str; 2], String);

fn row(line: &str) -> Row<'_> {
    let cells: Vec<_> = line.split('\t').collect();
    match cells[..] {
        [subject, quantity, count, "", ""] => ([subject, quantity], count.to_string()),
        [subject, quantity, count, a_segment, a_frame] => {
            ([subject, quantity], format!("{count} ({a_segment} a segment, {a_frame} a frame)"))
        }
        _ => panic!("a row of the table has five cells: {line}"),
    }
}

fn rows(table: &str) -> Vec<Row<'_>> {
    table.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// A line for each row in which the tables differ: `subject, quantity: old -> new`.
fn differences(old: &str, new: &str) -> String {
    let (old, new) = (rows(old), rows(new));
    let known = |key: &[&str; 2]| old.iter().any(|(other, _)| other == key);
    let keys = old.iter().chain(new.iter().filter(|(key, _)| !known(key))).map(|(key, _)| key);
    let shown = |table: &[Row<'_>], key: &[&str; 2]| {
        table.iter().find(|(other, _)| other == key).map_or("none".to_string(), |(_, shown)| shown.clone())
    };
    let mut found = String::new();
    for key in keys {
        let (before, after) = (shown(&old, key), shown(&new, key));
        if before != after {
            writeln!(found, "  {}, {}: {before} -> {after}", key[0], key[1]).expect("a text takes anything");
        }
    }
    found
}

#[test]
#[cfg_attr(
    not(all(target_arch = "x86_64", debug_assertions)),
    ignore = "the numbers are those of the profile of tests on x86-64"
)]
fn run_costs_equal_the_recorded_ones() {
    let file = root().join("tests/data/gates.tsv");
    let found = table();
    if std::env::var_os(WRITE).is_some() {
        return std::fs::write(&file, found).expect("the table can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}; make gates"));
    let differences = differences(&kept, &found);
    assert!(
        differences.is_empty(),
        "costs differ from tests/data/gates.tsv, old -> new; `make gates` keeps the new:\n{differences}"
    );
}

#[test]
fn difference_is_reported_by_cell() {
    let old = "# head\nPpdu\tsize\t64\t\t\nx\tevents\t10\t1.000\t2.000\ny\tframes\t3\t\t\n";
    let new = "Ppdu\tsize\t48\t\t\nx\tevents\t20\t2.000\t4.000\ny\tframes\t3\t\t\nz\tframes\t1\t\t\n";
    let told = "  Ppdu, size: 64 -> 48\n  x, events: 10 (1.000 a segment, 2.000 a frame) -> 20 (2.000 a segment, \
                4.000 a frame)\n  z, frames: none -> 1\n";
    assert_eq!(differences(old, new), told);
    assert_eq!(differences(new, new), "");
}

#[test]
fn allocations_are_counted() {
    let (calls, bytes) = ALLOCATED.get();
    let mut numbers: Vec<u64> = Vec::with_capacity(10);
    numbers.extend(0..11);
    let grown = numbers.capacity() as u64;
    // 80 bytes at first, then all of the larger allocation.
    assert_eq!(ALLOCATED.get(), (calls + 2, bytes + 80 + 8 * grown));
}
