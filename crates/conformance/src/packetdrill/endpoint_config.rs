//! Translation of a kernel's settings to the `[tcp]` table of the endpoint.

use lasthop_registry::{Parameter, Value};
use lasthop_tcp::{AccEcnOption, Config, Profile, RecoveryMachine};

use crate::packetdrill::setup::Settings;

/// Settings of the socket and the device.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketConfig {
    /// `TCP_MAXSEG`
    pub max_segment: Option<i64>,
    /// `TCP_CONGESTION`
    pub congestion_control: Option<String>,
    /// largest IP packet of the device, in bytes
    pub mtu: u32,
    /// `SO_RCVBUF` as given
    pub receive_buffer: Option<i64>,
    /// `TCP_USER_TIMEOUT`
    pub user_timeout_ms: Option<i64>,
    /// the peer speaks first
    pub is_passive: bool,
}

/// The configuration of an endpoint.
///
/// # Errors
/// The reason to skip the script.
pub(crate) fn config(settings: &Settings, socket: &SocketConfig) -> Result<Config, String> {
    let mut builder = Builder { config: profile(settings)?.config() };
    let own_keys: Vec<&str> = settings.own.iter().map(|(key, _)| key.as_str()).collect();
    let on = |name: &str| settings.sysctl(name) != 0;
    builder.set("timestamps", Value::Bool(on("tcp_timestamps")))?;
    builder.set("sack", Value::Bool(on("tcp_sack")))?;
    builder.set("window_scaling", Value::Bool(on("tcp_window_scaling")))?;
    builder.set("slow_start_after_idle", Value::Bool(on("tcp_slow_start_after_idle")))?;
    builder.set("duplicate_ack_threshold", Value::Integer(settings.sysctl("tcp_reordering")))?;
    if !own_keys.contains(&"profile") {
        let name = socket.congestion_control.as_deref().unwrap_or(settings.congestion_control());
        let name = if name == "reno" { "newreno" } else { name };
        builder.set("congestion_control", Profile::Linux.with_own_defaults(&Value::text(name)))?;
    }
    if builder.config.recovery == RecoveryMachine::Linux {
        builder.set_recovery(settings)?;
    }
    // The runner sets PSH on large sends, whose size the script states.
    builder.set("push_sends", Value::Bool(false))?;
    builder.set("packet_size", Value::text(format!("{} B", packet_size(settings, socket))))?;
    builder.set("receive_window", receive_window(settings, socket))?;
    builder.set("dsack", Value::Bool(on("tcp_dsack")))?;
    builder.set("ecn", Value::text(ecn(settings)?))?;
    if settings.sysctl("tcp_ecn") > 2 {
        builder.set_accurate_ecn(settings)?;
    }
    builder.set("retries", Value::Integer(settings.sysctl("tcp_retries2")))?;
    if !own_keys.contains(&"profile") {
        builder.set("syn_linear_timeouts", Value::Integer(settings.sysctl("tcp_syn_linear_timeouts")))?;
    }
    let syn_retries = if socket.is_passive { "tcp_synack_retries" } else { "tcp_syn_retries" };
    builder.set("syn_retries", Value::Integer(settings.sysctl(syn_retries)))?;
    builder.set("answer_interval", Value::text(format!("{} ms", settings.sysctl("tcp_invalid_ratelimit"))))?;
    if let Some(ms) = socket.user_timeout_ms.filter(|&ms| ms > 0) {
        builder.set("user_timeout", Value::text(format!("{ms} ms")))?;
    }
    if let Some(segments) = settings.route.get("initcwnd") {
        builder.set("initial_window", Value::Integer(*segments))?;
    }
    for (key, value) in settings.own.iter().filter(|(key, _)| key != "profile") {
        builder.set(key, value.clone())?;
    }
    Ok(builder.config)
}

/// A buffer that the application has sized does not grow.
fn receive_window(settings: &Settings, socket: &SocketConfig) -> Value {
    let rmem = settings.triple("tcp_rmem");
    let (initial, max) = match socket.receive_buffer {
        Some(bytes) => (2 * bytes.max(1152), 2 * bytes.max(1152)),
        None => (rmem.get(1).copied().unwrap_or(rmem[0]), rmem.last().copied().unwrap_or(rmem[0])),
    };
    let bytes = |bytes: i64| Value::text(format!("{bytes} B"));
    let entries = [("kind", Value::text("autotune")), ("initial", bytes(initial.min(max))), ("max", bytes(max))];
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn ecn(settings: &Settings) -> Result<&'static str, String> {
    match settings.sysctl("tcp_ecn") {
        0 => Ok("off"),
        1 => Ok("on"),
        2 => Ok("passive"),
        3 => Ok("accurate"),
        4 => Ok("on_accurate"),
        5 => Ok("passive_accurate"),
        other => Err(format!("tcp_ecn={other} has no counterpart")),
    }
}

/// The policy of `tcp_ecn_option`.
///
/// # Errors
/// A message, if there is none of this number.
pub(crate) fn accecn_option(settings: &Settings) -> Result<AccEcnOption, String> {
    match settings.sysctl("tcp_ecn_option") {
        0 => Ok(AccEcnOption::Off),
        1 => Ok(AccEcnOption::Minimal),
        2 => Ok(AccEcnOption::Full),
        3 => Ok(AccEcnOption::Persist),
        other => Err(format!("tcp_ecn_option={other} has no counterpart")),
    }
}

/// The IP packet whose payload without timestamps is the segment that the own SYN offers.
fn packet_size(settings: &Settings, socket: &SocketConfig) -> u32 {
    let mtu = settings.route.get("mtu").map_or(socket.mtu, |mtu| *mtu as u32);
    let own = settings.route.get("advmss").map_or(mtu, |mss| mtu.min(*mss as u32 + 40));
    socket.max_segment.map_or(own, |mss| own.min(mss as u32 + 40))
}

fn profile(settings: &Settings) -> Result<Profile, String> {
    match settings.own.iter().rev().find(|(key, _)| key == "profile") {
        None => Ok(Profile::Linux),
        Some((_, value)) => Profile::parse(value, "tcp.profile").map_err(|error| error.to_string()),
    }
}

struct Builder {
    config: Config,
}

impl Builder {
    /// Sets the keys of loss recovery from the kernel's settings.
    fn set_recovery(&mut self, settings: &Settings) -> Result<(), String> {
        self.set("tail_loss_probe", Value::Bool(matches!(settings.sysctl("tcp_early_retrans"), 3 | 4)))?;
        self.set("forward_rto", Value::Bool(settings.sysctl("tcp_frto") != 0))?;
        // A hundredth of the window is always free.
        self.set("tso_deferral", Value::Bool(settings.sysctl("tcp_tso_win_divisor") < 100))?;
        self.set("min_burst", Value::Integer(settings.sysctl("tcp_min_tso_segs")))?;
        if settings.fq {
            self.set("pacing", Value::text("on"))?;
        }
        Ok(())
    }

    /// Sets the keys of accurate ECN, which no older profile has.
    fn set_accurate_ecn(&mut self, settings: &Settings) -> Result<(), String> {
        self.set("accecn_option", Value::text(accecn_option(settings)?.word()))?;
        self.set("ace_wraps", Value::text("likely"))?;
        self.set("ect_on_control", Value::Bool(true))?;
        self.set("ecn_fallback", Value::Bool(settings.sysctl("tcp_ecn_fallback") != 0))
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        let table = Value::Table(vec![(key.to_string(), value)]);
        self.config = Config::read(self.config.clone(), &table, "tcp", &[]).map_err(|error| error.to_string())?;
        Ok(())
    }
}
