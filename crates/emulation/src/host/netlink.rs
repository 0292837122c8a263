//! Devices, addresses and routes of a namespace, over rtnetlink.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;

use lasthop_scenario::emulation::RouteMetrics;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage, State};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::error::{Context, Error, Result};
use crate::host::namespace::Namespace;

/// `RTAX_FEATURE_ECN`: connections over the route request ECN.
const FEATURE_ECN: u32 = 1;

/// The set metrics, as attributes of a route.
fn attributes(metrics: &RouteMetrics) -> Vec<RouteMetric> {
    let least_rto = metrics.min_rto.map(|time| (time.as_nanos() / 1_000_000) as u32);
    [
        metrics.initial_window.map(RouteMetric::InitCwnd),
        metrics.advertised_mss.map(RouteMetric::Advmss),
        metrics.receive_window.map(RouteMetric::Window),
        least_rto.map(RouteMetric::RtoMin),
        metrics.quick_ack.then_some(RouteMetric::QuickAck(1)),
        metrics.ecn.then_some(RouteMetric::Features(FEATURE_ECN)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A connection to the kernel for the network of one namespace.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Netlink {
    /// Opens the connection. The socket belongs to `namespace` from then on, wherever the caller is.
    ///
    /// # Errors
    /// The namespace cannot be entered, or the kernel has no netlink.
    pub fn open(namespace: &Namespace) -> Result<Netlink> {
        let socket = namespace.enter(|| {
            // Protocol 0 is NETLINK_ROUTE.
            rustix::net::socket_with(rustix::net::AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)
        })?;
        let socket = socket.context(|| "a netlink socket cannot be opened".to_owned())?;
        Ok(Netlink { socket, sequence: 0, buffer: vec![0; 32 * 1024] })
    }

    /// The index of a device.
    ///
    /// # Errors
    /// There is no device of this name.
    pub fn index(&mut self, device: &str) -> Result<u32> {
        Ok(self.link(device)?.header.index)
    }

    /// Number of packets that the device has dropped on their way out, as the kernel counts them.
    ///
    /// # Errors
    /// There is no device of this name.
    pub fn dropped(&mut self, device: &str) -> Result<u64> {
        let dropped = self.link(device)?.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Stats64(counts) => Some(counts.tx_dropped),
            _ => None,
        });
        dropped.ok_or_else(|| Error::new(format!("{device}: the kernel has no counts of packets")))
    }

    /// The state of a device above its driver: up once data can flow. [RFC 2863 §3.1.14]
    ///
    /// # Errors
    /// There is no device of this name.
    pub(crate) fn operating_state(&mut self, device: &str) -> Result<State> {
        let of = |attribute: &LinkAttribute| match attribute {
            LinkAttribute::OperState(state) => Some(*state),
            _ => None,
        };
        Ok(self.link(device)?.attributes.iter().find_map(of).unwrap_or(State::Unknown))
    }

    /// Sets the MTU, in bytes, and the length of the transmit queue, in packets.
    ///
    /// # Errors
    /// The kernel refuses one of them, or the caller has no `CAP_NET_ADMIN`.
    pub fn set_sizes(&mut self, device: &str, mtu: u32, queue: u32) -> Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = self.index(device)?;
        link.attributes = vec![LinkAttribute::Mtu(mtu), LinkAttribute::TxQueueLen(queue)];
        self.ask(RouteNetlinkMessage::SetLink(link), NLM_F_ACK)
            .map(drop)
            .context(|| format!("{device}: MTU {mtu} and a queue of {queue} packets cannot be set"))
    }

    /// Brings the device up, without multicast.
    ///
    /// # Errors
    /// The caller has no `CAP_NET_ADMIN`.
    pub fn bring_up(&mut self, device: &str) -> Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = self.index(device)?;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up | LinkFlags::Multicast;
        self.ask(RouteNetlinkMessage::SetLink(link), NLM_F_ACK)
            .map(drop)
            .context(|| format!("{device}: the device cannot be brought up"))
    }

    /// Gives the device an address; the kernel adds the route to its prefix while the device is up.
    ///
    /// # Errors
    /// The device has the address already, or the caller has no `CAP_NET_ADMIN`.
    pub fn add_address(&mut self, device: &str, address: Ipv4Addr, prefix: u8) -> Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = prefix;
        message.header.index = self.index(device)?;
        message.attributes =
            vec![AddressAttribute::Local(IpAddr::V4(address)), AddressAttribute::Address(IpAddr::V4(address))];
        self.ask(RouteNetlinkMessage::NewAddress(message), NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE)
            .map(drop)
            .context(|| format!("{device}: address {address}/{prefix} cannot be set"))
    }

    /// Replaces any route to `destination` by one over the device with these metrics.
    ///
    /// # Errors
    /// The device is down, the kernel refuses a metric, or the caller has no `CAP_NET_ADMIN`.
    pub fn set_route(
        &mut self,
        device: &str,
        destination: (Ipv4Addr, u8),
        source: Ipv4Addr,
        metrics: &RouteMetrics,
    ) -> Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = destination.1;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        // The kernel marks the route that comes with an address in this way, and this one replaces it.
        message.header.protocol = RouteProtocol::Kernel;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            RouteAttribute::Destination(RouteAddress::Inet(destination.0)),
            RouteAttribute::PrefSource(RouteAddress::Inet(source)),
            RouteAttribute::Oif(self.index(device)?),
            RouteAttribute::Metrics(attributes(metrics)),
        ];
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE)
            .map(drop)
            .context(|| format!("{device}: the route to {}/{} cannot be set", destination.0, destination.1))
    }

    /// Gives a neighbour at the device this link-layer address, until the kernel finds another.
    ///
    /// # Errors
    /// There is no such device, or the caller has no `CAP_NET_ADMIN`.
    pub(crate) fn set_neighbour(&mut self, device: &str, neighbour: Ipv4Addr, address: [u8; 6]) -> Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.ifindex = self.index(device)?;
        message.header.state = NeighbourState::Reachable;
        message.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::Inet(neighbour)),
            NeighbourAttribute::LinkLayerAddress(address.to_vec()),
        ];
        self.ask(RouteNetlinkMessage::NewNeighbour(message), NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE)
            .map(drop)
            .context(|| format!("{device}: the address of {neighbour} cannot be set"))
    }

    /// A device, as the kernel describes it.
    pub(super) fn link(&mut self, device: &str) -> Result<LinkMessage> {
        let mut link = LinkMessage::default();
        link.attributes = vec![LinkAttribute::IfName(device.to_owned())];
        match self.ask(RouteNetlinkMessage::GetLink(link), 0).context(|| format!("{device}: no such device"))? {
            Some(RouteNetlinkMessage::NewLink(link)) => Ok(link),
            _ => Err(Error::new(format!("{device}: the kernel did not tell of the device"))),
        }
    }

    /// Sends one request and reads the one answer to it: a message, or an acknowledgement.
    pub(super) fn ask(
        &mut self,
        request: RouteNetlinkMessage,
        flags: u16,
    ) -> std::io::Result<Option<RouteNetlinkMessage>> {
        self.sequence += 1;
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        rustix::net::send(&self.socket, &bytes, SendFlags::empty())?;
        loop {
            let (length, _) = rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
            let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&self.buffer[..length])
                .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error.to_string()))?;
            if answer.header.sequence_number != self.sequence {
                continue;
            }
            return match answer.payload {
                NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
                NetlinkPayload::InnerMessage(message) => Ok(Some(message)),
                _ => Ok(None),
            };
        }
    }
}
