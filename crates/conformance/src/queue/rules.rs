//! The promises of every queue discipline.

use std::ops::Range;

use lasthop_link::Wanted;
use lasthop_observe::{DropReason, FlowId, NodeId};

use super::bench::{Bench, FLOWS, Fate};
use super::candidate::{Candidate, Order};
use crate::failure::{Failure, Trial};

/// Events of a long test, and of a short one.
const LONG: u32 = 20_000;
const SHORT: u32 = 5_000;

/// Random arrivals and departures, until all have left: the fate of each packet, in order. Counts are checked at every
/// step.
fn exercise(candidate: &Candidate, trial: &Trial) -> Result<Vec<Fate>, Failure> {
    let mut bench = Bench::new(candidate, trial);
    for event in 0..LONG {
        bench.wait(2_000);
        // Arrivals outweigh departures at first, so that the queue fills; later departures do.
        if bench.random.chance(if event < LONG / 5 * 3 { 0.6 } else { 0.3 }) {
            bench.arrive()?;
        } else {
            let wanted = bench.wanted();
            bench.ask(wanted)?;
        }
        if bench.random.chance(0.5) {
            bench.done();
        }
    }
    bench.done();
    while bench.ask(Wanted::ANY)? {
        bench.done();
    }
    let (left, told) = (bench.held.len(), bench.queue.marks());
    bench.require(left == 0, || format!("{left} packets wait and are never handed out"))?;
    let marked = bench.fates.iter().filter(|fate| fate.marked).count() as u64;
    bench.require(told == marked, || format!("it counts {told} marks and has made {marked}"))?;
    Ok(bench.fates)
}

/// Packets, pure ACKs and marks are conserved and counted at every step, only capable packets are marked, a queue with
/// room accepts a packet, and one without end fills.
///
/// # Errors
/// The first failure.
pub fn packets_are_conserved_and_counted(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("packets_are_conserved_and_counted", seeds, |trial| {
        let fates = exercise(candidate, trial)?;
        let fills = fates.iter().any(|fate| fate.dropped.is_some());
        trial.require(u64::from(LONG), fills, || "it drops nothing: give it a limit that the test reaches".into())
    })
}

/// Packets of a flow leave in the order in which they came.
///
/// # Errors
/// The first failure; its step is the packet that was overtaken.
pub fn a_flow_keeps_its_order(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("a_flow_keeps_its_order", seeds, |trial| {
        let fates = exercise(candidate, trial)?;
        (0..FLOWS).flat_map(|flow| [(flow, false), (flow, true)]).try_for_each(|(flow, pure_ack)| {
            let of_kind = |fate: &Fate| candidate.order == Order::OfFlows || fate.pure_ack == pure_ack;
            let is_next = |fate: &&Fate| fate.flow == FlowId(flow) && fate.dropped.is_none() && of_kind(fate);
            let sent: Vec<u64> = fates.iter().filter(is_next).map(|fate| fate.number).collect();
            sent.windows(2).try_for_each(|pair| {
                let found = || format!("packet {} of flow {flow} leaves before packet {}", pair[0], pair[1]);
                trial.require(pair[1], pair[0] < pair[1], found)
            })
        })
    })
}

/// The same packets and the same draws have the same fate.
///
/// # Errors
/// The first failure; its step is the number of packets that had left alike.
pub fn the_same_packets_have_the_same_fate(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("the_same_packets_have_the_same_fate", seeds, |trial| {
        let (once, again) = (exercise(candidate, trial)?, exercise(candidate, trial)?);
        let alike = once.iter().zip(&again).take_while(|(one, other)| one == other).count();
        let found = || format!("{:?} and then {:?}", once.get(alike), again.get(alike));
        trial.require(alike as u64, once == again, found)
    })
}

/// An empty queue returns nothing.
///
/// # Errors
/// The first failure.
pub fn an_empty_queue_gives_nothing(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("an_empty_queue_gives_nothing", seeds, |trial| {
        let mut bench = Bench::new(candidate, trial);
        let gave = bench.ask(Wanted::ANY)?;
        bench.require(!gave && bench.fates.is_empty(), || "a packet that never came".into())
    })
}

/// A requested station is found, wherever its packets wait.
///
/// # Errors
/// The first failure.
pub fn whoever_is_asked_for_is_found(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    if !candidate.finds_wanted {
        return Ok(());
    }
    candidate.try_each("whoever_is_asked_for_is_found", seeds, |trial| {
        let mut bench = Bench::new(candidate, trial);
        for _ in 0..SHORT {
            bench.wait(500);
            if bench.random.chance(0.5) {
                bench.arrive()?;
            }
            let wanted = bench.wanted();
            if bench.random.chance(0.5) && !bench.ask(wanted)? {
                let waits = bench.held.iter().find(|(_, meta)| wanted.includes(meta)).map(|(number, _)| *number);
                bench.require(waits.is_none(), || format!("nothing for {wanted:?}, while packet {waits:?} waits"))?;
            }
            bench.done();
        }
        Ok(())
    })
}

/// The station whose turn it is has packets, and while packets await retransmission there is one.
///
/// # Errors
/// The first failure.
pub fn whoever_has_the_turn_has_something_to_send(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("whoever_has_the_turn_has_something_to_send", seeds, |trial| {
        let mut bench = Bench::new(candidate, trial);
        for _ in 0..SHORT {
            bench.wait(500);
            if bench.random.chance(0.4) {
                bench.arrive()?;
            }
            // The MAC is done with all packets except those that it wants to retransmit.
            let retrying: Vec<NodeId> = bench.with_mac.iter().take(2).map(|meta| meta.station).collect();
            let turn = bench.queue.next_station(bench.now, &retrying);
            let has = |node| retrying.contains(&node) || bench.held.values().any(|meta| meta.station == node);
            bench.require(turn.is_none_or(has), || format!("the turn of {turn:?}, which has no packets"))?;
            let goes_on = retrying.is_empty() || turn.is_some();
            bench.require(goes_on, || format!("nobody's turn, while {retrying:?} want another attempt"))?;
            bench.ask(Wanted { station: turn, tid: None })?;
            if bench.random.chance(0.5) {
                bench.done();
            }
        }
        Ok(())
    })
}

/// Only pure ACKs are dropped by an ACK filter.
///
/// # Errors
/// The first failure; its step is the packet that was dropped.
pub fn only_pure_acks_are_filtered(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("only_pure_acks_are_filtered", seeds, |trial| {
        exercise(candidate, trial)?.iter().try_for_each(|fate| {
            let holds = fate.dropped != Some(DropReason::AckFiltered) || fate.pure_ack;
            trial.require(fate.number, holds, || format!("packet {} is not a pure ACK", fate.number))
        })
    })
}
