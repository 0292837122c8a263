//! One recorded event: a segment left the sender, an ACK reached it, or its state was read.

use core::fmt;

/// The cause of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The application wrote.
    Write,
    /// The ACK of that number came in.
    Ack(u64),
    /// A timer ran out.
    Timer,
}

impl Cause {
    /// From "write", "timer" or "ackN".
    pub(crate) fn parse(word: &str) -> Option<Cause> {
        Some(match word {
            "write" => Cause::Write,
            "timer" => Cause::Timer,
            _ => Cause::Ack(word.strip_prefix("ack")?.parse().ok()?),
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Write => write!(f, "write"),
            Cause::Timer => write!(f, "timer"),
            Cause::Ack(number) => write!(f, "ack{number}"),
        }
    }
}

/// A data segment as it left the sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Out {
    /// number of the segment, from 0
    pub segment: u64,
    /// 1 for the first transmission
    pub transmission: u64,
    /// its cause
    pub cause: Cause,
    /// "dropped", "cwr", "probe", "lenN"
    pub flags: Vec<String>,
}

/// An ACK that reached the sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Ack {
    /// counts from 1
    pub number: u64,
    /// the next segment expected
    pub cumulative: u64,
    /// SACK blocks in segments: first, and one after the last
    pub blocks: Vec<(u64, u64)>,
    /// "ece", "winN"
    pub flags: Vec<String>,
}

/// The sender's report of itself, as in `tcp_info`.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// the event before the report
    pub after: Cause,
    /// "Open", "Disorder", "CWR", "Recovery", "Loss"
    pub ca_state: String,
    /// segments
    pub cwnd: u64,
    /// segments
    pub ssthresh: u64,
    /// segments
    pub unacked: u64,
    /// segments
    pub sacked: u64,
    /// segments
    pub lost: u64,
    /// segments
    pub retrans: u64,
    /// retransmission timeout in ms
    pub rto_ms: f64,
    /// smoothed RTT in ms
    pub srtt_ms: f64,
    /// doublings of the timeout
    pub backoff: u64,
    /// degree of reordering in segments
    pub reordering: u64,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// A segment left.
    Out(Out),
    /// An ACK came in.
    Ack(Ack),
    /// The state was read.
    Info(Info),
}

/// An event with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// time in ms since the first data segment
    pub t_ms: f64,
    /// the event
    pub happening: Happening,
}

fn list(f: &mut fmt::Formatter<'_>, flags: &[String]) -> fmt::Result {
    flags.iter().try_for_each(|flag| write!(f, " {flag}"))
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:9.2} ", self.t_ms)?;
        match &self.happening {
            Happening::Out(out) => {
                write!(f, "  out {} #{} ({})", out.segment, out.transmission, out.cause)?;
                list(f, &out.flags)
            }
            Happening::Ack(ack) => {
                write!(f, "ack {} cum {}", ack.number, ack.cumulative)?;
                ack.blocks.iter().try_for_each(|(left, right)| write!(f, " [{left},{right})"))?;
                list(f, &ack.flags)
            }
            Happening::Info(info) => write!(f, "  {info}"),
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ssthresh = if self.ssthresh == 0x7fff_ffff { "inf".to_string() } else { self.ssthresh.to_string() };
        write!(
            f,
            "{} cwnd {} ssthresh {ssthresh} unacked {} sacked {} lost {} retrans {} rto {:.0} srtt {:.1} backoff {} reordering {}",
            self.ca_state,
            self.cwnd,
            self.unacked,
            self.sacked,
            self.lost,
            self.retrans,
            self.rto_ms,
            self.srtt_ms,
            self.backoff,
            self.reordering
        )
    }
}
