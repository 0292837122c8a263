//! The keys of `[tcp]` that a kernel gets for all flows of a namespace: by sysctl(8) and by its route.
//!
//! Names and meanings follow the kernel's Documentation/networking/ip-sysctl.rst and ip-route(8).

use lasthop_registry::Switch;
use lasthop_tcp::{AccEcnOption, AckPolicy, Config, EcnUse, ReceiveWindow};
use lasthop_units::Duration;

use super::control::name_in_linux;
use super::kernel_tcp::{fixed_window, loss_detection_of, unusual_segment};

/// Metrics of a route, as in ip-route(8). `None` and false leave the kernel's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteMetrics {
    /// `initcwnd` in segments.
    pub initial_window: Option<u32>,
    /// `advmss` in bytes.
    pub advertised_mss: Option<u32>,
    /// `window` in bytes: the largest offered window.
    pub receive_window: Option<u32>,
    /// `rto_min`.
    pub min_rto: Option<Duration>,
    /// `quickack 1`: each segment is acknowledged at once.
    pub quick_ack: bool,
    /// `features ecn`: connections request ECN, whatever the setting of the namespace.
    pub ecn: bool,
}

/// The role of a flow at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Sender,
    Receiver,
    Both,
}

impl Ends {
    /// Whether a setting for `self` applies to an end with role `other`.
    pub fn meets(self, other: Ends) -> bool {
        self == other || self == Ends::Both || other == Ends::Both
    }
}

/// How sockets of a flow can change a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtSocket {
    /// They cannot.
    Mute,
    /// Their value applies.
    Overrides,
    /// The smaller value applies.
    Limits,
}

/// A setting of a kernel and its value; `None`: the kernel's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Sysctl(&'static str, Option<String>),
    InitialWindow(Option<u32>),
    AdvertisedMss(Option<u32>),
    Window(Option<u32>),
    MinRto(Option<Duration>),
    QuickAck(bool),
}

impl Setting {
    /// Its text in messages.
    pub fn text(&self) -> String {
        let or_own = |value: Option<String>| value.unwrap_or_else(|| "the kernel's own".into());
        let (name, value) = match self {
            Setting::Sysctl(name, value) => (*name, or_own(value.clone())),
            Setting::InitialWindow(segments) => ("initcwnd", or_own(segments.map(|n| n.to_string()))),
            Setting::AdvertisedMss(bytes) => ("advmss", or_own(bytes.map(|n| n.to_string()))),
            Setting::Window(bytes) => ("window", or_own(bytes.map(|n| n.to_string()))),
            Setting::MinRto(time) => ("rto_min", or_own(time.map(|t| t.to_string()))),
            Setting::QuickAck(on) => ("quickack", u8::from(*on).to_string()),
        };
        format!("{} = {value}", name.strip_prefix("net.ipv4.").unwrap_or(name))
    }

    /// The same setting without a value.
    pub fn silent(&self) -> Setting {
        match self {
            Setting::Sysctl(name, _) => Setting::Sysctl(name, None),
            Setting::InitialWindow(_) => Setting::InitialWindow(None),
            Setting::AdvertisedMss(_) => Setting::AdvertisedMss(None),
            Setting::Window(_) => Setting::Window(None),
            Setting::MinRto(_) => Setting::MinRto(None),
            Setting::QuickAck(_) => Setting::QuickAck(false),
        }
    }
}

/// A setting that a flow needs, and the ends that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub setting: Setting,
    pub of: Ends,
    pub at_socket: AtSocket,
}

/// All settings for `config`, always in the same order. `own_sockets`: the emulator has the sockets, rather than a
/// program.
pub(super) fn wishes(config: &Config, own_sockets: bool) -> Vec<Wish> {
    let mut wishes = Vec::new();
    let mut wish = |of: Ends, at_socket: AtSocket, setting: Setting| wishes.push(Wish { setting, of, at_socket });
    use AtSocket::{Limits, Mute, Overrides};
    use Ends::{Both, Receiver, Sender};
    let sysctl = |name: &'static str, value: &dyn ToString| Setting::Sysctl(name, Some(value.to_string()));
    let flag = |name: &'static str, on: bool| Setting::Sysctl(name, Some(u8::from(on).to_string()));

    // Values learned from one connection must not influence the next.
    wish(Both, Mute, flag("net.ipv4.tcp_no_metrics_save", true));
    wish(Both, Mute, flag("net.ipv4.tcp_sack", config.sack));
    wish(Both, Mute, flag("net.ipv4.tcp_timestamps", config.timestamps));
    wish(Both, Mute, flag("net.ipv4.tcp_window_scaling", config.window_scaling));
    wish(Both, Mute, sysctl("net.ipv4.tcp_ecn", &ecn(config.ecn)));
    if let Some(option) = ecn_option(config) {
        wish(Both, Mute, sysctl("net.ipv4.tcp_ecn_option", &option));
    }
    wish(Both, Mute, sysctl("net.ipv4.tcp_syn_retries", &retries(config.syn_retries, 127).max(1)));
    wish(Both, Mute, sysctl("net.ipv4.tcp_fin_timeout", &whole(config.fin_timeout, Duration::from_secs(1)).max(1)));
    wish(Both, Mute, sysctl("net.ipv4.tcp_invalid_ratelimit", &whole(config.answer_interval, MILLISECOND)));
    wish(Both, Limits, Setting::AdvertisedMss(unusual_segment(config)));

    let control = name_in_linux(&config.congestion_control).ok().map(str::to_string);
    wish(Sender, Overrides, Setting::Sysctl("net.ipv4.tcp_congestion_control", control));
    wish(Sender, Mute, flag("net.ipv4.tcp_slow_start_after_idle", config.slow_start_after_idle));
    wish(Sender, Mute, sysctl("net.ipv4.tcp_early_retrans", if config.tail_loss_probe { &3 } else { &0 }));
    wish(Sender, Mute, sysctl("net.ipv4.tcp_recovery", &loss_detection_of(config).unwrap_or("1")));
    wish(Sender, Mute, sysctl("net.ipv4.tcp_frto", if config.forward_rto { &2 } else { &0 }));
    wish(Sender, Mute, sysctl("net.ipv4.tcp_reordering", &config.duplicate_ack_threshold));
    wish(Sender, Mute, sysctl("net.ipv4.tcp_retries2", &retries(config.retries, 255)));
    wish(Sender, Mute, sysctl("net.ipv4.tcp_min_tso_segs", &config.min_burst.min(255)));
    wish(Sender, Mute, sysctl("net.ipv4.tcp_wmem", &format!("4096 16384 {AMPLE_BUFFER}")));
    wish(Sender, Mute, Setting::InitialWindow(Some(config.initial_window).filter(|n| *n != 10)));
    wish(Sender, Mute, Setting::MinRto(Some(config.min_rto).filter(|t| *t != Duration::from_millis(200))));

    wish(Receiver, Mute, flag("net.ipv4.tcp_dsack", config.dsack));
    let buffer = ReceiveBuffer::of(config, own_sockets);
    wish(Receiver, Mute, flag("net.ipv4.tcp_moderate_rcvbuf", buffer.grows));
    wish(Receiver, Mute, sysctl("net.ipv4.tcp_rmem", &format!("4096 {} {}", buffer.initial, buffer.max)));
    wish(Receiver, Limits, Setting::Window(fixed_window(config)));
    wish(Receiver, Mute, Setting::QuickAck(config.ack == AckPolicy::EverySegment));
    wishes
}

const MILLISECOND: Duration = Duration::from_millis(1);

/// A buffer that no window of a path here fills: twice the bytes of 1 Gbit/s in a second. Only waiting data takes
/// memory.
const AMPLE_BUFFER: u64 = 256 << 20;
/// The largest value of `tcp_rmem`.
const LARGEST_BUFFER: u64 = i32::MAX as u64;
/// More than the buffer space of any packet here.
const AMPLE_PACKET: u64 = 4608;
/// The kernel's default buffer.
const USUAL_BUFFER: u64 = 131_072;

/// `tcp_rmem`: initial and largest size, and whether it grows with the sender's use.
struct ReceiveBuffer {
    initial: u64,
    max: u64,
    grows: bool,
}

impl ReceiveBuffer {
    /// A socket of the emulator's own is clamped to its window; its buffer need only be large enough. A clamp by the
    /// route holds until the first full segment: kernels from Linux 6.7 on then offer the payload's share of the
    /// buffer. If a program has the socket, the size of the buffer makes that share equal to the window.
    fn of(config: &Config, own_sockets: bool) -> ReceiveBuffer {
        let still = |bytes: u64| ReceiveBuffer { initial: bytes, max: bytes, grows: false };
        let (window, payload) = (fixed_window(config).map(u64::from), u64::from(config.payload_bytes()));
        match (config.receive_window, window) {
            (ReceiveWindow::Autotune(tuned), _) => {
                ReceiveBuffer { initial: tuned.initial.0, max: tuned.max.0, grows: true }
            }
            (ReceiveWindow::Fixed(_), None) => still(AMPLE_BUFFER),
            (ReceiveWindow::Fixed(_), Some(window)) if own_sockets => {
                // Half of a new buffer is offered.
                still((2 * AMPLE_PACKET * window.div_ceil(payload)).clamp(USUAL_BUFFER, LARGEST_BUFFER))
            }
            (ReceiveWindow::Fixed(_), Some(window)) => {
                let memory = packet_memory(payload);
                let share = (256 * payload / memory).max(1);
                // One packet more, for the one about to be read.
                still(((256 * window).div_ceil(share) + memory).min(LARGEST_BUFFER))
            }
        }
    }
}

/// Buffer space of a packet with this payload from a TUN device, as measured on Linux 6.12 and 6.18: a power of two for
/// its bytes, their headroom and `skb_shared_info`, and `sk_buff` itself.
fn packet_memory(payload: u64) -> u64 {
    const HEADERS: u64 = 52;
    const BESIDE: u64 = 64 + 2 + 320;
    const SK_BUFF: u64 = 256;
    (payload + HEADERS + BESIDE).next_power_of_two() + SK_BUFF
}

/// `tcp_ecn`. Kernels before Linux 6.18 refuse 3 to 5, and the emulator sets the plain echo in their place.
fn ecn(of: EcnUse) -> u8 {
    match of {
        EcnUse::Off => 0,
        EcnUse::On => 1,
        EcnUse::Passive => 2,
        EcnUse::Accurate => 3,
        EcnUse::OnAccurate => 4,
        EcnUse::PassiveAccurate => 5,
    }
}

/// `tcp_ecn_option`, for connections that may have it.
fn ecn_option(config: &Config) -> Option<u8> {
    let accurate = matches!(config.ecn, EcnUse::Accurate | EcnUse::OnAccurate | EcnUse::PassiveAccurate);
    config.accecn_option.filter(|_| accurate).map(|policy| match policy {
        AccEcnOption::Off => 0,
        AccEcnOption::Minimal => 1,
        AccEcnOption::Full => 2,
        AccEcnOption::Persist => 3,
    })
}

/// A number of retransmissions, with `most` for "unlimited".
fn retries(of: Switch<u32>, most: u32) -> u32 {
    of.as_option().map_or(most, |number| (*number).min(most))
}

/// The number of `step`s in `time`, rounded up.
fn whole(time: Duration, step: Duration) -> u64 {
    time.div_ceil(step)
}
