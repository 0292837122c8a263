//! Error models: the probability that a frame, or a stretch of one, arrives whole.
//!
//! They judge only frames that did not collide beyond hope: interference enters through the SINR. If interference
//! changes during a PPDU, the caller looks up each stretch and multiplies. A model that needs no SINR judges whole
//! frames, once each.

mod by_link;
mod convolutional;
mod dsss;
mod independent;
mod interface;

use lasthop_engine::Stream;
use lasthop_registry::registry;

pub use by_link::ByLink;
pub use interface::{Direction, ErrorModel, ErrorModelMaker, FrameKind, ReceivedFrame};

registry! {
    /// The choice `error_model = "…"`.
    pub enum ErrorModelKind as "error_model" {
        /// A frame arrives if it is above the sensitivity of its mode and does not collide.
        none => None: source "—", status "nothing to validate";
        /// Each frame is lost with a fixed probability.
        fixed => Fixed: source "khademi2011", status "unit tests";
        /// Bit errors from the SINR; convolutional codes by the first terms of their spectrum.
        yans => Yans: source "Lacage, Henderson 2006", status "against independent evaluation of the formulas";
        /// Bit errors from the SINR; convolutional codes by the union bound.
        nist => Nist: source "Pei, Henderson 2010", status "against independent evaluation of the formulas";
        /// Each link alternates between a good and a bad state for random times.
        gilbert_elliott => GilbertElliott: source "Gilbert 1960; Elliott 1963", status "unit tests";
    }
    foreign: ErrorModelMaker, without_errors;
    code: Python;
    planned:
}

fn without_errors(_: Stream) -> Box<dyn ErrorModel> {
    Box::new(none::Params::default())
}

impl ErrorModelKind {
    /// Returns whether noise destroys nothing.
    pub fn is_without_errors(&self) -> bool {
        matches!(self, ErrorModelKind::None(_))
    }

    /// The model, with streams of random numbers of its own under `seed`.
    pub fn build(&self, seed: u64) -> Box<dyn ErrorModel> {
        match self {
            ErrorModelKind::None(params) => Box::new(params.clone()),
            ErrorModelKind::Fixed(params) => Box::new(params.clone()),
            ErrorModelKind::Yans(_) => Box::<yans::Yans>::default(),
            ErrorModelKind::Nist(_) => Box::<nist::Nist>::default(),
            ErrorModelKind::GilbertElliott(params) => {
                Box::new(gilbert_elliott::GilbertElliott::new(params.clone(), seed))
            }
            ErrorModelKind::Foreign(it) => it.maker()(Stream::new(seed, "error_model", 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::independent::all_succeed;
    use super::*;
    use crate::phy::{ChannelWidth, Mode, Phy, PhyOptions, Standard};
    use lasthop_units::DataRate;
    use lasthop_units::Time;

    /// A data frame of `bits` on its way up at `sinr_db`.
    pub fn frame(mode: &Mode, bits: u64, sinr_db: f64) -> ReceivedFrame<'_> {
        let sinr = libm::pow(10.0, sinr_db / 10.0);
        ReceivedFrame { at: Time::ZERO, mode, kind: FrameKind::Data, direction: Direction::Up, link: 0, bits, sinr }
    }
    /// The PHY of a standard, with all defaults.
    pub fn phy(name: &str) -> Phy {
        PhyOptions::new(Standard::named(name).unwrap()).resolve("bss").unwrap()
    }
    /// The mode of a rate.
    pub fn mode(phy: &Phy, rate_100kbps: u64) -> &Mode {
        phy.mode(phy.mode_of_rate(DataRate::from_100kbps(rate_100kbps)).unwrap())
    }
    /// The mode of an MCS on 20 MHz, if every station has `streams` antennas.
    pub fn mcs_mode(name: &str, streams: u8, mcs: u8) -> Mode {
        let options = PhyOptions {
            channel_width: Some(ChannelWidth::Mhz20),
            spatial_streams: Some(streams),
            ..PhyOptions::new(Standard::named(name).unwrap())
        };
        let phy = options.resolve("bss").unwrap();
        phy.mode(phy.mode_of_mcs(mcs).unwrap()).clone()
    }
    /// The SINR in dB at which a frame succeeds with `probability`, by bisection.
    pub fn sinr_db_for(model: &mut dyn ErrorModel, mode: &Mode, bits: u64, probability: f64) -> f64 {
        let (mut low, mut high) = (-20.0, 40.0);
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            let success = model.success_probability(&frame(mode, bits, middle));
            if success < probability { low = middle } else { high = middle }
        }
        low
    }

    #[test]
    fn every_model_gives_probabilities_and_those_that_ask_for_the_sinr_grow_with_it() {
        for kind in ErrorModelKind::all() {
            for standard in Standard::all() {
                let phy = PhyOptions::new(standard).resolve("bss").unwrap();
                for mode in phy.modes() {
                    let mut model = kind.build(1);
                    let mut ask = |db: f64| model.success_probability(&frame(mode, 8000, db));
                    let curve: Vec<f64> = (-400..=400).map(|i| ask(f64::from(i) / 10.0)).collect();
                    assert!(curve.iter().all(|p| (0.0..=1.0).contains(p)), "{}", kind.name());
                    if model.needs_sinr() {
                        assert!(curve.is_sorted(), "{} {:?}", kind.name(), mode.rate);
                        assert!(curve[0] < 1e-9 && curve[800] > 1.0 - 1e-9, "{} {:?}", kind.name(), mode.rate);
                    }
                }
            }
        }
    }

    #[test]
    fn stretches_of_a_frame_multiply_to_the_whole() {
        for kind in [ErrorModelKind::Yans(yans::Params {}), ErrorModelKind::Nist(nist::Params {})] {
            let (phy, mut model) = (phy("802.11g"), kind.build(1));
            for mode in phy.modes() {
                let sinr = sinr_db_for(&mut *model, mode, 8000, 0.5);
                let mut ask = |bits| model.success_probability(&frame(mode, bits, sinr));
                let (parts, whole) = (ask(3000) * ask(5000), ask(8000));
                assert!((parts - whole).abs() < 1e-9, "{parts} {whole}");
            }
        }
    }

    #[test]
    fn as_many_streams_as_antennas_need_the_sinr_of_one_and_fewer_need_less() {
        for kind in [ErrorModelKind::Yans(yans::Params {}), ErrorModelKind::Nist(nist::Params {})] {
            let need = |streams, mcs| sinr_db_for(&mut *kind.build(1), &mcs_mode("802.11n", streams, mcs), 8000, 0.9);
            // MCS 4 on one stream, MCS 12 on two: the same modulation and code rate.
            assert!((need(2, 12) - need(1, 4)).abs() < 1e-9, "{}", kind.name());
            // Two antennas combine one stream: 10 log10(2) dB.
            assert!((need(1, 4) - need(2, 4) - 3.0103).abs() < 1e-4, "{}", kind.name());
        }
    }

    #[test]
    fn nothing_to_send_always_arrives() {
        assert_eq!(all_succeed(1.0, 0.0), 1.0);
        assert_eq!(all_succeed(1.0, 1.0), 0.0);
    }
}
