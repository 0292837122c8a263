//! The ACK filter of CAKE: of the pure ACKs in a queue, one that later ones make redundant leaves when another comes.
//!
//! An ACK is redundant if it is plain (no SACK blocks, no PSH), and the next one of its connection in the queue acknowledges more
//! under the same ECN flags. Duplicates and the ACK that they repeat therefore stay, and so do both ACKs around a change of the
//! flags. [Høiland-Jørgensen 2018, RFC 3449 §5.2.1] ACKs of accurate ECN stay as well, since AE was a reserved bit and their
//! option is unknown to the filter: that of Linux 7.3.4 dropped none of them. Left out: the removal of ACKs with SACK blocks that
//! a later one covers.

use lasthop_registry::words;

use super::super::flow_queue::FlowQueue;
use crate::{AckFacts, PacketMeta};

words! {
    /// Which redundant ACKs leave.
    pub enum AckFilter {
        /// none
        Off = "off",
        /// the oldest, if another redundant one waits behind it
        On = "on",
        /// the oldest
        Aggressive = "aggressive",
    }
}

/// The place of the ACK that leaves when the newest packet of the queue has come.
pub(super) fn redundant<B, L>(filter: AckFilter, queue: &FlowQueue<B, L>) -> Option<usize> {
    let spared = match filter {
        AckFilter::Off => return None,
        AckFilter::On => 1,
        AckFilter::Aggressive => 0,
    };
    let newest = queue.newest().filter(|newest| newest.pure_ack)?;
    let is_of_it = |packet: &PacketMeta| {
        packet.pure_ack
            && (packet.flow, packet.up, packet.ack.connection) == (newest.flow, newest.up, newest.ack.connection)
    };
    let (mut first, mut count) = (None, 0);
    let mut before: Option<AckFacts> = None;
    let mut latest: Option<(usize, AckFacts, bool)> = None;
    for (place, packet) in queue.metas().enumerate().filter(|(_, packet)| is_of_it(packet)) {
        let ack = packet.ack;
        if let Some((of, facts, acknowledges_more)) = latest
            && facts.is_plain
            && facts.ecn_flags & (AckFacts::AE | AckFacts::ACCECN) == 0
            && acknowledges_more
            && ack.continues(&facts)
        {
            first = first.or(Some(of));
            count += 1;
        }
        latest = Some((place, ack, before.is_none_or(|before| ack.continues(&before))));
        before = Some(ack);
    }
    first.filter(|_| count > spared)
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::{ack, data};
    use super::*;
    use crate::Packet;

    /// The ACK numbers that are left (0 for data) after these arrivals.
    fn left(filter: AckFilter, arrivals: &[PacketMeta]) -> Vec<u32> {
        let mut queue = FlowQueue::new(());
        for meta in arrivals {
            queue.push(Packet::new(*meta, ()));
            if let Some(place) = redundant(filter, &queue) {
                queue.remove(place);
            }
        }
        queue.metas().map(|packet| packet.ack.number).collect()
    }

    fn acks(numbers: &[u32]) -> Vec<PacketMeta> {
        numbers.iter().map(|number| ack(0, *number)).collect()
    }

    #[test]
    fn one_redundant_ack_stays_unless_the_filter_is_aggressive() {
        let arrivals = acks(&[10, 20, 30, 40, 50]);
        assert_eq!(left(AckFilter::Off, &arrivals), [10, 20, 30, 40, 50]);
        assert_eq!(left(AckFilter::On, &arrivals), [40, 50]);
        assert_eq!(left(AckFilter::Aggressive, &arrivals), [50]);
    }

    #[test]
    fn duplicates_sack_flags_data_and_other_flows_stay() {
        assert_eq!(left(AckFilter::Aggressive, &acks(&[10, 20, 20, 20, 30])), [20, 20, 20, 30]);
        let mut with_sack = acks(&[10, 20, 30]);
        with_sack[1].ack.is_plain = false;
        assert_eq!(left(AckFilter::Aggressive, &with_sack), [20, 30]);
        let mut echo = acks(&[10, 20, 30, 40]);
        echo[2].ack.ecn_flags = 1;
        assert_eq!(left(AckFilter::Aggressive, &echo), [20, 30, 40]);
        for of_accurate_ecn in [AckFacts::AE, AckFacts::ACCECN] {
            let mut counted = acks(&[10, 20, 30]);
            counted.iter_mut().for_each(|packet| packet.ack.ecn_flags = of_accurate_ecn);
            assert_eq!(left(AckFilter::Aggressive, &counted), [10, 20, 30]);
        }
        let mut others = acks(&[10, 20, 30]);
        others[1].flow.0 = 1;
        others[2].ack.connection = 1;
        assert_eq!(left(AckFilter::Aggressive, &others), [10, 20, 30]);
        assert_eq!(left(AckFilter::Aggressive, &[ack(0, 10), data(0, 1500), ack(0, 20)]), [0, 20]);
    }
}
