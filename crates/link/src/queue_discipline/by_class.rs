//! Waits and marks of a queue that treats L4S packets unlike others, for each of the two classes.
//!
//! A mark is one of a *burst of service* if its packet left at the first time of service after it came: no packet of its
//! queue stood before it then, and it waited only because its queue is served in bursts, such as A-MPDUs.

use lasthop_observe::Histogram;
use lasthop_units::Time;

use super::law::dual::Class;
use crate::PacketMeta;

/// The use of a queue by the packets of one class since the last reset.
#[derive(Clone, Debug, Default)]
pub struct ClassUse {
    /// packets marked with CE
    pub marks: u64,
    /// times that packets waited until they left
    pub waits: Histogram,
}

/// The use of a queue by L4S packets and by classic ones since the last reset.
#[derive(Clone, Debug, Default)]
pub struct ByClass {
    /// by class
    of: [ClassUse; 2],
    /// marks of L4S packets that came from bursts of service
    pub marks_of_bursts: u64,
}

impl ByClass {
    /// The use by one class.
    pub fn of(&self, class: Class) -> &ClassUse {
        &self.of[class as usize]
    }

    /// Counts a packet of a class that leaves, marked here or not.
    #[inline]
    pub fn left(&mut self, now: Time, class: Class, packet: &PacketMeta, is_marked: bool, service: &Service) {
        let of = &mut self.of[class as usize];
        of.waits.add(now.since(packet.enqueued_at));
        of.marks += u64::from(is_marked);
        self.marks_of_bursts += u64::from(is_marked && class == Class::L4s && service.is_first_for(packet));
    }

    /// Counts a mark of a packet of a class that comes.
    pub fn marked_at_arrival(&mut self, class: Class) {
        self.of[class as usize].marks += 1;
    }

    /// Adds the use of another queue.
    pub fn join(&mut self, other: &ByClass) {
        for (of, more) in self.of.iter_mut().zip(&other.of) {
            of.marks += more.marks;
            of.waits.join(&more.waits);
        }
        self.marks_of_bursts += other.marks_of_bursts;
    }
}

/// The times at which a queue is served: packets that leave at one instant leave in one burst.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service {
    latest: Option<Time>,
    before: Option<Time>,
}

impl Service {
    /// Called when a packet leaves.
    #[inline]
    pub fn at(&mut self, now: Time) {
        if self.latest != Some(now) {
            self.before = self.latest.replace(now);
        }
    }

    /// Returns whether the burst under way is the first one since the packet came.
    fn is_first_for(&self, packet: &PacketMeta) -> bool {
        self.before.is_none_or(|before| packet.enqueued_at >= before)
    }
}

#[cfg(test)]
mod tests {
    use lasthop_units::Duration;

    use super::super::samples::data;
    use super::*;

    #[test]
    fn a_mark_is_of_a_burst_if_the_packet_left_with_the_first_one_after_it_came() {
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        let (mut service, mut use_of) = (Service::default(), ByClass::default());
        // Bursts leave at 10 and at 20 ms.
        for (at, came) in [(10, 1), (20, 12), (20, 10), (20, 9)] {
            service.at(ms(at));
            let packet = PacketMeta { enqueued_at: ms(came), ..data(0, 1500) };
            use_of.left(ms(at), Class::L4s, &packet, true, &service);
        }
        assert_eq!((use_of.of(Class::L4s).marks, use_of.marks_of_bursts), (4, 3));
        // 9, 8, 10 and 11 ms
        assert_eq!(use_of.of(Class::L4s).waits.mean_s(), Some(0.0095));
    }
}
