//! What applications do, one file each.

use lasthop_registry::registry;

registry! {
    /// The choice `traffic = "…"`.
    pub enum TrafficKind as "traffic" {
        /// As much as the transport takes, or at the flow's rate.
        bulk => Bulk: source "FTP of ns-2, BulkSend of ns-3, iperf3", status "unit tests";
    }
    planned: voip, web, video, on_off, poisson, trace
}
