//! The kernels' views of the real flows of a run.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use lasthop_observe::{FlowId, NodeId};
use lasthop_scenario::emulation::{KernelView, LiveFlow, Site};
use lasthop_units::Duration;

use crate::diag::{Diag, SocketInfo, State};
use crate::error::Result;

/// A connection by its two ends, its own first.
type Ends = (SocketAddrV4, SocketAddrV4);

/// The senders of real flows at one host.
pub(super) struct Views {
    diag: Diag,
    /// flows whose data leaves from here, by the server's port and the station
    flows: BTreeMap<(u16, Ipv4Addr), FlowId>,
    /// the flow of commands of each station; commands have their own ports
    others: BTreeMap<Ipv4Addr, FlowId>,
    /// number of timeouts known of each connection
    timeouts: BTreeMap<Ends, u16>,
    sockets: Vec<SocketInfo>,
}

impl Views {
    /// The views at the host at `node`, with its `diag`; `None` if none of these flows sends from there.
    pub(super) fn new(node: NodeId, diag: Diag, flows: &[LiveFlow]) -> Option<Views> {
        let sent_here = || flows.iter().filter(|flow| flow.sender() == node);
        let commands = sent_here().filter(|flow| flow.is_command());
        // The first one if there are several: reversed, so that it is written last.
        let others = commands.rev().map(|flow| (Site::address(flow.station), flow.flow)).collect();
        let flows: BTreeMap<_, _> =
            sent_here().map(|flow| ((flow.port, Site::address(flow.station)), flow.flow)).collect();
        (!flows.is_empty()).then(|| Views { diag, flows, others, timeouts: BTreeMap::new(), sockets: Vec::new() })
    }

    /// Adds the present views of this host's kernel.
    pub(super) fn look(&mut self, into: &mut Vec<(FlowId, KernelView)>) -> Result<()> {
        self.diag.sockets(&mut self.sockets)?;
        let mut of_flows: BTreeMap<FlowId, Vec<usize>> = BTreeMap::new();
        for (place, socket) in self.sockets.iter().enumerate().filter(|(_, socket)| is_open(socket.state)) {
            let Some((port, station)) = of_connection(socket) else { continue };
            if let Some(flow) = self.flows.get(&(port, station)).or_else(|| self.others.get(&station)) {
                of_flows.entry(*flow).or_default().push(place);
            }
        }
        for (flow, places) in of_flows {
            let view = self.view(&places);
            into.push((flow, view));
        }
        Ok(())
    }

    /// The view of a flow: for several connections the sum of windows and the mean of round trips.
    fn view(&mut self, places: &[usize]) -> KernelView {
        let sockets = || places.iter().map(|&place| &self.sockets[place]);
        let cwnd = sockets().map(|socket| f64::from(socket.cwnd)).sum();
        let ssthresh = sockets().map(|socket| socket.ssthresh.map_or(f64::INFINITY, f64::from)).sum();
        let rtts: Vec<Duration> = sockets().filter_map(|socket| socket.rtt).collect();
        let sum: u64 = rtts.iter().map(|rtt| rtt.as_nanos()).sum();
        let rtt = sum.checked_div(rtts.len() as u64).map(Duration::from_nanos);
        let counts: Option<Vec<(Ends, u16)>> =
            sockets().map(|socket| Some(((socket.local, socket.remote), socket.timeouts?))).collect();
        let timeouts =
            counts.map(|counts| counts.into_iter().map(|(ends, count)| self.new_timeouts(ends, count)).sum());
        KernelView { cwnd, ssthresh, rtt, timeouts }
    }

    fn new_timeouts(&mut self, ends: Ends, count: u16) -> u64 {
        let before = self.timeouts.insert(ends, count).unwrap_or(0);
        // A count below the previous one belongs to another connection with the same ports.
        u64::from(count.checked_sub(before).unwrap_or(count))
    }
}

fn is_open(state: State) -> bool {
    matches!(state, State::Established | State::FinWait1 | State::CloseWait | State::LastAck)
}

/// The port at the server and the address of the station of a connection between the two; `None` for any other
/// connection.
fn of_connection(socket: &SocketInfo) -> Option<(u16, Ipv4Addr)> {
    let ends = [(socket.local, socket.remote), (socket.remote, socket.local)];
    let (server, station) = ends.into_iter().find(|(end, _)| *end.ip() == Site::SERVER)?;
    Some((server.port(), *station.ip()))
}
