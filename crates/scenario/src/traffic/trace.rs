//! A packet trace: the application writes the bytes listed in a file, at the times listed there.
//!
//! A line is a time in seconds since the flow's start and a number of bytes, separated by a comma, a semicolon or
//! blanks. Empty lines, text after `#`, and a first line of names are skipped. Times must not decrease. Over UDP a
//! line is a datagram with that payload; over TCP it is a write of that size. The trace is played once.

use std::path::Path;
use std::sync::Arc;

use lasthop_registry::FileName;
use lasthop_units::Duration;

use super::source::{Offer, Source};
use crate::trace_file;

lasthop_registry::params! {
    /// Parameters of `trace`.
    pub struct Params {
        /// File of lines "seconds, bytes"; a relative path is relative to the scenario's folder.
        pub file: FileName = FileName::default(),
    }
    check |this, path| {
        let nothing = lasthop_registry::ParamError::new(format!("{path}.file"), "a trace needs a file of lines \"seconds, bytes\"");
        if this.file.is_empty() { Err(nothing) } else { Ok(()) }
    }
}

/// About fifty million packets.
const LARGEST_FILE: u64 = 1 << 30;

/// The longest time of a trace: that of the longest run.
const LONGEST_S: f64 = 1e6;

/// Reads the trace in `file`, a path that may start at `folder`.
///
/// # Errors
/// A sentence with the number of the line.
pub(crate) fn read(file: &FileName, folder: &Path) -> Result<Arc<[Offer]>, String> {
    let (path, content) = trace_file::content(file, folder, LARGEST_FILE)?;
    let text =
        String::from_utf8(content).map_err(|_| format!("cannot read {}: it is no UTF-8 text", path.display()))?;
    parse(&text).map_err(|message| format!("{}{message}", path.display()))
}

fn parse(text: &str) -> Result<Arc<[Offer]>, String> {
    let mut offers: Vec<Offer> = Vec::new();
    let mut may_be_names = true;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let fields: Vec<&str> =
            line.split(|c: char| c == ',' || c == ';' || c.is_whitespace()).filter(|f| !f.is_empty()).collect();
        let names = std::mem::take(&mut may_be_names) && fields.iter().all(|f| f.parse::<f64>().is_err());
        if names {
            continue;
        }
        let offer = offer_of(&fields).map_err(|message| format!(":{number}: {message}"))?;
        if let Some(last) = offers.last()
            && offer.at < last.at
        {
            return Err(format!(
                ":{number}: {} s comes after {} s; sort the lines by time",
                offer.at.as_secs_f64(),
                last.at.as_secs_f64()
            ));
        }
        offers.push(offer);
    }
    if offers.is_empty() {
        return Err(": there is no line \"seconds, bytes\" in it".into());
    }
    Ok(offers.into())
}

fn offer_of(fields: &[&str]) -> Result<Offer, String> {
    let [time, bytes] = fields else {
        return Err(format!("expected two fields (seconds, bytes), found {}", fields.len()));
    };
    let at = time.parse::<f64>().ok().filter(|t| (0.0..=LONGEST_S).contains(t));
    let at = at.ok_or_else(|| format!("\"{time}\" is not a time in seconds from 0 to {LONGEST_S}"))?;
    let bytes = bytes.parse::<u32>().ok().filter(|b| (1..=1_000_000_000).contains(b));
    let bytes = bytes.ok_or_else(|| format!("\"{}\" is not a number of bytes from 1 to 1000000000", fields[1]))?;
    Ok(Offer { at: Duration::from_secs_f64(at), bytes })
}

/// An application that plays a packet trace once.
pub(crate) struct Trace {
    offers: Arc<[Offer]>,
    next: usize,
}

impl Trace {
    /// The trace from its beginning.
    pub(crate) fn new(offers: Arc<[Offer]>) -> Trace {
        Trace { offers, next: 0 }
    }
}

impl Source for Trace {
    fn next(&mut self) -> Option<Offer> {
        let offer = self.offers.get(self.next).copied();
        self.next += 1;
        offer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        parse(text).unwrap_err()
    }

    #[test]
    fn a_trace_is_played_as_it_is_listed() {
        let offers = parse("time_s,bytes\n0, 100\n\n0.0015;200 # two\n0.0015 300\n").unwrap();
        let expected = [(0, 100), (1_500_000, 200), (1_500_000, 300)];
        let mut trace = Trace::new(offers);
        for (ns, bytes) in expected {
            assert_eq!(trace.next(), Some(Offer { at: Duration::from_nanos(ns), bytes }));
        }
        assert_eq!(trace.next(), None);
    }

    #[test]
    fn device_or_directory_is_not_read_as_a_trace() {
        for path in ["/dev/zero", "/"] {
            let said = read(&path.into(), Path::new("")).unwrap_err();
            assert_eq!(said, format!("cannot read {path}: a trace is a file of at most 1 GiB"));
        }
    }

    #[test]
    fn mistakes_name_their_line() {
        assert_eq!(complaint("0 100\n1 2 3\n"), ":2: expected two fields (seconds, bytes), found 3");
        assert_eq!(complaint("1 100\n# later\n0.5 100\n"), ":3: 0.5 s comes after 1 s; sort the lines by time");
        assert_eq!(complaint("0 0\n"), ":1: \"0\" is not a number of bytes from 1 to 1000000000");
        assert_eq!(complaint("-1 10\n"), ":1: \"-1\" is not a time in seconds from 0 to 1000000");
        assert_eq!(complaint("a b\nc d\n"), ":2: \"c\" is not a time in seconds from 0 to 1000000");
        assert_eq!(complaint("# nothing\n"), ": there is no line \"seconds, bytes\" in it");
    }
}
