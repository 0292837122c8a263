//! The receiving half's part of [`Info`].

use lasthop_units::Time;

use super::Receiver;
use crate::info::Info;

impl Receiver {
    /// Fills in the fields of the receiving half.
    pub fn report(&self, now: Time, info: &mut Info) {
        info.last_data_recv_us = self.last_data.map_or(0, |last| now.since(last).as_nanos() / 1000);
        info.rcv_wscale = self.scale();
        info.bytes_received = self.in_order_bytes();
        info.rcv_wnd = self.window.offered(self.nxt()).min(u64::from(u32::MAX)) as u32;
        info.ato_us = self.schedule.delay().as_nanos() / 1000;
        info.received_ce = self.echo.marked_packets();
        if let Some(bytes) = self.echo.bytes() {
            [info.received_e1_bytes, info.received_ce_bytes, info.received_e0_bytes] = bytes.totals();
        }
        info.rcv_mss = self.schedule.full_segment();
    }
}
