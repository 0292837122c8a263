//! Closed forms for a scenario, each beside the simulated number that it predicts.

mod triggered;

use lasthop_observe::NodeId;
use lasthop_tcp::AckPolicy;
use lasthop_theory::anomaly::Cell;
use lasthop_theory::bianchi::{Backoff, SlotTimes};
use lasthop_theory::exchange::{TcpRound, Timestamps, udp_goodput_bps};
use lasthop_theory::frame_times::{Access, CollisionCost, FrameTimes};
use lasthop_theory::same_slot::same_slot_probability;
use lasthop_units::{Bytes, Duration, Time};
use lasthop_wifi::phy::{ModeId, frame_size};
use lasthop_wifi::rate_control::FrameInfo;
use lasthop_wifi::{AccessCategory, Channel, ChannelAccess, EdcaParameters, Protection};
use serde_json::{Value as Json, json};

use crate::description::{TransportWord, UdpRate};
use crate::resolved::{FlowSpec, Transmitter};
use crate::{Diagnostic, ResolvedScenario};

/// IPv4 and UDP headers.
const UDP_HEADERS: u64 = 28;

/// All delivered data.
const GOODPUT: &str = "totals.goodput_bps";

/// Windows from here on are not searched for the best.
const MOST_WINDOW: u32 = 4096;

/// A closed form.
#[derive(Clone)]
struct Form {
    quantity: String,
    unit: &'static str,
    value: f64,
    /// The simulated number that it predicts, if it applies to this scenario.
    simulated: Option<String>,
    source: &'static str,
    note: &'static str,
}

impl Form {
    fn to_json(&self) -> Json {
        json!({
            "quantity": self.quantity, "unit": self.unit, "closed_form": self.value,
            "simulated_metric": self.simulated, "source": self.source, "note": self.note,
        })
    }
}

/// Closed forms that fit `scenario`, as JSON: quantity, unit, closed_form, simulated_metric, source, note.
///
/// # Errors
/// A scenario without any closed form.
pub fn theory_json(scenario: &ResolvedScenario) -> Result<String, Diagnostic> {
    if scenario.nodes.iter().any(|node| node.modes.is_some()) {
        // The forms know one standard.
        return Ok(json!({ "rows": [] }).to_string());
    }
    let forms = Forms::new(scenario);
    let rows = [forms.saturation(), forms.triggered(), forms.ceilings(), forms.anomaly(), forms.same_slot()];
    let rows: Vec<Json> = rows.iter().flatten().map(Form::to_json).collect();
    Ok(json!({ "rows": rows }).to_string())
}

/// The packet with the octets that its BSS adds to protect it.
fn protected(scenario: &ResolvedScenario, packet: Bytes) -> Bytes {
    Bytes(packet.0 + scenario.bss[0].config.security.overhead().0)
}

struct Forms<'a> {
    scenario: &'a ResolvedScenario,
    /// IP packet of the first flow.
    packet: Bytes,
    /// Initial mode of the first station.
    mode: ModeId,
    rts: bool,
}

impl<'a> Forms<'a> {
    fn new(scenario: &'a ResolvedScenario) -> Self {
        let packet = scenario.flows.first().map_or(Bytes(1500), |f| match f.section.transport {
            TransportWord::Udp => f.tcp.config.packet_size,
            TransportWord::Quic => Bytes(f.quic.as_ref().map_or(0, |quic| quic.datagram.0) + UDP_HEADERS),
            TransportWord::Tcp => Bytes(u64::from(f.tcp.config.payload_bytes()) + timestamps(f).ack_packet().0),
        });
        let mpdu = frame_size::data_mpdu(protected(scenario, packet));
        let rts = scenario.first_bss().rts_threshold.as_option().is_some_and(|limit| mpdu > *limit);
        let fastest = *scenario.phy().allowed_modes().last().expect("a PHY has a mode");
        let forms = Forms { scenario, packet, mode: fastest, rts };
        // A fixed rate, if the first link that carries a flow has one.
        let fixed = forms.uplink_modes().and_then(|modes| modes.first().copied());
        let forms = Forms { mode: fixed.unwrap_or(fastest), ..forms };
        let times = forms.times(forms.mode, packet);
        let lasts = times.data + times.sifs + times.ack;
        let is_long = scenario.first_bss().txop_duration_rts_threshold.as_option().is_some_and(|least| lasts >= *least);
        Forms { rts: rts || is_long, ..forms }
    }

    fn access(&self) -> Access {
        if self.rts { Access::RtsCts } else { Access::Basic }
    }

    fn times(&self, mode: ModeId, packet: Bytes) -> FrameTimes {
        let phy = self.scenario.phy();
        let response = phy.control_response_mode(mode);
        FrameTimes {
            slot: phy.slot(),
            sifs: phy.sifs(),
            difs: self.arbitration(),
            data: phy.ppdu_duration(mode, self.psdu(mode, packet)),
            ack: phy.ppdu_duration(response, frame_size::ACK),
            rts: phy.ppdu_duration(response, frame_size::RTS),
            cts: phy.ppdu_duration(response, frame_size::CTS),
        }
    }

    /// DIFS, or the AIFS of best effort: SIFS and three slots. [802.11-2020 Table 9-155]
    fn arbitration(&self) -> Duration {
        let phy = self.scenario.phy();
        if phy.is_qos() { phy.sifs() + phy.slot() * 3 } else { phy.difs() }
    }

    /// The PSDU that carries one packet.
    fn psdu(&self, mode: ModeId, packet: Bytes) -> Bytes {
        let (phy, packet) = (self.scenario.phy(), protected(self.scenario, packet));
        match (phy.is_qos(), phy.always_aggregates(mode)) {
            (false, _) => frame_size::data_mpdu(packet),
            (true, false) => frame_size::qos_data_mpdu(packet),
            (true, true) => frame_size::ampdu_subframe(frame_size::qos_data_mpdu(packet)),
        }
    }

    fn backoff(&self, attempts: Option<u32>) -> Backoff {
        let (window, most) = (self.scenario.phy().cw_min() + 1, self.scenario.phy().cw_max() + 1);
        Backoff { window, doublings: (most / window).ilog2(), attempts }
    }

    /// The number of stations that always have a UDP datagram or a TCP segment to send.
    fn contenders(&self) -> u32 {
        let mut stations: Vec<NodeId> = self.scenario.flows.iter().filter(|f| f.up).map(|f| f.station).collect();
        stations.sort();
        stations.dedup();
        stations.len() as u32
    }

    fn is_saturated_udp_uplink(&self) -> bool {
        let saturated = |f: &FlowSpec| f.up && f.section.rate == Some(UdpRate::Saturated);
        !self.scenario.flows.is_empty() && self.scenario.flows.iter().all(saturated)
    }

    /// Whether best effort has a TXOP limit, within which several A-MPDUs may share a backoff.
    fn has_txop_limit(&self) -> bool {
        let spec = &self.scenario.bss[0];
        let up = self.scenario.flows.first().is_none_or(|f| f.up);
        let access = if up { &spec.stations } else { &spec.ap };
        matches!(access, ChannelAccess::Edca(all) if all[AccessCategory::Be.index()].txop_limit > Duration::ZERO)
    }

    fn is_one_packet_a_frame(&self) -> bool {
        self.scenario.bss[0].config.aggregation.is_none()
    }

    /// The only flow of the scenario, if its link has one rate.
    fn lone_flow(&self) -> Option<&FlowSpec> {
        let [flow] = self.scenario.flows.as_slice() else { return None };
        self.uplink_modes().map(|_| flow)
    }

    /// The mode of each uplink that carries a flow, if every rate is fixed.
    fn uplink_modes(&self) -> Option<Vec<ModeId>> {
        let mut controls = self.scenario.rate_controls(0).expect("they were built when the scenario was checked");
        let info = FrameInfo {
            now: Time::ZERO,
            bytes: frame_size::data_mpdu(self.packet),
            aggregates: false,
            retry: 0,
            packet: 0,
        };
        let mode = |f: &FlowSpec| {
            let link = self.scenario.uplink(f.station.index());
            self.scenario.is_fixed_rate(link).then(|| controls[link].rates_for(&info).first())
        };
        self.scenario.flows.iter().map(mode).collect()
    }

    /// Bianchi's model for the stations that upload.
    fn saturation(&self) -> Vec<Form> {
        let stations = self.contenders();
        if stations == 0 {
            return Vec::new();
        }
        let times = self.times(self.mode, self.packet);
        let attempts = self.scenario.nodes[1].config.retry_limit.map(|limit| limit + 1);
        let point = self.backoff(attempts).solve(stations);
        let holds = self.is_the_case_of_bianchi();
        let unlike = "if every uploading station were saturated with UDP, at one rate, heard by all";
        let form = |quantity: String, unit, value, metric: &str| Form {
            quantity,
            unit,
            value,
            simulated: holds.then(|| metric.to_string()),
            source: "Bianchi 2000; Chatzimisios 2003",
            note: if holds { "" } else { unlike },
        };
        let slot_times = |cost| SlotTimes {
            idle: times.slot,
            success: times.success(self.access()),
            collision: times.collision(self.access(), cost),
        };
        let goodput = |(cost, name): (CollisionCost, &str)| {
            let quantity = format!("Bianchi: goodput, {stations} stations, {name} after a collision");
            form(quantity, "bit/s", point.throughput_bps(&slot_times(cost), self.udp_payload()), GOODPUT)
        };
        let best = |(cost, name): (CollisionCost, &str)| {
            let (window, bps) = best_window(stations, &slot_times(cost), self.udp_payload());
            let of = |quantity, unit, value| Form {
                quantity,
                unit,
                value,
                simulated: None,
                source: "Bianchi 2000",
                note: if holds {
                    "of all constant windows; the knobs edca.cw_min and edca.cw_max set one"
                } else {
                    unlike
                },
            };
            [
                of(
                    format!("Bianchi: goodput at the best CW, {stations} stations, {name} after a collision"),
                    "bit/s",
                    bps,
                ),
                of(format!("Bianchi: best CW, {stations} stations, {name} after a collision"), "", f64::from(window)),
            ]
        };
        let p = form("Bianchi: collision probability".into(), "", point.p, "medium.collision_probability");
        let costs = [(CollisionCost::Difs, "DIFS"), (CollisionCost::Eifs, "EIFS")];
        let best = if stations > 1 { costs.map(best).concat() } else { Vec::new() };
        std::iter::once(p).chain(costs.map(goodput)).chain(best).collect()
    }

    /// Whether the scenario has saturated UDP uplinks at one rate, no hidden nodes, and losses from collisions
    /// only.
    fn is_the_case_of_bianchi(&self) -> bool {
        let one_rate = self.uplink_modes().is_some_and(|modes| modes.iter().all(|mode| *mode == self.mode));
        self.is_saturated_udp_uplink()
            && self.is_one_packet_a_frame()
            && one_rate
            && matches!(self.scenario.channel(0), Channel::Uniform { .. })
    }

    fn udp_payload(&self) -> Bytes {
        Bytes(self.packet.0 - UDP_HEADERS)
    }

    /// The capacity of back-to-back exchanges at each rate.
    fn ceilings(&self) -> Vec<Form> {
        let phy = self.scenario.phy();
        let ceilings = |&mode: &ModeId| std::iter::once(self.udp_ceiling(mode)).chain(self.tcp_ceilings(mode));
        if phy.supports_aggregation(self.mode) {
            // With the many modes of several streams, only the current one.
            return ceilings(&self.mode).chain(self.ampdu_ceiling()).collect();
        }
        phy.allowed_modes().iter().flat_map(ceilings).collect()
    }

    /// The longest A-MPDU that Block Ack window, length and time allow, repeated.
    fn ampdu_ceiling(&self) -> Option<Form> {
        let (phy, mode) = (self.scenario.phy(), self.mode);
        let limits = self.scenario.bss[0].config.aggregation?;
        let subframe = frame_size::ampdu_subframe(frame_size::qos_data_mpdu(protected(self.scenario, self.packet)));
        let psdu = |mpdus: u64| Bytes((mpdus - 1) * frame_size::padded(subframe).0 + subframe.0);
        let air = |mpdus: u64| phy.ppdu_duration(mode, psdu(mpdus));
        let exchange = |mpdus: u64| air(mpdus) + phy.sifs() + phy.block_ack_duration(mode);
        let fits = |&mpdus: &u64| psdu(mpdus).0 <= u64::from(limits.max_bytes) && air(mpdus) <= limits.max_duration;
        let mpdus = (1..=u64::from(limits.max_mpdus)).rev().find(fits).unwrap_or(1);
        let backoff = phy.slot() * u64::from(phy.cw_min()) / 2;
        let alone = self.lone_flow().is_some_and(|f| f.section.rate == Some(UdpRate::Saturated));
        let plain = limits.max_amsdu.is_none() && limits.min_start_spacing.as_nanos() == 0;
        let alone = alone && self.scenario.bss[0].config.multi_user.is_none();
        let as_described =
            alone && plain && !self.has_txop_limit() && self.is_plain_best_effort(exchange(mpdus), mpdus);
        Some(Form {
            quantity: format!("UDP ceiling at {} in A-MPDUs of {mpdus}", phy.mode(mode).rate),
            unit: "bit/s",
            value: udp_goodput_bps(Bytes(mpdus * self.udp_payload().0), self.arbitration() + exchange(mpdus), backoff),
            simulated: as_described.then(|| GOODPUT.to_string()),
            source: "frame exchange",
            note: "one sender, mean backoff, one A-MPDU a TXOP (edca.be txop_limit 0)",
        })
    }

    /// Whether best effort has the standard's backoff, no RTS or protection before its frames, and a wire that
    /// never delays it.
    fn is_plain_best_effort(&self, exchange: Duration, mpdus: u64) -> bool {
        let bss = &self.scenario.bss[0];
        let phy = &bss.config.phy;
        let ChannelAccess::Edca(categories) = bss.stations else { return false };
        let own = categories[AccessCategory::Be.index()];
        let standard = EdcaParameters::default_of(AccessCategory::Be, phy.cw_min(), phy.cw_max());
        let usual = (own.aifsn, own.cw_min, own.cw_max) == (standard.aifsn, standard.cw_min, standard.cw_max);
        let category = |f: &FlowSpec| AccessCategory::of_tid(f.user_priority());
        let best_effort = self.scenario.flows.iter().all(|f| category(f) == AccessCategory::Be);
        let by_length = bss.config.rts_threshold.is_some() || bss.config.txop_duration_rts_threshold.is_some();
        let announced = by_length || bss.config.protection != Protection::None;
        let wires = &self.scenario.wires;
        let is_faster =
            |wire: &Transmitter| wire.time_for(Bytes(mpdus * self.packet.0)).is_some_and(|on_wire| on_wire < exchange);
        usual && best_effort && !announced && is_faster(&wires.up) && is_faster(&wires.down)
    }

    fn udp_ceiling(&self, mode: ModeId) -> Form {
        let times = self.times(mode, self.packet);
        let backoff = times.mean_backoff(self.scenario.phy().cw_min() + 1);
        let alone = self.lone_flow().is_some_and(|f| f.section.rate == Some(UdpRate::Saturated));
        let alone = alone && self.is_one_packet_a_frame();
        Form {
            quantity: format!("UDP ceiling at {}", self.scenario.phy().mode(mode).rate),
            unit: "bit/s",
            value: udp_goodput_bps(self.udp_payload(), times.success(self.access()), backoff),
            simulated: (alone && mode == self.mode).then(|| GOODPUT.to_string()),
            source: "frame exchange",
            note: "one sender, mean backoff",
        }
    }

    fn tcp_ceilings(&self, mode: ModeId) -> Vec<Form> {
        let stamps = self.scenario.flows.first().map_or(Timestamps::Off, timestamps);
        let (times, acks) = (self.times(mode, self.packet), self.times(mode, stamps.ack_packet()));
        let backoff = times.mean_backoff(self.scenario.phy().cw_min() + 1);
        let rate = self.scenario.phy().mode(mode).rate;
        let policies = [(1, AckPolicy::EverySegment, "an ACK a segment"), (2, AckPolicy::Delayed, "an ACK for two")];
        let forms = |(data_exchanges, policy, name): (u32, AckPolicy, &str)| {
            let round = TcpRound {
                data: times.success(self.access()),
                ack: acks.success(Access::Basic),
                data_exchanges,
                payload: stamps.payload(self.packet),
            };
            let alone = |f: &FlowSpec| f.section.transport == TransportWord::Tcp && f.tcp.config.ack == policy;
            let here = mode == self.mode && self.is_one_packet_a_frame() && self.lone_flow().is_some_and(alone);
            let form = |quantity, value, source, note| Form {
                quantity,
                unit: "bit/s",
                value,
                simulated: here.then(|| GOODPUT.to_string()),
                source,
                note,
            };
            let serial = form(
                format!("TCP at {rate}, {name}, one sender at a time"),
                round.serial_backoff_bps(backoff),
                "frame exchange",
                "one flow; every frame pays a mean backoff",
            );
            let contending = form(
                format!("TCP at {rate}, {name}, two stations contending"),
                round.two_station_dcf_bps(&self.backoff(None), times.slot),
                "frame exchange; Bianchi 2000",
                "one flow, both queues backlogged",
            );
            [serial, contending]
        };
        policies.into_iter().flat_map(forms).collect()
    }

    /// Heusse's anomaly: for the rates of the stations, if one of them is slow, else for the slowest and the
    /// fastest rate.
    fn anomaly(&self) -> Vec<Form> {
        let modes = self.scenario.phy().allowed_modes();
        let stations = self.contenders();
        let slow_and_fast = self.one_slow_station();
        let (Some(&first), Some(&last)) = (modes.first(), modes.last()) else { return Vec::new() };
        let (slow, fast) = slow_and_fast.as_ref().map_or((first, last), |(slow, fast, _)| (*slow, *fast));
        if stations < 2 || slow == fast {
            return Vec::new();
        }
        let exchange = |mode: ModeId| self.times(mode, self.packet).success(Access::Basic);
        let cell = Cell {
            hosts: stations,
            cw_min: self.scenario.phy().cw_min(),
            slot: self.scenario.phy().slot(),
            fast: exchange(fast),
            slow: exchange(slow),
        };
        let rate = |mode: ModeId| self.scenario.phy().mode(mode).rate;
        vec![Form {
            quantity: format!(
                "Anomaly: each of {stations} stations, one at {}, the rest at {}",
                rate(slow),
                rate(fast)
            ),
            unit: "bit/s",
            value: cell.anomaly(self.udp_payload()).throughput_bps,
            simulated: slow_and_fast.map(|(_, _, flow)| format!("flows.{flow}.goodput_bps")),
            source: "Heusse 2003",
            note: "saturated UDP; beside a fast station",
        }]
    }

    /// The rates of a saturated uplink with exactly one slow station, and a flow of a fast one.
    fn one_slow_station(&self) -> Option<(ModeId, ModeId, String)> {
        let modes = self.uplink_modes().filter(|modes| modes.len() > 1 && self.is_saturated_udp_uplink())?;
        let (slow, fast) = (*modes.iter().min()?, *modes.iter().max()?);
        let others_are_fast = modes.iter().filter(|m| **m == fast).count() + 1 == modes.len();
        let example = modes.iter().position(|m| *m == fast)?;
        (slow != fast && others_are_fast).then(|| (slow, fast, self.scenario.flows[example].id.clone()))
    }

    /// The probability that two contenders draw the same slot.
    fn same_slot(&self) -> Vec<Form> {
        // The AP contends too if it answers with ACKs.
        let tcp = self.scenario.flows.iter().any(|f| f.section.transport != TransportWord::Udp);
        let contenders = self.contenders() + u32::from(tcp);
        if contenders < 2 {
            return Vec::new();
        }
        let window = self.scenario.phy().cw_min() + 1;
        vec![Form {
            quantity: format!("Same slot drawn by any two of {contenders} contenders, CW {window}"),
            unit: "",
            value: same_slot_probability(contenders - 1, window),
            simulated: None,
            source: "gopal2005 eq. (1)",
            note: "one fresh draw; not the collision probability of a frame",
        }]
    }
}

/// The constant contention window with the greatest saturation throughput of `stations`, and that throughput in bit/s.
fn best_window(stations: u32, times: &SlotTimes, payload: Bytes) -> (u32, f64) {
    let at = |window: u32| {
        let backoff = Backoff { window: window + 1, doublings: 0, attempts: None };
        (window, backoff.solve(stations).throughput_bps(times, payload))
    };
    (1..MOST_WINDOW).map(at).max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are windows")
}

fn timestamps(flow: &FlowSpec) -> Timestamps {
    let config = &flow.tcp.config;
    let on = flow.section.transport == TransportWord::Tcp && config.timestamps && config.options_on_wire;
    if on { Timestamps::On } else { Timestamps::Off }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    /// The simulated metric of the first form whose quantity has this prefix.
    fn metric(text: &str, start: &str) -> Option<String> {
        let json = theory_json(&resolve(text, "f.toml", &[]).unwrap()).unwrap();
        let document: Json = serde_json::from_str(&json).unwrap();
        let row =
            document["rows"].as_array().unwrap().iter().find(|r| r["quantity"].as_str().unwrap().starts_with(start));
        row.expect("the form is there")["simulated_metric"].as_str().map(String::from)
    }

    #[test]
    fn a_form_stands_beside_the_number_only_where_the_scenario_is_its_case() {
        let udp = "[bss]\nstandard = \"802.11a\"\n[[station]]\n[[flow]]\ntransport = \"udp\"\nrate = \"saturated\"\n";
        assert_eq!(metric(udp, "UDP ceiling at 54"), Some(GOODPUT.into()));
        assert_eq!(metric(udp, "UDP ceiling at 48"), None);
        assert_eq!(metric(udp, "Bianchi: collision"), Some("medium.collision_probability".into()));
        let tcp = "[bss]\nstandard = \"802.11a\"\n[[station]]\n[[flow]]\nack = \"every_segment\"\n";
        assert_eq!(metric(tcp, "TCP at 54 Mbit/s, an ACK a segment, one"), Some(GOODPUT.into()));
        assert_eq!(metric(tcp, "TCP at 54 Mbit/s, an ACK for two, one"), None);
        assert_eq!(metric(tcp, "Bianchi: collision"), None);
        let slow = "[bss]\nstandard = \"802.11b\"\n[[station]]\nname = \"fast\"\ncount = 2\n[[station]]\nname = \"slow\"\n\
                    rate_control = { kind = \"fixed\", rate = \"1 Mbit/s\" }\n[[flow]]\ntransport = \"udp\"\nrate = \"saturated\"\n";
        assert_eq!(metric(slow, "Anomaly"), Some("flows.fast1.up.goodput_bps".into()));
        assert_eq!(metric(slow, "Bianchi: collision"), None, "not at one rate");
        let hidden = udp.replace("[[station]]", "[[station]]\ncount = 2\n").replacen(
            "[bss]",
            "[channel]\nhidden = [[\"sta1\", \"sta2\"]]\n[bss]",
            1,
        );
        assert_eq!(metric(&hidden, "Bianchi: collision"), None, "not heard by all");
    }
}
