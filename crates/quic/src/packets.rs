//! Reads the packets of datagrams and their frames, which the null cipher leaves in the clear. [RFC 9000 §12, §17, §19]
//!
//! ```text
//! long   1 1 type 2 .. number length 2 | version 4 | length, destination | length, source | (token) | length | number | frames | tag
//! short  0 1 spin ... number length 2 | destination 8 | number | frames | tag
//! ```

use lasthop_units::{QuicFrameKind as FrameKind, QuicSpace as Space};

use crate::null_cipher::TAG;

/// A packet of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// its space
    pub space: Space,
    /// the low bytes of its number, as its header has them
    pub number: u32,
    /// the number of these bytes, from 1 to 4
    pub number_bytes: u8,
    /// its length in bytes, with header and tag
    pub bytes: u32,
    frames: &'a [u8],
}

/// A frame; one range of an ACK, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// its kind
    pub kind: FrameKind,
    /// its stream; of frames about a number of streams 0 for bidirectional ones, 2 for others
    pub stream: Option<u64>,
    /// the offset of its data, the limit that it sets or reports, the connection ID, the code of CONNECTION_CLOSE, or the type of an
    /// unknown frame
    pub offset: u64,
    /// the length of its data or of PADDING, the sequence number of a connection ID, or the code of an error of a stream
    pub length: u64,
    /// of STREAM: the last of its stream
    pub is_last: bool,
    /// of ACK: the first and the last packet of the range
    pub acked: Option<(u64, u64)>,
}

impl Frame {
    const fn of(kind: FrameKind) -> Frame {
        Frame { kind, stream: None, offset: 0, length: 0, is_last: false, acked: None }
    }

    /// One about bidirectional streams if its type is even.
    const fn of_streams(kind: FrameKind, number: u64) -> Frame {
        Frame { stream: Some((number & 1) << 1), ..Frame::of(kind) }
    }
}

/// Bytes that are read from the front.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn big_endian(&mut self, count: usize) -> Option<u64> {
        Some(self.take(count)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// An integer of variable length. [RFC 9000 §16]
    fn integer(&mut self) -> Option<u64> {
        let length = 1 << (self.0.first()? >> 6);
        let value = self.big_endian(length)?;
        Some(value & (u64::MAX >> (66 - 8 * length)))
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.take(usize::try_from(count).ok()?).map(drop)
    }

    fn skip_integers(&mut self, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.integer().map(drop))
    }
}

/// The packets of a datagram, up to the first that is not of version 1.
pub fn packets(datagram: &[u8]) -> impl Iterator<Item = Packet<'_>> {
    let mut rest = Bytes(datagram);
    std::iter::from_fn(move || next_packet(&mut rest))
}

/// Length of the connection IDs of both ends.
const ID: usize = 8;

fn next_packet<'a>(rest: &mut Bytes<'a>) -> Option<Packet<'a>> {
    let begin = rest.0;
    let first = rest.byte()?;
    let (space, behind) = if first & 0x80 == 0 {
        rest.take(ID)?;
        (Space::Application, rest.0.len())
    } else {
        rest.take(4)?;
        for _ in ["destination", "source"] {
            let length = rest.byte()?;
            rest.take(usize::from(length))?;
        }
        let space = match first >> 4 & 3 {
            0 => Space::Initial,
            2 => Space::Handshake,
            _ => return None,
        };
        if space == Space::Initial {
            let token = rest.integer()?;
            rest.skip(token)?;
        }
        (space, rest.integer()? as usize)
    };
    let mut body = Bytes(rest.take(behind)?);
    let bytes = (begin.len() - rest.0.len()) as u32;
    let number_bytes = (first & 3) + 1;
    let number = body.big_endian(usize::from(number_bytes))? as u32;
    let frames = body.0.get(..body.0.len().checked_sub(TAG)?)?;
    Some(Packet { space, number, number_bytes, bytes, frames })
}

impl Packet<'_> {
    /// Passes on its frames, with consecutive PADDING as one; false if one cannot be read.
    pub fn frames(&self, mut take: impl FnMut(Frame)) -> bool {
        let mut rest = Bytes(self.frames);
        let mut padding = 0;
        while let Some(kind) = rest.integer() {
            if kind == 0 {
                padding += 1;
            } else if next_frame(kind, &mut rest, &mut take).is_none() {
                return false;
            }
        }
        if padding > 0 {
            take(Frame { length: padding, ..Frame::of(FrameKind::Padding) });
        }
        true
    }
}

/// Reads a frame behind its type. [RFC 9000 §19; draft-ietf-quic-ack-frequency §4, §5]
fn next_frame(kind: u64, rest: &mut Bytes<'_>, take: &mut impl FnMut(Frame)) -> Option<()> {
    use FrameKind as Kind;
    let frame = match kind {
        0x01 => Frame::of(Kind::Ping),
        0x02 | 0x03 => return ack(kind == 0x03, rest, take),
        0x04 => {
            let (stream, length) = (Some(rest.integer()?), rest.integer()?);
            Frame { stream, length, offset: rest.integer()?, ..Frame::of(Kind::ResetStream) }
        }
        0x05 => Frame { stream: Some(rest.integer()?), length: rest.integer()?, ..Frame::of(Kind::StopSending) },
        0x06 => {
            let (offset, length) = (rest.integer()?, rest.integer()?);
            rest.skip(length)?;
            Frame { offset, length, ..Frame::of(Kind::Crypto) }
        }
        0x07 => {
            let length = rest.integer()?;
            rest.skip(length)?;
            Frame { length, ..Frame::of(Kind::NewToken) }
        }
        0x08..=0x0f => {
            let stream = Some(rest.integer()?);
            let offset = if kind & 4 != 0 { rest.integer()? } else { 0 };
            let length = if kind & 2 != 0 { rest.integer()? } else { rest.0.len() as u64 };
            rest.skip(length)?;
            Frame { stream, offset, length, is_last: kind & 1 != 0, ..Frame::of(Kind::Stream) }
        }
        0x10 => Frame { offset: rest.integer()?, ..Frame::of(Kind::MaxData) },
        0x11 => Frame { stream: Some(rest.integer()?), offset: rest.integer()?, ..Frame::of(Kind::MaxStreamData) },
        0x12 | 0x13 => Frame { offset: rest.integer()?, ..Frame::of_streams(Kind::MaxStreams, kind) },
        0x14 => Frame { offset: rest.integer()?, ..Frame::of(Kind::DataBlocked) },
        0x15 => Frame { stream: Some(rest.integer()?), offset: rest.integer()?, ..Frame::of(Kind::StreamDataBlocked) },
        0x16 | 0x17 => Frame { offset: rest.integer()?, ..Frame::of_streams(Kind::StreamsBlocked, kind) },
        0x18 => {
            let (length, _retired) = (rest.integer()?, rest.integer()?);
            let id = rest.byte()?;
            let offset = rest.big_endian(usize::from(id))?;
            // a stateless reset token
            rest.take(16)?;
            Frame { length, offset, ..Frame::of(Kind::NewConnectionId) }
        }
        0x19 => Frame { length: rest.integer()?, ..Frame::of(Kind::RetireConnectionId) },
        0x1a | 0x1b => {
            rest.take(8)?;
            Frame::of(if kind == 0x1a { Kind::PathChallenge } else { Kind::PathResponse })
        }
        0x1c | 0x1d => {
            let offset = rest.integer()?;
            rest.skip_integers(usize::from(kind == 0x1c))?;
            let reason = rest.integer()?;
            rest.skip(reason)?;
            Frame { offset, ..Frame::of(Kind::ConnectionClose) }
        }
        0x1e => Frame::of(Kind::HandshakeDone),
        0x1f | 0xaf => {
            rest.skip_integers(if kind == 0xaf { 4 } else { 0 })?;
            Frame { offset: kind, ..Frame::of(Kind::Unknown) }
        }
        _ => return None,
    };
    take(frame);
    Some(())
}

/// [RFC 9000 §19.3]
fn ack(has_ecn: bool, rest: &mut Bytes<'_>, take: &mut impl FnMut(Frame)) -> Option<()> {
    let mut last = rest.integer()?;
    let (_delay, more) = (rest.integer()?, rest.integer()?);
    let mut first = last.checked_sub(rest.integer()?)?;
    let mut range = |first, last| take(Frame { acked: Some((first, last)), ..Frame::of(FrameKind::Ack) });
    range(first, last);
    for _ in 0..more {
        last = first.checked_sub(rest.integer()? + 2)?;
        first = last.checked_sub(rest.integer()?)?;
        range(first, last);
    }
    if has_ecn { rest.skip_integers(3) } else { Some(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A short packet with these frames.
    fn short(frames: &[u8]) -> Vec<u8> {
        let head = [0x41, 1, 2, 3, 4, 5, 6, 7, 8, 0x12, 0x34];
        [&head[..], frames, &[0; TAG]].concat()
    }

    fn frames_of(datagram: &[u8]) -> (Vec<Frame>, bool) {
        let packet = packets(datagram).next().expect("it has a packet");
        assert_eq!((packet.space, packet.number, packet.number_bytes), (Space::Application, 0x1234, 2));
        let mut found = Vec::new();
        let all = packet.frames(|frame| found.push(frame));
        (found, all)
    }

    #[test]
    fn ranges_of_an_ack_are_its_gaps_less_two() {
        // Largest 100, first range 4: 96 to 100; gap 2: 92; length 1: 91 to 92. Then three counts of ECN.
        let (found, all) = frames_of(&short(&[0x03, 0x40, 100, 0, 1, 4, 2, 1, 7, 0, 0, 0x01]));
        let acked: Vec<_> = found.iter().filter_map(|frame| frame.acked).collect();
        assert!(all && acked == [(96, 100), (91, 92)], "{found:?}");
        assert_eq!(found.last().map(|frame| frame.kind), Some(FrameKind::Ping));
    }

    #[test]
    fn stream_without_a_length_takes_the_rest() {
        let (found, all) = frames_of(&short(&[0x0d, 4, 0x44, 0x00, 9, 9, 9]));
        let expected =
            Frame { stream: Some(4), offset: 1024, length: 3, is_last: true, ..Frame::of(FrameKind::Stream) };
        assert!(all && found == [expected], "{found:?}");
    }

    #[test]
    fn frame_that_goes_beyond_its_packet_is_refused() {
        let (found, all) = frames_of(&short(&[0x01, 0x06, 0, 9, 1]));
        assert!(!all && found == [Frame::of(FrameKind::Ping)], "{found:?}");
        assert_eq!(packets(&short(&[])[..20]).count(), 0);
        assert_eq!(packets(&[]).count(), 0);
    }
}
