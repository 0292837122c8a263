//! Frames of a kernel's radios on the modelled air: their rates, their results, and the packets that they carry.

use std::collections::{BTreeMap, VecDeque};

use lasthop_link::PacketMeta;
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
        /// its signal there in dBm
        signal: i8,
    },
    /// its sender is done with it
    Done {
        /// its number
        number: u32,
        /// whether it was acknowledged
        acknowledged: bool,
        /// attempts in each entry of its chain
        tries: [u8; RateChain::MAX],
        /// the last A-MPDU that it was in
        ampdu: Option<Ampdu>,
    },
    /// a group frame has ended
    Heard {
        /// its number
        number: u32,
        /// the nodes that decoded it, each with its signal there in dBm
        by: Vec<(NodeId, i8)>,
    },
}

/// The status of an A-MPDU, which one of its frames has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ampdu {
    /// this frame
    Here {
        /// the MPDUs in it
        frames: u8,
        /// those of them that were acknowledged
        acknowledged: u8,
        /// A-MPDUs in each entry of this frame's chain: this one, and those before on its link of which no frame is done
        tries: [u8; RateChain::MAX],
    },
    /// another frame
    Elsewhere,
}

/// An event on the air as the medium has it, between its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    Arrived { number: u32, from: NodeId, at: NodeId },
    Done { number: u32, acknowledged: bool, tries: [u8; RateChain::MAX], ampdu: Option<Ampdu> },
    Heard { number: u32, from: NodeId, by: Vec<NodeId> },
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
    events: VecDeque<(Time, Happened)>,
    /// senders of group frames
    groups: BTreeMap<u32, NodeId>,
    /// the attempts that end now
    exchange: Option<Exchange>,
    /// by sender and station: the rates of the last frame that did not probe one
    usual: BTreeMap<(NodeId, NodeId), RateChain>,
    /// by sender and station: the modes of A-MPDUs of which no frame is done
    silent: BTreeMap<(NodeId, NodeId), Vec<ModeId>>,
    pub(super) on_way: Way,
}

/// The attempts of one exchange.
#[derive(Debug)]
struct Exchange {
    at: Time,
    /// its sender, and its station
    link: (NodeId, NodeId),
    mode: ModeId,
    frames: u8,
    acknowledged: u8,
    done: Vec<Finished>,
}

/// A frame that is done.
#[derive(Debug)]
struct Finished {
    number: u32,
    acknowledged: bool,
    of: Waiting,
}

#[derive(Debug)]
struct Waiting {
    chain: RateChain,
    tries: [u8; RateChain::MAX],
}

impl Waiting {
    /// The entry of its chain with a mode. An A-MPDU has the rates of its first frame, which may not be those of the others.
    fn place(&self, mode: ModeId) -> usize {
        self.chain.entries().iter().position(|entry| entry.mode == mode).unwrap_or(0)
    }
}

impl Frames {
    /// Frames whose rates are those of `rates`.
    pub(super) fn new(rates: PacketRates) -> Frames {
        Frames { rates, ..Frames::default() }
    }

    /// Takes note of a frame that is about to be sent by a node to or from a station; returns whether it probes its first rate.
    pub(super) fn begin(&mut self, number: u32, link: (NodeId, NodeId), chain: RateChain) -> bool {
        let usual = *self.usual.entry(link).or_insert(chain);
        // mac80211 tries a rate once by a single frame among others; hwsim passes on the rates, not that flag.
        let probes = chain.entries()[0].tries == 1 && chain.first() != usual.first();
        if !probes {
            self.usual.insert(link, chain);
        }
        self.rates.give(number, if probes { chain.probing() } else { chain });
        self.waiting.insert(number, Waiting { chain, tries: [0; RateChain::MAX] });
        probes
    }

    /// The events since the last call.
    pub(super) fn events(&mut self) -> impl Iterator<Item = (Time, Happened)> {
        self.end_exchange();
        self.events.drain(..)
    }

    pub(super) fn begin_group(&mut self, number: u32, from: NodeId) {
        self.groups.insert(number, from);
    }

    pub(super) fn tell(&mut self, now: Time, event: Happened) {
        self.events.push_back((now, event));
    }

    pub(super) fn attempted(&mut self, at: Time, by: NodeId, packet: &PacketMeta, mode: ModeId, result: Attempted) {
        let (number, link) = (packet.packet, (by, packet.station));
        let Some(of) = self.waiting.get_mut(&number) else { return };
        let is_attempt = matches!(result, Attempted::Acknowledged | Attempted::Lost);
        if is_attempt {
            let place = of.place(mode);
            of.tries[place] = of.tries[place].saturating_add(1);
        }
        if self.exchange.as_ref().is_some_and(|of| (of.at, of.link, of.mode) != (at, link, mode)) {
            self.end_exchange();
        }
        let of = Exchange { at, link, mode, frames: 0, acknowledged: 0, done: Vec::new() };
        let exchange = self.exchange.get_or_insert(of);
        exchange.frames = exchange.frames.saturating_add(u8::from(is_attempt));
        exchange.acknowledged = exchange.acknowledged.saturating_add(u8::from(result == Attempted::Acknowledged));
        if result != Attempted::Lost
            && let Some(of) = self.waiting.remove(&number)
        {
            self.rates.forget(number);
            exchange.done.push(Finished { number, acknowledged: result != Attempted::GivenUp, of });
        }
    }

    /// Reports the frames that are done with the exchange, the first of an A-MPDU with its status.
    fn end_exchange(&mut self) {
        let Some(Exchange { at, link, mode, frames, acknowledged, done }) = self.exchange.take() else { return };
        if done.is_empty() {
            if frames > 1 {
                self.silent.entry(link).or_default().push(mode);
            }
            return;
        }
        let mut status = (frames > 1).then(|| {
            let (of, mut tries) = (&done[0].of, [0u8; RateChain::MAX]);
            let before = self.silent.remove(&link).unwrap_or_default();
            for mode in before.into_iter().chain([mode]) {
                tries[of.place(mode)] = tries[of.place(mode)].saturating_add(1);
            }
            Ampdu::Here { frames, acknowledged, tries }
        });
        for Finished { number, acknowledged, of } in done {
            let ampdu = status;
            status = status.map(|_| Ampdu::Elsewhere);
            self.tell(at, Happened::Done { number, acknowledged, tries: of.tries, ampdu });
        }
    }

    pub(super) fn group_ended(&mut self, now: Time, number: u32, decoded: &[NodeId]) {
        let Some(from) = self.groups.remove(&number) else { return };
        self.tell(now, Happened::Heard { number, from, by: decoded.to_vec() });
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

    fn packet(number: u32) -> PacketMeta {
        PacketMeta { packet: number, ..PacketMeta::plain(lasthop_observe::FlowId(0), NodeId(1), false, 1500) }
    }

    const LINK: (NodeId, NodeId) = (NodeId(0), NodeId(1));

    #[test]
    fn a_frame_whose_first_rate_is_another_and_has_one_attempt_probes_it() {
        let mut frames = Frames::default();
        let usual = RateChain::single(ModeId(5), 3).then(ModeId(3), 2);
        // Neither the first frame of a link nor one of a new ranking is a probe.
        assert!(!frames.begin(1, LINK, RateChain::single(ModeId(1), 1)));
        assert!(!frames.begin(2, LINK, usual));
        assert!(frames.begin(3, LINK, usual.with_first(ModeId(7), 1)));
        assert!(!frames.begin(4, LINK, RateChain::single(ModeId(5), 1)));
        assert!(!frames.begin(5, LINK, usual.with_first(ModeId(7), 2)));
        assert!(!frames.begin(6, (LINK.1, LINK.0), usual.with_first(ModeId(6), 1)));
    }

    fn events(frames: &mut Frames) -> Vec<Happened> {
        frames.events().map(|(_, event)| event).collect()
    }

    fn done(number: u32, acknowledged: bool, tries: [u8; 4], ampdu: Option<Ampdu>) -> Happened {
        Happened::Done { number, acknowledged, tries, ampdu }
    }

    #[test]
    fn attempts_count_in_the_entry_of_their_mode() {
        let mut frames = Frames::default();
        assert!(!frames.begin(1, LINK, RateChain::single(ModeId(7), 2).then(ModeId(3), 2)));
        let now = Time::ZERO;
        frames.attempted(now, NodeId(0), &packet(1), ModeId(7), Attempted::Lost);
        frames.attempted(now, NodeId(0), &packet(1), ModeId(7), Attempted::Lost);
        frames.attempted(now, NodeId(0), &packet(1), ModeId(3), Attempted::Acknowledged);
        assert_eq!(events(&mut frames), [done(1, true, [2, 1, 0, 0], None)]);
    }

    #[test]
    fn one_frame_of_an_ampdu_has_its_status() {
        let mut frames = Frames::default();
        let chain = RateChain::single(ModeId(7), 2).then(ModeId(3), 2);
        (1..=3).for_each(|number| assert!(!frames.begin(number, LINK, chain)));
        let later = |us| Time::ZERO + lasthop_units::Duration::from_micros(us);
        // All are lost, then one is received, then another, and one is given up.
        (1..=3).for_each(|number| frames.attempted(later(0), NodeId(0), &packet(number), ModeId(7), Attempted::Lost));
        assert_eq!(events(&mut frames), []);
        for (number, result) in [(1, Attempted::Lost), (2, Attempted::Acknowledged), (3, Attempted::Lost)] {
            frames.attempted(later(5), NodeId(0), &packet(number), ModeId(3), result);
        }
        let status = Ampdu::Here { frames: 3, acknowledged: 1, tries: [1, 1, 0, 0] };
        assert_eq!(events(&mut frames), [done(2, true, [1, 1, 0, 0], Some(status))]);
        for (number, result) in [(1, Attempted::Acknowledged), (3, Attempted::Lost), (3, Attempted::GivenUp)] {
            frames.attempted(later(9), NodeId(0), &packet(number), ModeId(3), result);
        }
        let status = Ampdu::Here { frames: 2, acknowledged: 1, tries: [0, 1, 0, 0] };
        let (first, second) = (done(1, true, [1, 2, 0, 0], Some(status)), Some(Ampdu::Elsewhere));
        assert_eq!(events(&mut frames), [first, done(3, false, [1, 2, 0, 0], second)]);
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
