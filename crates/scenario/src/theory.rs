//! Closed forms for a scenario, each beside the simulated number it speaks of.

use lasthop_observe::{LinkId, NodeId};
use lasthop_theory::anomaly::Cell;
use lasthop_theory::bianchi::{Backoff, SlotTimes};
use lasthop_theory::exchange::{TcpRound, Timestamps, udp_goodput_bps};
use lasthop_theory::frame_times::{Access, CollisionCost, FrameTimes};
use lasthop_theory::same_slot::same_slot_probability;
use lasthop_units::Bytes;
use lasthop_wifi::phy::{ModeId, frame_size};
use lasthop_wifi::rate_control::FrameInfo;
use serde_json::{Value as Json, json};

use crate::description::{TransportWord, UdpRate};
use crate::{InputError, ResolvedScenario};

/// IPv4 and UDP headers.
const UDP_HEADERS: u64 = 28;

struct Rows(Vec<Json>);

impl Rows {
    fn put(&mut self, quantity: &str, unit: &str, value: f64, simulated: Option<&str>, source: &str, note: &str) {
        self.0.push(json!({
            "quantity": quantity, "unit": unit, "closed_form": value, "simulated_metric": simulated,
            "source": source, "note": note,
        }));
    }
}

/// Closed forms that fit `scenario`, as JSON: quantity, unit, closed_form, simulated_metric, source, note.
///
/// # Errors
/// A scenario for which nothing can be said.
pub fn theory_json(scenario: &ResolvedScenario) -> Result<String, InputError> {
    let forms = Forms::new(scenario);
    let mut rows = Rows(Vec::new());
    forms.saturation(&mut rows);
    forms.ceilings(&mut rows);
    forms.anomaly(&mut rows);
    forms.same_slot(&mut rows);
    Ok(json!({ "rows": rows.0 }).to_string())
}

struct Forms<'a> {
    scenario: &'a ResolvedScenario,
    /// IP packet of the first flow.
    packet: Bytes,
    /// Mode in which the first station begins.
    mode: ModeId,
    rts: bool,
}

impl<'a> Forms<'a> {
    fn new(scenario: &'a ResolvedScenario) -> Self {
        let packet = scenario.flows.first().map_or(Bytes(1500), |f| match f.section.transport {
            TransportWord::Udp => f.tcp.config.packet_size,
            TransportWord::Tcp => Bytes(40 + u64::from(f.tcp.config.payload_bytes()) + timestamps(f).option_bytes()),
        });
        let mpdu = frame_size::data_mpdu(packet);
        let rts = scenario.bss().rts_threshold.as_option().is_some_and(|limit| mpdu > *limit);
        Forms { scenario, packet, mode: first_mode(scenario, mpdu), rts }
    }

    fn access(&self) -> Access {
        if self.rts { Access::RtsCts } else { Access::Basic }
    }

    fn times(&self, mode: ModeId, packet: Bytes) -> FrameTimes {
        let phy = &self.scenario.phy;
        let response = phy.control_response_mode(mode);
        FrameTimes {
            slot: phy.slot(),
            sifs: phy.sifs(),
            difs: phy.difs(),
            data: phy.ppdu_duration(mode, frame_size::data_mpdu(packet)),
            ack: phy.ppdu_duration(response, frame_size::ACK),
            rts: phy.ppdu_duration(response, frame_size::RTS),
            cts: phy.ppdu_duration(response, frame_size::CTS),
        }
    }

    fn backoff(&self, attempts: Option<u32>) -> Backoff {
        let (window, most) = (self.scenario.phy.cw_min() + 1, self.scenario.phy.cw_max() + 1);
        Backoff { window, doublings: (most / window).ilog2(), attempts }
    }

    /// Stations that always have a UDP datagram to send, or a TCP segment.
    fn contenders(&self) -> u32 {
        let mut stations: Vec<NodeId> = self.scenario.flows.iter().filter(|f| f.up).map(|f| f.station).collect();
        stations.sort();
        stations.dedup();
        stations.len() as u32
    }

    fn is_saturated_udp_uplink(&self) -> bool {
        let saturated = |f: &crate::resolved::FlowSpec| f.up && f.section.rate == Some(UdpRate::Saturated);
        !self.scenario.flows.is_empty() && self.scenario.flows.iter().all(saturated)
    }

    fn saturation(&self, rows: &mut Rows) {
        let stations = self.contenders();
        if stations == 0 {
            return;
        }
        let times = self.times(self.mode, self.packet);
        let attempts = self.scenario.nodes[1].config.retry_limit.map(|limit| limit + 1);
        let point = self.backoff(attempts).solve(stations);
        let simulated = self.is_saturated_udp_uplink();
        let metric = |name: &'static str| simulated.then_some(name);
        let note = if simulated { "" } else { "if every uploading station were saturated with UDP" };
        let p = "Bianchi: collision probability";
        rows.put(p, "", point.p, metric("medium.collision_probability"), "Bianchi 2000; Chatzimisios 2003", note);
        let payload = Bytes(self.packet.0 - UDP_HEADERS);
        for (cost, name) in [(CollisionCost::Difs, "DIFS"), (CollisionCost::Eifs, "EIFS")] {
            let slot_times = SlotTimes {
                idle: times.slot,
                success: times.success(self.access()),
                collision: times.collision(self.access(), cost),
            };
            let quantity = format!("Bianchi: goodput, {stations} stations, {name} after a collision");
            let goodput = point.throughput_bps(&slot_times, payload);
            rows.put(
                &quantity,
                "bit/s",
                goodput,
                metric("totals.goodput_bps"),
                "Bianchi 2000; Chatzimisios 2003",
                note,
            );
        }
    }

    fn ceilings(&self, rows: &mut Rows) {
        let stamps = self.scenario.flows.first().map_or(Timestamps::Off, timestamps);
        let window = self.scenario.phy.cw_min() + 1;
        for &mode in self.scenario.phy.allowed_modes() {
            let rate = self.scenario.phy.mode(mode).rate;
            let times = self.times(mode, self.packet);
            let acks = self.times(mode, stamps.ack_packet());
            let backoff = times.mean_backoff(window);
            let payload = Bytes(self.packet.0 - UDP_HEADERS);
            let udp = udp_goodput_bps(payload, times.success(self.access()), backoff);
            rows.put(
                &format!("UDP ceiling at {rate}"),
                "bit/s",
                udp,
                None,
                "frame exchange",
                "one sender, mean backoff",
            );
            for (data_exchanges, name) in [(1, "an ACK a segment"), (2, "an ACK for two")] {
                let round = TcpRound {
                    data: times.success(self.access()),
                    ack: acks.success(Access::Basic),
                    data_exchanges,
                    payload: stamps.payload(self.packet),
                };
                let quantity = format!("TCP ceiling at {rate}, {name}");
                let serial = round.serial_backoff_bps(backoff);
                rows.put(
                    &quantity,
                    "bit/s",
                    serial,
                    None,
                    "frame exchange",
                    "one flow; every frame pays a mean backoff",
                );
                let dcf = round.two_station_dcf_bps(&self.backoff(None), times.slot);
                let quantity = format!("TCP at {rate}, {name}, two stations contending");
                rows.put(
                    &quantity,
                    "bit/s",
                    dcf,
                    None,
                    "frame exchange; Bianchi 2000",
                    "one flow, both queues backlogged",
                );
            }
        }
    }

    fn anomaly(&self, rows: &mut Rows) {
        let modes = self.scenario.phy.allowed_modes();
        let stations = self.contenders();
        let (Some(&slow), Some(&fast)) = (modes.first(), modes.last()) else { return };
        if stations < 2 || slow == fast {
            return;
        }
        let exchange = |mode: ModeId| self.times(mode, self.packet).success(Access::Basic);
        let cell = Cell {
            hosts: stations,
            cw_min: self.scenario.phy.cw_min(),
            slot: self.scenario.phy.slot(),
            fast: exchange(fast),
            slow: exchange(slow),
        };
        let rate = |mode: ModeId| self.scenario.phy.mode(mode).rate;
        let quantity =
            format!("Anomaly: each of {stations} stations, one at {}, the rest at {}", rate(slow), rate(fast));
        let anomaly = cell.anomaly(Bytes(self.packet.0 - UDP_HEADERS));
        rows.put(&quantity, "bit/s", anomaly.throughput_bps, None, "Heusse 2003", "saturated UDP");
    }

    fn same_slot(&self, rows: &mut Rows) {
        // The AP contends too where it answers with TCP ACKs.
        let tcp = self.scenario.flows.iter().any(|f| f.section.transport == TransportWord::Tcp);
        let contenders = self.contenders() + u32::from(tcp);
        if contenders < 2 {
            return;
        }
        let window = self.scenario.phy.cw_min() + 1;
        let probability = same_slot_probability(contenders - 1, window);
        let quantity = format!("Same slot drawn by any two of {contenders} contenders, CW {window}");
        let note = "one fresh draw; not the collision probability of a frame";
        rows.put(&quantity, "", probability, None, "gopal2005 eq. (1)", note);
    }
}

fn timestamps(flow: &crate::resolved::FlowSpec) -> Timestamps {
    let config = &flow.tcp.config;
    let on = flow.section.transport == TransportWord::Tcp && config.timestamps && config.options_on_wire;
    if on { Timestamps::On } else { Timestamps::Off }
}

trait OptionBytes {
    fn option_bytes(&self) -> u64;
}

impl OptionBytes for Timestamps {
    fn option_bytes(&self) -> u64 {
        self.ack_packet().0 - 40
    }
}

/// The mode that the first station's rate control would begin with; a fixed one always.
fn first_mode(scenario: &ResolvedScenario, mpdu: Bytes) -> ModeId {
    let mut controls = scenario.rate_controls().expect("rate controls were built when the scenario was checked");
    let fixed = scenario.bss().rate_control.name() == "fixed";
    let info = FrameInfo { now: lasthop_units::Time::ZERO, bytes: mpdu, retry: 0 };
    match controls.get_mut(LinkId(0).index()) {
        Some(control) if fixed => control.rates_for(&info).first(),
        _ => *scenario.phy.allowed_modes().last().expect("a PHY has a mode"),
    }
}
