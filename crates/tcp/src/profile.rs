//! Named stacks: the defaults of a given sender and receiver.
//!
//! `docs/model/tcp.md` has a table of every key in which they differ, which a test compares with this file.

use lasthop_registry::{Amount, Kind, ParamError, Parameter, Parameters, Shape, Switch, Value};
use lasthop_units::{Bytes, Duration};

use crate::config::{
    AccEcnOption, AceWraps, AckPolicy, ArrivalRules, Config, DecreaseFrom, DelayedAck, EcnUse, Growth, GrowthMode,
    LocalDrop, LossDetection, Pacing, ReceiveWindow, RecoveryMachine, RtoFormula, SmallQueue, WindowReduction,
    WindowValidation,
};
use crate::congestion_control::{Algorithm, cubic, newreno};

/// A named set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The NewReno agent of ns-2.35 with its plain sink.
    Ns2,
    /// Linux 2.6.16 to 2.6.22, whose controllers TCP-Linux for ns-2 carries.
    Linux26,
    /// Linux 3.13, of early 2014.
    Linux313,
    /// A current Linux kernel: [`Linux73`](Self::Linux73).
    Linux,
    /// Linux 6.12, of late 2024.
    Linux612,
    /// Linux 6.18, of late 2025.
    Linux618,
    /// Linux 7.3, of 2026.
    Linux73,
}

/// Words, in the order of the variants.
const WORDS: [(&str, Profile); 7] = [
    ("ns2", Profile::Ns2),
    ("linux-2.6", Profile::Linux26),
    ("linux-3.13", Profile::Linux313),
    ("linux", Profile::Linux),
    ("linux-6.12", Profile::Linux612),
    ("linux-6.18", Profile::Linux618),
    ("linux-7.3", Profile::Linux73),
];

impl Profile {
    /// All profiles, each with a description.
    pub const ALL: [(Profile, &'static str); 7] = [
        (Profile::Ns2, "The NewReno agent of ns-2.35 with its plain sink."),
        (Profile::Linux26, "Linux 2.6.16 to 2.6.22, whose controllers TCP-Linux for ns-2 carries."),
        (Profile::Linux313, "Linux 3.13, of early 2014."),
        (Profile::Linux, "A current Linux kernel: linux-7.3."),
        (Profile::Linux612, "Linux 6.12, of late 2024."),
        (Profile::Linux618, "Linux 6.18, of late 2025: receive windows of up to 32 MiB."),
        (Profile::Linux73, "Linux 7.3, of 2026: as 6.18, and asks for accurate ECN."),
    ];

    /// The word in scenario files.
    pub fn word(self) -> &'static str {
        WORDS[self as usize].0
    }

    /// The profile that this one stands for: `linux` is the one of a version, so that a result names it.
    pub fn concrete(self) -> Profile {
        match self {
            Profile::Linux => Profile::Linux73,
            other => other,
        }
    }

    /// Returns whether it is of a current kernel, whose hosts have the queues of today.
    pub fn is_current(self) -> bool {
        matches!(self.concrete(), Profile::Linux612 | Profile::Linux618 | Profile::Linux73)
    }

    /// A choice of receive window with this stack's largest buffer, if the choice tunes itself and has none.
    pub fn with_own_buffer(self, choice: &Value) -> Value {
        let kind = choice.get("kind").unwrap_or(choice);
        if *kind != Value::text("autotune") || choice.get("max").is_some() || !self.has_large_buffers() {
            return choice.clone();
        }
        let given =
            if let Value::Table(entries) = choice { entries.clone() } else { vec![("kind".into(), kind.clone())] };
        let max = Value::text(LARGE_BUFFER.to_string());
        Value::Table(given.into_iter().chain([("max".to_string(), max)]).collect())
    }

    /// Returns whether receive buffers grow to 32 MiB: since Linux 6.16 (commit 572be9bf9d0d).
    fn has_large_buffers(self) -> bool {
        matches!(self.concrete(), Profile::Linux618 | Profile::Linux73)
    }

    /// A choice of congestion control with this stack's values for keys that the choice leaves out: the code of its
    /// time, where a controller has eras.
    pub fn with_own_defaults(self, choice: &Value) -> Value {
        let kind = choice.get("kind").unwrap_or(choice);
        let given =
            if let Value::Table(entries) = choice { entries.clone() } else { vec![("kind".into(), kind.clone())] };
        let own = if *kind == Value::text("cubic") { self.own_cubic() } else { self.own_era(kind) };
        let own: Vec<_> = own.into_iter().filter(|(key, _)| choice.get(key).is_none()).collect();
        if own.is_empty() { choice.clone() } else { Value::Table(given.into_iter().chain(own).collect()) }
    }

    fn own_cubic(self) -> Vec<(String, Value)> {
        match self.config().congestion_control {
            Algorithm::Cubic(own) => own.values(),
            _ => Vec::new(),
        }
    }

    /// The era of this stack, if the controller has it.
    fn own_era(self, kind: &Value) -> Vec<(String, Value)> {
        let era = match self {
            Profile::Ns2 => return Vec::new(),
            Profile::Linux26 => "linux-2.6",
            Profile::Linux313 | Profile::Linux | Profile::Linux612 | Profile::Linux618 | Profile::Linux73 => "linux",
        };
        let own = vec![("era".to_string(), Value::text(era))];
        let mut table = vec![("kind".to_string(), kind.clone())];
        table.extend(own.clone());
        if Algorithm::parse(&Value::Table(table), "").is_ok() { own } else { Vec::new() }
    }

    /// The profile's value for every key of `[tcp]`.
    pub fn config(self) -> Config {
        match self {
            Profile::Ns2 => ns2(),
            Profile::Linux26 => linux_2_6(),
            Profile::Linux313 => linux_3_13(),
            // Only the buffer of `receive_window = "autotune"` differs.
            Profile::Linux612 | Profile::Linux618 => linux(),
            Profile::Linux | Profile::Linux73 => linux_7_3(),
        }
    }
}

/// `tcp_rmem`, third value, since Linux 6.16.
const LARGE_BUFFER: Bytes = Bytes(32 << 20);

/// ns-2.35: `tcl/lib/ns-default.tcl`, `tcp/tcp.cc`, `tcp/tcp-newreno.cc`, `tcp/tcp-sink.cc`.
///
/// Departures from ns-2, on purpose: there is a handshake (one-way agents have none), the first
/// ssthresh is infinite and windows are not capped at 20 packets (the papers raise both), packets have
/// 1500 B, and the RTT is measured on every ACK, as with `timestamps_ true`.
fn ns2() -> Config {
    Config {
        congestion_control: Algorithm::Newreno(newreno::Params::default()),
        ack_loss: Switch::Off,
        ack: AckPolicy::EverySegment,
        packet_size: Bytes(1500),
        mss: None,
        // windowInit_ 2
        initial_window: 2,
        initial_ssthresh: Switch::Off,
        // opencwnd() is called once for each ACK
        growth: Growth::both(GrowthMode::PerAck),
        // slowdown() halves windowd(), the smaller of cwnd_ and wnd_
        decrease_from: DecreaseFrom::Cwnd,
        window_validation: WindowValidation::Off,
        slow_start_after_idle: false,
        // maxburst_ 0
        max_burst: Switch::Off,
        sack: false,
        // singledup_ 1
        limited_transmit: true,
        // numdupacks_ 3
        duplicate_ack_threshold: 3,
        // newreno_changes1_ 1
        newreno_impatient: true,
        recovery: RecoveryMachine::Rfc,
        loss_detection: LossDetection::Count,
        window_reduction: WindowReduction::AtOnce,
        tail_loss_probe: false,
        forward_rto: false,
        undo: false,
        pacing: Pacing::Off,
        tso_deferral: false,
        min_burst: 1,
        push_sends: false,
        compressed_acks: 0,
        // the queue of a node drops the excess without notice to the agent
        small_queue: SmallQueue::Off,
        local_drop: LocalDrop::Unnoticed,
        receive_offload: None,
        receive_window: ReceiveWindow::Fixed(Amount::Unlimited),
        // ns-2 counts windows in packets, without limit; scaling stands for that, as options are free
        window_scaling: true,
        timestamps: true,
        timestamp_clock: Duration::from_millis(1),
        // Acker::update_ts takes any segment up to the next expected one
        echo_duplicates: true,
        options_on_wire: false,
        rto_formula: RtoFormula::Rfc6298,
        // rtxcur_init_ 3
        initial_rto: Duration::from_secs(3),
        // minrto_ 0.2
        min_rto: Duration::from_millis(200),
        // maxrto_ 60
        max_rto: Duration::from_secs(60),
        // rtt_backoff() stops at 64
        max_backoff: 64,
        // tcpTick_ 0.01
        rto_granularity: Duration::from_millis(10),
        timer_tick: Duration::from_millis(10),
        // TCP-Linux counts ms for the controllers of Linux that it carries
        controller_tick: Duration::from_millis(1),
        // interval_ of the DelAck sink, for `ack = "delayed"`
        delayed_ack: DelayedAck::Fixed,
        delayed_ack_timeout: Duration::from_millis(100),
        delayed_ack_max: Duration::from_millis(100),
        quick_acks: 0,
        // generateDSacks_ false
        dsack: false,
        // ecn_ 0
        ecn: EcnUse::Off,
        accecn_option: None,
        ace_wraps: None,
        ect_on_control: None,
        ecn_fallback: None,
        abe: false,
        arrival_rules: ArrivalRules::Rfc9293,
        answer_interval: Duration::ZERO,
        retries: Switch::Off,
        syn_retries: Switch::Off,
        syn_linear_timeouts: None,
        user_timeout: Switch::Off,
        fin_timeout: Duration::from_secs(60),
        time_wait: Duration::from_secs(1),
    }
}

/// Linux 2.6.16 to 2.6.22.
///
/// The initial window is 3: `tcp_init_cwnd` takes 2 for an MSS above 1460, 3 above 1095, else 4, the
/// steps of RFC 3390. Growth counts ACKs, as CUBIC and slow start did then (with `tcp_abc` 0).
/// F-RTO was off by default then.
/// Unacceptable segments are answered as by a current kernel, with challenge ACKs, except for the limit to their rate.
fn linux_2_6() -> Config {
    let cubic = cubic::Params { era: cubic::CubicEra::Linux26, beta: 819.0 / 1024.0, ..cubic::Params::default() };
    Config {
        congestion_control: Algorithm::Cubic(cubic),
        initial_window: 3,
        growth: Growth::both(GrowthMode::PerAck),
        // TCP_TIMEOUT_INIT 3 s, before RFC 6298
        initial_rto: Duration::from_secs(3),
        // HZ 250, the default of the time
        rto_granularity: Duration::from_millis(4),
        timer_tick: Duration::from_millis(4),
        controller_tick: Duration::from_millis(4),
        timestamp_clock: Duration::from_millis(4),
        // tcp_fack 1, tcp_cwnd_down, tcp_frto 0; undo by DSACK and timestamps is as old as 2.4
        loss_detection: LossDetection::Fack,
        window_reduction: WindowReduction::RateHalving,
        tail_loss_probe: false,
        forward_rto: false,
        undo: true,
        pacing: Pacing::Off,
        tso_deferral: false,
        push_sends: false,
        compressed_acks: 0,
        // small queues came with 3.6; the drop of one's own packet was noticed already
        small_queue: SmallQueue::Off,
        // net.ipv4.tcp_ecn 0; no limit to answers; TCP_SYN_RETRIES 5
        ecn: EcnUse::Off,
        answer_interval: Duration::ZERO,
        arrival_rules: ArrivalRules::Linux313,
        syn_retries: Switch::On(5),
        syn_linear_timeouts: None,
        slow_start_after_idle: true,
        ..linux()
    }
}

/// Linux 3.13: CUBIC with HyStart, ten segments at the start, and an answer to each unacceptable segment.
///
/// Timestamps tick by the jiffy, 4 ms at 250 Hz. RACK, pacing, and limits to the rate of answers came later.
fn linux_3_13() -> Config {
    Config {
        rto_granularity: Duration::from_millis(4),
        timer_tick: Duration::from_millis(4),
        controller_tick: Duration::from_millis(4),
        timestamp_clock: Duration::from_millis(4),
        answer_interval: Duration::ZERO,
        arrival_rules: ArrivalRules::Linux313,
        // FACK until reordering is seen; TLP since 3.10, F-RTO and PRR since 3.2; sch_fq came with 3.12
        loss_detection: LossDetection::Fack,
        tso_deferral: true,
        push_sends: false,
        compressed_acks: 0,
        pacing: Pacing::Off,
        slow_start_after_idle: true,
        syn_linear_timeouts: None,
        ..linux()
    }
}

/// CUBIC as in a current kernel.
fn linux_cubic() -> cubic::Params {
    cubic::Params { era: cubic::CubicEra::Linux, hystart: cubic::Hystart::Classic, ..cubic::Params::default() }
}

/// A current Linux kernel, 6.x.
fn linux() -> Config {
    Config {
        congestion_control: Algorithm::Cubic(linux_cubic()),
        ack_loss: Switch::Off,
        ack: AckPolicy::Delayed,
        packet_size: Bytes(1500),
        mss: None,
        // TCP_INIT_CWND
        initial_window: 10,
        initial_ssthresh: Switch::Off,
        // tcp_slow_start and tcp_cong_avoid_ai count segments acknowledged
        growth: Growth::both(GrowthMode::PerByte),
        // tcp_reno_ssthresh and cubictcp_recalc_ssthresh start from snd_cwnd
        decrease_from: DecreaseFrom::Cwnd,
        // tcp_is_cwnd_limited
        window_validation: WindowValidation::Linux,
        // net.ipv4.tcp_slow_start_after_idle 0, as busy senders set it; a kernel comes with 1
        slow_start_after_idle: false,
        max_burst: Switch::Off,
        sack: true,
        limited_transmit: true,
        // net.ipv4.tcp_reordering 3
        duplicate_ack_threshold: 3,
        newreno_impatient: false,
        recovery: RecoveryMachine::Linux,
        loss_detection: LossDetection::Rack,
        window_reduction: WindowReduction::Prr,
        tail_loss_probe: true,
        forward_rto: true,
        undo: true,
        pacing: Pacing::Controller,
        tso_deferral: true,
        // sysctl_tcp_min_tso_segs 2
        min_burst: 2,
        // PSH on every TSO packet, since 5.5
        push_sends: true,
        // tcp_comp_sack_nr is 44 here too; results by 6.12 and 6.18 stay as they are
        compressed_acks: 0,
        // tcp_small_queue_check; sk_pacing_shift 10, with mac80211 7
        small_queue: SmallQueue::On,
        // tcp_transmit_skb calls tcp_enter_cwr
        local_drop: LocalDrop::Cwr,
        receive_offload: None,
        receive_window: ReceiveWindow::Fixed(Amount::Unlimited),
        window_scaling: true,
        timestamps: true,
        timestamp_clock: Duration::from_millis(1),
        echo_duplicates: false,
        options_on_wire: true,
        rto_formula: RtoFormula::Linux,
        // TCP_TIMEOUT_INIT 1 s
        initial_rto: Duration::from_secs(1),
        // TCP_RTO_MIN
        min_rto: Duration::from_millis(200),
        // TCP_RTO_MAX
        max_rto: Duration::from_secs(120),
        max_backoff: 65_536,
        // RTTs are kept in microseconds; timers count jiffies, here at 1000 Hz
        rto_granularity: Duration::from_micros(1),
        timer_tick: Duration::from_millis(1),
        controller_tick: Duration::from_millis(1),
        delayed_ack: DelayedAck::Adaptive,
        // TCP_DELACK_MIN, TCP_DELACK_MAX
        delayed_ack_timeout: Duration::from_millis(40),
        delayed_ack_max: Duration::from_millis(200),
        // TCP_MAX_QUICKACKS
        quick_acks: 16,
        // net.ipv4.tcp_dsack 1
        dsack: true,
        // net.ipv4.tcp_ecn 2
        ecn: EcnUse::Passive,
        accecn_option: None,
        ace_wraps: None,
        ect_on_control: None,
        ecn_fallback: None,
        // no kernel has it
        abe: false,
        arrival_rules: ArrivalRules::Linux,
        // net.ipv4.tcp_invalid_ratelimit 500
        answer_interval: Duration::from_millis(500),
        // net.ipv4.tcp_retries2 15, tcp_syn_retries 6
        retries: Switch::On(15),
        syn_retries: Switch::On(6),
        // net.ipv4.tcp_syn_linear_timeouts 4, since 6.5
        syn_linear_timeouts: Some(4),
        user_timeout: Switch::Off,
        // net.ipv4.tcp_fin_timeout 60
        fin_timeout: Duration::from_secs(60),
        time_wait: Duration::from_secs(1),
    }
}

/// Linux 7.3. Since 7.0 `tcp_ecn` is 3 by default: accurate ECN is asked for and accepted (commit 8ae3e8e6cee).
fn linux_7_3() -> Config {
    Config {
        ecn: EcnUse::Accurate,
        // net.ipv4.tcp_ecn_option 2, tcp_ecn_fallback 1; the others as its selftests state
        accecn_option: Some(AccEcnOption::Full),
        ace_wraps: Some(AceWraps::Likely),
        ect_on_control: Some(true),
        ecn_fallback: Some(true),
        // net.ipv4.tcp_comp_sack_nr 44, tcp_comp_sack_delay_ns 1 ms, tcp_comp_sack_rtt_percent 33
        compressed_acks: 44,
        ..linux()
    }
}

impl Parameter for Profile {
    fn shape() -> Shape {
        Shape::Words(WORDS.iter().map(|(word, _)| word.to_string()).collect())
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let Value::Text(word) = value else {
            return Err(ParamError::new(
                path,
                format!("expected one of the profiles {}; found {value}", WORDS.map(|(word, _)| word).join(", ")),
            ));
        };
        if let Some((_, profile)) = WORDS.iter().find(|(name, _)| name == word) {
            return Ok(*profile);
        }
        let known = WORDS.map(|(word, _)| word.to_string()).into();
        Err(ParamError::new(path, Kind::UnknownName { of: "profile".into(), name: word.clone(), known }))
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::text(self.word()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_reads_by_its_word_and_is_possible() {
        for (word, profile) in WORDS {
            assert_eq!(Profile::parse(&Value::text(word), "tcp.profile"), Ok(profile));
            assert_eq!(profile.word(), word);
            assert_eq!(profile.config().check("tcp"), Ok(()));
        }
    }

    #[test]
    fn cubic_by_name_is_that_of_the_profile() {
        let word = Value::text("cubic");
        let read =
            |profile: Profile, choice: &Value| Algorithm::parse(&profile.with_own_defaults(choice), "cc").unwrap();
        assert_eq!(read(Profile::Linux26, &word), Profile::Linux26.config().congestion_control);
        assert_eq!(read(Profile::Linux, &word), Algorithm::Cubic(linux_cubic()));
        let beta = Value::Table(vec![("kind".into(), word), ("beta".into(), Value::Float(0.5))]);
        let Algorithm::Cubic(params) = read(Profile::Linux26, &beta) else { panic!("cubic was chosen") };
        assert_eq!((params.beta, params.era), (0.5, cubic::CubicEra::Linux26));
    }

    #[test]
    fn a_current_profile_is_the_one_of_a_version() {
        assert_eq!(Profile::Linux.config(), Profile::Linux73.config());
        assert_eq!(Profile::Linux.concrete(), Profile::Linux73);
        for (profile, _) in Profile::ALL {
            assert_eq!(
                profile.is_current(),
                profile.word() == "linux"
                    || profile.config().recovery == RecoveryMachine::Linux
                        && profile.config().loss_detection == LossDetection::Rack
            );
            assert_eq!(profile.concrete().config(), profile.config());
        }
    }

    #[test]
    fn a_window_that_tunes_itself_has_the_buffer_of_its_version() {
        let read =
            |profile: Profile, choice: &Value| ReceiveWindow::parse(&profile.with_own_buffer(choice), "w").unwrap();
        let max = |profile, choice: &Value| match read(profile, choice) {
            ReceiveWindow::Autotune(autotune) => autotune.max.0,
            ReceiveWindow::Fixed(_) => 0,
        };
        let word = Value::text("autotune");
        let own = Value::Table(vec![("kind".into(), word.clone()), ("max".into(), Value::text("1 MiB"))]);
        for (profile, mib) in
            [(Profile::Linux, 32), (Profile::Linux612, 6), (Profile::Linux618, 32), (Profile::Linux73, 32)]
        {
            assert_eq!(max(profile, &word), mib << 20, "{}", profile.word());
            assert_eq!(max(profile, &own), 1 << 20);
            assert_eq!(read(profile, &Value::text("1 MiB")), ReceiveWindow::Fixed(Amount::Bytes(1 << 20)));
        }
    }

    #[test]
    fn packets_have_1500_bytes_in_each() {
        assert_eq!(Profile::Ns2.config().payload_bytes(), 1460);
        assert_eq!(Profile::Linux26.config().payload_bytes(), 1448);
        assert_eq!(Profile::Linux313.config().payload_bytes(), 1448);
        assert_eq!(Profile::Linux.config().payload_bytes(), 1448);
    }
}
