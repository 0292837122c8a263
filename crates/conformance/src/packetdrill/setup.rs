//! Reads shell lines as settings.
//!
//! Nothing is executed. The lines by which scripts set up a kernel are read, and their settings are kept; a line with
//! an effect that the simulator lacks gives the reason for which the script is skipped.
//!
//! `lasthop KEY=VALUE` is our own addition: it sets a key of the `[tcp]` table, with a value in TOML. `lasthop
//! tcp.profile=NAME` chooses the profile.

use std::collections::BTreeMap;

use lasthop_registry::Value;

use crate::packetdrill::shell::commands;

/// The kernel's settings that a script has changed.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// by name without `net.ipv4.`, with the words of the value
    sysctls: BTreeMap<String, Vec<i64>>,
    words: BTreeMap<String, String>,
    /// keys of `[tcp]`, in order
    pub own: Vec<(String, Value)>,
    /// options of the route
    pub route: BTreeMap<String, i64>,
    /// the queueing discipline paces
    pub fq: bool,
    /// the queueing discipline refuses all packets, and reports that to the sender
    pub blocked: bool,
}

/// Initial values of a kernel.
const KERNEL_DEFAULTS: &[(&str, &[i64])] = &[
    ("tcp_rmem", &[4096, 131_072, 6_291_456]),
    ("tcp_wmem", &[4096, 16_384, 4_194_304]),
    ("tcp_timestamps", &[1]),
    ("tcp_sack", &[1]),
    ("tcp_dsack", &[1]),
    ("tcp_window_scaling", &[1]),
    ("tcp_slow_start_after_idle", &[1]),
    ("tcp_early_retrans", &[3]),
    ("tcp_reordering", &[3]),
    ("tcp_tso_win_divisor", &[3]),
    ("tcp_frto", &[2]),
    ("tcp_ecn", &[2]),
    ("tcp_ecn_option", &[2]),
    ("tcp_ecn_fallback", &[1]),
    ("tcp_notsent_lowat", &[u32::MAX as i64]),
    ("tcp_min_tso_segs", &[2]),
    ("tcp_pacing_ss_ratio", &[200]),
    ("tcp_pacing_ca_ratio", &[120]),
    ("tcp_moderate_rcvbuf", &[1]),
    ("tcp_mtu_probing", &[0]),
    ("tcp_base_mss", &[1024]),
    ("tcp_syn_retries", &[6]),
    ("tcp_syn_linear_timeouts", &[4]),
    ("tcp_synack_retries", &[5]),
    ("tcp_retries2", &[15]),
    ("tcp_invalid_ratelimit", &[500]),
];

/// Settings of the `defaults.sh` beside the public scripts.
const DEFAULTS_SH: &[(&str, &[i64])] = &[
    ("tcp_rmem", &[4096, 540_000, 15_728_640]),
    ("tcp_wmem", &[4096, 262_144, 4_194_304]),
    ("tcp_syn_retries", &[5]),
    ("tcp_slow_start_after_idle", &[0]),
    ("tcp_early_retrans", &[4]),
    ("tcp_ecn", &[0]),
];

/// Settings without effect on the endpoint, or on anything that a script can see here.
const WITHOUT_EFFECT: &[&str] = &[
    "tcp_fack",
    // since 6.17 RACK is used whether or not its bit is set
    "tcp_recovery",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_syncookies",
    // no option is left out where it fits, so a greatest distance has no effect
    "tcp_ecn_option_beacon",
    "tcp_no_metrics_save",
    "tcp_autocorking",
    "tcp_challenge_ack_limit",
    "tcp_tw_reuse",
    "ip_local_port_range",
    "tcp_abort_on_overflow",
    "tcp_max_syn_backlog",
];

/// The kernel's range: an `int`, and for the ratios of pacing ten times the rate; -1 is the largest bound.
fn is_in_range(name: &str, number: i64) -> bool {
    let (least, most) = match name {
        "tcp_notsent_lowat" => (-1, i64::from(u32::MAX)),
        "tcp_pacing_ss_ratio" | "tcp_pacing_ca_ratio" => (0, 1000),
        _ => (0, i64::from(i32::MAX)),
    };
    (least..=most).contains(&number)
}

impl Settings {
    pub fn new() -> Self {
        let sysctls = KERNEL_DEFAULTS.iter().map(|(name, value)| (name.to_string(), value.to_vec())).collect();
        let words = BTreeMap::from([("tcp_congestion_control".to_string(), "cubic".to_string())]);
        Settings { sysctls, words, own: Vec::new(), route: BTreeMap::new(), fq: false, blocked: false }
    }

    /// The first number of a setting.
    pub fn sysctl(&self, name: &str) -> i64 {
        self.triple(name)[0]
    }
    pub fn triple(&self, name: &str) -> &[i64] {
        self.sysctls.get(name).map_or(&[0], Vec::as_slice)
    }
    pub fn congestion_control(&self) -> &str {
        &self.words["tcp_congestion_control"]
    }

    /// Takes in shell lines.
    ///
    /// # Errors
    /// The reason to skip the script.
    pub fn run(&mut self, lines: &str) -> Result<(), String> {
        commands(lines).iter().try_for_each(|words| self.command(words))
    }

    fn command(&mut self, words: &[String]) -> Result<(), String> {
        let Some((name, arguments)) = words.split_first() else { return Ok(()) };
        let base = name.rsplit('/').next().unwrap_or(name);
        match base {
            "sysctl" => arguments.iter().filter(|word| !word.starts_with('-')).try_for_each(|word| self.assign(word)),
            "set_sysctls.py" => arguments.iter().try_for_each(|word| self.assign(word)),
            "defaults.sh" => {
                DEFAULTS_SH
                    .iter()
                    .for_each(|(name, value)| drop(self.sysctls.insert(name.to_string(), value.to_vec())));
                Ok(())
            }
            "echo" => self.echo(arguments),
            "tc" => self.qdisc(arguments),
            "ip" => self.ip(arguments),
            "lasthop" => arguments.iter().try_for_each(|word| self.own_key(word)),
            // Offloads of a device are not visible: segments are seen one by one in any case.
            "ethtool" | "sleep" | "true" | "rm" | "dd" | "nstat" | ":" => Ok(()),
            _ if base.starts_with("sysctl_restore_") => Ok(()),
            _ => Err(format!("the command `{}` has no counterpart", words.join(" "))),
        }
    }

    fn assign(&mut self, assignment: &str) -> Result<(), String> {
        let Some((path, value)) = assignment.split_once('=') else {
            return Err(format!("the setting `{assignment}` has no value"));
        };
        let name = path.trim_start_matches("/proc/sys/").replace('/', ".");
        let name = name.rsplit('.').next().unwrap_or(&name).to_string();
        if WITHOUT_EFFECT.contains(&name.as_str()) {
            return Ok(());
        }
        if let Some(word) = self.words.get_mut(&name) {
            *word = value.to_string();
            return Ok(());
        }
        let Some(found) = self.sysctls.get_mut(&name) else {
            return Err(format!("the setting {name} has no counterpart"));
        };
        let numbers = value.split_whitespace().map(str::parse).collect::<Result<Vec<i64>, _>>();
        if name == "tcp_mtu_probing" && numbers.as_deref() != Ok(&[0]) {
            return Err("probing for the path's MTU has no counterpart".into());
        }
        match numbers {
            Ok(numbers)
                if (1..=found.len()).contains(&numbers.len()) && numbers.iter().all(|n| is_in_range(&name, *n)) =>
            {
                // missing numbers leave the rest
                found[..numbers.len()].copy_from_slice(&numbers);
                Ok(())
            }
            _ => Err(format!("the setting {name}={value} is not a number in its range")),
        }
    }

    /// `echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect`.
    fn echo(&mut self, arguments: &[String]) -> Result<(), String> {
        let Some(place) = arguments.iter().position(|word| word == ">") else { return Ok(()) };
        let (Some(value), Some(path)) = (arguments.first(), arguments.get(place + 1)) else { return Ok(()) };
        match path.strip_prefix("/sys/module/tcp_cubic/parameters/") {
            // both ways of detection, which is the default
            Some("hystart_detect") if value == "3" => Ok(()),
            _ if path.starts_with("/proc/sys/") => self.assign(&format!("{path}={value}")),
            _ => Err(format!("what `echo` writes to {path} has no counterpart")),
        }
    }

    fn qdisc(&mut self, arguments: &[String]) -> Result<(), String> {
        if arguments.iter().any(|word| word == "fq") {
            self.fq = true;
            return Ok(());
        }
        if let Some(place) = arguments.iter().position(|word| word == "limit") {
            let limit = arguments.get(place + 1).map_or("", String::as_str);
            self.blocked = limit == "0";
            return if self.blocked {
                Ok(())
            } else {
                Err(format!("a local queue of {limit} packets has no counterpart"))
            };
        }
        self.blocked = false;
        let plain = ["pfifo", "pfifo_fast", "noqueue", "del", "delete"]
            .iter()
            .any(|kind| arguments.iter().any(|word| word == kind));
        if plain { Ok(()) } else { Err(format!("`tc {}` has no counterpart", arguments.join(" "))) }
    }

    fn ip(&mut self, arguments: &[String]) -> Result<(), String> {
        if arguments.iter().any(|word| word == "tcp_metrics") {
            return Ok(());
        }
        for (place, word) in arguments.iter().enumerate() {
            if ["advmss", "mtu", "initcwnd", "initrwnd", "rto_min", "reordering", "quickack"].contains(&word.as_str()) {
                let value = arguments[place + 1..].iter().find(|word| *word != "lock");
                let number = value.and_then(|value| value.trim_end_matches("ms").parse().ok());
                let Some(number) = number.filter(|number| (0..=65_535).contains(number)) else {
                    return Err(format!("`ip {}` is not understood", arguments.join(" ")));
                };
                self.route.insert(word.clone(), number);
            }
        }
        Ok(())
    }

    /// `lasthop tcp.ack='{kind="skip", skip=1}'`.
    fn own_key(&mut self, assignment: &str) -> Result<(), String> {
        let Some((key, text)) = assignment.split_once('=') else {
            return Err(format!("`lasthop {assignment}` has no value"));
        };
        let key = key.strip_prefix("tcp.").unwrap_or(key).to_string();
        self.own.push((key, toml_value(text)?));
        Ok(())
    }
}

/// A value in TOML; a bare word is a string.
fn toml_value(text: &str) -> Result<Value, String> {
    let as_written = format!("x={text}").parse::<toml::Table>();
    let table = as_written.or_else(|_| format!("x={text:?}").parse()).map_err(|error| error.to_string())?;
    Ok(value_of(&table["x"]))
}

fn value_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::Boolean(b) => Value::Bool(*b),
        toml::Value::Integer(i) => Value::Integer(*i),
        toml::Value::Float(x) => Value::Float(*x),
        toml::Value::String(s) => Value::text(s),
        toml::Value::Datetime(time) => Value::text(time),
        toml::Value::Array(items) => Value::List(items.iter().map(value_of).collect()),
        toml::Value::Table(entries) => Value::Table(entries.iter().map(|(k, v)| (k.clone(), value_of(v))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_lines_are_settings() {
        let mut settings = Settings::new();
        assert_eq!(settings.run("sysctl -q net.ipv4.tcp_rmem=\"1 2 $((32*1024*1024))\""), Ok(()));
        assert_eq!(settings.triple("tcp_rmem"), [1, 2, 33_554_432]);
        let lines = "../common/defaults.sh\n../common/set_sysctls.py /proc/sys/net/ipv4/tcp_wmem=\"4096 50000 9\" \\\n \
                     /proc/sys/net/ipv4/tcp_min_tso_segs=4 > /dev/null\nsysctl -q net.ipv4.tcp_ecn=1  # on\n\
                     ethtool -K tun0 tso off gso off; tc qdisc add dev tun0 root pfifo";
        assert_eq!(settings.run(lines), Ok(()));
        assert_eq!(settings.triple("tcp_wmem"), [4096, 50_000, 9]);
        assert_eq!(settings.triple("tcp_rmem"), [4096, 540_000, 15_728_640]);
        assert_eq!((settings.sysctl("tcp_ecn"), settings.sysctl("tcp_min_tso_segs")), (1, 4));
    }

    #[test]
    fn own_keys_are_read_as_toml() {
        let mut settings = Settings::new();
        assert_eq!(settings.run("lasthop tcp.ack='{kind=\"skip\", skip=1}' tcp.profile=ns2 sack=false"), Ok(()));
        let skip = Value::Table(vec![("kind".into(), Value::text("skip")), ("skip".into(), Value::Integer(1))]);
        assert_eq!(settings.own[0], ("ack".into(), skip));
        assert_eq!(settings.own[1..], [("profile".into(), Value::text("ns2")), ("sack".into(), Value::Bool(false))]);
    }

    #[test]
    fn setting_without_counterpart_is_the_reason_to_skip() {
        let reason = |lines: &str| Settings::new().run(lines).unwrap_err();
        assert_eq!(reason("sysctl -q net.ipv4.tcp_nonsense=1"), "the setting tcp_nonsense has no counterpart");
        assert_eq!(reason("make coffee"), "the command `make coffee` has no counterpart");
    }
}
