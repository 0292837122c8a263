//! Segments that are next in order take a short way through the endpoint. The bit URG, which no step reads, keeps a segment
//! from it: a connection whose segments all bear that bit goes through every step, and must go the same way.

use crate::reliability::{Weather, config, path, weather};
use crate::world::World;
use lasthop_tcp::{Config, EcnUse, Flags, Segment};
use lasthop_units::Duration;
use proptest::prelude::*;

/// The flag that [RFC 9293 §3.1] calls URG.
const URG: u16 = 0x20;

/// The number of connections: more where `LASTHOP_ALL` is set.
fn cases() -> u32 {
    if std::env::var_os("LASTHOP_ALL").is_some() { 10_000 } else { 600 }
}

fn bear_urg(segment: &mut Segment) {
    segment.flags = segment.flags | Flags::from_bits(URG);
}

/// A connection with data in both directions and pauses between writes; what was sent, and both ends afterwards.
fn seen(configs: &[Config; 2], weather: Weather, writes: &[(u64, u64, u64)], edit: fn(&mut Segment)) -> Vec<String> {
    let mut world = World::new(&configs[0], &configs[1], [u32::MAX - 20_000, 7]);
    world.path = path(weather);
    world.delay = Duration::from_millis(15);
    world.service = Duration::from_micros(300);
    world.edit = edit;
    let mut seen = Vec::new();
    world.open(writes[0].0);
    for &(up, down, pause_ms) in writes {
        world.client.write(up);
        world.server.write(down);
        world.transmit(crate::world::End::Client);
        world.transmit(crate::world::End::Server);
        world.run_for(Duration::from_millis(pause_ms));
        seen.push(format!("{:?}\n{:?}", world.client, world.server));
    }
    world.run_to_the_end();
    seen.push(format!("{:?}\n{:?}", world.client, world.server));
    seen.extend(world.log.iter().map(|sent| format!("{sent:?}")));
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_short_way_leads_where_every_step_leads(
        configs in [config(), config()], weather in weather(), without_ecn in 0..4u32,
        writes in prop::collection::vec((0u64..40_000, prop_oneof![Just(0), 0u64..20_000], 0u64..400), 1..6),
    ) {
        // Most without ECN, which the short way leaves out.
        let configs = if without_ecn > 0 { configs.map(|config| Config { ecn: EcnUse::Off, ..config }) } else { configs };
        let short = seen(&configs, weather.clone(), &writes, |_| ());
        let long = seen(&configs, weather, &writes, bear_urg);
        for (step, (short, long)) in short.iter().zip(&long).enumerate() {
            prop_assert_eq!(short, long, "step {}", step);
        }
        prop_assert_eq!(short.len(), long.len());
    }
}
