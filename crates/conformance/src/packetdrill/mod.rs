//! Packetdrill scripts against the TCP endpoint of this project, under a virtual clock.
//!
//! A script states the times of a peer's packets, the system calls of the application, and the packets that the stack
//! under test is to send. The language is that of google/packetdrill; `docs/packetdrill.md` lists its supported part.
//!
//! ```text
//!   text ─► lexer ─► parser ─► Script ─► Runner: clock, packets expected
//!                                           │
//!                   Host: files, calls, send buffers, connections
//!                                           │
//!                                 lasthop_tcp::Endpoint
//! ```
//!
//! Leaves out: IPv6, UDP, ICMP, TCP Fast Open, MD5, urgent data, control messages. A script that needs
//! one of them is skipped, with its reason. Code between `%{` and `}%` is handed back with its variables, for Python to
//! evaluate.

mod arguments;
mod calls;
mod connection;
mod cursor;
mod endpoint_config;
mod epoll;
mod errno;
mod expect;
mod facts;
mod host;
mod lexer;
mod offload;
mod options;
mod packet_syntax;
mod parser;
mod poll;
mod runner;
mod script;
mod send_buffer;
mod setup;
mod shell;
mod socket_options;
mod symbols;
mod transfer;
mod wire;

use host::Trouble;
use lasthop_registry::Value;
pub use runner::{Code, Ending, Ran};

/// The longest script, in bytes. The longest of the public ones has a hundredth of it.
const LONGEST: usize = 1 << 20;

/// Runs the text of a script. `extra` holds further options, as `("tolerance_usecs", "10000")`, which prevail.
pub fn run(text: &str, extra: &[(String, String)]) -> Ran {
    run_with(text, extra, &[])
}

/// As [`run`], with keys of the endpoint's `[tcp]` table, set before the script's own lines.
pub fn run_with(text: &str, extra: &[(String, String)], tcp: &[(String, Value)]) -> Ran {
    let ended = |ending: Ending| Ran { ending, code: Vec::new() };
    if text.len() > LONGEST {
        let why = format!("{} bytes; a script may have {LONGEST}", text.len());
        return ended(Ending::Failed { line: 1, why });
    }
    if asks_for_ipv6(text) {
        return ended(Ending::Skipped { line: 1, why: "IPv6 has no counterpart".into() });
    }
    let mut script = match parser::parse(text) {
        Ok(script) => script,
        Err(error) => return ended(Ending::Failed { line: error.line, why: error.why }),
    };
    script.options.extend_from_slice(extra);
    let options = match options::Options::of(&mut script) {
        Ok(options) => options,
        Err(Trouble::Skip(why)) => return ended(Ending::Skipped { line: 1, why }),
        Err(Trouble::Mismatch(why)) => return ended(Ending::Failed { line: 1, why }),
    };
    let mut settings = setup::Settings::new();
    settings.own.extend_from_slice(tcp);
    if let Some((line, lines)) = &script.set_up
        && let Err(why) = settings.run(lines)
    {
        return ended(Ending::Skipped { line: *line, why });
    }
    runner::run(&script, options, settings)
}

/// True for a script for IPv6: these have a syntax of their own, so that this is decided before parsing.
fn asks_for_ipv6(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("--ip_version=ipv6"))
}
