//! The stack's view of a [`Sender`]: its trait of controllers, and the place from which others read the same sender.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lasthop_tcp::congestion_control::{Context, Draws, Growth, GrowthMode, Outside};
use lasthop_units::Duration;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::clock::time;
use crate::mirror::Mirror;
use crate::sender::Sender;
use crate::stack_control::Control;

/// Clock tick of the controllers that follow Linux: HZ = 1000.
const TICK: Duration = Duration::from_millis(1);

/// A sender that the stack and its owner share. They belong to one simulation, so no thread ever waits.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Mutex<Sender>>);

impl Shared {
    /// A controller that failed has unwound through the lock; its reason is still to be read.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Sender> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the controllers of one side of a pair, one for each connection.
pub(crate) struct Factory {
    pub(crate) control: Control,
    pub(crate) initial_window: u32,
    /// bytes of a segment: of a full datagram, once the path is known to carry it
    pub(crate) datagram: u16,
    pub(crate) seed: u64,
    /// values from outside for the senders of all connections
    pub(crate) outside: Mutex<Outside>,
    /// the sender of the newest connection, until its owner takes it
    pub(crate) newest: Mutex<Option<Shared>>,
}

impl Factory {
    fn initial_window_bytes(&self) -> u64 {
        u64::from(self.initial_window) * u64::from(self.datagram)
    }

    /// A sender, and the stack's own controller if it decides the sender's window.
    fn make(&self, now: Instant) -> (Shared, Option<Box<dyn Controller>>) {
        let outside = *self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |control| {
            let mut sender = Sender::new(control, self.datagram);
            if outside != Outside::default() {
                sender.hold(outside);
            }
            Shared(Arc::new(Mutex::new(sender)))
        };
        match &self.control {
            Control::Ours(algorithm) => {
                (of(algorithm.build(&context(self.initial_window, self.datagram, self.seed))), None)
            }
            Control::Stack(control) => {
                let stack = control.factory(self.initial_window_bytes()).build(now, self.datagram);
                (of(Box::new(Mirror::new(f64::from(self.initial_window)))), Some(stack))
            }
        }
    }
}

/// The facts that a controller has at the start: windows grow by acknowledged bytes. [RFC 9002 §7.3.1]
pub(crate) fn context(initial_window: u32, datagram: u16, seed: u64) -> Context {
    Context {
        initial_window: f64::from(initial_window),
        initial_ssthresh: f64::INFINITY,
        mss_bytes: u32::from(datagram),
        growth: Growth::both(GrowthMode::PerByte),
        tick: TICK,
        abe: false,
        draws: Draws::seeded(seed),
    }
}

impl ControllerFactory for Factory {
    /// The size of datagrams at the start is not asked for: a segment keeps its size.
    fn build(self: Arc<Self>, now: Instant, _: u16) -> Box<dyn Controller> {
        let (shared, stack) = self.make(now);
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared.clone());
        Box::new(Adapter { shared, stack, initial_window: self.initial_window_bytes() })
    }
}

/// A [`Sender`] as the stack calls it.
struct Adapter {
    shared: Shared,
    /// decides the window in place of the sender's controller
    stack: Option<Box<dyn Controller>>,
    initial_window: u64,
}

impl Adapter {
    /// Lets the sender show the window of the stack's own controller.
    fn mirror(&self) {
        if let Some(stack) = &self.stack {
            let threshold = stack.metrics().ssthresh.filter(|bytes| *bytes < u64::MAX);
            self.shared.lock().mirror(stack.window(), threshold);
        }
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, number: u64) {
        if let Some(stack) = &mut self.stack {
            stack.on_sent(now, bytes, number);
        }
        self.shared.lock().on_sent(time(now), bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        if let Some(stack) = &mut self.stack {
            stack.on_ack(now, sent, bytes, app_limited, rtt);
        }
        self.shared.lock().on_packet_acked(time(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        if let Some(stack) = &mut self.stack {
            stack.on_end_acks(now, in_flight, app_limited, largest);
        }
        self.shared.lock().on_ack_read(time(now), in_flight, app_limited, largest);
        self.mirror();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        if let Some(stack) = &mut self.stack {
            stack.on_congestion_event(now, sent, is_persistent, lost_bytes);
        }
        self.shared.lock().on_congestion(time(now), time(sent), is_persistent, lost_bytes);
        self.mirror();
    }

    /// A segment keeps its size, so that only the stack's own controllers heed it.
    fn on_mtu_update(&mut self, mtu: u16) {
        if let Some(stack) = &mut self.stack {
            stack.on_mtu_update(mtu);
        }
        self.mirror();
    }

    fn window(&self) -> u64 {
        let sender = self.shared.lock();
        let stack = self.stack.as_ref().filter(|_| !sender.is_held());
        stack.map_or_else(|| sender.window_bytes(), |stack| stack.window())
    }

    fn metrics(&self) -> ControllerMetrics {
        let sender = self.shared.lock();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = sender.window_bytes();
        metrics.ssthresh = sender.ssthresh_bytes();
        metrics
    }

    /// Asked for at a change of path, which the server does not allow.
    fn clone_box(&self) -> Box<dyn Controller> {
        let stack = self.stack.as_ref().map(|stack| stack.clone_box());
        Box::new(Adapter { shared: self.shared.clone(), stack, initial_window: self.initial_window })
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
