//! `[wired]`: the server side of the access point.

use lasthop_link::{LossKind, QueueDisciplineKind, loss};
use lasthop_registry::{ParamError, params};
use lasthop_units::{DataRate, Duration};

params! {
    /// The wired link between access point and server, the same in both directions.
    pub(crate) struct Wired {
        /// Rate of each direction.
        pub rate: DataRate = DataRate::from_bps(1_000_000_000),
        /// One-way delay.
        pub delay: Duration = Duration::ZERO,
        /// Queue of the transmitter in each direction; default with 802.11n and later and tcp.profile = "linux": { kind
        /// = "fifo", limit = "1000 packets" }; else a queue that never drops.
        pub queue: Option<QueueDisciplineKind> = None,
        /// Losses apart from drops by the queue: "none", or e.g. { kind = "random", share = 0.02, only = "pure_acks" }.
        pub loss: LossKind = LossKind::None(loss::none::Params::default()),
    }
    check |this, path| {
        if this.rate < DataRate::from_bps(1_000) {
            return Err(ParamError::new(format!("{path}.rate"), "at least 1 kbit/s is needed"));
        }
        if this.delay > Duration::from_secs(1_000) {
            return Err(ParamError::new(format!("{path}.delay"), "at most 1000 s"));
        }
        Ok(())
    }
}
