//! What the receiving half tells [`Info`].

use lasthop_units::Time;

use super::Receiver;
use crate::info::Info;

impl Receiver {
    /// Fills in what is known here.
    pub fn report(&self, _now: Time, info: &mut Info) {
        info.rcv_wscale = self.scale;
        info.bytes_received = self.nxt().saturating_sub(1 + u64::from(self.is_finished()));
        info.rcv_wnd = self.advertised_end.saturating_sub(self.nxt()).min(u64::from(u32::MAX)) as u32;
    }
}
