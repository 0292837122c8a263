//! The QUIC connections of a flow. Each request has a stream of its own, on which its answer comes back.

use lasthop_quic::{Pair, Role, StreamPlace, Way};
use lasthop_units::Time;

use super::driver::Exchanges;
use crate::traffic::web;

/// A connection, and the answers to its requests.
struct Line {
    number: u32,
    /// bytes of each answer, by the place of its stream
    answers: Vec<u64>,
    unanswered: usize,
}

/// The connections of a flow, with both of their ends.
pub(super) struct Lines {
    pub(super) pair: Pair,
    lines: Vec<Line>,
    /// most unanswered requests of a connection
    requests: usize,
    /// the number of the newest connection
    pub(super) newest: u32,
    /// bytes of all answers that were written
    pub(super) written: u64,
}

impl Lines {
    /// No connections yet, each with at most so many requests at a time.
    pub(super) fn new(pair: Pair, requests: Option<u32>) -> Lines {
        let requests = requests.map_or(usize::MAX, |most| most as usize);
        Lines { pair, lines: Vec::new(), requests, newest: 0, written: 0 }
    }

    fn line(&mut self, number: u32) -> Option<&mut Line> {
        self.lines.iter_mut().find(|line| line.number == number)
    }

    /// The client opens a connection for data of its own.
    pub(super) fn open_plain(&mut self, now: Time) -> u32 {
        self.newest = self.pair.open(now);
        self.newest
    }

    /// The server has the whole request of a stream, and answers.
    pub(super) fn answer(&mut self, stream: StreamPlace) {
        let promised = self.line(stream.connection).and_then(|line| line.answers.get(stream.index as usize).copied());
        if let Some(bytes) = promised {
            self.written += bytes;
            self.pair.answer(stream, bytes);
        }
    }

    /// An answer has arrived in full. Returns its size.
    pub(super) fn complete(&mut self, stream: StreamPlace) -> Option<u64> {
        let line = self.line(stream.connection)?;
        line.unanswered -= 1;
        line.answers.get(stream.index as usize).copied()
    }

    /// Forgets a connection that is lost; true if it was in use.
    pub(super) fn lose(&mut self, number: u32) -> bool {
        let before = self.lines.len();
        self.lines.retain(|line| line.number != number);
        self.lines.len() < before
    }

    /// Whether some request has no answer.
    pub(super) fn awaits_answers(&self) -> bool {
        self.lines.iter().any(|line| line.unanswered > 0)
    }
}

impl Exchanges for Lines {
    /// Objects at once over one connection. [RFC 9114 §4.1]
    fn limits(&self, _: &web::Params) -> (usize, usize) {
        (1, self.requests)
    }

    fn idlest(&self) -> Option<(u32, usize)> {
        let unanswered = self.lines.iter().map(|line| (line.number, line.unanswered));
        unanswered.min_by_key(|&(number, unanswered)| (unanswered, number))
    }

    fn open_connections(&self) -> usize {
        self.lines.len()
    }

    fn open(&mut self, now: Time) -> u32 {
        let number = self.open_plain(now);
        self.lines.push(Line { number, answers: Vec::new(), unanswered: 0 });
        number
    }

    fn ask(&mut self, number: u32, request: u64, answer: u64) {
        let Some(line) = self.line(number) else { return };
        line.answers.push(answer);
        line.unanswered += 1;
        self.pair.write_stream(number, Way::Both, Some(request));
    }

    fn close_all(&mut self, now: Time) {
        for line in std::mem::take(&mut self.lines) {
            self.pair.close(now, Role::Client, line.number);
        }
    }
}
