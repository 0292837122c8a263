//! The keys of a scenario that the Wi-Fi stack of a kernel takes over, and the flows that it cannot carry.

use super::ResolvedScenario;
use super::stack::uses_kernel;
use super::wording::named;

impl ResolvedScenario {
    /// Whether `lasthop emulate` runs it over the Wi-Fi stack of a kernel.
    pub fn uses_kernel_stack(&self) -> bool {
        uses_kernel(&self.description)
    }

    /// The keys of the file that a kernel's Wi-Fi stack takes over, in a sentence.
    pub(crate) fn warning_of_stack_keys(&self) -> Option<String> {
        let (bss, stations) = (&self.description.bss.0, &self.description.station.0);
        let is_chosen = |path: &str| !self.defaults.iter().any(|taken| taken.path == path);
        let mut keys: Vec<String> = Vec::new();
        for (of, spec) in bss.iter().zip(&self.bss) {
            let path = &spec.path;
            let optional = [
                ("rate_control", of.rate_control.is_some()),
                ("security", of.security.is_some()),
                ("l4s_category", of.l4s_category.is_some()),
                ("ap.rate_control", of.ap.rate_control.is_some()),
                ("ap.queue", of.ap.queue.is_some()),
                ("ap.driver", of.ap.driver.is_some()),
                ("ap.airtime", of.ap.airtime.is_some()),
            ];
            let given = optional.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| format!("{path}.{key}"));
            keys.extend(given.filter(|key| is_chosen(key)));
            if of.ap.driver_queue.0 > 0 {
                keys.push(format!("{path}.ap.driver_queue"));
            }
            if spec.config.aggregation.is_some_and(|limits| limits.max_amsdu.is_some()) {
                keys.push(format!("{path}.aggregation.amsdu"));
            }
        }
        for (place, group) in stations.iter().enumerate() {
            let path = if stations.len() == 1 { "station".to_string() } else { format!("station[{place}]") };
            let optional = [
                ("rate_control", group.rate_control.is_some()),
                ("downlink_rate_control", group.downlink_rate_control.is_some()),
                ("queue", group.queue.is_some()),
                ("driver", group.driver.is_some()),
                ("airtime_weight", group.airtime_weight.is_some()),
            ];
            let given =
                optional.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| (format!("{path}.{key}"), *key));
            let listed = |key: &str| format!("station[{place}].{key}");
            keys.extend(given.filter(|(_, key)| is_chosen(&listed(key))).map(|(path, _)| path));
        }
        (!keys.is_empty()).then(|| {
            let (verb, it) = if keys.len() == 1 { ("has", "it") } else { ("have", "them") };
            format!(
                "emulate: with wifi_stack = \"kernel\" {} {verb} no effect: mac80211, hostapd and wpa_supplicant decide {it}",
                keys.join(", ")
            )
        })
    }

    /// Flows that would be simulated, and so cannot go through a kernel's stack.
    pub(crate) fn flows_beside_the_stack(&self, is_carried: impl Fn(usize) -> bool) -> Option<String> {
        let beside = (0..self.flows.len()).filter(|flow| !is_carried(*flow));
        let names: Vec<&str> = beside.map(|flow| self.flows[flow].id.as_str()).collect();
        (!names.is_empty()).then(|| named("flow", &names, self.flows.len()))
    }
}
