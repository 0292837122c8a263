//! The syntax of a packet.

use crate::packetdrill::cursor::{Cursor, Parsed};
use crate::packetdrill::lexer::Kind;
use crate::packetdrill::script::{EcnMark, Packet, Tcp, TcpOption};

/// The part after `<` or `>`.
pub(crate) fn packet(cursor: &mut Cursor) -> Parsed<Packet> {
    let mut ip = IpInfo::default();
    if !FOREIGN.iter().any(|what| cursor.is_word(what)) {
        ip = ip_info(cursor)?;
    }
    if let Some(what) = FOREIGN.iter().find(|what| cursor.is_word(what)) {
        return Ok(foreign(cursor, what));
    }
    let tcp = tcp(cursor, ip.ecn)?;
    Ok(match ip.foreign {
        Some(what) => Packet::Foreign(what),
        None => Packet::Tcp(tcp),
    })
}

/// First words of packets that the simulator does not model.
const FOREIGN: [&str; 8] = ["ipv4", "ipv6", "gre", "GREv0", "mpls", "udp", "icmp", "encap"];

/// Skips the line: such a packet is the only one on it.
fn foreign(cursor: &mut Cursor, what: &str) -> Packet {
    let line = cursor.line();
    while cursor.peek().is_some() && cursor.line() == line {
        cursor.next();
    }
    Packet::Foreign(format!("{} packets", what.to_uppercase()))
}

#[derive(Default)]
struct IpInfo {
    ecn: Option<EcnMark>,
    foreign: Option<String>,
}

/// `[ect0]`, `(tos 0x4)`, `[ect0, flowlabel 0x1]`.
fn ip_info(cursor: &mut Cursor) -> Parsed<IpInfo> {
    let mut info = IpInfo::default();
    let close = match cursor.peek() {
        Some(Kind::Sign('[')) => ']',
        Some(Kind::Sign('(')) => ')',
        _ => return Ok(info),
    };
    cursor.next();
    while !cursor.takes_sign(close) {
        match cursor.word()?.as_str() {
            "noecn" => info.ecn = Some(EcnMark::Exactly(0)),
            "ect1" => info.ecn = Some(EcnMark::Exactly(1)),
            "ect0" => info.ecn = Some(EcnMark::Exactly(2)),
            "ce" => info.ecn = Some(EcnMark::Exactly(3)),
            "ect01" => info.ecn = Some(EcnMark::EitherEct),
            "tos" => {
                let tos: u8 = cursor.number("tos")?;
                info.ecn = Some(EcnMark::Exactly(tos & 3));
                if tos & !3 != 0 {
                    info.foreign = Some(format!("DSCP (tos {tos:#x})"));
                }
            }
            other @ ("flowlabel" | "ttl") => {
                cursor.int()?;
                info.foreign = Some(format!("{other} of the IP header"));
            }
            other => return cursor.fail(format!("{other} is not a field of an IP header")),
        }
        cursor.takes_sign(',');
    }
    Ok(info)
}

fn tcp(cursor: &mut Cursor, ecn: Option<EcnMark>) -> Parsed<Tcp> {
    let ports = ports(cursor)?;
    let flags = flags(cursor)?;
    let (seq, payload) = range(cursor)?;
    let ack = if cursor.takes_word("ack") { cursor.number("ack")? } else { 0 };
    let window = if cursor.takes_word("win") { Some(cursor.number("win")?) } else { None };
    let urgent = if cursor.takes_word("urg") { cursor.number("urg")? } else { 0 };
    let options = if cursor.takes_sign('<') { options(cursor)? } else { Some(Vec::new()) };
    Ok(Tcp { ecn, ports, flags, seq, payload, ack, window, urgent, options })
}

/// `8080 > 1234`.
fn ports(cursor: &mut Cursor) -> Parsed<Option<(u16, u16)>> {
    let is_ports = matches!(cursor.peek(), Some(Kind::Int(_))) && cursor.peek_after(1) == Some(&Kind::Sign('>'));
    if !is_ports {
        return Ok(None);
    }
    let source = cursor.number("a port")?;
    cursor.sign('>')?;
    Ok(Some((source, cursor.number("a port")?)))
}

/// `S`, `S.`, `.`, `-`, `SEWA`, or with a count of accurate ECN, `P5.`.
fn flags(cursor: &mut Cursor) -> Parsed<String> {
    let mut letters = String::new();
    if cursor.takes_sign('-') {
        return Ok(letters);
    }
    if let Some(Kind::Word(word)) = cursor.peek() {
        letters.push_str(word);
        cursor.next();
    }
    if let Some(Kind::Float(_, text)) = cursor.peek() {
        letters.push_str(text);
        cursor.next();
    } else if cursor.takes_sign('.') {
        letters.push('.');
    }
    if letters.is_empty() { cursor.fail("flags are missing here") } else { Ok(letters) }
}

/// `1:1001(1000)`.
fn range(cursor: &mut Cursor) -> Parsed<(u32, u32)> {
    let start: u32 = cursor.number("a sequence number")?;
    cursor.sign(':')?;
    let end: u32 = cursor.number("a sequence number")?;
    cursor.sign('(')?;
    let payload: u16 = cursor.number("a payload")?;
    cursor.sign(')')?;
    if u64::from(end) != u64::from(start) + u64::from(payload) {
        return cursor.fail(format!("{start}:{end} does not have {payload} bytes"));
    }
    Ok((start, u32::from(payload)))
}

fn options(cursor: &mut Cursor) -> Parsed<Option<Vec<TcpOption>>> {
    if cursor.peek() == Some(&Kind::Ellipsis) {
        cursor.next();
        cursor.sign('>')?;
        return Ok(None);
    }
    let mut found = vec![option(cursor)?];
    while cursor.takes_sign(',') {
        found.push(option(cursor)?);
    }
    cursor.sign('>')?;
    Ok(Some(found))
}

fn option(cursor: &mut Cursor) -> Parsed<TcpOption> {
    let name = cursor.word()?;
    Ok(match name.as_str() {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::Eol,
        "mss" => TcpOption::Mss(cursor.number("mss")?),
        "wscale" => TcpOption::WindowScale(cursor.number("wscale")?),
        "sackOK" => TcpOption::SackPermitted,
        "sack" => TcpOption::Sack(sack_blocks(cursor)?),
        "TS" => {
            let mut part = |name: &str| -> Parsed<u32> {
                if cursor.takes_word(name) { cursor.number(name) } else { cursor.fail(format!("TS without {name}")) }
            };
            TcpOption::Timestamps { value: part("val")?, echo: part("ecr")? }
        }
        "ECN" => accecn(cursor)?,
        "FO" | "FOEXP" | "md5" => {
            while !matches!(cursor.peek(), None | Some(Kind::Sign(',' | '>'))) {
                cursor.next();
            }
            TcpOption::Foreign(name)
        }
        _ => return cursor.fail(format!("{name} is not a TCP option")),
    })
}

/// `e1b 1 ceb 0 e0b 1`, or from `e0b` to `e1b`; counters may be missing from the end.
fn accecn(cursor: &mut Cursor) -> Parsed<TcpOption> {
    let ect1_first = cursor.is_word("e1b");
    let names = if ect1_first { ["e1b", "ceb", "e0b"] } else { ["e0b", "ceb", "e1b"] };
    let mut counters = Vec::new();
    for name in names {
        if !cursor.takes_word(name) {
            break;
        }
        counters.push(cursor.number(name)?);
    }
    if counters.is_empty() {
        cursor.fail("ECN without counters")
    } else {
        Ok(TcpOption::AccEcn { ect1_first, counters })
    }
}

fn sack_blocks(cursor: &mut Cursor) -> Parsed<Vec<(u32, u32)>> {
    let mut blocks = Vec::new();
    while let Some(Kind::Int(_)) = cursor.peek() {
        let left = cursor.number("a SACK block")?;
        cursor.sign(':')?;
        blocks.push((left, cursor.number("a SACK block")?));
    }
    if blocks.is_empty() { cursor.fail("sack without blocks") } else { Ok(blocks) }
}
