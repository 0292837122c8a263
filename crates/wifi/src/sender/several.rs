//! The part of a sender in PPDUs of several users: whom they may serve, and its PSDUs in them.

use lasthop_link::Wanted;
use lasthop_observe::NodeId;
use lasthop_units::{Bytes, Time};

use super::Sender;
use super::psdu::{Grant, Psdu};
use crate::books::Books;
use crate::config::BssConfig;
use crate::environment::Environment;
use crate::layout::Layout;
use crate::phy::ModeId;

impl<B> Sender<B> {
    /// The station of an agreement.
    pub(crate) fn station_of(&self, agreement: usize) -> NodeId {
        self.agreements[agreement].station
    }

    /// Returns whether MPDUs of an agreement may go together with those for others: its recipient has Block Ack, and no
    /// BlockAckReq is due.
    pub(crate) fn goes_with_others(&self, agreement: usize) -> bool {
        let of = &self.agreements[agreement];
        !self.prepares() && !of.is_legacy && of.originator.request_due.is_none()
    }

    /// Returns whether a BlockAckReq of an agreement is due, which comes before its MPDUs.
    pub(crate) fn owes_request(&self, agreement: usize) -> bool {
        let of = &self.agreements[agreement];
        !self.prepares() && !of.is_legacy && of.originator.request_due.is_some()
    }

    /// Returns whether a BlockAckReq of any agreement is due.
    pub(crate) fn owes_any_request(&self) -> bool {
        (0..self.agreements.len()).any(|place| self.owes_request(place))
    }

    /// The mode in which a station was served last.
    pub(crate) fn mode_of(&self, station: NodeId) -> Option<ModeId> {
        self.agreements.iter().find(|of| of.station == station && of.largest_mpdu > 0).map(|of| of.mode)
    }

    /// Bytes of the MPDUs for a station, of packets in a queue an estimate; at most `most` of these are counted.
    pub(crate) fn waiting(&self, station: NodeId, most: usize) -> u64 {
        let wanted = Wanted { station: Some(station), tid: None };
        let again = self.agreements.iter().filter(|of| of.station == station);
        let again: u64 = again.flat_map(|of| &of.originator.window).map(|mpdu| u64::from(mpdu.bytes)).sum();
        let staged = self.staged.iter().filter(|packet| wanted.includes(&packet.meta));
        let staged: u64 = staged.map(|packet| u64::from(packet.meta.bytes + self.overhead)).sum();
        let largest = self.agreements.iter().filter(|of| of.station == station).map(|of| of.largest_mpdu).max();
        let queued = self.queue.waiting_for(wanted, most) as u64;
        let each = largest.filter(|bytes| *bytes > 0).unwrap_or(self.largest + self.overhead);
        again + staged + queued * u64::from(each)
    }

    /// Stations of `among` besides `first`, of which packets wait: those that need another attempt, then in the order of
    /// the queue, or `in_turn`.
    pub(crate) fn others(&self, first: NodeId, among: &[NodeId], in_turn: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut add = |station: NodeId| {
            let is_new = station != first && !found.contains(&station);
            if is_new && among.binary_search(&station).is_ok() {
                found.push(station);
            }
        };
        self.line.iter().for_each(|place| add(self.agreements[*place].station));
        self.staged.iter().for_each(|packet| add(packet.meta.station));
        if self.queue.schedules_stations() {
            let mut listed = Vec::new();
            self.queue.next_stations(&mut listed);
            listed.into_iter().for_each(add);
        } else {
            let waits = |station: &NodeId| self.queue.waiting_for(Wanted { station: Some(*station), tid: None }, 1) > 0;
            in_turn.filter(waits).for_each(add);
        }
        found
    }

    /// An agreement of a station that has something to send.
    pub(crate) fn agreement_of_station(
        &mut self,
        now: Time,
        station: NodeId,
        layout: &Layout,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> Option<usize> {
        if let Some(place) = self.line.iter().copied().find(|place| self.agreements[*place].station == station) {
            return Some(place);
        }
        let packet = self.take_packet(now, Wanted { station: Some(station), tid: None }, books, env)?;
        let place = self.agreement_for(layout, &packet);
        if !self.agreements[place].has_room() {
            self.staged.push_front(packet);
            return None;
        }
        self.take_in(now, place, packet, books, env);
        Some(place)
    }

    /// Begins a PSDU of an agreement in a PPDU of several users, in the mode of its last one.
    pub(crate) fn begin_on_ru(&self, radio: NodeId, agreement: usize, psdu: &mut Psdu) {
        psdu.clear();
        psdu.agreement = agreement as u32;
        psdu.part = self.agreements[agreement].part(radio);
    }

    /// Fills a PSDU that was begun with at most these bytes; false if not even one MPDU fits.
    pub(crate) fn fill_on_ru(
        &mut self,
        now: Time,
        most: Bytes,
        bss: &BssConfig,
        books: &mut Books,
        psdu: &mut Psdu,
        env: &mut impl Environment<B>,
    ) -> bool {
        let agreement = psdu.agreement as usize;
        let grant = Grant { most: Some(most), ..Grant::first(psdu.part.from, now, None) };
        self.fill(now, &grant, bss, books, psdu, env);
        if psdu.lengths.is_empty() {
            return false;
        }
        self.finish(agreement, &bss.phy, psdu);
        true
    }

    /// Takes back the rate of a PSDU that is not sent after all.
    pub(crate) fn put_back(&mut self, psdu: &Psdu) {
        self.agreements[psdu.agreement as usize].rates.put_back();
    }

    /// Takes packets from sockets that wait to be pulled, until it holds as many as this.
    pub(crate) fn take_from_sockets(&mut self, now: Time, most: usize, env: &mut impl Environment<B>) {
        while self.aggregates() && self.staged.len() < most {
            let Some(packet) = self.pull(now, env) else { return };
            self.staged.push_back(packet);
        }
    }

    /// Runs `change`, after which exchanges count as failed as many times in a row as before: a triggered PSDU changes
    /// neither the window nor its counter.
    pub(crate) fn keeping_failures<R>(&mut self, change: impl FnOnce(&mut Self) -> R) -> R {
        let failures = self.failures;
        let result = change(self);
        self.failures = failures;
        result
    }
}
