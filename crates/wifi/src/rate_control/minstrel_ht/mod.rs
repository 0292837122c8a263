//! Minstrel-HT: Minstrel by groups of rates, for aggregates. [Linux 6.18, net/mac80211/rc80211_minstrel_ht.c]
//!
//! Rates of one class, width, guard interval and number of streams form a group, in which a higher MCS is faster and
//! more fragile. Every 50 ms (`statistics`) each rate's success probability is averaged and the rates are ranked by
//! throughput: four best, and one most probable. A chain is the three best and the most probable, all but the first
//! behind RTS/CTS, each with as many attempts as fit a segment of 6 ms. Every 20 ms, and at once after a ranking, one
//! frame samples another rate once (`sampling`), then follows the chain.
//!
//! The version: averaging by the filter of Linux 5.6 and later, sampling by the groups of Linux 5.12 and later, which
//! also covers the legacy rates; both as in 6.18. Departures:
//! - probabilities and times are real numbers, not twelve bits and whole nanoseconds;
//! - HE groups follow the law that mac80211 has for HT and VHT;
//! - a group has all MCS of its class, and short preambles make no separate groups;
//! - a jump's rows are those of the group at hand, while Linux skips the rows that it lacks;
//! - waiting rates keep their places while they are useful; in Linux the first that stays is not counted, so the next
//!   one to come takes its place.
//!
//! A single frame that needs a second chain is not sampled; an A-MPDU is, since most of it is new. Left out: the use
//! that drivers make of the A-MSDU limit; STBC, LDPC and SMPS; rates without a chain.

mod average;
mod group;
mod sampling;
mod statistics;

use lasthop_engine::Stream;
use lasthop_registry::ParamError;
use lasthop_units::{Bytes, Duration, Time};

use self::average::{Average, ewma};
use self::group::{Group, Rate};
use self::sampling::Sampling;
use self::statistics::Ranking;
use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::rate_chain::RateChain;
use crate::phy::{Mode, ModeId, ModulationClass, Phy, frame_size};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Time between updates of the statistics: update_interval.
        pub window: Duration = Duration::from_millis(50),
        /// Time between samples: MINSTREL_SAMPLE_INTERVAL.
        pub sample_interval: Duration = Duration::from_millis(20),
        /// Longest time for the attempts of one entry of the chain.
        pub segment: Duration = Duration::from_millis(6),
        /// Largest number of attempts of one entry of the chain.
        pub max_tries: u8 = 7,
        /// Use RTS/CTS for all entries of the chain except the first.
        pub fallback_rts: bool = true,
    }
    check |this, path| {
        if this.max_tries < 2 {
            return Err(ParamError::new(format!("{path}.max_tries"), "must be at least 2"));
        }
        for (key, time) in [("window", this.window), ("sample_interval", this.sample_interval)] {
            if time == Duration::ZERO {
                return Err(ParamError::new(format!("{path}.{key}"), "must be longer than 0 s"));
            }
        }
        Ok(())
    }
}

/// Length of the packet whose airtime counts: AVG_PKT_SIZE.
const PACKET: Bytes = Bytes(1200);
/// Packets over which the last symbol of a PPDU is shared: AVG_AMPDU_SIZE.
const PACKETS_OF_A_PPDU: u64 = 16;
/// Airtime of an aggregate besides its bits: SIFS, preamble and SERVICE, and an Ack at 6 Mbit/s, 48 and 60 us.
/// [minstrel_ht_update_caps, ieee80211_frame_duration]
const OVERHEAD_NS: f64 = 108e3;
/// Additional overhead of RTS and CTS: twice that Ack.
const RTS_OVERHEAD_NS: f64 = 120e3;
/// Slot and bounds of the contention window assumed for retries, whatever the PHY's.
const SLOT_NS: f64 = 9e3;
const CW_MIN: u32 = 15;
const CW_MAX: u32 = 1023;
/// A rate fails suddenly if fewer than a quarter of more MPDUs than this in a window arrive.
const SUDDEN_DEATH: u32 = 30;

/// The rate control.
pub struct MinstrelHt {
    params: Params,
    /// The rates, group by group.
    rates: Vec<Rate>,
    /// The groups in the kernel's order: DSSS, then by width, guard interval (the long one first) and streams.
    groups: Vec<Group>,
    /// Index of each mode of the PHY among the rates, if it is there.
    places: Vec<Option<u16>>,
    /// The rates of frames that sample nothing.
    ranking: Ranking,
    /// The rates that wait to be sampled.
    sampling: Sampling,
    /// PPDUs and MPDUs sent in this window.
    ppdus: u32,
    mpdus: u32,
    /// MPDUs of a PPDU, an average over windows: `mean <- 0.75 mean + 0.25 mpdus / ppdus`.
    mean_mpdus: f64,
    /// End of the last window.
    last_update: Time,
    /// Time from which the next new frame samples: `sample_interval` after the last that did, or the end of a window.
    next_sample: Time,
    /// Chain of frames that sample nothing.
    chain: RateChain,
    /// The overhead of a legacy frame: an Ack at the lowest rate.
    legacy_overhead_ns: f64,
}

impl MinstrelHt {
    pub(super) fn new(params: &Params, peer: &PeerModes) -> MinstrelHt {
        let (rates, groups) = group(peer);
        let mut places = vec![None; peer.phy.modes().len()];
        for (i, rate) in rates.iter().enumerate() {
            places[rate.mode.index()] = Some(i as u16);
        }
        let ack = peer.phy.sifs() + peer.phy.ppdu_duration(peer.modes[0], frame_size::ACK);
        let longest = groups.iter().map(|g| g.places().len()).max().expect("a peer has at least one mode");
        let sampling = Sampling::new(longest, groups.len(), &mut Stream::new(peer.seed, "minstrel_ht", 0));
        let base = groups.iter().find(|g| !g.legacy).unwrap_or(&groups[0]).first;
        let mut control = MinstrelHt {
            params: params.clone(),
            chain: RateChain::single(rates[base].mode, 1),
            ranking: Ranking::new(base, groups[0].first),
            rates,
            groups,
            places,
            sampling,
            ppdus: 0,
            mpdus: 0,
            mean_mpdus: 1.0,
            last_update: Time::ZERO,
            next_sample: Time::ZERO,
            legacy_overhead_ns: ack.as_nanos() as f64,
        };
        control.update(Time::ZERO);
        control
    }

    /// Number of MPDUs of the usual aggregate, an integer as in Linux.
    fn usual_mpdus(&self) -> f64 {
        libm::floor(self.mean_mpdus).max(1.0)
    }

    /// Ends a window.
    fn update(&mut self, now: Time) {
        if self.ppdus > 0 {
            self.mean_mpdus = ewma(self.mean_mpdus, f64::from(self.mpdus) / f64::from(self.ppdus));
            (self.ppdus, self.mpdus) = (0, 0);
        }
        let (overhead, legacy_overhead) = (OVERHEAD_NS / self.usual_mpdus(), self.legacy_overhead_ns);
        for group in &self.groups {
            let overhead = if group.legacy { legacy_overhead } else { overhead };
            statistics::close_window(&mut self.rates[group.places()], overhead);
        }
        self.ranking.update(&self.rates, &mut self.groups);
        self.sampling.refill(&self.rates, &self.groups, &self.ranking);
        (self.last_update, self.next_sample) = (now, now);
        self.chain = self.usual_chain();
    }

    fn usual_chain(&self) -> RateChain {
        let Ranking { best: [first, second, third, _], probable, .. } = self.ranking;
        [second, third, probable].iter().fold(
            RateChain::single(self.rates[first].mode, self.tries(first, false)),
            |chain, &i| {
                let rts = self.params.fallback_rts;
                chain.then(self.rates[i].mode, self.tries(i, rts)).protected_if(rts)
            },
        )
    }

    /// Attempts that fit a segment: the largest `n`, from 2 to `max_tries`, with
    /// `sum over k = 1..n of (overhead + RTS + packet_ns * MPDUs + slot * CW_k / 2) < segment`, the window `CW_k` doubling from 15.
    /// Two if the probability is below 20 %.
    fn tries(&self, i: usize, rts: bool) -> u8 {
        let rate = &self.rates[i];
        if rate.probability() < 0.2 {
            return 2;
        }
        let legacy = self.groups[rate.group].legacy;
        let overhead = if legacy { self.legacy_overhead_ns } else { OVERHEAD_NS };
        let rts_overhead = if rts { RTS_OVERHEAD_NS } else { 0.0 };
        let one = overhead + rts_overhead + rate.packet_ns * self.usual_mpdus();
        let segment = self.params.segment.as_nanos() as f64;
        let (mut tries, mut cw, mut time) = (0, CW_MIN, 0.0);
        while tries < self.params.max_tries {
            time += one + SLOT_NS * f64::from(cw) / 2.0;
            cw = (2 * cw + 1).min(CW_MAX);
            if tries >= 2 && time >= segment {
                break;
            }
            tries += 1;
        }
        tries
    }

    /// Replaces a rate of the two best that fails suddenly by the best of a group with no more streams, until the
    /// window is over.
    fn bury_the_dead(&mut self) {
        for slot in 0..2 {
            let rate = &self.rates[self.ranking.best[slot]];
            if rate.attempts <= SUDDEN_DEATH || rate.successes >= rate.attempts / 4 {
                continue;
            }
            let dead = &self.groups[rate.group];
            let may_follow = |g: &&Group| g.streams <= dead.streams && g.legacy == dead.legacy;
            if let Some(group) = self.groups[..rate.group].iter().rev().find(may_follow) {
                self.ranking.best[slot] = group.best[slot];
            }
            self.chain = self.usual_chain();
        }
    }
}

/// The rates of a peer by groups: those of its newest class, and DSSS.
fn group(peer: &PeerModes) -> (Vec<Rate>, Vec<Group>) {
    let phy = peer.phy;
    let age = |class| match class {
        ModulationClass::Dsss | ModulationClass::ErpOfdm | ModulationClass::Ofdm => 0,
        ModulationClass::Ht => 1,
        ModulationClass::Vht => 2,
        ModulationClass::He => 3,
    };
    let newest = peer.modes.iter().map(|m| age(phy.mode(*m).class)).max().expect("a peer has at least one mode");
    let is_used = |m: &Mode| age(m.class) == newest || m.class == ModulationClass::Dsss;
    let mut modes: Vec<ModeId> = peer.modes.iter().copied().filter(|m| is_used(phy.mode(*m))).collect();
    // Order of Linux: class, width, guard interval (the long one first), streams.
    type Key = (u8, u64, u64, u8);
    let key = |m: &Mode| -> Key {
        let class = if m.class == ModulationClass::Dsss { 0 } else { 1 };
        (class, m.bandwidth_hz as u64, u64::MAX - m.guard_interval.as_nanos(), m.streams)
    };
    modes.sort_by_key(|id| (key(phy.mode(*id)), phy.mode(*id).rate));
    let (mut rates, mut groups): (Vec<Rate>, Vec<Group>) = (Vec::new(), Vec::new());
    let mut last: Option<Key> = None;
    for (i, &id) in modes.iter().enumerate() {
        let mode = phy.mode(id);
        let legacy = age(mode.class) == 0;
        if last != Some(key(mode)) {
            last = Some(key(mode));
            groups.push(Group { first: i, end: i, streams: mode.streams, legacy, best: [i, i], probable: i });
        }
        let group = groups.len() - 1;
        groups[group].end = i + 1;
        rates.push(Rate {
            mode: id,
            group,
            packet_ns: packet_ns(phy, id, legacy),
            attempts: 0,
            successes: 0,
            known: false,
            average: Average::default(),
            throughput: 0.0,
        });
    }
    (rates, groups)
}

/// Airtime of a packet: a sixteenth of sixteen that fill whole symbols, or a legacy PPDU and a SIFS.
/// [MCS_DURATION, OFDM_DURATION, CCK_DURATION]
fn packet_ns(phy: &Phy, id: ModeId, legacy: bool) -> f64 {
    if legacy {
        let frame = Bytes(PACKET.0 + frame_size::FCS.0);
        return (phy.sifs() + phy.ppdu_duration(id, frame)).as_nanos() as f64;
    }
    let mode = phy.mode(id);
    let bits = 8 * PACKET.0 * PACKETS_OF_A_PPDU;
    let filled = bits.next_multiple_of(u64::from(mode.bits_per_symbol));
    mode.rate.time_for_bits(filled).as_nanos() as f64 / PACKETS_OF_A_PPDU as f64
}

impl RateControl for MinstrelHt {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        if !frame.is_new() || frame.now < self.next_sample {
            return self.chain;
        }
        self.next_sample = frame.now + self.params.sample_interval;
        match self.sampling.next() {
            None => self.chain,
            Some(i) => self.chain.with_first(self.rates[i].mode, 1).probing(),
        }
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        self.ppdus += 1;
        self.mpdus += status.mpdus;
        if let Some(i) = self.places[status.mode.index()] {
            let rate = &mut self.rates[usize::from(i)];
            rate.attempts += status.mpdus;
            rate.successes += status.acknowledged;
        }
        self.bury_the_dead();
        if status.now.since(self.last_update) > self.params.window {
            self.update(status.now);
        }
    }
}

#[cfg(test)]
mod tests;
