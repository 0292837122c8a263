//! The exchange that is to follow in a TXOP, which the Duration field of a PSDU covers. [802.11-2020 §9.2.5.2]

use lasthop_units::{Bytes, Duration, Time};

use super::Sender;
use super::agreement::Agreement;
use super::psdu::Psdu;
use crate::aggregation::{PsduLength, left_of_txop};
use crate::config::{BssConfig, TxopProtection};
use crate::environment::Environment;
use crate::phy::{Phy, frame_size};

impl<B> Sender<B> {
    /// Covers by the Duration field of a PSDU sent at `at` the exchange that is to follow in a TXOP that ends at `ends`, if
    /// the PSDU is not the last, or the rest of the TXOP. [802.11-2020 §9.2.5.2]
    #[inline(never)]
    pub(crate) fn reserve_next(
        &self,
        at: Time,
        ends: Time,
        bss: &BssConfig,
        psdu: &mut Psdu,
        env: &impl Environment<B>,
    ) {
        let (phy, sifs) = (&bss.phy, bss.phy.sifs());
        let end = at + psdu.airtime + sifs + psdu.response;
        if bss.txop_protection == TxopProtection::Multiple {
            psdu.follows = if ends > end { ends.since(end) } else { Duration::ZERO };
            return;
        }
        let next = end + sifs;
        let exchange = if let Some(hardware) = &self.hardware {
            hardware.next_takes(next, ends, sifs, psdu)
        } else if self.aggregates() {
            self.next_ampdu_takes(next, ends, phy, psdu, env)
        } else {
            self.next_frame_takes(next, ends, sifs, psdu, env)
        };
        psdu.follows = exchange.map_or(Duration::ZERO, |exchange| sifs + exchange);
    }

    /// The time of the exchange of the next A-MPDU to the receiver of `psdu`, if one is to be expected.
    fn next_ampdu_takes(
        &self,
        at: Time,
        ends: Time,
        phy: &Phy,
        psdu: &Psdu,
        env: &impl Environment<B>,
    ) -> Option<Duration> {
        let of = &self.agreements[psdu.agreement as usize];
        let response = phy.sifs() + of.answer(phy);
        let longest = left_of_txop(at, ends, response);
        if phy.ppdu_duration(of.mode, frame_size::ampdu_subframe(Bytes(u64::from(of.largest_mpdu)))) > longest {
            return None;
        }
        let limits = self.aggregation.expect("the sender makes A-MPDUs");
        let mut length = PsduLength::new(phy, limits, of.mode, longest, false);
        let again = of.originator.window.iter().filter(|m| !m.done && m.in_flight.is_none());
        let retries = again.take_while(|m| length.add(m.bytes)).count();
        let new = (0..self.new_mpdus(of, env)).take_while(|_| length.add(of.largest_mpdu)).count();
        (retries + new > 0).then(|| phy.ppdu_duration(of.mode, Bytes(u64::from(length.bytes()))) + response)
    }

    /// The most new MPDUs that the next A-MPDU of an agreement may hold, if all that is on the air is acknowledged.
    fn new_mpdus(&self, of: &Agreement<B>, env: &impl Environment<B>) -> usize {
        let kept = of.originator.window.iter().skip_while(|m| m.done || m.in_flight.is_some()).count();
        let (free, wanted) = ((of.size as usize).saturating_sub(kept), of.wanted());
        if free == 0 || (env.is_saturated(self.node, self.category) && !self.has_firmware()) {
            return free;
        }
        let staged = self.staged.iter().filter(|packet| wanted.includes(&packet.meta)).take(free).count();
        staged + self.queue.waiting_for(wanted, free - staged)
    }
}
