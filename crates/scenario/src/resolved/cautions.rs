//! Cautions about queues and powers that are possible but hardly intended: sentences in every result.
//!
//! One sentence covers all flows or stations with the same caution.

use std::collections::BTreeMap;

use lasthop_link::QueueDisciplineKind;
use lasthop_registry::{Amount, Parameter, Value};
use lasthop_tcp::EcnUse;
use lasthop_units::Dbm;
use lasthop_wifi::phy::ModeId;

use super::ResolvedScenario;
use super::flows::FlowSpec;
use super::radio::FULL_PACKET;
use super::wires::queue_of;
use super::wording::{alike, named};
use crate::description::{NodeQueue, TransportWord, UdpRate};
use crate::diagnostic::Diagnostic;

/// An IP packet of common size, as an MPDU of a QoS data frame.
const FULL_MPDU: u32 = 1538;
/// The highest radiated power of an access point in any licence-exempt band of 802.11: 1 W into an antenna of 6 dBi (47
/// CFR 15.247 and 15.407).
/// 4 W are 36.02 dBm.
const MOST_ALLOWED: Dbm = Dbm(36.03);

impl ResolvedScenario {
    pub(super) fn cautions_of_powers(&self) -> Vec<Diagnostic> {
        let loud = self.nodes.iter().filter(|node| node.tx_power > MOST_ALLOWED);
        let said = loud.map(|node| (node.name.as_str(), node.tx_power));
        let sentence = |(power, names): (Dbm, Vec<&str>)| {
            let who = named("node", &names, self.nodes.len());
            let allowed = "more than the 36 dBm (4 W) that any licence-exempt band allows";
            Diagnostic::warning(format!("tx_power: {who} at {:.1} dBm, {allowed}", power.0), &names)
        };
        alike(said).into_iter().map(sentence).collect()
    }

    /// Cautions about queues of bulk senders that do not hold two of the longest A-MPDUs of their links: while one is
    /// on the air, too few packets wait to fill the next.
    pub(super) fn cautions_of_queues(&self, fixed: &[Option<ModeId>]) -> Vec<Diagnostic> {
        let mut limits: Vec<Option<u64>> = vec![None; self.nodes.len()];
        for node in self.flows.iter().filter(|flow| is_bulk(flow)).map(|flow| self.sender_of(flow)) {
            limits[node] = limits[node].or_else(|| self.packets_of_queue(node).filter(|_| self.aggregates(node)));
        }
        // The best mode of a link is computed only if some queue may be too short.
        if limits.iter().all(Option::is_none) {
            return Vec::new();
        }
        let mut longest = vec![0; self.nodes.len()];
        let mut known = BTreeMap::new();
        for (link, mut best) in self.ideal_rate_controls().into_iter().enumerate() {
            let (sender, _) = self.ends(link);
            if limits[sender].is_some() {
                let mode = fixed[link].unwrap_or_else(|| best.rates_for(&FULL_PACKET).first());
                let bss = self.nodes[sender].config.bss;
                let mpdus = *known.entry((bss, mode)).or_insert_with(|| self.full_ampdu(bss, mode));
                longest[sender] = mpdus.max(longest[sender]);
            }
        }
        let short = self.nodes.iter().zip(limits).zip(longest).filter_map(|((node, limit), mpdus)| {
            let limit = limit.filter(|limit| *limit < 2 * u64::from(mpdus))?;
            (mpdus > 1).then_some((node.name.as_str(), (limit, mpdus)))
        });
        let sentence = |((limit, mpdus), names): ((u64, u32), Vec<&str>)| {
            let who = named("node", &names, self.nodes.len());
            let (queue, link) = if names.len() == 1 { ("queue", "its link") } else { ("queues", "their links") };
            let what = format!(
                "{queue} of {who}: {limit} packets, shorter than two A-MPDUs of {link}, each of which holds up to {mpdus}"
            );
            Diagnostic::warning(what, &names)
        };
        alike(short).into_iter().map(sentence).collect()
    }

    /// The queues of its nodes and of both directions of its wires.
    pub(super) fn queues(&self) -> impl Iterator<Item = &QueueDisciplineKind> {
        let of_nodes = self.nodes.iter().filter_map(|node| match &node.queue {
            NodeQueue::Discipline(kind) => Some(kind),
            NodeQueue::Backpressure => None,
        });
        of_nodes.chain([false, true].map(|up| queue_of(&self.description.wired, up)))
    }

    /// A caution if queues that treat pure TCP ACKs apart are on the path of QUIC, whose ACKs are datagrams.
    pub(super) fn caution_of_quic_acks(&self) -> Option<Diagnostic> {
        let over_quic: Vec<&str> =
            self.flows.iter().filter(|flow| flow.quic.is_some()).map(|flow| flow.id.as_str()).collect();
        let name = self.queues().find(|kind| kind.treats_acks_apart())?.name();
        (!over_quic.is_empty()).then(|| {
            let who = named("flow", &over_quic, self.flows.len());
            let what = format!("queue \"{name}\": ACKs of {who} over QUIC are datagrams, which it treats as data");
            Diagnostic::warning(what, &over_quic)
        })
    }

    /// A caution if a queue of CAKE that should filter ACKs is on the path of flows with accurate ECN, whose ACKs it leaves alone.
    pub(super) fn caution_of_accurate_acks(&self) -> Option<Diagnostic> {
        let of_tcp =
            self.flows.iter().filter(|flow| flow.section.transport == TransportWord::Tcp && flow.quic.is_none());
        let accurate = of_tcp.filter(|flow| flow.tcp.config.ecn == EcnUse::Accurate);
        let names: Vec<&str> = accurate.map(|flow| flow.id.as_str()).collect();
        let wired = [false, true].map(|up| queue_of(&self.description.wired, up));
        let queues = self.nodes.iter().filter_map(|node| match &node.queue {
            NodeQueue::Discipline(kind) => Some(kind),
            NodeQueue::Backpressure => None,
        });
        let filters = queues.chain(wired).any(|kind| {
            let value = kind.to_value();
            let filter = value.as_ref().and_then(|value| value.get("ack_filter"));
            filter.is_some_and(|filter| *filter != Value::text("off"))
        });
        (filters && !names.is_empty()).then(|| {
            let who = named("flow", &names, self.flows.len());
            let what = format!(
                "ack_filter: CAKE leaves the ACKs of {who} alone, as in Linux, since they report marks by accurate ECN"
            );
            Diagnostic::warning(what, &names)
        })
    }

    fn aggregates(&self, node: usize) -> bool {
        self.bss[self.nodes[node].config.bss as usize].config.aggregation.is_some()
    }

    /// The number of packets of common size in an A-MPDU in `mode`; 0 without A-MPDUs.
    fn full_ampdu(&self, bss: u32, mode: ModeId) -> u32 {
        let bss = &self.bss[bss as usize].config;
        bss.aggregation.map_or(0, |limits| limits.mpdus_of(&bss.phy, mode, FULL_MPDU))
    }

    /// The node at whose queue the data of a flow waits for the air.
    fn sender_of(&self, flow: &FlowSpec) -> usize {
        if flow.up { flow.station.index() } else { self.ap_of(flow.station).index() }
    }

    /// The limit of a node's queue in packets, if it has one.
    fn packets_of_queue(&self, node: usize) -> Option<u64> {
        let NodeQueue::Discipline(kind) = &self.nodes[node].queue else { return None };
        let value = kind.to_value()?;
        match Amount::parse(value.get("limit")?, "").ok()? {
            Amount::Packets(packets) => {
                Some(packets + self.nodes[node].below.held.map_or(0, |held| u64::from(held.packets)))
            }
            Amount::Bytes(_) | Amount::Unlimited => None,
        }
    }
}

/// Whether a flow may use all of the air. An upward saturated source is pulled, and does not wait in a queue.
fn is_bulk(flow: &FlowSpec) -> bool {
    let wants_all = match flow.section.rate {
        None => true,
        Some(UdpRate::Saturated) => !flow.up,
        Some(UdpRate::Constant(_)) => false,
    };
    flow.section.traffic.never_pauses() && wants_all
}

#[cfg(test)]
mod tests {
    use crate::resolve;

    fn warnings(text: &str) -> Vec<String> {
        resolve(text, "f.toml", &[]).unwrap().warnings().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn caution_for_all_stations_appears_once() {
        let text = "[bss]\nstandard = \"802.11ax\"\n[[station]]\ncount = 16\ndistance = \"2 km\"\n[[flow]]\n";
        let said = warnings(text);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("all 16 stations and their access point"), "{said:?}");
    }

    #[test]
    fn default_queues_hold_two_ampdus() {
        for profile in ["linux", "linux-3.13", "linux-2.6", "ns2"] {
            let tcp = format!("[tcp]\nprofile = \"{profile}\"\n");
            let text = format!("[bss]\nstandard = \"802.11ax\"\n{tcp}[[station]]\n[[flow]]\ndirection = \"down\"\n");
            assert_eq!(warnings(&text), Vec::<String>::new(), "{profile}");
        }
    }

    #[test]
    fn stations_out_of_reach_share_one_caution() {
        let text = "[channel]\npath_loss = \"log_distance\"\n[bss]\nstandard = \"802.11b\"\n[[station]]\ncount = 3\ndistance = \"10 km\"\n[[flow]]\n";
        let said: Vec<String> = warnings(text).into_iter().filter(|w| w.contains("nothing passes")).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("all 3 stations and their access point"), "{said:?}");
    }

    #[test]
    fn queue_below_two_ampdus_is_a_caution() {
        // 802.11n at 65 Mbit/s: 5484 us less 36 us are 1362 symbols of 260 bits, 44,262 bytes after 22 bits of service and
        // tail; 28 subframes of 1544 bytes fit.
        let with = |queue: &str| {
            let text = format!(
                "[bss]\nstandard = \"802.11n\"\nap = {{ queue = {queue} }}\n[[station]]\n[[flow]]\ndirection = \"down\"\n"
            );
            warnings(&text).into_iter().filter(|w| w.starts_with("queue of")).collect::<Vec<_>>()
        };
        let short = with("{ kind = \"fifo\", limit = \"50 packets\" }");
        assert_eq!(short.len(), 1);
        assert!(short[0].starts_with("queue of node ap: 50 packets") && short[0].ends_with("up to 28"), "{short:?}");
        assert_eq!(with("{ kind = \"fifo\", limit = \"200 packets\" }"), Vec::<String>::new());
        assert_eq!(with("{ kind = \"fifo\", limit = \"unlimited\" }"), Vec::<String>::new());
    }

    #[test]
    fn power_beyond_licences_is_a_caution() {
        let with = |power: &str| {
            let text =
                format!("[channel]\ntx_power = \"{power}\"\n[bss]\nstandard = \"802.11b\"\n[[station]]\n[[flow]]\n");
            warnings(&text).into_iter().filter(|w| w.starts_with("tx_power:")).collect::<Vec<_>>()
        };
        assert_eq!(with("90 dBm").len(), 1);
        assert!(with("90 dBm")[0].starts_with("tx_power: all 2 nodes at 90.0 dBm, more than the 36 dBm"));
        assert_eq!(with("4 W"), Vec::<String>::new());
    }
}
