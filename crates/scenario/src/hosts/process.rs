//! The time that QUIC takes at hosts: the stack runs in a process, which does one thing after another.
//!
//! A host has one such process for all its QUIC flows with a `cost`. It reads a datagram or sends a batch of them in
//! that time; meanwhile datagrams wait in its socket, and timers and data until it looks at them. It reads and sends in
//! turns of at most `max_datagrams`. A datagram that it sends is made at the beginning of its time, as the stack stamps
//! it, and leaves at the end. The time of applications is left out.

use std::collections::VecDeque;

use lasthop_observe::FlowId;
use lasthop_quic::Datagram;
use lasthop_units::Duration;

use super::Side;
use crate::description::QuicSection;

/// The time that a flow takes at a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// of a datagram that is read, and of a batch that is sent
    pub datagram: Duration,
    /// most of them before the other kind has its turn
    pub in_a_row: u32,
}

impl Cost {
    /// The cost that a flow with these keys has, if it has one.
    pub(super) fn of(quic: &QuicSection) -> Option<Cost> {
        (quic.cost > Duration::ZERO).then_some(Cost { datagram: quic.cost, in_a_row: quic.max_datagrams })
    }
}

/// An end of a flow.
pub(super) type FlowEnd = (FlowId, Side);

/// The present work of a process.
#[derive(Debug)]
pub(super) enum Work {
    /// it reads a datagram
    Reads(FlowEnd, Datagram),
    /// it sends the datagrams that this end has made
    Sends(FlowEnd),
}

/// The next thing that a process may do.
#[derive(Debug)]
pub(super) enum Next {
    Read(FlowEnd, Datagram),
    /// if this end has something to send
    Send(FlowEnd),
}

/// The process of a host.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) work: Option<Work>,
    socket: VecDeque<(FlowEnd, Datagram)>,
    /// ends that may have to send
    senders: VecDeque<FlowEnd>,
    /// ends with a timer that has expired
    pub(super) expired: Vec<FlowEnd>,
    is_sending: bool,
    in_a_row: u32,
}

impl Process {
    /// A datagram arrives.
    pub(super) fn receive(&mut self, end: FlowEnd, datagram: Datagram) {
        self.socket.push_back((end, datagram));
    }

    /// An end may have to send.
    pub(super) fn wake(&mut self, end: FlowEnd) {
        if !self.senders.contains(&end) {
            self.senders.push_back(end);
        }
    }

    /// An end does not send for now.
    pub(super) fn rest(&mut self, end: FlowEnd) {
        self.senders.retain(|other| *other != end);
    }

    /// Its next work, with the cost of each flow, if there is any.
    pub(super) fn next(&mut self, cost: impl Fn(FlowId) -> Cost) -> Option<Next> {
        let most = |end: Option<&FlowEnd>| end.map_or(0, |(flow, _)| cost(*flow).in_a_row);
        let (reads, sends) = (most(self.socket.front().map(|(end, _)| end)), most(self.senders.front()));
        let (this, other) = if self.is_sending { (sends, reads) } else { (reads, sends) };
        // A kind has another turn if the other kind has no work.
        if self.in_a_row >= this && (other > 0 || this == 0) {
            (self.is_sending, self.in_a_row) = (!self.is_sending, 0);
        }
        self.in_a_row += 1;
        if self.is_sending {
            let end = self.senders.pop_front()?;
            self.senders.push_back(end);
            return Some(Next::Send(end));
        }
        self.socket.pop_front().map(|(end, datagram)| Next::Read(end, datagram))
    }
}

#[cfg(test)]
mod tests {
    use lasthop_units::Ecn;

    use super::*;

    const END: FlowEnd = (FlowId(0), Side::Sender);

    fn datagram(number: u8) -> Datagram {
        Datagram::received(&[number], Ecn::NotEct)
    }

    #[test]
    fn reading_and_sending_take_turns() {
        let mut process = Process::default();
        (0..5).for_each(|number| process.receive(END, datagram(number)));
        process.wake(END);
        process.wake(END);
        let cost = |_| Cost { datagram: Duration::from_micros(1), in_a_row: 2 };
        let mut order = String::new();
        for _ in 0..9 {
            match process.next(cost) {
                Some(Next::Read(_, datagram)) => order += &datagram.payload[0].to_string(),
                Some(Next::Send(_)) => order.push('s'),
                None => order.push('-'),
            }
        }
        assert_eq!(order, "01ss23ss4");
        process.rest(END);
        assert!(process.next(cost).is_none());
    }
}
