//! The result of a replay.

use crate::recovery::row::Row;

/// The first place where two lists of rows differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// number of the row, from 1; acknowledgements lost on the way are not counted
    pub row: usize,
    /// the difference, in a word or two
    pub what: String,
    /// the row recorded, if there is one
    pub recorded: Option<Row>,
    /// the row of the endpoint under test, if there is one
    pub replayed: Option<Row>,
}

/// The outcome of a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayVerdict {
    /// No difference.
    Pass,
    /// There is a difference.
    Fail,
    /// No outcome, for this reason.
    Skip(String),
}

/// The result for one file.
#[derive(Clone, Debug)]
pub struct Report {
    /// rows recorded
    pub recorded: Vec<Row>,
    /// rows of the endpoint under test
    pub replayed: Vec<Row>,
    /// rows before the first difference
    pub same: usize,
    /// first difference in the segments or acknowledgements, or in their times
    pub order: Option<Difference>,
    /// first difference in the sender's report of itself, while the order is the same
    pub state: Option<Difference>,
    /// the outcome
    pub verdict: ReplayVerdict,
}

impl Report {
    /// The first difference of either kind.
    pub fn first(&self) -> Option<&Difference> {
        let row = |difference: &Option<Difference>| difference.as_ref().map_or(usize::MAX, |d| d.row);
        if row(&self.state) < row(&self.order) { self.state.as_ref() } else { self.order.as_ref() }
    }

    /// One line: rows, the first difference, the verdict.
    pub fn line(&self) -> String {
        let rows = self.recorded.len();
        match &self.verdict {
            ReplayVerdict::Pass => format!("{rows} rows, no difference: pass"),
            ReplayVerdict::Skip(why) => format!("{rows} rows: skipped because {why}"),
            ReplayVerdict::Fail => format!("{rows} rows, {}{}: FAIL", self.describe_first(), self.describe_order()),
        }
    }

    fn describe_first(&self) -> String {
        self.first().map_or_else(String::new, Difference::describe)
    }

    /// The place where the order differs, if something else differs before.
    fn describe_order(&self) -> String {
        match (&self.order, &self.state) {
            (None, _) => "; the order is the same".to_string(),
            (Some(order), Some(state)) if state.row < order.row => format!("; the order parts in row {}", order.row),
            _ => String::new(),
        }
    }

    /// Both lists side by side, with a mark at the rows that differ.
    pub fn side_by_side(&self) -> String {
        let mut text = String::new();
        for at in 0..self.recorded.len().max(self.replayed.len()) {
            let show = |rows: &[Row]| rows.get(at).map_or_else(String::new, |row| shorten(&row.to_string()));
            let marked = at + 1 == self.first().map_or(usize::MAX, |difference| difference.row);
            let differs = self.recorded.get(at).map(without_time) != self.replayed.get(at).map(without_time);
            let mark = if marked {
                ">"
            } else if differs {
                "|"
            } else {
                " "
            };
            text += &format!("{:4} {mark} {:WIDTH$} {mark} {}\n", at + 1, show(&self.recorded), show(&self.replayed));
        }
        text
    }
}

/// Columns of one side.
const WIDTH: usize = 116;

fn shorten(text: &str) -> String {
    let words = [
        ("unacked", "out"),
        ("sacked", "sack"),
        ("retrans", "retr"),
        ("ssthresh", "ssth"),
        ("reordering", "reord"),
        ("backoff", "back"),
    ];
    words.iter().fold(text.to_string(), |text, (long, short)| text.replace(long, short))
}

fn without_time(row: &Row) -> String {
    let text = row.to_string();
    text[10..].to_string()
}

impl Difference {
    fn describe(&self) -> String {
        let show = |row: &Option<Row>| {
            row.as_ref().map_or_else(|| "nothing".to_string(), |row| row.to_string().trim().to_string())
        };
        format!(
            "row {} differs in {}: recorded \"{}\", here \"{}\"",
            self.row,
            self.what,
            show(&self.recorded),
            show(&self.replayed)
        )
    }
}
