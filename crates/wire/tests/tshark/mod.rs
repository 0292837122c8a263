//! Frames written here, read by another program: tshark, the reader of Wireshark, with every checksum verified.
//!
//! A file has a frame of each kind, with the fields that tshark must find, as version 4.0 names and prints them.
//! Without tshark (`apt-get install tshark`) the tests report this and pass.

mod frames;
mod rates;

use std::path::PathBuf;
use std::process::Command;

use frames::{Capture, Field, everything, qos_data};
use lasthop_wire::Radiotap;
use lasthop_wire::capture::{Record, Records};
use lasthop_wire::ieee80211::{Data, DataKind, FrameFlags};
use rates::every_rate;

/// The output of tshark with these arguments.
fn tshark(arguments: &[&str]) -> String {
    let output = Command::new("tshark").args(arguments).output().expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("tshark prints UTF-8")
}

/// Preferences for tshark.
const PREFERENCES: [&str; 5] = [
    "ip.check_checksum:TRUE",
    "tcp.check_checksum:TRUE",
    "udp.check_checksum:TRUE",
    "wlan.check_checksum:TRUE",
    "tcp.relative_sequence_numbers:FALSE",
];

/// The frames of a file in which tshark finds other fields than expected, in words.
fn wrong(file: &Written, expected: &[Vec<Field>]) -> Vec<String> {
    let mut names: Vec<&str> = expected.iter().flatten().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    names.extend(["_ws.expert.severity", "_ws.expert.message"]);
    let mut arguments = vec!["-r", file.path(), "-n", "-T", "fields", "-E", "separator=|"];
    PREFERENCES.iter().for_each(|preference| arguments.extend(["-o", preference]));
    names.iter().for_each(|name| arguments.extend(["-e", name]));
    let lines = tshark(&arguments);
    // Some versions count a Custom Block at the end among the frames.
    assert!(matches!(lines.lines().count() - expected.len(), 0 | 1), "{} lines", lines.lines().count());
    (1..)
        .zip(lines.lines().zip(expected))
        .map(|(number, (line, expected))| (number, differences(&names, line, expected)))
        .filter(|(_, wrong)| !wrong.is_empty())
        .map(|(number, wrong): (u32, _)| format!("frame {number}: {}", wrong.join("; ")))
        .collect()
}

/// True if tshark is installed; otherwise prints that a test is skipped.
fn tshark_is_there() -> bool {
    let is_there = Command::new("tshark").arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: tshark is not installed");
    }
    is_there
}

/// The file of a test, deleted when it ends.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, bytes: &[u8]) -> Written {
        let path = std::env::temp_dir().join(format!("lasthop-wire-{}-{name}.pcapng", std::process::id()));
        let file = Written(path);
        std::fs::write(&file.0, bytes).expect("the temporary folder can be written");
        file
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("its name is UTF-8")
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// The severity of an expert's warning in tshark; notes and remarks are below it, errors above.
const WARNING: u32 = 0x0060_0000;

/// Deviations in a frame: fields, and warnings of tshark's experts except those of checksums that must be wrong.
fn differences(names: &[&str], line: &str, expected: &[Field]) -> Vec<String> {
    // Booleans are numbers up to version 4.0, words after it.
    let found: Vec<String> = line.split('|').map(|value| value.replace("True", "1").replace("False", "0")).collect();
    let value = |name: &str| &found[names.iter().position(|other| *other == name).expect("it was asked for")];
    let mut wrong: Vec<_> = expected
        .iter()
        .filter(|(name, expected)| value(name) != expected)
        .map(|(name, expected)| format!("{name} is {:?}, not {expected:?}", value(name)))
        .collect();
    let severities = value("_ws.expert.severity").split(',').filter(|severity| !severity.is_empty());
    let is_warned = severities.map(|severity| severity.parse::<u32>().unwrap()).any(|severity| severity >= WARNING);
    let fcs_is_wrong = expected.iter().any(|(name, value)| *name == "wlan.fcs.status" && value == "0");
    if is_warned && !fcs_is_wrong {
        wrong.push(value("_ws.expert.message").clone());
    }
    wrong
}

#[test]
fn tshark_finds_every_field_as_it_was_written() {
    if !tshark_is_there() {
        return;
    }
    let (file, expected) = everything();
    let file = Written::new("fields", &file);
    let wrong = wrong(&file, &expected);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let hosts = tshark(&["-r", file.path(), "-q", "-z", "hosts"]);
    assert!(hosts.contains("10.0.0.1\tserver") && hosts.contains("2001:db8::1\tserver"), "{hosts}");
}

#[test]
fn tshark_computes_the_rate_of_every_ppdu() {
    if !tshark_is_there() {
        return;
    }
    let mut capture = Capture::new();
    let rates = every_rate();
    let null = Data { kind: DataKind::Null, ..qos_data(1, FrameFlags::NONE) };
    for (ms, (radiotap, _)) in (1..).zip(&rates) {
        // tshark takes frames of one time for one PPDU.
        let radiotap = Radiotap { tsft_us: Some(1000 * ms), ..*radiotap };
        capture.frame(radiotap, |out| null.append(out), Vec::new());
    }
    let file = Written::new("rates", &capture.file.finish().unwrap());
    let lines = tshark(&["-r", file.path(), "-T", "fields", "-e", "wlan_radio.data_rate"]);
    assert_eq!(lines.lines().count(), rates.len());
    let wrong: Vec<_> = lines
        .lines()
        .zip(&rates)
        .filter(|(line, (_, rate))| {
            // Six digits, or one decimal place.
            !line.parse::<f64>().is_ok_and(|found| (found - rate).abs() <= 0.050_001_f64.max(rate * 1e-5))
        })
        .map(|(line, (radiotap, rate))| {
            format!("{line:?} is not {rate}: {:?} {:?} {:?}", radiotap.mcs, radiotap.vht, radiotap.he)
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rates.len(), wrong.join("\n"));
}

/// Length, time and bytes of each packet of a file.
fn packets(file: &[u8]) -> Vec<(u32, i64, &[u8])> {
    Records::new(file)
        .filter_map(|record| match record.unwrap() {
            Record::Packet(packet) => Some((packet.original_length, packet.time_ns.unwrap(), packet.bytes)),
            _ => None,
        })
        .collect()
}

#[test]
fn editcap_output_is_read_like_its_input() {
    if Command::new("editcap").arg("--version").output().is_err() {
        eprintln!("skipped: editcap is not installed");
        return;
    }
    let mut capture = Capture::new();
    let null = Data { kind: DataKind::Null, ..qos_data(1, FrameFlags::NONE) };
    for (radiotap, _) in every_rate() {
        capture.frame(radiotap, |out| null.append(out), Vec::new());
    }
    let original = capture.file.finish().unwrap();
    let from = Written::new("original", &original);
    for (format, unit_ns, kept) in
        [("pcapng", 1, 65_535), ("nsecpcap", 1, 65_535), ("pcap", 1000, 65_535), ("pcapng", 1, 50)]
    {
        let to = Written::new("converted", &[]);
        let arguments = ["-F", format, "-s", &kept.to_string(), "-T", "ieee-802-11-radiotap", from.path(), to.path()];
        let output = Command::new("editcap").args(arguments).output().expect("editcap runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let converted = std::fs::read(to.path()).expect("editcap has written it");
        let expected: Vec<_> = packets(&original)
            .into_iter()
            .map(|(length, ns, bytes)| (length, ns / unit_ns * unit_ns, &bytes[..bytes.len().min(kept)]))
            .collect();
        assert!(packets(&converted) == expected, "{format}");
    }
}
