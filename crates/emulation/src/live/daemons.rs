//! hostapd for each access point of a kernel's Wi-Fi stack, and wpa_supplicant for each station: their configurations and
//! their processes. [hostapd.conf, wpa_supplicant.conf(5)]

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lasthop_observe::NodeId;
use lasthop_scenario::emulation::{Cell, LiveNode, Site, StackPlan, StackSecurity};

use crate::error::{Context, Error, Result};
use crate::host::Namespace;
use crate::host::program::{Line, Program, Setup, Streams};

/// The device of a radio.
pub(super) const DEVICE: &str = "wlan0";
/// Folder of a guest for configurations and control sockets.
const FOLDER: &str = "/run/lasthop";
/// The key of WPA2, and the password of WPA3.
const PASSPHRASE: &str = "the last hop";
/// The mobility domain of all access points with 802.11r.
const MOBILITY_DOMAIN: &str = "1a57";
/// Stations that may roam look for another access point each 2 s while the signal is below -70 dBm, else each 300 s.
const BACKGROUND_SCAN: &str = "simple:2:-70:300";

/// A daemon of a node, which ends with this value.
#[derive(Debug)]
pub(super) struct Daemon {
    program: Program,
    errors: PathBuf,
}

impl Daemon {
    /// An error if it has ended, with the last line that it wrote.
    pub(super) fn check(&mut self) -> Result<()> {
        match self.program.try_wait()? {
            None => Ok(()),
            Some(status) => Err(Error::new(format!("{} ended, {status}: {}", self.program.name(), self.last_words()))),
        }
    }

    /// The last line that it wrote.
    pub(super) fn last_words(&self) -> String {
        let said = fs::read_to_string(&self.errors).unwrap_or_default();
        said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it wrote no line").trim().to_owned()
    }
}

/// Starts the daemon of a node in its namespace; its output goes to a file in `files`.
pub(super) fn start(
    node: &LiveNode,
    namespace: &Namespace,
    plan: &StackPlan,
    files: &Path,
    environment: &[(OsString, OsString)],
) -> Result<Daemon> {
    let (program, cell) = match node.ap {
        None => ("hostapd", &plan.cells[node.node.index()]),
        Some(ap) => ("wpa_supplicant", &plan.cells[ap.index()]),
    };
    let text = match node.ap {
        None => access_point(node, cell, plan)?,
        Some(ap) => station(node, ap, cell, plan)?,
    };
    fs::create_dir_all(FOLDER).context(|| format!("{FOLDER} cannot be made"))?;
    let place = format!("{FOLDER}/{}.conf", node.name);
    fs::write(&place, text).context(|| format!("{place} cannot be written"))?;
    let words: Vec<OsString> = match node.ap {
        None => vec![program.into(), place.into()],
        Some(_) => {
            vec![program.into(), "-D".into(), "nl80211".into(), "-i".into(), DEVICE.into(), "-c".into(), place.into()]
        }
    };
    let errors = files.join(format!("{}.{program}.out", node.name));
    let setup = Setup {
        name: format!("{program} of {}", node.name),
        line: Line::Words(words),
        namespace,
        environment: environment.to_vec(),
        // Both write all they have to say to their standard output.
        streams: Streams::Files { output: errors.clone(), error: files.join(format!("{}.{program}.err", node.name)) },
    };
    let program = Program::start(&setup).map_err(|error| {
        error.with_remedy("install it on this machine, whose root is the guest's: `apt install hostapd wpasupplicant`")
    })?;
    Ok(Daemon { program, errors })
}

/// The key management of WPA2 at an access point.
fn key_management(plan: &StackPlan, ap: NodeId) -> &'static str {
    if plan.is_fast(ap) { "FT-PSK" } else { "WPA-PSK" }
}

/// A configuration of hostapd.
fn access_point(node: &LiveNode, cell: &Cell, plan: &StackPlan) -> Result<String> {
    let mode = match cell {
        Cell { mhz: 3000.., .. } => "a",
        Cell { only_dsss: true, .. } => "b",
        _ => "g",
    };
    let mut text = format!(
        "interface={DEVICE}\ndriver=nl80211\nctrl_interface={FOLDER}/{}\nssid={}\nhw_mode={mode}\nchannel={}\nbeacon_int={}\n",
        node.name, cell.ssid, cell.channel, cell.beacon_tu
    );
    let listed = |only_basic: bool| {
        let rates = cell.rates.iter().filter(|(_, basic)| *basic || !only_basic);
        rates.map(|(rate, _)| rate.to_string()).collect::<Vec<_>>().join(" ")
    };
    let flag = u8::from;
    write!(text, "supported_rates={}\nbasic_rates={}\n", listed(false), listed(true)).ok();
    write!(text, "wmm_enabled={}\nieee80211n={}\nieee80211ac={}\n", flag(cell.qos), flag(cell.ht), flag(cell.vht)).ok();
    if cell.ht {
        let wide = match (cell.width_mhz, is_upper(cell.channel)) {
            (40.., false) => "[HT40+]",
            (40.., true) => "[HT40-]",
            _ => "",
        };
        let short = match (cell.short_guard_interval, cell.width_mhz) {
            (true, 40..) => "[SHORT-GI-20][SHORT-GI-40]",
            (true, _) => "[SHORT-GI-20]",
            (false, _) => "",
        };
        writeln!(text, "ht_capab={wide}{short}").ok();
    }
    if cell.vht {
        match (cell.width_mhz, cell.short_guard_interval) {
            (80, short) => {
                let (middle, short) = (middle_of_80(cell.channel), if short { "[SHORT-GI-80]" } else { "" });
                write!(text, "vht_oper_chwidth=1\nvht_oper_centr_freq_seg0_idx={middle}\nvht_capab={short}\n").ok();
            }
            _ => text.push_str("vht_oper_chwidth=0\n"),
        }
    }
    match plan.security {
        StackSecurity::Open => {}
        StackSecurity::Wpa2 => {
            let kind = key_management(plan, node.node);
            write!(text, "wpa=2\nwpa_key_mgmt={kind}\nrsn_pairwise=CCMP\nwpa_passphrase={PASSPHRASE}\n").ok();
            if plan.is_fast(node.node) {
                // Each access point derives the keys from the passphrase, so that none has to be passed on.
                write!(text, "mobility_domain={MOBILITY_DOMAIN}\nnas_identifier={}\n", node.name).ok();
                text.push_str("ft_psk_generate_local=1\nft_over_ds=0\n");
            }
        }
        StackSecurity::Wpa3 => {
            write!(text, "wpa=2\nwpa_key_mgmt=SAE\nrsn_pairwise=CCMP\nieee80211w=2\nsae_password={PASSPHRASE}\n").ok();
        }
    }
    if let Some(file) = &plan.hostapd {
        text.push_str(&fs::read_to_string(file).context(|| format!("emulation.hostapd: {file} cannot be read"))?);
    }
    Ok(text)
}

/// Returns whether a channel of a pair of 40 MHz is the upper one: at 5 GHz pairs begin at 36, 44 and so on, or at 149.
fn is_upper(channel: u8) -> bool {
    match channel {
        0..=14 => channel > 7,
        15..=144 => (channel / 4).is_multiple_of(2),
        _ => ((channel - 1) / 4).is_multiple_of(2),
    }
}

/// The number of the centre of the 80 MHz around a channel: at 5 GHz those begin at 36, 52 and so on, or at 149.
fn middle_of_80(channel: u8) -> u8 {
    let first = if channel < 149 { 36 } else { 149 };
    (channel - first) / 16 * 16 + first + 6
}

/// A configuration of wpa_supplicant.
fn station(node: &LiveNode, ap: NodeId, cell: &Cell, plan: &StackPlan) -> Result<String> {
    if let Some(file) = &plan.wpa_supplicant {
        return fs::read_to_string(file).context(|| format!("emulation.wpa_supplicant: {file} cannot be read"));
    }
    let key = match plan.security {
        StackSecurity::Open => "key_mgmt=NONE".to_owned(),
        StackSecurity::Wpa2 => {
            let kind = key_management(plan, ap);
            format!("key_mgmt={kind}\n proto=RSN\n pairwise=CCMP\n psk=\"{PASSPHRASE}\"")
        }
        StackSecurity::Wpa3 => {
            format!("key_mgmt=SAE\n proto=RSN\n pairwise=CCMP\n ieee80211w=2\n sae_password=\"{PASSPHRASE}\"")
        }
    };
    let mut mhz: Vec<u16> = plan.of_ssid(ap).map(|ap| plan.cells[ap.index()].mhz).collect();
    mhz.sort_unstable();
    mhz.dedup();
    let mhz = mhz.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    let choice = match plan.roams(ap) {
        true => format!("bgscan=\"{BACKGROUND_SCAN}\""),
        false => format!("bssid={}", Site::mac(ap)),
    };
    let ssid = &cell.ssid;
    Ok(format!(
        "ctrl_interface={FOLDER}/{}\np2p_disabled=1\nnetwork={{\n ssid=\"{ssid}\"\n {choice}\n scan_freq={mhz}\n \
         freq_list={mhz}\n {key}\n}}\n",
        node.name
    ))
}

#[cfg(test)]
mod tests {
    use super::{is_upper, middle_of_80};

    #[test]
    fn middles_of_80_mhz_are_those_of_the_standard() {
        // 802.11-2020 Annex E, Table E-4: the centres of operating class 128.
        let of = [(36, 42), (48, 42), (52, 58), (64, 58), (100, 106), (112, 106), (149, 155), (161, 155)];
        assert_eq!(of.map(|(channel, _)| middle_of_80(channel)), of.map(|(_, middle)| middle));
    }

    #[test]
    fn pairs_of_40_mhz_are_those_of_the_standard() {
        // 802.11-2020 Annex E, Table E-4: the primary channels of operating classes 116 and 117, 126 and 127.
        for (lower, upper) in [(36, 40), (44, 48), (52, 56), (60, 64), (100, 104), (140, 144), (149, 153), (157, 161)] {
            assert_eq!((is_upper(lower), is_upper(upper)), (false, true), "{lower} {upper}");
        }
    }
}
