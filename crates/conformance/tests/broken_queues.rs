//! Each rule of queue disciplines finds a defect: a FIFO with one thing wrong.

use std::cell::Cell;
use std::collections::VecDeque;

use lasthop_conformance::queue::{Candidate, RULES, suite};
use lasthop_link::{Drop, Packet, QueueDiscipline, Wanted};
use lasthop_observe::{DropReason, NodeId};
use lasthop_units::{Ecn, Time};

/// The defect.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    LastInFirstOut,
    LosesEachHundredth,
    CountsOneAckTooMany,
    MarksWhatIsNotCapable,
    GivesTheFirstToAnyone,
    FindsTheFirstOnly,
    FiltersData,
    HoldsTheLastPacket,
    NamesAStranger,
    InventsAPacket,
    NeverFills,
    FullAt(usize),
}

struct Broken {
    waiting: VecDeque<Packet<u64>>,
    came: u64,
    defect: Defect,
}

impl Broken {
    fn limit(&self) -> usize {
        match self.defect {
            Defect::NeverFills => usize::MAX,
            Defect::FullAt(packets) => packets,
            _ => 100,
        }
    }
}

impl QueueDiscipline<u64> for Broken {
    fn enqueue(&mut self, _now: Time, mut packet: Packet<u64>, dropped: &mut Vec<Drop<u64>>) {
        self.came += 1;
        if self.waiting.len() >= self.limit() {
            let is_data = self.defect == Defect::FiltersData && !packet.meta.pure_ack;
            dropped.push((packet, if is_data { DropReason::AckFiltered } else { DropReason::QueueFull }));
            return;
        }
        match self.defect {
            Defect::LosesEachHundredth if self.came.is_multiple_of(100) => return,
            Defect::MarksWhatIsNotCapable => packet.meta.ecn = Ecn::Ce,
            _ => {}
        }
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, _now: Time, wanted: Wanted, _dropped: &mut Vec<Drop<u64>>) -> Option<Packet<u64>> {
        match self.defect {
            Defect::LastInFirstOut => {
                let place = self.waiting.iter().rposition(|packet| wanted.includes(&packet.meta))?;
                self.waiting.remove(place)
            }
            Defect::GivesTheFirstToAnyone => self.waiting.pop_front(),
            Defect::FindsTheFirstOnly if !wanted.includes(&self.waiting.front()?.meta) => None,
            Defect::HoldsTheLastPacket if self.waiting.len() == 1 => None,
            Defect::InventsAPacket if self.waiting.is_empty() => {
                let plain = lasthop_link::PacketMeta::plain(lasthop_observe::FlowId(0), NodeId(1), false, 1500);
                Some(Packet::new(plain, u64::MAX))
            }
            _ => {
                let place = self.waiting.iter().position(|packet| wanted.includes(&packet.meta))?;
                self.waiting.remove(place)
            }
        }
    }

    fn packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn tcp_acks(&self) -> u32 {
        let acks = self.waiting.iter().filter(|packet| packet.meta.pure_ack).count() as u32;
        acks + u32::from(self.defect == Defect::CountsOneAckTooMany && acks > 0)
    }

    fn has_room(&self, _bytes: u32) -> bool {
        self.waiting.len() < self.limit()
    }

    fn next_station(&mut self, _now: Time, retrying: &[NodeId]) -> Option<NodeId> {
        if self.defect == Defect::NamesAStranger { Some(NodeId(99)) } else { retrying.first().copied() }
    }
}

fn broken(defect: Defect) -> impl Fn(u64) -> Box<dyn QueueDiscipline<u64>> {
    move |_| Box::new(Broken { waiting: VecDeque::new(), came: 0, defect })
}

/// The failure that the rule reports for the defect.
fn found(rule_name: &str, defect: Defect) -> String {
    let build = broken(defect);
    let candidate = Candidate::new("broken", &build);
    let rule = RULES.iter().find(|rule| rule.name == rule_name).expect("a rule of that name");
    let failure = (rule.test)(&candidate, rule.seeds.clone()).expect_err(rule_name);
    assert_eq!((failure.subject.as_str(), failure.rule), ("broken", rule_name));
    assert!(failure.command.contains(&format!("{rule_name}(&candidate, {0}..{0} + 1)", failure.seed)), "{failure}");
    assert_eq!((rule.test)(&candidate, failure.seed..failure.seed + 1), Err(failure.clone()), "seen again");
    failure.found
}

#[test]
fn a_plain_fifo_breaks_nothing() {
    let build = broken(Defect::None);
    assert_eq!(suite(&Candidate::new("fifo", &build)), []);
}

#[test]
fn defects_of_counting_are_found() {
    let conserved = |defect| found("packets_are_conserved_and_counted", defect);
    // The hundredth packet is number 99, after 99 others.
    assert!(conserved(Defect::LosesEachHundredth).starts_with("after packet 99: it counts "));
    assert!(conserved(Defect::CountsOneAckTooMany).contains("pure ACKs"));
    assert!(conserved(Defect::MarksWhatIsNotCapable).contains("leaves with Ce"));
    assert!(conserved(Defect::HoldsTheLastPacket).contains("1 packets wait and are never handed out"));
    assert!(conserved(Defect::GivesTheFirstToAnyone).contains(" for Wanted"));
    assert!(conserved(Defect::NeverFills).starts_with("it drops nothing"));
}

#[test]
fn a_stack_is_no_queue() {
    let found = found("a_flow_keeps_its_order", Defect::LastInFirstOut);
    assert!(found.starts_with("packet ") && found.contains(" leaves before packet "), "{found}");
}

#[test]
fn the_others_are_found_by_one_rule_each() {
    assert!(found("whoever_is_asked_for_is_found", Defect::FindsTheFirstOnly).contains("waits"));
    assert!(found("only_pure_acks_are_filtered", Defect::FiltersData).contains("is not a pure ACK"));
    assert!(found("whoever_has_the_turn_has_something_to_send", Defect::NamesAStranger).contains("NodeId(99)"));
    assert!(found("an_empty_queue_gives_nothing", Defect::InventsAPacket).contains("never came"));
}

#[test]
fn queue_that_counts_queues_is_not_repeatable() {
    let count = Cell::new(0);
    let build = |seed| {
        count.set(count.get() + 1);
        broken(Defect::FullAt(50 + count.get()))(seed)
    };
    let candidate = Candidate::new("counting", &build);
    let rule = RULES.iter().find(|rule| rule.name == "the_same_packets_have_the_same_fate").expect("a rule");
    assert!((rule.test)(&candidate, 3..4).is_err());
}
