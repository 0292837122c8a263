//! The `[tcp]` table: every difference between stacks is a key.
//!
//! A [`Profile`](crate::Profile) gives all values; a scenario may override any of them.

use lasthop_registry::{Amount, Fault, Kind, ParamError, Switch, Value, params, read_table, refuse, words};
use lasthop_units::{Bytes, Duration};

mod ack_loss;
mod at_work;
mod controller;
mod interface;
mod receiving;
mod validation;

use crate::congestion_control::{Algorithm, LossAnswer, MarkReports, newreno};
pub use crate::congestion_control::{Growth, GrowthMode};
use crate::segment::{HEADERS, TIMESTAMPS_OPTION};
pub use ack_loss::{AckLoss, AckLossMode, CountOver, Pending};
pub use interface::{LocalDrop, ReceiveOffload, SmallQueue};
pub use receiving::{
    AccEcnOption, AceWraps, AckPolicy, ArrivalRules, Autotune, DelayedAck, EcnUse, ReceiveWindow, Segments, Skip,
};
pub use validation::WindowValidation;

params! {
    /// Parameters of an endpoint; the defaults are those of a current Linux kernel, NewReno apart.
    pub struct Config {
        /// Congestion control of the sender.
        pub congestion_control: Algorithm = Algorithm::Newreno(newreno::Params::default()),
        /// Reaction to lost ACKs: "off", or a table, where `threshold = 1` is as published. [hashimoto2008 §III]
        pub ack_loss: Switch<AckLoss> = Switch::Off,
        /// When data is acknowledged: "every_segment"; "delayed", see `delayed_ack` [RFC 1122 §4.2.3.2]; or { kind = "skip", skip = k, start_after = "10 segments" }: one ACK for k + 1 segments in order, or after `delayed_ack_timeout` [gopal2005].
        pub ack: AckPolicy = AckPolicy::Delayed,
        /// Size of a full IP packet; the payload is 40 B less, and another 12 B less with timestamps.
        pub packet_size: Bytes = Bytes(1500),
        /// Payload of a full segment, instead of `packet_size`.
        pub mss: Option<Bytes> = None,
        /// Congestion window at the start, in segments. [RFC 6928 §2]
        pub initial_window: u32 = 10,
        /// Slow-start threshold at the start, in segments; "off": none. [RFC 5681 §3.1]
        pub initial_ssthresh: Switch<u32> = Switch::Off,
        /// Basis of window growth: each ACK, or the bytes that it acknowledges (without limit). [RFC 3465 §2]
        pub growth: Growth = Growth::both(GrowthMode::PerByte),
        /// Quantity from which a loss computes the new window: flight_size [RFC 5681 §3.1], or cwnd.
        pub decrease_from: DecreaseFrom = DecreaseFrom::Cwnd,
        /// Treatment of a window that is not fully used: "linux", or true: it does not grow [RFC 9438 §5.8]; "rfc7661":
        /// it is kept for five minutes, and a loss in that time counts from the used part [RFC 7661 §4]; false: it
        /// grows anyway.
        pub window_validation: WindowValidation = WindowValidation::Linux,
        /// After a pause longer than the RTO, start again from the initial window; with recovery linux, halve the window for each RTO of the pause. window_validation "rfc7661" keeps it. [RFC 5681 §4.1]
        pub slow_start_after_idle: bool = true,
        /// Largest number of segments that one ACK may release; "off": as many as the window allows.
        pub max_burst: Switch<u32> = Switch::Off,
        /// Selective acknowledgements. [RFC 2018, RFC 6675]
        pub sack: bool = true,
        /// Send new data on duplicate ACKs that do not indicate a loss yet; with recovery rfc on the first two. [RFC
        /// 3042 §2]
        pub limited_transmit: bool = true,
        /// Number of duplicate ACKs, or of SACKed segments above a hole, that indicates a loss. [RFC 5681 §3.2, RFC
        /// 6675 §2]
        pub duplicate_ack_threshold: u32 = 3,
        /// Loss recovery: rfc: NewReno [RFC 6582], or RFC 6675 with SACK, by the letter; linux: the states of Linux,
        /// with the switches below.
        pub recovery: RecoveryMachine = RecoveryMachine::Linux,
        /// Rule that declares a segment lost, with SACK and recovery linux: rack: it was sent well before one that has
        /// arrived [RFC 8985 §6]; rfc6675: enough segments above it are SACKed; fack: it lies far enough below the
        /// highest SACKed segment.
        pub loss_detection: LossDetection = LossDetection::Rack,
        /// How the window falls during recovery, with recovery linux: prr: in proportion to delivered data [RFC 6937];
        /// prr_rfc9937: likewise, from the data in flight instead of the window [RFC 9937]; rate_halving: by one for every
        /// second ACK; at_once.
        pub window_reduction: WindowReduction = WindowReduction::Prr,
        /// Probe for a tail loss after two round trips without an ACK; needs SACK and recovery linux. [RFC 8985 §7]
        pub tail_loss_probe: bool = true,
        /// After a timeout, find out whether it was spurious before retransmitting everything; needs recovery linux.
        /// [RFC 5682]
        pub forward_rto: bool = true,
        /// Undo a reduction that DSACKs or timestamps show to be spurious; needs recovery linux. [RFC 3522, RFC 3708,
        /// RFC 4015]
        pub undo: bool = true,
        /// Pacing of segments, with recovery linux: controller: at the rate that the congestion control sets, if it
        /// sets one; on: otherwise at a rate computed from the window, as under Linux's fq; off: as the window allows.
        pub pacing: Pacing = Pacing::Controller,
        /// Let new data wait for the next ACK if it would leave as a short burst and the ACK is due soon, as Linux does
        /// for segmentation offload; needs recovery linux.
        pub tso_deferral: bool = true,
        /// Smallest number of segments in one send, where pacing and deferral make sends short; needs recovery linux.
        pub min_burst: u32 = 2,
        /// Set PSH on the last segment of each send of several, as Linux does since 5.5, and not only at the end of a write:
        /// a receiver that has read everything acknowledges it at once; needs recovery linux.
        pub push_sends: bool = true,
        /// Most ACKs of data out of order that one may replace, as in Linux since 4.18: after three at once, others wait for a third
        /// of the RTT, at most 1 ms; needs sack. 0: each goes out.
        pub compressed_acks: u32 = 44,
        /// Limit on the data of a connection that waits below TCP, in the queue of its own host (TSQ): a duration at
        /// the rate of window and RTT or of the congestion control, but at least two segments and at most 4 MiB; "on":
        /// 8 ms (1/128 s), as in Linux for Wi-Fi interfaces; "off": all that the window allows. With the queue
        /// "backpressure" it limits only paced senders. It has no effect on servers: their wired link is part of the
        /// path, not a queue of their own.
        pub small_queue: SmallQueue = SmallQueue::On,
        /// Reaction when the queue of its own host refuses a packet: cwr: the window falls at once, as on a congestion
        /// mark, with recovery linux; unnoticed: the packet is lost like any other.
        pub local_drop: LocalDrop = LocalDrop::Cwr,
        /// Receive offload (GRO) of the receiver's host: "ampdu": segments in order that came in one A-MPDU, up to 64 KiB, are
        /// taken in together, so that one ACK answers them; "off": each by itself; absent: "off". [Linux, net/core/gro.c]
        pub receive_offload: Option<ReceiveOffload> = None,
        /// For NewReno with recovery rfc: only the first partial ACK restarts the retransmission timer. [RFC 6582 §4]
        pub newreno_impatient: bool = false,
        /// Largest window offered: "unlimited", packets of the receiver's segment size, bytes, or "autotune": what the
        /// sender can use.
        pub receive_window: ReceiveWindow = ReceiveWindow::Fixed(Amount::Unlimited),
        /// Window scaling; without it at most 65535 B are offered. [RFC 7323 §2]
        pub window_scaling: bool = true,
        /// Timestamps: RTT samples of retransmitted data as well, and protection against old segments. [RFC 7323 §3]
        pub timestamps: bool = true,
        /// Tick of the timestamp clock, at most 1 s. [RFC 7323 §5.4]
        pub timestamp_clock: Duration = Duration::from_millis(1),
        /// Old segments also renew the timestamp to echo, as in ns-2; otherwise only acceptable segments do, so that an
        /// RTT may span timeouts. [RFC 7323 §4.3]
    pub echo_duplicates: bool = false,
    /// Options take bytes on the wire; false as in ns-2, where all headers together take 40 B.
        pub options_on_wire: bool = true,
        /// How the RTO is computed from the RTT: rfc6298: srtt + max(granularity, 4 rttvar), at least `min_rto`; linux:
        /// srtt + max(4 rttvar, `min_rto`), where rttvar falls slowly.
        pub rto_formula: RtoFormula = RtoFormula::Linux,
        /// RTO before the first RTT sample. [RFC 6298 §2.1]
        pub initial_rto: Duration = Duration::from_secs(1),
        /// Least RTO. [RFC 6298 §2.4]
        pub min_rto: Duration = Duration::from_millis(200),
        /// Greatest RTO, backoff included. [RFC 6298 §2.5]
        pub max_rto: Duration = Duration::from_secs(120),
        /// Greatest factor by which backoff multiplies the RTO. [RFC 6298 §5.5]
        pub max_backoff: u32 = 65_536,
        /// Clock tick to which RTT samples for the RTO are rounded; above 0 and at most 1 s. [RFC 6298 §2, G]
        pub rto_granularity: Duration = Duration::from_millis(1),
        /// Tick to which the sender's timers are rounded up; with recovery linux.
        pub timer_tick: Duration = Duration::from_millis(1),
        /// Clock tick of the controllers that follow Linux, 1/HZ; at most 1 s.
        pub controller_tick: Duration = Duration::from_millis(1),
        /// How ACKs are delayed: "fixed": an ACK for every second full segment, or after `delayed_ack_timeout` [RFC
        /// 5681 §4.2]; "adaptive": as Linux, with quick ACKs at the start and after loss or reordering, and a delay
        /// that follows the gaps between segments.
        pub delayed_ack: DelayedAck = DelayedAck::Adaptive,
        /// Longest delay of an ACK; with adaptive delays, the shortest. [RFC 1122 §4.2.3.2]
        pub delayed_ack_timeout: Duration = Duration::from_millis(40),
        /// Longest delay of an ACK with adaptive delays. [RFC 1122 §4.2.3.2]
        pub delayed_ack_max: Duration = Duration::from_millis(200),
        /// Number of segments at the start that are acknowledged at once although ACKs are delayed; with adaptive
        /// delays, the most at a time.
        pub quick_acks: u32 = 16,
        /// Report duplicate segments by SACK (DSACK). [RFC 2883]
        pub dsack: bool = true,
        /// Reduce the window less on a congestion mark than on a loss: newreno keeps 0.8, cubic 0.85. No profile sets
        /// it: Linux halves, or keeps 0.7. [RFC 8511 §3]
        pub abe: bool = false,
        /// Explicit congestion notification: "off", "passive": if the peer asks, "on", or "accurate": with the number
        /// of marked packets, if the peer supports it; "passive_accurate" and "on_accurate" ask like "passive" and "on", and
        /// accept "accurate". dctcp always negotiates ECN, prague always "accurate". [RFC 3168, RFC 9768]
        pub ecn: EcnUse = EcnUse::Passive,
        /// With accurate ECN, the segments that carry the option with the bytes received under each ECN field: "off", "minimal",
        /// "full" or "persist"; absent: "off". [RFC 9768 §3.2.3]
        pub accecn_option: Option<AccEcnOption> = None,
        /// With accurate ECN, reading of an ACK of eight segments or more, after which the count of three bits may have wrapped:
        /// "safest", or "likely"; absent: "safest". The option decides where it can. [RFC 9768 §A.2]
        pub ace_wraps: Option<AceWraps> = None,
        /// With accurate ECN, pure ACKs, FINs and retransmissions are ECN-capable as well, as in Linux; SYNs are not. Absent:
        /// false. [draft-ietf-tcpm-generalized-ecn]
        pub ect_on_control: Option<bool> = None,
        /// With accurate ECN, send data that is not ECN-capable once the peer's reports show that the path changes ECN fields or
        /// clears the count; absent: true. [RFC 9768 §3.2.2.3, §3.2.2.4]
        pub ecn_fallback: Option<bool> = None,
        /// Rules for unacceptable segments: "rfc9293", or "linux", which accepts a few more and answers a few less.
        /// [RFC 9293 §3.10.7.4, RFC 5961]
        pub arrival_rules: ArrivalRules = ArrivalRules::Linux,
        /// Least time between two answers to unacceptable segments without data; "0 s": each is answered. [RFC 5961 §7]
        pub answer_interval: Duration = Duration::from_millis(500),
        /// Give up after the time that so many retransmissions take when the first comes after `min_rto` and each
        /// timeout doubles; "off": never. [RFC 9293 §3.8.3]
        pub retries: Switch<u32> = Switch::On(15),
        /// Give up after so many retransmitted SYNs without an answer; "off": never. [RFC 9293 §3.8.3]
        pub syn_retries: Switch<u32> = Switch::On(6),
        /// Number of retransmitted SYNs before the timeout begins to double; `syn_retries` counts those after them. Absent: 0.
        /// [Linux, `tcp_syn_linear_timeouts`]
        pub syn_linear_timeouts: Option<u32> = None,
        /// Give up when retransmitted data is not acknowledged for this time; "off": see `retries`. [RFC 9293 §3.9.1,
        /// RFC 5482]
        pub user_timeout: Switch<Duration> = Switch::Off,
        /// Time for which a connection closed by the application waits for the peer's FIN. [RFC 9293 §3.6]
        pub fin_timeout: Duration = Duration::from_secs(60),
        /// Length of TIME-WAIT; short, since nothing reuses the ports. [RFC 9293 §3.6.1]
        pub time_wait: Duration = Duration::from_secs(1),
    }
    check |config, path| { config.check_values(path) }
}

impl Config {
    /// True if segments leave at a rate, the controller's or the endpoint's own, and not as the window allows.
    pub fn is_paced(&self) -> bool {
        match self.pacing {
            Pacing::Off => false,
            Pacing::On => true,
            Pacing::Controller => self.congestion_control.needs().paced,
        }
    }

    /// True if accurate ECN may be agreed on.
    pub(crate) fn accepts_accurate_ecn(&self) -> bool {
        let is_accepted = matches!(self.ecn, EcnUse::Accurate | EcnUse::PassiveAccurate | EcnUse::OnAccurate);
        is_accepted || self.congestion_control.needs().marks == MarkReports::Counted
    }

    /// Reads the overrides of one table, except `skip`, over `base`. A `packet_size` replaces an earlier `mss`.
    ///
    /// # Errors
    /// An unknown key, an unreadable or impossible value, a key that has no effect beside others, or `mss` and
    /// `packet_size` in one table.
    pub fn read(base: Config, table: &Value, path: &str, skip: &[&str]) -> Result<Config, ParamError> {
        check_segment_size(table, path)?;
        let mss = if table.get("packet_size").is_some() { None } else { base.mss };
        read_table(Config { mss, ..base }, table, path, skip)?.with_what_is_at_work(table, path)
    }

    /// Payload of a full segment in bytes, if the peer takes as much.
    pub fn payload_bytes(&self) -> u32 {
        match self.mss {
            Some(mss) => mss.0 as u32,
            None => (self.packet_size.0 as u32).saturating_sub(HEADERS + self.timestamp_bytes()),
        }
    }

    /// Bytes that the timestamps option takes on the wire.
    pub(crate) fn timestamp_bytes(&self) -> u32 {
        if self.timestamps && self.options_on_wire { TIMESTAMPS_OPTION } else { 0 }
    }

    /// The first window offered, in bytes; if it is fixed, the only one.
    pub(crate) fn receive_window_bytes(&self) -> u64 {
        match &self.receive_window {
            ReceiveWindow::Fixed(Amount::Unlimited) => UNLIMITED_WINDOW,
            ReceiveWindow::Fixed(Amount::Packets(packets)) => packets.saturating_mul(u64::from(self.payload_bytes())),
            ReceiveWindow::Fixed(Amount::Bytes(bytes)) => *bytes,
            ReceiveWindow::Autotune(autotune) => {
                autotune.first_window(u64::from(self.payload_bytes() + self.timestamp_bytes()))
            }
        }
    }

    /// The largest window that the scale must allow for, in bytes: as in Linux the whole of a buffer, not its half.
    pub(crate) fn largest_receive_window(&self) -> u64 {
        match &self.receive_window {
            ReceiveWindow::Fixed(_) => self.receive_window_bytes(),
            ReceiveWindow::Autotune(autotune) => autotune.max.0,
        }
    }

    fn check_values(&self, path: &str) -> Result<(), ParamError> {
        let at = |key: &'static str| (path, key);
        let size_key = if self.mss.is_some() { "mss" } else { "packet_size" };
        let size = self.mss.map_or(self.packet_size.0, |mss| mss.0);
        require(size <= 65_000, at(size_key), ("a segment is larger than an IP packet", "at most 65000 B"))?;
        require(
            self.payload_bytes() > 0,
            at(size_key),
            ("no room for payload", "the headers have 40 B, and timestamps 12 B"),
        )?;
        let needs = self.congestion_control.needs();
        let has_window = self.congestion_control.promise().loss == LossAnswer::Reduces;
        require(
            !needs.rate_samples || self.recovery == RecoveryMachine::Linux,
            at("congestion_control"),
            (
                format!(
                    "\"{}\" needs delivery rates, which recovery = \"rfc\" does not sample",
                    self.congestion_control.name()
                ),
                "write recovery = \"linux\" beside it, or a profile of Linux",
            ),
        )?;
        require(
            self.ack_loss == Switch::Off || has_window,
            at("ack_loss"),
            (
                "it halves the window of a controller",
                format!("\"{}\" sends by a model of the path and would undo that", self.congestion_control.name()),
            ),
        )?;
        let normal_jump = self.ack.normal_jump();
        let counts_withheld = matches!(&self.ack_loss, Switch::On(ack_loss)
            if ack_loss.mode == AckLossMode::Paper && ack_loss.normal_jump < normal_jump);
        require(
            !counts_withheld,
            at("ack_loss"),
            (
                format!(
                    "it needs to know how many segments an ACK covers, here up to {normal_jump}, as those that are withheld would count as lost"
                ),
                format!(
                    "write mode = \"general\" or normal_jump = {normal_jump} beside the threshold, or ack = \"every_segment\""
                ),
            ),
        )?;
        require(
            !self.abe || needs.eases_marks,
            at("abe"),
            format!("RFC 8511 covers newreno and cubic, not \"{}\"", self.congestion_control.name()),
        )?;
        require(
            !self.abe || self.ecn != EcnUse::Off,
            at("abe"),
            ("it answers congestion marks, and ecn is \"off\"", "write ecn = \"on\""),
        )?;
        require(self.initial_window > 0, at("initial_window"), ("a window of 0 segments never sends", "at least 1"))?;
        let largest_window = u64::from(self.initial_window) * u64::from(self.payload_bytes());
        require(
            largest_window <= UNLIMITED_WINDOW,
            at("initial_window"),
            "more than 1 GiB, the largest window that there can be [RFC 7323 §2.3]",
        )?;
        require(self.min_burst > 0, at("min_burst"), ("a burst of 0 never sends", "at least 1"))?;
        require(self.initial_ssthresh != Switch::On(0), at("initial_ssthresh"), "at least 1, or \"off\"")?;
        require(
            self.max_burst != Switch::On(0),
            at("max_burst"),
            ("a burst of 0 never sends", "at least 1, or \"off\""),
        )?;
        require(self.duplicate_ack_threshold > 0, at("duplicate_ack_threshold"), "at least 1")?;
        require(self.min_rto <= self.max_rto, at("min_rto"), "min_rto is greater than max_rto")?;
        require(self.min_rto > Duration::ZERO, at("min_rto"), ("an RTO of 0 never waits", "write \"1 ms\" or more"))?;
        require(
            self.initial_rto > Duration::ZERO,
            at("initial_rto"),
            ("an RTO of 0 never waits", "write \"1 ms\" or more"),
        )?;
        require(self.max_backoff > 0, at("max_backoff"), "at least 1, which means no backoff")?;
        require(self.timer_tick > Duration::ZERO, at("timer_tick"), "a clock needs a tick above 0")?;
        let ticks = Duration::from_micros(1)..=Duration::from_secs(1);
        require(ticks.contains(&self.controller_tick), at("controller_tick"), "a tick lasts from 1 us to 1 s")?;
        for (key, tick) in [("rto_granularity", self.rto_granularity), ("timestamp_clock", self.timestamp_clock)] {
            let is_tick = (Duration::from_nanos(1)..=Duration::from_secs(1)).contains(&tick);
            require(is_tick, at(key), "a clock needs a tick above 0, and of 1 s at most")?;
        }
        require(self.receive_window_bytes() > 0, at("receive_window"), "a window of 0 never opens")?;
        let segment = u64::from(self.payload_bytes());
        let holds_one = self.receive_window_bytes() >= segment;
        require(holds_one, at("receive_window"), format!("smaller than one segment, which has {segment} B"))?;
        let times = "delayed_ack_max is less than delayed_ack_timeout";
        let adaptive = self.ack == AckPolicy::Delayed && self.delayed_ack == DelayedAck::Adaptive;
        require(!adaptive || self.delayed_ack_max >= self.delayed_ack_timeout, at("delayed_ack_max"), times)?;
        require(self.user_timeout != Switch::On(Duration::ZERO), at("user_timeout"), "above 0, or \"off\"")?;
        let largest = if self.window_scaling { UNLIMITED_WINDOW } else { 65_535 };
        let limited = self.receive_window != ReceiveWindow::Fixed(Amount::Unlimited);
        let why = if self.window_scaling {
            "larger than 1 GiB, the most that can be offered"
        } else {
            "larger than 65535 B, the most that can be offered without window_scaling"
        };
        require(!limited || self.largest_receive_window() <= largest, at("receive_window"), why)
    }
}

/// Requires that a rule holds for the entry of a table: path and key.
fn require(holds: bool, (path, key): (&str, &str), fault: impl Into<Fault>) -> Result<(), ParamError> {
    if holds { Ok(()) } else { refuse(path, key, fault) }
}

/// The most that can be offered: 65535 times 2^14. [RFC 7323 §2.3]
pub(crate) const UNLIMITED_WINDOW: u64 = 65_535 << 14;

/// One table may give the segment size in one way only.
fn check_segment_size(table: &Value, path: &str) -> Result<(), ParamError> {
    if table.get("mss").is_some() && table.get("packet_size").is_some() {
        let both = Kind::Conflict("mss and packet_size both set the segment size".into());
        return refuse(path, "mss", (both, "keep one of them"));
    }
    Ok(())
}

words! {
    /// The quantity from which a loss computes the new window.
    pub enum DecreaseFrom {
        /// The data in flight.
        FlightSize = "flight_size",
        /// The congestion window, or the peer's window where that is smaller.
        Cwnd = "cwnd",
    }
}

words! {
    /// The machinery of loss recovery.
    pub enum RecoveryMachine {
        /// By the letter of RFC 6582 and RFC 6675.
        Rfc = "rfc",
        /// The states of Linux.
        Linux = "linux",
    }
}

words! {
    /// The rule that declares a segment lost.
    pub enum LossDetection {
        /// By time. [RFC 8985]
        Rack = "rack",
        /// By the number of segments reported above it. [RFC 6675 §4]
        Count = "rfc6675",
        /// By the distance to the highest SACKed segment.
        Fack = "fack",
    }
}

words! {
    /// Course of the window during recovery.
    pub enum WindowReduction {
        /// Proportional rate reduction from the window at its beginning, as in Linux. [RFC 6937]
        Prr = "prr",
        /// Proportional rate reduction from the data in flight at its beginning. [RFC 9937 §6]
        PrrRfc9937 = "prr_rfc9937",
        /// By one for every second ACK.
        RateHalving = "rate_halving",
        /// To ssthresh at once.
        AtOnce = "at_once",
    }
}

words! {
    /// The control over the times at which segments leave.
    pub enum Pacing {
        /// The congestion control, if it sets a rate.
        Controller = "controller",
        /// Always a rate.
        On = "on",
        /// The window alone.
        Off = "off",
    }
}

words! {
    /// Computation of the RTO from RTT samples.
    pub enum RtoFormula {
        /// As standardised.
        Rfc6298 = "rfc6298",
        /// As in Linux.
        Linux = "linux",
    }
}

#[cfg(test)]
mod tests {
    use lasthop_registry::{Parameter, table_to_value};

    use super::*;

    fn table(entries: &[(&str, Value)]) -> Value {
        Value::Table(entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
    }
    fn read(entries: &[(&str, Value)]) -> Result<Config, String> {
        Config::read(Config::default(), &table(entries), "tcp", &["profile"]).map_err(|e| e.to_string())
    }

    #[test]
    fn payload_is_mtu_minus_headers_and_timestamps() {
        let config = Config::default();
        assert_eq!(config.payload_bytes(), 1448);
        assert_eq!(Config { timestamps: false, ..config.clone() }.payload_bytes(), 1460);
        assert_eq!(Config { options_on_wire: false, ..config.clone() }.payload_bytes(), 1460);
        assert_eq!(Config { mss: Some(Bytes(1000)), ..config }.payload_bytes(), 1000);
    }

    #[test]
    fn controller_with_delivery_rates_needs_a_machine_that_samples_them() {
        let bbr = ("congestion_control", Value::text("bbr"));
        assert!(read(std::slice::from_ref(&bbr)).is_ok());
        let refused = read(&[bbr, ("recovery", Value::text("rfc"))]).unwrap_err();
        assert!(refused.starts_with("tcp.congestion_control: \"bbr\" needs delivery rates"), "{refused}");
    }

    #[test]
    fn one_table_gives_the_segment_size_in_one_way() {
        let both = [("mss", Value::text("1448 B")), ("packet_size", Value::text("1500 B"))];
        assert_eq!(
            read(&both).unwrap_err(),
            "tcp.mss: mss and packet_size both set the segment size; keep one of them"
        );
        let base = read(&both[..1]).unwrap();
        let flow = Config::read(base, &table(&both[1..]), "flow[0]", &[]).unwrap();
        assert_eq!(flow.payload_bytes(), 1448, "a flow's packet_size replaces the table's mss");
        assert_eq!(flow.mss, None);
    }

    #[test]
    fn growth_reads_as_a_word_or_a_table() {
        let mixed = table(&[("slow_start", Value::text("per_ack")), ("avoidance", Value::text("per_byte"))]);
        let growth = read(&[("growth", mixed.clone())]).unwrap().growth;
        assert_eq!(growth, Growth { slow_start: GrowthMode::PerAck, avoidance: GrowthMode::PerByte });
        assert_eq!(growth.to_value(), Some(mixed));
        assert_eq!(read(&[("growth", Value::text("per_ack"))]).unwrap().growth, Growth::both(GrowthMode::PerAck));
        assert!(read(&[("growth", table(&[]))]).unwrap_err().contains("both slow_start and avoidance"));
    }

    #[test]
    fn ack_loss_needs_a_controller_with_a_window() {
        let on = table(&[("threshold", Value::Integer(2)), ("mode", Value::text("general"))]);
        let config = read(&[("ack_loss", on.clone())]).unwrap();
        assert_eq!(config.ack_loss.as_option().map(|ack_loss| ack_loss.threshold), Some(2));
        let refused = read(&[("ack_loss", on), ("congestion_control", Value::text("bbr"))]).unwrap_err();
        assert!(
            refused.starts_with("tcp.ack_loss: it halves the window of a controller; \"bbr\" sends by"),
            "{refused}"
        );
        assert!(read(&[("ack_loss", table(&[("treshold", Value::Integer(1))]))]).unwrap_err().contains("threshold"));
    }

    #[test]
    fn ack_loss_as_published_needs_a_receiver_that_acknowledges_as_it_takes_for_normal() {
        // Every second segment [RFC 1122 §4.2.3.2], and one ACK for skip + 1 segments [gopal2005].
        let skip = table(&[("kind", Value::text("skip")), ("skip", Value::Integer(3))]);
        for (ack, jump) in [(Value::text("delayed"), 2), (skip, 4)] {
            let with = |more: &[(&str, Value)]| {
                let on = table(&[&[("threshold", Value::Integer(1))], more].concat());
                read(&[("ack", ack.clone()), ("ack_loss", on)])
            };
            let refused = with(&[]).unwrap_err();
            assert!(
                refused.starts_with(&format!(
                    "tcp.ack_loss: it needs to know how many segments an ACK covers, here up to {jump},"
                )),
                "{refused}"
            );
            assert!(with(&[("normal_jump", Value::Integer(jump - 1))]).is_err());
            assert!(with(&[("normal_jump", Value::Integer(jump))]).is_ok());
            assert!(with(&[("mode", Value::text("general"))]).is_ok());
        }
        let on = table(&[("threshold", Value::Integer(1))]);
        assert!(read(&[("ack", Value::text("every_segment")), ("ack_loss", on)]).is_ok());
    }

    #[test]
    fn abe_is_for_those_of_whom_rfc_8511_speaks() {
        let with = |kind: &str, ecn: &str| {
            let entries = [("congestion_control", kind), ("ecn", ecn)].map(|(key, word)| (key, Value::text(word)));
            read(&[&entries[..], &[("abe", Value::Bool(true))]].concat())
        };
        assert!(with("newreno", "on").unwrap().abe && with("cubic", "passive").unwrap().abe);
        assert_eq!(with("htcp", "on").unwrap_err(), "tcp.abe: RFC 8511 covers newreno and cubic, not \"htcp\"");
        assert!(with("newreno", "off").unwrap_err().contains("ecn is \"off\""));
    }

    #[test]
    fn impossible_values_are_refused() {
        assert!(read(&[("packet_size", Value::text("52 B"))]).unwrap_err().contains("no room for payload"));
        assert!(read(&[("min_rto", Value::text("121 s"))]).unwrap_err().contains("greater than max_rto"));
        let window = [("receive_window", Value::text("64 KiB")), ("window_scaling", Value::Bool(false))];
        assert!(read(&window).unwrap_err().contains("without window_scaling"));
    }

    #[test]
    fn every_value_reads_back() {
        let skip = AckPolicy::Skip(Skip { skip: 3, start_after: Segments(0) });
        let autotune = ReceiveWindow::Autotune(Autotune { initial: Bytes(10_000), ..Autotune::default() });
        let other = Config { ack: skip, receive_window: autotune, ..Config::default() };
        for config in crate::Profile::ALL.iter().map(|(profile, _)| profile.config()).chain([other]) {
            let written = table_to_value(None, &config);
            assert_eq!(read_table(Config::default(), &written, "tcp", &[]), Ok(config));
        }
    }
}
