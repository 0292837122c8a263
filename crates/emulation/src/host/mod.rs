//! Hosts: network namespaces, their devices and settings, and the programs that run in them.

mod bottleneck;
mod companion;
mod contain;
mod generic_netlink;
pub mod guest;
mod hosts_file;
mod namespace;
mod netlink;
pub mod program;
mod realtime;
mod supervise;
pub mod sysctl;

pub use bottleneck::QueueDiscipline;
pub(crate) use companion::Companion;
pub use contain::{Contain, Containment, contain};
pub(crate) use generic_netlink::{Attributes, GenericNetlink, Message, give_radio, without_wifi};
pub use hosts_file::set_hosts;
pub use lasthop_scenario::emulation::RouteMetrics;
pub use namespace::Namespace;
pub use netlink::Netlink;
pub use program::Program;
pub use realtime::{Granted, ask_for_realtime};
