//! Scenarios for the Wi-Fi stack of a kernel: those that it can run.

use lasthop_registry::ParamError;
use lasthop_wifi::phy::ChannelWidth;

use super::bss::BssSpec;
use super::older;
use super::place::error;
use crate::description::{Bss, Description, StackSecurity, WifiStack};

/// The standards whose rates mac80211's rate control has, minstrel_ht.
const STANDARDS: [&str; 5] = ["802.11b", "802.11a", "802.11g", "802.11n", "802.11ac"];
/// Bytes of an SSID at most. [802.11-2020 §9.4.2.2]
const LONGEST_SSID: usize = 32;
/// Most access points and stations: each radio has a byte pair of its own in its address.
const MOST_NODES: usize = 100;

/// Refuses a scenario that a kernel's Wi-Fi stack cannot run here.
pub(super) fn check(description: &Description, specs: &[BssSpec]) -> Result<(), ParamError> {
    if !uses_kernel(description) {
        return Ok(());
    }
    for spec in specs {
        let (path, phy) = (&spec.path, &spec.config.phy);
        let name = phy.standard().name();
        if !STANDARDS.contains(&name) {
            let message = (
                format!(
                    "{name} with emulation.wifi_stack = \"kernel\": mac80211's rate control, minstrel_ht, has no rates of \
                     802.11ax and later"
                ),
                "standard = \"802.11ac\" or earlier, or wifi_stack = \"model\"",
            );
            return error(format!("{path}.standard"), message);
        }
        if phy.channel_width() == Some(ChannelWidth::Mhz160) {
            let message =
                ("a kernel's Wi-Fi stack is run with channels of 20, 40 and 80 MHz", "channel_width = \"80 MHz\"");
            return error(format!("{path}.channel_width"), message);
        }
    }
    let protects = description.emulation.as_ref().is_some_and(|section| section.security == Some(StackSecurity::Wpa3));
    if protects && specs.iter().any(|spec| spec.config.phy.is_qos()) {
        let message = (
            "with WPA3 the frames that ask for Block Ack are protected, and agreements are the model's: 802.11n and ac have none then",
            "\"wpa2\", or standard = \"802.11a\" or \"802.11g\"",
        );
        return error("emulation.security", message);
    }
    for spec in specs {
        let (path, channel) = (&spec.path, spec.config.phy.channel());
        if !matches!(channel, 1..=11 | 36..=48 | 149..=165) {
            let message = (
                format!(
                    "an access point of a kernel's Wi-Fi stack may not begin on channel {channel} in hwsim's regulatory domain"
                ),
                "1 to 11, 36 to 48 and 149 to 165",
            );
            return error(format!("{path}.channel"), message);
        }
    }
    for (place, group) in description.station.0.iter().enumerate() {
        let differs = |bss: &Bss| older::standard_of(group, bss).is_some();
        if group.standard.is_some() && description.bss.0.iter().all(differs) {
            let message = ("all stations of a kernel's Wi-Fi stack have the standard of their BSS", "remove this key");
            return error(format!("station[{place}].standard"), message);
        }
    }
    let ssids: Vec<&str> = description.bss.0.iter().map(Bss::ssid).collect();
    let is_shared = |ssid: &&&str| ssids.iter().filter(|other| *other == *ssid).count() > 1;
    if let Some(long) = ssids.iter().position(|ssid| ssid.len() > LONGEST_SSID) {
        let message = (format!("an SSID has at most {LONGEST_SSID} bytes"), "a shorter one");
        return error(format!("{}.ssid", specs[long].path), message);
    }
    let transition = description.emulation.as_ref().and_then(|section| section.fast_transition);
    if transition == Some(true) && !ssids.iter().any(|ssid| is_shared(&ssid)) {
        let message = ("no two access points have one SSID, so no station roams", "[[bss]] ssid = \"hall\" for both");
        return error("emulation.fast_transition", message);
    }
    let stations: usize = description.station.0.iter().map(|group| group.count.unwrap_or(1) as usize).sum();
    if stations + specs.len() > MOST_NODES {
        let message = format!("{stations} stations: a kernel's Wi-Fi stack is run with at most {MOST_NODES} radios");
        return error("station", message);
    }
    Ok(())
}

pub(super) fn uses_kernel(description: &Description) -> bool {
    description.emulation.as_ref().is_some_and(|section| section.wifi_stack == Some(WifiStack::Kernel))
}
