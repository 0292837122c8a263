//! The text of a recording, taken apart.

use serde_json::Value;

use crate::recovery::row::{Ack, Cause, Happening, Info, Out, Row};
use crate::recovery::scenario::{LONGEST_MS, MOST_ROWS, Scenario};

/// Ticks of a kernel in a second; Linux has 1000 at most.
const MOST_HZ: u64 = 10_000;

/// A recording.
#[derive(Clone, Debug)]
pub struct Trace {
    /// its name
    pub name: String,
    /// the kernel that was recorded
    pub kernel: String,
    /// ticks of its timers in a second
    pub hz: u64,
    /// the conditions of the recording
    pub scenario: Scenario,
    /// number of runs in which the order was the recorded one, and of all runs
    pub identical_runs: (u64, u64),
    /// the events
    pub rows: Vec<Row>,
    /// numbers of the ACKs that were lost
    pub lost_acks: Vec<u64>,
}

impl Trace {
    /// Takes a file apart.
    ///
    /// # Errors
    /// A sentence with the place, if it is not a recording.
    pub fn parse(text: &str) -> Result<Trace, String> {
        let document: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
        let word = |key: &str| document[key].as_str().ok_or_else(|| format!("\"{key}\" is missing"));
        let events = document["events"].as_array().ok_or("\"events\" is missing")?;
        let mut rows = Vec::new();
        let mut lost_acks = Vec::new();
        for (number, event) in events.iter().enumerate() {
            let fields = Fields(event.as_array().map_or(&[], Vec::as_slice));
            if fields.word(0) == Some("ack_lost") {
                lost_acks.push(fields.whole(2).ok_or_else(|| format!("event {number}: ack_lost without a number"))?);
                continue;
            }
            rows.push(fields.row().ok_or_else(|| format!("event {number} is not readable: {}", beginning(event)))?);
        }
        if rows.len() > MOST_ROWS || lost_acks.len() > MOST_ROWS {
            return Err(format!("{} events; a recording may have {MOST_ROWS}", events.len()));
        }
        let runs = word("identical_runs")?;
        let hz = document["HZ"].as_u64();
        let parts = runs.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        Ok(Trace {
            name: word("name")?.to_string(),
            kernel: word("kernel")?.to_string(),
            hz: hz
                .filter(|hz| (1..=MOST_HZ).contains(hz))
                .ok_or(format!("\"HZ\" is not a number from 1 to {MOST_HZ}"))?,
            scenario: Scenario::parse(&document["scenario"])?,
            identical_runs: parts.ok_or_else(|| format!("identical_runs \"{runs}\" is not like \"3/3\""))?,
            rows,
            lost_acks,
        })
    }
}

fn beginning(event: &Value) -> String {
    let text = event.to_string();
    if text.chars().count() <= 100 { text } else { text.chars().take(100).chain("…".chars()).collect() }
}

/// The fields of one event.
struct Fields<'a>(&'a [Value]);

impl Fields<'_> {
    fn word(&self, at: usize) -> Option<&str> {
        self.0.get(at)?.as_str()
    }
    /// A counter of the kernel, which has 32 bits.
    fn whole(&self, at: usize) -> Option<u64> {
        self.0.get(at)?.as_u64().filter(|number| *number <= u64::from(u32::MAX))
    }
    /// A time in ms.
    fn time(&self, at: usize) -> Option<f64> {
        self.0.get(at)?.as_f64().filter(|ms| (-LONGEST_MS..=LONGEST_MS).contains(ms))
    }
    fn flags(&self, from: usize) -> Option<Vec<String>> {
        self.0.get(from..)?.iter().map(|flag| flag.as_str().map(str::to_string)).collect()
    }
    fn blocks(&self, at: usize) -> Option<Vec<(u64, u64)>> {
        self.0.get(at)?.as_array()?.iter().map(|block| Some((block[0].as_u64()?, block[1].as_u64()?))).collect()
    }

    fn row(&self) -> Option<Row> {
        let happening = match self.word(0)? {
            "out" => Happening::Out(Out {
                segment: self.whole(2)?,
                transmission: self.whole(3)?,
                cause: Cause::parse(self.word(4)?)?,
                flags: self.flags(5)?,
            }),
            "ack" => Happening::Ack(Ack {
                number: self.whole(2)?,
                cumulative: self.whole(3)?,
                blocks: self.blocks(4)?,
                flags: self.flags(5)?,
            }),
            "info" => Happening::Info(self.info()?),
            _ => return None,
        };
        Some(Row { t_ms: self.time(1)?, happening })
    }

    fn info(&self) -> Option<Info> {
        Some(Info {
            after: Cause::parse(self.word(2)?)?,
            ca_state: self.word(3)?.to_string(),
            cwnd: self.whole(4)?,
            ssthresh: self.whole(5)?,
            unacked: self.whole(6)?,
            sacked: self.whole(7)?,
            lost: self.whole(8)?,
            retrans: self.whole(9)?,
            rto_ms: self.time(10)?,
            srtt_ms: self.time(11)?,
            backoff: self.whole(12)?,
            reordering: self.whole(13)?,
        })
    }
}
