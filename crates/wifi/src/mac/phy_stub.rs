use crate::phy::{ModeId, Phy};
use lasthop_units::Duration;
impl Phy {
    pub fn min_mpdu_start_spacing(&self) -> Duration { Duration::ZERO }
    pub fn max_ppdu_duration(&self, _: ModeId) -> Duration { Duration::from_micros(5484) }
    pub fn max_ampdu_bytes(&self) -> u32 { 65535 }
    pub fn block_ack_window(&self) -> u32 { 64 }
}
