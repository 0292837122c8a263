//! Traces of BBR: an ACK a row, with its rate sample and the whole state after it.

use lasthop_units::{Duration, Time};

use super::columns::Columns;
use super::limits::{self, within};
use super::report::{Column, Report, Tolerance};
use lasthop_tcp::congestion_control::bbr::{Bbr, Params};
use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, Draws, Moment, RateSample,
};

/// Every draw of the traces.
const DRAW: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Init,
    Ack,
    Recovery,
    Open,
    Timeout,
}

/// One row: its events, and the state recorded after it, by column.
#[derive(Clone, Debug)]
pub(super) struct Row {
    index: usize,
    name: String,
    event: Event,
    ack: AckSample,
    recorded: Vec<(&'static str, f64)>,
}

/// The columns that are compared.
const RECORDED: [&str; 14] = [
    "cwnd",
    "pacing_Bps",
    "ssthresh",
    "mode",
    "cycle_idx",
    "pacing_gain",
    "cwnd_gain",
    "bw24",
    "min_rtt_us",
    "rtt_cnt",
    "round_start",
    "full_bw",
    "lt_use",
    "extra_acked",
];

impl Row {
    pub fn read(columns: &Columns, fields: &[&str]) -> Result<Row, String> {
        let name = columns.text(fields, "ev")?.to_string();
        let event = match name.as_str() {
            "init" => Event::Init,
            "ack" => Event::Ack,
            "rec" => Event::Recovery,
            "open" => Event::Open,
            "rto" => Event::Timeout,
            _ => return Err(format!("\"{name}\" is not an event of a trace of BBR")),
        };
        let recorded = RECORDED
            .into_iter()
            .filter(|column| columns.has(column))
            .map(|column| Ok((column, columns.whole(fields, column)? as f64)))
            .collect::<Result<_, String>>()?;
        let index = columns.count(fields, "i", limits::SEGMENTS)? as usize;
        Ok(Row { index, name, event, ack: ack(columns, fields)?, recorded })
    }

    /// The counters of the row, which never go back.
    pub fn counters(&self) -> Counters {
        Counters { time: self.ack.now, delivered: self.ack.total_delivered, lost: self.ack.total_lost }
    }

    /// Checks that time and counters follow those of the row above, and that a sample's segment was sent before it
    /// was delivered.
    pub fn check(&self, above: Option<Counters>) -> Result<(), String> {
        let Counters { time, delivered, lost } = self.counters();
        if above.is_some_and(|above| time < above.time || delivered < above.delivered || lost < above.lost) {
            return Err("t_us, tp_delivered or tp_lost is below that of the row above".to_string());
        }
        if self.ack.rate.is_some_and(|rate| rate.prior_delivered > delivered) {
            return Err("prior_delivered is above tp_delivered".to_string());
        }
        Ok(())
    }
}

/// The running counters of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    time: Time,
    delivered: u64,
    lost: u64,
}

fn ack(columns: &Columns, fields: &[&str]) -> Result<AckSample, String> {
    let count = |name, most| columns.count(fields, name, most);
    let segments = |name| count(name, limits::WINDOW).map(|segments| segments as u32);
    let now = columns.time(fields)?;
    let (acked, flight) = (segments("acked")?, segments("inflight")?);
    let srtt = Duration::from_micros(count("srtt8_us", 8 * limits::RTT_US)? / 8);
    Ok(AckSample {
        now,
        acked_segments: acked,
        delivered_segments: acked,
        lost_segments: segments("lost")?,
        total_delivered: count("tp_delivered", limits::SEGMENTS)?,
        total_lost: count("tp_lost", limits::SEGMENTS)?,
        rate: rate(columns, fields)?,
        next_departure: now + Duration::from_micros(count("edt_ahead_us", limits::RTT_US)?),
        rtt_sample: columns.rtt(fields, "rs_rtt_us")?,
        srtt: (srtt > Duration::ZERO).then_some(srtt),
        prior_flight_segments: segments("prior_inflight")?,
        flight_segments: flight,
        ..AckSample::default()
    })
}

fn rate(columns: &Columns, fields: &[&str]) -> Result<Option<RateSample>, String> {
    let whole = |name, most| within(name, columns.whole(fields, name)?, -1..=most as i64);
    let segments = |name| columns.count(fields, name, limits::WINDOW).map(|segments| segments as u32);
    let delivered = whole("rs_delivered", limits::WINDOW)?;
    let interval = whole("rs_interval_us", limits::TIME_US)?;
    if delivered < 0 || interval <= 0 {
        return Ok(None);
    }
    Ok(Some(RateSample {
        delivered: delivered as u32,
        delivered_ce: 0,
        lost: 0,
        interval: Duration::from_micros(interval as u64),
        prior_delivered: columns.count(fields, "prior_delivered", limits::SEGMENTS)?,
        flight_at_send: segments("prior_inflight")?,
        is_app_limited: columns.whole(fields, "app_lim")? != 0,
        is_ack_delayed: columns.whole(fields, "ack_delayed")? != 0,
    }))
}

pub(super) fn replay(rows: &[Row], params: &Params, context: &Context, tolerance: Tolerance) -> Report {
    let mut bbr = Bbr::new(params, &Context { draws: Draws::Always(DRAW), ..*context });
    let mut report = Report::default();
    for row in rows {
        run(&mut bbr, row);
        let columns: Vec<Column> = row
            .recorded
            .iter()
            .filter_map(|&(name, want)| Some(Column { name, want, got: value(&bbr, name, want)? }))
            .collect();
        report.add(row.index, &row.name, &columns, tolerance);
    }
    report
}

fn run(bbr: &mut Bbr, row: &Row) {
    let ack = &row.ack;
    let at = Moment { now: ack.now, snd_una: 0, snd_nxt: 0, app_limited: false };
    let event = |cause| CongestionEvent {
        now: ack.now,
        cause,
        window: bbr.cwnd(),
        flight_bytes: 0,
        repeated: false,
        snd_una: 0,
        snd_nxt: 0,
        total_lost: ack.total_lost,
    };
    match row.event {
        Event::Init => bbr.on_established(&at, ack.srtt),
        Event::Ack => bbr.on_ack(ack),
        Event::Recovery => bbr.on_congestion(&event(CongestionCause::Loss)),
        Event::Open => bbr.on_recovery_exit(&at),
        Event::Timeout => bbr.on_timeout(&event(CongestionCause::Timeout)),
    }
}

/// The present value of a column; while a policed rate is in use the traces do not say which of two `bw24` is.
fn value(bbr: &Bbr, column: &str, want: f64) -> Option<f64> {
    let view = bbr.view();
    Some(match column {
        "cwnd" => bbr.cwnd(),
        "ssthresh" => bbr.ssthresh().min(f64::from(i32::MAX)),
        "pacing_Bps" => view.pacing as f64,
        "mode" => f64::from(view.mode),
        "cycle_idx" => f64::from(view.cycle_index),
        "pacing_gain" => f64::from(view.pacing_gain),
        "cwnd_gain" => f64::from(view.cwnd_gain),
        "bw24" if f64::from(view.rate) == want => want,
        "bw24" => f64::from(view.max_rate),
        "min_rtt_us" => f64::from(view.min_rtt_us),
        "rtt_cnt" => f64::from(view.rounds),
        "round_start" => f64::from(u8::from(view.round_begins)),
        "full_bw" => f64::from(u8::from(view.is_full)),
        "lt_use" => f64::from(u8::from(view.is_policed)),
        "extra_acked" => f64::from(view.extra_acked),
        _ => return None,
    })
}
