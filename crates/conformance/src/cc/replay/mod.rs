//! Replays a recorded trace of a congestion controller against one of `lasthop-tcp`.
//!
//! A trace is a comment with the scenario, a header and rows: events with their times, ACK counts and RTT samples,
//! and the window that the recorded controller had after each. Events come from the file alone, never from the window
//! under test (open loop), and its window is never set to a recorded one.
//! Traces of BBR have a format of their own (`bbr`): there the whole state is compared.

mod bbr;
mod columns;
mod limits;
mod report;
mod subject;
mod trace;

use lasthop_units::{Duration, Time};

use lasthop_tcp::congestion_control::{
    AckSample, Algorithm, CongestionCause, CongestionControl, CongestionEvent, Context, Draws, Moment,
};
use lasthop_tcp::{Growth, GrowthMode};
use limits::MSS;
use report::Column;
pub use report::{Agreement, Difference, Report, Tolerance};
pub use trace::{Kernel, Trace};
use trace::{Row, Rows, TraceEvent};

/// Seed of the generator in the recordings.
const XORSHIFT_SEED: u32 = 2_463_534_242;

/// A file's line: rows, the worst difference, the verdict; and the verdict itself, `None` for a controller that does
/// not exist here.
///
/// # Errors
/// A sentence, if the text is not a trace.
pub fn judge(text: &str) -> Result<(String, Option<Agreement>), String> {
    let trace = Trace::parse(text)?;
    let title = format!("{} of {}", trace.name, trace.kernel.name());
    let Some((algorithm, tolerance)) = trace.subject() else {
        return Ok((format!("{title}: skipped, there is no such controller here"), None));
    };
    let report = replay(&trace, &algorithm, tolerance);
    Ok((format!("{title}: {report} (tolerance {tolerance})"), Some(report.verdict())))
}

/// As [`judge`], for another controller than the recorded one: its windows are compared with those of the file, exactly
/// if no controller here has a tolerance for it.
///
/// # Errors
/// A sentence, if the text is not a trace, or is one of BBR's state, which no other has.
pub fn judge_as(text: &str, algorithm: &Algorithm) -> Result<(String, Option<Agreement>), String> {
    let trace = Trace::parse(text)?;
    if matches!(trace.rows, Rows::Bbr(_)) {
        return Err("this trace holds the state of BBR, which no other controller has".into());
    }
    let title = format!("{} of {}", trace.name, trace.kernel.name());
    let tolerance = trace.subject().map_or(Tolerance::EXACT, |(_, tolerance)| tolerance);
    let report = replay(&trace, algorithm, tolerance);
    Ok((format!("{title}, {}: {report} (tolerance {tolerance})", algorithm.name()), Some(report.verdict())))
}

/// Replays a trace against an algorithm.
pub fn replay(trace: &Trace, algorithm: &Algorithm, tolerance: Tolerance) -> Report {
    let growth = match trace.kernel {
        Kernel::Linux26 => Growth { slow_start: GrowthMode::PerAck, avoidance: GrowthMode::PerByte },
        Kernel::Linux | Kernel::Ns2Fast => Growth::both(GrowthMode::PerByte),
    };
    let context = Context {
        initial_window: trace.initial_window,
        initial_ssthresh: trace.initial_ssthresh,
        mss_bytes: MSS,
        growth,
        // HZ of the recording kernels
        tick: Duration::from_millis(1),
        abe: false,
        draws: Draws::xorshift32(XORSHIFT_SEED),
    };
    match (&trace.rows, algorithm) {
        (Rows::Events(rows), _) => {
            let restarts = trace.kernel == Kernel::Ns2Fast;
            replay_events(rows, restarts, algorithm, &context, tolerance)
        }
        (Rows::Bbr(rows), Algorithm::Bbr(params)) => bbr::replay(rows, params, &context, tolerance),
        (Rows::Bbr(_), _) => Report::default(),
    }
}

fn replay_events(
    rows: &[Row],
    restarts: bool,
    algorithm: &Algorithm,
    context: &Context,
    tolerance: Tolerance,
) -> Report {
    let mut driver = Driver {
        control: algorithm.build(context),
        una: 0,
        nxt: 0,
        next_to_send: 0,
        flight: 0,
        srtt_ns: None,
        srtt8: 0,
        filled: 0,
        tick_us: if rows.iter().any(|row| row.counts_acks) { 1000 } else { 1 },
        restarts,
    };
    let mut report = Report::default();
    for row in rows {
        let una = driver.una_after(row);
        driver.filled = row.nxt;
        driver.run(row);
        let srtt8 = driver.srtt8;
        let (cwnd, ssthresh) = (driver.control.cwnd(), driver.control.ssthresh());
        let columns = [
            Column { name: "cwnd", want: row.cwnd, got: cwnd },
            Column { name: "ssthresh", want: row.ssthresh.unwrap_or(ssthresh), got: ssthresh },
            // The driver's own: they show whether a row was read as it was written.
            Column { name: "nxt", want: row.nxt as f64, got: driver.filled as f64 },
            Column { name: "una", want: row.una as f64, got: una as f64 },
            Column { name: "srtt8", want: row.srtt8.unwrap_or(srtt8) as f64, got: srtt8 as f64 },
        ];
        report.add(row.index, &row.name, &columns, tolerance);
    }
    report
}

/// A sender that is always limited by its window, counted in packets.
struct Driver {
    control: Box<dyn CongestionControl>,
    una: u64,
    nxt: u64,
    /// the next packet to send, below `nxt` after a timeout
    next_to_send: u64,
    flight: u64,
    srtt_ns: Option<u64>,
    /// Eight times the smoothed RTT as in the kernel, in ticks of its clock, and the tick in µs.
    srtt8: u64,
    /// `nxt` after the row, by the window under test
    filled: u64,
    tick_us: u64,
    /// A loss row is a whole recovery, as in the traces of FAST.
    restarts: bool,
}

/// Offset of a packet's first byte.
fn offset(packet: u64) -> u64 {
    1 + packet * u64::from(MSS)
}

impl Driver {
    fn run(&mut self, row: &Row) {
        if row.n > 0 {
            self.flight = row.flight_before;
        }
        match row.event {
            TraceEvent::Init => self.begin(row),
            TraceEvent::Ack
            | TraceEvent::AckOpen
            | TraceEvent::AckCwr
            | TraceEvent::AckExit
            | TraceEvent::AckExitCwr => self.acks(row),
            TraceEvent::Sack => self.reports(row),
            TraceEvent::Loss => {
                self.congestion(row.time, CongestionCause::Loss);
                if self.restarts {
                    // All data in flight is acknowledged, and a new window is sent.
                    (self.una, self.nxt) = (row.una, self.nxt.max(row.nxt));
                    self.flight = self.nxt - self.una;
                    self.next_to_send = self.nxt;
                }
            }
            TraceEvent::Exit => {
                self.una = row.una;
                self.control.on_recovery_exit(&self.moment(row.time));
                self.nxt = self.nxt.max(row.nxt);
                self.flight = row.flight_before;
                self.next_to_send = self.nxt;
            }
            TraceEvent::Rto => {
                self.congestion(row.time, CongestionCause::Timeout);
                self.flight = 1;
                self.next_to_send = self.una + 1;
            }
        }
    }

    /// The data that a row acknowledges: each ACK its segments; a recovery all outstanding data.
    fn una_after(&self, row: &Row) -> u64 {
        match row.event {
            TraceEvent::Exit => row.una,
            TraceEvent::Loss if self.restarts => row.una,
            TraceEvent::Init | TraceEvent::Sack | TraceEvent::Loss | TraceEvent::Rto => self.una,
            _ => self.una + row.n * row.k,
        }
    }

    fn begin(&mut self, row: &Row) {
        if let Some(rtt) = row.rtt {
            self.smooth(rtt);
        }
        self.control.on_established(&self.moment(row.time), row.rtt);
        self.control.on_transmit_start(&self.moment(row.time));
        self.nxt = self.nxt.max(row.nxt);
        self.next_to_send = row.nxt;
        self.flight = row.nxt;
    }

    fn acks(&mut self, row: &Row) {
        self.next_to_send = self.una + self.flight;
        for j in 0..row.n {
            let now = row.time + row.spacing * j;
            let before = self.flight;
            // neither this nor the next number to send goes back, whatever the rows before say
            self.una = self.una.max(row.una - (row.n - 1 - j) * row.k);
            self.flight = self.flight.saturating_sub(row.k);
            self.next_to_send = self.next_to_send.max(self.una);
            let mut ack = self.ack(now, row, row.k, before);
            ack.ends_timeout = row.event == TraceEvent::AckOpen;
            match row.event {
                TraceEvent::AckCwr => {
                    self.control.on_ack(&AckSample { in_recovery: true, ..ack });
                    self.congestion(now, CongestionCause::Ecn);
                }
                TraceEvent::AckExit | TraceEvent::AckExitCwr => {
                    self.control.on_ack(&AckSample { in_recovery: true, ..ack });
                    self.control.on_recovery_exit(&self.moment(now));
                    if row.event == TraceEvent::AckExitCwr {
                        self.congestion(now, CongestionCause::Ecn);
                    } else {
                        // The rest of the ACK: growth, without its measurements again.
                        let rest = AckSample { rtt_sample: None, delivered_bytes: 0, in_recovery: false, ..ack };
                        self.control.on_ack(&rest);
                    }
                }
                _ => self.control.on_ack(&ack),
            }
            if j + 1 == row.n {
                if row.empties_pipe {
                    self.control.on_transmit_start(&self.moment(now));
                }
                self.filled = self.nxt_when_filled();
                self.nxt = self.nxt.max(row.nxt);
            } else {
                self.send(now);
            }
        }
    }

    fn reports(&mut self, row: &Row) {
        self.next_to_send = self.nxt;
        for j in 0..row.n {
            let now = row.time + row.spacing * j;
            let before = self.flight;
            self.flight = self.flight.saturating_sub(1);
            let ack = self.ack(now, row, 0, before);
            self.control.on_ack(&AckSample { delivered_bytes: u64::from(MSS), in_recovery: true, ..ack });
            if j + 1 == row.n {
                self.filled = self.nxt_when_filled();
                self.nxt = self.nxt.max(row.nxt);
            } else {
                self.send(now);
            }
        }
    }

    /// The end of sending when the window is full.
    fn nxt_when_filled(&self) -> u64 {
        self.nxt.max(self.next_to_send + self.room())
    }

    /// Segments that the window still lets out; a window beyond what TCP can offer counts as that.
    fn room(&self) -> u64 {
        (self.control.cwnd() as u64).min(limits::WINDOW).saturating_sub(self.flight)
    }

    /// Fills the window.
    fn send(&mut self, now: Time) {
        if self.flight == 0 && self.next_to_send == self.nxt && self.room() > 0 {
            self.control.on_transmit_start(&self.moment(now));
        }
        let room = self.room();
        if self.next_to_send <= self.nxt {
            self.nxt = self.nxt.max(self.next_to_send + room);
        }
        self.next_to_send += room;
        self.flight += room;
    }

    fn congestion(&mut self, now: Time, cause: CongestionCause) {
        let event = CongestionEvent {
            now,
            cause,
            window: self.control.cwnd(),
            flight_bytes: self.flight * u64::from(MSS),
            repeated: false,
            snd_una: offset(self.una),
            snd_nxt: offset(self.nxt),
            total_lost: 0,
        };
        if cause == CongestionCause::Timeout {
            self.control.on_timeout(&event);
        } else {
            self.control.on_congestion(&event);
        }
    }

    fn moment(&self, now: Time) -> Moment {
        Moment { now, snd_una: offset(self.una), snd_nxt: offset(self.nxt), app_limited: false }
    }

    fn smooth(&mut self, rtt: Duration) {
        let ticks = (rtt.as_nanos() / 1000 / self.tick_us).max(1);
        self.srtt8 = if self.srtt8 == 0 { 8 * ticks } else { (self.srtt8 - self.srtt8 / 8 + ticks).max(1) };
        let sample = rtt.as_nanos();
        self.srtt_ns = Some(self.srtt_ns.map_or(sample, |srtt| srtt - srtt / 8 + sample / 8));
    }

    fn ack(&mut self, now: Time, row: &Row, segments: u64, flight_before: u64) -> AckSample {
        if let Some(rtt) = row.rtt {
            self.smooth(rtt);
        }
        let bytes = segments * u64::from(MSS);
        AckSample {
            now,
            acked_segments: segments as u32,
            acked_bytes: bytes,
            delivered_bytes: bytes,
            slow_start_credit: if row.counts_acks { 1.0 } else { segments as f64 },
            avoidance_credit: segments as f64,
            delivered_segments: segments as u32,
            rtt_sample: row.rtt,
            srtt: self.srtt_ns.map(Duration::from_nanos),
            prior_flight_bytes: flight_before * u64::from(MSS),
            flight_bytes: self.flight * u64::from(MSS),
            ece: row.ce > 0,
            in_recovery: row.in_cwr,
            snd_una: offset(self.una),
            snd_nxt: offset(self.nxt),
            ce_segments: row.ce,
            ..AckSample::default()
        }
    }
}
