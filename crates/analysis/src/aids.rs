//! AIDs of stations, by which an access point names them in triggers and in acknowledgements to several of them.
//!
//! A part of a PPDU for several stations has its station's AID in the HE-SIG-B, and the station is the receiver of its frames. In a
//! PPDU of several stations, a station has the unit that the trigger before gave to its AID. [802.11ax-2021 §27.3.11.8.4, §26.5.2]

use std::collections::BTreeMap;

use crate::ppdu::Ppdu;

/// The AIDs that are known.
#[derive(Default)]
pub(crate) struct Aids {
    /// by access point and station
    of: BTreeMap<(u32, u32), u16>,
    /// access point, units and AIDs of the latest trigger
    asked: Option<(u32, Vec<(u8, u16)>)>,
}

impl Aids {
    /// The AID of a station.
    pub(crate) fn aid(&self, ap: u32, station: u32) -> Option<u16> {
        self.of.get(&(ap, station)).copied()
    }

    /// Learns from a PPDU between two nodes.
    pub(crate) fn learn(&mut self, ppdu: &Ppdu, (from, to): (Option<u32>, Option<u32>)) {
        if !ppdu.named.is_empty() {
            let units = ppdu.named.iter().filter(|user| user.open == 0).map(|user| (user.ru, user.aid)).collect();
            self.asked = from.map(|ap| (ap, units));
            return;
        }
        let (Some(unit), Some(from), Some(to)) = (ppdu.unit, from, to) else { return };
        if !unit.is_triggered {
            if let Some(aid) = ppdu.sta_id.filter(|_| ppdu.is_good) {
                self.of.insert((from, to), aid);
            }
            return;
        }
        let Some((_, units)) = self.asked.as_ref().filter(|(ap, _)| *ap == to && ppdu.is_good) else { return };
        if let Some((_, aid)) = units.iter().find(|(ru, _)| Some(*ru) == ppdu.ru) {
            self.of.insert((to, from), *aid);
        }
    }
}
