//! What keeps a sender from sending more just now, for whoever wants to know where its time goes.

use lasthop_units::Time;

use crate::endpoint::Endpoint;
use crate::state::State;
use crate::timer::Timer;

/// What a sender waits for, once it has been polled until it had nothing more to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// data from the application, or more of it where a short segment waits for more
    Application,
    /// the handshake
    Opening,
    /// room in the congestion window
    CongestionWindow,
    /// room in the window that the peer offers
    ReceiveWindow,
    /// the time at which pacing lets the next segment out
    Pacing,
    /// nothing of its own: whoever polls it has stopped
    Device,
}

impl Endpoint {
    /// What this end waits for as a sender.
    pub fn hold(&self, now: Time) -> Hold {
        match self.state {
            State::Closed | State::Listen | State::TimeWait => Hold::Application,
            // Who was called and has nothing to say waits for nothing.
            state if state.is_opening() && self.is_passive && self.unsent_bytes() == 0 => Hold::Application,
            state if state.is_opening() && self.sender.board().nxt() == 0 => Hold::Device,
            state if state.is_opening() => Hold::Opening,
            state => self.sender.hold(now, state.may_send_data()),
        }
    }

    /// Whether something awaits an acknowledgement, or a probe an answer, until a timer sends it again.
    pub fn awaits_answer(&self) -> bool {
        self.timers.is_set(Timer::Retransmit) || self.timers.is_set(Timer::Persist)
    }

    /// Whether an acknowledgement is due and withheld. [RFC 1122 §4.2.3.2]
    pub fn withholds_ack(&self) -> bool {
        self.timers.is_set(Timer::DelayedAck)
    }
}

#[cfg(test)]
mod tests {
    use lasthop_registry::Amount;
    use lasthop_units::Duration;

    use super::*;
    use crate::{Config, DelayedAck, Profile, ReceiveWindow};

    /// Both ends of a connection that is open.
    fn after_handshake(config: &Config) -> (Endpoint, Endpoint) {
        let (mut sender, mut receiver) = (Endpoint::new(config, 1), Endpoint::new(config, 9));
        receiver.listen();
        sender.connect(Time::ZERO);
        assert_eq!(sender.hold(Time::ZERO), Hold::Device, "the SYN is not asked for yet");
        let syn = sender.poll_transmit(Time::ZERO).expect("there is a SYN");
        assert_eq!(sender.hold(Time::ZERO), Hold::Opening);
        receiver.handle_segment(Time::ZERO, &syn);
        for _ in 0..2 {
            while let Some(segment) = sender.poll_transmit(Time::ZERO) {
                receiver.handle_segment(Time::ZERO, &segment);
            }
            while let Some(segment) = receiver.poll_transmit(Time::ZERO) {
                sender.handle_segment(Time::ZERO, &segment);
            }
        }
        assert!(sender.is_established());
        (sender, receiver)
    }

    fn drain(end: &mut Endpoint) -> usize {
        std::iter::from_fn(|| end.poll_transmit(Time::ZERO)).count()
    }

    #[test]
    fn without_data_it_is_the_application_with_data_the_congestion_window() {
        for profile in [Profile::Ns2, Profile::Linux] {
            let (mut sender, _) = after_handshake(&profile.config());
            assert_eq!(sender.hold(Time::ZERO), Hold::Application, "{profile:?}");
            assert!(!sender.awaits_answer(), "{profile:?}");
            sender.write_forever();
            assert!(drain(&mut sender) > 0);
            assert_eq!(sender.hold(Time::ZERO), Hold::CongestionWindow, "{profile:?}");
            assert!(sender.awaits_answer(), "{profile:?}");
        }
    }

    #[test]
    fn a_window_of_two_segments_is_the_peers() {
        for profile in [Profile::Ns2, Profile::Linux] {
            let mut config = profile.config();
            let payload = u64::from(config.payload_bytes());
            config.receive_window = ReceiveWindow::Fixed(Amount::Bytes(2 * payload));
            config.initial_window = 10;
            let (mut sender, _) = after_handshake(&config);
            sender.write_forever();
            assert_eq!(drain(&mut sender), 2, "{profile:?}");
            assert_eq!(sender.hold(Time::ZERO), Hold::ReceiveWindow, "{profile:?}");
        }
    }

    #[test]
    fn who_is_not_polled_waits_for_the_device() {
        let (mut sender, _) = after_handshake(&Profile::Ns2.config());
        sender.write_forever();
        assert_eq!(sender.hold(Time::ZERO), Hold::Device);
    }

    #[test]
    fn a_receiver_that_delays_its_ack_says_so() {
        let mut config = Profile::Linux.config();
        config.quick_acks = 0;
        config.delayed_ack = DelayedAck::Fixed;
        let (mut sender, mut receiver) = after_handshake(&config);
        sender.write(100);
        let segment = sender.poll_transmit(Time::ZERO).unwrap();
        receiver.handle_segment(Time::ZERO + Duration::from_millis(1), &segment);
        drain(&mut receiver);
        assert!(receiver.withholds_ack());
        assert_eq!(sender.hold(Time::ZERO), Hold::Application);
    }
}
