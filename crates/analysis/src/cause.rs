//! The cause why the mode of a PPDU is unknown: its duration and its rate follow from the mode.

use lasthop_wire::radiotap::{HeFormat, LaterPhy, Radiotap};

/// The cause why the mode of a PPDU is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    NoHeader,
    NoRate,
    HeFormat,
    HeRu,
    Eht,
    S1g,
    Other,
}

impl Cause {
    pub(crate) const ALL: [(Cause, &'static str); 7] = [
        (Cause::NoHeader, "no_header"),
        (Cause::NoRate, "no_rate"),
        (Cause::HeFormat, "he_of_several_users"),
        (Cause::HeRu, "he_on_an_ru"),
        (Cause::Eht, "eht"),
        (Cause::S1g, "s1g"),
        (Cause::Other, "other"),
    ];

    /// The cause that a header gives.
    pub(crate) fn of(radiotap: &Radiotap) -> Cause {
        let he = radiotap.he;
        match radiotap.later_phy {
            Some(LaterPhy::Eht) => Cause::Eht,
            Some(LaterPhy::S1g) => Cause::S1g,
            None if he.is_some_and(|he| he.format != HeFormat::Su) => Cause::HeFormat,
            None if he.is_some_and(|he| he.bandwidth.is_some() && he.bandwidth_mhz().is_none()) => Cause::HeRu,
            None if *radiotap == Radiotap::default() => Cause::NoHeader,
            None if he.is_none()
                && radiotap.vht.is_none()
                && radiotap.mcs.is_none()
                && radiotap.rate_500kbps.is_none_or(|rate| rate == 0) =>
            {
                Cause::NoRate
            }
            None => Cause::Other,
        }
    }
}
