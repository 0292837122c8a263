//! The same seed gives the same bytes, and the draws of one entity do not affect another.

use std::sync::Arc;
use std::time::Duration;

use lasthop_scenario::{Campaign, Keep, Pool, resolve, run};

const UPLOADS: &str = r#"
duration = "3 s"
[bss]
standard = "802.11b"
rate_control = "aarf"
[[station]]
count = 4
[[flow]]
station = "sta*"
start_jitter = "100 ms"
"#;

fn without_clock(json: &str) -> String {
    let start = json.find("\"wall_s\"").expect("a result has a wall clock");
    let end = json[start..].find('}').expect("the simulator's object ends") + start;
    format!("{}{}", &json[..start], &json[end..])
}

fn result(text: &str, seed: u64) -> String {
    without_clock(&run(&resolve(text, "test.toml", &[]).unwrap(), seed, None).unwrap().json())
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    assert_eq!(result(UPLOADS, 7), result(UPLOADS, 7));
    assert_ne!(result(UPLOADS, 7), result(UPLOADS, 8));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let of = |jobs: usize| {
        let campaign = Campaign::start(
            resolve(UPLOADS, "test.toml", &[]).unwrap(),
            (1..=5).collect(),
            jobs,
            Keep::series(Some(1.0)),
        );
        while !campaign.is_done() {
            std::thread::yield_now();
        }
        let mut outcomes = campaign.take_finished();
        outcomes.sort_by_key(|o| o.seed);
        let seen = |o: &lasthop_scenario::RunOutcome| {
            let result = o.result.as_ref().unwrap();
            let series: Vec<u64> = result.series().iter().flat_map(|b| &b.values).map(|v| v.to_bits()).collect();
            (without_clock(&result.json()), series)
        };
        outcomes.iter().map(seen).collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn a_pool_gives_each_run_of_each_scenario_with_its_ticket() {
    let two = ["station.0.count=1", "station.0.count=2"].map(|setting| {
        let (path, value) = setting.split_once('=').unwrap();
        Arc::new(resolve(UPLOADS, "test.toml", &[(path.to_string(), value.to_string())]).unwrap())
    });
    let pool = Pool::new(3);
    for ticket in 0..8 {
        pool.submit(ticket, Arc::clone(&two[ticket as usize % 2]), ticket / 2, Keep::default());
    }
    let mut seen = Vec::new();
    while seen.len() < 8 {
        seen.extend(pool.take_finished(Duration::from_secs(60)));
    }
    seen.sort_by_key(|(ticket, _)| *ticket);
    for (expected, (ticket, outcome)) in seen.iter().enumerate() {
        let (expected, seed) = (expected as u64, expected as u64 / 2);
        assert_eq!((*ticket, outcome.seed), (expected, seed));
        let alone = run(&two[expected as usize % 2], seed, None).unwrap();
        assert_eq!(without_clock(&outcome.result.as_ref().unwrap().json()), without_clock(&alone.json()));
    }
    assert!(pool.take_finished(Duration::ZERO).is_empty() && pool.fraction() == 0.0);
}

#[test]
fn cancelled_pool_skips_runs_that_had_not_begun() {
    // A run of a day takes minutes; `close` would not return if it were not stopped.
    let settings = [("duration".to_string(), "86400 s".to_string())];
    let scenario = Arc::new(resolve(UPLOADS, "test.toml", &settings).unwrap());
    let pool = Pool::new(1);
    (0..3).for_each(|ticket| pool.submit(ticket, Arc::clone(&scenario), ticket, Keep::default()));
    assert!(pool.take_finished(Duration::from_millis(50)).is_empty());
    pool.close();
    pool.submit(3, scenario, 3, Keep::default());
    assert!(pool.take_finished(Duration::from_millis(50)).is_empty());
}

#[test]
fn time_series_change_no_result() {
    let scenario = resolve(UPLOADS, "test.toml", &[]).unwrap();
    let interval = Some(lasthop_units::Duration::from_millis(100));
    let (with, without) = (run(&scenario, 1, interval).unwrap(), run(&scenario, 1, None).unwrap());
    assert_eq!(without_clock(&with.json()), without_clock(&without.json()));
    // 3 s in steps of 100 ms, the last of which ends with the run.
    assert_eq!(with.series()[0].times, 30);
}

/// The flows of a result, which an idle station must not touch.
fn flows(text: &str) -> String {
    let json = result(text, 3);
    let (start, end) = (json.find("\"flows\"").unwrap(), json.find("\"nodes\"").unwrap());
    json[start..end].to_string()
}

#[test]
fn an_idle_station_changes_nobodys_draws() {
    let last = format!("{UPLOADS}[[station]]\nname = \"idle\"\n");
    assert_eq!(flows(UPLOADS), flows(&last));
    let first = UPLOADS.replacen("[[station]]", "[[station]]\nname = \"idle\"\n[[station]]", 1);
    assert_eq!(flows(UPLOADS), flows(&first));
}

#[test]
fn stations_draw_from_different_streams() {
    let result = run(&resolve(UPLOADS, "test.toml", &[]).unwrap(), 1, None).unwrap();
    let json: serde_json::Value = serde_json::from_str(&result.json()).unwrap();
    let goodputs: Vec<f64> =
        json["flows"].as_array().unwrap().iter().map(|f| f["goodput_bps"].as_f64().unwrap()).collect();
    assert!(goodputs.windows(2).any(|pair| pair[0] != pair[1]), "{goodputs:?}");
}
