//! Translation between the numbers of a script and those of the endpoint.
//!
//! Scripts count from their own initial numbers: after the SYNs both sides' numbers are relative to them. Timestamps of
//! the endpoint count from the first one that the script states.

use std::fmt::Write;

use lasthop_tcp::{AccEcn, Flags, SackBlock, SackBlocks, Segment, SeqNumber, Timestamps};
use lasthop_units::Ecn;

use crate::packetdrill::script::{EcnMark, Tcp, TcpOption};

/// The letters of control bits, in the order in which they are shown.
const LETTERS: [(char, Flags); 9] = [
    ('F', Flags::FIN),
    ('S', Flags::SYN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('.', Flags::ACK),
    ('U', Flags::from_bits(0x20)),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
];

/// The control bits for a script's letters; a digit is the count of accurate ECN, bits AE, CWR and ECE. `None` if a letter is none.
pub(crate) fn flags_of(letters: &str) -> Option<Flags> {
    letters.chars().try_fold(Flags::NONE, |flags, letter| {
        let count = letter.to_digit(8).map(|count| Flags::from_bits((count as u16) << 6));
        let flag = LETTERS.iter().find(|(own, _)| *own == letter).map(|(_, flag)| *flag);
        count.or(flag).map(|flag| flags | flag)
    })
}

/// The origins of all numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    pub local_isn: u32,
    pub remote_isn: u32,
    /// initial number in the script's own SYN
    pub script_local_isn: u32,
    /// first TSval of the script, and of the endpoint
    first_timestamp: Option<(u32, u32)>,
    /// TSvals of the script, each with one of the endpoint
    timestamps: Vec<(u32, u32)>,
}

impl Mapping {
    /// A mapping whose own numbers begin at `local_isn`.
    pub fn from(local_isn: u32) -> Self {
        Mapping { local_isn, ..Mapping::default() }
    }

    /// A segment in the numbers of the script. All SYNs keep the peer's numbers as they are.
    pub fn to_script(&self, segment: &Segment) -> Tcp {
        let is_syn = segment.flags.contains(Flags::SYN);
        let local = if is_syn { self.local_isn.wrapping_sub(self.script_local_isn) } else { self.local_isn };
        let remote = if is_syn { 0 } else { self.remote_isn };
        let has_ack = segment.flags.contains(Flags::ACK);
        Tcp {
            ecn: None,
            ports: None,
            flags: letters(segment.flags),
            seq: segment.seq.0.wrapping_sub(local),
            payload: segment.payload,
            ack: if has_ack { segment.ack.0.wrapping_sub(remote) } else { 0 },
            window: Some(segment.window),
            urgent: 0,
            options: Some(self.options(segment, remote)),
        }
    }

    /// Options in the order and with the padding of Linux.
    fn options(&self, segment: &Segment, remote: u32) -> Vec<TcpOption> {
        let mut options = Vec::new();
        options.extend(segment.mss.map(TcpOption::Mss));
        if let Some(Timestamps { value, echo }) = segment.timestamps {
            let head: &[TcpOption] =
                if segment.sack_permitted { &[TcpOption::SackPermitted] } else { &[TcpOption::Nop, TcpOption::Nop] };
            options.extend_from_slice(head);
            options.push(TcpOption::Timestamps { value: self.script_timestamp(value), echo });
        }
        options.extend(segment.accecn.iter().flat_map(accecn));
        if segment.timestamps.is_none() && segment.sack_permitted {
            options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::SackPermitted]);
        }
        if let Some(shift) = segment.window_scale {
            options.extend([TcpOption::Nop, TcpOption::WindowScale(shift)]);
        }
        if !segment.sack.is_empty() {
            let block = |block: &SackBlock| (block.left.0.wrapping_sub(remote), block.right.0.wrapping_sub(remote));
            let blocks = segment.sack.as_slice().iter().map(block).collect();
            options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(blocks)]);
        }
        options
    }

    fn script_timestamp(&self, value: u32) -> u32 {
        self.first_timestamp.map_or(value, |(script, own)| script.wrapping_add(value.wrapping_sub(own)))
    }

    /// Learns the TSval of the endpoint that the script means.
    pub fn learn_timestamp(&mut self, script: &Tcp, segment: &Segment) {
        let stated = script.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamps { value, .. } => Some(*value),
            _ => None,
        });
        if let (Some(stated), Some(own)) = (stated, segment.timestamps) {
            self.first_timestamp.get_or_insert((stated, own.value));
            self.timestamps.retain(|(script, _)| *script != stated);
            self.timestamps.push((stated, own.value));
        }
    }

    /// The peer's packet with the numbers of the endpoint.
    ///
    /// # Errors
    /// A message, if the script has not shown the TSval that the TSecr echoes.
    pub fn to_segment(&self, tcp: &Tcp, flags: Flags, guess_echo: bool) -> Result<Segment, String> {
        let is_syn = flags.contains(Flags::SYN);
        let remote = if is_syn { 0 } else { self.remote_isn };
        let local = if is_syn { self.local_isn.wrapping_sub(self.script_local_isn) } else { self.local_isn };
        let has_ack = flags.contains(Flags::ACK);
        let mut segment = Segment {
            seq: SeqNumber(tcp.seq.wrapping_add(remote)),
            ack: SeqNumber(if has_ack { tcp.ack.wrapping_add(local) } else { 0 }),
            payload: tcp.payload,
            window: tcp.window.unwrap_or(0),
            flags,
            ecn: match tcp.ecn {
                Some(EcnMark::Exactly(bits)) => ecn_of(bits),
                _ => Ecn::NotEct,
            },
            ..Segment::default()
        };
        for option in tcp.options.iter().flatten() {
            match option {
                TcpOption::Mss(mss) => segment.mss = Some(*mss),
                TcpOption::WindowScale(shift) => segment.window_scale = Some(*shift),
                TcpOption::SackPermitted => segment.sack_permitted = true,
                TcpOption::Sack(blocks) => segment.sack = sack_blocks(blocks, local),
                TcpOption::Timestamps { value, echo } => {
                    let echo = if has_ack { self.own_timestamp(*echo, guess_echo)? } else { *echo };
                    segment.timestamps = Some(Timestamps { value: *value, echo });
                }
                TcpOption::AccEcn { ect1_first, counters } => {
                    segment.accecn = Some(AccEcn::new(*ect1_first, counters));
                }
                TcpOption::Nop | TcpOption::Eol | TcpOption::Foreign(_) => {}
            }
        }
        Ok(segment)
    }

    fn own_timestamp(&self, echo: u32, guess: bool) -> Result<u32, String> {
        if let Some((_, own)) = self.timestamps.iter().find(|(script, _)| *script == echo) {
            return Ok(*own);
        }
        match self.first_timestamp {
            Some((script, own)) if guess => Ok(own.wrapping_add(echo.wrapping_sub(script))),
            _ => Err(format!("ecr {echo} echoes no TSval that was sent before")),
        }
    }
}

/// The option with the NOPs that align it.
fn accecn(option: &AccEcn) -> Vec<TcpOption> {
    let counters: Vec<u32> = option.counters().into_iter().flatten().collect();
    let bytes = 2 + 3 * counters.len();
    let mut options = vec![TcpOption::AccEcn { ect1_first: option.ect1_first(), counters }];
    options.resize(1 + bytes.next_multiple_of(4) - bytes, TcpOption::Nop);
    options
}

fn sack_blocks(blocks: &[(u32, u32)], local: u32) -> SackBlocks {
    let mut found = SackBlocks::NONE;
    for (left, right) in blocks {
        let at = |number: u32| SeqNumber(number.wrapping_add(local));
        found.push(SackBlock { left: at(*left), right: at(*right) });
    }
    found
}

fn letters(flags: Flags) -> String {
    LETTERS.iter().filter(|(_, flag)| flags.contains(*flag)).map(|(letter, _)| letter).collect()
}

/// The ECN field with these bits.
fn ecn_of(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// A packet in the script's syntax.
pub(crate) fn show(tcp: &Tcp) -> String {
    let end = tcp.seq.wrapping_add(tcp.payload);
    let flags = if tcp.flags.is_empty() { "-" } else { &tcp.flags };
    let mut text = String::new();
    if let Some(mark) = tcp.ecn {
        let _ = write!(text, "{} ", show_mark(mark));
    }
    let _ = write!(text, "{flags} {}:{end}({})", tcp.seq, tcp.payload);
    if tcp.flags.contains('.') {
        let _ = write!(text, " ack {}", tcp.ack);
    }
    if let Some(window) = tcp.window {
        let _ = write!(text, " win {window}");
    }
    match &tcp.options {
        None => text.push_str(" <...>"),
        Some(options) if options.is_empty() => {}
        Some(options) => {
            let _ = write!(text, " <{}>", options.iter().map(show_option).collect::<Vec<_>>().join(","));
        }
    }
    text
}

fn show_mark(mark: EcnMark) -> &'static str {
    match mark {
        EcnMark::Exactly(bits) => ["[noecn]", "[ect1]", "[ect0]", "[ce]"][usize::from(bits & 3)],
        EcnMark::EitherEct => "[ect01]",
    }
}

fn show_option(option: &TcpOption) -> String {
    match option {
        TcpOption::Nop => "nop".into(),
        TcpOption::Eol => "eol".into(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(shift) => format!("wscale {shift}"),
        TcpOption::SackPermitted => "sackOK".into(),
        TcpOption::Timestamps { value, echo } => format!("TS val {value} ecr {echo}"),
        TcpOption::AccEcn { ect1_first, counters } => {
            let names = if *ect1_first { ["e1b", "ceb", "e0b"] } else { ["e0b", "ceb", "e1b"] };
            names.iter().zip(counters).fold("ECN".to_string(), |text, (name, count)| format!("{text} {name} {count}"))
        }
        TcpOption::Sack(blocks) => {
            blocks.iter().fold("sack".to_string(), |text, (left, right)| format!("{text} {left}:{right}"))
        }
        TcpOption::Foreign(name) => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packetdrill::script::{Action, Packet};

    fn tcp(line: &str) -> Tcp {
        let script = crate::packetdrill::parser::parse(&format!("0 > {line}")).unwrap();
        match &script.events[0].action {
            Action::Outbound(Packet::Tcp(tcp)) => tcp.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn mapping() -> Mapping {
        let mut mapping = Mapping::from(5000);
        mapping.remote_isn = 700;
        mapping
    }

    #[test]
    fn numbers_count_from_both_initial_ones_after_the_syns() {
        let data = tcp("P. 1:1001(1000) ack 3 win 9 <sack 5:7,nop,nop>");
        let segment = mapping().to_segment(&data, flags_of("P.").unwrap(), false).unwrap();
        assert_eq!((segment.seq, segment.ack, segment.payload), (SeqNumber(701), SeqNumber(5003), 1000));
        assert_eq!(segment.sack.as_slice(), [SackBlock { left: SeqNumber(5005), right: SeqNumber(5007) }]);
        let syn = tcp("S 700:700(0) win 9");
        assert_eq!(mapping().to_segment(&syn, Flags::SYN, false).unwrap().seq, SeqNumber(700));
    }

    #[test]
    fn a_segment_reads_back_as_a_script_would_write_it() {
        let segment = Segment {
            seq: SeqNumber(5001),
            ack: SeqNumber(703),
            payload: 10,
            window: 8,
            flags: Flags::ACK | Flags::PSH | Flags::ECE,
            timestamps: Some(Timestamps { value: 40, echo: 2 }),
            ..Segment::default()
        };
        assert_eq!(show(&mapping().to_script(&segment)), "P.E 1:11(10) ack 3 win 8 <nop,nop,TS val 40 ecr 2>");
    }

    #[test]
    fn options_stand_as_linux_writes_them() {
        let timestamps = Some(Timestamps { value: 1, echo: 0 });
        let syn = Segment {
            flags: Flags::SYN,
            mss: Some(1460),
            sack_permitted: true,
            window_scale: Some(7),
            timestamps,
            ..Segment::default()
        };
        let shown = |segment: &Segment| show(&Mapping::default().to_script(segment));
        assert!(shown(&syn).ends_with("<mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7>"));
        let plain = Segment { timestamps: None, ..syn };
        assert!(shown(&plain).ends_with("<mss 1460,nop,nop,sackOK,nop,wscale 7>"));
    }

    #[test]
    fn timestamps_run_from_the_first_that_a_script_states() {
        let mut mapping = mapping();
        let sent = |value| Segment { timestamps: Some(Timestamps { value, echo: 0 }), ..Segment::default() };
        let stated = tcp("S 0:0(0) <nop,nop,TS val 100 ecr 0>");
        mapping.learn_timestamp(&stated, &sent(90_000));
        assert!(show(&mapping.to_script(&sent(90_020))).contains("TS val 120"));
        assert_eq!((mapping.own_timestamp(100, false), mapping.own_timestamp(105, true)), (Ok(90_000), Ok(90_005)));
        assert_eq!(mapping.own_timestamp(105, false), Err("ecr 105 echoes no TSval that was sent before".into()));
    }
}
