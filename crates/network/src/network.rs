//! The network: its clock, and the way of packets from one part to the next.

use std::borrow::Cow;

use lasthop_engine::Scheduler;
use lasthop_link::{ByClass, Drop, Packet, PacketMeta, WireUse, WiredEvent};
use lasthop_observe::detail::Passage;
use lasthop_observe::{FlowId, NodeId, Observer, QueueLayer, Record, Step};
use lasthop_units::{Duration, Time};
use lasthop_wifi::{Failed, GroupFrame, Medium};

use crate::Topology;
use crate::detour::Detour;
use crate::event::{Alarm, Event};
use crate::hosts::{Context, Hosts, Order};
use crate::injection::{Announced, Door, Entry, Refusal};
use crate::outside::{Arrival, Outside};
use crate::surroundings::{Inbox, Surroundings};
use crate::wires::{Counts, Wires};

/// A network that carries packets with bodies `B` between hosts `H`, with the observer `O`.
pub struct Network<B, O = (), H: Hosts<B> = Outside<B>> {
    pub(crate) medium: Medium<B>,
    pub(crate) around: Surroundings<B, O, H>,
    /// wired links of each AP
    wires: Vec<Wires<B>>,
    /// the AP of each node
    homes: Vec<NodeId>,
    /// detour of each flow
    detours: Vec<Detour<B>>,
    announced: Announced<B>,
    dropped: Vec<Drop<B>>,
    wired: Counts,
    /// number of packets that each node had been handed when counting began
    offered_before: Vec<u64>,
}

impl<B: Send + 'static, O: Observer> Network<B, O> {
    /// A network at time zero, whose packets come from its driver and go to it.
    ///
    /// # Panics
    /// If `topology` does not have one wired link for each BSS.
    pub fn new(topology: Topology<B>, observer: O) -> Self {
        Network::with_hosts(topology, observer, Outside::default())
    }

    /// Packets that have arrived since the last call, in the order of arrival.
    pub fn arrivals(&mut self) -> impl Iterator<Item = Arrival<B>> {
        self.around.hosts.arrived.drain(..)
    }
}

impl<B: Send + 'static, O: Observer, H: Hosts<B>> Network<B, O, H> {
    /// A network at time zero between `hosts`.
    ///
    /// # Panics
    /// If `topology` does not have one wired link for each BSS.
    pub fn with_hosts(topology: Topology<B>, observer: O, hosts: H) -> Self {
        let homes = topology.homes();
        let mut network = Network {
            medium: Medium::new(topology.medium),
            around: Surroundings { events: Scheduler::new(), observer, hosts, inbox: Inbox::new() },
            wires: topology.wires,
            offered_before: vec![0; homes.len()],
            homes,
            detours: Vec::new(),
            announced: Announced::new(),
            dropped: Vec::new(),
            wired: Counts::default(),
        };
        network.medium.start(&mut network.around);
        network
    }

    /// Lets `packet` enter at `node` at time `at`: at a station towards its server, or behind an AP towards the station
    /// that `packet.meta.station` names. The direction is filled in, and the station if `node` is one.
    ///
    /// # Errors
    /// If `at` is before [`now`](Network::now), the node or the flow does not exist, or the station is not of that AP.
    pub fn inject(&mut self, at: Time, node: NodeId, packet: Packet<B>) -> Result<(), Refusal> {
        self.inject_at(at, node, packet, Door::Host)
    }

    /// The same at a door of the caller's choice.
    ///
    /// # Errors
    /// The same as of [`inject`](Self::inject).
    pub fn inject_at(&mut self, at: Time, node: NodeId, mut packet: Packet<B>, door: Door) -> Result<(), Refusal> {
        let now = self.now();
        if at < now {
            return Err(Refusal::Past { at, now });
        }
        let Some(&home) = self.homes.get(node.index()) else { return Err(Refusal::NoSuchNode(node)) };
        packet.meta.up = home != node || door == Door::Wire;
        if home != node {
            packet.meta.station = node;
        }
        let PacketMeta { station, flow, .. } = packet.meta;
        if station == home || self.homes.get(station.index()) != Some(&home) {
            return Err(Refusal::NotOfThisBss { ap: home, station });
        }
        if self.detours.get(flow.index()).is_none_or(|detour| detour.closed) {
            return Err(Refusal::NoSuchFlow(flow));
        }
        let place = self.announced.keep(Entry::Packet(packet, door));
        self.around.events.at(at, Event::Enters(place));
        Ok(())
    }

    /// Lets the radio of `node` send a group frame from `at` on, or from now on if that is past. Its end is reported to
    /// [`Hosts::group_ended`].
    pub fn send_to_all(&mut self, at: Time, node: NodeId, frame: GroupFrame) {
        let place = self.announced.keep(Entry::Group(node, frame));
        self.around.events.at(at.max(self.now()), Event::Enters(place));
    }

    /// Calls `at` with the hosts and the context of the present.
    pub fn call_hosts<R>(&mut self, call: impl FnOnce(&mut H, &mut Context<'_, H::Event, O>) -> R) -> R {
        let now = self.now();
        let (hosts, mut at) = self.around.call(now);
        call(hosts, &mut at)
    }

    /// The present: the end of the last run, or the time of the event that is being handled.
    pub fn now(&self) -> Time {
        self.around.events.now()
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.around.events.next_at()
    }

    /// The number of events handled, alarms included.
    pub fn events(&self) -> u64 {
        self.around.events.handled()
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.around.observer
    }

    /// The observer, for changes.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.around.observer
    }

    /// The hosts.
    pub fn hosts(&self) -> &H {
        &self.around.hosts
    }

    /// The hosts, before the network runs or between its steps.
    pub fn hosts_mut(&mut self) -> &mut H {
        &mut self.around.hosts
    }

    /// The observer and the hosts, once the network is no longer needed.
    pub fn into_parts(self) -> (O, H) {
        (self.around.observer, self.around.hosts)
    }

    /// Opens a flow whose server lies `delay` beyond the wired link. Flows are numbered from 0.
    pub fn open_flow(&mut self, delay: Duration) -> FlowId {
        self.detours.push(Detour::new(delay));
        FlowId((self.detours.len() - 1) as u32)
    }

    /// Closes a flow: none of its packets is accepted any more; packets under way still arrive. Its number is not
    /// reused.
    pub fn close_flow(&mut self, flow: FlowId) {
        if let Some(detour) = self.detours.get_mut(flow.index()) {
            detour.closed = true;
        }
    }

    /// Schedules an event of the hosts.
    ///
    /// # Panics
    /// If `at` is past.
    pub fn schedule(&mut self, at: Time, event: H::Event) {
        self.around.events.at(at, Event::Host(event));
    }

    /// Makes [`run_until`](Self::run_until) return `alarm` in its turn among the events at `at`.
    ///
    /// # Panics
    /// If `at` is past.
    pub fn set_alarm(&mut self, at: Time, alarm: Alarm) {
        self.around.events.at(at, Event::Alarm(alarm));
    }

    /// Handles all events that are due before `until` and advances the clock to it; an alarm interrupts this, and an
    /// observer that [pauses](Observer::pauses), by [`Alarm::PAUSED`].
    pub fn run_until(&mut self, until: Time) -> Option<Alarm> {
        while let Some((now, event)) = self.around.events.next_before(until) {
            if let Event::Alarm(alarm) = event {
                return Some(alarm);
            }
            self.handle(now, event);
            if self.around.observer.pauses() {
                return Some(Alarm::PAUSED);
            }
        }
        self.around.events.advance_to(until);
        None
    }

    /// Lets wires count their transmissions when that is read, if no observer sees each of them; `is_fed`: a saturated source
    /// behind this AP asks whether its wire is free. Before any packet is on a wire.
    pub fn count_wires_later(&mut self, is_fed: impl Fn(NodeId) -> bool) {
        // A pause comes between the events of one instant, of which some would count and others not.
        if O::READS_STEPS || O::READS_DETAILS || self.around.observer.awaits_txops() {
            return;
        }
        for (ap, wires) in (0..).map(NodeId).zip(&mut self.wires) {
            wires.up.count_later();
            if !is_fed(ap) {
                wires.down.count_later();
            }
        }
    }

    /// Resets the counters of queues and links; packets stay in their places.
    pub fn start_counting(&mut self) {
        self.offered_before = self.medium.offered().collect();
        self.medium.start_counting();
        let now = self.now();
        self.wires.iter_mut().for_each(|wires| wires.start(now));
    }

    /// Waits and marks by class of the queues of each node since counting began, if they have classes.
    pub fn by_class(&self) -> impl Iterator<Item = Option<ByClass>> {
        self.medium.by_class()
    }

    /// The same of the wired link of each AP, up and down.
    pub fn wires_by_class(&self) -> impl Iterator<Item = [Option<&ByClass>; 2]> {
        self.wires.iter().map(Wires::by_class)
    }

    /// Numbers of packets that each node was handed since counting began.
    pub fn offered(&self) -> impl Iterator<Item = u64> {
        self.medium.offered().zip(&self.offered_before).map(|(all, before)| all - before)
    }

    /// The use of the wired link of each AP, up and down, since counting began.
    pub fn wire_use(&self) -> impl Iterator<Item = [Cow<'_, WireUse>; 2]> {
        let now = self.now();
        self.wires.iter().map(move |wires| wires.used(now))
    }

    /// The algorithm at the medium that cannot continue, if there is one, with the reason.
    pub fn failure(&self) -> Option<(Failed, &str)> {
        self.medium.failure()
    }

    /// The AP with a wired link whose queue cannot go on, if there is one, with the reason.
    pub fn wire_failure(&self) -> Option<(NodeId, &str)> {
        (0..).zip(&self.wires).find_map(|(ap, wires)| {
            let of_source = wires.failure.as_deref();
            Some((NodeId(ap), wires.up.failure().or(wires.down.failure()).or(of_source)?))
        })
    }

    /// Checks that nothing was lost or made: packets in are packets out, dropped or still there.
    ///
    /// # Errors
    /// A sentence that says where the counts do not balance.
    pub fn check_conservation(&self) -> Result<(), String> {
        let counts = self.medium.counts();
        let accounted = counts.delivered + counts.dropped_by_queue + counts.dropped_by_mac + self.medium.held();
        if counts.offered != accounted {
            return Err(format!(
                "packets are not conserved on the medium: {} in, {accounted} accounted for ({counts:?}, {} held)",
                counts.offered,
                self.medium.held()
            ));
        }
        let held: u64 = self.wires.iter().map(Wires::held).sum();
        if self.wired.sent != self.wired.arrived + self.wired.dropped + held {
            return Err(format!("packets are not conserved on the wire: {:?}, {held} held", self.wired));
        }
        Ok(())
    }

    /// The number of packets anywhere in the network: in queues, on the air, on wires and on detours.
    pub fn held(&self) -> u64 {
        let wires: u64 = self.wires.iter().map(Wires::held).sum();
        let detours: u64 = self.detours.iter().map(Detour::held).sum();
        self.medium.held() + wires + detours
    }

    #[inline(always)]
    fn handle(&mut self, now: Time, event: Event<H::Event>) {
        match event {
            Event::Medium(event) => {
                self.medium.handle(now, event, &mut self.around);
                self.empty_inbox(now);
            }
            Event::Wired(ap, up, WiredEvent::TransmitterFree) => self.transmitter_is_free(now, ap, up),
            Event::Wired(ap, up, WiredEvent::Arrival) => {
                let (events, link) = (&mut self.around.events, self.wires[ap as usize].direction_mut(up));
                let packet = link.arrive(now, &mut |at, e| events.at(at, Event::Wired(ap, up, e)));
                let Some(packet) = packet else { unreachable!("an event is scheduled for each packet on a wire") };
                self.wired.arrived += 1;
                if up {
                    self.beyond_the_wire(now, packet);
                } else if let Some(packet) = self.at_access_point(now, NodeId(ap), packet) {
                    self.medium.enqueue(now, NodeId(ap), packet, &mut self.around);
                    self.empty_inbox(now);
                }
            }
            Event::ServerTransmitterFree(ap) => {
                self.wires[ap as usize].is_awaited = false;
                self.feed_wire(now, NodeId(ap));
            }
            Event::DetourEnds(flow, up) => match self.detours[flow.index()].leave(up) {
                Some(packet) if up => self.arrive(now, packet),
                Some(packet) => self.send_wired(now, packet),
                None => unreachable!("an event is scheduled for each packet on a detour"),
            },
            Event::Enters(place) => {
                match self.announced.take(place).expect("an event is scheduled for each packet announced") {
                    Entry::Packet(packet, door) => self.enter(now, packet, door),
                    Entry::Group(node, frame) => self.medium.send_to_all(now, node, frame, &mut self.around),
                }
                self.empty_inbox(now);
            }
            Event::Host(event) => {
                let (hosts, mut at) = self.around.call(now);
                hosts.handle(event, &mut at);
                self.serve(now);
            }
            Event::Alarm(_) => unreachable!("alarms are for the driver"),
        }
        self.resume(now);
    }

    /// Lets hosts do what had to wait until the event was otherwise complete.
    #[inline(always)]
    fn resume(&mut self, now: Time) {
        while self.around.hosts.resume() {
            self.serve(now);
        }
    }

    /// Carries out the orders of the hosts that were called.
    fn serve(&mut self, now: Time) {
        loop {
            let (hosts, mut at) = self.around.call(now);
            match hosts.next(&mut at) {
                Some(Order::Send(packet)) => self.send(now, packet),
                Some(Order::Offer { station, tid }) => self.medium.offer(now, station, tid, &mut self.around),
                Some(Order::Feed { ap }) => self.feed_wire(now, ap),
                None => return,
            }
        }
    }

    /// Sends a packet of a host.
    fn send(&mut self, now: Time, packet: Packet<B>) {
        if packet.meta.up {
            let station = packet.meta.station;
            self.medium.enqueue(now, station, packet, &mut self.around);
        } else {
            self.beyond_the_wire(now, packet);
        }
    }

    /// Lets an announced packet enter.
    fn enter(&mut self, now: Time, mut packet: Packet<B>, door: Door) {
        let (hosts, mut at) = self.around.call(now);
        hosts.enters(&mut packet, &mut at);
        let PacketMeta { station, up, .. } = packet.meta;
        match door {
            Door::Host => self.send(now, packet),
            Door::Radio => {
                let node = if up { station } else { self.homes[station.index()] };
                self.medium.enqueue(now, node, packet, &mut self.around);
            }
            Door::Wire => self.send_wired(now, packet),
        }
    }

    #[inline(always)]
    fn at_access_point(&mut self, now: Time, ap: NodeId, packet: Packet<B>) -> Option<Packet<B>> {
        let (hosts, mut at) = self.around.call(now);
        hosts.at_access_point(ap, packet, &mut at)
    }

    fn empty_inbox(&mut self, now: Time) {
        while let Some((node, packet)) = self.around.inbox.pop() {
            if node.index() < self.wires.len() {
                if let Some(packet) = self.at_access_point(now, node, packet) {
                    self.send_wired(now, packet);
                }
            } else {
                self.arrive(now, packet);
            }
        }
    }

    /// Delivers a packet to the host at its end.
    fn arrive(&mut self, now: Time, packet: Packet<B>) {
        let (hosts, mut at) = self.around.call(now);
        hosts.arrive(packet, &mut at);
        self.serve(now);
    }

    /// Takes a packet from or to the server over the detour of its flow, if the detour has a delay.
    #[inline(always)]
    fn beyond_the_wire(&mut self, now: Time, packet: Packet<B>) {
        let PacketMeta { flow, up, .. } = packet.meta;
        let detour = &mut self.detours[flow.index()];
        if detour.delay > Duration::ZERO {
            self.around.events.after(detour.delay, Event::DetourEnds(flow, up));
            detour.enter(packet);
        } else if up {
            self.arrive(now, packet);
        } else {
            self.send_wired(now, packet);
        }
    }

    fn send_wired(&mut self, now: Time, packet: Packet<B>) {
        self.wired.sent += 1;
        let PacketMeta { flow, up, station, .. } = packet.meta;
        let ap = self.homes[station.index()];
        self.around.tell(now, Step::WireEnters { flow, up });
        self.around.observer.detail(now, packet.meta.passes(Passage::WireIn, ap));
        let before = self.under_way(ap, up);
        let (events, link) = (&mut self.around.events, self.wires[ap.index()].direction_mut(up));
        link.send(now, packet, &mut self.dropped, &mut |at, e| events.at(at, Event::Wired(ap.0, up, e)));
        let marks = link.new_marks();
        self.book_wired(now, ap, up, marks);
        self.tell_departures(now, ap, up, before);
    }

    /// Starts the next transmission on a wired link that is free.
    #[inline(always)]
    fn transmitter_is_free(&mut self, now: Time, ap: u32, up: bool) {
        let node = NodeId(ap);
        let before = self.under_way(node, up);
        let (events, link) = (&mut self.around.events, self.wires[ap as usize].direction_mut(up));
        let schedule = &mut |at, e| events.at(at, Event::Wired(ap, up, e));
        link.handle(now, WiredEvent::TransmitterFree, &mut self.dropped, schedule);
        let marks = link.new_marks();
        self.book_wired(now, node, up, marks);
        self.tell_departures(now, node, up, before);
    }

    /// Number of packets that a wired link is transmitting or that are on the way, if an observer reads it.
    #[inline(always)]
    fn under_way(&self, ap: NodeId, up: bool) -> usize {
        if !O::READS_STEPS && !O::READS_DETAILS {
            return 0;
        }
        self.wires[ap.index()].direction(up).under_way()
    }

    /// Reports the packets that a wired link has begun to transmit, if more are under way than `before`.
    #[inline(always)]
    fn tell_departures(&mut self, now: Time, ap: NodeId, up: bool, before: usize) {
        if !O::READS_STEPS && !O::READS_DETAILS {
            return;
        }
        for meta in self.wires[ap.index()].direction(up).under_way_after(before) {
            self.around.observer.observe(now, Record::Step(Step::WireTaken { flow: meta.flow, up }));
            self.around.observer.detail(now, meta.passes(Passage::WireOut, ap));
        }
    }

    /// Reports the drops and marks of the queue of a wired link since the last call.
    #[inline(always)]
    fn book_wired(&mut self, now: Time, ap: NodeId, up: bool, marks: u64) {
        if marks > 0 || !self.dropped.is_empty() {
            self.report_wired(now, ap, up, marks);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_wired(&mut self, now: Time, ap: NodeId, up: bool, marks: u64) {
        let layer = if up { QueueLayer::WiredUp } else { QueueLayer::WiredDown };
        for (packet, reason) in self.dropped.drain(..) {
            self.wired.dropped += 1;
            self.around.observer.observe(now, packet.meta.dropped(ap, layer, reason));
            self.around.hosts.discarded(packet);
        }
        if marks > 0 {
            self.around.observer.observe(now, Record::Marked { node: ap, layer, count: marks });
        }
    }

    /// Lets a saturated source behind an AP send if the wire is free; otherwise it waits.
    fn feed_wire(&mut self, now: Time, ap: NodeId) {
        if self.wires[ap.index()].down.is_free(now) {
            if !self.wires[ap.index()].feeds_on(now) {
                return;
            }
            let (hosts, mut at) = self.around.call(now);
            let Some(packet) = hosts.feed(ap, &mut at) else { return };
            self.send_wired(now, packet);
        }
        let wires = &mut self.wires[ap.index()];
        if !wires.is_awaited {
            wires.is_awaited = true;
            // The packet may be lost before it reaches the wire, which is then still free.
            self.around.events.at(wires.down.free_at(now), Event::ServerTransmitterFree(ap.0));
        }
    }

    /// Returns whether the queue of `station` pulls data from the hosts when it has room.
    pub fn is_backpressured(&self, station: NodeId) -> bool {
        self.medium.is_backpressured(station)
    }
}
