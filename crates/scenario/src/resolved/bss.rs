//! The BSSs: their PHYs, channels, medium access and limits of aggregation, checked.

use std::sync::Arc;

use lasthop_link::QueueDisciplineKind;
use lasthop_observe::NodeId;
use lasthop_registry::{ParamError, Switch};
use lasthop_units::{Bytes, Dbm, Duration};
use lasthop_wifi::multi_user::scheduler::SchedulerKind;
use lasthop_wifi::phy::{Dsss, ModeId, ModulationClass, Phy, PhyOptions};
use lasthop_wifi::{
    Access, AccessCategory, Aggregation, BssConfig, ChannelAccess, EdcaParameters, MuEdca, MultiUser, Protection,
    Security, TxopProtection,
};

use super::defaults::chosen;
use super::older;
use super::place::{error, path_of};
use crate::description::{AccessChoice, AggregationTable, Bss, Category, ChannelSection, Compat, Description, Edca};

/// A BSS with every choice made.
#[derive(Clone, Debug)]
pub(crate) struct BssSpec {
    /// its place in the file
    pub path: String,
    pub config: BssConfig,
    /// medium access of its stations
    pub stations: ChannelAccess,
    /// medium access of its AP
    pub ap: ChannelAccess,
    /// access categories with parameters in the file
    pub named_categories: Vec<AccessCategory>,
    /// lowest power at which its nodes detect a PPDU whose preamble they have missed
    pub mid_packet_detection: Option<Dbm>,
}

pub(super) fn bss_of(description: &Description) -> Result<Vec<BssSpec>, ParamError> {
    let all = &description.bss.0;
    if all.is_empty() {
        return error("bss", "a scenario needs [bss] with a standard, e.g. standard = \"802.11a\"");
    }
    check_names(all)?;
    let mut specs: Vec<BssSpec> = Vec::with_capacity(all.len());
    for (index, bss) in all.iter().enumerate() {
        let path = path_of(index, all.len());
        let phy = phy_of(bss, older::dsss_of(bss, older::stations_of(description, index)), &path)?;
        check(bss, &phy, &path)?;
        let channel = channel_of(&specs, &phy, &path)?;
        let (multi_user, scheduler) = multi_user_of(bss, &phy, &path)?.unzip();
        let config = BssConfig {
            ap: NodeId(index as u32),
            channel,
            aggregation: aggregation_of(bss, &phy, &path)?,
            asks_after_loss: bss.compat == Compat::Ns3,
            rts_threshold: bss.rts_threshold.as_option().copied(),
            txop_duration_rts_threshold: bss.txop_duration_rts_threshold.as_option().copied(),
            protection: *chosen(&bss.protection),
            txop_protection: bss.txop_protection,
            beacons: bss.beacons.as_option().copied(),
            security: security_of(bss),
            whole_frames: false,
            multi_user,
            scheduler: scheduler.unwrap_or_default(),
            asks_as_ns3: bss.compat == Compat::Ns3,
            mu_edca: mu_edca_of(bss, &path)?,
            phy: Arc::new(phy),
        };
        let stations = access_of(bss, &config.phy, bss.edca.as_ref(), (2, &format!("{path}.edca")))?;
        let ap = ap_access(bss, &config.phy, &path, stations)?;
        let is_named = |c: &AccessCategory| bss.edca.as_ref().is_some_and(|edca| edca.of(*c).is_some());
        let named_categories = AccessCategory::ALL.into_iter().filter(is_named).collect();
        let mid_packet_detection = mid_packet_detection(&description.channel, bss, &config.phy)?;
        specs.push(BssSpec { path, config, stations, ap, named_categories, mid_packet_detection });
    }
    check_common(all)?;
    Ok(specs)
}

/// The value of `[channel]`, or of the standard, where it has an effect. A station of ns-3.44 that was transmitting as
/// an OFDM PPDU began defers to the rest of it at -81.9 dBm and not at -82.1 dBm: from its CcaSensitivity on, which is
/// `cca_preamble` here (`benches/peers/ns3/missed_preamble.py`).
fn mid_packet_detection(channel: &ChannelSection, bss: &Bss, phy: &Phy) -> Result<Option<Dbm>, ParamError> {
    const PATH: &str = "channel.mid_packet_detection";
    let useful = |level: &Dbm| (channel.cca_preamble..channel.cca_energy).contains(level);
    let is_dsss = phy.modes().iter().all(|mode| mode.class == ModulationClass::Dsss);
    match &channel.mid_packet_detection {
        None if bss.compat == Compat::Ns3 => Ok(Some(channel.cca_preamble).filter(|level| !is_dsss && useful(level))),
        None => Ok(phy.mid_packet_level().filter(useful)),
        Some(Switch::Off) => Ok(None),
        Some(Switch::On(_)) if is_dsss => {
            let message = ("PPDUs of 802.11b have no guard intervals to detect", "remove this key");
            error(PATH, message)
        }
        Some(Switch::On(level)) if useful(level) => Ok(Some(*level)),
        Some(Switch::On(level)) => {
            let (least, most) = (channel.cca_preamble, channel.cca_energy);
            let why = format!("weaker PPDUs are not heard, and from {most} on energy is noticed anyway");
            error(PATH, (format!("{level} is not from {least} to below {most}: {why}"), "\"off\" is allowed too"))
        }
    }
}

/// The use of PPDUs of several users, where all that it needs is there.
fn multi_user_of(bss: &Bss, phy: &Phy, path: &str) -> Result<Option<(MultiUser, SchedulerKind)>, ParamError> {
    let Some(table) = bss.ap.multi_user.as_ref().and_then(|choice| choice.0.as_ref()) else { return Ok(None) };
    let refuse = |message: (String, &str)| error(format!("{path}.ap.multi_user"), message);
    if !phy.has_several_users() {
        let message = format!("{} has no PPDUs of several users", phy.standard().name());
        return refuse((message, "standard = \"802.11ax\", or remove this key"));
    }
    if matches!(bss.aggregation, Some(Switch::Off)) {
        return refuse(("their data are A-MPDUs, and aggregation is off".into(), "remove one of the two keys"));
    }
    if bss.ap.driver.as_ref().is_some_and(|driver| !driver.is_ideal()) {
        return refuse(("a driver prepares A-MPDUs for one station each".into(), "remove bss.ap.driver"));
    }
    if matches!(chosen(&bss.ap.queue), QueueDisciplineKind::Sfq(_) | QueueDisciplineKind::Foreign(_)) {
        let message =
            format!("queue = \"{}\" does not know for which stations packets wait", chosen(&bss.ap.queue).name());
        return refuse((message, "another queue, e.g. \"airtime_fq_codel\""));
    }
    if table.average.is_some() && !matches!(table.kind, SchedulerKind::ProportionalFair(_)) {
        let message = format!("kind = \"{}\" averages no throughputs", table.kind.name());
        let remedy = "kind = \"proportional_fair\", or remove this key";
        return error(format!("{path}.ap.multi_user.average"), (message, remedy));
    }
    Ok(Some((table.of_medium(bss.mu_edca.as_ref()), table.kind.clone())))
}

/// The parameters of MU EDCA, where triggers are sent.
fn mu_edca_of(bss: &Bss, path: &str) -> Result<Option<[Option<MuEdca>; 4]>, ParamError> {
    let Some(table) = &bss.mu_edca else { return Ok(None) };
    let asks = bss.ap.multi_user.as_ref().and_then(|choice| choice.0.as_ref()).is_some_and(|table| table.uplink);
    if !asks {
        let message =
            ("no trigger asks stations for data", "set bss.ap.multi_user with uplink = true, or remove this key");
        return error(format!("{path}.mu_edca"), message);
    }
    Ok(Some(table.of_medium()))
}

fn check_names(all: &[Bss]) -> Result<(), ParamError> {
    if all.len() == 1 {
        return Ok(());
    }
    for (index, bss) in all.iter().enumerate() {
        let path = format!("bss[{index}].name");
        let Some(name) = &bss.name else {
            return error(path, "several BSSs need a name each, so that stations can choose one");
        };
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') {
            return error(path, (format!("\"{name}\" cannot be a name"), "use letters, digits, - and _"));
        }
        if all[..index].iter().any(|other| other.name.as_ref() == Some(name)) {
            return error(path, format!("\"{name}\" is also the name of another BSS"));
        }
    }
    Ok(())
}

fn phy_of(bss: &Bss, dsss: Dsss, path: &str) -> Result<Phy, ParamError> {
    let Some(standard) = bss.standard else {
        let message = "which standard? e.g. standard = \"802.11g\" or \"802.11ax\"";
        return error(format!("{path}.standard"), message);
    };
    let options = PhyOptions {
        standard,
        channel: bss.channel,
        channel_width: bss.channel_width,
        spatial_streams: bss.spatial_streams,
        guard_interval: bss.guard_interval,
        preamble: bss.preamble,
        basic_rates: bss.basic_rates.clone(),
        rates: bss.rates.clone(),
        short_slot: bss.short_slot,
        dsss,
    };
    options.resolve(path)
}

fn check(bss: &Bss, phy: &Phy, path: &str) -> Result<(), ParamError> {
    let protectable = phy.allowed_modes().iter().any(|&m| phy.needs_protection(m));
    if *chosen(&bss.protection) != Protection::None && !protectable {
        let message = ("only OFDM frames of 802.11g and frames with an MCS are protected", "remove this key");
        return error(format!("{path}.protection"), message);
    }
    if bss.txop_protection != TxopProtection::Single && !phy.is_qos() {
        let message =
            (format!("{} has no access categories, and so no TXOPs", phy.standard().name()), "remove this key");
        return error(format!("{path}.txop_protection"), message);
    }
    if bss.l4s_category.is_some() && !phy.is_qos() {
        let message = (format!("{} has no access categories", phy.standard().name()), "remove this key");
        return error(format!("{path}.l4s_category"), message);
    }
    if let Some(interval) = bss.beacons.as_option()
        && interval.as_secs_f64() < 1e-3
    {
        return error(format!("{path}.beacons"), "beacons less than 1 ms apart leave no time for other frames");
    }
    if bss.countdown == lasthop_wifi::Countdown::Bianchi && phy.is_qos() {
        let message = ("under EDCA a busy slot always counts [802.11-2020 §10.23.2.4]", "remove this key");
        return error(format!("{path}.countdown"), message);
    }
    if bss.countdown == lasthop_wifi::Countdown::Bianchi && bss.eifs {
        let message = ("\"bianchi\" is the chain of the closed form, which has no EIFS", "set eifs = false as well");
        return error(format!("{path}.countdown"), message);
    }
    Ok(())
}

/// Settings of the air rather than of a BSS must be equal for all.
fn check_common(all: &[Bss]) -> Result<(), ParamError> {
    for (index, bss) in all.iter().enumerate().skip(1) {
        for (key, differs) in [
            ("eifs", bss.eifs != all[0].eifs),
            ("countdown", bss.countdown != all[0].countdown),
            ("compat", bss.compat != all[0].compat),
        ] {
            if differs {
                return error(
                    format!("bss[{index}].{key}"),
                    ("all BSSs of a scenario must have the same value", "bss[0] differs"),
                );
            }
        }
    }
    Ok(())
}

/// The number of a BSS's channel among those of the scenario: two BSSs have the same primary channel, whatever their widths, or
/// their bands are disjoint.
fn channel_of(others: &[BssSpec], phy: &Phy, path: &str) -> Result<u32, ParamError> {
    let (low, high) = phy.frequency_range_hz();
    let mut shared = None;
    for other in others {
        let (from, to) = other.config.phy.frequency_range_hz();
        if from >= high || low >= to {
            continue;
        }
        if (from, to) != (low, high) && other.config.phy.channel() != phy.channel() {
            let message = (
                format!(
                    "its band of {:.0} to {:.0} MHz overlaps that of {} in part, which has another primary channel",
                    low / 1e6,
                    high / 1e6,
                    other.path
                ),
                format!("choose channel = {}, or a separate channel", other.config.phy.channel()),
            );
            return error(format!("{path}.channel"), message);
        }
        if other.config.phy.slot() != phy.slot() {
            let message = (
                format!("stations of one channel count the same slots, and {} has others", other.path),
                "set short_slot, or another channel",
            );
            return error(format!("{path}.standard"), message);
        }
        shared.get_or_insert(other.config.channel);
    }
    Ok(shared.unwrap_or_else(|| others.iter().map(|o| o.config.channel + 1).max().unwrap_or(0)))
}

fn security_of(bss: &Bss) -> Security {
    bss.security.unwrap_or(Security::Open)
}

fn aggregation_of(bss: &Bss, phy: &Phy, path: &str) -> Result<Option<Aggregation>, ParamError> {
    let table = match &bss.aggregation {
        Some(Switch::Off) => return Ok(None),
        Some(Switch::On(_)) if !phy.is_qos() => {
            let message = (format!("{} has no aggregation", phy.standard().name()), "remove this key");
            return error(format!("{path}.aggregation"), message);
        }
        None if !phy.is_qos() => return Ok(None),
        None => &AggregationTable::default(),
        Some(Switch::On(table)) => table,
    };
    let limit = |key: &str, asked: u64, most: u64, unit: &str| -> Result<u64, ParamError> {
        if (1..=most).contains(&asked) {
            return Ok(asked);
        }
        let message = (format!("{asked}{unit}"), format!("{} has from 1 to {most}{unit}", phy.standard().name()));
        error(format!("{path}.aggregation.{key}"), message)
    };
    let window = u64::from(phy.block_ack_window());
    // The fastest mode has an MCS, even if the scenario does not allow it.
    let longest = phy.max_ppdu_duration(ModeId(phy.modes().len() as u16 - 1));
    let max_duration = table.max_duration.unwrap_or(longest);
    limit("max_duration", max_duration.as_nanos() / 1000, longest.as_nanos() / 1000, " us")?;
    let bytes = phy.max_ampdu_bytes().0;
    let max_amsdu = match table.amsdu {
        Switch::Off => None,
        Switch::On(asked) => {
            // An MPDU of an A-MPDU consists of a header, what protects it, the A-MSDU and the FCS.
            let around = 30 + security_of(bss).overhead().0;
            let most = phy.max_amsdu_bytes().0.min(phy.max_mpdu_bytes_in_ampdu().0 - around);
            Some(limit("amsdu", asked.0, most, " B")? as u32)
        }
    };
    Ok(Some(Aggregation {
        max_mpdus: limit("max_mpdus", table.max_mpdus.map_or(window, u64::from), window, " MPDUs")? as u32,
        max_bytes: limit("max_bytes", table.max_bytes.unwrap_or(Bytes(bytes)).0, bytes, " B")? as u32,
        max_duration,
        max_amsdu,
        min_start_spacing: spacing_of(table, path)?,
    }))
}

/// The minimum time between the starts of two MPDUs, as receivers request it. [802.11-2020 §9.4.2.55.3]
fn spacing_of(table: &AggregationTable, path: &str) -> Result<Duration, ParamError> {
    let allowed = [0, 250, 500, 1000, 2000, 4000, 8000, 16_000].map(Duration::from_nanos);
    if allowed.contains(&table.min_start_spacing) {
        return Ok(table.min_start_spacing);
    }
    let message = (format!("{}", table.min_start_spacing), "receivers ask for 0, 0.25, 0.5, 1, 2, 4, 8 or 16 us");
    error(format!("{path}.aggregation.min_start_spacing"), message)
}

/// Medium access of nodes of a BSS, with `edca` in place of the standard's defaults and AIFSN of at least `least`.
fn access_of(
    bss: &Bss,
    phy: &Phy,
    edca: Option<&Edca>,
    (least, path): (u8, &str),
) -> Result<ChannelAccess, ParamError> {
    if !phy.is_qos() {
        return match edca {
            Some(_) => error(path, (format!("{} has no access categories", phy.standard().name()), "remove this key")),
            None => Ok(ChannelAccess::Dcf(Access::Difs)),
        };
    }
    let mut all = [EdcaParameters::default_of(AccessCategory::Be, phy.cw_min(), phy.cw_max()); 4];
    for category in AccessCategory::ALL {
        let mut of = EdcaParameters::default_of(category, phy.cw_min(), phy.cw_max());
        if bss.compat == Compat::Ns3 && matches!(category, AccessCategory::Be | AccessCategory::Bk) {
            of.txop_limit = Duration::ZERO;
        }
        if let Some(own) = edca.and_then(|edca| edca.of(category)) {
            let place = format!("{path}.{}", category.word());
            replace(&mut of, own);
            if of.aifsn < least {
                let message = (
                    "a station waits at least 2 slots",
                    "1 is for an access point: ap.access = { kind = \"edca\", … }",
                );
                return error(format!("{place}.aifsn"), message);
            }
            if of.cw_min > of.cw_max {
                return error(format!("{place}.cw_min"), format!("{} is more than cw_max, {}", of.cw_min, of.cw_max));
            }
        }
        all[category.index()] = of;
    }
    Ok(ChannelAccess::Edca(all))
}

fn replace(of: &mut EdcaParameters, own: &Category) {
    of.aifsn = own.aifsn.unwrap_or(of.aifsn);
    of.cw_min = own.cw_min.unwrap_or(of.cw_min);
    of.cw_max = own.cw_max.unwrap_or(of.cw_max);
    of.txop_limit = own.txop_limit.unwrap_or(of.txop_limit);
}

fn ap_access(bss: &Bss, phy: &Phy, path: &str, stations: ChannelAccess) -> Result<ChannelAccess, ParamError> {
    match (&bss.ap.access, stations) {
        (AccessChoice::Space(Access::Difs), stations) => Ok(stations),
        (AccessChoice::Space(Access::Pifs), ChannelAccess::Dcf(_)) => Ok(ChannelAccess::Dcf(Access::Pifs)),
        // PIFS is AIFSN 1, which only an AP may have [802.11-2020 Table 9-155].
        (AccessChoice::Space(Access::Pifs), ChannelAccess::Edca(categories)) => {
            Ok(ChannelAccess::Edca(categories.map(|of| EdcaParameters { aifsn: 1, ..of })))
        }
        (AccessChoice::Edca(edca), _) => access_of(bss, phy, Some(edca), (1, &format!("{path}.ap.access"))),
    }
}
