//! The tins of CAKE: classes of packets by their DSCP, each with queues of its own and a share of the rate.
//!
//! Source: [tc-cake(8)], [Høiland-Jørgensen 2018].

use lasthop_registry::words;

words! {
    /// The classes of packets.
    pub enum Diffserv {
        /// one for all
        Besteffort = "besteffort",
        /// bulk, best effort and voice
        Diffserv3 = "diffserv3",
        /// bulk, best effort, video and voice
        Diffserv4 = "diffserv4",
    }
}

/// A class of packets. A later one goes before an earlier one as long as it keeps within its share: best effort, whose share is
/// all of the rate, comes last, so that it cannot starve bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tin {
    BestEffort,
    Bulk,
    Video,
    Voice,
}

impl Tin {
    /// The share of the rate up to which it goes before others: one part in so many.
    pub fn parts(self) -> u64 {
        match self {
            Tin::Bulk => 16,
            Tin::BestEffort => 1,
            Tin::Video => 2,
            Tin::Voice => 4,
        }
    }
}

impl Diffserv {
    /// Its tins, in the order of their priority, lowest first.
    pub(super) fn tins(self) -> &'static [Tin] {
        match self {
            Diffserv::Besteffort => &[Tin::BestEffort],
            Diffserv::Diffserv3 => &[Tin::BestEffort, Tin::Bulk, Tin::Voice],
            Diffserv::Diffserv4 => &[Tin::BestEffort, Tin::Bulk, Tin::Video, Tin::Voice],
        }
    }

    /// The tin of a code point: CS1 and LE are bulk; CS7, CS6, EF, VA voice in both, TOS4 (bit 2) in `diffserv3`, CS5 and CS4 in
    /// `diffserv4`; AF4x, AF3x, CS3, AF2x, CS2, TOS4 and TOS1 video. [tc-cake(8)]
    fn tin(self, dscp: u8) -> Tin {
        match (self, dscp) {
            (Diffserv::Besteffort, _) => Tin::BestEffort,
            (_, 1 | 8) => Tin::Bulk,
            (_, 44 | 46 | 48 | 56) | (Diffserv::Diffserv3, 4) | (Diffserv::Diffserv4, 32 | 40) => Tin::Voice,
            (Diffserv::Diffserv4, 2 | 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => Tin::Video,
            _ => Tin::BestEffort,
        }
    }

    /// The place among [`tins`](Self::tins) of packets with a code point.
    pub(super) fn place(self, dscp: u8) -> usize {
        let tin = self.tin(dscp);
        self.tins().iter().position(|one| *one == tin).expect("each tin of a preset is listed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_go_to_the_tins_of_the_manual_page() {
        let of = |preset: Diffserv, points: &[u8]| points.iter().map(|dscp| preset.tin(*dscp)).collect::<Vec<_>>();
        // CS1, LE; DF, AF1x; AF4x, AF3x, CS3, AF2x, CS2, TOS4, TOS1; CS7, CS6, EF, VA, CS5, CS4.
        let bulk: &[u8] = &[8, 1];
        let plain: &[u8] = &[0, 10, 12, 14];
        let video: &[u8] = &[34, 36, 38, 26, 28, 30, 24, 18, 20, 22, 16, 4, 2];
        let voice: &[u8] = &[56, 48, 46, 44, 40, 32];
        for (points, tin) in [(bulk, Tin::Bulk), (plain, Tin::BestEffort), (video, Tin::Video), (voice, Tin::Voice)] {
            assert_eq!(of(Diffserv::Diffserv4, points), vec![tin; points.len()]);
        }
        // CS7, CS6, EF, VA, TOS4.
        assert_eq!(of(Diffserv::Diffserv3, &[56, 48, 46, 44, 4]), [Tin::Voice; 5]);
        assert_eq!(of(Diffserv::Diffserv3, &[40, 32, 34, 16, 0]), [Tin::BestEffort; 5]);
        assert_eq!(of(Diffserv::Besteffort, &[8, 46, 0]), [Tin::BestEffort; 3]);
    }
}
