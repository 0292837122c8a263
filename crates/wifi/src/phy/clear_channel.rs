//! Signal detection by receivers of a PHY, besides preambles and energy.

use lasthop_units::Dbm;

use super::{ChannelWidth, ModulationClass, Phy};

impl Phy {
    /// The power from which on a receiver notices an OFDM PPDU that fills the channel and whose preamble it has missed;
    /// `None`: the standard does not require this.
    ///
    /// VHT and HE receivers detect a PPDU under way on a secondary channel: at -72 dBm on one of 20 or 40 MHz, at -69
    /// dBm on one of 80 MHz, within aCCAMidTime. [802.11-2020 §21.3.18.5.4; 802.11ax-2021 §27.3.20.6.4] A PPDU that
    /// fills 40, 80 or 160 MHz has half its power on the widest of these, so the level for the whole is 3 dB higher. A
    /// station that sends on the whole channel, as all do here, may begin only if its secondary channels have been idle
    /// for PIFS. [802.11-2020 §10.23.2.5] On 20 MHz, and with HT, there is nothing but preamble and energy.
    /// [802.11-2020 §17.3.10.6, §19.3.19.5]
    pub fn mid_packet_level(&self) -> Option<Dbm> {
        let detects = |class: ModulationClass| matches!(class, ModulationClass::Vht | ModulationClass::He);
        if !self.modes.iter().any(|mode| detects(mode.class)) {
            return None;
        }
        match self.channel_width()? {
            ChannelWidth::Mhz20 => None,
            ChannelWidth::Mhz40 | ChannelWidth::Mhz80 => Some(Dbm(-69.0)),
            ChannelWidth::Mhz160 => Some(Dbm(-66.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PhyOptions, Standard};
    use super::*;

    #[test]
    fn wide_channels_of_vht_and_he_have_receivers_that_know_a_ppdu_under_way() {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        let level = |standard: &str, channel_width| {
            let options = PhyOptions { channel_width, ..PhyOptions::new(Standard::named(standard).unwrap()) };
            options.resolve("bss").unwrap().mid_packet_level().map(|level| level.0)
        };
        for standard in ["802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"] {
            assert_eq!(level(standard, None), None, "{standard}");
        }
        assert_eq!(level("802.11n", Some(Mhz40)), None);
        // -72 dBm on half the channel, on 80 of 160 MHz -69 dBm: 10 log10(2) = 3 dB more.
        for standard in ["802.11ac", "802.11ax"] {
            let found = [Mhz20, Mhz40, Mhz80, Mhz160].map(|width| level(standard, Some(width)));
            assert_eq!(found, [None, Some(-69.0), Some(-69.0), Some(-66.0)]);
        }
    }
}
