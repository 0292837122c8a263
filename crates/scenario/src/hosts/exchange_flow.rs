//! A flow whose application responds to arrivals: a browser, a player, or transfers that begin at random.
//!
//! The server is the flow's sender. A request goes the other way over the same connection, and its answer is written
//! when the whole request has arrived.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::{FlowId, Histogram, Observer, Record, Row, scope};
use lasthop_tcp::Segment;
use lasthop_units::Time;

use super::Side;
use super::application::{Application, Span};
use super::connection::{Connection, Waiting};
use super::own_queue::OwnQueue;
use super::tcp_pool::Pool;
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
struct Browser {
    params: web::Params,
    reader: web::Reader,
    page: Option<Loading>,
    next_page: Option<Time>,
    load_times: Histogram,
    abandoned: u64,
}

/// Watches a film.
struct Viewer {
    params: video::Params,
    player: Option<Player>,
    /// time of the player's next step
    wait_until: Option<Time>,
}

/// Begins transfers that are independent of one another.
struct Arrivals {
    application: Application,
    size: u64,
}

enum Driver {
    Web(Box<Browser>),
    Video(Box<Viewer>),
    Transfers(Arrivals),
}

/// A flow of requests and answers, over the TCP connections of a pool.
pub(crate) struct ExchangeFlow {
    id: FlowId,
    span: Span,
    pool: Pool,
    driver: Driver,
    wake: Option<Time>,
}

impl ExchangeFlow {
    /// The flow of `spec`, if its application is of this kind.
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, seed: u64, span: Span, asked: bool) -> Option<ExchangeFlow> {
        let driver = match (&spec.section.traffic, spec.section.size) {
            (TrafficKind::Web(params), _) => {
                let reader = web::Reader::new(params.clone(), Stream::named(seed, "application", &spec.stream));
                Driver::Web(Box::new(Browser {
                    params: params.clone(),
                    reader,
                    page: None,
                    next_page: None,
                    load_times: Histogram::default(),
                    abandoned: 0,
                }))
            }
            (TrafficKind::Video(params), _) => {
                Driver::Video(Box::new(Viewer { params: params.clone(), player: None, wait_until: None }))
            }
            (TrafficKind::Poisson(_), Some(size)) => {
                Driver::Transfers(Arrivals { application: Application::over_tcp(spec, seed, span)?, size: size.0 })
            }
            _ => return None,
        };
        let config = &spec.tcp.config;
        let own_queue = OwnQueue::new(config, spec.up, asked);
        let pool = Pool::new(id, Arc::new(config.clone()), Stream::named(seed, "iss", &spec.stream), own_queue);
        Some(ExchangeFlow { id, span, pool, driver, wake: None })
    }

    pub(crate) fn controller_failure(&self) -> Option<&str> {
        self.pool.controller_failure()
    }

    /// The end at which the application decides the next step.
    pub(crate) fn active_side(&self) -> Side {
        match self.driver {
            Driver::Web(_) | Driver::Video(_) => Side::Receiver,
            Driver::Transfers(_) => Side::Sender,
        }
    }

    pub(crate) fn start(&mut self, now: Time) {
        match &mut self.driver {
            Driver::Web(browser) => browser.next_page = Some(now),
            Driver::Video(viewer) => viewer.player = Some(Player::new(viewer.params.clone(), now)),
            Driver::Transfers(arrivals) => arrivals.application.start(now),
        }
        self.application_offers(now);
    }

    /// Runs the application at the time that it set.
    pub(crate) fn application_offers(&mut self, now: Time) {
        let pool = &mut self.pool;
        match &mut self.driver {
            Driver::Web(browser) => browser.open_page(now, pool),
            Driver::Video(viewer) => viewer.step(now, pool),
            Driver::Transfers(arrivals) => arrivals.begin(now, pool),
        }
        self.set_alarm();
    }

    fn set_alarm(&mut self) {
        self.wake = match &mut self.driver {
            Driver::Web(browser) => browser.next_page,
            Driver::Video(viewer) => viewer.wait_until,
            Driver::Transfers(arrivals) => arrivals.application.wake_at(),
        }
        .filter(|&at| at < self.span.end);
    }

    pub(crate) fn application_at(&mut self) -> Option<Time> {
        self.wake.take()
    }

    pub(crate) fn arrive(
        &mut self,
        now: Time,
        side: Side,
        segment: &Segment,
        number: u32,
        observer: &mut impl Observer,
    ) {
        self.pool.arrive(now, side, segment, number, observer);
        self.proceed(now, side, observer);
        self.pool.tidy();
    }

    /// Reports arrivals at `side` to the application there.
    fn proceed(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        if side != self.active_side() {
            return;
        }
        if let Driver::Transfers(_) = self.driver {
            while let Some(opened_at) = self.pool.take_completed() {
                observer.observe(now, Record::Completed { flow: self.id, took: now.since(opened_at) });
            }
            return;
        }
        let lost = self.pool.drop_failed();
        while let Some(bytes) = self.pool.take_answer() {
            match &mut self.driver {
                Driver::Web(browser) => browser.on_object(now, &mut self.pool, self.span),
                Driver::Video(viewer) => viewer.on_segment(now, bytes, &mut self.pool),
                Driver::Transfers(_) => {}
            }
            self.set_alarm();
        }
        if lost {
            match &mut self.driver {
                Driver::Web(browser) => browser.give_up(now, &mut self.pool),
                Driver::Video(viewer) => viewer.step(now, &mut self.pool),
                Driver::Transfers(_) => {}
            }
            self.set_alarm();
        }
    }

    pub(crate) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        segment: &mut Segment,
        observer: &mut impl Observer,
    ) -> Option<u32> {
        self.pool.poll(now, side, held_back, segment, observer)
    }

    /// The connection of a packet, by the low bits of its number, which lower layers know.
    pub(super) fn connection_of(&mut self, low: u16) -> Option<&mut Connection> {
        self.pool.connection_of(low)
    }

    pub(crate) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        self.pool.timer_to_arm(side)
    }

    pub(crate) fn timer_fires(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        self.pool.timer_fires(now, side, observer);
        self.proceed(now, side, observer);
    }

    /// The reasons why its ends wait.
    pub(super) fn waiting(&self, now: Time) -> Waiting {
        self.pool.waiting(now)
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        self.pool.check_conservation()
    }

    /// Reports the metrics of such flows.
    pub(crate) fn report(&self, row: &mut Row<scope::Flow>) {
        match &self.driver {
            Driver::Web(browser) => browser.report(row),
            Driver::Video(viewer) => viewer.report(self.span, row),
            Driver::Transfers(_) => {}
        }
    }
}

impl Browser {
    fn open_page(&mut self, now: Time, pool: &mut Pool) {
        if self.next_page.is_none_or(|at| at > now) {
            return;
        }
        self.next_page = None;
        let mut objects = self.reader.page();
        let mut embedded = objects.split_off(1);
        // Requests are taken from the end.
        embedded.reverse();
        self.page = Some(Loading { since: now, wanted: objects, embedded, unanswered: 0 });
        self.ask(now, pool);
    }

    /// Requests as many objects as connections allow.
    fn ask(&mut self, now: Time, pool: &mut Pool) {
        let Some(page) = &mut self.page else { return };
        let (connections, requests) = self.params.limits();
        while let Some(&size) = page.wanted.last() {
            let number = match pool.idlest() {
                Some((number, unanswered)) if unanswered == 0 || (unanswered < requests && connections == 1) => number,
                _ if pool.open_connections() < connections => pool.open(now, Side::Receiver),
                _ => return,
            };
            pool.ask(number, self.params.request.0, size);
            page.wanted.pop();
            page.unanswered += 1;
        }
    }

    fn on_object(&mut self, now: Time, pool: &mut Pool, span: Span) {
        let Some(page) = &mut self.page else { return };
        page.unanswered -= 1;
        page.wanted.append(&mut page.embedded);
        if page.wanted.is_empty() && page.unanswered == 0 {
            let since = page.since;
            if since >= span.from {
                self.load_times.add(now.since(since));
            }
            self.close_page(now, pool);
        } else {
            self.ask(now, pool);
        }
    }

    fn close_page(&mut self, now: Time, pool: &mut Pool) {
        self.page = None;
        if !self.params.keep_alive {
            pool.close_all(now);
        }
        self.next_page = Some(now + self.reader.think());
    }

    /// A connection is lost; the reader gives up the page.
    fn give_up(&mut self, now: Time, pool: &mut Pool) {
        if self.page.is_some() {
            self.abandoned += 1;
            pool.close_all(now);
            self.close_page(now, pool);
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
    fn step(&mut self, now: Time, pool: &mut Pool) {
        self.wait_until = None;
        let Some(player) = &mut self.player else { return };
        let number = match pool.idlest() {
            Some((number, 0)) => number,
            Some(_) => return,
            None => pool.open(now, Side::Receiver),
        };
        match player.next(now) {
            Next::Request(bytes) => pool.ask(number, self.params.request.0, bytes),
            Next::WaitUntil(at) => self.wait_until = Some(at),
        }
    }

    fn on_segment(&mut self, now: Time, bytes: u64, pool: &mut Pool) {
        if let Some(player) = &mut self.player {
            player.on_segment(now, bytes);
        }
        self.step(now, pool);
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

impl Arrivals {
    fn begin(&mut self, now: Time, pool: &mut Pool) {
        while self.application.take_due(now).is_some() {
            let number = pool.open(now, Side::Sender);
            pool.send_and_close(now, number, self.size);
        }
    }
}
