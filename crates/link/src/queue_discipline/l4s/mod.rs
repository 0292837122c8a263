//! L4S inside the queues of a station: marks of ECT(1) packets in the TXQs of mac80211.

use lasthop_registry::registry;
use lasthop_units::Duration;

use super::law;

registry! {
    /// How the TXQs of stations treat L4S packets.
    pub enum L4s as "l4s" {
        /// Marks each ECT(1) packet that waited longer than a threshold; flows keep their queues.
        step => Step: source "RFC 9331 §5; fq_codel's ce_threshold of Linux", status "unit tests";
        /// Two queues in place of flow queues, for L4S packets and for classic ones, coupled by PI².
        dual => Dual: source "RFC 9332", status "unit tests; its law as dualpi2";
    }
    planned:
}

/// The same for the queues.
#[derive(Clone, Copy, Debug)]
pub(super) enum TxqL4s {
    /// the sojourn time above which an ECT(1) packet is marked
    Step(Duration),
    /// the law of the two queues
    Dual(law::dual::Settings),
}

impl L4s {
    /// The settings for the queues.
    pub(super) fn settings(&self) -> TxqL4s {
        match self {
            L4s::Step(params) => TxqL4s::Step(params.step),
            L4s::Dual(params) => TxqL4s::Dual(params.settings()),
        }
    }
}
