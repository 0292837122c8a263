//! The choice of the stations that a PPDU of several users serves.
//!
//! Each scheduler has a file. `interface` is their interface; `fit` finds stations whose data fit together, `alternation`
//! gives turns to queue and stations.

mod alternation;
mod fit;
mod interface;

use lasthop_registry::registry;

pub use interface::{Around, Offer, Scheduler, SchedulerContext, SchedulerMaker, Turn, Waiting, Won};

registry! {
    /// The scheduler of `multi_user = …`.
    pub enum SchedulerKind as "multi_user_scheduler" {
        /// The station whose turn it is by the queue, with those whose data take about as long.
        airtime => Airtime: source "—", status "promises";
        /// As ns-3's: as many as there are, by credits; after each downlink exchange a question, after that data.
        ns3_rr => Ns3Rr: source "ns-3.44", status "against ns-3.44";
        /// The stations with the highest rates in relation to their throughputs.
        proportional_fair => ProportionalFair: source "Viswanath, Tse, Laroia 2002", status "shares against the closed form";
    }
    foreign: SchedulerMaker, by_airtime;
    code: Python;
    planned:
}

fn by_airtime(context: SchedulerContext) -> Box<dyn Scheduler> {
    Box::new(airtime::Airtime::new(&context))
}

impl Default for SchedulerKind {
    fn default() -> SchedulerKind {
        SchedulerKind::Airtime(airtime::Params::default())
    }
}

impl SchedulerKind {
    /// The scheduler of an access point.
    pub fn build(&self, context: SchedulerContext) -> Box<dyn Scheduler> {
        match self {
            SchedulerKind::Airtime(_) => by_airtime(context),
            SchedulerKind::Ns3Rr(_) => Box::new(ns3_rr::Ns3Rr::new(&context)),
            SchedulerKind::ProportionalFair(_) => Box::new(proportional_fair::ProportionalFair::new(&context)),
            SchedulerKind::Foreign(it) => it.maker()(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use lasthop_engine::Stream;
    use lasthop_observe::NodeId;
    use lasthop_units::{Duration, Time};

    use super::*;
    use crate::multi_user::settings::MultiUser;
    use crate::phy::{ChannelWidth, Phy, PhyOptions, Standard};

    const STATIONS: usize = 20;

    fn phy() -> Phy {
        let options = PhyOptions {
            channel_width: Some(ChannelWidth::Mhz80),
            ..PhyOptions::new(Standard::named("802.11ax").unwrap())
        };
        options.resolve("bss").unwrap()
    }
    fn schedulers() -> impl Iterator<Item = (String, Box<dyn Scheduler>)> {
        let context =
            || SchedulerContext { stations: STATIONS, of: MultiUser::default(), random: Stream::new(1, "test", 0) };
        SchedulerKind::all().into_iter().map(move |kind| (kind.name().to_owned(), kind.build(context())))
    }
    fn offer<'a>(now: Time, phy: &'a Phy, waiting: &'a [Waiting]) -> Offer<'a> {
        let us = Duration::from_micros;
        let around = Around { longest: us(5000), one: us(200), several: us(350) };
        Offer { now, phy, waiting, most: 8, around, is_known: true }
    }

    #[test]
    fn every_scheduler_chooses_some_of_those_that_wait_each_once() {
        let phy = phy();
        let mut random = Stream::new(7, "test", 0);
        for (name, mut scheduler) in schedulers() {
            for n in 0..2000 {
                let now = Time::ZERO + Duration::from_millis(n);
                let mut places: Vec<usize> = (0..STATIONS).filter(|_| random.unit() < 0.5).collect();
                if places.is_empty() {
                    places.push(3);
                }
                let of = |&place: &usize| {
                    let mode = phy.allowed_modes()[(random.unit() * phy.allowed_modes().len() as f64) as usize];
                    let bytes = (random.unit() * 100_000.0) as u64 + 1;
                    Waiting { station: NodeId(place as u32 + 1), place, mode, bytes }
                };
                let waiting: Vec<Waiting> = places.iter().map(of).collect();
                let offer = offer(now, &phy, &waiting);
                for chosen in [scheduler.downlink(&offer), scheduler.uplink(&offer)] {
                    let mut once = chosen.clone();
                    once.sort_unstable();
                    once.dedup();
                    assert!(!chosen.is_empty() && once.len() == chosen.len(), "{name}: {chosen:?}");
                    assert!(chosen.len() <= 8 && chosen.iter().all(|user| *user < waiting.len()), "{name}: {chosen:?}");
                    for user in chosen {
                        scheduler.on_grant(now, waiting[user].place, waiting[user].bytes);
                    }
                }
            }
        }
    }

    #[test]
    fn no_scheduler_forgets_the_queue_or_the_stations() {
        for (name, mut scheduler) in schedulers() {
            let mut turns = Vec::new();
            for n in 0..100 {
                let now = Time::ZERO + Duration::from_millis(2 * n);
                let turn = scheduler.turn(&Won { now, has_data: true, reported: &[0, 9000] });
                scheduler.on_turn(now, turn);
                turns.push(turn);
            }
            for of in [Turn::Queue, Turn::Data] {
                let count = turns.iter().filter(|turn| **turn == of).count();
                assert!(count >= 30, "{name}: {of:?} {count} times in {turns:?}");
            }
            // Without data of its own an access point never takes the medium for its queue.
            let won = Won { now: Time::ZERO + Duration::from_secs(1), has_data: false, reported: &[0, 9000] };
            assert_ne!(scheduler.turn(&won), Turn::Queue, "{name}");
        }
    }

    /// With data for all at all times, rates r_i and one station at a time, shares of airtime are equal, so throughputs are
    /// in the ratio of the rates [Viswanath, Tse, Laroia 2002 §II].
    #[test]
    fn proportional_fair_gives_equal_airtime_to_unequal_rates() {
        let phy = phy();
        let context = SchedulerContext { stations: 3, of: MultiUser::default(), random: Stream::new(1, "test", 0) };
        let mut scheduler = proportional_fair::ProportionalFair::new(&context);
        let modes = [0, 4, 9].map(|mcs| phy.mode_of_mcs(mcs).unwrap());
        let waits = |place: usize| Waiting { station: NodeId(1), place, mode: modes[place], bytes: 1_000_000 };
        let waiting: Vec<Waiting> = (0..3).map(waits).collect();
        let mut airtime = [0u32; 3];
        for n in 0..30_000 {
            let now = Time::ZERO + Duration::from_millis(n);
            let alone = Offer { most: 1, ..offer(now, &phy, &waiting) };
            let user = scheduler.downlink(&alone)[0];
            // A millisecond at its rate.
            scheduler.on_grant(now, user, phy.mode(modes[user]).rate.as_bps() / 8000);
            airtime[user] += 1;
        }
        for share in airtime {
            assert!(share.abs_diff(10_000) < 100, "{airtime:?}");
        }
    }
}
