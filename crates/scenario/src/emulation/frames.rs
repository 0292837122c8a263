//! Frames of a kernel's radios on the modelled air: their rates, their results, and the packets that they carry.

use std::collections::{BTreeMap, VecDeque};

use lasthop_observe::NodeId;
use lasthop_units::Time;
use lasthop_wifi::Attempted;
use lasthop_wifi::phy::{ModeId, ModulationClass, Phy};
use lasthop_wifi::rate_control::{PacketRates, RateChain};

/// Rates of the OFDM and DSSS PHYs in units of 100 kbit/s, in the order in which mac80211's drivers list those of a band;
/// the 5 GHz band has those from the fifth on.
const RATES_WITHOUT_MCS: [u64; 12] = [10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540];
const DSSS_RATES: usize = 4;
/// The most attempts that a chain's entry counts.
const MOST_TRIES: u8 = 15;

/// A rate of a frame, as mac80211 gives it to a driver. [include/net/mac80211.h, `struct ieee80211_tx_rate`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRate {
    /// the place of a rate without an MCS in its band's list, or an MCS: of VHT with the streams, less one, above four bits
    pub index: u8,
    /// attempts in it
    pub tries: u8,
    /// the kind of the MCS
    pub kind: McsKind,
    /// whether its guard interval is short
    pub short_guard_interval: bool,
    /// whether RTS/CTS precedes it
    pub rts: bool,
}

/// Kinds of MCS of a [`StackRate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McsKind {
    /// none: a rate of OFDM or DSSS
    None,
    /// of 802.11n
    Ht,
    /// of 802.11ac
    Vht,
}

/// An event on the air for the driver of a kernel's radios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AirEvent {
    /// a frame for one receiver has reached it
    Arrived {
        /// its number
        number: u32,
        /// the receiver
        node: NodeId,
    },
    /// its sender is done with it
    Done {
        /// its number
        number: u32,
        /// whether it was acknowledged
        acknowledged: bool,
        /// attempts in each entry of its chain
        tries: [u8; RateChain::MAX],
    },
    /// a group frame has ended
    Heard {
        /// its number
        number: u32,
        /// the nodes that decoded it
        by: Vec<NodeId>,
    },
}

/// A packet between its hosts.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnWay {
    /// when its host sent it
    pub(super) since: Time,
    /// its number
    pub(super) packet: u32,
}

/// Packets between their hosts, found by their bytes where they come out, without those that a kernel on the way may change.
#[derive(Debug, Default)]
pub(super) struct Way {
    packets: BTreeMap<u64, OnWay>,
    order: VecDeque<u64>,
}

/// Packets that are remembered; more are never on their way at a time.
const REMEMBERED: usize = 1 << 16;

impl Way {
    pub(super) fn sent(&mut self, bytes: &[u8], packet: OnWay) {
        let key = key_of(bytes);
        if self.packets.insert(key, packet).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.packets.remove(&oldest);
        }
    }

    pub(super) fn find(&self, bytes: &[u8]) -> Option<OnWay> {
        self.packets.get(&key_of(bytes)).copied()
    }
}

/// A digest of an IPv4 packet without its DSCP, ECN, TTL and checksum: FNV-1a. [Fowler, Noll, Vo]
fn key_of(bytes: &[u8]) -> u64 {
    const CHANGES: [usize; 4] = [1, 8, 10, 11];
    let same = bytes.iter().enumerate().filter(|(place, _)| !CHANGES.contains(place));
    same.fold(0xcbf2_9ce4_8422_2325, |key, (_, byte)| (key ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Frames of a kernel's radios that are not done yet.
#[derive(Debug, Default)]
pub(super) struct Frames {
    rates: PacketRates,
    waiting: BTreeMap<u32, Waiting>,
    events: VecDeque<(Time, AirEvent)>,
    pub(super) on_way: Way,
}

#[derive(Debug)]
struct Waiting {
    chain: RateChain,
    tries: [u8; RateChain::MAX],
}

impl Frames {
    /// Frames whose rates are those of `rates`.
    pub(super) fn new(rates: PacketRates) -> Frames {
        Frames { rates, ..Frames::default() }
    }

    /// Takes note of a frame that is about to be sent.
    pub(super) fn begin(&mut self, number: u32, chain: RateChain) {
        self.rates.give(number, chain);
        self.waiting.insert(number, Waiting { chain, tries: [0; RateChain::MAX] });
    }

    /// The events since the last call.
    pub(super) fn events(&mut self) -> impl Iterator<Item = (Time, AirEvent)> {
        self.events.drain(..)
    }

    pub(super) fn tell(&mut self, now: Time, event: AirEvent) {
        self.events.push_back((now, event));
    }

    pub(super) fn attempted(&mut self, now: Time, number: u32, mode: ModeId, result: Attempted) {
        let Some(of) = self.waiting.get_mut(&number) else { return };
        if matches!(result, Attempted::Acknowledged | Attempted::Lost) {
            // An A-MPDU has the rates of its first frame, which may not be those of the others.
            let entries = of.chain.entries();
            let place = entries.iter().position(|entry| entry.mode == mode).unwrap_or(0);
            of.tries[place] = of.tries[place].saturating_add(1);
        }
        if result == Attempted::Lost {
            return;
        }
        let (acknowledged, tries) = (result != Attempted::GivenUp, of.tries);
        self.waiting.remove(&number);
        self.rates.forget(number);
        self.tell(now, AirEvent::Done { number, acknowledged, tries });
    }

    pub(super) fn group_ended(&mut self, now: Time, number: u32, decoded: &[NodeId]) {
        self.tell(now, AirEvent::Heard { number, by: decoded.to_vec() });
    }
}

/// The mode of a PHY for a rate of mac80211's, or the lowest basic one if the PHY lacks it.
pub(super) fn mode_of(phy: &Phy, rate: &StackRate) -> ModeId {
    let modes = || (0..).map(ModeId).zip(phy.modes());
    let short = |guard_ns: u64| guard_ns < 800;
    let found = match rate.kind {
        McsKind::None => {
            let first = if phy.frequency_hz() > 3e9 { DSSS_RATES } else { 0 };
            let wanted = RATES_WITHOUT_MCS.get(first + usize::from(rate.index));
            let is = |rate: u64| Some(&(rate / 100_000)) == wanted;
            modes().find(|(_, mode)| mode.mcs.is_none() && is(mode.rate.as_bps()))
        }
        McsKind::Ht => modes().find(|(_, mode)| {
            mode.class == ModulationClass::Ht
                && mode.mcs_index() == Some(rate.index)
                && short(mode.guard_interval.as_nanos()) == rate.short_guard_interval
        }),
        McsKind::Vht => modes().find(|(_, mode)| {
            mode.class == ModulationClass::Vht
                && mode.mcs == Some(rate.index & 15)
                && mode.streams == (rate.index >> 4) + 1
                && short(mode.guard_interval.as_nanos()) == rate.short_guard_interval
        }),
    };
    found.map_or(phy.lowest_basic_mode(), |(id, _)| id)
}

/// The chain of a frame's rates.
pub(super) fn chain_of(phy: &Phy, rates: &[StackRate]) -> RateChain {
    let mut given =
        rates.iter().take(RateChain::MAX).map(|rate| (mode_of(phy, rate), rate.tries.clamp(1, MOST_TRIES), rate.rts));
    let Some((mode, tries, rts)) = given.next() else { return RateChain::single(phy.lowest_basic_mode(), 1) };
    given.fold(RateChain::single(mode, tries).protected_if(rts), |chain, (mode, tries, rts)| {
        chain.then(mode, tries).protected_if(rts)
    })
}

#[cfg(test)]
mod tests {
    use lasthop_wifi::phy::{PhyOptions, Standard};

    use super::*;

    fn phy(name: &str) -> Phy {
        PhyOptions::new(Standard::named(name).unwrap()).resolve("bss").unwrap()
    }

    fn rate(index: u8, kind: McsKind) -> StackRate {
        StackRate { index, tries: 2, kind, short_guard_interval: false, rts: false }
    }

    #[test]
    fn rates_of_a_band_are_in_the_order_of_its_list() {
        let mbps = |phy: &Phy, index| phy.mode(mode_of(phy, &rate(index, McsKind::None))).rate.as_mbps_f64();
        let (a, b) = (phy("802.11a"), phy("802.11b"));
        assert_eq!((0..8).map(|i| mbps(&a, i)).collect::<Vec<_>>(), [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0]);
        assert_eq!((0..4).map(|i| mbps(&b, i)).collect::<Vec<_>>(), [1.0, 2.0, 5.5, 11.0]);
    }

    #[test]
    fn mcs_7_of_one_stream_is_65_mbps_with_the_long_guard_interval() {
        // 802.11-2020 Table 19-27: MCS 7 at 20 MHz, 800 ns.
        let n = phy("802.11n");
        assert_eq!(n.mode(mode_of(&n, &rate(7, McsKind::Ht))).rate.as_mbps_f64(), 65.0);
        // 802.11-2020 Table 21-30: VHT-MCS 8 of one stream at 20 MHz, 800 ns.
        let ac = phy("802.11ac");
        assert_eq!(ac.mode(mode_of(&ac, &rate(8, McsKind::Vht))).rate.as_mbps_f64(), 78.0);
    }

    #[test]
    fn attempts_count_in_the_entry_of_their_mode() {
        let mut frames = Frames::default();
        frames.begin(1, RateChain::single(ModeId(7), 2).then(ModeId(3), 2));
        let now = Time::ZERO;
        frames.attempted(now, 1, ModeId(7), Attempted::Lost);
        frames.attempted(now, 1, ModeId(7), Attempted::Lost);
        frames.attempted(now, 1, ModeId(3), Attempted::Acknowledged);
        let events: Vec<_> = frames.events().map(|(_, event)| event).collect();
        assert_eq!(events, [AirEvent::Done { number: 1, acknowledged: true, tries: [2, 1, 0, 0] }]);
    }

    #[test]
    fn a_packet_is_found_again_whatever_a_router_changes_in_its_header() {
        let mut way = Way::default();
        let mut bytes = vec![0x45, 0, 0, 40, 1, 2, 0, 0, 64, 6, 9, 9, 10, 0, 0, 1, 10, 1, 0, 2, 7];
        way.sent(&bytes, OnWay { since: Time::ZERO, packet: 5 });
        (bytes[8], bytes[10]) = (63, 8);
        assert_eq!(way.find(&bytes).map(|of| of.packet), Some(5));
        bytes[20] = 8;
        assert!(way.find(&bytes).is_none());
    }
}
