//! Reads the reference tables in `tests/data/theory`: comma-separated, quoted notes, a header.

use lasthop_units::Duration;

/// A row, with the names of its columns.
pub struct Row(Vec<(String, String)>);

impl Row {
    /// The text in `column`.
    pub fn text(&self, column: &str) -> &str {
        let found = self.0.iter().find(|(name, _)| name == column);
        &found.unwrap_or_else(|| panic!("no column {column}")).1
    }

    /// The number in `column`.
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} is not a number: {:?}", self.text(column)))
    }

    /// The whole number in `column`.
    pub fn count(&self, column: &str) -> u32 {
        self.number(column) as u32
    }

    /// The time in `column`, which is in microseconds.
    pub fn time(&self, column: &str) -> Duration {
        Duration::from_secs_f64(self.number(column) * 1e-6)
    }
}

/// All rows of `tests/data/theory/NAME.csv`.
pub fn rows(name: &str) -> Vec<Row> {
    let path = format!("{}/../../tests/data/theory/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut lines = text.lines().map(cells);
    let header = lines.next().expect("a header");
    lines.map(|row| Row(header.iter().cloned().zip(row).collect())).collect()
}

fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("never empty").push(c),
        }
    }
    cells
}

/// The row of `phy_timing.csv` called `phy`.
pub fn phy(phy: &str) -> Row {
    rows("phy_timing").into_iter().find(|row| row.text("phy") == phy).unwrap_or_else(|| panic!("no PHY {phy}"))
}

/// The tables have six digits: half a unit of the last is at most 5e-6 of the value.
pub const SIX_DIGITS: f64 = 5.1e-6;

/// Panics unless `found` is `expected` within `relative`, or both are nothing.
pub fn assert_near(found: f64, expected: f64, relative: f64, what: &str) {
    let near = (found - expected).abs() <= relative * expected.abs() + 1e-12;
    assert!(near, "{what}: found {found}, expected {expected}, apart by {:e}", found / expected - 1.0);
}
