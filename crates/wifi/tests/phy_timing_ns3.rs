//! PPDU durations of 802.11n, 802.11ac and 802.11ax against ns-3.44, row by row of `data/ns3_tx_duration.csv`.
//!
//! The table was printed by `WifiPhy::CalculateTxDuration` (5 GHz; `WIFI_PREAMBLE_HT_MF`, `WIFI_PREAMBLE_VHT_SU`,
//! `WIFI_PREAMBLE_HE_SU`). ns-3 departs from the standard in four ways, which are corrected here: it does not fill up a
//! data field with the short guard interval to whole 4 us; it omits VHT-SIG-B from PPDUs for one user; an HE-LTF lasts
//! 8 us whatever the guard interval; HE has the tail bits of the convolutional code.

use lasthop_units::Bytes;
use lasthop_wifi::phy::{ChannelWidth, GuardInterval, Mode, ModulationClass, Phy, PhyOptions, Standard};

struct Row<'a> {
    standard: &'a str,
    width: ChannelWidth,
    streams: u8,
    guard_interval: GuardInterval,
    mcs: u8,
    psdu: u64,
    duration_ns: u64,
}

fn read(line: &str) -> Row<'_> {
    let mut fields = line.split(',');
    let standard = fields.next().unwrap();
    let numbers: Vec<u64> = fields.map(|f| f.parse().unwrap()).collect();
    let [width, streams, guard_ns, mcs, psdu, duration_ns] = numbers[..] else { panic!("{line}") };
    use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
    let guard_interval = match (guard_ns, standard) {
        (800, "802.11ax") => GuardInterval::Us0_8,
        (1600, _) => GuardInterval::Us1_6,
        (3200, _) => GuardInterval::Us3_2,
        (800, _) => GuardInterval::Long,
        _ => GuardInterval::Short,
    };
    let width = *[Mhz20, Mhz40, Mhz80, Mhz160].iter().find(|w| u64::from(w.mhz()) == width).unwrap();
    Row { standard, width, streams: streams as u8, guard_interval, mcs: mcs as u8, psdu, duration_ns }
}

fn phy(row: &Row) -> Phy {
    let options = PhyOptions {
        channel_width: Some(row.width),
        spatial_streams: Some(row.streams),
        guard_interval: Some(row.guard_interval),
        ..PhyOptions::new(Standard::named(row.standard).unwrap())
    };
    options.resolve("bss").unwrap()
}

/// The row's duration with the preamble of the standard, and the length of a symbol.
fn preamble_mended(row: &Row, mode: &Mode) -> u64 {
    let ltfs = [1, 2, 4, 4, 6, 6, 8, 8][usize::from(row.streams) - 1];
    match (mode.class, row.guard_interval) {
        (ModulationClass::Ht, _) => row.duration_ns,
        (ModulationClass::Vht, _) => row.duration_ns + 4000,
        (_, GuardInterval::Us0_8) => row.duration_ns - 800 * ltfs,
        (_, GuardInterval::Us3_2) => row.duration_ns + 8000 * ltfs,
        _ => row.duration_ns,
    }
}

#[test]
fn every_duration_is_that_of_ns3_but_for_its_four_departures() {
    let lines: Vec<&str> = include_str!("data/ns3_tx_duration.csv").lines().skip(1).collect();
    assert_eq!(lines.len(), 1328);
    let (mut missing, mut other_symbols) = (Vec::new(), 0);
    for line in lines {
        let row = read(line);
        let phy = phy(&row);
        let Ok(id) = phy.mode_of_mcs(row.mcs) else {
            missing.push((row.width, row.streams, row.mcs));
            continue;
        };
        let (mode, found) = (phy.mode(id), phy.ppdu_duration(id, Bytes(row.psdu)).as_nanos());
        let expected = preamble_mended(&row, mode);
        match mode.class {
            // The part before the data field lasts whole 4 us.
            ModulationClass::Ht | ModulationClass::Vht => assert_eq!(found, expected.next_multiple_of(4000), "{line}"),
            // Six bits fewer, or an LDPC segment more, make a symbol of difference if they fall on its edge.
            _ if found != expected => {
                assert_eq!(found.abs_diff(expected), 12_800 + mode.guard_interval.as_nanos(), "{line}");
                other_symbols += 1;
            }
            _ => {}
        }
    }
    // Modes that the standard excludes and ns-3 does not, with either guard interval.
    let excluded = [(ChannelWidth::Mhz80, 6, 9), (ChannelWidth::Mhz80, 7, 6), (ChannelWidth::Mhz160, 3, 9)];
    assert_eq!(missing, excluded.map(|e| [e, (e.0, e.1, e.2)]).concat());
    assert!(other_symbols <= 12, "{other_symbols} of 576");
}
