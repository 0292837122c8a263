//! `[channel]`: propagation between antennas, and reception.

use lasthop_registry::{ParamError, Switch, Word, params};
use lasthop_units::{Db, Dbm, Duration, Probability};
use lasthop_wifi::LateCapture;
use lasthop_wifi::phy::error_model::ErrorModelKind;
use lasthop_wifi::phy::fading::{self, DelayProfile, FadingKind, Spread};
use lasthop_wifi::phy::path_loss::PathLossKind;
use lasthop_wifi::phy::shadowing::Shadowing;

params! {
    /// When a frame survives others that overlap it.
    pub(crate) struct Capture {
        /// Margin by which it is stronger than all others together.
        pub threshold: Db = Db(10.0),
        /// When a receiver abandons a frame for a later one that is stronger by that margin: "off",
        /// "preamble" (during preamble and PHY header of the first) or "any_time".
        pub late: LateCapture = LateCapture::Preamble,
    }
    check |this, path| {
        if this.threshold.0 <= 0.0 {
            let message = ("of two frames that overlap both would survive", "more than 0 dB");
            return Err(ParamError::new(format!("{path}.threshold"), message));
        }
        Ok(())
    }
}

params! {
    /// The channel. With 802.11a, b and g everybody hears everybody and nothing is lost but by collision, unless it says
    /// otherwise.
    pub(crate) struct ChannelSection {
        /// Loss of a signal with distance; default with 802.11n and later: { kind = "log_distance", exponent = 3,
        /// reference_loss = "46.6777 dB" }, as ns-3 has it; else "none".
        pub path_loss: Option<PathLossKind> = None,
        /// Variation of the received power around the path loss.
        pub fading: FadingKind = FadingKind::None(fading::none::Params::default()),
        /// Echoes, which make subcarriers fade apart; for fading = "jakes" or "gauss_markov"; default: all fade alike.
        pub delay_profile: Option<DelayProfile> = None,
        /// Correlation of the channels of neighbouring antennas at either end, which makes streams disturb one another;
        /// for fading = "jakes" or "gauss_markov"; default: streams never do.
        pub antenna_correlation: Option<Probability> = None,
        /// Normal variation in dB of the path loss from place to place; default: "off".
        pub shadowing: Option<Switch<Shadowing>> = None,
        /// Probability that a frame without a collision arrives; default with 802.11n and later: "nist", unless
        /// path_loss = "none"; else "none".
        pub error_model: Option<ErrorModelKind> = None,
        /// Whether a much stronger frame survives a collision.
        pub capture: Switch<Capture> = Switch::Off,
        /// Transmit power of every node; a station group or the AP may override it.
        pub tx_power: Dbm = Dbm(16.0),
        /// Noise figure of the receivers.
        pub noise_figure: Db = Db(7.0),
        /// Power from which a PPDU is sensed. [802.11-2020 §17.3.10.6]
        pub cca_preamble: Dbm = Dbm(-82.0),
        /// Power from which any signal is sensed. [802.11-2020 §17.3.10.6]
        pub cca_energy: Dbm = Dbm(-62.0),
        /// Power from which a receiver that missed the preamble of an OFDM PPDU, because it was sending or receiving,
        /// senses the PPDU by its guard intervals, 25 us after it began to listen; "off": only by energy. Default: what
        /// the standard asks of wide channels, -69 dBm with 802.11ac and 802.11ax on 40 and 80 MHz, -66 dBm on 160 MHz,
        /// else "off". [802.11-2020 §21.3.18.5.4]
        pub mid_packet_detection: Option<Switch<Dbm>> = None,
        /// Time between updates of the positions of moving stations, at least 1 ms; default: 100 ms.
        pub position_interval: Option<Duration> = None,
        /// Pairs that do not hear each other, whatever the geometry; "ap" is the access point.
        pub hidden: Vec<[Word; 2]> = Vec::new(),
    }
}

impl ChannelSection {
    /// The causes for which subcarriers and antennas fade apart.
    pub(crate) fn spread(&self) -> Spread {
        let antenna_correlation = self.antenna_correlation.map(Probability::get);
        Spread { delay_profile: self.delay_profile, antenna_correlation }
    }

    /// Shadowing, if it is on.
    pub(crate) fn shadowing(&self) -> Option<&Shadowing> {
        self.shadowing.as_ref().and_then(Switch::as_option)
    }
}
