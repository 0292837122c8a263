//! From a kernel's settings to the `[tcp]` table of the endpoint.

use lasthop_registry::{Parameter, Value};
use lasthop_tcp::{Config, Profile};

use crate::setup::Settings;

/// What the socket and the device add.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketConfig {
    /// `TCP_MAXSEG`
    pub max_segment: Option<i64>,
    /// `TCP_CONGESTION`
    pub congestion_control: Option<String>,
    /// bytes of the largest IP packet that the device takes
    pub mtu: u32,
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
        builder.set("congestion_control", Value::text(name))?;
    }
    builder.set("packet_size", Value::text(format!("{} B", packet_size(settings, socket))))?;
    builder.set("receive_window", Value::text(format!("{} B", settings.triple("tcp_rmem")[2])))?;
    if let Some(segments) = settings.route.get("initcwnd") {
        builder.set("initial_window", Value::Integer(*segments))?;
    }
    for (key, value) in settings.own.iter().filter(|(key, _)| key != "profile") {
        builder.set(key, value.clone())?;
    }
    Ok(builder.config)
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
    fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        let table = Value::Table(vec![(key.to_string(), value)]);
        self.config = Config::read(self.config.clone(), &table, "tcp", &[]).map_err(|error| error.to_string())?;
        Ok(())
    }
}
