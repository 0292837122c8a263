//! The result of a replay.

use core::fmt;

/// Tolerated distance of a window from the recorded one: in segments or as a share, whichever is more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// difference in segments
    pub segments: f64,
    /// share of the recorded window
    pub share: f64,
}

impl Tolerance {
    /// No difference at all.
    pub const EXACT: Tolerance = Tolerance { segments: 0.0, share: 0.0 };

    /// True if `error` is within the tolerance at a recorded window of `want`.
    pub fn allows(&self, error: f64, want: f64) -> bool {
        error <= self.segments.max(self.share * want)
    }
}

/// A row on which the window or ssthresh differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// number of the row in the file
    pub row: usize,
    /// name of its event
    pub event: String,
    /// name of the column
    pub column: &'static str,
    /// recorded value
    pub want: f64,
    /// value of the controller under test
    pub got: f64,
    /// the difference
    pub error: f64,
}

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// rows compared
    pub rows: usize,
    /// rows without any difference
    pub exact: usize,
    /// rows within the tolerance, the exact ones included
    pub within: usize,
    /// the largest difference
    pub worst: Option<Difference>,
    /// the first difference
    pub first: Option<Difference>,
}

impl Report {
    /// The degree of agreement.
    pub fn verdict(&self) -> Agreement {
        if self.exact == self.rows {
            Agreement::Exact
        } else if self.within == self.rows {
            Agreement::Within
        } else {
            Agreement::Off
        }
    }

    /// Adds a row with its columns, recorded and now.
    pub(super) fn add(&mut self, row: usize, event: &str, columns: &[Column], tolerance: Tolerance) {
        self.rows += 1;
        self.exact += usize::from(columns.iter().all(|column| column.error() == 0.0));
        self.within += usize::from(columns.iter().all(|column| column.is_within(tolerance)));
        let Some(worst) = columns.iter().max_by(|a, b| a.error().total_cmp(&b.error())) else { return };
        if worst.error() == 0.0 {
            return;
        }
        let Column { name, want, got } = *worst;
        let difference = Difference { row, event: event.to_string(), column: name, want, got, error: worst.error() };
        if self.worst.as_ref().is_none_or(|before| difference.error > before.error) {
            self.worst = Some(difference.clone());
        }
        self.first.get_or_insert(difference);
    }
}

/// One number of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub name: &'static str,
    pub want: f64,
    pub got: f64,
}

impl Column {
    fn error(&self) -> f64 {
        if self.want == self.got { 0.0 } else { (self.want - self.got).abs() }
    }

    /// Values of the driver itself have no tolerance; windows have one, and values that follow from them.
    fn is_within(&self, tolerance: Tolerance) -> bool {
        let error = self.error();
        error == 0.0 || !matches!(self.name, "una" | "srtt8") && tolerance.allows(error, self.want)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Report { rows, exact, within, worst, .. } = self;
        write!(f, "{rows} rows, {exact} exact")?;
        if let Some(Difference { row, event, column, want, got, error }) = worst {
            write!(f, ", worst error {error} (row {row} {event}: {column} {got} for {want})")?;
        }
        match self.verdict() {
            Agreement::Exact => write!(f, ": exact"),
            Agreement::Within => write!(f, ": within tolerance"),
            Agreement::Off => write!(f, ": {} rows OUT OF TOLERANCE", rows - within),
        }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.segments)?;
        if self.share > 0.0 { write!(f, " or {} %", 100.0 * self.share) } else { Ok(()) }
    }
}

/// A degree of agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Every row is the same.
    Exact,
    /// Every row is within the tolerance.
    Within,
    /// Some row is outside it.
    Off,
}
