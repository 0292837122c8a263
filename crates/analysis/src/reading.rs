//! The two passes over the captures.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use lasthop_observe::recording::Tape;
use lasthop_observe::{Observer, Record};
use lasthop_units::{Duration, Time};

use crate::air::Air;
use crate::bounds::Bounds;
use crate::clock::RadioClock;
use crate::dialogue::Point;
use crate::document::{self, Analysis, Measured};
use crate::durations::Durations;
use crate::events::{Carrier, Event, Events};
use crate::fcs::Fcs;
use crate::flows::Flows;
use crate::frame::{FileSeen, Seen, read};
use crate::input::{Captured, Inputs};
use crate::measure::Measure;
use crate::recording::Recording;
use crate::site::Site;
use crate::stamps::Stamps;
use crate::survey::{Survey, frame_of};
use crate::unknown::Unknown;

/// The input of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Captures, pcap or pcapng.
    pub files: Vec<PathBuf>,
    /// Start of measuring, counted from the start of the captures, or from the epoch if they begin in 1970.
    pub from: Option<Duration>,
    /// End of measuring.
    pub to: Option<Duration>,
    /// The time between rows of the series; no series without it.
    pub interval: Option<Duration>,
    /// The recording, if there is one.
    pub recording: Option<Recording>,
    /// Bounds of state are smaller by this factor, for tests.
    #[doc(hidden)]
    pub bounds_divisor: usize,
}

/// Time stamps below this, a day after the beginning of 1970, come from a clock that counts from zero.
const UNSET_NS: i64 = 86_400_000_000_000;

/// Maximum number of values of a quantity over time.
const MOST_VALUES: u64 = 10_000_000;

/// Analyses captures; `progress` grows by twice their bytes.
///
/// # Errors
/// A sentence with the file, if one cannot be read, is not a capture, or has no known content.
pub fn analyze(request: &Request, progress: &Arc<AtomicU64>) -> Result<Analysis, String> {
    let bounds = Bounds::over(request.bounds_divisor);
    let mut inputs = Inputs::open(&request.files, progress, bounds.clone())?;
    let mut survey = Survey::new(request.files.len(), bounds.clone());
    let (mut captured, mut latest) = (Captured::default(), 0);
    while let Some(file) = inputs.next(&mut captured)? {
        survey.look(file, &captured);
        latest = file;
    }
    refuse_foreign(&survey, &request.files)?;
    survey.add_bridged();
    let site = Site::of(&survey, inputs.names());
    if let Some(refused) = without_times(&inputs, &survey) {
        return Err(refused);
    }
    let Some(span_ns) = survey.span_ns().filter(|_| site.air.is_some() || !site.dialogues.is_empty()) else {
        return Err(format!("{}: {}", names_of(&request.files), survey.why_nothing()));
    };
    let origin_ns = if span_ns.0 < UNSET_NS { 0 } else { span_ns.0 };
    let learned = Learned::of(&survey, &site);
    // The packet read last is the latest.
    let is_of_end = learned.stamps.is_of_end();
    let lasts = if is_of_end { Duration::ZERO } else { lasts(&captured, &learned.fcs[latest]) };
    // The time of the latest packet is known to a step of the clock.
    let lasts = lasts.max(learned.stamps.long_step());
    let first_ns = span_ns.0 - site.air.map_or(0, |file| survey.sniffers[file].begins_before_ns());
    let window = window(request, (first_ns - origin_ns, span_ns.1 - origin_ns), lasts)?;
    check_rows(request.interval, window, &site)?;
    let mut pass = Pass::new(&site, learned, window, origin_ns, request)?;
    let mut again = Inputs::open(&request.files, progress, bounds)?;
    while let Some(file) = again.next(&mut captured)? {
        pass.take(file, &captured);
    }
    let mut measured = pass.finish(span_ns)?;
    measured.bounds.add(&survey.bounds);
    measured.bounds.add(inputs.bounds());
    for (file, left_out) in std::mem::take(&mut survey.left_out) {
        measured.files[file].left_out = left_out;
    }
    let damages = again.damages().map(|(path, damage)| (path.display().to_string(), damage.clone())).collect();
    let mut analysis = document::write(&site, &measured, damages, request.interval);
    let names = |file: usize| request.files[file].display();
    analysis.notes.extend(survey.alone().map(|file| {
        format!("{}: none of its connections is found in another file: do these captures belong together?", names(file))
    }));
    analysis.notes.extend(survey.empty().map(|file| format!("{}: holds no packet", names(file))));
    if let Some((before, after, gap_ns)) = survey.apart_ns() {
        let [before, after] = [before, after].map(names);
        analysis.notes.push(format!(
            "{after}: begins {} after the end of {before}: they share no time, and no packet of one is found in the other",
            Duration::from_nanos(gap_ns.unsigned_abs())
        ));
    }
    Ok(analysis)
}

/// Refuses files of which no packet has a time.
fn without_times(inputs: &Inputs, survey: &Survey) -> Option<String> {
    let (path, damage) = inputs.damages().find(|(_, damage)| damage.timeless > 0)?;
    survey.span_ns().is_none().then(|| {
        format!(
            "{}: its {} packets have no time, as Simple Packet Blocks have none: capture with a program that writes Enhanced Packet \
             Blocks",
            path.display(),
            damage.timeless
        )
    })
}

fn names_of(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Refuses a file with packets of an unsupported link type, if the rest of it is of no use.
fn refuse_foreign(survey: &Survey, files: &[PathBuf]) -> Result<(), String> {
    let is_of_use = |file: usize| survey.heard[file] > 0 || survey.wired[file];
    let Some((file, link_type)) = survey.foreign.iter().find(|(file, _)| !is_of_use(**file)) else { return Ok(()) };
    let (name, number) = (files[*file].display(), link_type.0);
    let known = link_type.name().map_or(String::new(), |name| format!(" ({name})"));
    Err(format!(
        "{name}: its packets are of link type {number}{known}, which is not read; 802.11 (105), also behind radiotap (127), \
         Prism (119), AVS (163) and PPI (192) headers, Ethernet (1), IP (101), loopback (0, 108), PPP (9, 50, 51) and Linux's of any \
         interface (113, 276) are. `tcpdump --list-data-link-types` lists the types of an interface"
    ))
}

/// Refuses series that would fill the memory.
fn check_rows(interval: Option<Duration>, window: (Time, Time), site: &Site) -> Result<(), String> {
    let Some(interval) = interval else { return Ok(()) };
    let covered = window.1.since(window.0);
    let rows = covered.as_nanos() / interval.as_nanos().max(1);
    let values = rows.saturating_mul((site.flows.len() + site.link_ends.len()) as u64);
    if values <= MOST_VALUES {
        return Ok(());
    }
    let (interval_s, covered_s) = (interval.as_secs_f64(), covered.as_secs_f64());
    Err(format!(
        "--interval: {interval_s} s gives {rows} rows over {covered_s} s; a longer one, or --from and --to, give fewer"
    ))
}

/// The lessons of the first pass about sniffers.
struct Learned {
    /// by file
    fcs: Vec<Fcs>,
    /// of the capture of the air
    stamps: Stamps,
    /// its TSFT is no time
    tsft_stands: bool,
    /// its sniffer changed from channel to channel
    is_hopping: bool,
}

impl Learned {
    fn of(survey: &Survey, site: &Site) -> Learned {
        let stamps = site.air.map_or_else(Stamps::default, |file| survey.sniffers[file].stamps());
        let tsft_stands = site.air.is_some_and(|file| survey.sniffers[file].tsft_stands());
        let is_hopping = survey.hops.are_hops();
        Learned { tsft_stands, is_hopping, fcs: survey.sniffers.iter().map(|sniffer| sniffer.fcs).collect(), stamps }
    }
}

/// The duration of a frame's PPDU.
fn lasts(captured: &Captured, fcs: &Fcs) -> Duration {
    let mut durations = Durations::default();
    let latest = frame_of(captured, fcs).and_then(|(sending, bytes)| Some((durations.mode(sending)?, bytes)));
    latest.map_or(Duration::ZERO, |(mode, bytes)| durations.ppdu(mode, bytes))
}

/// Start and end of measuring; the duration of the latest frame, `lasts`, is included.
fn window(request: &Request, (first_ns, last_ns): (i64, i64), lasts: Duration) -> Result<(Time, Time), String> {
    let (first, last) = (first_ns.max(0) as u64, last_ns.max(0) as u64);
    let from = request.from.map_or(first, Duration::as_nanos);
    let to = request.to.map_or(last + lasts.as_nanos() + 1, Duration::as_nanos);
    if from > last {
        let (asked, there) = (from as f64 / 1e9, last as f64 / 1e9);
        return Err(format!("--from: {asked} s is behind the last packet, at {there:.6} s"));
    }
    if to <= from {
        return Err(format!("--to: {} s is not after the beginning, {} s", to as f64 / 1e9, from as f64 / 1e9));
    }
    if to <= first {
        return Err(format!("--to: {} s is before the first packet, at {:.6} s", to as f64 / 1e9, first as f64 / 1e9));
    }
    Ok((Time::from_nanos(from), Time::from_nanos(to)))
}

/// The second pass.
struct Pass<'a> {
    site: &'a Site,
    window: (Time, Time),
    origin_ns: i64,
    learned: Learned,
    clock: RadioClock,
    air: Air,
    flows: Flows,
    events: Events,
    measure: Measure,
    tape: Option<Tape>,
    /// PPDUs on each channel
    on_air: Vec<u32>,
    files: Vec<FileSeen>,
    /// the latest packet within the window, and the longest time without one, with its beginning
    latest: Option<Time>,
    pause: (Time, Duration),
}

impl<'a> Pass<'a> {
    fn new(
        site: &'a Site,
        learned: Learned,
        window: (Time, Time),
        origin_ns: i64,
        request: &Request,
    ) -> Result<Pass<'a>, String> {
        let (layout, bounds) = (site.layout(), Bounds::over(request.bounds_divisor));
        let tape = request.recording.as_ref().map(|recording| recording.tape(site, &layout, window)).transpose()?;
        Ok(Pass {
            window,
            origin_ns,
            clock: RadioClock::default(),
            air: Air::new(site, window, learned.stamps, tape.is_some(), &bounds),
            learned,
            flows: Flows::new(site, window, tape.as_ref().is_some_and(Tape::reads_segments), bounds),
            tape,
            events: Events::default(),
            on_air: vec![0; layout.channels],
            files: vec![FileSeen::default(); request.files.len()],
            measure: Measure::new(layout, window, request.interval),
            latest: None,
            pause: (window.0, Duration::ZERO),
            site,
        })
    }

    fn time(&self, ns: i64) -> Time {
        Time::from_nanos(ns.saturating_sub(self.origin_ns).max(0) as u64)
    }

    fn take(&mut self, file: usize, captured: &Captured) {
        let mut at = self.time(captured.time_ns);
        self.watch_pause(at);
        let seen = read(captured, &self.learned.fcs[file]);
        self.files[file].count(&seen);
        match seen {
            Ok(Seen::Air(mut heard)) if Some(file) == self.site.air => {
                if self.learned.tsft_stands {
                    heard.radiotap.tsft_us = None;
                }
                let start_ns = self.clock.start_ns(captured.time_ns, &heard.radiotap);
                at = self.time(start_ns);
                self.air.hear(at, &heard, self.site, &mut self.events);
            }
            Ok(Seen::Wired(packet)) => {
                self.events.push(at, Event::Packet { point: Point::wire(file), packet, frame: Carrier::WIRE })
            }
            _ => {}
        }
        let until = self.air.known_until(at, &mut self.events);
        self.happen(until);
    }

    /// Notes the longest time without a packet.
    fn watch_pause(&mut self, at: Time) {
        if at < self.window.0 || at >= self.window.1 {
            return;
        }
        let since = self.latest.replace(at).unwrap_or(at);
        if at.since(since) > self.pause.1 {
            self.pause = (since, at.since(since));
        }
    }

    /// Processes all events before `until`.
    fn happen(&mut self, until: Time) {
        while let Some((at, event)) = self.events.pop_before(until) {
            let is_over = at >= self.window.1;
            if is_over && !matches!(event, Event::Packet { .. }) {
                continue;
            }
            self.measure.advance(at);
            match event {
                Event::Told(record) => self.tell(at, record),
                Event::Detail(detail) => {
                    if let Some(tape) = &mut self.tape {
                        tape.detail(at, detail);
                    }
                }
                Event::OnAir { channel, begins } => self.on_air(at, channel, begins),
                Event::Attempted(attempt) => {
                    if at >= self.window.0 {
                        self.air.tally.links[attempt.link as usize].count_attempt(&attempt);
                    }
                }
                Event::Packet { point, packet, frame } => {
                    // Data that arrived within the window may be acknowledged after it.
                    let (measure, tape) = (&mut self.measure, &mut self.tape);
                    let detail = self.flows.pass(at, point, &packet, frame, self.site, |when, record| {
                        if when < at {
                            measure.delivered_before(when, &record);
                        } else if !is_over {
                            measure.observe(at, &record);
                            if let Some(tape) = tape {
                                tape.observe(at, record);
                            }
                        }
                    });
                    if let (Some(tape), Some(detail), false) = (&mut self.tape, detail, is_over) {
                        tape.detail(at, detail);
                    }
                }
            }
        }
    }

    fn tell(&mut self, at: Time, record: Record) {
        self.measure.observe(at, &record);
        if let Some(tape) = &mut self.tape {
            tape.observe(at, record);
        }
    }

    fn on_air(&mut self, at: Time, channel: u32, begins: bool) {
        let count = &mut self.on_air[channel as usize];
        *count = if begins { *count + 1 } else { count.saturating_sub(1) };
        self.measure.observe(at, &Record::OnAir { channel, count: *count });
    }

    fn finish(mut self, span_ns: (i64, i64)) -> Result<Measured, String> {
        let (window, span) = (self.window, (self.time(span_ns.0), self.time(span_ns.1)));
        self.air.end(self.site, &mut self.events);
        self.happen(Time::NEVER);
        let measure = &mut self.measure;
        self.flows.end(self.site, |when, record| measure.delivered_before(when, &record));
        let (mut report, mut series) = self.measure.finish(&self.site.flows);
        let (mut air, stamps) = (std::mem::take(&mut self.air.tally), self.learned.stamps);
        let unknown = Unknown::of(&air, &stamps, self.site, window, self.learned.is_hopping);
        unknown.withdraw(self.site, &air, &mut report, series.as_mut());
        let is_fcs_doubted = self.site.air.map(|file| self.learned.fcs[file].contradicts_flag());
        self.tape.map_or(Ok(()), Tape::close)?;
        let Flows { tallies, counts, mut bounds, .. } = self.flows;
        bounds.add(&self.air.bounds);
        air.bound_tracks(&mut bounds);
        Ok(Measured {
            window,
            span,
            pause: self.pause,
            report,
            series,
            air,
            stamps,
            unknown,
            is_fcs_doubted,
            flows: tallies,
            counts,
            files: self.files,
            bounds,
        })
    }
}
