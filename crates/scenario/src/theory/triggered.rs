//! Closed forms of stations that triggers ask for data, under MU EDCA.

use lasthop_theory::triggered::{
    QOS_NULL, TriggeredCell, basic_trigger, best_users, bsrp_trigger, multi_sta_block_ack,
};
use lasthop_units::{Bytes, Duration};
use lasthop_wifi::multi_user::scheduler::SchedulerKind;
use lasthop_wifi::phy::{ChannelWidth, ModeId, Ru, RuPart, frame_size};
use lasthop_wifi::{AccessCategory, Channel, ChannelAccess, MultiUser};

use super::{Form, Forms, GOODPUT, protected};

/// The interval of questions if `access_request` is off.
const ASKED_AGAIN: Duration = Duration::from_millis(10);

impl Forms<'_> {
    /// The goodput of saturated stations that send only what triggers ask for, and their share of MPDUs that triggers asked for.
    pub(super) fn triggered(&self) -> Vec<Form> {
        let bss = &self.scenario.bss[0];
        let Some(of) = bss.config.multi_user.filter(|of| of.uplink) else { return Vec::new() };
        let Some((cell, users, mpdus)) = self.triggered_cell(&of) else { return Vec::new() };
        let holds = self.is_triggered_alone(&of, mpdus);
        let station = self.scenario.flows.first().map_or("", |f| &self.scenario.nodes[f.station.index()].name);
        let note = if holds {
            "mean backoff of the access point, which alone contends after the first triggers"
        } else {
            "if every station were saturated with UDP, at one rate, under MU EDCA of AIFSN 0 and asked by \"airtime\", with edca.be txop_limit 0"
        };
        let form = |quantity, unit, value, metric: String| Form {
            quantity,
            unit,
            value,
            simulated: holds.then_some(metric),
            source: "802.11ax-2021 §26.2.7, §26.5.2",
            note,
        };
        vec![
            form(
                format!("Triggered uplink: goodput, {users} users a PPDU, {mpdus} MPDUs each"),
                "bit/s",
                cell.goodput_bps(),
                GOODPUT.into(),
            ),
            form(
                "Triggered uplink: part of the MPDUs that triggers ask for".into(),
                "",
                1.0,
                format!("nodes.{station}.triggered_fraction"),
            ),
        ]
    }

    /// Its exchanges, the users of a PPDU and the MPDUs of each; `None` if no two stations have units.
    fn triggered_cell(&self, of: &MultiUser) -> Option<(TriggeredCell, u32, u64)> {
        let (phy, bss) = (self.scenario.phy(), &self.scenario.bss[0]);
        let width = phy.channel_width().unwrap_or(ChannelWidth::Mhz20);
        let limits = bss.config.aggregation?;
        let (stations, mode) = (self.contenders(), self.mode);
        phy.mode(mode).mcs?;
        let most = of.max_users.min(stations);
        let units = |users: u32| Some(Ru::equal(width, users)).filter(|(_, served)| *served == users);
        let users = if of.bsrp {
            best_users(most, |users| Some(units(users)?.0.data_subcarriers()))?
        } else {
            Ru::equal(width, most).1
        };
        let (ru, _) = Ru::equal(width, users);
        let overhead = phy.ru_overhead(&vec![mode; users as usize], ru, true);
        let longest = limits.max_duration.min(phy.max_ppdu_duration(mode));
        let symbols = phy.whole_symbols(Duration::from_nanos(longest.as_nanos().saturating_sub(overhead.as_nanos())));
        let room = phy.longest_on_ru(mode, ru, symbols, true).0.min(u64::from(limits.max_bytes));
        let subframe = frame_size::ampdu_subframe(frame_size::qos_data_mpdu(protected(self.scenario, self.packet)));
        // The last has no padding.
        let padded = frame_size::padded(subframe).0;
        let mpdus = ((room + padded - subframe.0) / padded).min(u64::from(limits.max_mpdus));
        let control = phy.control_response_mode(*phy.allowed_modes().last()?);
        let legacy = |bytes: Bytes| phy.ppdu_duration(control, bytes);
        let answer = legacy(multi_sta_block_ack(u64::from(users), phy.block_ack_window()));
        let trigger = legacy(basic_trigger(u64::from(users)));
        let question = of.bsrp.then(|| {
            let (ru, asked) = Ru::equal(width, of.max_users.min(stations));
            let slowest = phy.allowed_modes().iter().copied().find(|id| phy.mode(*id).mcs.is_some());
            let part = RuPart { mode: slowest.unwrap_or(ModeId(0)), ru, psdu: QOS_NULL };
            legacy(bsrp_trigger(u64::from(asked))) + phy.sifs() + phy.he_tb_duration(&vec![part; asked as usize])
        });
        let cell = TriggeredCell {
            contention: self.arbitration() + phy.slot() * u64::from(phy.cw_min()) / 2,
            data: trigger + phy.sifs() + overhead + symbols + phy.sifs() + answer,
            question,
            interval: of.access_request.unwrap_or(ASKED_AGAIN),
            payload: Bytes(u64::from(users) * mpdus * self.udp_payload().0),
        };
        Some((cell, users, mpdus))
    }

    /// Whether stations have no other way to send, and data without end.
    fn is_triggered_alone(&self, of: &MultiUser, mpdus: u64) -> bool {
        let config = &self.scenario.bss[0].config;
        let held = config.mu_edca.is_some_and(|all| {
            let be = all[AccessCategory::Be.index()];
            be.is_some_and(|be| be.aifsn == 0 && of.access_request.is_some_and(|interval| interval * 2 < be.timer))
        });
        let takes_part = self.scenario.several_users().len() == self.scenario.nodes.len();
        let best_effort =
            self.scenario.flows.iter().all(|f| AccessCategory::of_tid(f.user_priority()) == AccessCategory::Be);
        let plain = config.aggregation.is_some_and(|of| {
            let is_bound_by_time = mpdus < u64::from(of.max_mpdus);
            of.max_amsdu.is_none() && of.min_start_spacing.as_nanos() == 0 && is_bound_by_time
        });
        let ap_contends_as_usual = {
            let ChannelAccess::Edca(all) = self.scenario.bss[0].ap else { return false };
            let (phy, be) = (self.scenario.phy(), all[AccessCategory::Be.index()]);
            (be.aifsn, be.cw_min, be.txop_limit) == (3, phy.cw_min(), Duration::ZERO)
        };
        held && takes_part
            && best_effort
            && plain
            && ap_contends_as_usual
            && of.random_access.is_none()
            && !config.asks_as_ns3
            && matches!(config.scheduler, SchedulerKind::Airtime(_))
            && self.scenario.bss.len() == 1
            && self.contenders() as usize + 1 == self.scenario.nodes.len()
            && self.is_saturated_udp_uplink()
            && self.has_one_rate_both_ways()
            && matches!(self.scenario.channel(0), Channel::Uniform { .. })
    }

    /// Whether all links of stations that upload have the mode of the first: triggers order the one of the downlink.
    fn has_one_rate_both_ways(&self) -> bool {
        let downlink = |f: &crate::resolved::FlowSpec| self.scenario.uplink(f.station.index()) + 1;
        let is_fixed = self.scenario.flows.iter().all(|f| self.scenario.is_fixed_rate(downlink(f)));
        is_fixed && self.uplink_modes().is_some_and(|modes| modes.iter().all(|mode| *mode == self.mode))
    }
}
