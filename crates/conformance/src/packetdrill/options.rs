//! The `--name=value` lines at the top of a script, or on the command line.

use std::collections::BTreeMap;

use crate::packetdrill::host::Trouble;
use crate::packetdrill::lexer::{Kind, tokens};
use crate::packetdrill::script::{Action, Expr, LATEST_US, Script};

/// The sizes of packet that a link may accept: the minimum for all links, and the largest IPv4 packet.
/// [RFC 791]
const MTU: (f64, f64) = (68.0, 65_535.0);

/// Options that a script may set.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub tolerance_us: i64,
    /// tolerance relative to the time since the event before, in per cent
    pub tolerance_percent: f64,
    pub mtu: u32,
    /// a TSecr may echo an unseen TSval
    pub guess_echo: bool,
    /// length of a tick of TSvals; 0: they are not compared
    pub timestamp_tick_us: i64,
    /// a super-segment is sent as one
    pub strict_segments: bool,
}

impl Options {
    /// Reads the options of a script and inserts its definitions.
    ///
    /// # Errors
    /// The reason to skip the script, or the error in it.
    pub fn of(script: &mut Script) -> Result<Options, Trouble> {
        let mut options = Options {
            tolerance_us: 4000,
            tolerance_percent: 12.5,
            mtu: 1500,
            guess_echo: false,
            timestamp_tick_us: 0,
            strict_segments: false,
        };
        let mut defined = BTreeMap::new();
        for (name, value) in &script.options {
            let number = |least: f64, most: f64| {
                let number = value.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
                number.ok_or_else(|| {
                    Trouble::Mismatch(format!("--{name}={value} is not a number from {least} to {most}"))
                })
            };
            let microseconds = || number(0.0, LATEST_US as f64).map(|us| us as i64);
            match name.as_str() {
                "tolerance_usecs" => options.tolerance_us = microseconds()?,
                "tolerance_percent" => options.tolerance_percent = number(0.0, 1000.0)?,
                "mtu" => options.mtu = number(MTU.0, MTU.1)? as u32,
                "tcp_ts_ecr_scaled" => options.guess_echo = true,
                "tcp_ts_tick_usecs" => options.timestamp_tick_us = microseconds()?,
                "strict_segments" => options.strict_segments = true,
                "define" => {
                    let (symbol, text) = value
                        .split_once('=')
                        .ok_or_else(|| Trouble::Mismatch(format!("--define={value} defines nothing")))?;
                    defined.insert(symbol.to_string(), expression(text));
                }
                // The size into which an inbound super-segment is cut for the kernel; here it is not cut.
                "mss" => {}
                "ip_version" if value == "ipv4" => {}
                "ip_version" => return Err(Trouble::Skip(format!("--ip_version={value} has no counterpart"))),
                "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" if value.contains(':') => {
                    return Err(Trouble::Skip("addresses of IPv6 have no counterpart".into()));
                }
                "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port" | "connect_port" | "speed"
                | "verbose" | "debug" | "send_omit_free" => {}
                _ => return Err(Trouble::Skip(format!("the option --{name} has no counterpart"))),
            }
        }
        script.define(&defined);
        Ok(options)
    }
}

/// The value of a symbol.
fn expression(text: &str) -> Expr {
    match tokens(text).ok().as_deref() {
        Some([token]) => match &token.kind {
            Kind::Int(value) | Kind::Hex(value) => Expr::Int(*value),
            Kind::Text(inner) => Expr::Text(inner.clone()),
            _ => Expr::Word(text.into()),
        },
        _ => Expr::Text(text.into()),
    }
}

impl Script {
    /// Replaces each defined symbol by its value.
    fn define(&mut self, defined: &BTreeMap<String, Expr>) {
        for event in &mut self.events {
            if let Action::Call(call) = &mut event.action {
                call.arguments.iter_mut().chain([&mut call.result]).for_each(|argument| replace(argument, defined));
            }
        }
    }
}

fn replace(expression: &mut Expr, defined: &BTreeMap<String, Expr>) {
    match expression {
        Expr::Word(word) => {
            if let Some(value) = defined.get(word) {
                *expression = value.clone();
            }
        }
        Expr::Or(items) | Expr::List(items) | Expr::Function(_, items) => {
            items.iter_mut().for_each(|item| replace(item, defined));
        }
        Expr::Fields(fields) => fields.iter_mut().for_each(|(_, value)| replace(value, defined)),
        Expr::Ellipsis | Expr::Int(_) | Expr::Text(_) => {}
    }
}
