//! PPDU durations of every mode of 802.11n, 802.11ac and 802.11ax against `lasthop-theory`, an independent
//! implementation of the formulas, and the resulting throughput of a single station.

use lasthop_theory::ampdu::{Format, Overhead, Ppdu, ampdu_bytes, saturated_bps};
use lasthop_units::{Bytes, Duration};
use lasthop_wifi::phy::frame_size::{ampdu_subframe, padded, qos_data_mpdu};
use lasthop_wifi::phy::{
    ChannelWidth, Coding, GuardInterval, Mode, Modulation, ModulationClass, Phy, PhyOptions, Standard,
};

fn phy(standard: &str, width: ChannelWidth, streams: u8, guard_interval: GuardInterval) -> Phy {
    let options = PhyOptions {
        channel_width: Some(width),
        spatial_streams: Some(streams),
        guard_interval: Some(guard_interval),
        ..PhyOptions::new(Standard::named(standard).unwrap())
    };
    options.resolve("bss").unwrap()
}

/// Every PHY with all its streams, at each width and guard interval.
fn all() -> Vec<Phy> {
    use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
    let widths = [Mhz20, Mhz40, Mhz80, Mhz160];
    let n = widths[..2].iter().map(|&w| phy("802.11n", w, 4, GuardInterval::Short));
    let ac = widths.iter().map(|&w| phy("802.11ac", w, 8, GuardInterval::Short));
    let guards = [GuardInterval::Us0_8, GuardInterval::Us1_6, GuardInterval::Us3_2];
    let ax = widths.iter().flat_map(|&w| guards.map(|g| phy("802.11ax", w, 8, g)));
    n.chain(ac).chain(ax).collect()
}

fn formula(phy: &Phy, mode: &Mode) -> Ppdu {
    let (format, subcarriers) = match mode.class {
        ModulationClass::Ht => (Format::HtMixed, [52, 108, 234, 468]),
        ModulationClass::Vht => (Format::Vht, [52, 108, 234, 468]),
        _ => (Format::HeSu, [234, 468, 980, 1960]),
    };
    let coded_bits = match mode.modulation {
        Modulation::Bpsk => 1,
        Modulation::Qpsk => 2,
        Modulation::Qam16 => 4,
        Modulation::Qam64 => 6,
        Modulation::Qam256 => 8,
        _ => 10,
    };
    let (numerator, denominator) = mode.code_rate.fraction();
    Ppdu {
        format,
        subcarriers: subcarriers[phy.channel_width().unwrap() as usize],
        coded_bits,
        code_rate: (u64::from(numerator), u64::from(denominator)),
        streams: u64::from(mode.streams),
        guard_interval: mode.guard_interval,
    }
}

#[test]
fn every_mode_lasts_as_in_the_formulas() {
    for phy in all() {
        for &id in phy.allowed_modes() {
            let mode = phy.mode(id);
            let formula = formula(&phy, mode);
            assert!((formula.rate_bps() - mode.rate.as_bps() as f64).abs() <= 0.5, "{mode:?}");
            assert_eq!(formula.bits_per_symbol(), u64::from(mode.bits_per_symbol));
            // Frames of ten codewords and more; others may have an LDPC segment more.
            for psdu in (2200..65_536).step_by(1777).map(Bytes) {
                let (found, expected) = (phy.ppdu_duration(id, psdu), formula.duration(psdu));
                // Modes with more encoders than the rate alone requires: up to 30 tail bits that may begin a symbol.
                let many = matches!(mode.coding, Coding::Convolutional { encoders } if encoders > 2);
                let symbol = Duration::from_micros(if many { 4 } else { 0 });
                assert!(found >= expected && found <= expected + symbol, "{mode:?} {psdu}: {found} {expected}");
            }
        }
    }
}

#[test]
fn lone_station_gets_the_closed_forms_goodput() {
    // Packets of 1500 bytes, as many MPDUs as a Block Ack covers or an A-MPDU holds; Mbit/s by the closed form.
    for (standard, width, guard, mcs, mpdus, expected) in [
        ("802.11n", ChannelWidth::Mhz40, GuardInterval::Short, 15, 42, 261.07),
        ("802.11ac", ChannelWidth::Mhz80, GuardInterval::Short, 9, 64, 686.63),
        ("802.11ax", ChannelWidth::Mhz80, GuardInterval::Us0_8, 11, 256, 1075.89),
    ] {
        let phy = phy(standard, width, 2, guard);
        let mode = phy.mode_of_mcs(mcs).unwrap();
        let subframe = ampdu_subframe(qos_data_mpdu(Bytes(1500)));
        let psdu = Bytes((mpdus - 1) * padded(subframe).0 + subframe.0);
        assert!(psdu <= phy.max_ampdu_bytes() && mpdus <= u64::from(phy.block_ack_window()));
        let aifs = phy.sifs() + phy.slot() * 3;
        let backoff = phy.slot() * u64::from(phy.cw_min()) / 2;
        let block_ack = phy.block_ack_duration(mode);
        let cycle = aifs + backoff + phy.ppdu_duration(mode, psdu) + phy.sifs() + block_ack;
        let found = (8 * 1500 * mpdus) as f64 / cycle.as_secs_f64() / 1e6;
        assert!((found - expected).abs() < 0.01, "{standard}: {found}");
        let overhead = Overhead { aifs, mean_backoff: backoff, sifs: phy.sifs(), block_ack };
        let formula = formula(&phy, phy.mode(mode));
        let closed = saturated_bps(&formula, &overhead, ampdu_bytes(mpdus, Bytes(1538)), Bytes(1500 * mpdus)) / 1e6;
        assert!((found / closed - 1.0).abs() < 1e-12, "{standard}: {found} {closed}");
    }
}
