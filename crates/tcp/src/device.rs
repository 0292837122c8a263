//! For a device that asks for data when it has room, while ACKs go out at once.

use lasthop_units::Time;

use crate::endpoint::Endpoint;
use crate::receive::Owed;
use crate::segment::Segment;
use crate::state::State;

impl Endpoint {
    /// How many RTT samples [`latest_rtt`](Self::latest_rtt) has shown, so that an observer misses none.
    pub fn rtt_samples(&self) -> u64 {
        self.sender.rtt().samples()
    }

    /// The next segment that takes no room of data: a reset or an ACK that is due. What carries
    /// payload, SYN or FIN, and probes, wait for [`poll_transmit`](Self::poll_transmit).
    pub fn poll_control(&mut self, now: Time) -> Option<Segment> {
        if let Some(answer) = self.answer.take() {
            return Some(answer);
        }
        let has_peer = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if has_peer && matches!(self.receiver.owed(), Owed::Soon | Owed::Pure) {
            return Some(self.pure_ack(now));
        }
        self.set_idle_timers(now);
        None
    }
}
