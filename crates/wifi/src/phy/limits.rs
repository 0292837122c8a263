//! Size limits of a PPDU, and the number of frames that a Block Ack covers.
//!
//! They are the maxima of the standard, which receivers are assumed to offer; a scenario may set lower ones.

use lasthop_units::{Bytes, Duration};

use super::{ModeId, ModulationClass, Phy, frame_size};

/// aPPDUMaxTime. [802.11-2020 Tables 19-25, 21-29; 802.11ax-2021 Table 27-54]
const LONGEST_PPDU: Duration = Duration::from_micros(5484);
/// The longest PSDU that an OFDM SIGNAL field can announce: 12 bits. [802.11-2020 §17.3.4]
const NON_HT_PSDU: Bytes = Bytes(4095);

impl Phy {
    /// Returns whether stations of the BSS have EDCA and send data as QoS frames: with 802.11n and later.
    /// [802.11-2020 §10.2.3.2]
    pub fn is_qos(&self) -> bool {
        self.choice.is_some()
    }
    /// Returns whether a PPDU in this mode may carry an A-MPDU. [802.11-2020 §10.12]
    pub fn supports_aggregation(&self, mode: ModeId) -> bool {
        !self.mode(mode).class.is_non_ht()
    }
    /// Returns whether every data frame in this mode is sent as an A-MPDU, even a single MPDU: VHT and HE.
    /// [802.11-2020 §10.12.7]
    pub fn always_aggregates(&self, mode: ModeId) -> bool {
        matches!(self.mode(mode).class, ModulationClass::Vht | ModulationClass::He)
    }
    /// The longest airtime of a PPDU in this mode; without an MCS the airtime of its longest PSDU.
    pub fn max_ppdu_duration(&self, mode: ModeId) -> Duration {
        if self.supports_aggregation(mode) { LONGEST_PPDU } else { self.ppdu_duration(mode, NON_HT_PSDU) }
    }
    /// The longest A-MPDU that receivers accept: A-MPDU length exponent 3 (HT), 7 (VHT), 7 with extension 3, but no
    /// more than the longest PSDU (HE in the 5 GHz band); the longest PSDU if there are no A-MPDUs.
    pub fn max_ampdu_bytes(&self) -> Bytes {
        self.limits.map_or(NON_HT_PSDU, |l| Bytes(l.ampdu))
    }
    /// The longest A-MSDU that receivers accept: 7935 bytes with HT [802.11-2020 §9.4.2.55.2]; with VHT and HE the
    /// content of an MPDU of 11454 bytes [802.11-2020 §9.4.2.157.2]; none if there are no QoS frames.
    pub fn max_amsdu_bytes(&self) -> Bytes {
        self.limits.map_or(Bytes(0), |l| Bytes(l.amsdu))
    }
    /// The longest MPDU within an A-MPDU: 4095 bytes with HT, the limit of the delimiter's length field, so A-MSDUs in
    /// A-MPDUs are at most 4065 bytes long. [802.11-2020 §9.7.1]
    pub fn max_mpdu_bytes_in_ampdu(&self) -> Bytes {
        self.limits.map_or(NON_HT_PSDU, |l| Bytes(l.mpdu))
    }
    /// Frames that a Block Ack agreement covers: 64, with HE 256. [802.11-2020 §10.25.2; 802.11ax-2021 §9.4.1.13]
    pub fn block_ack_window(&self) -> u16 {
        self.limits.map_or(1, |l| l.block_ack_window)
    }
    /// Size of the BlockAck that answers an A-MPDU.
    pub fn block_ack_bytes(&self) -> Bytes {
        frame_size::block_ack(self.block_ack_window())
    }
}
