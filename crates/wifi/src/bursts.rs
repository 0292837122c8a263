//! Bursts of interferers as nodes sense them: the medium turns busy, and idle again.

use lasthop_observe::Record;
use lasthop_observe::detail::Detail;
use lasthop_units::{Db, Time};

use crate::environment::{Environment, MediumEvent};
use crate::interferer::Interferers;
use crate::medium::Medium;

impl<B: Send + 'static> Medium<B> {
    /// Schedules the first burst of each interferer.
    pub(crate) fn start_bursts(&self, env: &mut impl Environment<B>) {
        for (by, start) in self.air.energy.iter().flat_map(|energy| energy.next_starts()) {
            env.schedule(start, MediumEvent::BurstBegins(by));
        }
    }

    /// Begins a burst of an interferer.
    pub(crate) fn burst_begins(&mut self, now: Time, by: u32, env: &mut impl Environment<B>) {
        let (begun, next) = self.air.burst_begins(now, by);
        for view in 0..self.layout.nodes.len() {
            if self.air.notice_burst(view, by, &begun) {
                self.access.energy_noticed(now, view, env);
            }
        }
        if env.reads_order() {
            let (interferer, duration) = (by, begun.end.since(now));
            let level = self.air.energy.as_ref().map_or(Db(0.0), |energy| energy.level_of_last(by));
            env.detail(now, Detail::Burst { interferer, duration, level });
        }
        env.schedule(begun.end, MediumEvent::BurstEnds(by));
        // A burst that follows at once begins after this one has ended.
        if let Some(next) = next {
            env.schedule(next, MediumEvent::BurstBegins(by));
        }
        self.report_bursts(now, by, true, env);
    }

    /// Ends the burst of an interferer.
    pub(crate) fn burst_ends(&mut self, now: Time, by: u32, env: &mut impl Environment<B>) {
        let from = Interferers::number(self.layout.nodes.len(), by);
        for view in 0..self.layout.nodes.len() {
            if let Some(heard) = self.air.heard(view, from) {
                let gone = self.air.lose(view, heard);
                self.access.ppdus_end(now, view, gone, env);
            }
        }
        self.report_bursts(now, by, false, env);
    }

    /// Reports a change of the number of interferers on the air of the channels that one of them reaches.
    fn report_bursts(&mut self, now: Time, by: u32, begins: bool, env: &mut impl Environment<B>) {
        let energy = self.air.energy.as_ref().expect("who sends bursts is an interferer");
        for &channel in &energy.channels[by as usize] {
            env.observe(now, Record::Interferer { channel, begins });
        }
    }
}
