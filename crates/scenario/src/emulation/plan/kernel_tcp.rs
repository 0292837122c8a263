//! The keys of `[tcp]` that set options of a flow's sockets, and the keys that no kernel can be told.
//!
//! Names and meanings follow tcp(7) and socket(7); docs/model/emulation.md has a table of all keys.

use lasthop_registry::Fault;
use lasthop_registry::{Amount, Parameters, Switch, Value};
use lasthop_tcp::{AckPolicy, Config, LossDetection, Pacing, Profile, ReceiveWindow};
use lasthop_units::Duration;

use super::control::{name_in_linux, parameters_of_its_own};
use crate::application::ApplicationKind;

/// Length of the timestamps option in segments. [RFC 7323 §3.2, A]
const TIMESTAMPS_OPTION: u32 = 12;
/// The segment size of a path whose MTU is 1500 B.
const USUAL_SEGMENT: u32 = 1460;
/// Minimum of `TCP_MAXSEG`: `TCP_MIN_MSS`.
const LEAST_SEGMENT: u32 = 88;
/// More than any path here fills, in bytes.
const AMPLE_WINDOW: u32 = 64 << 20;

/// Options of the sockets of one flow, at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTcp {
    /// `TCP_CONGESTION`: the kernel's name of the congestion control.
    pub congestion_control: String,
    /// `TCP_MAXSEG` in bytes, set before connecting and listening; none: the value for an MTU of 1500 B.
    pub max_segment: Option<u32>,
    /// `TCP_WINDOW_CLAMP` in bytes, set before connecting and listening, and again when the first data has been read:
    /// from Linux 6.7 on a kernel forgets it at the first full segment. None: the kernel tunes it.
    pub receive_window: Option<u32>,
    /// Whether segments are paced at a rate derived from the window: `SO_MAX_PACING_RATE` with any rate except the
    /// largest, which means no pacing.
    pub paced: bool,
    /// `TCP_USER_TIMEOUT`.
    pub user_timeout: Option<Duration>,
}

impl KernelTcp {
    /// The options for `config`.
    ///
    /// # Errors
    /// A sentence, if no kernel has its congestion control.
    pub(super) fn of(config: &Config) -> Result<KernelTcp, Fault> {
        Ok(KernelTcp {
            congestion_control: name_in_linux(&config.congestion_control)?.to_string(),
            max_segment: unusual_segment(config),
            receive_window: fixed_window(config).or_else(|| ample_window(config)),
            paced: config.pacing == Pacing::On,
            user_timeout: config.user_timeout.as_option().copied(),
        })
    }
}

/// The segment size in a SYN, chosen for packets of the same size as in a simulation. It counts the options of each
/// segment. [RFC 9293 §3.7.1]
pub(super) fn segment_size(config: &Config) -> u32 {
    let options = if config.timestamps && config.options_on_wire { TIMESTAMPS_OPTION } else { 0 };
    (config.payload_bytes() + options).max(LEAST_SEGMENT)
}

pub(super) fn unusual_segment(config: &Config) -> Option<u32> {
    Some(segment_size(config)).filter(|size| *size != USUAL_SEGMENT)
}

/// The window in bytes, where it is constant.
pub(super) fn fixed_window(config: &Config) -> Option<u32> {
    let bytes = match config.receive_window {
        ReceiveWindow::Fixed(Amount::Packets(packets)) => packets.saturating_mul(u64::from(config.payload_bytes())),
        ReceiveWindow::Fixed(Amount::Bytes(bytes)) => bytes,
        ReceiveWindow::Fixed(Amount::Unlimited) | ReceiveWindow::Autotune(_) => return None,
    };
    Some(u32::try_from(bytes).unwrap_or(u32::MAX))
}

/// A clamp for an unlimited window, below the initial share of the buffer. Without it the window would keep growing,
/// and a kernel acknowledges each segment at once while it does.
fn ample_window(config: &Config) -> Option<u32> {
    matches!(config.receive_window, ReceiveWindow::Fixed(Amount::Unlimited)).then_some(AMPLE_WINDOW)
}

/// Keys set by a socket, a route or a sysctl, or covered by another warning.
const TOLD: [&str; 22] = [
    "ecn",
    "congestion_control",
    "packet_size",
    "mss",
    "initial_window",
    "slow_start_after_idle",
    "sack",
    "duplicate_ack_threshold",
    "tail_loss_probe",
    "forward_rto",
    "min_burst",
    "small_queue",
    "local_drop",
    "receive_window",
    "window_scaling",
    "timestamps",
    "min_rto",
    "dsack",
    "answer_interval",
    "retries",
    "syn_retries",
    "fin_timeout",
];

/// Keys of delayed ACKs.
const DELAY: [&str; 4] = ["delayed_ack", "delayed_ack_timeout", "delayed_ack_max", "quick_acks"];

/// Keys of `config` that differ from the kernel's behaviour and cannot be set, each as `KEY = VALUE`; `application` has
/// the sockets, or the emulator itself.
pub(super) fn left_to_kernel(config: &Config, application: Option<&ApplicationKind>) -> Vec<String> {
    let usual = Profile::Linux.config().values();
    let is_told = |key: &str| match key {
        "ack" => config.ack == AckPolicy::EverySegment,
        // None are what profiles of kernels have that replace 44 all the same.
        "compressed_acks" => config.compressed_acks == 0,
        "accecn_option" => config.accecn_option.is_some(),
        "loss_detection" => loss_detection_of(config).is_some(),
        // For a controller that does without pacing, off is the same as no request for a rate.
        "pacing" => match config.pacing {
            Pacing::On => matches!(application, None | Some(ApplicationKind::Iperf3(_))),
            Pacing::Off => !config.congestion_control.needs().paced,
            Pacing::Controller => true,
        },
        "user_timeout" => application.is_none(),
        key if DELAY.contains(&key) => config.ack == AckPolicy::EverySegment,
        key => TOLD.contains(&key),
    };
    let differs = |entry: &(String, Value)| !usual.contains(entry);
    let written = |(key, value): (String, Value)| format!("{key} = {value}");
    let keys = config.values().into_iter().filter(|entry| differs(entry) && !is_told(&entry.0)).map(written);
    let never_asked = (config.syn_retries == Switch::On(0)).then(|| "syn_retries = 0".to_string());
    parameters_of_its_own(&config.congestion_control).into_iter().chain(keys).chain(never_asked).collect()
}

/// `tcp_recovery`: with or without RACK. Linux 4.15 removed FACK.
pub(super) fn loss_detection_of(config: &Config) -> Option<&'static str> {
    match config.loss_detection {
        LossDetection::Rack => Some("1"),
        LossDetection::Count => Some("0"),
        LossDetection::Fack => None,
    }
}
