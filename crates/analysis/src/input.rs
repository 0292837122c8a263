//! Captures that are read in parallel, with their packets in the order of time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bounds::{Bounds, Kept};
use crate::timeline::Timeline;
use lasthop_wire::MacAddress;
use lasthop_wire::capture::{LinkType, NamedAddress, Names, ReadError, Reader, Record};

/// A captured packet.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// nanoseconds since 1970
    pub time_ns: i64,
    pub link_type: LinkType,
    pub original_length: usize,
    pub bytes: Vec<u8>,
}

/// Names of addresses in captures.
#[derive(Debug, Default)]
pub(crate) struct NameBook {
    pub of_mac: BTreeMap<MacAddress, String>,
    pub of_ip: BTreeMap<std::net::IpAddr, String>,
}

/// Unusable parts of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damage {
    /// records that are invalid, or have no time
    pub records: u64,
    /// packets whose time is before that of the packet before them
    pub out_of_order: u64,
    /// packets without a time
    pub timeless: u64,
    /// packets that were lost while capturing, by the file's own count
    pub dropped: u64,
    /// how often the clock was set, and by how many nanoseconds at first
    pub sets: (u64, Option<i64>),
    /// the first of the invalid records, with its place
    pub first: Option<String>,
    /// the byte at which reading ended before the end of the file, and the length of the file
    pub stopped: Option<(u64, u64)>,
}

/// A file that adds the bytes read from it to a count.
struct Counted {
    file: File,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// A capture that is being read.
struct Input {
    path: PathBuf,
    reader: Reader<Counted>,
    /// the next packet
    next: Captured,
    has_next: bool,
    latest_ns: i64,
    timeline: Timeline,
    /// drops noted at packets, and by interface the drops of its statistics
    drops: (u64, BTreeMap<u32, u64>),
    packets: u64,
    /// bytes of the file, as it was opened
    length: u64,
    damage: Damage,
}

/// All captures.
pub(crate) struct Inputs {
    inputs: Vec<Input>,
    names: NameBook,
    bounds: Bounds,
}

impl Inputs {
    /// Opens them; `count` grows with the bytes read.
    ///
    /// # Errors
    /// A sentence with the file, if one cannot be read or is not a capture.
    pub(crate) fn open(paths: &[PathBuf], count: &Arc<AtomicU64>, bounds: Bounds) -> Result<Inputs, String> {
        let mut all = Inputs { inputs: Vec::new(), names: NameBook::default(), bounds };
        for path in paths {
            let file = File::open(path).map_err(|error| said(path, &error))?;
            let length = file.metadata().map_or(0, |facts| facts.len());
            let reader = Reader::new(Counted { file, count: count.clone() });
            let mut input = Input {
                path: path.clone(),
                reader,
                next: Captured::default(),
                has_next: false,
                latest_ns: i64::MIN,
                timeline: Timeline::default(),
                drops: Default::default(),
                packets: 0,
                length,
                damage: Damage::default(),
            };
            input.advance(&mut all.names, &mut all.bounds)?;
            all.inputs.push(input);
        }
        Ok(all)
    }

    /// The next packet in time, with the number of its file; none at the end.
    ///
    /// # Errors
    /// A sentence with the file, if one cannot be read.
    pub(crate) fn next(&mut self, packet: &mut Captured) -> Result<Option<usize>, String> {
        let earliest = (0..self.inputs.len())
            .filter(|&file| self.inputs[file].has_next)
            .min_by_key(|&file| self.inputs[file].next.time_ns);
        let Some(file) = earliest else { return Ok(None) };
        let input = &mut self.inputs[file];
        std::mem::swap(packet, &mut input.next);
        input.advance(&mut self.names, &mut self.bounds)?;
        Ok(Some(file))
    }

    /// The names found so far.
    pub(crate) fn names(&self) -> &NameBook {
        &self.names
    }

    /// The bounds that were reached.
    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The unusable parts of each file.
    pub(crate) fn damages(&self) -> impl Iterator<Item = (&Path, &Damage)> {
        self.inputs.iter().map(|input| (input.path.as_path(), &input.damage))
    }
}

impl Input {
    /// Reads up to the next packet with a time.
    fn advance(&mut self, names: &mut NameBook, bounds: &mut Bounds) -> Result<(), String> {
        self.has_next = false;
        loop {
            match self.reader.record() {
                Ok(None) => {
                    self.damage.stopped = self.reader.stopped_at().map(|byte| (byte, self.length.max(byte)));
                    self.damage.sets = (self.timeline.sets, self.timeline.first_set_ns);
                    // Both count the same packets.
                    let by_statistics = self.drops.1.values().fold(0, |all: u64, one| all.saturating_add(*one));
                    self.damage.dropped = self.drops.0.max(by_statistics);
                    return Ok(());
                }
                Ok(Some(Record::Packet(packet))) => {
                    self.drops.0 = self.drops.0.saturating_add(packet.options.dropped.unwrap_or(0));
                    let Some(told_ns) = packet.time_ns else {
                        self.damage.timeless += 1;
                        self.damage.records += 1;
                        self.damage.first.get_or_insert_with(|| "a packet has no time".into());
                        continue;
                    };
                    let time_ns = self.timeline.time_ns(packet.interface, told_ns);
                    self.next.time_ns = time_ns;
                    self.next.link_type = packet.link_type;
                    self.next.original_length = packet.original_length as usize;
                    self.next.bytes.clear();
                    self.next.bytes.extend_from_slice(packet.bytes);
                    self.has_next = true;
                    self.packets += 1;
                    self.damage.out_of_order += u64::from(time_ns < self.latest_ns);
                    self.latest_ns = self.latest_ns.max(time_ns);
                    return Ok(());
                }
                Ok(Some(Record::Names(told))) => learn(names, told, bounds),
                Ok(Some(Record::Statistics { interface, statistics })) => {
                    let dropped = self.drops.1.entry(interface).or_default();
                    *dropped = statistics.dropped.unwrap_or(0).max(*dropped);
                }
                Ok(Some(_)) => {}
                Err(ReadError::Io(error)) => return Err(said(&self.path, &error)),
                // An error before the first packet means that this is not a capture.
                Err(ReadError::Format(error)) if self.packets == 0 => {
                    let known = "captures are pcap or pcapng, not packed; files of iperf3 --json, Flent and ss -tin are read too";
                    return Err(format!("{}; {known}", said(&self.path, &error)));
                }
                Err(ReadError::Format(error)) => {
                    self.damage.records += 1;
                    self.damage.first.get_or_insert_with(|| error.to_string());
                }
            }
        }
    }
}

fn learn(names: &mut NameBook, told: Names<'_>, bounds: &mut Bounds) {
    for name in told.map_while(Result::ok).filter(|name| !name.name.is_empty()) {
        if !bounds.admits(Kept::Names, names.of_mac.len() + names.of_ip.len()) {
            return;
        }
        match name.address {
            NamedAddress::Mac(mac) => drop(names.of_mac.entry(mac).or_insert_with(|| name.name.into())),
            NamedAddress::V4(ip) => drop(names.of_ip.entry(ip.into()).or_insert_with(|| name.name.into())),
            NamedAddress::V6(ip) => drop(names.of_ip.entry(ip.into()).or_insert_with(|| name.name.into())),
        }
    }
}

fn said(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
