//! A Mahimahi trace: the milliseconds at which a link can deliver 1504 bytes each. [Netravali et al. 2015]
//!
//! A line is the time of one opportunity in milliseconds from the start; lines are in order, and several may have the same
//! time. The bytes of an opportunity are shared by packets: several small ones may leave at one opportunity, and a large
//! one takes as many as it needs. Bytes that find no packet are lost. The trace repeats from its last line.
//!
//! A packet that arrives at the instant of an opportunity is too late for it: Mahimahi serves the opportunity first.
//! A packet counts with the bytes of its IP packet. Mahimahi adds the four bytes of its tunnel's header.

use lasthop_units::{Duration, Time};

lasthop_registry::params! {
    /// Parameters of `trace`.
    pub struct Params {
        /// File with a line for each opportunity to deliver 1504 bytes: its time in milliseconds. The trace repeats at its end. A
        /// relative path is relative to the scenario's folder.
        pub file: lasthop_registry::FileName = lasthop_registry::FileName::default(),
    }
    check |this, path| {
        let unnamed = lasthop_registry::ParamError::new(
            format!("{path}.file"),
            ("a trace needs the name of a file", "write { kind = \"trace\", file = \"link.down\" }"),
        );
        if this.file.is_empty() { Err(unnamed) } else { Ok(()) }
    }
}

/// The bytes of one opportunity: the MTU of Mahimahi's tunnel and the header that it adds.
const OPPORTUNITY_BYTES: u64 = 1504;

/// The largest time of a trace: the length of the longest run.
const LATEST_MS: u32 = 1_000_000_000;

/// The most opportunities within a millisecond: 120 Gbit/s.
const MOST_IN_A_MS: u32 = 10_000;

const MS_NS: u64 = 1_000_000;

const REMEDY: &str = "a trace has one number a line, the millisecond of an opportunity";

/// The opportunities of one millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instant {
    at_ms: u32,
    opportunities: u32,
}

/// An instant of a trace, with the bytes that it can deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// its time
    pub at: Time,
    /// the bytes of all its opportunities
    pub bytes: u64,
}

/// The opportunities of a link, repeated without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// In order, each later than 0; the last one is at the period.
    instants: Vec<Instant>,
}

impl Trace {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// The mistake, which begins with the number of its line, and the remedy.
    pub fn parse(content: &[u8]) -> Result<Trace, (String, &'static str)> {
        let mut instants: Vec<Instant> = Vec::new();
        for (number, line) in (1..).zip(content.split(|&byte| byte == b'\n')) {
            let line = line.trim_ascii();
            if !line.is_empty() {
                add(&mut instants, line).map_err(|(what, remedy)| (format!(":{number}: {what}"), remedy))?;
            }
        }
        Trace::of(instants)
    }

    fn of(mut instants: Vec<Instant>) -> Result<Trace, (String, &'static str)> {
        let Some(&Instant { at_ms: period, .. }) = instants.last() else {
            return Err((": it has no line".into(), REMEDY));
        };
        if period == 0 {
            return Err((": all its opportunities are at 0 ms".into(), "the last time is the length of the trace"));
        }
        // The start of a repetition is the end of the one before, and no packet is in time for the first start.
        if let [Instant { at_ms: 0, opportunities }, .., last] = &mut *instants {
            last.opportunities += *opportunities;
            instants.remove(0);
        }
        Ok(Trace { instants })
    }

    /// The time after which it repeats.
    pub fn period(&self) -> Duration {
        let last = self.instants.last().expect("a trace has an opportunity");
        Duration::from_millis(u64::from(last.at_ms))
    }

    /// The first instant after `now`.
    pub fn next_after(&self, now: Time) -> Turn {
        let period = self.period().as_nanos();
        let (start, within) = (now.as_nanos() / period * period, now.as_nanos() % period);
        let next = self.instants.partition_point(|instant| u64::from(instant.at_ms) * MS_NS <= within);
        let Instant { at_ms, opportunities } = self.instants[next];
        Turn {
            at: Time::from_nanos(start + u64::from(at_ms) * MS_NS),
            bytes: u64::from(opportunities) * OPPORTUNITY_BYTES,
        }
    }
}

/// Adds the opportunity of a line.
fn add(instants: &mut Vec<Instant>, line: &[u8]) -> Result<(), (String, &'static str)> {
    let at_ms = time_of(line)?;
    match instants.last_mut() {
        Some(last) if at_ms < last.at_ms => {
            return Err((format!("{at_ms} ms comes after {} ms", last.at_ms), "sort the lines by time"));
        }
        Some(last) if at_ms == last.at_ms && last.opportunities == MOST_IN_A_MS => {
            let what = format!("more than {MOST_IN_A_MS} opportunities at {at_ms} ms are too many to simulate");
            return Err((what, "at most 120 Gbit/s in a millisecond"));
        }
        Some(last) if at_ms == last.at_ms => last.opportunities += 1,
        _ => instants.push(Instant { at_ms, opportunities: 1 }),
    }
    Ok(())
}

fn time_of(line: &[u8]) -> Result<u32, (String, &'static str)> {
    let text = match std::str::from_utf8(line) {
        Ok(text) if !text.chars().any(char::is_control) => text,
        _ => return Err(("it has bytes that are no text".into(), REMEDY)),
    };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(at_ms) if is_number && at_ms <= LATEST_MS => Ok(at_ms),
        _ if is_number => Err((format!("{} ms is too late", shortened(text)), "a trace lasts at most 1000000 s")),
        _ => Err((format!("\"{}\" is no whole number of milliseconds", shortened(text)), REMEDY)),
    }
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let begins: String = text.chars().take(MOST).collect();
    if begins.len() < text.len() { format!("{begins}…") } else { begins }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        Trace::parse(text.as_bytes()).unwrap()
    }

    fn complaint(content: impl AsRef<[u8]>) -> String {
        let (what, remedy) = Trace::parse(content.as_ref()).unwrap_err();
        format!("{what}; {remedy}")
    }

    /// The first turns after each time in microseconds: milliseconds and opportunities.
    fn turns<const N: usize>(trace: &Trace, after_us: [u64; N]) -> [(u64, u64); N] {
        after_us.map(|us| {
            let turn = trace.next_after(Time::from_nanos(us * 1000));
            assert_eq!((turn.at.as_nanos() % MS_NS, turn.bytes % 1504), (0, 0));
            (turn.at.as_nanos() / MS_NS, turn.bytes / 1504)
        })
    }

    #[test]
    fn instant_of_an_opportunity_is_too_late_for_it() {
        let trace = trace("2\n2\n5\n");
        assert_eq!(turns(&trace, [0, 1999, 2000, 4999]), [(2, 2), (2, 2), (5, 1), (5, 1)]);
        // It repeats at 5 ms: 7, 7, 10, 12, 12, 15.
        assert_eq!(turns(&trace, [5000, 7000, 9999, 10_000]), [(7, 2), (10, 1), (10, 1), (12, 2)]);
    }

    #[test]
    fn opportunities_at_0_are_those_of_the_end_of_the_repetition_before() {
        // 0, 4 and then 4 + 0, 8, 8 + 0, 12
        let trace = trace("0\n4");
        assert_eq!(turns(&trace, [0, 3999, 4000]), [(4, 2), (4, 2), (8, 2)]);
        assert_eq!(trace.period(), Duration::from_millis(4));
    }

    #[test]
    fn empty_lines_and_line_ends_of_windows_are_passed_over() {
        assert_eq!(trace("1\r\n\r\n2\r\n6\r\n").instants, trace("1\n2\n6\n").instants);
    }

    #[test]
    fn mistakes_name_line_and_remedy() {
        let one_a_line = "a trace has one number a line, the millisecond of an opportunity";
        assert_eq!(complaint("\n\n"), format!(": it has no line; {one_a_line}"));
        assert_eq!(
            complaint("0\n0\n"),
            ": all its opportunities are at 0 ms; the last time is the length of the trace"
        );
        assert_eq!(complaint("1\n5\n4\n"), ":3: 4 ms comes after 5 ms; sort the lines by time");
        for wrong in ["1.5", "-1", "+1", "1 1504", "packet"] {
            let expected = format!(":2: \"{wrong}\" is no whole number of milliseconds; {one_a_line}");
            assert_eq!(complaint(format!("1\n{wrong}\n")), expected);
        }
        assert_eq!(complaint("1000000001"), ":1: 1000000001 ms is too late; a trace lasts at most 1000000 s");
        assert_eq!(complaint([0x1f, 0x8b, 8, 0]), format!(":1: it has bytes that are no text; {one_a_line}"));
        let long = complaint("9".repeat(1_000_000));
        assert!(long.starts_with(":1: 9999") && long.len() < 200, "{long}");
        let crowded = complaint("7\n".repeat(10_001));
        assert!(crowded.starts_with(":10001: more than 10000 opportunities at 7 ms"), "{crowded}");
    }
}
