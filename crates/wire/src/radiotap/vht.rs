//! The VHT field. [radiotap.org, VHT]

use super::bits::KnownBits;
use crate::cursor::Cursor;
use crate::error::Error;

/// Known properties of a VHT PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vht {
    /// Space-time block coding.
    pub stbc: Option<bool>,
    /// True if stations may not doze during the TXOP.
    pub txop_ps_not_allowed: Option<bool>,
    /// Guard interval of 400 ns.
    pub short_guard_interval: Option<bool>,
    /// True if the number of symbols modulo 10 is 9, with the short guard interval.
    pub short_gi_nsym_is_9: Option<bool>,
    /// True if LDPC added an OFDM symbol.
    pub ldpc_extra_symbol: Option<bool>,
    /// Beamformed.
    pub beamformed: Option<bool>,
    /// Bandwidth: 0 for 20 MHz, 1 for 40, 4 for 80, 11 for 160; others for parts of them.
    pub bandwidth: Option<u8>,
    /// Up to four users; a PPDU for one has the first.
    pub users: [Option<VhtUser>; 4],
    /// Group ID; 0 and 63 for PPDUs for one user.
    pub group_id: Option<u8>,
    /// Partial AID.
    pub partial_aid: Option<u16>,
}

/// The part of a VHT PPDU for one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VhtUser {
    /// VHT-MCS, 0 to 9; 15 if it is not known.
    pub mcs: u8,
    /// Spatial streams, 1 to 8.
    pub spatial_streams: u8,
    /// LDPC instead of BCC.
    pub ldpc: bool,
}

/// Bandwidths in MHz with their codes, for PPDUs that are as wide as their channel.
const BANDWIDTHS: [(u16, u8); 4] = [(20, 0), (40, 1), (80, 4), (160, 11)];

/// Words: the known fields, the flags.
const STBC: KnownBits = KnownBits { known: (0, 0x0001), value: (1, 0x01) };
const TXOP_PS: KnownBits = KnownBits { known: (0, 0x0002), value: (1, 0x02) };
const GUARD_INTERVAL: KnownBits = KnownBits { known: (0, 0x0004), value: (1, 0x04) };
const NSYM: KnownBits = KnownBits { known: (0, 0x0008), value: (1, 0x08) };
const LDPC_EXTRA: KnownBits = KnownBits { known: (0, 0x0010), value: (1, 0x10) };
const BEAMFORMED: KnownBits = KnownBits { known: (0, 0x0020), value: (1, 0x20) };
const BANDWIDTH_KNOWN: u16 = 0x0040;
const GROUP_ID_KNOWN: u16 = 0x0080;
const PARTIAL_AID_KNOWN: u16 = 0x0100;

impl Vht {
    /// A PPDU for one user, BCC, without STBC or beamforming. `bandwidth_mhz` is 20, 40, 80 or 160; any other leaves it
    /// unknown.
    pub fn single_user(mcs: u8, spatial_streams: u8, bandwidth_mhz: u16, short_guard_interval: bool) -> Vht {
        Vht {
            stbc: Some(false),
            short_guard_interval: Some(short_guard_interval),
            beamformed: Some(false),
            bandwidth: BANDWIDTHS.iter().find(|(mhz, _)| *mhz == bandwidth_mhz).map(|&(_, code)| code),
            users: [Some(VhtUser { mcs, spatial_streams, ldpc: false }), None, None, None],
            ..Vht::default()
        }
    }

    pub(super) fn read(value: &mut Cursor<'_>) -> Result<Vht, Error> {
        const PART: &str = "VHT";
        let known = value.u16_le(PART)?;
        let [flags, bandwidth, mcs_nss @ .., coding, group_id] = value.array::<8>(PART)?;
        let partial_aid = value.u16_le(PART)?;
        let words = [known, u16::from(flags)];
        let mut users = [None; 4];
        for (user, (slot, mcs_nss)) in users.iter_mut().zip(mcs_nss).enumerate() {
            *slot = VhtUser::read(mcs_nss, coding >> user & 1 == 1);
        }
        Ok(Vht {
            stbc: STBC.get(&words),
            txop_ps_not_allowed: TXOP_PS.get(&words),
            short_guard_interval: GUARD_INTERVAL.get(&words),
            short_gi_nsym_is_9: NSYM.get(&words),
            ldpc_extra_symbol: LDPC_EXTRA.get(&words),
            beamformed: BEAMFORMED.get(&words),
            bandwidth: (known & BANDWIDTH_KNOWN != 0).then_some(bandwidth & 0x1f),
            users,
            group_id: (known & GROUP_ID_KNOWN != 0).then_some(group_id),
            partial_aid: (known & PARTIAL_AID_KNOWN != 0).then_some(partial_aid),
        })
    }

    pub(super) fn bytes(self) -> [u8; 12] {
        let mut words = [0; 2];
        STBC.put(&mut words, self.stbc);
        TXOP_PS.put(&mut words, self.txop_ps_not_allowed);
        GUARD_INTERVAL.put(&mut words, self.short_guard_interval);
        NSYM.put(&mut words, self.short_gi_nsym_is_9);
        LDPC_EXTRA.put(&mut words, self.ldpc_extra_symbol);
        BEAMFORMED.put(&mut words, self.beamformed);
        for (known, is_known) in [
            (BANDWIDTH_KNOWN, self.bandwidth.is_some()),
            (GROUP_ID_KNOWN, self.group_id.is_some()),
            (PARTIAL_AID_KNOWN, self.partial_aid.is_some()),
        ] {
            words[0] |= u16::from(is_known) * known;
        }
        let mut bytes = [0; 12];
        bytes[..2].copy_from_slice(&words[0].to_le_bytes());
        bytes[2] = words[1] as u8;
        bytes[3] = self.bandwidth.unwrap_or(0);
        for (user, known) in self.users.iter().enumerate() {
            if let Some(known) = known {
                bytes[4 + user] = known.mcs << 4 | known.spatial_streams & 0x0f;
                bytes[8] |= u8::from(known.ldpc) << user;
            }
        }
        bytes[9] = self.group_id.unwrap_or(0);
        bytes[10..].copy_from_slice(&self.partial_aid.unwrap_or(0).to_le_bytes());
        bytes
    }

    /// Bandwidth of the PPDU in MHz, if it is known and not a part of a wider channel.
    pub fn bandwidth_mhz(&self) -> Option<u16> {
        BANDWIDTHS.iter().find(|(_, code)| Some(*code) == self.bandwidth).map(|&(mhz, _)| mhz)
    }
}

impl VhtUser {
    /// The user of a byte with MCS and number of streams; `None` if the number is 0.
    fn read(mcs_nss: u8, ldpc: bool) -> Option<VhtUser> {
        let user = VhtUser { mcs: mcs_nss >> 4, spatial_streams: mcs_nss & 0x0f, ldpc };
        (user.spatial_streams > 0).then_some(user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_definition() {
        // STBC, guard interval, beamformed, bandwidth known: 0065; short guard interval: 04; 80 MHz: 4; MCS 9 with 2 streams: 92.
        let vht = Vht::single_user(9, 2, 80, true);
        assert_eq!(vht.bytes(), [0x65, 0, 0x04, 4, 0x92, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(vht.bandwidth_mhz(), Some(80));
    }
}
