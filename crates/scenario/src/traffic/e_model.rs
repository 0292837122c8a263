//! The quality of a call by the E-model. [G.107 (06/2015) §7]
//!
//! `R = Ro - Is - Id - Ie,eff + A`. All its parameters except delay, loss and codec have their default values [G.107
//! Table 2]. So `Ro - Is` is a constant, A is 0, and the echo of the talker and of the listener depends on the delay
//! alone (TELR 65 dB, WEPL 110 dB; round-trip delay twice the one-way delay). R applies to narrow-band telephony: a
//! wide-band codec sounds better than its MOS here.

/// Basic signal-to-noise ratio at the default values. [G.107 §7.2]
const RO: f64 = 94.7688;
/// Simultaneous impairment at the default values. [G.107 §7.3]
const IS: f64 = 1.4136;

/// Codec, loss and delay of one direction of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// equipment impairment factor Ie
    pub ie: f64,
    /// packet-loss robustness factor Bpl
    pub bpl: f64,
    /// fraction of speech that is not heard, from 0 to 1
    pub loss: f64,
    /// burst ratio BurstR: 1 where losses are independent
    pub burst_ratio: f64,
    /// mouth-to-ear delay, in milliseconds
    pub delay_ms: f64,
}

/// The rating factor R.
pub(super) fn rating(conditions: &Conditions) -> f64 {
    RO - IS - delay_impairment(conditions.delay_ms) - loss_impairment(conditions)
}

/// Ie,eff = Ie + (95 - Ie) Ppl / (Ppl/BurstR + Bpl), with the loss Ppl in percent. [G.107 (7-29)]
fn loss_impairment(conditions: &Conditions) -> f64 {
    let ppl = 100.0 * conditions.loss;
    conditions.ie + (95.0 - conditions.ie) * ppl / (ppl / conditions.burst_ratio + conditions.bpl)
}

/// Id = Idte + Idle + Idd. [G.107 §7.4]
fn delay_impairment(delay_ms: f64) -> f64 {
    talker_echo(delay_ms) + listener_echo(2.0 * delay_ms) + too_long(delay_ms)
}

/// Idte of G.107 (7-19 to 7-22), with No = -61.18 dBm0p, RLR 2 dB, TELR 65 dB, STMR 15 dB.
fn talker_echo(t: f64) -> f64 {
    let roe = -1.5 * (-61.1792 - 2.0);
    let terv = 65.0 - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * libm::exp(-0.3 * t * t);
    let re = 80.0 + 2.5 * (terv - 14.0);
    let half = (roe - re) / 2.0;
    (half + libm::sqrt(half * half + 100.0) - 1.0) * (1.0 - libm::exp(-t))
}

/// Idle of G.107 (7-25, 7-26), with WEPL 110 dB.
fn listener_echo(round_trip_ms: f64) -> f64 {
    let rle = 10.5 * (110.0 + 7.0) * libm::pow(round_trip_ms + 1.0, -0.25);
    let half = (RO - rle) / 2.0;
    half + libm::sqrt(half * half + 169.0)
}

/// Idd of G.107 (7-27, 7-28): zero up to 100 ms.
fn too_long(ta: f64) -> f64 {
    if ta <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(ta / 100.0);
    let sixth = |y: f64| libm::pow(1.0 + libm::pow(y, 6.0), 1.0 / 6.0);
    25.0 * (sixth(x) - 3.0 * sixth(x / 3.0) + 2.0)
}

/// The mean opinion score for a rating R, from 1 to 4.5. [G.107 Annex B (B-4)]
pub(super) fn mean_opinion_score(r: f64) -> f64 {
    if r <= 0.0 {
        1.0
    } else if r >= 100.0 {
        4.5
    } else {
        // The cubic falls below 1 for R under 6.5.
        (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERFECT: Conditions = Conditions { ie: 0.0, bpl: 25.1, loss: 0.0, burst_ratio: 1.0, delay_ms: 0.0 };

    fn r(conditions: Conditions) -> f64 {
        (rating(&conditions) * 100.0).round() / 100.0
    }

    #[test]
    fn all_defaults_rate_93_2_and_score_4_41() {
        // G.107 Table 2, note: R = 93.2; Annex B: MOS 4.41.
        assert_eq!((r(PERFECT) * 10.0).round() / 10.0, 93.2);
        assert!((mean_opinion_score(93.2) - 4.41).abs() < 0.005);
    }

    #[test]
    fn ro_and_is_equal_the_formulas_at_default_values() {
        // SLR 8, RLR 2, OLR 10, Ps = Pr = 35 dB(A), Ds = 3, Nfor = -64, Nc = -70, STMR 15, Dr 3, T = 0, qdu 1.
        let nos: f64 = 35.0 - 8.0 - 3.0 - 100.0 + 0.004 * (35.0_f64 - 10.0 - 3.0 - 14.0).powi(2);
        let pre: f64 = 35.0 + 10.0 * libm::log10(1.0 + libm::pow(10.0, (10.0 - 18.0) / 10.0));
        let nor: f64 = 2.0 - 121.0 + pre + 0.008 * (pre - 35.0).powi(2);
        let power = |level: f64| libm::pow(10.0, level / 10.0);
        let no = 10.0 * libm::log10(power(-70.0) + power(nos) + power(nor) + power(-62.0));
        assert!((no + 61.1792).abs() < 1e-3, "{no}");
        let ro = 15.0 - 1.5 * (8.0 + no);
        assert!((ro - RO).abs() < 1e-3, "{ro}");
        // Iolr with Xolr = OLR + 0.2 (64 + No - RLR); Ist with STMRo; Iq with qdu 1.
        let eighth = |y: f64| libm::pow(1.0 + libm::pow(y, 8.0), 0.125);
        let xolr = 10.0 + 0.2 * (64.0 + no - 2.0);
        let iolr = 20.0 * (eighth(xolr / 8.0) - xolr / 8.0);
        let stmro = -10.0 * libm::log10(power(-15.0) + power(-65.0));
        let ist = 12.0 * eighth((stmro - 13.0) / 6.0)
            - 28.0 * libm::pow(1.0 + libm::pow((stmro + 1.0) / 19.4, 35.0), 1.0 / 35.0)
            - 13.0 * libm::pow(1.0 + libm::pow((stmro - 3.0) / 33.0, 13.0), 1.0 / 13.0)
            + 29.0;
        let q = 37.0;
        let g = 1.07 + 0.258 * q + 0.0602 * q * q;
        let y = (ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
        let z = 46.0 / 30.0 - g / 40.0;
        let iq = 15.0 * libm::log10(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z));
        assert!((iolr + ist + iq - IS).abs() < 2e-3, "{iolr} {ist} {iq}");
    }

    #[test]
    fn long_delay_costs_as_in_the_curve() {
        // Idd at 200 ms: x = 1: 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) = 25 (1.122462 - 3.000686 + 2) = 3.0444.
        assert!((too_long(200.0) - 3.0444).abs() < 1e-4);
        assert_eq!(too_long(100.0), 0.0);
        // At 400 ms: x = 2: 25 (65^(1/6) - 3 (1 + (2/3)^6)^(1/6) + 2) = 25 (2.005174 - 3.042371 + 2) = 24.0701.
        assert!((too_long(400.0) - 24.0701).abs() < 1e-3, "{}", too_long(400.0));
    }

    #[test]
    fn echo_and_delay_costs_equal_another_implementation() {
        // Idte, Idle and Idd of bgrewell/loom (Apache 2.0), from G.107 (7-19) to (7-28) at the default values.
        for (ta, idte, idle, idd) in [
            (0.0, 0.0, 0.149_046, 0.0),
            (100.0, 1.963_791, 0.727_733, 0.0),
            (150.0, 2.811_844, 0.840_747, 0.163_531),
            (250.0, 4.242_856, 1.018_587, 8.916_710),
        ] {
            let found = [talker_echo(ta), listener_echo(2.0 * ta), too_long(ta)];
            let near = found.iter().zip([idte, idle, idd]).all(|(found, said)| (found - said).abs() < 1e-4);
            assert!(near, "at {ta} ms: {found:?}");
        }
    }

    #[test]
    fn losses_cost_as_in_g_113() {
        // G.711 with concealment at 2 %: 95 x 2/(2 + 25.1) = 7.011. G.729A at 1 %: 11 + 84 x 1/(1 + 19) = 15.2.
        let at = |loss: f64, ie: f64, bpl: f64| loss_impairment(&Conditions { loss, ie, bpl, ..PERFECT });
        assert!((at(0.02, 0.0, 25.1) - 7.011).abs() < 1e-3);
        assert!((at(0.01, 11.0, 19.0) - 15.2).abs() < 1e-9);
        // In bursts twice as long as independent losses give: 95 x 2/(1 + 25.1) = 7.280.
        let bursts = loss_impairment(&Conditions { loss: 0.02, burst_ratio: 2.0, ..PERFECT });
        assert!((bursts - 7.280).abs() < 1e-3);
    }

    #[test]
    fn a_score_stays_between_1_and_4_5() {
        assert_eq!((mean_opinion_score(-5.0), mean_opinion_score(100.0), mean_opinion_score(3.0)), (1.0, 4.5, 1.0));
        // R = 50: 1 + 1.75 + 50 x (-10) x 50 x 7e-6 = 2.575.
        assert!((mean_opinion_score(50.0) - 2.575).abs() < 1e-12);
    }
}
