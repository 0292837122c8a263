//! The files of a capture. Each keeps a batch in memory, and is open only while a batch is written, since a run with
//! thousands of nodes has as many files.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lasthop_observe::NodeId;
use lasthop_wire::PcapNg;
use lasthop_wire::capture::{Interface, LinkType, Name, NamedAddress, PacketOptions, Section};

use crate::site::Site;

/// Name of the file with all PPDUs on the air.
pub const AIR: &str = "air";
/// Name of the file with the packets of the servers.
const SERVER: &str = "server";
/// Bytes that all batches may take together, and the range for one batch.
const MEMORY: usize = 32 << 20;
const BATCH: std::ops::RangeInclusive<usize> = 4 << 10..=256 << 10;

/// A file that grows by batches.
#[derive(Debug)]
struct Growing {
    path: PathBuf,
    buffer: Vec<u8>,
    batch: usize,
}

impl Growing {
    fn new(path: PathBuf, batch: usize) -> io::Result<Growing> {
        File::create(&path)?;
        Ok(Growing { path, buffer: Vec::new(), batch })
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.batch {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            OpenOptions::new().append(true).open(&self.path)?.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// A pcapng file with one interface.
struct Capturing {
    path: PathBuf,
    file: PcapNg<Growing>,
    interface: u32,
}

/// A frame to be written.
pub(crate) struct Captured<'a> {
    pub time_ns: u64,
    pub original_length: usize,
    pub bytes: &'a [u8],
    pub options: PacketOptions<'a>,
}

impl Capturing {
    fn begin(path: PathBuf, batch: usize, site: &Site, interface: &Interface<'_>) -> io::Result<Capturing> {
        let (from, until) = site.measured;
        let comment = format!(
            "{}, seed {}; measured from {} s to {} s; payload is zeros",
            site.scenario,
            site.seed,
            from.as_secs_f64(),
            until.as_secs_f64()
        );
        let application = Some(concat!("lasthop ", env!("CARGO_PKG_VERSION")));
        let section = Section { application, comment: Some(&comment), ..Section::default() };
        let mut file = PcapNg::with_section(Growing::new(path.clone(), batch)?, &section)?;
        let interface = file.interface(interface)?;
        let nodes = site.nodes.iter().zip((0..).map(NodeId));
        let ends = nodes.map(|(node, id)| (node.name.as_str(), Site::mac(id), Site::address(id)));
        let ends = ends.chain([(SERVER, Site::SERVER_MAC, Site::SERVER)]);
        file.names(ends.flat_map(|(name, mac, address)| {
            [NamedAddress::Mac(mac), NamedAddress::V4(address)].map(|address| Name { address, name })
        }))?;
        Ok(Capturing { path, file, interface })
    }
}

/// All files of a capture.
pub(crate) struct Files {
    air: Capturing,
    server: Capturing,
    nodes: Vec<Capturing>,
    /// the reason why one of them could not be written
    failure: Option<String>,
}

/// One of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Air,
    Server,
    Node(NodeId),
}

impl Files {
    /// Begins the files in a `folder`, which is created.
    pub(crate) fn begin(folder: &Path, site: &Site, interface_snaps: [u32; 2]) -> Result<Files, String> {
        let [radio_snap, wired_snap] = interface_snaps;
        fs::create_dir_all(folder).map_err(|error| said(folder, &error))?;
        let batch = (MEMORY / (site.nodes.len() + 2)).clamp(*BATCH.start(), *BATCH.end());
        let begin = |name: &str, link_type, snap_length, description| {
            let path = folder.join(format!("{name}.pcapng"));
            let interface = Interface { link_type, snap_length, name: Some(name), description, ..Interface::default() };
            Capturing::begin(path.clone(), batch, site, &interface).map_err(|error| said(&path, &error))
        };
        let radio = LinkType::RADIOTAP;
        let mut nodes = Vec::with_capacity(site.nodes.len());
        for name in names_of_nodes(site.nodes.iter().map(|node| node.name.as_str())) {
            nodes.push(begin(&name, radio, radio_snap, Some("what this node sent and decoded"))?);
        }
        Ok(Files {
            air: begin(AIR, radio, radio_snap, Some("all that was on the air"))?,
            server: begin(SERVER, LinkType::ETHERNET, wired_snap, Some("what the servers sent and got"))?,
            nodes,
            failure: None,
        })
    }

    /// Adds a frame to a file.
    pub(crate) fn put(&mut self, which: Which, frame: &Captured<'_>) {
        if self.failure.is_some() {
            return;
        }
        let Capturing { path, file, interface } = match which {
            Which::Air => &mut self.air,
            Which::Server => &mut self.server,
            Which::Node(node) => &mut self.nodes[node.index()],
        };
        let length = frame.original_length as u32;
        if let Err(error) = file.packet(*interface, frame.time_ns, length, frame.bytes, &frame.options) {
            self.failure = Some(said(path, &error));
        }
    }

    /// The reason why a file could not be written.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Writes the rest.
    pub(crate) fn finish(self) -> Result<(), String> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        for Capturing { path, file, .. } in [self.air, self.server].into_iter().chain(self.nodes) {
            file.finish().map_err(|error| said(&path, &error))?;
        }
        Ok(())
    }
}

fn said(path: &Path, error: &io::Error) -> String {
    let why = error.to_string();
    // The system's message is enough without its number.
    let why = why.split(" (os error").next().unwrap_or_default();
    format!("{}: cannot be written: {why}", path.display())
}

/// Names for the files of nodes: the node names without characters that file systems forbid, all different, and none
/// equal to another file's.
fn names_of_nodes<'a>(nodes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::from([AIR.to_string(), SERVER.to_string()]);
    nodes
        .map(|name| {
            let allowed = |c: char| if c.is_control() || "/\\:*?\"<>|".contains(c) { '_' } else { c };
            let mut name: String = name.chars().map(allowed).collect();
            // Some file systems do not distinguish capitals.
            while !taken.insert(name.to_lowercase()) {
                name.push_str(".node");
            }
            name
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_a_file_of_its_own() {
        let names = ["Air", "sta1", "a/b:c.ap", "a_b_c.ap", "server"];
        let files = ["Air.node", "sta1", "a_b_c.ap", "a_b_c.ap.node", "server.node"];
        assert_eq!(names_of_nodes(names.into_iter()), files);
    }

    #[test]
    fn a_file_grows_by_batches() {
        let path = std::env::temp_dir().join(format!("lasthop-capture-{}-growing", std::process::id()));
        let mut file = Growing::new(path.clone(), 10).unwrap();
        let length = || fs::metadata(&path).unwrap().len();
        file.write_all(&[1; 9]).unwrap();
        assert_eq!(length(), 0);
        file.write_all(&[2; 3]).unwrap();
        assert_eq!(length(), 12);
        file.write_all(&[3; 4]).unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), [&[1; 9][..], &[2; 3], &[3; 4]].concat());
        fs::remove_file(path).unwrap();
    }
}
