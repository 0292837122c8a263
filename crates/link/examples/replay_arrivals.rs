//! Replays arrivals through a queue discipline that a token bucket serves, as `tc` serves the child of its `tbf`.
//!
//! `cargo run -p lasthop-link --example replay_arrivals -- RATE BURST SEED NAME [KEY=VALUE…] < ARRIVALS`. A line of the
//! input is `NANOSECONDS FLOW BYTES [HOST DSCP]` of one packet, in order of time, with the size of its IP packet; without a
//! host each flow has its own. A discipline with a shaper needs no bucket: RATE is then `unlimited`. The output has a
//! line for each packet that left or was dropped: its number from 0, the time in nanoseconds, and `sent` or `dropped`.
//! Packets that wait at the end have none. Each packet costs the bucket 14 B more, for the Ethernet header.

use std::error::Error;
use std::io::{BufWriter, Read, Write, stdin, stdout};

use lasthop_engine::Stream;
use lasthop_link::{Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{FlowId, NodeId};
use lasthop_registry::{Parameter, Value};
use lasthop_units::{Bytes, DataRate, Duration, Time};

const ETHERNET_HEADER: u64 = 14;

/// A packet's number among the arrivals.
type Number = usize;

/// The fate of a packet.
#[derive(Debug, PartialEq)]
enum Fate {
    Sent,
    Dropped,
}

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    flow: FlowId,
    bytes: u32,
    host: u32,
    dscp: u8,
}

/// At most `burst` tokens, which grow at a rate; counted in time.
struct Bucket {
    rate: DataRate,
    burst: Duration,
    tokens: Duration,
    counted_at: Time,
}

impl Bucket {
    fn full(rate: DataRate, burst: Bytes) -> Bucket {
        let burst = rate.time_for(burst);
        Bucket { rate, burst, tokens: burst, counted_at: Time::ZERO }
    }

    fn cost(&self, packet: &PacketMeta) -> Duration {
        self.rate.time_for(Bytes(u64::from(packet.bytes) + ETHERNET_HEADER))
    }

    /// The time from which on there are tokens for a packet, `now` or later.
    fn ready(&self, now: Time, packet: &PacketMeta) -> Time {
        now + self.cost(packet).saturating_sub(self.at(now))
    }

    fn at(&self, now: Time) -> Duration {
        (self.tokens + now.since(self.counted_at)).min(self.burst)
    }

    fn pay(&mut self, now: Time, packet: &PacketMeta) {
        self.tokens = self.at(now).saturating_sub(self.cost(packet));
        self.counted_at = now;
    }
}

/// A discipline, and the packet that was taken out of it and waits for tokens.
struct Bottleneck {
    queue: Box<dyn QueueDiscipline<Number>>,
    /// absent if the discipline shapes by itself
    bucket: Option<Bucket>,
    held: Option<Packet<Number>>,
}

impl Bottleneck {
    /// Sends packets for which there are tokens up to `until`, each at its own time.
    fn serve(&mut self, from: Time, until: Time, tell: &mut dyn FnMut(Number, Time, Fate)) {
        let mut now = from;
        loop {
            if self.held.is_none() {
                let opens = self.queue.ready_at().map_or(now, |at| at.max(now));
                if opens > until {
                    return;
                }
                now = opens;
                let mut dropped = Vec::new();
                self.held = self.queue.dequeue(now, Wanted::ANY, &mut dropped);
                dropped.into_iter().for_each(|(packet, _)| tell(packet.body, now, Fate::Dropped));
            }
            let Some(packet) = &self.held else { return };
            if let Some(bucket) = &mut self.bucket {
                let ready = bucket.ready(now, &packet.meta);
                if ready > until {
                    return;
                }
                now = ready;
                bucket.pay(now, &packet.meta);
            }
            tell(packet.body, now, Fate::Sent);
            self.queue.on_done(now, &packet.meta);
            self.held = None;
        }
    }

    fn enqueue(&mut self, now: Time, packet: Packet<Number>, tell: &mut dyn FnMut(Number, Time, Fate)) {
        let mut dropped = Vec::new();
        self.queue.enqueue(now, packet, &mut dropped);
        dropped.into_iter().for_each(|(packet, _)| tell(packet.body, now, Fate::Dropped));
    }
}

/// Hands the arrivals to a bottleneck and serves it up to the last of them; returns the fate of each packet, in order
/// of time.
fn replay(mut bottleneck: Bottleneck, arrivals: &[Arrival]) -> Vec<(Number, Time, Fate)> {
    let mut fates = Vec::new();
    let mut tell = |number, at, fate| fates.push((number, at, fate));
    let mut before = Time::ZERO;
    for (number, &Arrival { at, flow, bytes, host, dscp }) in arrivals.iter().enumerate() {
        bottleneck.serve(before, at, &mut tell);
        let meta = PacketMeta { enqueued_at: at, dscp, ..PacketMeta::plain(flow, NodeId(host), false, bytes) };
        bottleneck.enqueue(at, Packet::new(meta, number), &mut tell);
        bottleneck.serve(at, at, &mut tell);
        before = at;
    }
    fates
}

/// A table of parameters from the command line.
fn discipline(name: &str, settings: &[String]) -> Result<QueueDisciplineKind, Box<dyn Error>> {
    let mut table = vec![("kind".to_string(), Value::text(name))];
    for setting in settings {
        let (key, text) = setting.split_once('=').ok_or_else(|| format!("{setting}: write KEY=VALUE"))?;
        let value = match (text.parse(), text.parse(), text.parse()) {
            (Ok(whole), _, _) => Value::Integer(whole),
            (_, Ok(number), _) => Value::Float(number),
            (_, _, Ok(word)) => Value::Bool(word),
            _ => Value::text(text),
        };
        table.push((key.to_string(), value));
    }
    Ok(QueueDisciplineKind::parse(&Value::Table(table), "queue")?)
}

fn arrival(line: &str) -> Result<Arrival, Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (at, flow, bytes, host, dscp) = match words[..] {
        [at, flow, bytes] => (at, flow, bytes, flow, "0"),
        [at, flow, bytes, host, dscp] => (at, flow, bytes, host, dscp),
        _ => return Err(format!("{line:?}: a line is NANOSECONDS FLOW BYTES [HOST DSCP]").into()),
    };
    let (at, flow) = (Time::from_nanos(at.parse()?), FlowId(flow.parse()?));
    Ok(Arrival { at, flow, bytes: bytes.parse()?, host: host.parse()?, dscp: dscp.parse()? })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rate, burst, seed, name, settings @ ..] = &arguments[..] else {
        return Err("say RATE BURST SEED NAME [KEY=VALUE…]".into());
    };
    let queue = discipline(name, settings)?.build(Stream::new(seed.parse()?, "queue", 0));
    let bucket = if rate == "unlimited" { None } else { Some(Bucket::full(rate.parse()?, burst.parse()?)) };
    let bottleneck = Bottleneck { queue, bucket, held: None };
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let arrivals = text.lines().map(arrival).collect::<Result<Vec<_>, _>>()?;
    let mut out = BufWriter::new(stdout().lock());
    for (number, at, fate) in replay(bottleneck, &arrivals) {
        writeln!(out, "{number} {} {}", at.as_nanos(), if fate == Fate::Sent { "sent" } else { "dropped" })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bottleneck(settings: &[String]) -> Bottleneck {
        let queue = discipline("fifo", settings).unwrap().build(Stream::new(1, "queue", 0));
        // 1500 B and a header take 1.514 ms.
        let bucket = Bucket::full(DataRate::from_bps(8_000_000), Bytes(1514));
        Bottleneck { queue, bucket: Some(bucket), held: None }
    }

    fn at(nanoseconds: u64) -> Arrival {
        Arrival { at: Time::from_nanos(nanoseconds), flow: FlowId(0), bytes: 1500, host: 0, dscp: 0 }
    }

    #[test]
    fn a_full_bucket_sends_at_once_and_then_at_its_rate() {
        let (arrivals, ns) = ([at(5), at(5), at(4_000_000)], Time::from_nanos);
        let sent = [(0, ns(5), Fate::Sent), (1, ns(1_514_005), Fate::Sent), (2, ns(4_000_000), Fate::Sent)];
        assert_eq!(replay(bottleneck(&[]), &arrivals), sent);
    }

    /// One packet waits for tokens, one in the queue, and the queue has room for no other.
    #[test]
    fn packet_that_waits_for_tokens_has_left_the_queue() {
        let arrivals: Vec<_> = (0..4).map(|_| at(0)).collect();
        let fates = replay(bottleneck(&["limit=1 packets".to_string()]), &arrivals);
        assert_eq!(fates, [(0, Time::ZERO, Fate::Sent), (3, Time::ZERO, Fate::Dropped)]);
    }
}
