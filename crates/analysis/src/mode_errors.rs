//! The loss of MPDUs in a mode by its signal-to-noise ratio (SNR), by the error model `nist` of the simulator.

use lasthop_units::Time;
use lasthop_wifi::phy::error_model::{Direction, ErrorModelKind, FrameKind, ReceivedFrame};

use crate::durations::{Durations, ModeFields, Sending};

/// The probability that noise destroys an MPDU of `mpdu_bytes`, for each of `snrs_db`, the SNR at an antenna for noise of
/// 20 MHz. The receiver combines its `antennas`. None if the simulator lacks the mode.
pub fn mpdu_losses(fields: &ModeFields<'_>, antennas: u8, mpdu_bytes: f64, snrs_db: &[f64]) -> Option<Vec<f64>> {
    let mut durations = Durations::default();
    let found = durations.mode(Sending::of_fields(fields)?)?;
    let mut mode = durations.about(found).clone();
    mode.antennas_per_stream = f64::from(antennas) / f64::from(mode.streams);
    let mut model = ErrorModelKind::Nist(Default::default()).build(0);
    let loss = |snr_db: &f64| {
        let sinr = libm::pow(10.0, snr_db / 10.0) * 20e6 / mode.bandwidth_hz;
        let (kind, direction, bits) = (FrameKind::Data, Direction::Up, (8.0 * mpdu_bytes) as u64);
        let frame = ReceivedFrame { at: Time::ZERO, mode: &mode, kind, direction, link: 0, bits, sinr };
        1.0 - model.success_probability(&frame)
    };
    Some(snrs_db.iter().map(loss).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(format: &str, mcs: Option<u8>, rate_100kbps: u64) -> ModeFields<'_> {
        let is_2_4_ghz = format == "dsss";
        let rate_bps = rate_100kbps * 100_000;
        ModeFields { format, is_2_4_ghz, mcs, rate_bps, streams: 1, width_mhz: 20, guard_ns: 800 }
    }

    #[test]
    fn losses_are_those_of_docs_model_phy() {
        // The SNRs at which the error model loses a tenth of 1000 bytes, or 8 % of 1024 bytes for DSSS, whose noise is
        // of 22 MHz: 10 log10(22 / 20) = 0.4139 dB more on 20 MHz. Computed separately from the models.
        let dsss = |rate, snr_db: f64| (fields("dsss", None, rate), 1024.0, snr_db + 0.4139, 0.08);
        let (ofdm, he) = (fields("ofdm", None, 540), fields("he", Some(11), 0));
        let all = [dsss(10, -3.0891), dsss(20, 1.5529), dsss(55, 4.0827), dsss(110, 7.093)];
        for (mode, bytes, snr_db, share) in
            all.into_iter().chain([(ofdm, 1000.0, 22.4872, 0.1), (he, 1000.0, 35.4495, 0.1)])
        {
            let losses = mpdu_losses(&mode, 1, bytes, &[snr_db - 0.01, snr_db + 0.01]).unwrap();
            assert!(losses[0] > share && losses[1] < share, "{mode:?}: {losses:?}");
        }
    }

    #[test]
    fn modes_that_the_simulator_lacks_have_no_losses() {
        assert!(mpdu_losses(&fields("eht", Some(13), 0), 1, 1000.0, &[20.0]).is_none());
        assert!(mpdu_losses(&fields("vht", Some(9), 0), 1, 1000.0, &[20.0]).is_none(), "not valid on 20 MHz");
        assert!(mpdu_losses(&fields("ofdm", None, 70), 1, 1000.0, &[20.0]).is_none());
    }
}
