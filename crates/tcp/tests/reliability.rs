//! Each byte arrives once and in order, and the connection ends, whatever a path does, as long as some
//! segments pass.

use crate::world::{self, End, Fate, Random, World};
use lasthop_registry::{Amount, Parameter, Value};
use lasthop_tcp::congestion_control::Algorithm;
use lasthop_tcp::{
    AckPolicy, ArrivalRules, Autotune, Config, DelayedAck, EcnUse, Profile, ReceiveWindow, Segments, Skip,
};
use lasthop_units::{Bytes, Duration};
use proptest::prelude::*;

/// The random behaviour of a path; after `ends_after` segments in a direction it only delays.
#[derive(Clone, Debug)]
pub struct Weather {
    seed: u64,
    loss: f64,
    twice: f64,
    late: f64,
    ends_after: u64,
}

pub fn path(weather: Weather) -> world::Path {
    let mut random = Random(weather.seed);
    Box::new(move |_, n| {
        let (draw, extra) = (random.unit(), Duration::from_micros(random.bits() % 200_000));
        if n >= weather.ends_after {
            return Fate::Pass;
        }
        match draw {
            x if x < weather.loss => Fate::Drop,
            x if x < weather.loss + weather.twice => Fate::Twice(extra),
            x if x < weather.loss + weather.twice + weather.late => Fate::Late(extra),
            _ => Fate::Pass,
        }
    })
}

prop_compose! {
    pub fn weather()(seed in any::<u64>(), loss in 0.0..0.4f64, twice in 0.0..0.2f64, late in 0.0..0.4f64, ends_after in 0u64..400) -> Weather {
        Weather { seed, loss, twice, late, ends_after }
    }
}

prop_compose! {
    pub fn config()(
        profile in 0..Profile::ALL.len(), sack in any::<bool>(), timestamps in any::<bool>(), scaling in any::<bool>(), policy in 0..3usize,
        impatient in any::<bool>(), limited in any::<bool>(), window in 0..6usize, size in 0..3usize, iw in 1..12u32, quick in 0..20u32,
        burst in 0..3u32, skip in (0..6u32, 0..20u64), rules in any::<bool>(), ecn in 0..4usize, adaptive in any::<bool>(),
    ) -> Config {
        let base = Profile::ALL[profile].0.config();
        let amounts = [Amount::Unlimited, Amount::Bytes(700), Amount::Packets(3), Amount::Bytes(30_000)];
        let tuned = Autotune { initial: Bytes(4096), max: Bytes(60_000) };
        let (skip, start_after) = (skip.0, Segments(skip.1));
        Config {
            sack,
            timestamps,
            window_scaling: scaling,
            ack: [AckPolicy::EverySegment, AckPolicy::Delayed, AckPolicy::Skip(Skip { skip, start_after })][policy],
            delayed_ack: if adaptive { DelayedAck::Adaptive } else { DelayedAck::Fixed },
            delayed_ack_max: base.delayed_ack_timeout.max(Duration::from_millis(200)),
            arrival_rules: if rules { ArrivalRules::Linux } else { ArrivalRules::Rfc9293 },
            ecn: [EcnUse::Off, EcnUse::Passive, EcnUse::On, EcnUse::Accurate][ecn],
            newreno_impatient: impatient,
            limited_transmit: limited,
            receive_window: amounts.get(window).map_or(ReceiveWindow::Autotune(tuned), |amount| ReceiveWindow::Fixed(*amount)),
            packet_size: Bytes([1500, 576, 200][size]),
            initial_window: iw,
            quick_acks: quick,
            // However bad the weather, no endpoint gives up.
            retries: lasthop_registry::Switch::Off,
            syn_retries: lasthop_registry::Switch::Off,
            max_burst: if burst == 0 { lasthop_registry::Switch::Off } else { lasthop_registry::Switch::On(burst) },
            ..base
        }
    }
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (0u32..100_000).prop_map(|below| u32::MAX - below)]
}

/// Every controller, and the older era of those that have one.
fn controllers() -> Vec<Algorithm> {
    let mut all = Algorithm::all();
    for index in 0..all.len() {
        let name = Value::text(all[index].name());
        for era in ["linux", "linux-2.6", "ns-2"] {
            let table = Value::Table(vec![("kind".into(), name.clone()), ("era".into(), Value::text(era))]);
            all.extend(Algorithm::parse(&table, "congestion_control").ok());
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_controller_delivers_every_byte(
        base in config(), which in 0..controllers().len(), weather in weather(), bytes in 0u64..400_000,
    ) {
        let config = Config { congestion_control: controllers().swap_remove(which), ..base };
        let mut world = World::alike(&config);
        world.path = path(weather);
        world.open(bytes);
        world.run_to_the_end();
        prop_assert_eq!(world.server.delivered_bytes(), bytes);
        prop_assert!(world.client.is_closed() && world.server.is_closed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_the_connection_ends(
        client in config(), server in config(), weather in weather(), bytes in 0u64..150_000, iss in [number(), number()],
    ) {
        let mut world = World::new(&client, &server, iss);
        world.path = path(weather);
        world.delay = Duration::from_millis(20);
        world.open(bytes);
        world.run_to_the_end();
        prop_assert_eq!(world.server.delivered_bytes(), bytes);
        prop_assert_eq!(world.client.acked_bytes(), bytes);
        prop_assert!(world.client.is_closed() && world.server.is_closed(), "{:?} {:?}", world.client.state(), world.server.state());
    }

    #[test]
    fn both_directions_work_at_once(client in config(), server in config(), weather in weather(), up in 1u64..60_000, down in 1u64..60_000) {
        let mut world = World::new(&client, &server, [5, u32::MAX - 1000]);
        world.path = path(weather);
        world.server.write(down);
        world.open(up);
        world.run_to_the_end();
        prop_assert_eq!(world.server.delivered_bytes(), up);
        prop_assert_eq!(world.client.delivered_bytes(), down);
        prop_assert!(world.client.is_closed() && world.server.is_closed());
    }

    #[test]
    fn an_application_that_comes_and_goes_is_served(client in config(), weather in weather(), pauses in proptest::collection::vec((1u64..20_000, 0u64..3000), 1..8)) {
        let mut world = World::alike(&client);
        world.path = path(weather);
        world.open(0);
        let mut total = 0;
        for (bytes, pause_ms) in pauses {
            total += bytes;
            world.client.write(bytes);
            world.transmit(End::Client);
            world.run_for(Duration::from_millis(pause_ms));
            if pause_ms % 3 == 0 { world.server.pause_reading() } else { world.server.resume_reading() }
            world.transmit(End::Server);
        }
        world.server.resume_reading();
        world.transmit(End::Server);
        world.run_to_the_end();
        prop_assert_eq!(world.server.delivered_bytes(), total);
        prop_assert!(world.client.is_closed());
    }
}

#[test]
fn the_same_path_gives_the_same_segments() {
    let run = || {
        let mut world = World::alike(&Profile::Linux612.config());
        world.path = path(Weather { seed: 7, loss: 0.1, twice: 0.1, late: 0.1, ends_after: 1000 });
        world.open(300_000);
        world.run_to_the_end();
        world.log.iter().map(|sent| (sent.at, sent.segment)).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
