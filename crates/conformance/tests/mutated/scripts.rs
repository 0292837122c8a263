//! Any packet script gives a verdict with its line; never a panic, a number that wraps, or work without end.

use std::path::Path;

use crate::mutated::mutation::{cases, mutated, mutations, soon};
use lasthop_conformance::packetdrill::{Ending, run};
use proptest::prelude::*;

fn scripts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn a_verdict(text: &str) -> Ending {
    let ending = soon(|| run(text, &[])).ending;
    if let Ending::Failed { line, why } | Ending::Skipped { line, why } = &ending {
        assert!((1..=text.lines().count().max(1)).contains(line), "line {line}: {why}");
        assert!(!why.is_empty());
    }
    ending
}

#[test]
fn mutated_scripts_give_a_verdict() {
    let scripts = scripts();
    proptest!(cases(6000), |(which in 0..scripts.len(), changes in mutations(4))| {
        a_verdict(&mutated(&scripts[which], &changes));
    });
}

#[test]
fn any_text_gives_a_verdict() {
    proptest!(cases(1000), |(text in "\\PC{0,200}")| drop(a_verdict(&text)));
}

/// The line at which a script fails, and the reason.
fn failure(text: &str) -> (usize, String) {
    match a_verdict(text) {
        Ending::Failed { line, why } => (line, why),
        other => panic!("{other:?}"),
    }
}

const OPENED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
    +0 bind(3, ..., ...) = 0\n\
    +0 listen(3, 1) = 0\n\
    +0 < S 0:0(0) win 65535 <mss 1000>\n\
    +0 > S. 0:0(0) ack 1 <...>\n\
    +.1 < . 1:1(0) ack 1 win 65535\n\
    +0 accept(3, ..., ...) = 4\n";

#[test]
fn a_time_beyond_a_day_is_refused_in_its_line() {
    let first = OPENED.replacen("0 socket", "9223372036854775807 socket", 1);
    assert_eq!(failure(&first), (1, "a time of 9223372036854775807 s; a script may take a day, 86400 s".into()));
    let call = format!("{OPENED}+0...9223372036854775807 read(4, ..., 9) = 0\n");
    assert_eq!(failure(&call).0, 8);
    let sum = format!("{OPENED}+86000 close(4) = 0\n+86000 close(3) = 0\n");
    assert_eq!(failure(&sum), (9, "this is to happen at 172000.100000; a script may take 86400.000000".into()));
}

#[test]
fn brackets_without_end_are_refused() {
    for open in ["[", "{", "f(", "{a="] {
        let text = format!("{OPENED}+0 write(4, {}", open.repeat(100_000));
        assert_eq!(failure(&text), (8, "more than 32 brackets stand in one another".into()));
    }
}

#[test]
fn a_script_that_runs_away_is_stopped() {
    let many = format!(
        "{OPENED}+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [2000000000], 4) = 0\n\
         +0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n{}",
        "+0 write(4, ..., 2000000000) = 1\n".repeat(3)
    );
    assert!(failure(&many).1.starts_with("write returns "), "{:?}", failure(&many));
    let zeros = "1".repeat(400);
    assert!(failure(&format!("--mtu={zeros}\n{OPENED}")).1.ends_with("is not a number from 68 to 65535"));
    assert!(failure(&" ".repeat(2_000_000)).1.ends_with("bytes; a script may have 1048576"));
}

#[test]
fn number_beyond_int_is_refused() {
    for option in ["SO_SNDBUF", "SO_RCVBUF", "TCP_USER_TIMEOUT", "TCP_NOTSENT_LOWAT", "TCP_MAXSEG"] {
        let text = format!("{OPENED}+0 setsockopt(3, SOL_TCP, {option}, [9223372036854775807], 4) = 0\n");
        assert_eq!(failure(&text).0, 8, "{option}");
    }
    let skipped = |line: &str| matches!(a_verdict(&format!("{line}\n{OPENED}")), Ending::Skipped { line: 1, .. });
    assert!(skipped("`sysctl -q net.ipv4.tcp_rmem=\"1 2 9223372036854775807\"`"));
    assert!(skipped("`sysctl -q net.ipv4.tcp_wmem=-1`"));
    assert!(skipped("`sysctl -q net.ipv4.tcp_pacing_ss_ratio=9999999`"));
    assert!(skipped("`ip route change 0.0.0.0/0 dev tun0 mtu 99999999999`"));
}

/// As in a kernel: if fewer numbers are given than a setting has, the rest stay.
#[test]
fn a_setting_keeps_the_numbers_that_are_not_given() {
    let text = format!(
        "`sysctl -q net.ipv4.tcp_wmem=\"8192\"`\n{OPENED}+0 getsockopt(3, SOL_SOCKET, SO_SNDBUF, [16384], [4]) = 0\n"
    );
    assert_eq!(a_verdict(&text), Ending::AsStated);
}
