//! The text of a trace, taken apart.

use core::ops::RangeInclusive;

use lasthop_units::{Duration, Time};

use super::bbr;
use super::columns::Columns;
use super::limits::{self, within};

/// The origin of a trace.
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
    /// The name of the origin.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Linux => "Linux 6.12",
            Kernel::Linux26 => "Linux 2.6.22",
            Kernel::Ns2Fast => "ns-2 FAST",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceEvent {
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
    pub event: TraceEvent,
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
    /// Kernel that it was a part of.
    pub kernel: Kernel,
    /// in segments
    pub initial_window: f64,
    /// in segments; infinite where there is none
    pub initial_ssthresh: f64,
    /// FAST: segments to keep in the queue, and its step
    pub(super) alpha: Option<f64>,
    pub(super) gamma: Option<f64>,
    pub(super) rows: Rows,
}

/// The rows after the header.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// Rows of several ACKs each.
    Events(Vec<Row>),
    /// Rows of BBR.
    Bbr(Vec<bbr::Row>),
}

/// The value written for "no threshold".
const NO_SSTHRESH: f64 = i32::MAX as f64;

impl Trace {
    /// Takes a file apart.
    ///
    /// # Errors
    /// A sentence with the line, if it is not a trace.
    pub fn parse(text: &str) -> Result<Trace, String> {
        let mut lines = text.lines();
        let comment = lines.next().ok_or("an empty file is not a trace")?;
        if !comment.starts_with('#') || !comment.contains("scenario:") {
            return Err("line 1: no comment with \"scenario:\", so this is not a trace of a controller".to_string());
        }
        let columns = Columns { names: lines.next().ok_or("line 2: no header")?.split(',').collect() };
        let (kernel, is_bbr) = columns.kind()?;
        let value_of = |key: &str| comment.split_whitespace().find_map(|word| word.strip_prefix(key));
        let name = value_of("cc=").or(comment.split_whitespace().nth(1)).unwrap_or_default().to_string();
        let number = |key: &str, range: RangeInclusive<f64>| {
            let Some(text) = value_of(key) else { return Ok(None) };
            let number = text.parse().map_err(|_| format!("line 1: {key}{text} is not a number"))?;
            within(key.trim_end_matches('='), number, range).map(Some).map_err(|what| format!("line 1: {what}"))
        };
        let fields = lines.enumerate().filter(|(_, line)| !line.trim().is_empty());
        let fields = fields.map(|(line, text)| (line + 3, text.trim_end().split(',').collect::<Vec<_>>()));
        let rows = if is_bbr {
            let mut above = None;
            Rows::Bbr(each_row(fields, |fields| {
                let row = bbr::Row::read(&columns, fields)?;
                row.check(above.replace(row.counters()))?;
                Ok(row)
            })?)
        } else {
            let mut so_far = SoFar::default();
            let mut rows = each_row(fields, |fields| {
                let row = columns.row(fields, kernel)?;
                so_far.check(&row)?;
                Ok(row)
            })?;
            finish(&mut rows);
            Rows::Events(rows)
        };
        Ok(Trace {
            name,
            kernel,
            initial_window: number("cwnd0=", limits::CWND)?.unwrap_or(if kernel == Kernel::Ns2Fast {
                2.0
            } else {
                10.0
            }),
            initial_ssthresh: number("ss0=", limits::SSTHRESH)?.unwrap_or(f64::INFINITY),
            alpha: number("alpha=", limits::CWND)?,
            gamma: number("gamma=", GAMMA)?,
            rows,
        })
    }
}

/// The step of FAST, in the range of its parameter.
const GAMMA: RangeInclusive<f64> = f64::MIN_POSITIVE..=1.0;

/// The facts of earlier rows that limit the next one.
#[derive(Default)]
struct SoFar {
    /// time of the last ACK
    time: Time,
    una: u64,
    acks: u64,
}

impl SoFar {
    /// Checks that time does not go back, that acknowledgements do not either and cover sent data, and
    /// that the work is bounded.
    fn check(&mut self, row: &Row) -> Result<(), String> {
        if row.time < self.time {
            return Err("its time is before the last ACK of the row above".to_string());
        }
        if row.una < self.una || row.nxt < row.una {
            return Err(format!("una = {} is below the one above or beyond nxt = {}", row.una, row.nxt));
        }
        let acks = self.acks + row.n;
        if acks > limits::ACKS {
            return Err(format!("more than {} ACKs so far; a replay takes a shorter trace", limits::ACKS));
        }
        *self = SoFar { time: row.time + row.spacing * row.n.saturating_sub(1), una: row.una, acks };
        Ok(())
    }
}

fn each_row<'a, R>(
    lines: impl Iterator<Item = (usize, Vec<&'a str>)>,
    mut read: impl FnMut(&[&str]) -> Result<R, String>,
) -> Result<Vec<R>, String> {
    let rows: Vec<R> = lines
        .map(|(line, fields)| read(&fields).map_err(|what| format!("line {line}: {what}")))
        .collect::<Result<_, String>>()?;
    if rows.is_empty() { Err("no rows after the header".to_string()) } else { Ok(rows) }
}

/// Completes the rows: the handshake measured the RTT of the first ACK, and an ACK is in CWR if the row
/// before left it so.
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

impl Columns<'_> {
    /// The origin that the columns show, and whether the format is BBR's.
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

    fn row(&self, fields: &[&str], kernel: Kernel) -> Result<Row, String> {
        let count = |name: &str, most: u64| self.count(fields, name, most);
        let segments = |name: &str| count(name, limits::WINDOW);
        let name = self.text(fields, "ev")?.to_string();
        let srtt8 = ["srtt8_us", "srtt8_ms"].into_iter().find(|column| self.has(column));
        let srtt8 = srtt8.map(|column| count(column, 8 * limits::RTT_US));
        let (n, k) = (segments("n")?, segments("k")?);
        let (una, acked) = (count("una", limits::SEGMENTS)?, n * k);
        if una < acked && name.starts_with("ack") {
            return Err(format!("una = {una}, but the row acknowledges {acked}"));
        }
        let ssthresh = if kernel == Kernel::Ns2Fast { None } else { Some(self.real(fields, "ssthresh")?) };
        Ok(Row {
            index: count("i", limits::SEGMENTS)? as usize,
            event: event(&name)?,
            name,
            time: self.time(fields)?,
            n,
            k,
            spacing: Duration::from_micros(count("dt_us", limits::RTT_US)?),
            rtt: self.rtt(fields, "rtt_us")?,
            ce: if self.has("ce") { segments("ce")? as u32 } else { 0 },
            flight_before: segments("flight0")?,
            una,
            nxt: count("nxt", limits::SEGMENTS)?,
            in_cwr: self.has("state") && self.text(fields, "state")? == "CWR",
            cwnd: self.real(fields, "cwnd")?,
            ssthresh: ssthresh.map(|ssthresh| if ssthresh < NO_SSTHRESH { ssthresh } else { f64::INFINITY }),
            srtt8: srtt8.transpose()?,
            empties_pipe: self.has("txstart") && self.text(fields, "txstart")? == "1",
            counts_acks: kernel == Kernel::Linux26,
        })
    }
}

fn event(name: &str) -> Result<TraceEvent, String> {
    Ok(match name {
        "init" => TraceEvent::Init,
        "ack" | "ack_selfcwr" => TraceEvent::Ack,
        "ack_open" => TraceEvent::AckOpen,
        "ack_cwr" => TraceEvent::AckCwr,
        "ack_exit" => TraceEvent::AckExit,
        "ack_exit_cwr" => TraceEvent::AckExitCwr,
        "sack" => TraceEvent::Sack,
        "loss" => TraceEvent::Loss,
        "exit" => TraceEvent::Exit,
        "rto" => TraceEvent::Rto,
        _ => return Err(format!("\"{name}\" is not an event of a trace")),
    })
}
