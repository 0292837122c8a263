//! Configuration of a medium.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_link::QueueDiscipline;
use lasthop_observe::NodeId;
use lasthop_registry::{Switch, words};
use lasthop_units::{Bytes, Db, Dbm, Duration};

use crate::access::view::Countdown;
use crate::aggregation::Aggregation;
use crate::air::carrier_sense::Capture;
use crate::channel::Channel;
use crate::edca::EdcaParameters;
use crate::interferer::Interferers;
use crate::multi_user::scheduler::SchedulerKind;
use crate::multi_user::{MuEdca, MultiUser};
use crate::phy::error_model::{ErrorModel, ErrorModelKind, none};
use crate::phy::{Phy, frame_size};
use crate::rate_control::{PeerModes, RateControl, RateControlKind, fixed};

words! {
    /// Frames that precede OFDM frames so that 802.11b stations keep silent [802.11-2020 §10.3.2.13].
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
    /// The reservation of the medium in a TXOP. [802.11-2020 §9.2.5.2]
    pub enum TxopProtection {
        /// each exchange reserves the medium for itself and for the next one
        Single = "single",
        /// each reserves it to the end of the TXOP limit; a CF-End gives back the rest, if one still fits
        Multiple = "multiple",
    }
}

words! {
    /// The protection of the bodies of data frames.
    pub enum Security {
        /// none
        Open = "open",
        /// CCMP, the cipher of WPA2 [802.11-2020 §12.5.3]
        Ccmp = "ccmp",
    }
}

impl Security {
    /// The bytes that it adds to an MPDU of data.
    pub fn overhead(self) -> Bytes {
        match self {
            Security::Open => Bytes(0),
            Security::Ccmp => frame_size::CCMP,
        }
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

/// The way in which a node gets to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelAccess {
    /// one queue: DCF
    Dcf(Access),
    /// a queue for each access category, in the order of [`AccessCategory::ALL`](crate::AccessCategory::ALL): EDCA
    Edca([EdcaParameters; 4]),
}

/// A driver below the queues of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// most A-MPDUs of an access category that the driver prepares for the hardware, from their building to their
    /// completion; `None`: the hardware makes them from packets when it wins the medium, or sends frames without A-MPDUs.
    /// The queue of the node limits those packets then
    pub aggregates: Option<u32>,
    /// time from the end of an exchange to its completion, which the driver learns
    pub completion: Duration,
    /// whether completions come with the first that waits
    pub batched: bool,
}

/// Configuration of a node.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// its name, from which the names of its random streams are made
    pub name: String,
    /// the BSS of the medium it belongs to
    pub bss: u32,
    /// data waits in the socket and is pulled when the device has room; only packets already handed to it wait in its
    /// queue
    pub backpressured: bool,
    /// retransmissions after the first attempt; `None`: no limit
    pub retry_limit: Option<u32>,
    /// its way to the medium
    pub access: ChannelAccess,
    /// power from which on it notices an OFDM PPDU whose preamble it has missed, once it has listened for aCCAMidTime;
    /// `None`: it notices the PPDU by its energy only
    pub mid_packet_detection: Option<Dbm>,
    /// a station of an older standard than its BSS, without QoS: frames to and from it have no QoS Control, and each has an
    /// Ack of its own
    pub legacy: Option<Legacy>,
    /// a station's share of airtime, if the queue of its AP has shares; 256 is the default
    pub airtime_weight: u32,
    /// the driver below its queues; `None`: an A-MPDU is made when the medium is won, and its result known at once
    pub driver: Option<Driver>,
    /// whether a station takes part in PPDUs of several users
    pub multi_user: bool,
}

/// A station without QoS in a BSS that has it; its access is DCF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legacy {
    /// its aCWmin, in slots
    pub cw_min: u32,
}

/// Waiting times after a frame that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLoss {
    /// the standard's: EIFS for bystanders, the ACK timeout for the sender [802.11-2020 §10.3.2.3.7, §10.3.2.11]
    Standard,
    /// those of ns-3: DIFS for bystanders, as if no node could detect that a frame had begun; for the sender its ACK
    /// timeout, then DIFS or its AIFS
    NoEifs,
    /// DIFS for every node, as in closed forms
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
    /// the channel of the medium it is on, counted from 0
    pub channel: u32,
    /// its access point; stations follow all access points in the order of nodes
    pub ap: NodeId,
    /// limits of A-MPDUs; `None`: each MSDU has its own acknowledgement
    pub aggregation: Option<Aggregation>,
    /// whether a sender whose A-MPDU got no BlockAck sends a BlockAckReq to learn which MPDUs arrived, as ns-3 does, or
    /// retransmits all of it, as hardware does
    pub asks_after_loss: bool,
    /// data PPDUs longer than this are preceded by RTS/CTS; `None`: no data PPDU
    pub rts_threshold: Option<Bytes>,
    /// data PPDUs that take this long or longer, acknowledgement included, are preceded by RTS/CTS; `None`: no data
    /// PPDU
    pub txop_duration_rts_threshold: Option<Duration>,
    /// frames that precede data frames that older stations cannot decode
    pub protection: Protection,
    /// reservation of the medium in a TXOP; if it is multiple, the channel must not be uniform
    pub txop_protection: TxopProtection,
    /// interval between beacons
    pub beacons: Option<Duration>,
    /// protection of its data frames
    pub security: Security,
    /// whether packets are MPDUs already, with all but their FCS
    pub whole_frames: bool,
    /// use of PPDUs of several users by its access point; `None`: each PPDU is for one
    pub multi_user: Option<MultiUser>,
    /// the choice of the stations that such PPDUs serve
    pub scheduler: SchedulerKind,
    /// whether it asks its stations as ns-3 does: lengths of queues are in units of 256 bytes, come in QoS Nulls alone and are
    /// forgotten after 20 ms; triggers for them and for data have the lowest basic rate; QoS Nulls have the mode of data; a station
    /// of whose A-MPDU no answer came sends a BlockAckReq when it is triggered; access requests are counted from the latest access
    pub asks_as_ns3: bool,
    /// parameters of a station's functions for a time after a triggered PPDU, by access category; `None`: its own
    pub mu_edca: Option<[Option<MuEdca>; 4]>,
}

/// Makes the queue of a channel access function of this node; the queue draws its random numbers from the stream.
pub type Queues<B> = Box<dyn FnMut(NodeId, Stream) -> Box<dyn QueueDiscipline<B>> + Send>;

/// Configuration of a medium.
pub struct MediumConfig<B> {
    /// one BSS, or several on one or several channels
    pub bss: Vec<BssConfig>,
    /// the APs first, in the order of their BSSs, then the stations
    pub nodes: Vec<NodeConfig>,
    /// makes the queues: called once for each node, or with EDCA once for each access category of each node
    pub queues: Queues<B>,
    /// the rate control of each link; by `LinkId`
    pub rate_controls: Vec<Box<dyn RateControl>>,
    /// an ideal rate control for each link, with which an account compares the rates that were chosen; empty without
    pub ideals: Vec<Box<dyn RateControl>>,
    /// audibility and received powers
    pub channel: Channel,
    /// noise in a receiver in milliwatts per hertz, for error models that need the SINR
    pub noise_mw_per_hz: f64,
    /// losses due to noise
    pub error_model: Box<dyn ErrorModel>,
    /// conditions under which a frame survives others that overlap it
    pub capture: Switch<Capture>,
    /// transmitters that are not of 802.11; they need an error model that uses the SINR
    pub interferers: Interferers,
    /// countdown of others during a transmission, under DCF
    pub countdown: Countdown,
    /// waiting times after a frame that was lost
    pub after_loss: AfterLoss,
    /// seed of the run
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
            legacy: None,
            airtime_weight: 256,
            driver: None,
            multi_user: true,
        }
    }
}

impl BssConfig {
    /// Returns whether RTS or CTS may precede data, whatever rate controls say.
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
            txop_protection: TxopProtection::Single,
            beacons: None,
            security: Security::Open,
            whole_frames: false,
            multi_user: None,
            scheduler: SchedulerKind::default(),
            asks_as_ns3: false,
            mu_edca: None,
        }
    }
}

impl<B> MediumConfig<B> {
    /// An AP and `stations`, called node0 and so on: all hear one another, all data is sent at the highest rate, and
    /// the only losses are collisions. The caller changes other settings afterwards.
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
            interferers: Interferers::default(),
            countdown: Countdown::Frozen,
            after_loss: AfterLoss::Standard,
            seed,
            bss: vec![BssConfig::plain(Arc::new(phy))],
        }
    }
}

/// A rate control that always uses the highest rate of a PHY.
fn highest_rate(phy: &Phy) -> Box<dyn RateControl> {
    let error_model = &ErrorModelKind::None(none::Params::default());
    let (received, noise_figure) = (Dbm(-50.0), Db(7.0));
    let peer = PeerModes { phy, modes: phy.allowed_modes(), received, noise_figure, error_model, seed: 0 };
    RateControlKind::Fixed(fixed::Params::default())
        .build(&peer, "rate_control")
        .expect("every peer has a highest rate")
}
