//! Rate control: the mode in which a frame is sent to a peer.
//!
//! One rate control serves one peer. It receives the modes of the peer and the outcome of every attempt, data and TCP
//! ACKs alike and each MAC retry by itself; frames without an acknowledgement do not concern it. It never depends on
//! the standard.
//!
//! Each algorithm has a file. `interface` is their interface, `ladder` the modes that most of them climb, `fallback`
//! the common part of ARF and AARF, `sample_table` that of the Minstrels.

mod fallback;
mod interface;
mod ladder;
mod packet_rates;
mod rate_chain;
mod sample_table;
#[cfg(test)]
mod settling;

use lasthop_registry::{ParamError, registry};

pub use interface::{FrameInfo, PeerModes, RateControl, RateControlMaker, TxStatus};
pub use packet_rates::PacketRates;
pub use rate_chain::{RateChain, RateEntry};

registry! {
    /// The choice `rate_control = "…"`.
    pub enum RateControlKind as "rate_control" {
        /// One mode for every frame.
        fixed => Fixed: source "—", status "unit tests";
        /// A rate from a list for each interval.
        trace => Trace: source "—", status "unit tests";
        /// Steps up after successes in a row or a timer, down after failures in a row.
        arf => Arf: source "Kamerman, Monteban 1997", status "unit tests";
        /// ARF that probes less often after failed probes.
        aarf => Aarf: source "Lacage, Manshaei, Turletti 2004", status "unit tests";
        /// The best mode for the signal strength, known without probing.
        ideal => Ideal: source "—", status "unit tests";
        /// Picks rates by measured throughput, with one frame in ten as a probe; Linux's for 802.11a/b/g.
        minstrel => Minstrel: source "Linux 3.10", status "settles within 10 % of the best rate";
        /// Minstrel for A-MPDUs, with groups by streams, guard interval and width; today's Linux.
        minstrel_ht => MinstrelHt: source "Linux 6.18", status "settles within 10 % of the best rate";
        /// ARF that sends an RTS to tell collisions from noise.
        cara => Cara: source "Kim, Kim, Choi, Qiao 2006", status "unit tests";
        /// Steps up on credits earned in seconds with few retries; MadWifi's.
        onoe => Onoe: source "MadWifi", status "unit tests";
        /// Picks rates by loss ratios over short windows; uses RTS while it helps.
        rraa => Rraa: source "Wong, Yang, Lu, Bharghavan 2006", status "thresholds against the paper's table";
        /// Draws a throughput for each mode from its posterior and takes the best.
        thompson_sampling => ThompsonSampling: source "ns-3; Thompson 1933", status "unit tests";
    }
    foreign: RateControlMaker, plain_arf;
    code: Python;
    planned:
}

fn plain_arf(peer: &PeerModes<'_>, path: &str) -> Result<Box<dyn RateControl>, ParamError> {
    RateControlKind::Arf(arf::Params::default()).build(peer, path)
}

impl RateControlKind {
    /// Returns whether all data is sent at one rate.
    pub fn is_constant(&self) -> bool {
        matches!(self, RateControlKind::Fixed(_))
    }

    /// A rate control for one peer; `path` is the place of the choice in the scenario.
    ///
    /// # Errors
    /// A mode that the peer does not have.
    pub fn build(&self, peer: &PeerModes, path: &str) -> Result<Box<dyn RateControl>, ParamError> {
        assert!(!peer.modes.is_empty(), "a peer has at least one mode");
        Ok(match self {
            RateControlKind::Fixed(params) => Box::new(fixed::Fixed::new(params, peer, path)?),
            RateControlKind::Trace(params) => Box::new(trace::Trace::new(params, peer, path)?),
            RateControlKind::Arf(params) => Box::new(arf::new(params, peer)),
            RateControlKind::Aarf(params) => Box::new(aarf::new(params, peer)),
            RateControlKind::Ideal(params) => Box::new(ideal::Ideal::new(params, peer)),
            RateControlKind::Minstrel(params) => Box::new(minstrel::Minstrel::new(params, peer)),
            RateControlKind::MinstrelHt(params) => Box::new(minstrel_ht::MinstrelHt::new(params, peer)),
            RateControlKind::Cara(params) => Box::new(cara::Cara::new(params, peer)),
            RateControlKind::Onoe(params) => Box::new(onoe::Onoe::new(params, peer)),
            RateControlKind::Rraa(params) => Box::new(rraa::Rraa::new(params, peer)),
            RateControlKind::ThompsonSampling(params) => {
                Box::new(thompson_sampling::ThompsonSampling::new(params, peer))
            }
            RateControlKind::Foreign(it) => it.maker()(peer, path)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ladder::{ladder, simplest};
    use super::*;
    use crate::phy::error_model::ErrorModelKind;
    use crate::phy::{ChannelWidth, GuardInterval, ModeId, Phy, PhyOptions, Standard};
    use lasthop_engine::Stream;
    use lasthop_units::{Bytes, Db, Dbm, Time};

    /// The PHY of a standard, with all defaults.
    pub fn phy(name: &str) -> Phy {
        PhyOptions::new(Standard::named(name).unwrap()).resolve("bss").unwrap()
    }
    /// The PHY of a standard with MCSs: two streams, this width and guard interval.
    pub fn phy_with_mcs(standard: &str, channel_width: ChannelWidth, guard_interval: GuardInterval) -> Phy {
        let options = PhyOptions {
            channel_width: Some(channel_width),
            spatial_streams: Some(2),
            guard_interval: Some(guard_interval),
            ..PhyOptions::new(Standard::named(standard).unwrap())
        };
        options.resolve("bss").unwrap()
    }
    /// A peer with all modes of `phy`, heard well.
    pub fn peer(phy: &Phy) -> PeerModes<'_> {
        let error_model = &ErrorModelKind::None(crate::phy::error_model::none::Params {});
        PeerModes { phy, modes: phy.allowed_modes(), received: Dbm(-40.0), noise_figure: Db(7.0), error_model, seed: 1 }
    }
    /// A frame of 1536 bytes after this many attempts.
    pub fn frame(retry: u32) -> FrameInfo {
        FrameInfo { now: Time::ZERO, bytes: Bytes(1536), aggregates: false, retry, packet: 0 }
    }
    /// The outcome of a single MPDU.
    pub fn status(now: Time, mode: ModeId, success: bool, snr: Option<Db>) -> TxStatus {
        TxStatus { now, mode, success, mpdus: 1, acknowledged: u32::from(success), rts: false, snr }
    }
    /// The next attempt's mode, as a rate in Mbit/s.
    pub fn rate(control: &mut dyn RateControl, phy: &Phy) -> f64 {
        phy.mode(control.rates_for(&frame(0)).first()).rate.as_mbps_f64()
    }
    /// An attempt in the mode that `control` chooses, which succeeds or not.
    pub fn attempt(control: &mut dyn RateControl, success: bool) {
        let mode = control.rates_for(&frame(0)).first();
        control.on_tx_status(&status(Time::ZERO, mode, success, None));
    }

    #[test]
    fn chain_has_the_mode_of_each_attempt() {
        let chain = RateChain::single(ModeId(3), 2).then(ModeId(1), 1).then(ModeId(0), 1);
        let modes: Vec<_> = (0..5).map(|n| chain.mode_of_attempt(n).map(|m| m.0)).collect();
        assert_eq!(modes, [Some(3), Some(3), Some(1), Some(0), None]);
        assert_eq!((chain.first(), chain.entries().len()), (ModeId(3), 3));
    }

    /// The chains of a run of 5000 frames, one attempt each, whose fates are drawn under `seed`.
    fn run(kind: &RateControlKind, peer: &PeerModes, seed: u64) -> Vec<RateChain> {
        let mut control = kind.build(peer, "rate_control").unwrap();
        let mut fate = Stream::new(seed, "test", 0);
        let odds = [0.05, 0.5, 0.95, 0.999];
        let attempt = |i: u64| {
            let now = Time::from_nanos(i * 1_000_000);
            let bytes = Bytes(40 + i % 1500);
            let mpdus = if i.is_multiple_of(3) { 1 } else { fate.up_to(63) + 1 };
            let frame = FrameInfo { now, bytes, aggregates: mpdus > 1, retry: (i % 8) as u32, packet: 0 };
            let chain = control.rates_for(&frame);
            let entry = chain.entries()[fate.up_to(chain.entries().len() as u32 - 1) as usize];
            let odds = odds[(i / 50 % 4) as usize];
            let acknowledged = (0..mpdus).filter(|_| fate.chance(odds)).count() as u32;
            let snr = fate.chance(0.5).then(|| Db(fate.unit() * 60.0 - 10.0));
            let (mode, rts, success) = (entry.mode, entry.rts, acknowledged > 0);
            control.on_tx_status(&TxStatus { now, mode, success, mpdus, acknowledged, rts, snr });
            chain
        };
        (0..5000).map(attempt).collect()
    }

    #[test]
    fn every_rate_control_keeps_to_the_modes_of_its_peer_and_repeats_itself() {
        for kind in RateControlKind::all() {
            for standard in Standard::all() {
                let phy = PhyOptions::new(standard).resolve("bss").unwrap();
                let all = phy.allowed_modes();
                for modes in [all, &all[..1], &all[1..3], &all[all.len() - 1..]] {
                    let peer = PeerModes { modes, ..peer(&phy) };
                    for seed in 0..3 {
                        let chains = run(&kind, &peer, seed);
                        let entries = || chains.iter().flat_map(RateChain::entries);
                        assert!(entries().all(|e| modes.contains(&e.mode) && e.tries > 0), "{} {seed}", kind.name());
                        assert!(chains.iter().all(|c| !c.is_probe() || c.entries()[0].tries > 0), "{}", kind.name());
                        assert_eq!(run(&kind, &peer, seed), chains, "{} {seed}", kind.name());
                    }
                }
            }
        }
    }

    #[test]
    fn every_rate_control_leaves_the_lowest_rate_where_nothing_is_lost() {
        for kind in RateControlKind::all() {
            let phy = phy("802.11g");
            let mut control = kind.build(&peer(&phy), "rate_control").unwrap();
            let mut last = ModeId(0);
            // Frames of a millisecond each: 30 s, enough for Onoe's two steps from 36 Mbit/s.
            for i in 0..30_000 {
                let now = Time::from_nanos(i * 1_000_000);
                last = control.rates_for(&FrameInfo { now, ..frame(0) }).first();
                control.on_tx_status(&status(now, last, true, None));
            }
            assert!(phy.mode(last).rate.as_mbps_f64() >= 48.0, "{}: {:?}", kind.name(), phy.mode(last).rate);
        }
    }

    #[test]
    fn every_rate_control_climbs_the_modes_of_two_streams() {
        for kind in RateControlKind::all() {
            let phy = phy_with_mcs("802.11n", ChannelWidth::Mhz40, GuardInterval::Short);
            let mut control = kind.build(&peer(&phy), "rate_control").unwrap();
            let mut rate = 0.0;
            for i in 0..300_000 {
                let now = Time::from_nanos(i * 1_000_000);
                let mode = control.rates_for(&FrameInfo { now, aggregates: true, ..frame(0) }).first();
                let (mpdus, acknowledged) = (16, 16);
                control.on_tx_status(&TxStatus { mpdus, acknowledged, ..status(now, mode, true, None) });
                rate = phy.mode(mode).rate.as_mbps_f64();
            }
            assert!(rate >= 270.0, "{}: {rate}", kind.name());
        }
    }

    #[test]
    fn a_ladder_has_the_most_robust_mode_of_each_rate() {
        let phy = phy_with_mcs("802.11n", ChannelWidth::Mhz40, GuardInterval::Short);
        let ladder = ladder(&peer(&phy));
        let rates: Vec<u64> = ladder.iter().map(|m| phy.mode(*m).rate.as_bps()).collect();
        assert!(rates.windows(2).all(|pair| pair[0] < pair[1]), "{rates:?}");
        // 27 Mbit/s: QPSK on one stream (MCS 1) or BPSK on two (MCS 8), which needs 3 dB less.
        let of = |bps| phy.mode(ladder[rates.iter().position(|r| *r == bps).unwrap()]).mcs_index();
        assert_eq!((of(27_000_000), of(30_000_000), of(300_000_000)), (Some(8), Some(8), Some(15)));
        let simplest = simplest(&peer(&phy));
        assert_eq!(phy.mode(simplest[rates.iter().position(|r| *r == 27_000_000).unwrap()]).mcs_index(), Some(1));
    }

    #[test]
    fn every_rate_control_is_down_at_the_lowest_rate_where_nothing_arrives() {
        for kind in RateControlKind::all().into_iter().filter(|k| !matches!(k.name(), "fixed" | "trace" | "ideal")) {
            let phy = phy("802.11a");
            let mut control = kind.build(&peer(&phy), "rate_control").unwrap();
            let mut lowest = 0;
            for i in 0..30_000 {
                let now = Time::from_nanos(i * 1_000_000);
                let chain = control.rates_for(&FrameInfo { now, ..frame((i % 8) as u32) });
                control.on_tx_status(&status(now, chain.first(), false, None));
                lowest += u32::from(i >= 20_000 && chain.entries().iter().any(|e| e.mode == ModeId(0)));
            }
            // Thompson sampling knows that every rate is bad, and alternates between them.
            let bound = if kind.name() == "thompson_sampling" { 100 } else { 9_900 };
            assert!(lowest > bound, "{}: {lowest}", kind.name());
        }
    }

    #[test]
    fn an_aggregate_is_good_if_half_of_it_arrived() {
        let aggregate = |mpdus, acknowledged| TxStatus {
            mpdus,
            acknowledged,
            ..status(Time::ZERO, ModeId(0), acknowledged > 0, None)
        };
        let good = [(1, 0), (1, 1), (16, 7), (16, 8), (15, 7), (15, 8)].map(|(m, a)| aggregate(m, a).is_good());
        assert_eq!(good, [false, true, false, true, false, true]);
    }
}
