//! Same seed, same bytes; and what one entity draws is no other's business.

use lasthop_scenario::{Campaign, Keep, resolve, run};

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
    without_clock(run(&resolve(text, "test.toml", &[]).unwrap(), seed, None).unwrap().json())
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
            (without_clock(result.json()), series)
        };
        outcomes.iter().map(seen).collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn time_series_change_no_result() {
    let scenario = resolve(UPLOADS, "test.toml", &[]).unwrap();
    let interval = Some(lasthop_units::Duration::from_millis(100));
    let (with, without) = (run(&scenario, 1, interval).unwrap(), run(&scenario, 1, None).unwrap());
    assert_eq!(without_clock(with.json()), without_clock(without.json()));
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
    let json: serde_json::Value = serde_json::from_str(result.json()).unwrap();
    let goodputs: Vec<f64> =
        json["flows"].as_array().unwrap().iter().map(|f| f["goodput_bps"].as_f64().unwrap()).collect();
    assert!(goodputs.windows(2).any(|pair| pair[0] != pair[1]), "{goodputs:?}");
}
