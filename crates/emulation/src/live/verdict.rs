//! Trustworthiness of a run.

use lasthop_scenario::emulation::{Certificate, EmulationPlan};

use super::hosts::Hosts;
use super::options::Machine;
use crate::driver::Driven;
use crate::error::Result;

/// The certificate of a run that has ended.
///
/// # Errors
/// A source of its facts is gone.
pub(super) fn of(driven: &Driven, hosts: &mut Hosts, plan: &EmulationPlan, machine: Machine) -> Result<Certificate> {
    let drops = hosts.drops()?;
    let lateness = &driven.lateness;
    let p99 = lateness.quantile(0.99);
    let mut faults = hosts.failures()?;
    faults.extend(hosts.stack.as_mut().and_then(super::stack::Stack::fault));
    if p99 > plan.max_lateness {
        let remedy = match machine {
            Machine::Host if hosts.is_refused("SCHED_FIFO") => "run as root for SCHED_FIFO, or in virtual time",
            Machine::Host => "run on an idle machine, or in virtual time",
            Machine::Guest => "a program reads the clock in a loop, which moves virtual time",
        };
        let late_ms = p99.as_secs_f64() * 1e3;
        faults.push(format!(
            "packets were {late_ms:.3} ms late at the 99th percentile, more than {}; {remedy}",
            plan.max_lateness
        ));
    }
    if drops > 0 {
        faults.push(format!("kernels dropped {drops} packets before they could be taken"));
    }
    if driven.given == 0 && faults.is_empty() && !hosts.has_terminal() {
        faults.push("no packet reached a host".to_owned());
    }
    if driven.refused > 0 {
        faults.push(format!("kernels had no room for {} packets", driven.refused));
    }
    Ok(Certificate {
        faults,
        notes: hosts.notes.clone(),
        deliveries: driven.given,
        taken: driven.taken,
        lateness_p50: lateness.quantile(0.5),
        lateness_p99: p99,
        lateness_p999: lateness.quantile(0.999),
        lateness_max: lateness.most(),
        tun_drops: drops,
        refused: driven.refused,
        strays: driven.strays.iter().map(|(stray, count)| (stray.to_string(), *count)).collect(),
    })
}
