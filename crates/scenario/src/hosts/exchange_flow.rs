//! A flow of several TCP connections: those of a browser or a player, or of transfers that begin at random.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::{FlowId, Observer, Record, Row, scope};
use lasthop_tcp::Segment;
use lasthop_units::Time;

use super::Side;
use super::application::{Application, Span};
use super::connection::{Connection, Waiting};
use super::driver::Driver;
use super::own_queue::OwnQueue;
use super::tcp_pool::Pool;
use crate::resolved::FlowSpec;
use crate::traffic::TrafficKind;

/// Begins transfers that are independent of one another.
struct Arrivals {
    application: Application,
    size: u64,
}

/// The use of the connections.
enum Use {
    Requests(Driver),
    Transfers(Arrivals),
}

/// A flow of requests and answers, or of transfers, over the TCP connections of a pool.
pub(crate) struct ExchangeFlow {
    id: FlowId,
    span: Span,
    pool: Pool,
    serves: Use,
    wake: Option<Time>,
}

impl ExchangeFlow {
    /// The flow of `spec`, if its application is of this kind.
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, seed: u64, span: Span, asked: bool) -> Option<ExchangeFlow> {
        let serves = match (Driver::of(spec, seed), &spec.section.traffic, spec.section.size) {
            (Some(driver), ..) => Use::Requests(driver),
            (None, TrafficKind::Poisson(_), Some(size)) => {
                Use::Transfers(Arrivals { application: Application::over_tcp(spec, seed, span)?, size: size.0 })
            }
            _ => return None,
        };
        let config = &spec.tcp.config;
        let own_queue = OwnQueue::new(config, spec.up, asked);
        let pool = Pool::new(id, Arc::new(config.clone()), Stream::named(seed, "iss", &spec.stream), own_queue);
        Some(ExchangeFlow { id, span, pool, serves, wake: None })
    }

    pub(crate) fn controller_failure(&self) -> Option<&str> {
        self.pool.controller_failure()
    }

    /// The end at which the application decides the next step.
    pub(crate) fn active_side(&self) -> Side {
        match self.serves {
            Use::Requests(_) => Side::Receiver,
            Use::Transfers(_) => Side::Sender,
        }
    }

    pub(crate) fn start(&mut self, now: Time) {
        match &mut self.serves {
            Use::Requests(driver) => driver.start(now),
            Use::Transfers(arrivals) => arrivals.application.start(now),
        }
        self.application_offers(now);
    }

    /// Runs the application at the time that it set.
    pub(crate) fn application_offers(&mut self, now: Time) {
        let pool = &mut self.pool;
        match &mut self.serves {
            Use::Requests(driver) => driver.run(now, pool),
            Use::Transfers(arrivals) => arrivals.begin(now, pool),
        }
        self.set_alarm();
    }

    fn set_alarm(&mut self) {
        self.wake = match &mut self.serves {
            Use::Requests(driver) => driver.wakes_at(),
            Use::Transfers(arrivals) => arrivals.application.wake_at(),
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
        let Use::Requests(driver) = &mut self.serves else {
            while let Some(opened_at) = self.pool.take_completed() {
                observer.observe(now, Record::Completed { flow: self.id, took: now.since(opened_at) });
            }
            return;
        };
        let lost = self.pool.drop_failed();
        let mut has_run = lost;
        while let Some(bytes) = self.pool.take_answer() {
            driver.on_answer(now, bytes, &mut self.pool, self.span);
            has_run = true;
        }
        if lost {
            driver.on_loss(now, &mut self.pool);
        }
        if has_run {
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
        if let Use::Requests(driver) = &self.serves {
            driver.report(self.span, row);
        }
    }
}

impl Arrivals {
    fn begin(&mut self, now: Time, pool: &mut Pool) {
        while self.application.take_due(now).is_some() {
            let number = pool.open_from(now, Side::Sender);
            pool.send_and_close(now, number, self.size);
        }
    }
}
