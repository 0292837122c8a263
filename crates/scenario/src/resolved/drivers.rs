//! The drivers of nodes, and combinations that are refused.

use lasthop_link::Serving;
use lasthop_registry::ParamError;

use super::bss::BssSpec;
use super::defaults::chosen;
use super::place::error;
use crate::description::{Bss, Compat, DrivenNode, DriverChoice, NodeDriver, StationGroup};

/// The driver of an AP.
pub(super) fn of_ap(bss: &Bss, spec: &BssSpec) -> Result<NodeDriver, ParamError> {
    let path = format!("{}.ap", spec.path);
    let packets = bss.ap.driver_queue.0 as u32;
    check_queue(bss, &path)?;
    let driver = match &bss.ap.driver {
        Some(choice) if packets == 0 => of(choice, (bss, spec), spec.config.aggregation.is_some(), &path)?,
        _ if packets > 0 => NodeDriver::of_packets(packets, Serving::Fifo),
        _ => NodeDriver::IDEAL,
    };
    let mut driver = driver.of_ap();
    if let Some(airtime) = bss.ap.airtime {
        if !chosen(&bss.ap.queue).shares_airtime() {
            let message = (
                "the queue of this access point does not schedule by airtime",
                "set ap.queue = \"airtime_fq_codel\", or remove this key",
            );
            return error(format!("{path}.airtime"), message);
        }
        driver.below.airtime = airtime;
    }
    Ok(driver)
}

/// The driver of the stations of a group.
pub(super) fn of_station(
    group: &StationGroup,
    of_bss: (&Bss, &BssSpec),
    is_legacy: bool,
    path: &str,
) -> Result<NodeDriver, ParamError> {
    let makes_ampdus = of_bss.1.config.aggregation.is_some() && !is_legacy;
    match &group.driver {
        Some(choice) => of(choice, of_bss, makes_ampdus, path),
        None => Ok(NodeDriver::IDEAL),
    }
}

fn of(
    choice: &DriverChoice,
    (bss, spec): (&Bss, &BssSpec),
    makes_ampdus: bool,
    path: &str,
) -> Result<NodeDriver, ParamError> {
    let path = format!("{path}.driver");
    if bss.compat == Compat::Ns3 && !choice.is_ideal() {
        let message = ("compat = \"ns3\" sets driver = \"ideal\", as ns-3 has no driver", "remove one of the two keys");
        return error(path, message);
    }
    if choice.needs_ampdus() && !makes_ampdus {
        let message = (
            "this driver prepares A-MPDUs, and its node makes none",
            "set packets instead of aggregates, e.g. { packets = \"8 packets\" }",
        );
        return error(path, message);
    }
    let block_ack_window = spec.config.phy.block_ack_window();
    Ok(choice.driver(DrivenNode { makes_ampdus, block_ack_window }))
}

/// Refuses the FIFO of older drivers beside a driver or a queue that replaced it.
fn check_queue(bss: &Bss, path: &str) -> Result<(), ParamError> {
    if bss.ap.driver_queue.0 == 0 {
        return Ok(());
    }
    if bss.ap.driver.as_ref().is_some_and(|choice| !choice.is_ideal()) {
        let message = ("it is driver = { packets = … }, and driver is another one", "remove one of the two keys");
        return error(format!("{path}.driver_queue"), message);
    }
    let queue = chosen(&bss.ap.queue);
    if queue.schedules_stations() {
        let name = queue.name();
        let default = if name == "airtime_fq_codel" { ", the default with 802.11n and later," } else { "" };
        let message = (
            format!("\"{name}\"{default} replaced a driver's FIFO below a queue discipline"),
            "choose another ap.queue, e.g. \"fq_codel\", or remove this key",
        );
        return error(format!("{path}.driver_queue"), message);
    }
    Ok(())
}
