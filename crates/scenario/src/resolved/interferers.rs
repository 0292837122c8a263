//! Interferers: their bands and traces, checked.

use std::path::Path;
use std::sync::Arc;

use lasthop_registry::{FileName, Kind, ParamError, Word};
use lasthop_units::{Db, Dbm, Duration, Time};
use lasthop_wifi::phy::error_model::ErrorModelKind;
use lasthop_wifi::phy::path_loss::Position;
use lasthop_wifi::phy::signal_band;
use lasthop_wifi::{Burst, Emission};

use super::Range;
use super::bss::BssSpec;
use super::defaults::chosen;
use super::place::error;
use crate::description::{Description, InterfererKind, InterfererSection};
use crate::trace_file;

/// More are taken for a mistake: each burst takes time to simulate at each node.
const MOST: usize = 100;

/// Some ten million bursts.
const LARGEST_FILE: u64 = 1 << 28;

/// The longest time of a trace: that of the longest run.
const LONGEST_S: f64 = 1e6;

/// An interferer with every choice made.
#[derive(Clone, Debug)]
pub(crate) struct InterfererSpec {
    pub name: String,
    pub position: Position,
    pub power: Dbm,
    /// Lowest and highest frequency of its band, in Hz.
    pub band: (f64, f64),
    pub emission: Emission,
}

impl InterfererSpec {
    pub(super) fn frequency_hz(&self) -> f64 {
        (self.band.0 + self.band.1) / 2.0
    }

    /// The part of its power that falls into a band.
    pub(super) fn share_in(&self, (low, high): (f64, f64)) -> Db {
        share_in(self.band, (low, high))
    }
}

/// The part of a power that is flat over `band` that falls into another.
pub(super) fn share_in(band: Range, (low, high): Range) -> Db {
    let common = (band.1.min(high) - band.0.max(low)).max(0.0);
    Db(10.0 * libm::log10(common / (band.1 - band.0)))
}

/// Fills in names and channels, and reads traces; relative paths start at `folder`.
pub(super) fn interferers_of(
    description: &mut Description,
    bss: &[BssSpec],
    folder: &Path,
) -> Result<Vec<InterfererSpec>, ParamError> {
    let may_move = may_move(description);
    let all = &mut description.interferer.0;
    if all.len() > MOST {
        return error(format!("interferer[{MOST}]"), format!("{} interferers are too many: at most {MOST}", all.len()));
    }
    let model = chosen(&description.channel.error_model);
    if !all.is_empty() && !matches!(model, ErrorModelKind::Nist(_) | ErrorModelKind::Yans(_)) {
        let why = format!(
            "an interferer disturbs by the SINR, which channel.error_model = \"{}\" does not use",
            model.name()
        );
        return error("interferer[0]", (why, "set channel.error_model = \"nist\" or \"yans\""));
    }
    for (index, section) in all.iter_mut().enumerate() {
        section.channel.get_or_insert(u32::from(bss[0].config.phy.channel()));
        if section.name.is_none() {
            section.name = Some(Word::from(format!("interferer{}", index + 1)));
        }
    }
    let mut specs: Vec<InterfererSpec> = Vec::with_capacity(all.len());
    for (index, section) in all.iter().enumerate() {
        let path = format!("interferer[{index}]");
        let spec = spec_of(section, &path, folder)?;
        if let Some(other) = specs.iter().position(|other| other.name == spec.name) {
            return error(format!("{path}.name"), format!("\"{}\" is also the name of interferer[{other}]", spec.name));
        }
        let is_reached = |bss: &BssSpec| {
            let reaches = |range| spec.share_in(range).0 > f64::NEG_INFINITY;
            let phy = &bss.config.phy;
            reaches(phy.frequency_range_hz()) || may_move && phy.channels().any(|(_, range)| reaches(range))
        };
        if !bss.iter().any(is_reached) {
            let (low, high) = (spec.band.0 / 1e6, spec.band.1 / 1e6);
            let why = format!("its band of {low} to {high} MHz lies beside the channels of all BSSs");
            return error(format!("{path}.channel"), (Kind::NoEffect(why), "choose another channel, or remove it"));
        }
        specs.push(spec);
    }
    Ok(specs)
}

/// Whether a knob of the file moves BSSs.
fn may_move(description: &Description) -> bool {
    let of_changes = description.change.0.iter().flat_map(|section| section.set.0.iter().map(|(name, _)| &**name));
    let of_agents = description.agent.0.iter().flat_map(|section| section.control.iter().map(|name| &**name));
    of_changes.chain(of_agents).any(|name| name.starts_with("channel:"))
}

fn spec_of(section: &InterfererSection, path: &str, folder: &Path) -> Result<InterfererSpec, ParamError> {
    let channel = section.channel.unwrap_or_default();
    let Some(band) = signal_band(channel, section.channel_width) else {
        let message = (format!("there is no channel {channel}"), "1 to 14, or 36 to 177 in the 5 GHz band");
        return error(format!("{path}.channel"), message);
    };
    let times = (section.on.unwrap_or_default(), section.off.unwrap_or_default());
    let emission = match (section.kind, times) {
        (InterfererKind::Periodic, (on, off)) => Emission::Periodic { on, off },
        (InterfererKind::Random, (on, off)) => Emission::Random { on, off },
        (InterfererKind::Trace, _) => {
            let file = section.file.as_ref().expect("a trace has a file");
            let read = read(file, folder, section.power);
            Emission::Trace(read.map_err(|message| ParamError::new(format!("{path}.file"), message))?)
        }
    };
    let name = section.name.as_ref().map(ToString::to_string).unwrap_or_default();
    let position = Position { x: section.position[0], y: section.position[1] };
    Ok(InterfererSpec { name, position, power: section.power, band, emission })
}

/// Reads the trace in `file`, a path that may start at `folder`; powers are relative to `power`.
fn read(file: &FileName, folder: &Path, power: Dbm) -> Result<Arc<[Burst]>, String> {
    let (path, content) = trace_file::content(file, folder, LARGEST_FILE)?;
    let text =
        String::from_utf8(content).map_err(|_| format!("cannot read {}: it is no UTF-8 text", path.display()))?;
    parse(&text, power).map_err(|message| format!("{}{message}", path.display()))
}

fn parse(text: &str, power: Dbm) -> Result<Arc<[Burst]>, String> {
    let mut bursts: Vec<Burst> = Vec::new();
    let mut may_be_names = true;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let separates = |c: char| c == ',' || c == ';' || c.is_whitespace();
        let fields: Vec<&str> = line.split(separates).filter(|field| !field.is_empty()).collect();
        if std::mem::take(&mut may_be_names) && fields.iter().all(|field| field.parse::<f64>().is_err()) {
            continue;
        }
        let burst = burst_of(&fields, power).map_err(|message| format!(":{number}: {message}"))?;
        if let Some(last) = bursts.last()
            && burst.start < last.start + last.duration
        {
            let (start, end) = (burst.start.as_secs_f64(), (last.start + last.duration).as_secs_f64());
            return Err(format!(
                ":{number}: a burst begins at {start} s, before the one on the line before it ends at {end} s; an interferer has one at a time"
            ));
        }
        bursts.push(burst);
    }
    if bursts.is_empty() {
        return Err(": there is no line \"start in s, duration in s\" in it".into());
    }
    Ok(bursts.into())
}

fn burst_of(fields: &[&str], power: Dbm) -> Result<Burst, String> {
    let number = |text: &str| text.parse::<f64>().ok();
    let (start, duration, level) = match *fields {
        [start, duration] => (start, duration, Some(power.0)),
        [start, duration, level] => (start, duration, number(level).filter(|dbm| (-200.0..=100.0).contains(dbm))),
        _ => return Err(format!("expected start, duration and perhaps power, found {} fields", fields.len())),
    };
    let Some(start) = number(start).filter(|s| (0.0..=LONGEST_S).contains(s)) else {
        return Err(format!("\"{start}\" is not a time in seconds from 0 to {LONGEST_S}"));
    };
    let Some(length) = number(duration).filter(|s| (1e-9..=LONGEST_S).contains(s)) else {
        return Err(format!("\"{duration}\" is not a duration in seconds from 1e-9 to {LONGEST_S}"));
    };
    let Some(level) = level else {
        return Err(format!("\"{}\" is not a power in dBm from -200 to 100", fields[2]));
    };
    let [start, duration] = [start, length].map(Duration::from_secs_f64);
    Ok(Burst { start: Time::ZERO + start, duration, level: Db(level - power.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_a_list_of_bursts_with_or_without_powers() {
        let bursts =
            parse("start_s, duration_s, power_dbm\n0.5, 0.001\n1;2e-3;-10 # weak\n\n1.002 1 20\n", Dbm(16.0)).unwrap();
        let found: Vec<_> = bursts.iter().map(|b| (b.start.as_nanos(), b.duration.as_nanos(), b.level.0)).collect();
        let expected =
            [(500_000_000, 1_000_000, 0.0), (1_000_000_000, 2_000_000, -26.0), (1_002_000_000, 1_000_000_000, 4.0)];
        assert_eq!(found, expected);
    }

    #[test]
    fn mistakes_in_a_trace_name_the_line() {
        for (text, complaint) in [
            ("", ": there is no line"),
            ("0, 1\n0.5, 1\n", ":2: a burst begins at 0.5 s, before the one on the line before it ends at 1 s"),
            ("0, 0\n", ":1: \"0\" is not a duration"),
            ("-1, 1\n", ":1: \"-1\" is not a time"),
            ("0, 1, x\n", ":1: \"x\" is not a power"),
            ("0\n", ":1: expected start, duration and perhaps power, found 1 fields"),
        ] {
            let found = parse(text, Dbm(0.0)).unwrap_err();
            assert!(found.starts_with(complaint), "{found}");
        }
    }

    #[test]
    fn a_channel_holds_the_part_of_a_band_that_overlaps_it() {
        let spec = |band| InterfererSpec {
            name: String::new(),
            position: Position::default(),
            power: Dbm(0.0),
            band,
            emission: Emission::Trace(Arc::new([])),
        };
        let share = |band, of| spec(band).share_in(of).0;
        assert_eq!(share((2402e6, 2422e6), (2401e6, 2423e6)), 0.0);
        // Half of it, and a quarter.
        assert!((share((5180e6, 5200e6), (5170e6, 5190e6)) + 3.0103).abs() < 1e-4);
        assert!((share((2402e6, 2482e6), (2402e6, 2422e6)) + 6.0206).abs() < 1e-4);
        assert_eq!(share((5180e6, 5200e6), (5200e6, 5220e6)), f64::NEG_INFINITY);
    }
}
