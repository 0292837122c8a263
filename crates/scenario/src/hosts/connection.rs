//! A TCP connection of a flow: an endpoint at either end, the values last reported of them, and its packets in the
//! queue of its station.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::detail::Detail;
use lasthop_observe::{FlowId, Hold, Observer, Record};
use lasthop_tcp::{Config, Endpoint, Segment};
use lasthop_units::Time;

use super::Side;
use super::own_queue::OwnQueue;

/// The values last reported of a connection, so that only changes are reported.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    window: Window,
    timeouts: u64,
    acks_missing: u64,
    rtt_samples: u64,
    delivered: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Window {
    cwnd: f64,
    ssthresh: f64,
    flight_bytes: u64,
}

/// The reasons why the two ends of a flow wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub hold: Hold,
    pub awaits_answer: bool,
    pub withholds_ack: bool,
}

impl Waiting {
    /// No data to send on either end.
    pub(super) const IDLE: Waiting = Waiting { hold: Hold::Application, awaits_answer: false, withholds_ack: false };

    /// Combines two connections: the first that waits for anything except its application decides the hold.
    pub(super) fn and(self, other: Waiting) -> Waiting {
        Waiting {
            hold: if self.hold == Hold::Application { other.hold } else { self.hold },
            awaits_answer: self.awaits_answer || other.awaits_answer,
            withholds_ack: self.withholds_ack || other.withholds_ack,
        }
    }
}

/// One TCP connection between station and server, with its timers and records.
pub(super) struct Connection {
    flow: FlowId,
    number: u32,
    /// by [`Side`]
    ends: [Endpoint; 2],
    told: Told,
    /// of the end at the station
    own_queue: OwnQueue,
}

impl Connection {
    /// The `number`-th connection of `flow`, between closed endpoints; `iss` draws initial sequence numbers.
    pub(super) fn new(
        flow: FlowId,
        number: u32,
        config: &Arc<Config>,
        iss: &mut Stream,
        own_queue: OwnQueue,
    ) -> Connection {
        let mut endpoint = || Endpoint::sharing(config, (iss.bits() >> 32) as u32);
        Connection { flow, number, ends: [endpoint(), endpoint()], told: Told::default(), own_queue }
    }

    /// One end listens, and `opener` opens the connection.
    pub(super) fn open(&mut self, now: Time, opener: Side) {
        self.end_mut(opener.other()).listen();
        self.end_mut(opener).connect(now);
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn end(&self, side: Side) -> &Endpoint {
        &self.ends[side as usize]
    }

    pub(super) fn end_mut(&mut self, side: Side) -> &mut Endpoint {
        &mut self.ends[side as usize]
    }

    pub(super) fn ends(&self) -> &[Endpoint; 2] {
        &self.ends
    }

    /// The reason why the controller of an end cannot continue, if any.
    pub(super) fn controller_failure(&self) -> Option<&str> {
        self.ends.iter().find_map(Endpoint::controller_failure)
    }

    /// Its packets in the queue of its station, for the next connection.
    pub(super) fn own_queue(&self) -> OwnQueue {
        self.own_queue
    }

    /// Bytes delivered to the receiver's application, as last reported.
    pub(super) fn delivered(&self) -> u64 {
        self.told.delivered
    }

    /// Handles a segment that arrives at `side`.
    pub(super) fn arrive(&mut self, now: Time, side: Side, segment: &Segment) {
        self.end_mut(side).handle_segment(now, segment);
    }

    /// Fires the due timers of `side`; true if one was due.
    pub(super) fn fire_timers(&mut self, now: Time, side: Side) -> bool {
        let due = self.end_mut(side).poll_timeout() <= now;
        if due {
            self.end_mut(side).handle_timeout(now);
        }
        due
    }

    /// Writes the next segment of `side` into `segment`, one without data if `held_back`. True if there is one.
    #[inline(always)]
    pub(super) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        segment: &mut Segment,
        observer: &mut impl Observer,
    ) -> bool {
        let waits = held_back || self.own_queue.is_full(side, &self.ends[side as usize]);
        let end = self.end_mut(side);
        let before = end.counters().segments_retransmitted;
        let sends = if waits { end.poll_control_into(now, segment) } else { end.poll_into(now, segment) };
        if sends && segment.payload > 0 && side == Side::Sender {
            let retransmission = end.counters().segments_retransmitted > before;
            observer.observe(now, Record::SegmentSent { flow: self.flow, retransmission });
            self.tell_window(now, observer);
        }
        sends
    }

    /// Whether `side`, which has sent a pure ACK, has nothing more to send; the call then replaces a poll.
    #[inline]
    pub(super) fn rests(&mut self, now: Time, side: Side) -> bool {
        !self.own_queue.is_full(side, &self.ends[side as usize]) && self.end_mut(side).rests(now)
    }

    /// A packet with data enters the queue of the station.
    pub(super) fn enters_own_queue(&mut self, bytes: u32) {
        if self.own_queue.counts() {
            self.own_queue.enter(bytes);
        }
    }

    /// A packet leaves that queue, perhaps because the queue refused it. True if data waits for the room.
    pub(super) fn leaves_own_queue(
        &mut self,
        now: Time,
        bytes: u32,
        refused: bool,
        observer: &mut impl Observer,
    ) -> bool {
        if !self.own_queue.counts() {
            return false;
        }
        if refused {
            self.end_mut(self.own_queue.side()).on_local_drop(now);
            self.tell_window(now, observer);
        }
        self.own_queue.leave(bytes)
    }

    /// Reports changes at `side`.
    #[inline(always)]
    pub(super) fn tell(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        match side {
            Side::Sender => self.tell_of_sender(now, observer),
            Side::Receiver => self.tell_delivered(now, observer),
        }
    }

    fn tell_delivered(&mut self, now: Time, observer: &mut impl Observer) {
        let delivered = self.end(Side::Receiver).delivered_bytes();
        if delivered > self.told.delivered {
            let bytes = delivered - self.told.delivered;
            observer.observe(now, Record::Delivered { flow: self.flow, bytes });
            self.told.delivered = delivered;
        }
    }

    fn tell_of_sender(&mut self, now: Time, observer: &mut impl Observer) {
        let flow = self.flow;
        let sender = &self.ends[Side::Sender as usize];
        let counters = sender.counters();
        if sender.rtt_samples() != self.told.rtt_samples {
            self.told.rtt_samples = sender.rtt_samples();
            if let Some(sample) = sender.latest_rtt() {
                observer.observe(now, Record::Rtt { flow, sample, controller: sender.controller_rtt() });
            }
        }
        let (timeouts, acks_missing) = (counters.timeouts, counters.ack_losses_detected);
        for _ in self.told.timeouts..timeouts {
            observer.observe(now, Record::Timeout { flow });
        }
        self.told.timeouts = timeouts;
        if acks_missing > self.told.acks_missing {
            observer.observe(now, Record::AckLoss { flow, missing: acks_missing - self.told.acks_missing });
            self.told.acks_missing = acks_missing;
        }
        self.tell_window(now, observer);
    }

    #[inline]
    fn tell_window<O: Observer>(&mut self, now: Time, observer: &mut O) {
        let sender = self.end(Side::Sender);
        if O::READS_DETAILS {
            observer.detail(now, Detail::Stands { flow: self.flow, at: sender.ca_state() });
        }
        let window = Window {
            cwnd: sender.cwnd_segments(),
            ssthresh: sender.ssthresh_segments(),
            flight_bytes: sender.flight_size_bytes(),
        };
        if window != self.told.window {
            self.told.window = window;
            let Window { cwnd, ssthresh, flight_bytes } = window;
            observer.observe(now, Record::Window { flow: self.flow, cwnd, ssthresh, flight_bytes });
        }
    }

    /// The reasons why its ends wait.
    pub(super) fn waiting(&self, now: Time) -> Waiting {
        let mut holds = self.ends.iter().map(|end| end.hold(now));
        Waiting {
            hold: holds.find(|hold| *hold != Hold::Application).unwrap_or(Hold::Application),
            awaits_answer: self.ends.iter().any(Endpoint::awaits_answer),
            withholds_ack: self.ends.iter().any(Endpoint::withholds_ack),
        }
    }
}

/// The times of the scheduled events for the timers of the two ends of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alarms([Time; 2]);

impl Alarms {
    /// No event is scheduled.
    pub(super) fn new() -> Alarms {
        Alarms([Time::NEVER; 2])
    }

    /// The time at which to schedule an event for `side` due at `due`, unless a scheduled one is early enough.
    #[inline(always)]
    pub(super) fn arm(&mut self, side: Side, due: Time) -> Option<Time> {
        let armed = &mut self.0[side as usize];
        (due < *armed).then(|| {
            *armed = due;
            due
        })
    }

    /// An event has come. If an earlier one overtook it, nothing is due.
    pub(super) fn came(&mut self, side: Side, now: Time) {
        if self.0[side as usize] <= now {
            self.0[side as usize] = Time::NEVER;
        }
    }
}
