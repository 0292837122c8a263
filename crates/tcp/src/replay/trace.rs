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
    pub(super) rows: Vec<Row>,
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
        let columns: Vec<&str> = lines.next().ok_or("line 2: no header")?.split(',').collect();
        let value_of = |key: &str| comment.split_whitespace().find_map(|word| word.strip_prefix(key));
        let name = value_of("cc=").or(comment.split_whitespace().nth(1)).unwrap_or_default().to_string();
        let number = |key, default| value_of(key).and_then(|text| text.parse().ok()).unwrap_or(default);
        let kernel = if columns.contains(&"srtt8_us") {
            Kernel::Linux
        } else if columns.contains(&"srtt8_ms") {
            Kernel::Linux26
        } else if columns.contains(&"last_old_cwnd") {
            Kernel::Ns2Fast
        } else {
            return Err("line 2: neither srtt8_us nor srtt8_ms among the columns".to_string());
        };
        let mut trace = Trace {
            name,
            kernel,
            initial_window: number("cwnd0=", if kernel == Kernel::Ns2Fast { 2.0 } else { 10.0 }),
            initial_ssthresh: number("ss0=", f64::INFINITY),
            rows: Vec::new(),
        };
        let reader = Columns { names: &columns, kernel };
        for (line, text) in lines.enumerate() {
            let row = reader.row(text).map_err(|what| format!("line {}: {what}", line + 3))?;
            trace.rows.push(row);
        }
        trace.finish();
        Ok(trace)
    }

    /// The handshake measured what the first ACK does. An ACK is in CWR if the row before left it so.
    fn finish(&mut self) {
        let handshake = self.rows.iter().find_map(|row| row.rtt);
        if let Some(first) = self.rows.first_mut() {
            first.rtt = handshake;
        }
        let states: Vec<bool> = self.rows.iter().map(|row| row.in_cwr).collect();
        for (row, before) in self.rows.iter_mut().skip(1).zip(states) {
            row.in_cwr = before;
        }
    }
}

struct Columns<'a> {
    names: &'a [&'a str],
    kernel: Kernel,
}

impl Columns<'_> {
    fn row(&self, line: &str) -> Result<Row, String> {
        let fields: Vec<&str> = line.split(',').collect();
        let text = |name: &str| {
            let at = self.names.iter().position(|column| *column == name)?;
            fields.get(at).copied()
        };
        let whole = |name: &str| -> Result<i64, String> {
            let field = text(name).unwrap_or("0");
            field.parse().map_err(|_| format!("{name} = \"{field}\" is no whole number"))
        };
        let real = |name: &str| text(name).and_then(|field| field.parse::<f64>().ok());
        let name = text("ev").ok_or("no event")?.to_string();
        Ok(Row {
            index: whole("i")? as usize,
            event: event(&name)?,
            name,
            time: Time::from_nanos(whole("t_us")? as u64 * 1000),
            n: whole("n")? as u64,
            k: whole("k")? as u64,
            spacing: Duration::from_micros(whole("dt_us")? as u64),
            rtt: u64::try_from(whole("rtt_us")?).ok().map(Duration::from_micros),
            ce: whole("ce")? as u32,
            flight_before: whole("flight0")? as u64,
            una: whole("una")? as u64,
            nxt: whole("nxt")? as u64,
            in_cwr: text("state") == Some("CWR"),
            cwnd: real("cwnd").ok_or("no cwnd")?,
            ssthresh: real("ssthresh").map(|ssthresh| if ssthresh < NO_SSTHRESH { ssthresh } else { f64::INFINITY }),
            empties_pipe: text("txstart") == Some("1"),
            counts_acks: self.kernel == Kernel::Linux26,
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
