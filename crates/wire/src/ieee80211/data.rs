//! Data frames. [802.11-2020 §9.3.2]

use super::frame_control::{FrameControl, FrameFlags, FrameType};
use super::sequence::SequenceControl;
use crate::address::MacAddress;
use crate::cursor::Cursor;
use crate::error::Error;

/// Presence of data in a data frame. [802.11-2020 §9.2.4.1.3]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataKind {
    /// Data or QoS Data.
    #[default]
    Data,
    /// Null or QoS Null.
    Null,
}

/// Requested acknowledgement of a frame. [802.11-2020 §9.2.4.5.4]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckPolicy {
    /// Normal Ack, or Implicit BAR within an A-MPDU.
    #[default]
    Normal,
    /// None.
    NoAck,
    /// No explicit Ack, PSMP Ack, or HETP Ack.
    NoExplicit,
    /// By a BlockAck on request.
    BlockAck,
}

/// The QoS Control field. [802.11-2020 §9.2.4.5]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QosControl {
    /// Traffic, 0 to 15.
    pub tid: u8,
    /// Bit 4: end of service period, or the meaning of the higher byte.
    pub bit_4: bool,
    /// Requested acknowledgement of the frame.
    pub ack_policy: AckPolicy,
    /// The body is an A-MSDU.
    pub is_amsdu: bool,
    /// The higher byte: TXOP limit, TXOP duration requested, queue size, or the AP's buffer.
    pub higher_byte: u8,
}

/// Data, QoS Data, Null or QoS Null: the first two with LLC and SNAP, or with an A-MSDU, as their body.
///
/// Address 4 is present if both `TO_DS` and `FROM_DS` are set, HT Control if `HTC` is set in a QoS frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data<'a> {
    /// Presence of data.
    pub kind: DataKind,
    /// Flags.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// Address 1, the receiver.
    pub address_1: MacAddress,
    /// Address 2, the transmitter.
    pub address_2: MacAddress,
    /// Address 3.
    pub address_3: MacAddress,
    /// Sequence Control.
    pub sequence: SequenceControl,
    /// Address 4, from one AP to another.
    pub address_4: Option<MacAddress>,
    /// QoS Control, in QoS frames.
    pub qos: Option<QosControl>,
    /// HT Control.
    pub ht_control: Option<u32>,
    /// The captured part of the body; encrypted if `PROTECTED` is set.
    pub body: &'a [u8],
}

const NULL: u8 = 0b0100;
const QOS: u8 = 0b1000;

impl QosControl {
    fn bits(self) -> u16 {
        u16::from(self.tid & 0x0f)
            | u16::from(self.bit_4) << 4
            | (self.ack_policy as u16) << 5
            | u16::from(self.is_amsdu) << 7
            | u16::from(self.higher_byte) << 8
    }

    fn from_bits(bits: u16) -> QosControl {
        QosControl {
            tid: (bits & 0x0f) as u8,
            bit_4: bits >> 4 & 1 == 1,
            ack_policy: match bits >> 5 & 0b11 {
                0 => AckPolicy::Normal,
                1 => AckPolicy::NoAck,
                2 => AckPolicy::NoExplicit,
                _ => AckPolicy::BlockAck,
            },
            is_amsdu: bits >> 7 & 1 == 1,
            higher_byte: (bits >> 8) as u8,
        }
    }
}

impl<'a> Data<'a> {
    /// A frame from a station to its AP, for `destination` beyond it. [802.11-2020 §9.3.2.1]
    pub fn to_ap(station: MacAddress, bssid: MacAddress, destination: MacAddress) -> Data<'a> {
        let flags = FrameFlags::TO_DS;
        Data { flags, address_1: bssid, address_2: station, address_3: destination, ..Data::default() }
    }

    /// A frame from an AP to a station, sent by `source` beyond it. [802.11-2020 §9.3.2.1]
    pub fn from_ap(bssid: MacAddress, station: MacAddress, source: MacAddress) -> Data<'a> {
        let flags = FrameFlags::FROM_DS;
        Data { flags, address_1: station, address_2: bssid, address_3: source, ..Data::default() }
    }

    /// True if the frame has an address 4.
    fn has_four_addresses(flags: FrameFlags) -> bool {
        flags.contains(FrameFlags::TO_DS.with(FrameFlags::FROM_DS))
    }

    /// Reads the frame; its header is followed by padding up to `alignment`.
    pub(super) fn read(control: FrameControl, mut at: Cursor<'a>, alignment: usize) -> Result<Data<'a>, Error> {
        const PART: &str = "data frame header";
        let (flags, subtype) = (control.flags(), control.subtype());
        let duration_us = at.u16_le(PART)?;
        let [address_1, address_2, address_3] =
            [MacAddress(at.array(PART)?), MacAddress(at.array(PART)?), MacAddress(at.array(PART)?)];
        let sequence = SequenceControl::from_bits(at.u16_le(PART)?);
        let address_4 = if Data::has_four_addresses(flags) { Some(MacAddress(at.array(PART)?)) } else { None };
        let qos = if subtype & QOS != 0 { Some(QosControl::from_bits(at.u16_le(PART)?)) } else { None };
        let has_ht_control = qos.is_some() && flags.contains(FrameFlags::HTC);
        let ht_control = if has_ht_control { Some(at.u32_le(PART)?) } else { None };
        let kind = if subtype & NULL != 0 { DataKind::Null } else { DataKind::Data };
        // A frame that ends with its header has no padding.
        if !at.rest().is_empty() {
            at.align(alignment, "padding of the MAC header")?;
        }
        let body = at.rest();
        Ok(Data {
            kind,
            flags,
            duration_us,
            address_1,
            address_2,
            address_3,
            sequence,
            address_4,
            qos,
            ht_control,
            body,
        })
    }

    /// Bytes of the MAC header, without body and FCS.
    pub fn header_length(&self) -> usize {
        let address_4 = if self.address_4.is_some() { 6 } else { 0 };
        let qos = if self.qos.is_some() { 2 } else { 0 };
        24 + address_4 + qos + if self.ht_control.is_some() { 4 } else { 0 }
    }

    /// Appends header and body, without FCS. With an empty body the caller may append the body in parts afterwards.
    ///
    /// # Panics
    /// If address 4 or HT Control do not match the flags.
    pub fn append(&self, out: &mut Vec<u8>) {
        assert_eq!(self.address_4.is_some(), Data::has_four_addresses(self.flags), "address 4 goes with both DS bits");
        let htc = self.qos.is_some() && self.flags.contains(FrameFlags::HTC);
        assert_eq!(self.ht_control.is_some(), htc, "HT Control goes with QoS Control and the HTC bit");
        let subtype = if self.kind == DataKind::Null { NULL } else { 0 } | if self.qos.is_some() { QOS } else { 0 };
        out.extend_from_slice(&FrameControl::new(FrameType::Data, subtype, self.flags).0.to_le_bytes());
        out.extend_from_slice(&self.duration_us.to_le_bytes());
        for address in [self.address_1, self.address_2, self.address_3] {
            out.extend_from_slice(&address.0);
        }
        out.extend_from_slice(&self.sequence.bits().to_le_bytes());
        if let Some(address) = self.address_4 {
            out.extend_from_slice(&address.0);
        }
        if let Some(qos) = self.qos {
            out.extend_from_slice(&qos.bits().to_le_bytes());
        }
        if let Some(ht_control) = self.ht_control {
            out.extend_from_slice(&ht_control.to_le_bytes());
        }
        out.extend_from_slice(self.body);
    }

    /// The source of the payload; not for an A-MSDU, whose subframes have their own. [802.11-2020 §9.3.2.1]
    pub fn source(&self) -> MacAddress {
        match (self.flags.contains(FrameFlags::TO_DS), self.flags.contains(FrameFlags::FROM_DS)) {
            (_, false) => self.address_2,
            (false, true) => self.address_3,
            (true, true) => self.address_4.unwrap_or(self.address_3),
        }
    }

    /// The destination of the payload; not for an A-MSDU. [802.11-2020 §9.3.2.1]
    pub fn destination(&self) -> MacAddress {
        if self.flags.contains(FrameFlags::TO_DS) { self.address_3 } else { self.address_1 }
    }

    /// The BSSID; none between APs. [802.11-2020 §9.3.2.1]
    pub fn bssid(&self) -> Option<MacAddress> {
        match (self.flags.contains(FrameFlags::TO_DS), self.flags.contains(FrameFlags::FROM_DS)) {
            (false, false) => Some(self.address_3),
            (false, true) => Some(self.address_2),
            (true, false) => Some(self.address_1),
            (true, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ieee80211::Frame;

    const A: MacAddress = MacAddress([0xa; 6]);
    const B: MacAddress = MacAddress([0xb; 6]);
    const C: MacAddress = MacAddress([0xc; 6]);

    fn parsed(frame: &Data<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.append(&mut bytes);
        assert_eq!(Frame::parse(&bytes), Ok(Frame::Data(*frame)));
        assert_eq!(bytes.len(), frame.header_length() + frame.body.len());
        bytes
    }

    #[test]
    fn a_qos_data_frame_has_26_bytes_before_its_body() {
        let qos = Some(QosControl { tid: 6, ack_policy: AckPolicy::BlockAck, ..QosControl::default() });
        let sequence = SequenceControl { number: 0x123, fragment: 4 };
        let frame = Data { duration_us: 44, sequence, qos, body: b"body", ..Data::to_ap(A, B, C) };
        let bytes = parsed(&frame);
        assert_eq!(bytes[..4], [0x88, 0x01, 44, 0]);
        assert_eq!(bytes[4..22], [[0xb; 6], [0xa; 6], [0xc; 6]].concat());
        assert_eq!(bytes[22..], [0x34, 0x12, 0x66, 0x00, b'b', b'o', b'd', b'y']);
    }

    #[test]
    fn ds_bits_give_the_meaning_of_addresses() {
        let (up, down) = (Data::to_ap(A, B, C), Data::from_ap(B, A, C));
        assert_eq!((up.source(), up.destination(), up.bssid()), (A, C, Some(B)));
        assert_eq!((down.source(), down.destination(), down.bssid()), (C, A, Some(B)));
        let between = Data {
            flags: FrameFlags::TO_DS.with(FrameFlags::FROM_DS),
            address_3: C,
            address_4: Some(A),
            ..Data::default()
        };
        assert_eq!((between.source(), between.destination(), between.bssid()), (A, C, None));
        parsed(&between);
        let direct = Data { address_1: A, address_2: B, address_3: C, ..Data::default() };
        assert_eq!((direct.source(), direct.destination(), direct.bssid()), (B, A, Some(C)));
    }

    #[test]
    fn announced_header_padding_is_left_out() {
        let frame = Data { qos: Some(QosControl::default()), ..Data::from_ap(B, A, C) };
        let mut bytes = parsed(&frame);
        assert_eq!(Frame::parse_padded(&bytes), Ok(Frame::Data(frame)));
        bytes.extend_from_slice(b"..body");
        assert_eq!(Frame::parse_padded(&bytes), Ok(Frame::Data(Data { body: b"body", ..frame })));
        assert!(Frame::parse_padded(&bytes[..27]).is_err());
    }

    #[test]
    #[should_panic(expected = "address 4 goes with both DS bits")]
    fn an_address_4_without_its_bits_is_refused() {
        Data { address_4: Some(A), ..Data::to_ap(A, B, C) }.append(&mut Vec::new());
    }
}
