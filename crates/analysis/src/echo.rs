//! Echoes: datagrams that a peer sends back, such as pings. Requests and their answers.
//!
//! An answer has the length and the first bytes of its request, and answers come in the order of requests. Zeros, and
//! payloads that were cut off, show lengths and order alone: then most requests must have an answer, one for one. The streams
//! of a call have contents of their own. Round trips are known if no two requests with the same content wait at once: an
//! answer would belong to either.
//!
//! ```text
//! requests   a    b    c              open: c
//! answers         a    b              an answer drops the requests before its own
//! ```

use std::collections::VecDeque;

/// Requests that may await their answers.
const MOST_OPEN: usize = 256;
/// More answers than these change no verdict.
const ENOUGH: u32 = 1_000;
/// Bytes of a payload that are compared.
const COMPARED: usize = 16;

/// The length of a datagram's payload, and its first bytes; zero if they are zeros or were cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    bytes: u32,
    first: u128,
}

impl Content {
    /// The content of a payload with `bytes` bytes, as far as it was captured.
    pub(crate) fn of(captured: &[u8], bytes: u32) -> Content {
        let compared = COMPARED.min(bytes as usize);
        let mut first = [0; COMPARED];
        if let Some(captured) = captured.get(..compared) {
            first[..compared].copy_from_slice(captured);
        }
        Content { bytes, first: u128::from_le_bytes(first) }
    }

    pub(crate) fn bytes(self) -> u32 {
        self.bytes
    }
}

/// Requests that await their answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(VecDeque<(Content, i64)>);

impl Requests {
    /// A request passes at `at_ns`. Returns whether an older one is given up.
    pub(crate) fn sent(&mut self, at_ns: i64, content: Content) -> bool {
        let is_full = self.0.len() == MOST_OPEN;
        if is_full {
            self.0.pop_front();
        }
        self.0.push_back((content, at_ns));
        is_full
    }

    /// Perhaps an answer passes. Returns the time since its request, and the number of requests before that without one.
    pub(crate) fn answered(&mut self, at_ns: i64, content: Content) -> Option<(i64, usize)> {
        let place = self.0.iter().position(|(request, _)| *request == content)?;
        let (_, sent_ns) = self.0.drain(..=place).next_back()?;
        Some((at_ns - sent_ns, place))
    }

    /// Whether a request with this content waits.
    fn has(&self, content: Content) -> bool {
        self.0.iter().any(|(request, _)| *request == content)
    }

    /// Requests before `until_ns`.
    fn before(&self, until_ns: i64) -> usize {
        self.0.iter().filter(|(_, sent_ns)| *sent_ns < until_ns).count()
    }
}

/// Requests in one way of a connection, and answers in the other.
#[derive(Clone, Debug, Default)]
struct Side {
    open: Requests,
    answered: u32,
    /// those with a content
    answered_with_content: u32,
    unanswered: u32,
    /// datagrams that answer no request
    others: u32,
    longest_ns: i64,
    /// two requests with the same content have waited at once
    are_alike: bool,
}

impl Side {
    fn sent(&mut self, at_ns: i64, content: Content) {
        self.are_alike |= self.open.has(content);
        self.unanswered += u32::from(self.open.sent(at_ns, content));
    }

    fn answered(&mut self, at_ns: i64, content: Content) {
        let Some((took_ns, unanswered)) = self.open.answered(at_ns, content) else {
            self.others += 1;
            return;
        };
        self.answered += 1;
        self.answered_with_content += u32::from(content.first != 0);
        self.unanswered += unanswered as u32;
        self.longest_ns = self.longest_ns.max(took_ns);
    }

    /// Whether its requests are echoed; the latest datagram passed at `latest_ns`.
    fn is_echoed(&self, latest_ns: i64) -> bool {
        // Sniffers miss requests, and networks copy datagrams.
        let are_answers = self.answered > 0 && self.others * 3 <= self.answered;
        let under_way = latest_ns.saturating_sub(self.longest_ns);
        let unanswered = self.unanswered + self.open.before(under_way) as u32;
        let has_content = self.answered_with_content * 2 > self.answered;
        are_answers && (has_content || unanswered * 2 <= self.answered)
    }
}

/// A connection whose datagrams come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    /// the way of the requests
    pub requests: usize,
    /// whether each answer belongs to one request
    pub has_round_trips: bool,
}

/// A file, and whether the packet was of its air.
type Place = (usize, bool);

/// The frame of a datagram on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// sequence number
    pub number: u16,
    pub is_retry: bool,
}

/// Learns whether one way of a connection answers the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct EchoLearner {
    /// the place of its first datagram, and its way
    first: Option<(Place, usize)>,
    latest_ns: i64,
    /// by way: the sequence number of the latest frame
    latest_numbers: [Option<u16>; 2],
    /// by the way of the requests
    sides: [Side; 2],
}

impl EchoLearner {
    /// A datagram passes in a way, on the air in a frame.
    pub(crate) fn pass(&mut self, place: Place, at_ns: i64, way: usize, content: Content, frame: Option<Numbered>) {
        let first = *self.first.get_or_insert((place, way));
        if first.0 != place || self.sides.iter().any(|side| side.answered + side.others >= ENOUGH) {
            return;
        }
        let before = frame.and_then(|frame| self.latest_numbers[way].replace(frame.number));
        if frame.is_some_and(|frame| frame.is_retry && before == Some(frame.number)) {
            // It was heard before.
            return;
        }
        self.latest_ns = at_ns;
        self.sides[way].sent(at_ns, content);
        self.sides[1 - way].answered(at_ns, content);
    }

    /// The requests, if the other way echoes them.
    pub(crate) fn echo(&self) -> Option<Echo> {
        let (_, first) = self.first?;
        let requests = [first, 1 - first].into_iter().find(|way| self.sides[*way].is_echoed(self.latest_ns))?;
        Some(Echo { requests, has_round_trips: !self.sides[requests].are_alike })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn content(number: u32, bytes: u32) -> Content {
        Content::of(&[&number.to_be_bytes()[..], &[7; 12]].concat(), bytes)
    }

    /// Datagrams of way, milliseconds and content, in the order of time.
    fn verdict(mut datagrams: Vec<(usize, i64, Content)>) -> Option<usize> {
        datagrams.sort_by_key(|(_, at, _)| *at);
        let mut learner = EchoLearner::default();
        datagrams.into_iter().for_each(|(way, at, content)| learner.pass((0, false), at * MS, way, content, None));
        learner.echo().map(|echo| echo.requests)
    }

    #[test]
    fn echo_returns_requests_also_if_most_are_lost() {
        let ping = |number: i64| (1, 100 * number, content(number as u32, 64));
        let answer = |number: i64| (0, 100 * number + 250, content(number as u32, 64));
        assert_eq!(verdict((0..20).map(ping).chain((0..20).map(answer)).collect()), Some(1));
        assert_eq!(verdict((0..20).map(ping).chain((0..20).step_by(5).map(answer)).collect()), Some(1));
        // The capture begins with an answer.
        assert_eq!(verdict((1..20).map(ping).chain((0..20).map(answer)).collect()), Some(1));
    }

    #[test]
    fn call_is_no_echo_though_its_streams_have_one_size_and_one_pace() {
        let up = (0..200).map(|number| (0, 20 * i64::from(number), content(number, 172)));
        let down = (0..200).map(|number| (1, 20 * i64::from(number) + 7, content(90_000 + number, 172)));
        assert_eq!(verdict(up.chain(down).collect()), None);
    }

    #[test]
    fn zeros_are_an_echo_if_lengths_and_order_agree_one_for_one() {
        let zeros = |bytes| Content::of(&[0; 16], bytes);
        let of_sizes = |size: fn(i64) -> u32, back: fn(i64) -> u32, answers: i64| {
            let up = (0..30).map(|number| (0, 100 * number, zeros(size(number))));
            let down = (0..answers).map(|number| (1, 100 * number + 40, zeros(back(number))));
            verdict(up.chain(down).collect())
        };
        assert_eq!(of_sizes(|n| 100 + n as u32 % 7, |n| 100 + n as u32 % 7, 30), Some(0));
        assert_eq!(of_sizes(|n| 100 + n as u32 % 7, |n| 100 + n as u32 * 3 % 7, 30), None);
        // One of three is answered.
        assert_eq!(of_sizes(|_| 100, |_| 100, 10), None);
        assert_eq!(of_sizes(|_| 100, |_| 100, 25), Some(0));
    }

    #[test]
    fn frame_that_is_sent_again_counts_once_also_if_its_first_attempt_was_damaged() {
        // Only the second attempt of each second request is heard, and both attempts of the other requests.
        let (mut learner, zeros) = (EchoLearner::default(), Content::of(&[0; 16], 56));
        let mut pass = |at, way, number, is_retry| {
            learner.pass((0, true), at * MS, way, zeros, Some(Numbered { number, is_retry }));
        };
        for number in 0..8 {
            let at = 200 * i64::from(number);
            if number % 2 == 0 {
                pass(at, 0, number, false);
            }
            pass(at + 3, 0, number, true);
            pass(at + 60, 1, 100 + number, false);
        }
        assert_eq!(learner.echo(), Some(Echo { requests: 0, has_round_trips: true }));
        assert_eq!((learner.sides[0].answered, learner.sides[0].others), (8, 0));
    }

    #[test]
    fn equal_requests_that_wait_at_once_have_no_round_trips() {
        let zeros = |_| Content::of(&[0; 16], 56);
        let echo = |lost: i64, number: fn(u32) -> Content| {
            let mut learner = EchoLearner::default();
            for n in 0..20 {
                learner.pass((0, false), 200 * n * MS, 0, number(n as u32), None);
                if n != lost {
                    learner.pass((0, false), (200 * n + 50) * MS, 1, number(n as u32), None);
                }
            }
            learner.echo().map(|echo| echo.has_round_trips)
        };
        assert_eq!((echo(-1, zeros), echo(7, zeros)), (Some(true), Some(false)));
        assert_eq!(echo(7, |n| content(n, 64)), Some(true));
    }

    #[test]
    fn payloads_that_were_cut_off_have_no_content() {
        assert_eq!(Content::of(&[1, 2, 3], 20).first, 0);
        assert_ne!(Content::of(&[1, 2, 3], 3).first, 0);
        assert_eq!(Content::of(&[1; 20], 20), Content::of(&[1; 16], 20));
    }
}
