//! Links that work in one direction only: many retries, drops, and no error.

use lasthop_scenario::{resolve, run};

fn scenario(standard: &str, path_loss: &str, direction: &str, transport: &str) -> String {
    format!(
        "duration = \"2 s\"\n[channel]\npath_loss = \"{path_loss}\"\n[bss]\nstandard = \"{standard}\"\n\
         [[station]]\ncount = 4\ntx_power = \"-30 dBm\"\n[[flow]]\ndirection = \"{direction}\"\n{transport}\n"
    )
}

#[test]
fn a_station_too_weak_to_be_heard_ends_every_run_in_order() {
    for standard in ["802.11b", "802.11a", "802.11g"] {
        for path_loss in ["friis", "log_distance", "two_ray_ground"] {
            for direction in ["up", "down", "both"] {
                for transport in ["", "transport = \"udp\"\nrate = \"saturated\""] {
                    let text = scenario(standard, path_loss, direction, transport);
                    let run = run(&resolve(&text, "weak.toml", &[]).unwrap(), 1, None);
                    assert!(run.is_ok(), "{text}{run:?}");
                }
            }
        }
    }
}
