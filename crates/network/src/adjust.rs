//! Changes of settings between two events.

use lasthop_observe::{LinkId, NodeId, Observer};
use lasthop_units::{Bytes, Db, Duration};
use lasthop_wifi::rate_control::RateChain;
use lasthop_wifi::{AccessCategory, EdcaParameters};

use crate::{Hosts, Network};

impl<B: Send + 'static, O: Observer, H: Hosts<B>> Network<B, O, H> {
    /// Gives a node other EDCA parameters: [`Medium::set_edca`](lasthop_wifi::Medium::set_edca).
    ///
    /// # Panics
    /// If the node has no access categories.
    pub fn set_edca(&mut self, node: NodeId, category: Option<AccessCategory>, to: &EdcaParameters) {
        let now = self.now();
        self.medium.set_edca(now, node, category, to, &mut self.around);
    }

    /// Sends every later frame of a link by `chain`.
    pub fn hold_rate(&mut self, link: LinkId, chain: RateChain) {
        self.medium.hold_rate(link, chain);
    }

    /// Raises the transmit power of a node by `gain` above its power at the start: [`Medium::set_gain`](lasthop_wifi::Medium::set_gain).
    pub fn set_gain(&mut self, node: NodeId, gain: Db) {
        let now = self.now();
        self.medium.set_gain(now, node, gain);
    }

    /// Moves an access point and its stations to another channel: [`Medium::set_channel`](lasthop_wifi::Medium::set_channel).
    pub fn set_channel(&mut self, ap: NodeId, channel: u32, shares: &[Db]) {
        let now = self.now();
        self.medium.set_channel(now, ap, channel, shares, &mut self.around);
    }

    /// Changes the bounds of later downlink PPDUs of several users of an access point, if it sends any.
    pub fn bound_users(&mut self, ap: NodeId, max_users: Option<u32>, least_bytes: Option<Option<Bytes>>) {
        self.medium.bound_users(ap, max_users, least_bytes);
    }

    /// Ranks a station among the users of its access point: [`Medium::rank_user`](lasthop_wifi::Medium::rank_user).
    pub fn rank_user(&mut self, station: NodeId, rank: u8) {
        self.medium.rank_user(station, rank);
    }

    /// Sets the delay that the queues of a node keep, if their law has a target.
    pub fn set_queue_target(&mut self, node: NodeId, target: Duration) {
        self.medium.set_queue_target(node, target);
    }

    /// Gives a station `weight` parts of the airtime at its AP.
    pub fn set_airtime_weight(&mut self, station: NodeId, weight: u32) {
        self.medium.set_airtime_weight(station, weight);
    }

    /// Changes the limits of the later A-MPDUs of a node, if it makes any.
    pub fn limit_ampdus(&mut self, node: NodeId, max_mpdus: Option<u32>, max_duration: Option<Duration>) {
        self.medium.limit_ampdus(node, max_mpdus, max_duration);
    }

    /// Puts RTS/CTS before later data PPDUs longer than this, of all nodes of the BSS of `node`.
    pub fn set_rts_threshold(&mut self, node: NodeId, threshold: Option<Bytes>) {
        self.medium.set_rts_threshold(node, threshold);
    }

    /// Gives a node without access categories other contention windows:
    /// [`Medium::set_window`](lasthop_wifi::Medium::set_window).
    ///
    /// # Panics
    /// If the node has access categories, or `cw_min` is greater than `cw_max`.
    pub fn set_window(&mut self, node: NodeId, cw_min: u32, cw_max: u32) {
        let now = self.now();
        self.medium.set_window(now, node, cw_min, cw_max, &mut self.around);
    }
}
