//! Management frames, and among them the Beacon. [802.11-2020 §9.3.3]

use super::element::Elements;
use super::frame_control::{FrameControl, FrameFlags, FrameType};
use super::sequence::SequenceControl;
use crate::address::MacAddress;
use crate::cursor::Cursor;
use crate::error::Error;

/// A management frame of any subtype. [802.11-2020 §9.3.3.1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Management<'a> {
    /// Subtype: 0 Association Request, 4 Probe Request, 5 Probe Response, 8 Beacon, 11 Authentication, 13 Action.
    pub subtype: u8,
    /// Flags; with `HTC` the body begins with HT Control.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// Address 1, the receiver.
    pub receiver: MacAddress,
    /// Address 2, the transmitter.
    pub transmitter: MacAddress,
    /// Address 3, mostly the BSSID.
    pub bssid: MacAddress,
    /// Sequence Control.
    pub sequence: SequenceControl,
    /// The captured part of the body.
    pub body: &'a [u8],
}

/// Beacon. [802.11-2020 §9.3.3.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// Flags.
    pub flags: FrameFlags,
    /// Duration in µs; above 32767 it is not a duration.
    pub duration_us: u16,
    /// Address 1, mostly all stations.
    pub receiver: MacAddress,
    /// Address 2, the transmitter.
    pub transmitter: MacAddress,
    /// Address 3.
    pub bssid: MacAddress,
    /// Sequence Control.
    pub sequence: SequenceControl,
    /// Timestamp: the TSF timer in µs. [802.11-2020 §9.4.1.10]
    pub timestamp_us: u64,
    /// Beacon Interval in TU of 1024 µs. [802.11-2020 §9.4.1.3]
    pub interval_tu: u16,
    /// Capability Information: bit 0 ESS, bit 5 short preamble, bit 10 short slot. [802.11-2020 §9.4.1.4]
    pub capability: u16,
    /// SSID, rates, channel and any others.
    pub elements: Elements<'a>,
}

impl<'a> Management<'a> {
    pub(super) fn read(control: FrameControl, mut at: Cursor<'a>) -> Result<Management<'a>, Error> {
        const PART: &str = "management frame header";
        Ok(Management {
            subtype: control.subtype(),
            flags: control.flags(),
            duration_us: at.u16_le(PART)?,
            receiver: MacAddress(at.array(PART)?),
            transmitter: MacAddress(at.array(PART)?),
            bssid: MacAddress(at.array(PART)?),
            sequence: SequenceControl::from_bits(at.u16_le(PART)?),
            body: at.rest(),
        })
    }

    /// Appends the frame without its FCS: 24 bytes and the body.
    pub fn append(&self, out: &mut Vec<u8>) {
        let control = FrameControl::new(FrameType::Management, self.subtype & 0x0f, self.flags);
        out.extend_from_slice(&control.0.to_le_bytes());
        out.extend_from_slice(&self.duration_us.to_le_bytes());
        for address in [self.receiver, self.transmitter, self.bssid] {
            out.extend_from_slice(&address.0);
        }
        out.extend_from_slice(&self.sequence.bits().to_le_bytes());
        out.extend_from_slice(self.body);
    }
}

impl<'a> Beacon<'a> {
    pub(super) fn read(control: FrameControl, at: Cursor<'a>) -> Result<Beacon<'a>, Error> {
        const PART: &str = "Beacon";
        const HEADER: u64 = 24;
        let Management { flags, duration_us, receiver, transmitter, bssid, sequence, body, .. } =
            Management::read(control, at)?;
        let mut at = Cursor::new(body);
        let mut read = || -> Result<Beacon<'a>, Error> {
            if flags.contains(FrameFlags::HTC) {
                at.take(4, PART)?;
            }
            let (timestamp_us, interval_tu, capability) = (at.u64_le(PART)?, at.u16_le(PART)?, at.u16_le(PART)?);
            let elements = Elements(at.rest());
            Ok(Beacon {
                flags,
                duration_us,
                receiver,
                transmitter,
                bssid,
                sequence,
                timestamp_us,
                interval_tu,
                capability,
                elements,
            })
        };
        read().map_err(|error| error.moved_by(HEADER))
    }

    /// Appends the frame without its FCS: 36 bytes and the elements.
    ///
    /// # Panics
    /// If the flags announce HT Control, which a Beacon here does not have.
    pub fn append(&self, out: &mut Vec<u8>) {
        assert!(!self.flags.contains(FrameFlags::HTC), "a Beacon here has no HT Control");
        let &Beacon { flags, duration_us, receiver, transmitter, bssid, sequence, .. } = self;
        Management { subtype: 8, flags, duration_us, receiver, transmitter, bssid, sequence, body: &[] }.append(out);
        out.extend_from_slice(&self.timestamp_us.to_le_bytes());
        out.extend_from_slice(&self.interval_tu.to_le_bytes());
        out.extend_from_slice(&self.capability.to_le_bytes());
        out.extend_from_slice(self.elements.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ieee80211::Frame;

    #[test]
    fn a_beacon_has_36_bytes_before_its_elements() {
        let beacon = Beacon {
            receiver: MacAddress::BROADCAST,
            transmitter: MacAddress([2; 6]),
            bssid: MacAddress([2; 6]),
            sequence: SequenceControl::whole(4097),
            timestamp_us: 0x0102_0304_0506_0708,
            interval_tu: 100,
            capability: 0x0421,
            elements: Elements(&[0, 1, b'x']),
            ..Beacon::default()
        };
        let mut bytes = Vec::new();
        beacon.append(&mut bytes);
        assert_eq!(bytes[..4], [0x80, 0, 0, 0]);
        assert_eq!(bytes[22..], [0x10, 0, 8, 7, 6, 5, 4, 3, 2, 1, 100, 0, 0x21, 0x04, 0, 1, b'x']);
        assert_eq!(Frame::parse(&bytes), Ok(Frame::Beacon(beacon)));
        assert_eq!(Frame::parse(&bytes[..33]).unwrap_err().to_string(), "byte 32: Beacon: of 2 bytes there are 1");
    }

    #[test]
    fn ht_control_before_a_beacon_is_passed_over() {
        let mut bytes = vec![0x80, 0x80];
        bytes.resize(24 + 4, 0);
        bytes.extend_from_slice(&[7, 0, 0, 0, 0, 0, 0, 0, 100, 0, 1, 0]);
        assert!(matches!(Frame::parse(&bytes), Ok(Frame::Beacon(beacon)) if beacon.timestamp_us == 7));
    }
}
