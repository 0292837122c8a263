//! A knob's new value, passed to the network and its hosts.

use lasthop_observe::detail::Detail;
use lasthop_observe::{Observer, Watcher};
use lasthop_tcp::congestion_control::Outside;
use lasthop_units::{Bytes, DataRate, Dbm, Duration};

use crate::capture::centre_mhz;
use crate::knob::{Handle, MOST_BYTES, Place, Setting};
use crate::run_state::{Population, RunState};

impl<P: Population, O: Watcher> RunState<P, O> {
    /// Gives a knob a new value, which has been checked, from now on.
    pub(crate) fn turn(&mut self, handle: &Handle, value: f64) {
        match (handle.place, handle.knob.setting) {
            (Place::Category(node, category), setting) => {
                let of = self.settings.access(&self.scenario, (node, category), setting, value);
                match category {
                    Some(_) => self.network.set_edca(node, category, &of),
                    None => self.network.set_window(node, of.cw_min, of.cw_max),
                }
            }
            (Place::Node(node), Setting::QueueTarget) => {
                self.network.set_queue_target(node, Duration::from_secs_f64(value));
            }
            (Place::Node(node), Setting::MaxMpdus) => self.network.limit_ampdus(node, Some(value as u32), None),
            (Place::Node(node), Setting::MaxDuration) => {
                self.network.limit_ampdus(node, None, Some(Duration::from_secs_f64(value)));
            }
            (Place::Node(node), Setting::RtsThreshold) => {
                self.network.set_rts_threshold(node, (value < MOST_BYTES).then_some(Bytes(value as u64)));
            }
            (Place::Node(node), Setting::TxPower) => {
                let gain = Dbm(value) - self.scenario.nodes[node.index()].tx_power;
                self.network.set_gain(node, gain);
            }
            (Place::Node(ap), Setting::Channel) => {
                let channel = self.settings.channel(&self.scenario, ap, value);
                let (number, range) = self.scenario.channel_near(ap.index(), value);
                let mhz = centre_mhz(self.scenario.phy_of(ap.index()), number);
                let now = self.network.now();
                self.network.observer_mut().detail(now, Detail::Tuned { ap, channel, number, mhz });
                let shares = self.scenario.shares_in(range);
                self.network.set_channel(ap, channel, &shares);
            }
            (Place::Node(ap), Setting::MaxUsers) => self.network.bound_users(ap, Some(value as u32), None),
            (Place::Node(ap), Setting::LeastBytes) => {
                self.network.bound_users(ap, None, Some((value > 0.0).then_some(Bytes(value as u64))));
            }
            (Place::Node(station), Setting::UserRank) => self.network.rank_user(station, value as u8),
            (Place::Node(station), _) => self.network.set_airtime_weight(station, value as u32),
            (Place::Flow(flow), setting) => {
                let values = match setting {
                    Setting::Window => Outside { window: Some(value), pacing: None },
                    _ => Outside { window: None, pacing: Some(DataRate::from_bps(value as u64)) },
                };
                self.network.hosts_mut().simulated().hold(flow, values);
            }
            (Place::Link(link), setting) => {
                if let Some(chain) = self.settings.chain(&self.scenario, link, setting, value) {
                    self.network.hold_rate(link, chain);
                }
            }
        }
    }
}
