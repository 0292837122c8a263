//! PHY settings of a scenario for a BSS, and their resolution to a [`Phy`].

use lasthop_registry::{ParamError, refuse};
use lasthop_units::{DataRate, Duration};

use super::Phy;
use super::air_time::AirTime;
use super::mode::{Mode, ModeId, ModulationClass};
use super::preamble::Preamble;
use super::rates::{
    Rates, control_response, data_modes, find_basic_modes, find_modes, ids, is_default_basic, modes_of, protection,
};
use super::standard::{Band, ChannelWidth, Choice, GuardInterval, SlotTime, Standard, Table, dsss_modes};

/// aSlotTime with stations that know DSSS rates only, and without such stations. [802.11-2020 Table 18-5]
const ERP_SLOT: SlotTime = SlotTime::Choice { long: Duration::from_micros(20), short: Duration::from_micros(9) };

/// PHY settings of a scenario for a BSS; `None` stands for the standard's default.
#[derive(Clone, Debug, PartialEq)]
pub struct PhyOptions {
    /// The standard.
    pub standard: Standard,
    /// Channel number, of the primary channel if several are bonded.
    pub channel: Option<u8>,
    /// Width of the channel; default: 20 MHz.
    pub channel_width: Option<ChannelWidth>,
    /// The most spatial streams of a data frame, and the antennas of every station; default: one.
    pub spatial_streams: Option<u8>,
    /// The shortest guard interval of data frames.
    pub guard_interval: Option<GuardInterval>,
    /// Preamble of DSSS frames; default: long.
    pub preamble: Option<Preamble>,
    /// Rates that every station of the BSS must have, used for control responses and group frames.
    pub basic_rates: Option<Vec<DataRate>>,
    /// Rates for data frames. Control responses use the basic rates whether or not these are among the rates for data.
    pub rates: Rates,
    /// Slots of 9 us instead of 20 us, if the standard allows both.
    pub short_slot: Option<bool>,
    /// DSSS rates of a BSS in the 2.4 GHz band whose standard has MCSs.
    pub dsss: Dsss,
}

/// DSSS rates in addition to modes with an MCS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dsss {
    /// no station uses them
    #[default]
    Absent,
    /// stations of 802.11g have them
    Known,
    /// stations of 802.11b have no others
    Served,
}

impl PhyOptions {
    /// Options with `standard` and defaults for the rest.
    pub fn new(standard: Standard) -> Self {
        PhyOptions {
            standard,
            channel: None,
            channel_width: None,
            spatial_streams: None,
            guard_interval: None,
            preamble: None,
            basic_rates: None,
            rates: Rates::All,
            short_slot: None,
            dsss: Dsss::Absent,
        }
    }

    /// The PHY for these options; `path` is the place of the BSS in the scenario, e.g. `bss`.
    ///
    /// # Errors
    /// A rate or channel that the standard lacks, or a choice that it does not allow.
    pub fn resolve(&self, path: &str) -> Result<Phy, ParamError> {
        let table = self.standard.table();
        let (channel, band) = self.resolve_channel(path)?;
        let choice = self.resolve_choice(path)?;
        let plain = self.modes_without_mcs();
        let has_dsss = plain.iter().any(|m| m.class == ModulationClass::Dsss);
        let preamble = self.resolve_preamble(has_dsss, path)?;
        let width_mhz = choice.map_or(20, |c| c.width.mhz());
        let centre = band.bonded(channel, width_mhz).ok_or_else(|| no_room(table, channel, width_mhz, path))?;
        let modes = modes_of(table, &plain, band, choice);
        let allowed = match &self.rates {
            Rates::All => data_modes(&modes),
            Rates::List(rates) => find_modes(table, &modes, rates, &format!("{path}.rates"))?,
        };
        let basic = match &self.basic_rates {
            Some(rates) => find_basic_modes(table, &plain, &modes, rates, &format!("{path}.basic_rates"))?,
            None => ids(&modes).filter(|m| self.is_default_basic(&modes[m.index()])).collect(),
        };
        let is_dsss = |m: &ModeId| modes[m.index()].class == ModulationClass::Dsss;
        let serves_dsss = basic.iter().any(is_dsss) || allowed.iter().all(is_dsss);
        self.check_basic(&basic, &modes, path)?;
        let mut phy = Phy {
            standard: self.standard,
            frequency_hz: band.frequency_hz(centre),
            bandwidth_hz: choice.map_or(modes[0].bandwidth_hz, |c| c.width.hz()),
            choice,
            limits: table.family.map(|family| (family.limits)(band)),
            channel,
            slot: self.resolve_slot((has_dsss, serves_dsss), path)?,
            sifs: band.sifs(),
            cw_min: if serves_dsss { table.cw_min_dsss } else { table.cw_min },
            cw_max: table.cw_max,
            responses: ids(&modes).map(|m| control_response(&modes, &basic, m)).collect(),
            protection: protection(&modes, &basic),
            air_times: modes.iter().map(|m| AirTime::of(m, preamble, band)).collect(),
            answers: Vec::new(),
            modes,
            allowed,
            basic,
        };
        phy.answers = ids(&phy.modes).map(|m| phy.reckon_answers(m)).collect();
        Ok(phy)
    }

    fn resolve_channel(&self, path: &str) -> Result<(u8, Band), ParamError> {
        let table = self.standard.table();
        let channel = self.channel.unwrap_or(table.default_channel);
        table.band_of(channel).map(|band| (channel, band)).ok_or_else(|| {
            let numbers = table.channels.iter().flat_map(|(_, numbers)| numbers.iter());
            let known: Vec<String> = numbers.map(u8::to_string).collect();
            let message = (format!("{} has no channel {channel}", table.name), format!("it has {}", known.join(", ")));
            ParamError::new(format!("{path}.channel"), message)
        })
    }

    /// Width, streams and guard interval; `None` if the standard has no choice of them.
    fn resolve_choice(&self, path: &str) -> Result<Option<Choice>, ParamError> {
        let table = self.standard.table();
        let name = table.name;
        let width = self.channel_width.unwrap_or(ChannelWidth::Mhz20);
        let Some(family) = table.family else {
            if width != ChannelWidth::Mhz20 {
                return refuse(
                    path,
                    "channel_width",
                    format!("{name} has channels of 20 MHz only, not of {}", width.word()),
                );
            }
            if self.spatial_streams.is_some() {
                return refuse(path, "spatial_streams", (format!("{name} has one stream only"), "remove this key"));
            }
            if self.guard_interval.is_some() {
                return refuse(
                    path,
                    "guard_interval",
                    (format!("{name} has one guard interval only"), "remove this key"),
                );
            }
            return Ok(None);
        };
        if !family.widths.contains(&width) {
            let known: Vec<&str> = family.widths.iter().map(|w| w.word()).collect();
            return refuse(
                path,
                "channel_width",
                (format!("{name} has no channels of {}", width.word()), format!("it has {}", known.join(", "))),
            );
        }
        let streams = self.spatial_streams.unwrap_or(1);
        if !(1..=family.max_streams).contains(&streams) {
            return refuse(
                path,
                "spatial_streams",
                format!("{name} has 1 to {} streams, not {streams}", family.max_streams),
            );
        }
        let guard_interval = self.guard_interval.unwrap_or(family.default_guard_interval);
        if !family.guard_intervals.contains(&guard_interval) {
            let known: Vec<String> = family.guard_intervals.iter().map(|g| format!("\"{}\"", g.word())).collect();
            let message = (
                format!("{name} has no guard interval \"{}\"", guard_interval.word()),
                format!("it has {}", known.join(", ")),
            );
            return refuse(path, "guard_interval", message);
        }
        Ok(Some(Choice { width, streams, guard_interval }))
    }

    /// The modes without an MCS, sorted by rate.
    fn modes_without_mcs(&self) -> Vec<Mode> {
        let mut modes = self.standard.table().modes.to_vec();
        if self.dsss != Dsss::Absent && self.standard.has_mcs() {
            modes.extend(dsss_modes(20e6));
            modes.sort_by_key(|mode| mode.rate);
        }
        modes
    }

    /// Returns whether a mode is basic by default: the mandatory ones that all stations of the BSS have.
    fn is_default_basic(&self, mode: &Mode) -> bool {
        match self.dsss {
            Dsss::Served => mode.class == ModulationClass::Dsss,
            Dsss::Known | Dsss::Absent => is_default_basic(self.standard.table(), mode),
        }
    }

    /// Every station has every basic rate. [802.11-2020 §11.1.4.6]
    fn check_basic(&self, basic: &[ModeId], modes: &[Mode], path: &str) -> Result<(), ParamError> {
        let foreign = basic.iter().map(|m| &modes[m.index()]).find(|mode| mode.class != ModulationClass::Dsss);
        match foreign.filter(|_| self.dsss == Dsss::Served) {
            Some(mode) => {
                let message = format!("stations of 802.11b lack the basic rate of {}", mode.rate);
                refuse(path, "basic_rates", (message, "1, 2, 5.5 and 11 Mbit/s, or some of these"))
            }
            None => Ok(()),
        }
    }

    fn resolve_preamble(&self, has_dsss: bool, path: &str) -> Result<Preamble, ParamError> {
        let table = self.standard.table();
        if self.preamble.is_some() && !has_dsss {
            let message = (format!("{} has one preamble only", table.name), "remove this key");
            return Err(ParamError::new(format!("{path}.preamble"), message));
        }
        Ok(self.preamble.unwrap_or(Preamble::Long))
    }

    fn resolve_slot(&self, (has_dsss, serves_dsss): (bool, bool), path: &str) -> Result<Duration, ParamError> {
        let table = self.standard.table();
        let slot = if has_dsss && self.standard.has_mcs() { ERP_SLOT } else { table.slot };
        match (slot, self.short_slot) {
            (SlotTime::Fixed(slot), None) => Ok(slot),
            (SlotTime::Fixed(slot), Some(_)) => {
                let message = (format!("every slot of {} lasts {slot}", table.name), "remove this key");
                Err(ParamError::new(format!("{path}.short_slot"), message))
            }
            (SlotTime::Choice { long, short }, choice) => Ok(if choice.unwrap_or(!serves_dsss) { short } else { long }),
        }
    }
}

fn no_room(table: &Table, channel: u8, width_mhz: u8, path: &str) -> ParamError {
    let room = |(band, numbers): &(Band, &'static [u8])| {
        numbers.iter().filter(|n| band.bonded(**n, width_mhz).is_some()).map(u8::to_string).collect::<Vec<_>>()
    };
    let known: Vec<String> = table.channels.iter().flat_map(room).collect();
    let message = (
        format!("no channel of {width_mhz} MHz holds channel {channel}"),
        format!("one does with {}", known.join(", ")),
    );
    ParamError::new(format!("{path}.channel"), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(name: &str) -> PhyOptions {
        PhyOptions::new(Standard::named(name).unwrap())
    }
    fn mbps(rates: &[f64]) -> Vec<DataRate> {
        rates.iter().map(|r| DataRate::from_bps((r * 1e6) as u64)).collect()
    }
    fn basic(name: &str, rates: &[f64]) -> Phy {
        PhyOptions { basic_rates: Some(mbps(rates)), ..options(name) }.resolve("bss").unwrap()
    }
    fn complaint(options: &PhyOptions) -> String {
        options.resolve("bss").unwrap_err().to_string()
    }

    fn wide(name: &str, width: ChannelWidth, streams: u8, guard_interval: GuardInterval) -> PhyOptions {
        PhyOptions {
            channel_width: Some(width),
            spatial_streams: Some(streams),
            guard_interval: Some(guard_interval),
            ..options(name)
        }
    }

    #[test]
    fn pure_g_has_short_slots_and_dsss_basic_rates_take_them_away() {
        let pure = options("802.11g").resolve("bss").unwrap();
        assert_eq!(
            (pure.slot(), pure.cw_min(), pure.difs()),
            (Duration::from_micros(9), 15, Duration::from_micros(28))
        );
        let mixed = basic("802.11g", &[1.0, 2.0, 6.0]);
        assert_eq!(
            (mixed.slot(), mixed.cw_min(), mixed.difs()),
            (Duration::from_micros(20), 31, Duration::from_micros(50))
        );
        let forced = PhyOptions { basic_rates: Some(mbps(&[1.0])), short_slot: Some(true), ..options("802.11g") };
        let forced = forced.resolve("bss").unwrap();
        assert_eq!((forced.slot(), forced.cw_min()), (Duration::from_micros(9), 31));
        let dsss_alone = PhyOptions { rates: Rates::List(mbps(&[1.0, 11.0])), ..options("802.11g") };
        assert_eq!(dsss_alone.resolve("bss").unwrap().cw_min(), 31);
    }

    #[test]
    fn contention_windows_are_maxima() {
        let of = |name| options(name).resolve("bss").map(|p| (p.cw_min(), p.cw_max())).unwrap();
        assert_eq!((of("802.11b"), of("802.11a"), of("802.11g")), ((31, 1023), (15, 1023), (15, 1023)));
    }

    #[test]
    fn impossible_options_are_errors_with_path_and_remedy() {
        let rates = PhyOptions { basic_rates: Some(mbps(&[1.0, 54.0])), ..options("802.11b") };
        assert_eq!(
            complaint(&rates),
            "bss.basic_rates[1]: 802.11b has no rate of 54 Mbit/s; it has 1, 2, 5.5, 11 Mbit/s"
        );
        let twice = PhyOptions { rates: Rates::List(mbps(&[1.0, 1.0])), ..options("802.11b") };
        assert_eq!(complaint(&twice), "bss.rates[1]: 1 Mbit/s is listed twice");
        let none = PhyOptions { rates: Rates::List(vec![]), ..options("802.11b") };
        assert_eq!(complaint(&none), "bss.rates: at least one rate is needed");
        let channel = PhyOptions { channel: Some(36), ..options("802.11g") };
        assert_eq!(
            complaint(&channel),
            "bss.channel: 802.11g has no channel 36; it has 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13"
        );
        let preamble = PhyOptions { preamble: Some(Preamble::Short), ..options("802.11a") };
        assert_eq!(complaint(&preamble), "bss.preamble: 802.11a has one preamble only; remove this key");
        let slot = PhyOptions { short_slot: Some(true), ..options("802.11b") };
        assert_eq!(complaint(&slot), "bss.short_slot: every slot of 802.11b lasts 20 us; remove this key");
    }

    #[test]
    fn default_options_are_narrow_with_one_stream() {
        let of = |name: &str| {
            let phy = options(name).resolve("bss").unwrap();
            (phy.channel(), phy.bandwidth_hz(), phy.spatial_streams(), phy.guard_interval(), phy.allowed_modes().len())
        };
        assert_eq!(of("802.11n"), (36, 20e6, 1, Some(GuardInterval::Long), 8));
        assert_eq!(of("802.11ac"), (36, 20e6, 1, Some(GuardInterval::Long), 9));
        assert_eq!(of("802.11ax"), (36, 20e6, 1, Some(GuardInterval::Us0_8), 12));
        assert_eq!(of("802.11a"), (36, 20e6, 1, None, 8));
    }

    #[test]
    fn bonded_channels_occupy_the_block_of_their_primary_channel() {
        let range = |name, channel, width| {
            let options = PhyOptions { channel: Some(channel), channel_width: Some(width), ..options(name) };
            let (low, high) = options.resolve("bss").unwrap().frequency_range_hz();
            (low / 1e6, high / 1e6)
        };
        assert_eq!(range("802.11n", 36, ChannelWidth::Mhz40), (5170.0, 5210.0));
        assert_eq!(range("802.11n", 40, ChannelWidth::Mhz40), (5170.0, 5210.0));
        assert_eq!(range("802.11ac", 149, ChannelWidth::Mhz80), (5735.0, 5815.0));
        assert_eq!(range("802.11ax", 100, ChannelWidth::Mhz160), (5490.0, 5650.0));
        assert_eq!(range("802.11n", 6, ChannelWidth::Mhz20), (2427.0, 2447.0));
        assert_eq!(range("802.11n", 6, ChannelWidth::Mhz40), (2427.0, 2467.0));
        assert_eq!(range("802.11ax", 11, ChannelWidth::Mhz40), (2432.0, 2472.0));
    }

    #[test]
    fn error_for_a_missing_option_lists_the_standards_options() {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        use GuardInterval::{Long, Short, Us0_8};
        for (options, expected) in [
            (
                wide("802.11n", Mhz80, 1, Long),
                "bss.channel_width: 802.11n has no channels of 80 MHz; it has 20 MHz, 40 MHz",
            ),
            (wide("802.11n", Mhz20, 5, Long), "bss.spatial_streams: 802.11n has 1 to 4 streams, not 5"),
            (wide("802.11ac", Mhz20, 0, Long), "bss.spatial_streams: 802.11ac has 1 to 8 streams, not 0"),
            (
                wide("802.11n", Mhz20, 1, Us0_8),
                "bss.guard_interval: 802.11n has no guard interval \"0.8 us\"; it has \"long\", \"short\"",
            ),
            (
                wide("802.11ax", Mhz20, 1, Short),
                "bss.guard_interval: 802.11ax has no guard interval \"short\"; it has \"0.8 us\", \"1.6 us\", \"3.2 us\"",
            ),
            (
                PhyOptions { channel_width: Some(Mhz40), ..options("802.11a") },
                "bss.channel_width: 802.11a has channels of 20 MHz only, not of 40 MHz",
            ),
            (
                PhyOptions { spatial_streams: Some(1), ..options("802.11g") },
                "bss.spatial_streams: 802.11g has one stream only; remove this key",
            ),
            (
                PhyOptions { guard_interval: Some(Long), ..options("802.11b") },
                "bss.guard_interval: 802.11b has one guard interval only; remove this key",
            ),
            (
                PhyOptions { channel: Some(1), ..options("802.11ac") },
                "bss.channel: 802.11ac has no channel 1; it has 36, 40, 44, 48, 52, 56, 60, 64, 100, 104, 108, 112, \
                 116, 120, 124, 128, 132, 136, 140, 144, 149, 153, 157, 161, 165, 169, 173, 177",
            ),
            (
                PhyOptions { channel: Some(140), ..wide("802.11ac", Mhz160, 1, Long) },
                "bss.channel: no channel of 160 MHz holds channel 140; one does with 36, 40, 44, 48, 52, 56, 60, 64, \
                 100, 104, 108, 112, 116, 120, 124, 128, 149, 153, 157, 161, 165, 169, 173, 177",
            ),
            (
                PhyOptions { basic_rates: Some(mbps(&[65.0])), ..options("802.11n") },
                "bss.basic_rates[0]: 802.11n has no rate of 65 Mbit/s; it has 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s",
            ),
        ] {
            assert_eq!(complaint(&options), expected);
        }
    }
}
