//! A cell with A-MPDUs, for the medium and for the twin.

use crate::cell::{self, Load, MediumConfig};
use crate::edca_agrees::{self, TIDS};
use crate::twin;
use lasthop_observe::NodeId;
use lasthop_units::{Bytes, Duration};
use lasthop_wifi::phy::{ModeId, Phy, frame_size};
use lasthop_wifi::{Aggregation, TxopProtection};

/// A cell with A-MPDUs, for both implementations.
#[derive(Clone, Debug)]
pub struct Case {
    pub edca: edca_agrees::Case,
    pub mcs: u8,
    pub packet_bytes: u64,
    pub max_mpdus: u32,
    /// RTS before A-MPDUs of more bytes, if there are RTS.
    pub rts_over: u64,
    pub multiple_protection: bool,
}

impl Case {
    pub fn new(name: &str, bss: &[(u32, usize)], traffic: Vec<edca_agrees::Traffic>) -> Case {
        let edca = edca_agrees::Case { standard: "802.11n", ms: 100, ..edca_agrees::Case::new(name, bss, traffic) };
        Case { edca, mcs: 7, packet_bytes: 1500, max_mpdus: 64, rts_over: 0, multiple_protection: false }
    }

    fn aggregation(&self) -> Aggregation {
        Aggregation {
            max_mpdus: self.max_mpdus,
            max_bytes: 65_535,
            max_duration: Duration::from_micros(5484),
            max_amsdu: None,
            min_start_spacing: Duration::ZERO,
        }
    }

    fn mode(&self, phy: &Phy) -> ModeId {
        phy.mode_of_mcs(self.mcs).expect("an MCS of 802.11n")
    }

    pub fn for_medium(&self, seed: u64) -> MediumConfig {
        let mut config = self.edca.for_medium(seed);
        let phy = self.edca.phy();
        let rate = phy.mode(self.mode(&phy)).rate;
        for control in &mut config.rate_controls {
            *control = cell::fixed_rate(&phy, Some(rate));
        }
        for bss in &mut config.bss {
            bss.aggregation = Some(self.aggregation());
            bss.rts_threshold = self.edca.rts.then_some(Bytes(self.rts_over));
            bss.txop_protection =
                [TxopProtection::Single, TxopProtection::Multiple][usize::from(self.multiple_protection)];
        }
        config
    }

    /// The only receiver of a category of a node: for an AP one of its stations, another for each category.
    fn receiver(&self, config: &MediumConfig, node: usize, category: usize) -> usize {
        let bss = config.nodes[node].bss;
        let ap = config.bss[bss as usize].ap.index();
        let stations: Vec<usize> = (0..config.nodes.len()).filter(|&n| n != ap && config.nodes[n].bss == bss).collect();
        if node == ap { stations[category % stations.len()] } else { ap }
    }

    pub fn load(&self) -> Load {
        let config = self.edca.for_medium(1);
        let of = |(node, category): (usize, usize)| {
            let to = self.receiver(&config, node, category);
            (NodeId(node as u32), TIDS[category], NodeId(to as u32))
        };
        let all = (0..self.edca.nodes()).flat_map(|node| (0..4).map(move |category| (node, category)));
        let packet_bytes = self.packet_bytes as u32;
        Load { packet_bytes, keep_details: true, destinations: all.map(of).collect(), ..self.edca.load() }
    }

    pub fn for_twin(&self) -> twin::Config {
        let (phy, config) = (self.edca.phy(), self.edca.for_medium(1));
        let (data, mut twin) = (self.mode(&phy), self.edca.for_twin());
        let response = phy.control_response_mode(data);
        let lasts = |bytes: Bytes| phy.ppdu_duration(response, bytes).as_nanos();
        (twin.t_rts_ns, twin.t_cts_ns) = (lasts(frame_size::RTS), lasts(frame_size::CTS));
        let cts = phy.ppdu_duration(response, frame_size::CTS);
        let nav_timeout = phy.sifs() * 2 + cts + phy.rx_start_delay(response) + phy.slot() * 2;
        twin.nav_timeout_ns = Some(nav_timeout.as_nanos());
        twin.aggregation = Some(self.aggregation_of_twin(&phy, data, lasts));
        for (index, node) in twin.nodes.iter_mut().enumerate() {
            for (which, category) in node.edca.iter_mut().flatten().enumerate() {
                category.to = Some(self.receiver(&config, index, which));
            }
        }
        twin
    }

    fn aggregation_of_twin(&self, phy: &Phy, data: ModeId, lasts: impl Fn(Bytes) -> u64) -> twin::Aggregation {
        let subframe_bytes = 4 + frame_size::qos_data_mpdu(Bytes(self.packet_bytes)).0;
        let bytes = |mpdus: u64| (mpdus - 1) * subframe_bytes.next_multiple_of(4) + subframe_bytes;
        let duration = |mpdus: u64| phy.ppdu_duration(data, Bytes(bytes(mpdus))).as_nanos();
        let fits = |mpdus: &u64| *mpdus == 1 || (bytes(*mpdus) <= 65_535 && duration(*mpdus) <= 5_484_000);
        twin::Aggregation {
            window: 64,
            subframe_bytes,
            t_block_ack_ns: lasts(frame_size::block_ack(64)),
            t_request_ns: lasts(frame_size::BLOCK_ACK_REQ),
            t_cf_end_ns: lasts(frame_size::CF_END),
            preamble_ns: phy.header_duration(data).as_nanos(),
            durations_ns: (1..=u64::from(self.max_mpdus)).take_while(fits).map(duration).collect(),
            rts_over_bytes: self.rts_over,
            multiple_protection: self.multiple_protection,
            reorder_timeout_ns: 100_000_000,
        }
    }
}
