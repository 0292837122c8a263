//! Programs that carry a flow under `lasthop emulate`, one file each: the choice `application = "…"` of `[[flow]]`.
//!
//! A simulation starts none of them. It simulates the bulk flow that a program resembles, and refuses a program whose
//! traffic is unknown.

mod placeholder;

use lasthop_registry::registry;

use crate::traffic::TrafficKind;
pub(crate) use placeholder::Ends;

registry! {
    /// The choice `application = "…"`.
    pub enum ApplicationKind as "application" {
        /// No program: the flow is simulated under `lasthop emulate` as well.
        simulated => Simulated: source "—", status "unit tests";
        /// iperf3, a client at the station and a server for one test; simulated as bulk data.
        iperf3 => Iperf3: source "iperf3 3.x", status "unit tests";
        /// curl at the station, which fetches one file by HTTP; simulated as a transfer of its size.
        curl => Curl: source "curl 7.70 or later", status "unit tests";
        /// Any commands; they cannot be simulated.
        command => Command: source "—", status "unit tests";
    }
    planned:
}

impl ApplicationKind {
    /// Whether a program carries the flow under `lasthop emulate`.
    pub(crate) fn is_program(&self) -> bool {
        !matches!(self, ApplicationKind::Simulated(_))
    }

    /// Whether it can carry this traffic.
    pub(crate) fn goes_with(&self, traffic: &TrafficKind) -> bool {
        !self.is_program() || matches!(traffic, TrafficKind::Bulk(_))
    }
}
