//! The modes of a BSS, and the subsets for data frames, group frames and responses.

use lasthop_registry::{Fault, ParamError, Parameter, Shape, Value, wrong_type};
use lasthop_units::DataRate;

use super::mode::{Mode, ModeId, ModulationClass};
use super::standard::{Band, Choice, Table};

/// Rates that data frames may use.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Rates {
    /// all rates of the standard
    #[default]
    All,
    /// only these rates
    List(Vec<DataRate>),
}

impl Parameter for Rates {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["all".into()]), Vec::<DataRate>::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "all" => Ok(Rates::All),
            Value::List(_) => Vec::parse(value, path).map(Rates::List),
            _ => Err(ParamError::new(path, wrong_type("\"all\" or a list of rates", value))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            Rates::All => Some(Value::text("all")),
            Rates::List(rates) => rates.to_value(),
        }
    }
}

pub(super) fn ids(modes: &[Mode]) -> impl DoubleEndedIterator<Item = ModeId> + Clone {
    (0..modes.len() as u16).map(ModeId)
}

/// Every mode of the BSS, sorted by rate; among equal rates modes without an MCS come first, then those with fewer
/// streams.
pub(super) fn modes_of(table: &Table, plain: &[Mode], band: Band, choice: Option<Choice>) -> Vec<Mode> {
    let mut modes = plain.to_vec();
    let (Some(family), Some(choice)) = (table.family, choice) else { return modes };
    for mode in &mut modes {
        mode.antennas_per_stream = f64::from(choice.streams);
        if band == Band::Ghz2 && mode.class == ModulationClass::Ofdm {
            mode.class = ModulationClass::ErpOfdm;
        }
    }
    modes.extend(family.modes(choice));
    modes.sort_by_key(|m| (m.rate, m.mcs.is_some(), m.streams, m.mcs));
    modes
}

/// The modes of data frames if a scenario names none: those with an MCS, if there are any.
pub(super) fn data_modes(modes: &[Mode]) -> Vec<ModeId> {
    let has_mcs = |m: &ModeId| modes[m.index()].mcs.is_some();
    let with_mcs: Vec<ModeId> = ids(modes).filter(has_mcs).collect();
    if with_mcs.is_empty() { ids(modes).collect() } else { with_mcs }
}

pub(super) fn is_default_basic(table: &Table, mode: &Mode) -> bool {
    let is = |&rate: &u64| DataRate::from_100kbps(rate) == mode.rate;
    mode.mcs.is_none() && table.default_basic_100kbps.iter().any(is)
}

/// All modes of these rates, sorted by rate: those with an MCS if one has the rate.
pub(super) fn find_modes(
    table: &Table,
    modes: &[Mode],
    rates: &[DataRate],
    path: &str,
) -> Result<Vec<ModeId>, ParamError> {
    let of = |rate: DataRate, mcs: bool| {
        ids(modes).filter(move |m| modes[m.index()].mcs.is_some() == mcs && modes[m.index()].has_rate(rate))
    };
    let mut found = Vec::with_capacity(rates.len());
    for (i, &rate) in rates.iter().enumerate() {
        let fail = |fault: Fault| Err(ParamError::new(format!("{path}[{i}]"), fault));
        let these: Vec<ModeId> =
            if of(rate, true).next().is_some() { of(rate, true) } else { of(rate, false) }.collect();
        match these.first() {
            None => {
                let known = format!("it has {}", list_rates(modes.iter()));
                return fail((format!("{} has no rate of {rate}", table.name), known).into());
            }
            Some(first) if found.contains(first) => return fail(format!("{rate} is listed twice").into()),
            Some(_) => found.extend(these),
        }
    }
    if found.is_empty() {
        return Err(ParamError::new(path, "at least one rate is needed"));
    }
    found.sort();
    Ok(found)
}

/// The modes of these rates, sorted by rate: those without an MCS, since control responses and group frames have none.
/// [802.11-2020 §10.6.5.1]
pub(super) fn find_basic_modes(
    table: &Table,
    plain: &[Mode],
    modes: &[Mode],
    rates: &[DataRate],
    path: &str,
) -> Result<Vec<ModeId>, ParamError> {
    let found = find_modes(table, plain, rates, path)?;
    let place =
        |rate: DataRate| modes.iter().position(|m| m.mcs.is_none() && m.rate == rate).expect("a mode of the table");
    Ok(found.iter().map(|m| ModeId(place(plain[m.index()].rate) as u16)).collect())
}

/// A list such as `1, 2, 5.5, 11 Mbit/s`, each rate once, to 100 kbit/s
pub(crate) fn list_rates<'a>(modes: impl Iterator<Item = &'a Mode>) -> String {
    let mut tenths: Vec<u64> = modes.map(|m| (m.rate.as_bps() + 50_000) / 100_000).collect();
    tenths.dedup();
    let rates: Vec<String> = tenths.iter().map(|&t| (t as f64 / 10.0).to_string()).collect();
    format!("{} Mbit/s", rates.join(", "))
}

/// The mode of the response to a frame sent in `frame`: see [`Phy::control_response_mode`].
pub(super) fn control_response(modes: &[Mode], basic: &[ModeId], frame: ModeId) -> ModeId {
    let (class, rate) = (modes[frame.index()].class, modes[frame.index()].non_ht_reference_rate());
    // A frame with an MCS is answered by OFDM even if DSSS rates are the basic ones.
    let is_ofdm = |m: &Mode| matches!(m.class, ModulationClass::Ofdm | ModulationClass::ErpOfdm);
    let fits = |m: &Mode| m.class == class || (!class.is_non_ht() && is_ofdm(m));
    let not_above = ids(modes).rev().filter(|m| fits(&modes[m.index()]) && modes[m.index()].rate <= rate);
    let not_above = not_above.filter(|m| modes[m.index()].class.is_non_ht());
    let highest_basic = not_above.clone().find(|m| basic.contains(m));
    let highest_mandatory = || not_above.clone().find(|m| modes[m.index()].mandatory);
    highest_basic.or_else(highest_mandatory).expect("the lowest mode of a class is mandatory")
}

/// The mode that announces frames in need of protection: see [`Phy::protection_mode`].
pub(super) fn protection(modes: &[Mode], basic: &[ModeId]) -> ModeId {
    let dsss = |m: &ModeId| modes[m.index()].class == ModulationClass::Dsss;
    let has_dsss = ids(modes).any(|m| dsss(&m));
    let known = |m: &ModeId| if has_dsss { dsss(m) } else { modes[m.index()].class.is_non_ht() };
    let highest_basic = basic.iter().copied().rev().find(known);
    let highest_mandatory = || ids(modes).rev().find(|m| known(m) && modes[m.index()].mandatory);
    highest_basic.or_else(highest_mandatory).unwrap_or(basic[0])
}

#[cfg(test)]
mod tests {
    use super::super::{ChannelWidth, GuardInterval, Phy, PhyOptions, Standard};
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
    fn rates_of(phy: &Phy, modes: &[ModeId]) -> Vec<f64> {
        modes.iter().map(|&m| phy.mode(m).rate.as_mbps_f64()).collect()
    }
    fn response(phy: &Phy, rate: f64) -> f64 {
        let mode = phy.mode_of_rate(mbps(&[rate])[0]).unwrap();
        phy.mode(phy.control_response_mode(mode)).rate.as_mbps_f64()
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
    fn basic_rates_default_to_the_mandatory_ones_of_an_unmixed_bss() {
        for (name, expected) in
            [("802.11b", &[1.0, 2.0, 5.5, 11.0][..]), ("802.11a", &[6.0, 12.0, 24.0]), ("802.11g", &[6.0, 12.0, 24.0])]
        {
            let phy = options(name).resolve("bss").unwrap();
            assert_eq!(rates_of(&phy, phy.basic_modes()), expected, "{name}");
        }
    }

    #[test]
    fn all_rates_of_11g_are_twelve_sorted_by_rate() {
        let phy = options("802.11g").resolve("bss").unwrap();
        let expected = [1.0, 2.0, 5.5, 6.0, 9.0, 11.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];
        assert_eq!(rates_of(&phy, phy.allowed_modes()), expected);
    }

    #[test]
    fn a_response_takes_the_highest_basic_rate_not_above_the_data_rate() {
        let b = basic("802.11b", &[1.0, 2.0]);
        assert_eq!([1.0, 2.0, 5.5, 11.0].map(|r| response(&b, r)), [1.0, 2.0, 2.0, 2.0]);
        let a = options("802.11a").resolve("bss").unwrap();
        assert_eq!(
            [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0].map(|r| response(&a, r)),
            [6.0, 6.0, 12.0, 12.0, 24.0, 24.0, 24.0, 24.0]
        );
    }

    #[test]
    fn a_response_keeps_the_modulation_class_and_falls_back_on_mandatory_rates() {
        // 9 Mbit/s lies between basic DSSS rates, and yet is answered by OFDM.
        let g = basic("802.11g", &[1.0, 2.0, 5.5, 11.0]);
        assert_eq!([9.0, 11.0, 12.0, 54.0].map(|r| response(&g, r)), [6.0, 11.0, 12.0, 24.0]);
        let pure = options("802.11g").resolve("bss").unwrap();
        assert_eq!([5.5, 11.0].map(|r| response(&pure, r)), [5.5, 11.0]);
        // The basic rate lies above the data rate.
        let b = basic("802.11b", &[11.0]);
        assert_eq!([1.0, 5.5, 11.0].map(|r| response(&b, r)), [1.0, 5.5, 11.0]);
    }

    #[test]
    fn protection_is_sent_at_a_rate_that_older_stations_know() {
        let rate = |phy: &Phy| phy.mode(phy.protection_mode()).rate.as_mbps_f64();
        let pure = options("802.11g").resolve("bss").unwrap();
        assert_eq!((rate(&basic("802.11g", &[1.0, 2.0, 6.0])), rate(&pure)), (2.0, 11.0));
        let needing: Vec<bool> = (0..12).map(|i| pure.needs_protection(ModeId(i))).collect();
        assert_eq!(needing.iter().position(|n| *n), pure.mode_of_rate(mbps(&[6.0])[0]).map(ModeId::index));
        let a = options("802.11a").resolve("bss").unwrap();
        assert!((0..8).all(|i| !a.needs_protection(ModeId(i))));
    }

    #[test]
    fn rates_read_as_a_word_or_a_list() {
        assert_eq!(Rates::parse(&Value::text("all"), "r"), Ok(Rates::All));
        let list = Value::List(vec![Value::text("6 Mbit/s")]);
        assert_eq!(Rates::parse(&list, "r"), Ok(Rates::List(mbps(&[6.0]))));
        assert!(Rates::parse(&Value::text("some"), "bss.rates").is_err());
    }

    #[test]
    fn modes_are_sorted_by_rate_and_data_has_an_mcs() {
        for options in [
            wide("802.11n", ChannelWidth::Mhz40, 4, GuardInterval::Short),
            wide("802.11ac", ChannelWidth::Mhz160, 8, GuardInterval::Short),
            wide("802.11ax", ChannelWidth::Mhz80, 2, GuardInterval::Us1_6),
        ] {
            let phy = options.resolve("bss").unwrap();
            assert!(phy.modes().is_sorted_by_key(|m| m.rate) && phy.allowed_modes().is_sorted());
            assert!(phy.allowed_modes().iter().all(|&m| phy.mode(m).mcs.is_some()));
            assert_eq!(phy.modes().len(), phy.allowed_modes().len() + 8);
            assert_eq!(rates_of(&phy, phy.basic_modes()), [6.0, 12.0, 24.0]);
            assert!(phy.modes().iter().filter(|m| m.mcs.is_none()).all(|m| m.bandwidth_hz == 20e6));
        }
    }

    #[test]
    fn an_mcs_is_answered_at_its_non_ht_reference_rate_or_below() {
        let n = wide("802.11n", ChannelWidth::Mhz40, 2, GuardInterval::Short);
        let all = PhyOptions { basic_rates: Some(mbps(&[6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0])), ..n.clone() };
        let answers = |options: &PhyOptions| {
            let phy = options.resolve("bss").unwrap();
            let mode = |mcs| phy.control_response_mode(phy.mode_of_mcs(mcs).unwrap());
            (0..16).map(|mcs| phy.mode(mode(mcs)).rate.as_mbps_f64()).collect::<Vec<_>>()
        };
        let reference = [6.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0, 54.0];
        assert_eq!(answers(&all), [reference, reference].concat());
        let highest_basic = [6.0, 12.0, 12.0, 24.0, 24.0, 24.0, 24.0, 24.0];
        assert_eq!(answers(&n), [highest_basic, highest_basic].concat());
        // No basic rate is as low: the highest mandatory rate not above the reference rate.
        assert_eq!(answers(&PhyOptions { basic_rates: Some(mbps(&[54.0])), ..n })[..4], [6.0, 12.0, 12.0, 24.0]);
    }

    #[test]
    fn an_mcs_counts_over_streams_in_11n_and_for_the_most_streams_later() {
        let mode = |phy: &Phy, mcs| phy.mode(phy.mode_of_mcs(mcs).unwrap()).clone();
        let n = wide("802.11n", ChannelWidth::Mhz40, 2, GuardInterval::Short).resolve("bss").unwrap();
        assert_eq!((mode(&n, 15).streams, mode(&n, 15).mcs, mode(&n, 15).rate), (2, Some(7), mbps(&[300.0])[0]));
        assert_eq!((mode(&n, 7).streams, mode(&n, 7).rate), (1, mbps(&[150.0])[0]));
        let ac = wide("802.11ac", ChannelWidth::Mhz80, 3, GuardInterval::Short).resolve("bss").unwrap();
        assert_eq!((mode(&ac, 0).streams, mode(&ac, 9).rate), (3, mbps(&[1300.0])[0]));
        assert_eq!(
            ac.mode_of_mcs(6).unwrap_err().sentence(),
            "802.11ac has no MCS 6 at 80 MHz with 3 spatial streams; it has 0, 1, 2, 3, 4, 5, 7, 8, 9"
        );
        let b = options("802.11b").resolve("bss").unwrap();
        assert_eq!(
            b.mode_of_mcs(1).unwrap_err().sentence(),
            "802.11b has no MCS; write rate = \"…\" with one of 1, 2, 5.5, 11 Mbit/s"
        );
    }

    #[test]
    fn a_rate_names_every_mode_that_has_it_rounded_as_in_the_tables() {
        let listed = |options: PhyOptions, rates: &[f64]| {
            let phy = PhyOptions { rates: Rates::List(mbps(rates)), ..options }.resolve("bss").unwrap();
            phy.allowed_modes().iter().map(|&m| (phy.mode(m).mcs_index(), phy.mode(m).streams)).collect::<Vec<_>>()
        };
        let n = wide("802.11n", ChannelWidth::Mhz20, 2, GuardInterval::Long);
        // 13 Mbit/s: QPSK 1/2 on one stream, BPSK 1/2 on two; 6 Mbit/s has no MCS.
        assert_eq!(listed(n, &[13.0, 6.0]), [(None, 1), (Some(1), 1), (Some(8), 2)]);
        let ax = wide("802.11ax", ChannelWidth::Mhz80, 2, GuardInterval::Us0_8);
        assert_eq!(listed(ax.clone(), &[1201.0]), [(Some(11), 2)]);
        let phy = ax.resolve("bss").unwrap();
        assert_eq!(phy.mode_of_rate(mbps(&[1201.0])[0]), phy.mode_of_mcs(11).ok());
    }
}
