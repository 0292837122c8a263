//! The path and the receiver alone, with the segments of every recording: they must answer as recorded.
#![cfg(test)]

use std::io::Read as _;

use lasthop_units::{Duration, Time};

use crate::recovery::host::Host;
use crate::recovery::path::{Fate, Path};
use crate::recovery::receiver::{Answer, Arrival, Receiver};
use crate::recovery::row::{Ack, Happening};
use crate::recovery::trace::Trace;

fn recordings() -> Vec<Trace> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/vectors/recovery");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &std::path::Path) -> Trace {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    Trace::parse(&text).unwrap_or_else(|what| panic!("{}: {what}", path.display()))
}

fn at(t_ms: f64) -> Time {
    Time::from_nanos((t_ms * 1e6) as u64)
}

enum Event {
    Arrival(Arrival),
    Window(u64),
}

/// The ACKs caused by the recorded segments, with the times at which they reach the sender.
fn answers(trace: &Trace) -> Vec<(Time, Ack)> {
    let scenario = &trace.scenario;
    let mut path = Path::new(scenario);
    let mut events: Vec<(Time, Event)> =
        scenario.window_script.iter().map(|(t_ms, window)| (at(*t_ms), Event::Window(*window))).collect();
    for row in &trace.rows {
        let Happening::Out(out) = &row.happening else { continue };
        if let Fate::Arrives(time) = path.carry(at(row.t_ms), out.segment, out.transmission) {
            let arrival = Arrival {
                segment: out.segment,
                timestamp: None,
                marked: scenario.mark.contains(&(out.segment, out.transmission)),
                window_reduced: out.flags.iter().any(|flag| flag == "cwr"),
            };
            events.push((time, Event::Arrival(arrival)));
        }
    }
    events.sort_by_key(|(time, _)| *time);
    let mut receiver = Receiver::new(scenario);
    let mut answers = Vec::new();
    let mut note = |time: Time, answer: Answer| answers.push((time + scenario.rtt / 2, answer.ack));
    for (time, event) in events {
        if receiver.deadline() < time {
            let withheld = receiver.deadline();
            note(withheld, receiver.answer_now());
        }
        match event {
            Event::Window(window) => note(time, receiver.change_window(window)),
            Event::Arrival(arrival) => {
                receiver.receive(time, arrival).into_iter().for_each(|answer| note(time, answer))
            }
        }
    }
    answers
}

#[test]
fn every_ack_is_the_one_recorded_and_comes_in_time() {
    for trace in recordings() {
        let host = Host::new(trace.hz);
        let recorded = trace.rows.iter().filter_map(|row| match &row.happening {
            Happening::Ack(ack) => Some((at(row.t_ms), ack)),
            _ => None,
        });
        let answers = answers(&trace);
        assert_eq!(recorded.clone().count(), answers.len(), "{}", trace.name);
        for ((then, want), (ideal, ack)) in recorded.zip(&answers) {
            assert_eq!(want, ack, "{} at {then:?}", trace.name);
            assert!(then + host.early() >= *ideal, "{} {ack:?} {then:?} {ideal:?}", trace.name);
            assert!(then <= *ideal + host.jitter(), "{} {ack:?} {then:?} {ideal:?}", trace.name);
        }
    }
}

#[test]
fn a_handshake_takes_the_rtt_of_the_path() {
    for trace in recordings() {
        let first = trace
            .rows
            .iter()
            .find_map(|row| if let Happening::Info(info) = &row.happening { Some(info) } else { None });
        let srtt = Duration::from_nanos((first.unwrap().srtt_ms * 1e6) as u64);
        assert!(
            srtt >= trace.scenario.rtt && srtt <= trace.scenario.rtt + Host::new(trace.hz).jitter(),
            "{}",
            trace.name
        );
    }
}
