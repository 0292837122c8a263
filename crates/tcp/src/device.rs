//! The boundary between an endpoint and its host's interface: data that waits until it is polled, and queues that
//! should stay short.

use lasthop_units::{Duration, Time};

use crate::endpoint::Endpoint;
use crate::receive::Owed;
use crate::segment::Segment;
use crate::state::State;

impl Endpoint {
    /// The number of RTT samples that [`latest_rtt`](Self::latest_rtt) has shown, so that an observer misses none.
    pub fn rtt_samples(&self) -> u64 {
        self.sender.rtt().samples()
    }

    /// Bytes of memory that this end may have in the queue of its own host, to keep that queue short, as
    /// [`truesize`](fn@crate::truesize) counts them; `None`: any number. `usual` is the value of Linux for the kind of
    /// interface: 1/128 s for Wi-Fi, 1/1024 s for others.
    pub fn small_queue_bytes(&self, usual: Duration) -> Option<u64> {
        self.sender.small_queue(usual)
    }

    /// True between the segments of one send, which go into the queue of the own host together.
    pub fn is_within_send(&self) -> bool {
        self.sender.is_within_send()
    }

    /// Reports that the queue of the own host has refused a packet of this end.
    pub fn on_local_drop(&mut self, now: Time) {
        self.present.advance(now);
        self.sender.on_local_drop(now);
    }

    /// The next segment that needs no room for data: a reset or an ACK that is due. Payload, SYN, FIN and probes
    /// wait for [`poll_transmit`](Self::poll_transmit).
    pub fn poll_control(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_control_into(now, &mut segment).then_some(segment)
    }

    /// As [`poll_control`](Self::poll_control), but written into `segment`: true if there is one.
    pub fn poll_control_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        self.present.advance(now);
        if let Some(answer) = self.answer.take() {
            *segment = answer;
            return true;
        }
        let has_peer = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if has_peer && matches!(self.receiver.owed(), Owed::Soon | Owed::Pure) {
            self.write_pure_ack(now, segment);
            return true;
        }
        self.set_idle_timers(now);
        false
    }
}
