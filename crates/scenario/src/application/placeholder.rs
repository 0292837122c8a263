//! `{server}`, `{station}` and `{port}` in a command.
//!
//! A word of lowercase letters between braces is a placeholder. Other braces, and anything after a `$`, are left to the
//! shell.

use std::net::Ipv4Addr;

use lasthop_registry::{ParamError, suggestion};

const KNOWN: [&str; 3] = ["server", "station", "port"];

/// The values of the placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub server: Ipv4Addr,
    pub station: Ipv4Addr,
    pub port: u16,
}

impl Ends {
    /// `command` with all placeholders filled in.
    pub fn fill_in(&self, command: &str) -> String {
        let value = |name: &str| match name {
            "server" => self.server.to_string(),
            "station" => self.station.to_string(),
            "port" => self.port.to_string(),
            _ => unreachable!("placeholders were checked with the scenario"),
        };
        pieces(command).map(|piece| piece.map_or_else(value, str::to_string)).collect()
    }
}

/// Refuses a command with an unknown placeholder.
pub(super) fn check(command: &str, path: &str) -> Result<(), ParamError> {
    let unknown = pieces(command).filter_map(Result::err).find(|name| !KNOWN.contains(name));
    let Some(name) = unknown else { return Ok(()) };
    let known = KNOWN.map(|name| format!("{{{name}}}")).join(", ");
    let hint = suggestion(name, KNOWN);
    Err(ParamError::new(path, (format!("unknown placeholder {{{name}}}"), format!("{hint}one of: {known}"))))
}

/// Splits a command into plain text (`Ok`) and names of placeholders (`Err`), in order.
fn pieces(command: &str) -> impl Iterator<Item = Result<&str, &str>> {
    let mut rest = command;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = match next_placeholder(rest) {
            None => (Ok(rest), ""),
            Some((0, end)) => (Err(&rest[1..end]), &rest[end + 1..]),
            Some((start, _)) => (Ok(&rest[..start]), &rest[start..]),
        };
        rest = after;
        Some(piece)
    })
}

/// The positions of the next placeholder's braces.
fn next_placeholder(text: &str) -> Option<(usize, usize)> {
    text.match_indices('{').find_map(|(start, _)| {
        let inner = &text[start + 1..];
        let length = inner.find('}')?;
        let is_word = length > 0 && inner[..length].bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        (is_word && !text[..start].ends_with('$')).then_some((start, start + 1 + length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: Ends = Ends { server: Ipv4Addr::new(10, 0, 0, 1), station: Ipv4Addr::new(10, 1, 0, 2), port: 50_003 };

    #[test]
    fn placeholders_are_filled_in_wherever_they_stand() {
        assert_eq!(ENDS.fill_in("nc {server} {port}"), "nc 10.0.0.1 50003");
        assert_eq!(ENDS.fill_in("{station}{server}"), "10.1.0.210.0.0.1");
        assert_eq!(ENDS.fill_in("true"), "true");
        assert_eq!(ENDS.fill_in(""), "");
    }

    #[test]
    fn braces_of_the_shell_stay() {
        for command in
            ["awk '{ print $1 }'", "echo ${port}", "touch a{b,c}", "f() { :; }", "echo {", "echo {}", "{{", "é{"]
        {
            assert_eq!(check(command, "c"), Ok(()), "{command}");
            assert_eq!(ENDS.fill_in(command), command);
        }
        assert_eq!(ENDS.fill_in("echo ${port} {port}"), "echo ${port} 50003");
    }

    #[test]
    fn unknown_placeholder_is_an_error_with_the_known_ones() {
        let said = check("ping {sever}", "flow[0].application.client").unwrap_err().to_string();
        assert_eq!(
            said,
            "flow[0].application.client: unknown placeholder {sever}; did you mean \"server\"? one of: {server}, {station}, {port}"
        );
        assert!(check("echo {server} {nobody}", "c").unwrap_err().to_string().contains("{nobody}"));
    }
}
