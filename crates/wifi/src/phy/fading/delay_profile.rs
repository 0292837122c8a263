//! Delay profiles: the echoes of a signal, with their delays and mean powers.
//!
//! Models A to F of TGn, from a single path to large open spaces: clusters of echoes, each a straight line in dB
//! [TGn 2004 Appendix C]. TGac and TGax use the same clusters; for channels of 80 and 160 MHz they put further taps
//! between those of TGn [TGac 2010 §2; TGax 2014], since taps 10 ns apart repeat the response every 100 MHz.
//! Left out: direct paths (their Ricean factors), angles of departure and arrival, fluorescent lights.

use lasthop_registry::words;
use lasthop_units::Speed;

use super::doppler::{TGAC_SPEED, TGN_SPEED};

words! {
    /// A delay profile.
    pub enum DelayProfile {
        /// one path, as without a profile
        TgnA = "tgn_a",
        /// a home; 15 ns root mean square
        TgnB = "tgn_b",
        /// a small office; 30 ns, its taps 33 ns
        TgnC = "tgn_c",
        /// an office; 50 ns
        TgnD = "tgn_d",
        /// a large office; 100 ns
        TgnE = "tgn_e",
        /// a hall or a square; 150 ns
        TgnF = "tgn_f",
        /// as tgn_a
        TgacA = "tgac_a",
        /// as tgn_b, with taps of their own for wide channels
        TgacB = "tgac_b",
        /// as tgn_c, likewise
        TgacC = "tgac_c",
        /// as tgn_d, likewise
        TgacD = "tgac_d",
        /// as tgn_e, likewise
        TgacE = "tgac_e",
        /// as tgn_f, likewise
        TgacF = "tgac_f",
        /// as tgac_a
        TgaxA = "tgax_a",
        /// as tgac_b
        TgaxB = "tgax_b",
        /// as tgac_c
        TgaxC = "tgax_c",
        /// as tgac_d
        TgaxD = "tgax_d",
        /// as tgac_e
        TgaxE = "tgax_e",
        /// as tgac_f
        TgaxF = "tgax_f",
    }
}

/// A tap: its delay, and its share of the mean power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tap {
    pub delay_s: f64,
    pub power: f64,
}

/// Taps of a cluster: delay in ns, mean power in dB.
type Cluster = &'static [(u16, f64)];

const MODEL_B: &[Cluster] = &[
    &[(0, 0.0), (10, -5.4), (20, -10.8), (30, -16.2), (40, -21.7)],
    &[(20, -3.2), (30, -6.3), (40, -9.4), (50, -12.5), (60, -15.6), (70, -18.7), (80, -21.8)],
];
const MODEL_C: &[Cluster] = &[
    &[
        (0, 0.0),
        (10, -2.1),
        (20, -4.3),
        (30, -6.5),
        (40, -8.6),
        (50, -10.8),
        (60, -13.0),
        (70, -15.2),
        (80, -17.3),
        (90, -19.5),
    ],
    &[(60, -5.0), (70, -7.2), (80, -9.3), (90, -11.5), (110, -13.7), (140, -15.8), (170, -18.0), (200, -20.2)],
];
const MODEL_D: &[Cluster] = &[
    &[
        (0, 0.0),
        (10, -0.9),
        (20, -1.7),
        (30, -2.6),
        (40, -3.5),
        (50, -4.3),
        (60, -5.2),
        (70, -6.1),
        (80, -6.9),
        (90, -7.8),
        (110, -9.0),
        (140, -11.1),
        (170, -13.7),
        (200, -16.3),
        (240, -19.3),
        (290, -23.2),
    ],
    &[(110, -6.6), (140, -9.5), (170, -12.1), (200, -14.7), (240, -17.4), (290, -21.9), (340, -25.5)],
    &[(240, -18.8), (290, -23.2), (340, -25.2), (390, -26.7)],
];
const MODEL_E: &[Cluster] = &[
    &[
        (0, -2.6),
        (10, -3.0),
        (20, -3.5),
        (30, -3.9),
        (50, -4.5),
        (80, -5.6),
        (110, -6.9),
        (140, -8.2),
        (180, -9.8),
        (230, -11.7),
        (280, -13.9),
        (330, -16.1),
        (380, -18.3),
        (430, -20.5),
        (490, -22.9),
    ],
    &[
        (50, -1.8),
        (80, -3.2),
        (110, -4.5),
        (140, -5.8),
        (180, -7.1),
        (230, -9.9),
        (280, -10.3),
        (330, -14.3),
        (380, -14.7),
        (430, -18.7),
        (490, -19.9),
        (560, -22.4),
    ],
    &[(180, -7.9), (230, -9.6), (280, -14.2), (330, -13.8), (380, -18.6), (430, -18.1), (490, -22.8)],
    &[(490, -20.6), (560, -20.5), (640, -20.7), (730, -24.6)],
];
const MODEL_F: &[Cluster] = &[
    &[
        (0, -3.3),
        (10, -3.6),
        (20, -3.9),
        (30, -4.2),
        (50, -4.6),
        (80, -5.3),
        (110, -6.2),
        (140, -7.1),
        (180, -8.2),
        (230, -9.5),
        (280, -11.0),
        (330, -12.5),
        (400, -14.3),
        (490, -16.7),
        (600, -19.9),
    ],
    &[
        (50, -1.8),
        (80, -2.8),
        (110, -3.5),
        (140, -4.4),
        (180, -5.3),
        (230, -7.4),
        (280, -7.0),
        (330, -10.3),
        (400, -10.4),
        (490, -13.8),
        (600, -15.7),
        (730, -19.9),
    ],
    &[(180, -5.7), (230, -6.7), (280, -10.4), (330, -9.6), (400, -14.1), (490, -12.7), (600, -18.5)],
    &[(400, -8.8), (490, -13.3), (600, -18.7)],
    &[(600, -12.9), (730, -14.2)],
    &[(880, -16.3), (1050, -21.2)],
];

impl DelayProfile {
    fn clusters(self) -> &'static [Cluster] {
        use DelayProfile::*;
        match self {
            TgnA | TgacA | TgaxA => &[&[(0, 0.0)]],
            TgnB | TgacB | TgaxB => MODEL_B,
            TgnC | TgacC | TgaxC => MODEL_C,
            TgnD | TgacD | TgaxD => MODEL_D,
            TgnE | TgacE | TgaxE => MODEL_E,
            TgnF | TgacF | TgaxF => MODEL_F,
        }
    }

    /// The speed of the surroundings that its document assumes, and the group that wrote it.
    pub fn speed(self) -> (Speed, &'static str) {
        use DelayProfile::*;
        match self {
            TgnA | TgnB | TgnC | TgnD | TgnE | TgnF => (TGN_SPEED, "TGn"),
            TgacA | TgacB | TgacC | TgacD | TgacE | TgacF => (TGAC_SPEED, "TGac"),
            TgaxA | TgaxB | TgaxC | TgaxD | TgaxE | TgaxF => (TGAC_SPEED, "TGax"),
        }
    }

    /// Intervals into which each interval between taps is divided on a channel of this width. [TGac 2010 §2]
    fn division(self, bandwidth_hz: f64) -> u32 {
        use DelayProfile::*;
        match self {
            TgnA | TgnB | TgnC | TgnD | TgnE | TgnF => 1,
            _ if bandwidth_hz > 80e6 => 4,
            _ if bandwidth_hz > 40e6 => 2,
            _ => 1,
        }
    }

    /// The taps on a channel of this width, in the order of their delays; their powers add up to 1.
    pub(super) fn taps(self, bandwidth_hz: f64) -> Vec<Tap> {
        let division = self.division(bandwidth_hz);
        let mut taps: Vec<Tap> = Vec::new();
        let mut add = |delay_ns: f64, db: f64| {
            let (delay_s, power) = (delay_ns * 1e-9, libm::pow(10.0, db / 10.0));
            match taps.iter_mut().find(|tap| tap.delay_s == delay_s) {
                Some(tap) => tap.power += power,
                None => taps.push(Tap { delay_s, power }),
            }
        };
        for cluster in self.clusters() {
            add(f64::from(cluster[0].0), cluster[0].1);
            for pair in cluster.windows(2) {
                for step in 1..=division {
                    let share = f64::from(step) / f64::from(division);
                    let between = |a: f64, b: f64| a + (b - a) * share;
                    add(between(f64::from(pair[0].0), f64::from(pair[1].0)), between(pair[0].1, pair[1].1));
                }
            }
        }
        taps.sort_by(|a, b| a.delay_s.total_cmp(&b.delay_s));
        let whole: f64 = taps.iter().map(|tap| tap.power).sum();
        taps.iter().map(|tap| Tap { power: tap.power / whole, ..*tap }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_ns(profile: DelayProfile, bandwidth_hz: f64) -> f64 {
        let taps = profile.taps(bandwidth_hz);
        let moment = |n: i32| taps.iter().map(|tap| tap.power * (tap.delay_s * 1e9).powi(n)).sum::<f64>();
        (moment(2) - moment(1) * moment(1)).sqrt()
    }

    #[test]
    fn delay_spreads_are_those_of_the_documents() {
        use DelayProfile::*;
        // The spread that the document names, and the one of its taps, computed apart from this code.
        for (profile, taps, named, expected) in [
            (TgnA, 1, 0.0, 0.0),
            (TgnB, 9, 15.0, 15.647),
            (TgnC, 14, 30.0, 33.439),
            (TgnD, 18, 50.0, 50.163),
            (TgnE, 18, 100.0, 98.984),
            (TgnF, 18, 150.0, 148.804),
        ] {
            assert_eq!(profile.taps(20e6).len(), taps, "{}", profile.word());
            let found = spread_ns(profile, 20e6);
            assert!((found - expected).abs() < 0.001, "{}: {found}", profile.word());
            assert!((found - named).abs() <= 0.12 * named, "{}: {found}", profile.word());
        }
    }

    #[test]
    fn wide_channels_of_tgac_and_tgax_have_taps_in_between() {
        use DelayProfile::*;
        assert_eq!(TgacD.taps(40e6), TgnD.taps(40e6));
        assert_eq!(TgaxD.taps(160e6), TgacD.taps(160e6));
        assert_eq!(TgnD.taps(160e6).len(), 18);
        for profile in [TgacB, TgacC, TgacD, TgacE, TgacF] {
            let [narrow, wide, widest] = [40e6, 80e6, 160e6].map(|width| profile.taps(width));
            let least =
                |taps: &[Tap]| taps.windows(2).map(|t| t[1].delay_s - t[0].delay_s).fold(f64::INFINITY, f64::min);
            let apart = [&narrow, &wide, &widest].map(|taps| (least(taps) * 1e10).round() as u32);
            assert_eq!(apart, [100, 50, 25], "{}", profile.word());
            assert!((spread_ns(profile, 160e6) / spread_ns(profile, 20e6) - 1.0).abs() < 0.08, "{}", profile.word());
        }
    }
}
