//! Every queue discipline of the registry, alone and above the queue of a driver, keeps the promises of all. `QUEUE`
//! and `SEED` choose one of them, as a failure shows.

use lasthop_conformance::queue::{Candidate, Order, RULES, Rule, registered};
use lasthop_link::{Below, Held, QueueDisciplineKind, Serving};
use lasthop_registry::{Parameter, Value};

fn chosen<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// No driver, an old one with a FIFO, and firmware with queues for each receiver.
const DRIVERS: [(&str, Option<Held>); 4] = [
    ("0", None),
    ("16", Some(Held { packets: 16, serving: Serving::Fifo })),
    ("turns", Some(Held { packets: 16, serving: Serving::Turns })),
    ("each", Some(Held { packets: 6, serving: Serving::EachInTurn })),
];

fn failure_of(rule: &Rule, kind: &QueueDisciplineKind, driver: (&str, Option<Held>)) -> Option<String> {
    let (driver, held) = driver;
    let name = format!("{}/{driver}", kind.name());
    if chosen("QUEUE").is_some_and(|only: String| only != name) {
        return None;
    }
    let build = registered(kind, Below { held, ..Below::IDEAL });
    // Its data and its ACKs have buffers of their own, served in turn.
    let apart = matches!(kind, QueueDisciplineKind::SplitAck(_));
    let candidate = Candidate {
        order: if apart { Order::OfDataAndAcks } else { Order::OfFlows },
        finds_wanted: held.is_none(),
        command: |name, rule, seed| {
            format!("QUEUE={name} SEED={seed} cargo test -p lasthop-conformance --test all queues {rule}")
        },
        ..Candidate::new(&name, &build)
    };
    let seeds = chosen("SEED").map_or(rule.seeds.clone(), |seed: u64| seed..seed + 1);
    (rule.test)(&candidate, seeds).err().map(|failure| failure.to_string())
}

/// CAKE with its shaper, classes, fairness between hosts and ACK filter, and little memory.
fn shaped() -> QueueDisciplineKind {
    let entries = [
        ("kind", "cake"),
        ("bandwidth", "8 Mbit/s"),
        ("diffserv", "diffserv4"),
        ("isolation", "dual_dsthost"),
        ("ack_filter", "aggressive"),
        ("memory_limit", "200 kB"),
    ];
    let table = entries.map(|(key, value)| (key.to_string(), Value::text(value)));
    QueueDisciplineKind::parse(&Value::Table(table.into()), "queue").unwrap_or_else(|e| panic!("{e}"))
}

/// Tests every queue discipline against a rule.
fn hold_all(name: &str) {
    let rule = RULES.iter().find(|rule| rule.name == name).unwrap_or_else(|| panic!("no rule is called {name}"));
    let mut kinds = QueueDisciplineKind::all();
    kinds.push(shaped());
    let all = kinds.iter().flat_map(|kind| DRIVERS.map(|driver| (kind, driver)));
    let failures: Vec<String> = all.filter_map(|(kind, driver)| failure_of(rule, kind, driver)).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

macro_rules! hold {
    ($( $rule:ident )*) => {
        $( #[test] fn $rule() { hold_all(stringify!($rule)); } )*

        #[test]
        fn every_rule_is_tested() {
            assert_eq!(RULES.iter().map(|rule| rule.name).collect::<Vec<_>>(), [$( stringify!($rule) ),*]);
        }
    };
}

hold! {
    packets_are_conserved_and_counted
    a_flow_keeps_its_order
    the_same_packets_have_the_same_fate
    an_empty_queue_gives_nothing
    whoever_is_asked_for_is_found
    only_pure_acks_are_filtered
    whoever_has_the_turn_has_something_to_send
}
