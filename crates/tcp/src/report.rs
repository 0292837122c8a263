//! An endpoint's reports of itself: the reason of its wait, and the fields of `tcp_info`.

use lasthop_units::{CaState, Hold, Time};

use crate::ecn::Feedback;
use crate::endpoint::Endpoint;
use crate::info::{Info, option_bit};
use crate::state::State;
use crate::timer::Timer;

impl Endpoint {
    /// The reason for which this end waits as a sender.
    pub fn hold(&self, now: Time) -> Hold {
        match self.state {
            State::Closed | State::Listen | State::TimeWait => Hold::Application,
            // A passive side without data to send waits for nothing.
            state if state.is_opening() && self.is_passive && self.unsent_bytes() == 0 => Hold::Application,
            state if state.is_opening() && self.sender.board().nxt() == 0 => Hold::Device,
            state if state.is_opening() => self.or_device(Hold::Opening),
            state => self.or_device(self.sender.hold(now, state.may_send_data())),
        }
    }

    /// The device, if the retransmission timer has expired and its segment has not left yet: then no timer runs.
    fn or_device(&self, reason: Hold) -> Hold {
        match reason {
            Hold::Opening | Hold::CongestionWindow if !self.awaits_answer() => Hold::Device,
            reason => reason,
        }
    }

    /// State of congestion control, as in [`info`](Self::info).
    pub fn ca_state(&self) -> CaState {
        self.sender.ca_state()
    }

    /// True if something awaits an acknowledgement, or a probe an answer, until a timer sends it again.
    pub fn awaits_answer(&self) -> bool {
        self.timers.is_set(Timer::Retransmit) || self.timers.is_set(Timer::Persist)
    }

    /// True if an acknowledgement is due and withheld. [RFC 1122 §4.2.3.2]
    pub fn withholds_ack(&self) -> bool {
        self.timers.is_set(Timer::DelayedAck)
    }

    /// The connection's state at `now`, in the fields of `tcp_info`.
    pub fn info(&self, now: Time) -> Info {
        let mut info =
            Info { state: self.state, probes: self.probe.sent, options: self.option_bits(), ..Info::default() };
        info.snd_wscale = self.agreed.peer_scale;
        info.total_rto = self.counters.timeouts as u32;
        info.total_retrans = self.counters.segments_retransmitted as u32;
        info.data_segs_out = self.counters.segments_sent as u32;
        info.data_segs_in = self.counters.segments_received as u32;
        info.rcv_ooopack = self.counters.segments_out_of_order as u32;
        info.pmtu = self.config.packet_size.0 as u32;
        info.advmss = self.config.payload_bytes() + self.config.timestamp_bytes();
        self.sender.report(now, &mut info);
        self.receiver.report(now, &mut info);
        info
    }

    fn option_bits(&self) -> u8 {
        let bit = |agreed: bool, bit: u8| if agreed { bit } else { 0 };
        bit(self.agreed.timestamps, option_bit::TIMESTAMPS)
            | bit(self.agreed.sack, option_bit::SACK)
            | bit(self.agreed.scaling, option_bit::WSCALE)
            | bit(self.agreed.ecn != Feedback::Off, option_bit::ECN)
    }
}

#[cfg(test)]
mod tests {
    use lasthop_registry::Amount;
    use lasthop_units::{CaState, Duration};

    use super::*;
    use crate::{Config, DelayedAck, Flags, Profile, ReceiveWindow, Segment};

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
        for profile in [Profile::Ns2, Profile::Linux612] {
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
    fn sender_that_is_not_polled_waits_for_the_device() {
        let (mut sender, _) = after_handshake(&Profile::Ns2.config());
        sender.write_forever();
        assert_eq!(sender.hold(Time::ZERO), Hold::Device);
    }

    #[test]
    fn receiver_reports_a_withheld_ack() {
        let mut config = Profile::Linux.config();
        config.quick_acks = 0;
        config.delayed_ack = DelayedAck::Fixed;
        let (mut sender, mut receiver) = after_handshake(&config);
        sender.write(100);
        let segment = sender.poll_transmit(Time::ZERO).unwrap();
        let arrival = Time::ZERO + Duration::from_millis(1);
        receiver.handle_segment(arrival, &segment);
        while receiver.poll_transmit(arrival).is_some() {}
        assert!(receiver.withholds_ack());
        assert_eq!(sender.hold(Time::ZERO), Hold::Application);
    }

    #[test]
    fn a_fresh_connection_has_ten_segments_and_no_threshold() {
        let mut endpoint = Endpoint::new(&Profile::Linux.config(), 0);
        endpoint.listen();
        endpoint.handle_segment(Time::ZERO, &Segment { flags: Flags::SYN, mss: Some(1000), ..Segment::default() });
        while endpoint.poll_transmit(Time::ZERO).is_some() {}
        let later = Time::ZERO + Duration::from_millis(50);
        let ack = Segment {
            flags: Flags::ACK,
            seq: crate::SeqNumber(1),
            ack: crate::SeqNumber(1),
            window: 30_000,
            ..Segment::default()
        };
        endpoint.handle_segment(later, &ack);
        let info = endpoint.info(later);
        assert_eq!((info.state, info.ca_state), (State::Established, CaState::Open));
        assert_eq!((info.snd_cwnd, info.snd_ssthresh, info.snd_mss), (10, Info::INFINITE_SSTHRESH, 1000));
        assert_eq!((info.rtt_us, info.rto_us), (50_000, 250_000));
        endpoint.write(2500);
        while endpoint.poll_transmit(later).is_some() {}
        assert_eq!((endpoint.info(later).unacked, endpoint.info(later).notsent_bytes), (3, 0));
        assert_eq!(endpoint.info(later).snd_wnd, 30_000);
    }
}
