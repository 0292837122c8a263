//! Given losses on some links, with another model for all others.
//!
//! They are losses of data frames, as measurements give them: a capture shows which frames were not acknowledged, but
//! not how strong the signal was. All other frames follow the model.

use std::collections::BTreeMap;

use lasthop_units::Probability;

use super::interface::{ErrorModel, FrameKind, ReceivedFrame};

/// The model.
pub struct ByLink {
    others: Box<dyn ErrorModel>,
    data: BTreeMap<u32, Probability>,
}

impl ByLink {
    /// Builds the model. `data`: the probability that a data frame is lost, by [`ReceivedFrame::link`]. `others` must
    /// not need the SINR.
    pub fn new(others: Box<dyn ErrorModel>, data: BTreeMap<u32, Probability>) -> ByLink {
        assert!(!others.needs_sinr(), "a given loss cannot be combined with one that follows from the signal");
        ByLink { others, data }
    }
}

impl ErrorModel for ByLink {
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64 {
        match self.data.get(&frame.link) {
            Some(lost) if frame.kind == FrameKind::Data => 1.0 - lost.get(),
            _ => self.others.success_probability(frame),
        }
    }
    fn is_none(&self) -> bool {
        self.data.is_empty() && self.others.is_none()
    }
    fn failure(&self) -> Option<&str> {
        self.others.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{frame, mode, phy};
    use super::super::{ErrorModelKind, fixed, none};
    use super::*;

    #[test]
    fn a_link_of_its_own_loses_data_and_nothing_else() {
        let phy = phy("802.11b");
        let plain = frame(mode(&phy, 110), 12_000, 0.0);
        let rate = |p: f64| Probability::new(p).unwrap();
        let all = fixed::Params { frame_error_rate: Some(rate(0.25)), ..fixed::Params::default() };
        let mut model = ByLink::new(ErrorModelKind::Fixed(all).build(1), BTreeMap::from([(7, rate(0.5))]));
        let mut lost = |link, kind| 1.0 - model.success_probability(&ReceivedFrame { link, kind, ..plain });
        assert_eq!([lost(7, FrameKind::Data), lost(7, FrameKind::Ack)], [0.5, 0.25]);
        assert_eq!([lost(8, FrameKind::Data), lost(8, FrameKind::Ack)], [0.25, 0.25]);
    }

    #[test]
    fn without_links_of_their_own_nothing_is_lost_where_nothing_was() {
        let none = || ErrorModelKind::None(none::Params::default()).build(1);
        assert!(ByLink::new(none(), BTreeMap::new()).is_none());
        let half = BTreeMap::from([(7, Probability::new(0.5).unwrap())]);
        assert!(!ByLink::new(none(), half).is_none());
    }
}
