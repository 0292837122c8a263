//! Changes of settings between two events.

use lasthop_observe::{NodeId, Observer};
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
