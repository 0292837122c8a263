//! Parts of a bottleneck in the kernel: a veth pair, and a queue discipline that is effective there.
//!
//! A discipline above a TUN has no effect, since a TUN takes every packet at once.

use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_core::{DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkInfo, LinkMessage};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};

use crate::error::{Context, Result};
use crate::host::namespace::Namespace;
use crate::host::netlink::Netlink;

/// `TCA_OPTIONS`, whose value has a layout for each discipline.
const OPTIONS: u16 = 2;

/// A queue discipline at the root of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDiscipline {
    /// the kernel's name, such as `fq_codel`
    pub kind: String,
    /// its options in the layout of linux/pkt_sched.h, a struct or attributes; empty for its defaults
    pub options: Vec<u8>,
}

impl QueueDiscipline {
    /// Options that are attributes with a number of four bytes each, as for `fq_codel`, `pie` and `fq`: the attribute
    /// and the number.
    pub fn with_numbers(kind: &str, options: &[(u16, u32)]) -> QueueDiscipline {
        let attribute = |&(attribute, number): &(u16, u32)| {
            // A length that includes itself, the attribute and the number.
            [8u16.to_ne_bytes(), attribute.to_ne_bytes()].into_iter().flatten().chain(number.to_ne_bytes())
        };
        QueueDiscipline { kind: kind.to_owned(), options: options.iter().flat_map(attribute).collect() }
    }
}

impl Netlink {
    /// Makes a pair of connected devices, one here and one in another namespace. They are down.
    ///
    /// # Errors
    /// A name is taken, the kernel has no veth, or the caller has no `CAP_NET_ADMIN` in both namespaces.
    pub fn add_veth(&mut self, device: &str, peer: &str, peer_namespace: &Namespace) -> Result<()> {
        let mut there = LinkMessage::default();
        let descriptor = peer_namespace.as_fd().as_raw_fd();
        there.attributes = vec![LinkAttribute::IfName(peer.to_owned()), LinkAttribute::NetNsFd(descriptor)];
        let mut here = LinkMessage::default();
        let pair = LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(there)));
        here.attributes = vec![
            LinkAttribute::IfName(device.to_owned()),
            LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Veth), pair]),
        ];
        self.ask(RouteNetlinkMessage::NewLink(here), NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL)
            .map(drop)
            .context(|| format!("{device}: the veth pair cannot be made"))
    }

    /// Puts a queue discipline at the root of a device, replacing the present one.
    ///
    /// # Errors
    /// The kernel has no such discipline or refuses its options, or the caller has no `CAP_NET_ADMIN`.
    pub fn set_queue_discipline(&mut self, device: &str, discipline: &QueueDiscipline) -> Result<()> {
        let mut message = TcMessage::with_index(self.index(device)?.cast_signed());
        message.header.parent = TcHandle::ROOT;
        message.attributes = vec![TcAttribute::Kind(discipline.kind.clone())];
        if !discipline.options.is_empty() {
            message.attributes.push(TcAttribute::Other(DefaultNla::new(OPTIONS, discipline.options.clone())));
        }
        self.ask(RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE)
            .map(drop)
            .context(|| format!("{device}: the queue discipline {} cannot be set", discipline.kind))
    }

    /// The kernel's name of the queue discipline at the root of a device.
    ///
    /// # Errors
    /// There is no device of this name.
    pub fn queue_discipline(&mut self, device: &str) -> Result<Option<String>> {
        let told = self.link(device)?.attributes.into_iter().find_map(|attribute| match attribute {
            LinkAttribute::Qdisc(kind) => Some(kind),
            _ => None,
        });
        Ok(told)
    }
}
