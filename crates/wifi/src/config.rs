//! What a medium is made of.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_link::QueueDiscipline;
use lasthop_observe::NodeId;
use lasthop_registry::{Switch, words};
use lasthop_units::{Bytes, Db, Dbm, Duration};

use crate::access::edca::EdcaParameters;
use crate::access::view::Countdown;
use crate::air::carrier_sense::Capture;
use crate::channel::Channel;
use crate::phy::Phy;
use crate::phy::error_model::{ErrorModel, ErrorModelKind, none};
use crate::rate_control::{PeerModes, RateControl, RateControlKind, fixed};
use crate::sender::aggregation::Aggregation;

words! {
    /// What precedes OFDM frames so that 802.11b stations keep silent [802.11-2020 §10.3.2.13].
    pub enum Protection {
        /// nothing
        None = "none",
        /// a CTS to itself at a DSSS rate
        CtsToSelf = "cts_to_self",
        /// an RTS/CTS exchange at a DSSS rate
        RtsCts = "rts_cts",
    }
}

words! {
    /// The inter-frame space a node waits before it contends.
    pub enum Access {
        /// the standard's, for every node
        Difs = "difs",
        /// one slot less: priority for the AP [802.11-2020 §10.3.2.3]
        Pifs = "pifs",
    }
}

/// How a node gets to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelAccess {
    /// one queue: DCF
    Dcf(Access),
    /// a queue for each access category, in the order of [`AccessCategory::ALL`](crate::AccessCategory::ALL): EDCA
    Edca([EdcaParameters; 4]),
}

/// How a node is set up.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// its name, after which its random streams are named
    pub name: String,
    /// which BSS of the medium it belongs to
    pub bss: u32,
    /// data waits in the socket and is asked for when the device has room; only what is handed to it waits in its queue
    pub backpressured: bool,
    /// retransmissions after the first attempt; `None`: as many as it takes
    pub retry_limit: Option<u32>,
    /// its way to the medium
    pub access: ChannelAccess,
    /// from which power on it notices an OFDM PPDU whose preamble it has missed, when it has listened for aCCAMidTime;
    /// `None`: by its energy only
    pub mid_packet_detection: Option<Dbm>,
    /// a station's share of airtime, where the queue of its AP gives shares; 256 is the default
    pub airtime_weight: u32,
}

/// What nodes wait after a frame that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLoss {
    /// as the standard has it: bystanders EIFS, the sender its ACK timeout [802.11-2020 §10.3.2.3.7, §10.3.2.11]
    Standard,
    /// as ns-3 has it: bystanders DIFS, as where nobody could detect that a frame had begun; the sender its ACK timeout,
    /// and after that DIFS, or its AIFS
    NoEifs,
    /// everybody DIFS, as closed forms have it
    DifsForAll,
}

impl AfterLoss {
    pub(crate) fn bystanders_wait_eifs(self) -> bool {
        self == AfterLoss::Standard
    }
    pub(crate) fn sender_waits_ack_timeout(self) -> bool {
        self != AfterLoss::DifsForAll
    }
    pub(crate) fn sender_waits_inter_frame_space_too(self) -> bool {
        self == AfterLoss::NoEifs
    }
}

/// A BSS of the medium.
#[derive(Clone, Debug)]
pub struct BssConfig {
    /// timing and modes
    pub phy: Arc<Phy>,
    /// which of the medium's channels it is on, counted from 0
    pub channel: u32,
    /// its access point; stations follow all access points in the order of nodes
    pub ap: NodeId,
    /// limits of A-MPDUs; `None`: every MSDU is acknowledged by itself
    pub aggregation: Option<Aggregation>,
    /// whether a sender asks by a BlockAckReq what has arrived of an A-MPDU that no BlockAck answered, as ns-3 does, or
    /// sends all of it again, as hardware does
    pub asks_after_loss: bool,
    /// data PPDUs longer than this are preceded by RTS/CTS; `None`: none
    pub rts_threshold: Option<Bytes>,
    /// data PPDUs that with their acknowledgement take this long or longer are preceded by RTS/CTS; `None`: none
    pub txop_duration_rts_threshold: Option<Duration>,
    /// what precedes data frames that older stations cannot make out
    pub protection: Protection,
    /// interval between beacons
    pub beacons: Option<Duration>,
}

/// Makes the queue of a channel access function of this node; what it draws comes from the stream.
pub type Queues<B> = Box<dyn FnMut(NodeId, Stream) -> Box<dyn QueueDiscipline<B>> + Send>;

/// What a medium is made of.
pub struct MediumConfig<B> {
    /// one BSS, or several on one or several channels
    pub bss: Vec<BssConfig>,
    /// the APs first, in the order of their BSSs, then the stations
    pub nodes: Vec<NodeConfig>,
    /// where packets wait: called once for each node, or with EDCA for each access category of each node
    pub queues: Queues<B>,
    /// for each link, who chooses its rates; see [`LinkId`]
    pub rate_controls: Vec<Box<dyn RateControl>>,
    /// for each link, an ideal rate control, against which an account holds the rates that were chosen; empty without
    pub ideals: Vec<Box<dyn RateControl>>,
    /// who hears whom
    pub channel: Channel,
    /// noise in a receiver in milliwatts per hertz, for error models that need the SINR
    pub noise_mw_per_hz: f64,
    /// noise
    pub error_model: Box<dyn ErrorModel>,
    /// when a frame survives others that overlap it
    pub capture: Switch<Capture>,
    /// countdown of others during a transmission, under DCF
    pub countdown: Countdown,
    /// what nodes wait after a frame that was lost
    pub after_loss: AfterLoss,
    /// of the run
    pub seed: u64,
}

impl NodeConfig {
    /// A node of the first BSS with one queue, DCF and 7 retransmissions.
    pub fn plain(name: impl Into<String>) -> NodeConfig {
        NodeConfig {
            name: name.into(),
            bss: 0,
            backpressured: false,
            retry_limit: Some(7),
            access: ChannelAccess::Dcf(Access::Difs),
            mid_packet_detection: None,
            airtime_weight: 256,
        }
    }
}

impl BssConfig {
    /// Whether RTS or CTS may precede data, whatever rate controls say.
    pub(crate) fn announces(&self) -> bool {
        let by_length = self.rts_threshold.is_some() || self.txop_duration_rts_threshold.is_some();
        by_length || self.protection != Protection::None
    }

    /// A BSS of node 0 on the first channel: no A-MPDUs, no RTS/CTS, no beacons.
    pub fn plain(phy: Arc<Phy>) -> BssConfig {
        BssConfig {
            phy,
            channel: 0,
            ap: NodeId(0),
            aggregation: None,
            asks_after_loss: false,
            rts_threshold: None,
            txop_duration_rts_threshold: None,
            protection: Protection::None,
            beacons: None,
        }
    }
}

impl<B> MediumConfig<B> {
    /// An AP and `stations`, called node0 and so on: all hear one another, all data goes at the highest rate, and only
    /// collisions are lost. What differs is set afterwards.
    pub fn plain(phy: Phy, stations: usize, seed: u64, queues: Queues<B>) -> MediumConfig<B> {
        MediumConfig {
            nodes: (0..=stations).map(|index| NodeConfig::plain(format!("node{index}"))).collect(),
            queues,
            rate_controls: (0..2 * stations).map(|_| highest_rate(&phy)).collect(),
            ideals: Vec::new(),
            channel: Channel::uniform(stations + 1),
            noise_mw_per_hz: 5e-18,
            error_model: ErrorModelKind::None(none::Params::default()).build(seed),
            capture: Switch::Off,
            countdown: Countdown::Frozen,
            after_loss: AfterLoss::Standard,
            seed,
            bss: vec![BssConfig::plain(Arc::new(phy))],
        }
    }
}

/// The highest rate of a PHY, always.
fn highest_rate(phy: &Phy) -> Box<dyn RateControl> {
    let error_model = &ErrorModelKind::None(none::Params::default());
    let (received, noise_figure) = (Dbm(-50.0), Db(7.0));
    let peer = PeerModes { phy, modes: phy.allowed_modes(), received, noise_figure, error_model, seed: 0 };
    RateControlKind::Fixed(fixed::Params::default())
        .build(&peer, "rate_control")
        .expect("every peer has a highest rate")
}
