//! Congestion controls by their names in the kernel.

use lasthop_registry::{Fault, Parameter, Value};
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::Algorithm;

/// Names in scenarios and in Linux, `net/ipv4/tcp_*.c`.
const NAMES: [(&str, &str); 15] = [
    ("newreno", "reno"),
    ("cubic", "cubic"),
    ("hstcp", "highspeed"),
    ("scalable", "scalable"),
    ("htcp", "htcp"),
    ("bic", "bic"),
    ("westwood", "westwood"),
    ("veno", "veno"),
    ("illinois", "illinois"),
    ("yeah", "yeah"),
    ("hybla", "hybla"),
    ("dctcp", "dctcp"),
    ("vegas", "vegas"),
    ("cdg", "cdg"),
    ("bbr", "bbr"),
];

/// The kernel's name.
///
/// # Errors
/// The mistake, with the the available ones.
pub(super) fn name_in_linux(control: &Algorithm) -> Result<&'static str, Fault> {
    let name = control.name();
    NAMES.iter().find(|(own, _)| *own == name).map(|(_, of_linux)| *of_linux).ok_or_else(|| {
        let known: Vec<&str> = NAMES.iter().map(|(own, _)| *own).collect();
        let known = known.join(", ");
        let simulated = "keep the flow simulated by application = \"simulated\"";
        let unknown = format!("no Linux kernel has congestion_control = \"{name}\"");
        (unknown, format!("choose one of {known}, or {simulated}")).into()
    })
}

/// Parameters that differ from those of the kernel's module, as `congestion_control.KEY = VALUE`.
pub(super) fn parameters_of_its_own(control: &Algorithm) -> Vec<String> {
    let entries = |control: &Algorithm| match control.to_value() {
        Some(Value::Table(entries)) => entries,
        _ => Vec::new(),
    };
    let choice = Value::text(control.name());
    let usual = Algorithm::parse(&Profile::Linux.with_own_defaults(&choice), "").map(|usual| entries(&usual));
    let usual = usual.unwrap_or_default();
    let differs = |entry: &(String, Value)| !usual.contains(entry);
    let written = |(key, value): (String, Value)| format!("congestion_control.{key} = {value}");
    entries(control).into_iter().filter(differs).map(written).collect()
}
