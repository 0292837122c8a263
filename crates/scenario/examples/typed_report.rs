//! Runs a scenario and reads its report by quantities, whose types name their scope: no strings and no JSON.
//!
//! `cargo run -p lasthop-scenario --example typed_report [FILE]`

use lasthop_observe::metric::goodput::{GOODPUT, GOODPUT_OF_ALL, JAIN_OF_ALL};
use lasthop_observe::metric::rtt::RTT_MEAN;
use lasthop_observe::{Cell, Report};
use lasthop_scenario::{Diagnostic, ResolvedScenario, resolve, run};

/// Two stations at different distances, each with a download.
const SCENARIO: &str = r#"
duration = "3 s"
warmup = "1 s"
bss.standard = "802.11n"

[[station]]
name = "near"
distance = "5 m"

[[station]]
name = "far"
distance = "30 m"

[wired]
rate = "100 Mbit/s"
delay = "10 ms"

[[flow]]
station = "*"
direction = "down"
"#;

/// A report of one run, under seed 1.
fn report(scenario: &ResolvedScenario) -> Result<Report, String> {
    Ok(run(scenario, 1, None)?.report().clone())
}

fn print(report: &Report) {
    for (flow, row) in report.flows.iter().enumerate() {
        // A flow without a sample of its RTT has no mean.
        let rtt = row.get(RTT_MEAN).map_or("none".to_string(), |seconds| format!("{:.1} ms", 1e3 * seconds));
        println!("flow {flow}: {:.1} Mbit/s, RTT {rtt}", row.get(GOODPUT).unwrap_or(0.0) / 1e6);
    }
    println!("all: {:.1} Mbit/s", report.totals.get(GOODPUT_OF_ALL).unwrap_or(0.0) / 1e6);
    println!("Jain's index: {:.3}", report.totals.get(JAIN_OF_ALL).unwrap_or(f64::NAN));
    // The other quantities of the channel, each with its own name, unit and meaning.
    for (quantity, cell) in report.medium.values() {
        if let Cell::Number(value) = cell {
            println!("{} = {value:.4}", quantity.name);
        }
    }
}

fn scenario() -> Result<ResolvedScenario, Diagnostic> {
    let file = std::env::args().nth(1);
    let text =
        file.as_ref().map(|file| std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}")));
    resolve(text.as_deref().unwrap_or(SCENARIO), file.as_deref().unwrap_or("built in"), &[])
}

fn main() -> Result<(), String> {
    let scenario = scenario().map_err(|error| error.to_string())?;
    print(&report(&scenario)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_a_row_for_each_flow_and_they_add_up() {
        let report = report(&resolve(SCENARIO, "built in", &[]).unwrap()).unwrap();
        print(&report);
        let of_flows: Vec<f64> = report.flows.iter().map(|row| row.get(GOODPUT).unwrap()).collect();
        assert_eq!(of_flows.len(), 2);
        assert!(of_flows.iter().all(|&bps| bps > 1e6 && bps < 100e6), "{of_flows:?}");
        let total = report.totals.get(GOODPUT_OF_ALL).unwrap();
        assert!((of_flows.iter().sum::<f64>() - total).abs() < 1.0, "{of_flows:?}, {total}");
    }
}
