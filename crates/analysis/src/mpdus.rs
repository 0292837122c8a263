//! MPDUs with data: their sequence numbers, and the packets in them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use lasthop_units::Time;
use lasthop_wire::ieee80211::{Bitmap, BlockAck};

use crate::bounds::{Bounds, Kept};
use crate::dialogue::Point;
use crate::events::{Carrier, Event, Events};
use crate::missed::Missed;
use crate::ppdu::{Mpdu, NO_TID, Ppdu};
use crate::sequence::{Novelty, Numbers};

/// The MPDUs of all transmitters.
pub(crate) struct Mpdus {
    /// by transmitter, receiver and TID
    numbers: BTreeMap<(u32, u32, u8), Numbers>,
    /// nodes before this one are APs
    aps: u32,
    file: usize,
    pub bounds: Bounds,
}

impl Mpdus {
    pub(crate) fn new(aps: u32, file: usize, bounds: Bounds) -> Mpdus {
        Mpdus { numbers: BTreeMap::new(), aps, file, bounds }
    }

    /// Reads a data PPDU that ends at `end`; `count` receives each MPDU, and whether its Retry bit shows an attempt that was
    /// not heard.
    pub(crate) fn read(
        &mut self,
        ppdu: &Ppdu,
        (from, to): (u32, u32),
        end: Time,
        events: &mut Events,
        mut count: impl FnMut(&Mpdu, bool),
    ) {
        let mut first = 0;
        for mpdu in &ppdu.mpdus {
            let packets = &ppdu.packets[first..mpdu.packets_until];
            first = mpdu.packets_until;
            // Frames without a payload have no relevant numbers. [802.11-2020 §10.3.2.14.2]
            if mpdu.is_null {
                count(mpdu, false);
                continue;
            }
            let (novelty, may_have_heard) = self.hear(mpdu, from, to);
            count(mpdu, mpdu.is_retry && !may_have_heard);
            if novelty != Novelty::Again && mpdu.is_good {
                let frame = Carrier { novelty, is_retry: mpdu.is_retry };
                for &packet in packets {
                    events.push(end, Event::Packet { point: Point::air(self.file), packet, frame });
                }
            }
        }
    }

    /// Its place in the order of its transmitter, and whether it may be a copy.
    fn hear(&mut self, mpdu: &Mpdu, from: u32, to: u32) -> (Novelty, bool) {
        let key = if mpdu.tid == NO_TID { (from, from, NO_TID) } else { (from, to, mpdu.tid) };
        let kept = self.numbers.len();
        let numbers = match self.numbers.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) if self.bounds.admits(Kept::SequenceNumbers, kept) => {
                place.insert(Numbers::new(mpdu.number))
            }
            Entry::Vacant(_) => return (Novelty::New, true),
        };
        let may_have_heard = numbers.may_have_heard(mpdu.number);
        let novelty = numbers.hear(mpdu.number, mpdu.is_good);
        // Without QoS an AP has one sequence for all stations: the receivers of missed frames are unknown.
        let is_shared = mpdu.tid == NO_TID && from < self.aps;
        (if is_shared && novelty.is_new() { Novelty::New } else { novelty }, may_have_heard)
    }

    /// Handles a BlockAck from a node to the originator: the numbers that it acknowledges, of those `sent` if it has no
    /// bitmap. `missed` counts those that it acknowledges first.
    pub(crate) fn acknowledge(
        &mut self,
        block_ack: &BlockAck,
        sent: &[u16],
        (from, originator): (Option<u32>, u32),
        mut missed: Option<&mut Missed>,
    ) -> Vec<u16> {
        let of_bitmap = || {
            (0..block_ack.bitmap.frames())
                .filter(|&offset| block_ack.bitmap.contains(offset))
                .map(|offset| (block_ack.start + offset) % 4096)
        };
        let told: Vec<u16> = if block_ack.bitmap == Bitmap::All { sent.to_vec() } else { of_bitmap().collect() };
        let numbers = from.and_then(|from| self.numbers.get_mut(&(originator, from, block_ack.tid)));
        let Some(numbers) = numbers else { return told };
        for came_whole in told.iter().filter_map(|&number| numbers.acknowledge(number)) {
            if let Some(missed) = &mut missed {
                missed.answer(came_whole);
            }
        }
        told
    }

    /// Adds the numbers of all transmitters that number each TID separately: without QoS, beacons share the sequence, and a
    /// hole means little.
    pub(crate) fn add_to(&self, missed: &mut Missed) {
        for (_, numbers) in self.numbers.iter().filter(|(key, _)| key.2 != NO_TID) {
            missed.add_numbers(numbers);
        }
    }
}
