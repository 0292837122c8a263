//! Applications of requests and answers: a browser and a player, over connections of any transport.
//!
//! The server is the flow's sender. A request goes the other way over the same connection, and its answer is written
//! when the whole request has arrived.

use lasthop_engine::Stream;
use lasthop_observe::{Histogram, Row, scope};
use lasthop_units::Time;

use super::application::Span;
use crate::resolved::FlowSpec;
use crate::traffic::TrafficKind;
use crate::traffic::video::{Next, Player};
use crate::traffic::{video, web};

lasthop_observe::quantities! {
    /// Pages that began in the window and were loaded.
    PAGES: Flow, u64, Summary => "pages", Count, One, "pages", only "web";
    /// Pages that were given up with a connection, over the whole run.
    PAGES_ABANDONED: Flow, u64, Summary => "pages_abandoned", Count, One, "pages abandoned", only "web";
    /// Mean of the time from the first SYN of a page (or its request, where a connection is open) to its last byte.
    PAGE_LOAD_TIME_MEAN: Flow, f64, Summary
        => "page_load_time_mean_s", Mean, Seconds, "page load time, mean", only "web";
    /// Median of the time from the first SYN of a page to its last byte.
    PAGE_LOAD_TIME_P50: Flow, f64, Summary
        => "page_load_time_p50_s", Quantile, Seconds, "page load time, median", only "web";
    /// 95th percentile of the time from the first SYN of a page to its last byte.
    PAGE_LOAD_TIME_P95: Flow, f64, Summary
        => "page_load_time_p95_s", Quantile, Seconds, "page load time, 95th percentile", only "web";
    /// Stalls in the window, without the wait before the film.
    STALLS: Flow, u64, Summary => "stalls", Count, One, "stalls", only "video";
    /// Time for which the film stalled in the window.
    STALL_TIME: Flow, f64, Summary => "stall_time_s", Amount, Seconds, "stalled", only "video";
    /// The time from the flow's start to the film's, in the whole run.
    STARTUP_DELAY: Flow, f64, Summary => "startup_delay_s", Amount, Seconds, "startup delay", only "video";
    /// Segments of the film that came in the window.
    VIDEO_SEGMENTS: Flow, u64, Summary => "video_segments", Count, One, "video segments", only "video";
    /// Mean bitrate of the segments that came in the window.
    VIDEO_BITRATE_MEAN: Flow, f64, Summary
        => "video_bitrate_mean_bps", Mean, BitsPerSecond, "video bitrate, mean", only "video";
    /// Number of changes of the bitrate from one segment that came in the window to the next.
    VIDEO_BITRATE_SWITCHES: Flow, u64, Summary
        => "video_bitrate_switches", Count, One, "video bitrate switches", only "video";
}

/// The connections over which an application sends requests.
pub(super) trait Exchanges {
    /// Maximum number of connections of a page, and of unanswered requests on a connection.
    fn limits(&self, params: &web::Params) -> (usize, usize);
    /// The open connection with the fewest unanswered requests, and their number; the oldest of several.
    fn idlest(&self) -> Option<(u32, usize)>;
    /// Connections that neither end has begun to close.
    fn open_connections(&self) -> usize;
    /// Opens a new connection from the client.
    fn open(&mut self, now: Time) -> u32;
    /// The client requests `answer` bytes over this connection.
    fn ask(&mut self, number: u32, request: u64, answer: u64);
    /// The client closes all connections.
    fn close_all(&mut self, now: Time);
}

/// A page that is being loaded.
struct Loading {
    since: Time,
    /// objects known and not yet requested, the next at the end
    wanted: Vec<u64>,
    /// objects found once the main object has arrived
    embedded: Vec<u64>,
    unanswered: usize,
}

/// Opens one page after another.
pub(super) struct Browser {
    params: web::Params,
    reader: web::Reader,
    page: Option<Loading>,
    next_page: Option<Time>,
    load_times: Histogram,
    abandoned: u64,
}

/// Watches a film.
pub(super) struct Viewer {
    params: video::Params,
    player: Option<Player>,
    /// time of the player's next step
    wait_until: Option<Time>,
}

/// An application.
pub(super) enum Driver {
    Web(Box<Browser>),
    Video(Box<Viewer>),
}

impl Driver {
    /// The application of `spec`, if it is of this kind.
    pub(super) fn of(spec: &FlowSpec, seed: u64) -> Option<Driver> {
        match &spec.section.traffic {
            TrafficKind::Web(params) => {
                let reader = web::Reader::new(params.clone(), Stream::named(seed, "application", &spec.stream));
                Some(Driver::Web(Box::new(Browser {
                    params: params.clone(),
                    reader,
                    page: None,
                    next_page: None,
                    load_times: Histogram::default(),
                    abandoned: 0,
                })))
            }
            TrafficKind::Video(params) => {
                Some(Driver::Video(Box::new(Viewer { params: params.clone(), player: None, wait_until: None })))
            }
            _ => None,
        }
    }

    pub(super) fn start(&mut self, now: Time) {
        match self {
            Driver::Web(browser) => browser.next_page = Some(now),
            Driver::Video(viewer) => viewer.player = Some(Player::new(viewer.params.clone(), now)),
        }
    }

    /// Runs the application at the time that it set.
    pub(super) fn run(&mut self, now: Time, lines: &mut impl Exchanges) {
        match self {
            Driver::Web(browser) => browser.open_page(now, lines),
            Driver::Video(viewer) => viewer.step(now, lines),
        }
    }

    /// The time at which the application continues by itself.
    pub(super) fn wakes_at(&self) -> Option<Time> {
        match self {
            Driver::Web(browser) => browser.next_page,
            Driver::Video(viewer) => viewer.wait_until,
        }
    }

    /// An answer has arrived in full.
    pub(super) fn on_answer(&mut self, now: Time, bytes: u64, lines: &mut impl Exchanges, span: Span) {
        match self {
            Driver::Web(browser) => browser.on_object(now, lines, span),
            Driver::Video(viewer) => viewer.on_segment(now, bytes, lines),
        }
    }

    /// A connection in use is lost.
    pub(super) fn on_loss(&mut self, now: Time, lines: &mut impl Exchanges) {
        match self {
            Driver::Web(browser) => browser.give_up(now, lines),
            Driver::Video(viewer) => viewer.step(now, lines),
        }
    }

    pub(super) fn report(&self, span: Span, row: &mut Row<scope::Flow>) {
        match self {
            Driver::Web(browser) => browser.report(row),
            Driver::Video(viewer) => viewer.report(span, row),
        }
    }
}

impl Browser {
    fn open_page(&mut self, now: Time, lines: &mut impl Exchanges) {
        if self.next_page.is_none_or(|at| at > now) {
            return;
        }
        self.next_page = None;
        let mut objects = self.reader.page();
        let mut embedded = objects.split_off(1);
        // Requests are taken from the end.
        embedded.reverse();
        self.page = Some(Loading { since: now, wanted: objects, embedded, unanswered: 0 });
        self.ask(now, lines);
    }

    /// Requests as many objects as connections allow.
    fn ask(&mut self, now: Time, lines: &mut impl Exchanges) {
        let Some(page) = &mut self.page else { return };
        let (connections, requests) = lines.limits(&self.params);
        while let Some(&size) = page.wanted.last() {
            let number = match lines.idlest() {
                Some((number, unanswered)) if unanswered == 0 || (unanswered < requests && connections == 1) => number,
                _ if lines.open_connections() < connections => lines.open(now),
                _ => return,
            };
            lines.ask(number, self.params.request.0, size);
            page.wanted.pop();
            page.unanswered += 1;
        }
    }

    fn on_object(&mut self, now: Time, lines: &mut impl Exchanges, span: Span) {
        let Some(page) = &mut self.page else { return };
        page.unanswered -= 1;
        page.wanted.append(&mut page.embedded);
        if page.wanted.is_empty() && page.unanswered == 0 {
            let since = page.since;
            if since >= span.from {
                self.load_times.add(now.since(since));
            }
            self.close_page(now, lines);
        } else {
            self.ask(now, lines);
        }
    }

    fn close_page(&mut self, now: Time, lines: &mut impl Exchanges) {
        self.page = None;
        if !self.params.keep_alive {
            lines.close_all(now);
        }
        self.next_page = Some(now + self.reader.think());
    }

    /// A connection is lost; the reader gives up the page.
    fn give_up(&mut self, now: Time, lines: &mut impl Exchanges) {
        if self.page.is_some() {
            self.abandoned += 1;
            lines.close_all(now);
            self.close_page(now, lines);
        }
    }

    fn report(&self, row: &mut Row<scope::Flow>) {
        row.put(PAGES, self.load_times.count());
        row.put(PAGES_ABANDONED, self.abandoned);
        row.put(PAGE_LOAD_TIME_MEAN, self.load_times.mean_s());
        row.put(PAGE_LOAD_TIME_P50, self.load_times.quantile_s(0.5));
        row.put(PAGE_LOAD_TIME_P95, self.load_times.quantile_s(0.95));
    }
}

impl Viewer {
    /// Runs the player when no segment is in flight.
    fn step(&mut self, now: Time, lines: &mut impl Exchanges) {
        self.wait_until = None;
        let Some(player) = &mut self.player else { return };
        let number = match lines.idlest() {
            Some((number, 0)) => number,
            Some(_) => return,
            None => lines.open(now),
        };
        match player.next(now) {
            Next::Request(bytes) => lines.ask(number, self.params.request.0, bytes),
            Next::WaitUntil(at) => self.wait_until = Some(at),
        }
    }

    fn on_segment(&mut self, now: Time, bytes: u64, lines: &mut impl Exchanges) {
        if let Some(player) = &mut self.player {
            player.on_segment(now, bytes);
        }
        self.step(now, lines);
    }

    fn report(&self, span: Span, row: &mut Row<scope::Flow>) {
        let watched = self.player.as_ref().map(|player| player.report(span.from, span.end));
        row.put(STALLS, watched.map(|w| w.stalls));
        row.put(STALL_TIME, watched.map(|w| w.stall_time_s));
        row.put(STARTUP_DELAY, watched.and_then(|w| w.startup_delay_s));
        row.put(VIDEO_SEGMENTS, watched.map(|w| w.segments));
        row.put(VIDEO_BITRATE_MEAN, watched.and_then(|w| w.bitrate_mean_bps));
        row.put(VIDEO_BITRATE_SWITCHES, watched.map(|w| w.switches));
    }
}
