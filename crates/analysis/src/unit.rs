//! Resource units of PPDUs of several users.

use lasthop_wire::radiotap::{He, HeFormat};

/// A resource unit of a PPDU of several users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// sent by several stations in answer to a trigger, rather than by one to several
    pub is_triggered: bool,
    pub tones: u16,
}

impl Unit {
    /// The unit of a frame; none if its PPDU is for one user or does not name it.
    pub(crate) fn of(he: &He) -> Option<Unit> {
        let is_triggered = match he.format {
            HeFormat::Mu => false,
            HeFormat::TriggerBased => true,
            HeFormat::Su | HeFormat::ExtendedRangeSu => return None,
        };
        Some(Unit { is_triggered, tones: he.tones()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn he(format: HeFormat, bandwidth: u8) -> He {
        He { format, bandwidth: Some(bandwidth), ..He::default() }
    }

    #[test]
    fn units_have_the_tones_of_their_codes() {
        let tones = |bandwidth| Unit::of(&he(HeFormat::Mu, bandwidth)).map(|unit| unit.tones);
        assert_eq!(
            (0..=10).map(tones).collect::<Option<Vec<_>>>().unwrap(),
            [242, 484, 996, 1992, 26, 52, 106, 242, 484, 996, 1992]
        );
        assert_eq!(tones(11), None);
        assert_eq!(Unit::of(&he(HeFormat::Su, 4)), None);
    }
}
