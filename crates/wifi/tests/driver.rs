//! The driver of a medium must not go back in time.

use crate::cell::{MediumConfig, config, phy};
use lasthop_engine::{Scheduler, Turn};
use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::{FlowId, NodeId, Record};
use lasthop_units::{Duration, Time};
use lasthop_wifi::{AccessCategory, Agenda, Environment, Medium, MediumEvent};

#[derive(Default)]
struct Driver {
    events: Option<Scheduler<MediumEvent>>,
    arrived: Vec<Time>,
}

impl Driver {
    fn events(&mut self) -> &mut Scheduler<MediumEvent> {
        self.events.get_or_insert_with(Scheduler::new)
    }
}

impl Agenda for Driver {
    fn schedule(&mut self, at: Time, event: MediumEvent) {
        self.events().at(at, event);
    }
    fn turn(&mut self) -> Turn {
        self.events().turn()
    }
    fn schedule_in_turn(&mut self, at: Time, turn: Turn, event: MediumEvent) {
        self.events().at_turn(at, turn, event);
    }
}

impl Environment<NodeId> for Driver {
    fn deliver(&mut self, now: Time, _: NodeId, _: Packet<NodeId>) {
        self.arrived.push(now);
    }
    fn pull(&mut self, _: Time, _: NodeId, _: Option<AccessCategory>) -> Option<Packet<NodeId>> {
        None
    }
    fn observe(&mut self, _: Time, _: Record) {}
}

fn cell_of_one() -> MediumConfig {
    config(phy("802.11b", &[1]), 1)
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Offers a packet at each of these milliseconds, before the events scheduled up to then are handled.
fn offer(medium: &mut Medium<NodeId>, driver: &mut Driver, at: &[u64]) {
    for &at in at {
        let meta = PacketMeta::plain(FlowId(0), NodeId(1), true, 1500);
        medium.enqueue(ms(at), NodeId(1), Packet::new(meta, NodeId(1)), driver);
    }
}

fn handle_all(medium: &mut Medium<NodeId>, driver: &mut Driver) {
    while let Some((now, event)) = driver.events().next_before(Time::NEVER) {
        medium.handle(now, event, driver);
    }
}

#[test]
fn a_driver_that_goes_forward_gets_its_packets() {
    let (mut medium, mut driver) = (Medium::new(cell_of_one()), Driver::default());
    offer(&mut medium, &mut driver, &[5, 5, 5]);
    handle_all(&mut medium, &mut driver);
    assert_eq!(driver.arrived.len(), 3);
}

#[test]
#[should_panic(expected = "time went back: 0.004 s after 0.005 s")]
fn a_packet_before_the_last_one_is_refused() {
    let (mut medium, mut driver) = (Medium::new(cell_of_one()), Driver::default());
    offer(&mut medium, &mut driver, &[5, 4]);
}

/// The exchange of the packet at 5 ms ends before 20 ms, but its end was not handled when the second packet came.
#[test]
#[should_panic(expected = "time went back: 0.00")]
fn a_packet_ahead_of_an_event_that_waits_is_found_when_the_event_comes() {
    let (mut medium, mut driver) = (Medium::new(cell_of_one()), Driver::default());
    offer(&mut medium, &mut driver, &[5, 20]);
    handle_all(&mut medium, &mut driver);
}
