//! The stack's view of a [`Sender`]: its trait of controllers, and the place from which others read the same sender.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lasthop_tcp::congestion_control::{Algorithm, Context, Draws, Growth, GrowthMode};
use lasthop_units::Duration;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::clock::time;
use crate::sender::Sender;

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
    pub(crate) algorithm: Algorithm,
    pub(crate) initial_window: u32,
    pub(crate) seed: u64,
    /// the sender of the newest connection, until its owner takes it
    pub(crate) newest: Mutex<Option<Shared>>,
}

impl Factory {
    fn make(&self, datagram: u16) -> Shared {
        let control = self.algorithm.build(&context(self.initial_window, datagram, self.seed));
        Shared(Arc::new(Mutex::new(Sender::new(control, datagram))))
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
    fn build(self: Arc<Self>, _: Instant, datagram: u16) -> Box<dyn Controller> {
        let shared = self.make(datagram);
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared.clone());
        Box::new(Adapter { shared, initial_window: u64::from(self.initial_window) * u64::from(datagram) })
    }
}

/// A [`Sender`] as the stack calls it.
struct Adapter {
    shared: Shared,
    initial_window: u64,
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.shared.lock().on_sent(time(now), bytes);
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.shared.lock().on_packet_acked(time(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.shared.lock().on_ack_read(time(now), in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.shared.lock().on_congestion(time(now), time(sent), is_persistent, lost_bytes);
    }

    /// Datagrams have one size: probes of the path's MTU are off.
    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        self.shared.lock().window_bytes()
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
        Box::new(Adapter { shared: self.shared.clone(), initial_window: self.initial_window })
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
