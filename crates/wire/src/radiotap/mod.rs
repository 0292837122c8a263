//! Radiotap: properties of a frame as seen by a radio, before the frame. [radiotap.org]
//!
//! ```text
//!  0        1        2                 4
//! +--------+--------+-----------------+-----------------------------------+ - - - - - - -+ - - - -
//! | 0      | pad    | length          | present, bit 31: another follows  | present …    | fields
//! +--------+--------+-----------------+-----------------------------------+ - - - - - - -+ - - - -
//! ```
//!
//! Fields come in the order of their bits, each at a multiple of its alignment, the lowest byte first. Drivers describe
//! each antenna in further present words of the radiotap namespace; their fields count if they were not present before.
//! Vendors' namespaces are skipped, and so are fields that are not named in [`Radiotap`].

mod ampdu;
mod bits;
mod channel;
mod flags;
mod he;
mod he_mu;
mod l_sig;
mod mcs;
mod timestamp;
mod tlv;
mod vht;

pub use ampdu::AmpduStatus;
pub use channel::Channel;
pub use flags::{Flags, TxFlags};
pub use he::{He, HeFormat};
pub use he_mu::HeMu;
pub use l_sig::LSig;
pub use mcs::Mcs;
pub use timestamp::Timestamp;
pub use tlv::LaterPhy;
pub use vht::{Vht, VhtUser};

use crate::cursor::Cursor;
use crate::error::Error;

/// A radiotap header with the known fields of a frame. [radiotap.org, defined fields]
///
/// Fields that are `None` are not in the header. [`append`](Radiotap::append) writes it, [`parse`](Radiotap::parse)
/// reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Radiotap {
    /// TSFT: the MAC's clock at the first bit of the MPDU, in µs.
    pub tsft_us: Option<u64>,
    /// Properties of the frame.
    pub flags: Option<Flags>,
    /// Data rate in units of 500 kbit/s; not with MCSs.
    pub rate_500kbps: Option<u8>,
    /// Centre frequency and band.
    pub channel: Option<Channel>,
    /// Signal at the antenna in dBm.
    pub signal_dbm: Option<i8>,
    /// Noise at the antenna in dBm.
    pub noise_dbm: Option<i8>,
    /// Transmit power in dBm.
    pub tx_power_dbm: Option<i8>,
    /// Number of the antenna, from 0.
    pub antenna: Option<u8>,
    /// RX flags: bit 1 for a PLCP whose check failed.
    pub rx_flags: Option<u16>,
    /// Properties of a frame that was sent.
    pub tx_flags: Option<TxFlags>,
    /// Retries of the RTS of a frame that was sent. Few programs read it.
    pub rts_retries: Option<u8>,
    /// Retries of a frame that was sent.
    pub data_retries: Option<u8>,
    /// HT PPDU of the frame.
    pub mcs: Option<Mcs>,
    /// A-MPDU of the frame.
    pub ampdu: Option<AmpduStatus>,
    /// VHT PPDU of the frame.
    pub vht: Option<Vht>,
    /// A time finer than the TSFT.
    pub timestamp: Option<Timestamp>,
    /// HE PPDU of the frame.
    pub he: Option<He>,
    /// HE-SIG-B of the frame's PPDU for several users.
    pub he_mu: Option<HeMu>,
    /// Reason for the absence of a frame: 0 for a sounding PPDU, 1 for data that was not captured.
    pub no_psdu: Option<u8>,
    /// L-SIG of the frame's PPDU.
    pub l_sig: Option<LSig>,
    /// A PHY whose fields have lengths of their own. Their values are not read, and they are not written.
    pub later_phy: Option<LaterPhy>,
}

/// Bytes before the first present word.
const FIXED: usize = 4;
/// Fields that the radiotap namespace has in its first word. [radiotap.org, TLV]
const FIELDS: u32 = 28;
/// Bit of the list of fields with their own lengths, which fills the rest.
const TLV: u32 = 28;
/// Bit of the return to the radiotap namespace.
const RADIOTAP_NAMESPACE: u32 = 29;
/// Bit of a vendor's namespace.
const VENDOR_NAMESPACE: u32 = 30;
/// Bit of a further present word.
const MORE: u32 = 31;

/// The namespace of a present word's fields.
#[derive(Clone, Copy)]
enum Namespace {
    /// Radiotap's own fields, from number 0.
    Radiotap,
    /// Fields of a vendor, whose bytes are already skipped.
    Vendor,
    /// Radiotap's fields from number 32 on, which have lengths only in a TLV.
    Beyond,
}

impl Radiotap {
    /// Reads the header at the front of `bytes`; returns it with the bytes that follow.
    ///
    /// # Errors
    /// If bytes end within the header, if its version is not 0, or if fields do not fit into its length.
    pub fn parse(bytes: &[u8]) -> Result<(Radiotap, &[u8]), Error> {
        let mut cursor = Cursor::new(bytes);
        let version = cursor.u8("radiotap header")?;
        if version != 0 {
            return Err(Error::value(0, "radiotap version", version, "it is 0"));
        }
        cursor.u8("radiotap header")?;
        let length = usize::from(cursor.u16_le("radiotap header")?);
        let (header, frame) =
            bytes.split_at_checked(length).ok_or_else(|| Error::short(0, "radiotap header", length, bytes.len()))?;
        if length < FIXED + 4 {
            return Err(Error::value(2, "radiotap length", length as u64, "it is 8 or more"));
        }
        let mut radiotap = Radiotap::default();
        radiotap.read_words(header)?;
        Ok((radiotap, frame))
    }

    /// Reads the fields of each present word.
    fn read_words(&mut self, header: &[u8]) -> Result<(), Error> {
        let mut words = Cursor::new(header);
        words.take(FIXED, "radiotap header")?;
        let mut fields = words;
        while fields.u32_le("radiotap present word")? >> MORE & 1 == 1 {}
        let mut namespace = Namespace::Radiotap;
        while words.at() + 4 <= fields.at() {
            let present = words.u32_le("radiotap present word")?;
            if let Namespace::Radiotap = namespace {
                for field in (0..FIELDS).filter(|field| present >> field & 1 == 1) {
                    self.read_field(field, &mut fields)?;
                }
                if present >> TLV & 1 == 1 {
                    // A list with a fault hides no frame.
                    self.later_phy = tlv::read(&mut fields).unwrap_or_default();
                }
            }
            let Some(next) = following(present, namespace, &mut fields)? else { break };
            if present >> MORE & 1 == 0 {
                break;
            }
            namespace = next;
        }
        Ok(())
    }

    /// Reads one field, or skips it.
    fn read_field(&mut self, field: u32, at: &mut Cursor<'_>) -> Result<(), Error> {
        let (alignment, length) = LAYOUT[field as usize];
        at.align(alignment, "padding of a radiotap field")?;
        let start = at.at();
        let mut value = Cursor::new(at.take(length, "radiotap field")?);
        self.set(field, &mut value).map_err(|error| error.moved_by(start as u64))
    }

    /// Sets the field with this number, if it is not set.
    fn set(&mut self, field: u32, value: &mut Cursor<'_>) -> Result<(), Error> {
        const PART: &str = "radiotap field";
        match field {
            0 => first(&mut self.tsft_us, value.u64_le(PART)?),
            1 => first(&mut self.flags, Flags(value.u8(PART)?)),
            2 => first(&mut self.rate_500kbps, value.u8(PART)?),
            3 => first(&mut self.channel, Channel::read(value)?),
            5 => first(&mut self.signal_dbm, value.u8(PART)?.cast_signed()),
            6 => first(&mut self.noise_dbm, value.u8(PART)?.cast_signed()),
            10 => first(&mut self.tx_power_dbm, value.u8(PART)?.cast_signed()),
            11 => first(&mut self.antenna, value.u8(PART)?),
            14 => first(&mut self.rx_flags, value.u16_le(PART)?),
            15 => first(&mut self.tx_flags, TxFlags(value.u16_le(PART)?)),
            16 => first(&mut self.rts_retries, value.u8(PART)?),
            17 => first(&mut self.data_retries, value.u8(PART)?),
            19 => first(&mut self.mcs, Mcs::read(value)?),
            20 => first(&mut self.ampdu, AmpduStatus::read(value)?),
            21 => first(&mut self.vht, Vht::read(value)?),
            22 => first(&mut self.timestamp, Timestamp::read(value)?),
            23 => first(&mut self.he, He::read(value)?),
            24 => first(&mut self.he_mu, HeMu::read(value)?),
            26 => first(&mut self.no_psdu, value.u8(PART)?),
            27 => first(&mut self.l_sig, LSig::read(value)?),
            _ => {}
        }
        Ok(())
    }

    /// Length of the header in bytes, with its present fields.
    pub fn length(&self) -> usize {
        let mut fields = Fields { out: None, length: FIXED + 4, present: 0 };
        self.write(&mut fields);
        fields.length
    }

    /// Appends the header to `out`: the present fields, each aligned, and the resulting length.
    pub fn append(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; FIXED + 4]);
        let mut fields = Fields { out: Some(out), length: FIXED + 4, present: 0 };
        self.write(&mut fields);
        let Fields { length, present, .. } = fields;
        out[start + 2..start + 4].copy_from_slice(&(length as u16).to_le_bytes());
        out[start + 4..start + 8].copy_from_slice(&present.to_le_bytes());
    }

    /// Writes each present field, in the order of their numbers.
    fn write(&self, fields: &mut Fields<'_>) {
        fields.put(0, self.tsft_us.map(u64::to_le_bytes));
        fields.put(1, self.flags.map(|flags| [flags.0]));
        fields.put(2, self.rate_500kbps.map(u8::to_le_bytes));
        fields.put(3, self.channel.map(Channel::bytes));
        fields.put(5, self.signal_dbm.map(i8::to_le_bytes));
        fields.put(6, self.noise_dbm.map(i8::to_le_bytes));
        fields.put(10, self.tx_power_dbm.map(i8::to_le_bytes));
        fields.put(11, self.antenna.map(u8::to_le_bytes));
        fields.put(14, self.rx_flags.map(u16::to_le_bytes));
        fields.put(15, self.tx_flags.map(|flags| flags.0.to_le_bytes()));
        fields.put(16, self.rts_retries.map(u8::to_le_bytes));
        fields.put(17, self.data_retries.map(u8::to_le_bytes));
        fields.put(19, self.mcs.map(Mcs::bytes));
        fields.put(20, self.ampdu.map(AmpduStatus::bytes));
        fields.put(21, self.vht.map(Vht::bytes));
        fields.put(22, self.timestamp.map(Timestamp::bytes));
        fields.put(23, self.he.map(He::bytes));
        fields.put(24, self.he_mu.map(HeMu::bytes));
        fields.put(26, self.no_psdu.map(u8::to_le_bytes));
        fields.put(27, self.l_sig.map(LSig::bytes));
    }

    /// True if the frame that follows ends with its FCS.
    pub fn has_fcs(&self) -> bool {
        self.flags.is_some_and(|flags| flags.contains(Flags::FCS_AT_END))
    }

    /// True if the radio reports an FCS that does not fit.
    pub fn fcs_is_bad(&self) -> bool {
        self.flags.is_some_and(|flags| flags.contains(Flags::BAD_FCS))
    }

    /// True if padding separates the MAC header from its payload.
    pub fn header_is_padded(&self) -> bool {
        self.flags.is_some_and(|flags| flags.contains(Flags::PADDED_HEADER))
    }
}

/// Alignment and length of each field in bytes. [radiotap.org, defined and unofficial fields]
const LAYOUT: [(usize, usize); FIELDS as usize] = [
    (8, 8),  // TSFT
    (1, 1),  // flags
    (1, 1),  // rate
    (2, 4),  // channel
    (1, 2),  // FHSS
    (1, 1),  // signal, dBm
    (1, 1),  // noise, dBm
    (2, 2),  // lock quality
    (2, 2),  // TX attenuation
    (2, 2),  // TX attenuation, dB
    (1, 1),  // TX power, dBm
    (1, 1),  // antenna
    (1, 1),  // signal, dB
    (1, 1),  // noise, dB
    (2, 2),  // RX flags
    (2, 2),  // TX flags
    (1, 1),  // RTS retries
    (1, 1),  // data retries
    (4, 8),  // XChannel
    (1, 3),  // MCS
    (4, 8),  // A-MPDU status
    (2, 12), // VHT
    (8, 12), // timestamp
    (2, 12), // HE
    (2, 12), // HE-MU
    (2, 6),  // HE-MU-other-user
    (1, 1),  // 0-length PSDU
    (2, 4),  // L-SIG
];

/// Keeps the first value of a field.
fn first<T>(field: &mut Option<T>, value: T) {
    field.get_or_insert(value);
}

/// The namespace of the next present word; `None` if the rest cannot be read. Skips the bytes of a vendor.
fn following(present: u32, now: Namespace, fields: &mut Cursor<'_>) -> Result<Option<Namespace>, Error> {
    const PART: &str = "radiotap vendor namespace";
    if present >> VENDOR_NAMESPACE & 1 == 1 {
        fields.align(2, PART)?;
        fields.take(4, PART)?;
        let skipped = usize::from(fields.u16_le(PART)?);
        fields.take(skipped, PART)?;
        return Ok(Some(Namespace::Vendor));
    }
    if present >> RADIOTAP_NAMESPACE & 1 == 1 {
        return Ok(Some(Namespace::Radiotap));
    }
    let unknown = match now {
        Namespace::Radiotap => present >> TLV & 1 == 1,
        Namespace::Vendor => false,
        Namespace::Beyond => present & ((1 << RADIOTAP_NAMESPACE) - 1) != 0,
    };
    Ok(match now {
        _ if unknown => None,
        Namespace::Vendor => Some(Namespace::Vendor),
        Namespace::Radiotap | Namespace::Beyond => Some(Namespace::Beyond),
    })
}

/// The fields of a header that is being written, or only measured.
struct Fields<'a> {
    out: Option<&'a mut Vec<u8>>,
    /// Length so far, in bytes.
    length: usize,
    /// Bitmap of the fields so far.
    present: u32,
}

impl Fields<'_> {
    /// Appends a field if it is present, with the padding before it.
    fn put<const N: usize>(&mut self, field: u32, value: Option<[u8; N]>) {
        let Some(bytes) = value else { return };
        let (alignment, length) = LAYOUT[field as usize];
        debug_assert_eq!(length, N);
        let padding = self.length.next_multiple_of(alignment) - self.length;
        if let Some(out) = &mut self.out {
            out.resize(out.len() + padding, 0);
            out.extend_from_slice(&bytes);
        }
        self.length += padding + N;
        self.present |= 1 << field;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_aligned_and_counted() {
        let radiotap = Radiotap {
            flags: Some(Flags::FCS_AT_END),
            rate_500kbps: Some(22),
            channel: Some(Channel { mhz: 2412, flags: Channel::CCK | Channel::GHZ_2 }),
            signal_dbm: Some(-60),
            rx_flags: Some(0),
            ..Radiotap::default()
        };
        let mut bytes = Vec::new();
        radiotap.append(&mut bytes);
        // Bits 1, 2, 3, 5 and 14: 402e. Signal stands at 14, so RX flags at 16.
        let expected = [0, 0, 18, 0, 0x2e, 0x40, 0, 0, 0x10, 22, 0x6c, 0x09, 0xa0, 0x00, 0xc4, 0, 0, 0];
        assert_eq!(bytes, expected);
        assert_eq!(radiotap.length(), 18);
        assert_eq!(Radiotap::parse(&bytes), Ok((radiotap, &[][..])));
    }

    #[test]
    fn a_header_may_begin_at_any_place() {
        let radiotap = Radiotap { tsft_us: Some(7), antenna: Some(1), ..Radiotap::default() };
        let mut bytes = vec![9; 3];
        radiotap.append(&mut bytes);
        assert_eq!(Radiotap::parse(&bytes[3..]), Ok((radiotap, &[][..])));
    }

    #[test]
    fn antennas_of_their_own_words_come_after_the_first_word() {
        // Signal (bit 5), then two words of the radiotap namespace with signal and antenna (bits 5 and 11).
        let bytes =
            [0, 0, 21, 0, 0x20, 0, 0, 0xa0, 0x20, 0x08, 0, 0xa0, 0x20, 0x08, 0, 0, 0xd0, 0xc9, 0, 0xce, 1, 0xff];
        let (radiotap, frame) = Radiotap::parse(&bytes).unwrap();
        assert_eq!((radiotap.signal_dbm, radiotap.antenna, frame), (Some(-48), Some(0), &[0xff][..]));
    }

    #[test]
    fn a_vendors_namespace_is_skipped_and_radiotap_goes_on_after_it() {
        // Rate, vendor with 3 bytes, back to radiotap with a rate that no longer counts, and an antenna.
        let bytes = [
            0, 0, 31, 0, 0x04, 0, 0, 0xc0, 0x07, 0, 0, 0xa0, 0x04, 0x08, 0, 0, 2, 0, 0x00, 0x11, 0x22, 5, 3, 0, 9, 9,
            9, 4, 6, 0, 0,
        ];
        let (radiotap, _) = Radiotap::parse(&bytes).unwrap();
        assert_eq!((radiotap.rate_500kbps, radiotap.antenna), (Some(2), Some(6)));
    }

    #[test]
    fn fields_beyond_31_end_the_reading() {
        // Rate; then field 32 without a length; then radiotap again, which cannot be located.
        let bytes = [0, 0, 20, 0, 0x04, 0, 0, 0x80, 0x01, 0, 0, 0xa0, 0x04, 0, 0, 0, 2, 0, 0, 0];
        assert_eq!(Radiotap::parse(&bytes).unwrap().0, Radiotap { rate_500kbps: Some(2), ..Radiotap::default() });
    }

    #[test]
    fn header_that_does_not_fit_is_an_error() {
        let short = Radiotap::parse(&[0, 0, 9, 0, 1, 0, 0, 0, 5]).unwrap_err();
        assert_eq!(short.to_string(), "byte 8: radiotap field: of 8 bytes there are 1");
        assert_eq!(
            Radiotap::parse(&[1, 0, 8, 0]).unwrap_err().to_string(),
            "byte 0: radiotap version is 1, but it is 0"
        );
        assert_eq!(
            Radiotap::parse(&[0, 0, 4, 0]).unwrap_err().to_string(),
            "byte 2: radiotap length is 4, but it is 8 or more"
        );
        assert!(Radiotap::parse(&[0, 0, 200, 0, 0, 0, 0, 0]).is_err());
        assert!(Radiotap::parse(&[0, 0, 8, 0, 0, 0, 0, 0x80]).is_err());
    }
}
