//! Enhanced distributed channel access: four access categories, each with its own way to the medium.
//! [802.11-2020 §10.2.3.2, §10.23.2]
//!
//! The standard's defaults are those that a station uses if its AP announces none [802.11-2020 Table 9-155]. An AP uses
//! the same ones except for the limits of voice and video, which do not differ, and may wait one slot less. Left out:
//! admission control.

use lasthop_registry::words;
use lasthop_units::Duration;

words! {
    /// An access category, the one with the highest priority first.
    pub enum AccessCategory {
        /// voice
        Vo = "vo",
        /// video
        Vi = "vi",
        /// best effort
        Be = "be",
        /// background
        Bk = "bk",
    }
}

impl AccessCategory {
    /// All four, the one with the highest priority first.
    pub const ALL: [AccessCategory; 4] =
        [AccessCategory::Vo, AccessCategory::Vi, AccessCategory::Be, AccessCategory::Bk];

    /// Its place in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The category of a user priority 0 to 7. [802.11-2020 Table 10-1]
    pub const fn of_tid(tid: u8) -> AccessCategory {
        match tid & 7 {
            1 | 2 => AccessCategory::Bk,
            0 | 3 => AccessCategory::Be,
            4 | 5 => AccessCategory::Vi,
            _ => AccessCategory::Vo,
        }
    }
}

/// Parameters with which an access category gets to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdcaParameters {
    /// Slots between SIFS and the start of the countdown, at least 1; below 2 for an AP only.
    pub aifsn: u8,
    /// CWmin: the largest backoff before a first attempt, in slots.
    pub cw_min: u32,
    /// CWmax: the largest backoff, in slots.
    pub cw_max: u32,
    /// The longest time it may keep the medium once it has won it; zero: for one exchange.
    pub txop_limit: Duration,
}

impl EdcaParameters {
    /// The standard's defaults, from aCWmin and aCWmax of an OFDM PHY. [802.11-2020 Table 9-155]
    pub const fn default_of(category: AccessCategory, cw_min: u32, cw_max: u32) -> EdcaParameters {
        let us = Duration::from_micros;
        match category {
            AccessCategory::Bk => EdcaParameters { aifsn: 7, cw_min, cw_max, txop_limit: us(2528) },
            AccessCategory::Be => EdcaParameters { aifsn: 3, cw_min, cw_max, txop_limit: us(2528) },
            AccessCategory::Vi => {
                EdcaParameters { aifsn: 2, cw_min: cw_min.div_ceil(2) - 1, cw_max: cw_min, txop_limit: us(4096) }
            }
            AccessCategory::Vo => EdcaParameters {
                aifsn: 2,
                cw_min: (cw_min + 1) / 4 - 1,
                cw_max: cw_min.div_ceil(2) - 1,
                txop_limit: us(2080),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_table() {
        let of = |category| {
            let p = EdcaParameters::default_of(category, 15, 1023);
            (p.aifsn, p.cw_min, p.cw_max, p.txop_limit.as_nanos() / 1000)
        };
        assert_eq!(of(AccessCategory::Bk), (7, 15, 1023, 2528));
        assert_eq!(of(AccessCategory::Be), (3, 15, 1023, 2528));
        assert_eq!(of(AccessCategory::Vi), (2, 7, 15, 4096));
        assert_eq!(of(AccessCategory::Vo), (2, 3, 7, 2080));
    }

    #[test]
    fn user_priorities_map_as_in_the_table() {
        use AccessCategory::{Be, Bk, Vi, Vo};
        let found: Vec<AccessCategory> = (0..8).map(AccessCategory::of_tid).collect();
        assert_eq!(found, [Be, Bk, Bk, Be, Vi, Vi, Vo, Vo]);
    }

    #[test]
    fn each_category_has_its_own_place() {
        assert!(AccessCategory::ALL.iter().enumerate().all(|(i, c)| c.index() == i));
    }
}
