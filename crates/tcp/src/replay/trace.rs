//! The text of a trace, taken apart.

use lasthop_units::{Duration, Time};

/// What a trace was recorded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// A current Linux kernel.
    Linux,
    /// Linux 2.6.22.
    Linux26,
    /// The FAST module for ns-2.
    Ns2Fast,
}

impl Kernel {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Linux => "Linux 6.12",
            Kernel::Linux26 => "Linux 2.6.22",
            Kernel::Ns2Fast => "ns-2 FAST",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Init,
    Ack,
    AckOpen,
    AckCwr,
    AckExit,
    AckExitCwr,
    Sack,
    Loss,
    Exit,
    Rto,
}

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub index: usize,
    pub name: String,
    pub event: Event,
    pub time: Time,
    /// ACKs, segments of each, and the time between them
    pub n: u64,
    pub k: u64,
    pub spacing: Duration,
    pub rtt: Option<Duration>,
    pub ce: u32,
    /// packets in flight before the first ACK
    pub flight_before: u64,
    /// packets, after the row
    pub una: u64,
    pub nxt: u64,
    pub in_cwr: bool,
    pub cwnd: f64,
    /// `None` where it was not recorded
    pub ssthresh: Option<f64>,
    pub empties_pipe: bool,
    /// eight times the smoothed RTT, in µs or ms; `None` where it was not recorded
    pub srtt8: Option<u64>,
    pub counts_acks: bool,
}

/// A recorded trace.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Name of the recorded controller.
    pub name: String,
    /// What it was part of.
    pub kernel: Kernel,
    /// in segments
    pub initial_window: f64,
    /// in segments; infinite where there is none
    pub initial_ssthresh: f64,
    /// words `key=value` of the first line
    options: Vec<(String, String)>,
    pub(super) rows: Rows,
}

/// What follows the header.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// Rows of several ACKs each.
    Events(Vec<Row>),
    /// BBR's.
    Bbr(Vec<super::bbr::Row>),
}

/// How "no threshold" is written.
const NO_SSTHRESH: f64 = i32::MAX as f64;

impl Trace {
    /// Takes a file apart.
    ///
    /// # Errors
    /// A sentence with the line, if it is no trace.
    pub fn parse(text: &str) -> Result<Trace, String> {
        let mut lines = text.lines();
        let comment = lines.next().ok_or("an empty file is no trace")?;
        if !comment.starts_with('#') || !comment.contains("scenario:") {
            return Err("line 1: no comment with \"scenario:\", so this is no trace of a controller".to_string());
        }
        let columns = Columns { names: lines.next().ok_or("line 2: no header")?.split(',').collect() };
        let (kernel, is_bbr) = columns.kind()?;
        let value_of = |key: &str| comment.split_whitespace().find_map(|word| word.strip_prefix(key));
        let name = value_of("cc=").or(comment.split_whitespace().nth(1)).unwrap_or_default().to_string();
        let number = |key: &str, default: f64| match value_of(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("line 1: {key}{text} is no number")),
        };
        let fields = lines.enumerate().filter(|(_, line)| !line.trim().is_empty());
        let fields = fields.map(|(line, text)| (line + 3, text.trim_end().split(',').collect::<Vec<_>>()));
        let rows = if is_bbr {
            Rows::Bbr(each_row(fields, |fields| super::bbr::Row::read(&columns, fields))?)
        } else {
            let mut rows = each_row(fields, |fields| columns.row(fields, kernel))?;
            finish(&mut rows);
            Rows::Events(rows)
        };
        Ok(Trace {
            name,
            kernel,
            initial_window: number("cwnd0=", if kernel == Kernel::Ns2Fast { 2.0 } else { 10.0 })?,
            initial_ssthresh: number("ss0=", f64::INFINITY)?,
            options: comment.split_whitespace().filter_map(|word| word.split_once('=')).map(owned).collect(),
            rows,
        })
    }

    /// A number of the scenario.
    pub(super) fn option(&self, key: &str) -> Option<f64> {
        self.options.iter().find(|(name, _)| name == key)?.1.parse().ok()
    }
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_string(), value.to_string())
}

fn each_row<'a, R>(
    lines: impl Iterator<Item = (usize, Vec<&'a str>)>,
    read: impl Fn(&[&str]) -> Result<R, String>,
) -> Result<Vec<R>, String> {
    let rows: Vec<R> = lines
        .map(|(line, fields)| read(&fields).map_err(|what| format!("line {line}: {what}")))
        .collect::<Result<_, String>>()?;
    if rows.is_empty() { Err("no rows after the header".to_string()) } else { Ok(rows) }
}

/// The handshake measured what the first ACK does. An ACK is in CWR if the row before left it so.
fn finish(rows: &mut [Row]) {
    let handshake = rows.iter().find_map(|row| row.rtt);
    if let Some(first) = rows.first_mut() {
        first.rtt = handshake;
    }
    let states: Vec<bool> = rows.iter().map(|row| row.in_cwr).collect();
    for (row, before) in rows.iter_mut().skip(1).zip(states) {
        row.in_cwr = before;
    }
}

/// The header.
pub(super) struct Columns<'a> {
    names: Vec<&'a str>,
}

impl Columns<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// What the columns tell of their source, and whether it is BBR's format.
    fn kind(&self) -> Result<(Kernel, bool), String> {
        let kinds = [
            ("bw24", Kernel::Linux),
            ("srtt8_us", Kernel::Linux),
            ("srtt8_ms", Kernel::Linux26),
            ("last_old_cwnd", Kernel::Ns2Fast),
        ];
        let found = kinds.into_iter().find(|(column, _)| self.has(column));
        let (column, kernel) = found.ok_or("line 2: none of srtt8_us, srtt8_ms, last_old_cwnd among the columns")?;
        Ok((kernel, column == "bw24"))
    }

    pub fn text<'f>(&self, fields: &[&'f str], name: &str) -> Result<&'f str, String> {
        let at = self.names.iter().position(|column| *column == name).ok_or(format!("no column {name}"))?;
        fields.get(at).copied().ok_or(format!("no {name}: {} fields, {} columns", fields.len(), self.names.len()))
    }

    pub fn whole(&self, fields: &[&str], name: &str) -> Result<i64, String> {
        let field = self.text(fields, name)?;
        field.parse().map_err(|_| format!("{name} = \"{field}\" is no whole number"))
    }

    /// A whole number from 0 on.
    pub fn count(&self, fields: &[&str], name: &str) -> Result<u64, String> {
        let number = self.whole(fields, name)?;
        u64::try_from(number).map_err(|_| format!("{name} = {number} is below 0"))
    }

    fn real(&self, fields: &[&str], name: &str) -> Result<f64, String> {
        let field = self.text(fields, name)?;
        field.parse().map_err(|_| format!("{name} = \"{field}\" is no number"))
    }

    fn row(&self, fields: &[&str], kernel: Kernel) -> Result<Row, String> {
        let whole = |name: &str| self.whole(fields, name);
        let count = |name: &str| self.count(fields, name);
        let name = self.text(fields, "ev")?.to_string();
        let srtt8 = ["srtt8_us", "srtt8_ms"].into_iter().find(|column| self.has(column)).map(count);
        let (una, acked) = (count("una")?, count("n")?.saturating_mul(count("k")?));
        if una < acked && name.starts_with("ack") {
            return Err(format!("una = {una}, but the row acknowledges {acked}"));
        }
        let ssthresh = if kernel == Kernel::Ns2Fast { None } else { Some(self.real(fields, "ssthresh")?) };
        Ok(Row {
            index: count("i")? as usize,
            event: event(&name)?,
            name,
            time: Time::from_nanos(count("t_us")? * 1000),
            n: count("n")?,
            k: count("k")?,
            spacing: Duration::from_micros(count("dt_us")?),
            rtt: u64::try_from(whole("rtt_us")?).ok().map(Duration::from_micros),
            ce: if self.has("ce") { count("ce")? as u32 } else { 0 },
            flight_before: count("flight0")?,
            una: count("una")?,
            nxt: count("nxt")?,
            in_cwr: self.has("state") && self.text(fields, "state")? == "CWR",
            cwnd: self.real(fields, "cwnd")?,
            ssthresh: ssthresh.map(|ssthresh| if ssthresh < NO_SSTHRESH { ssthresh } else { f64::INFINITY }),
            srtt8: srtt8.transpose()?,
            empties_pipe: self.has("txstart") && self.text(fields, "txstart")? == "1",
            counts_acks: kernel == Kernel::Linux26,
        })
    }
}

fn event(name: &str) -> Result<Event, String> {
    Ok(match name {
        "init" => Event::Init,
        "ack" | "ack_selfcwr" => Event::Ack,
        "ack_open" => Event::AckOpen,
        "ack_cwr" => Event::AckCwr,
        "ack_exit" => Event::AckExit,
        "ack_exit_cwr" => Event::AckExitCwr,
        "sack" => Event::Sack,
        "loss" => Event::Loss,
        "exit" => Event::Exit,
        "rto" => Event::Rto,
        _ => return Err(format!("\"{name}\" is no event of a trace")),
    })
}
