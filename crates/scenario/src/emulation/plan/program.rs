//! The command lines of the programs that carry a flow.

use lasthop_capture::Site;
use lasthop_units::Duration;

use super::{LiveFlow, Load};
use crate::application::iperf3::seconds;

/// Command lines of a flow, each a program and its arguments; none where the emulator plays that part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// Command in the server's namespace, started before the client.
    pub server: Option<Vec<String>>,
    /// Command in the station's namespace.
    pub client: Option<Vec<String>>,
}

/// A rate in bit/s above every path here, with which iperf3 enables pacing.
const ANY_RATE: &str = "30G";

impl LiveFlow {
    /// The programs of the flow in a run of `duration`.
    pub fn programs(&self, duration: Duration) -> Programs {
        match &self.load {
            Load::Bulk { .. } => Programs::default(),
            Load::Iperf3 { .. } => Programs {
                server: Some(words(&["iperf3", "-4", "-s", "-1", "-p", &self.port.to_string()])),
                client: Some(self.iperf3_client(duration)),
            },
            Load::Curl { size } => Programs { server: None, client: Some(self.curl(*size)) },
            Load::Command { client, server } => {
                let shell = |command: &String| words(&["/bin/sh", "-c", command]);
                Programs { server: server.as_ref().map(shell), client: Some(shell(client)) }
            }
        }
    }

    /// The iperf3 client, sending in the flow's direction, with a JSON report. By default it lasts until the run ends.
    fn iperf3_client(&self, run: Duration) -> Vec<String> {
        let Load::Iperf3 { duration, size, parallel } = &self.load else { return Vec::new() };
        let mut line = words(&["iperf3", "-4", "-c", &Site::SERVER.to_string(), "-p", &self.port.to_string()]);
        let mut option = |name: &str, value: &dyn ToString| line.extend([name.to_string(), value.to_string()]);
        match size {
            Some(bytes) => option("-n", bytes),
            None => option("-t", &seconds(duration.unwrap_or(run.saturating_sub(self.start))).max(1)),
        }
        if *parallel > 1 {
            option("-P", parallel);
        }
        option("-C", &self.tcp.congestion_control);
        if let Some(bytes) = self.tcp.max_segment {
            option("-M", &bytes);
        }
        if self.dscp > 0 {
            option("-S", &(u32::from(self.dscp) << 2));
        }
        if self.tcp.paced {
            option("--fq-rate", &ANY_RATE);
        }
        line.extend((!self.up).then(|| "-R".to_string()));
        line.push("-J".into());
        line
    }

    /// curl without the user's files and proxies; its report is JSON too.
    fn curl(&self, size: u64) -> Vec<String> {
        let url = format!("http://{}:{}/{size}", Site::SERVER, self.port);
        let options = ["curl", "-q", "--noproxy", "*", "--http1.1", "--silent", "--show-error"];
        let output = ["--output", "/dev/null", "--write-out", "%{json}", &url];
        words(&[&options[..], &output[..]].concat())
    }
}

fn words(of: &[&str]) -> Vec<String> {
    of.iter().map(|word| word.to_string()).collect()
}
