//! Radios of `mac80211_hwsim`, whose air this process is: a frame that a radio sends is read here, and the result of its
//! attempts and its reception are reported to the kernel.
//!
//! Commands and attributes have the numbers of `mac80211_hwsim.h`, an interface of the kernel for programs.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};

use lasthop_observe::NodeId;
use lasthop_scenario::emulation::{Ampdu, McsKind, Site, StackRate};
use lasthop_units::Duration;

use super::capabilities::limit_streams;
use crate::error::{Context, Error, Result};
use crate::host::{Attributes, GenericNetlink, Message, Namespace, give_radio, without_wifi};

mod command {
    pub(super) const REGISTER: u8 = 1;
    pub(super) const FRAME: u8 = 2;
    pub(super) const TX_INFO_FRAME: u8 = 3;
    pub(super) const NEW_RADIO: u8 = 4;
    pub(super) const DEL_RADIO: u8 = 5;
}
mod attribute {
    pub(super) const RECEIVER: u16 = 1;
    pub(super) const TRANSMITTER: u16 = 2;
    pub(super) const FRAME: u16 = 3;
    pub(super) const FLAGS: u16 = 4;
    pub(super) const RX_RATE: u16 = 5;
    pub(super) const SIGNAL: u16 = 6;
    pub(super) const TX_INFO: u16 = 7;
    pub(super) const COOKIE: u16 = 8;
    pub(super) const CHANNELS: u16 = 9;
    pub(super) const RADIO_ID: u16 = 10;
    pub(super) const CUSTOM_REGULATION: u16 = 12;
    pub(super) const RADIO_NAME: u16 = 17;
    pub(super) const FREQUENCY: u16 = 19;
    pub(super) const TX_INFO_FLAGS: u16 = 21;
    pub(super) const ADDRESS: u16 = 22;
}
/// Flags of a frame: it wants a status, it wants no acknowledgement; and of a status: it was acknowledged.
const WANTS_STATUS: u32 = 1;
const NO_ACK: u32 = 2;
const WAS_ACKNOWLEDGED: u32 = 4;
/// Flags of a rate.
const USES_RTS: u16 = 1;
const IS_HT: u16 = 1 << 3;
const SHORT_GUARD_INTERVAL: u16 = 1 << 7;
const IS_VHT: u16 = 1 << 8;
/// Rates of a frame.
const RATES: usize = 4;
/// A regulatory domain that allows access points in both bands, the last of hwsim's own: the world's has no such channel at 5 GHz, and
/// hwsim's others have none of 80 MHz, without which mac80211 uses no VHT, whatever its width.
const REGULATION: u32 = 3;
/// Radios that hwsim makes by itself.
const USUAL_RADIOS: u32 = 2;
/// Signal in dBm of frames before the run.
const NEAR: i32 = -40;

/// A frame that a radio has sent.
#[derive(Clone, Debug)]
pub(crate) struct RadioFrame {
    pub(crate) from: NodeId,
    /// from its Frame Control field on, without FCS
    pub(crate) bytes: Vec<u8>,
    pub(crate) rates: Vec<StackRate>,
    flags: u32,
    cookie: [u8; 8],
    /// index of each rate as it came
    indices: [u8; RATES],
    frequency: Option<[u8; 4]>,
}

impl RadioFrame {
    /// The receiver's address.
    pub(crate) fn receiver(&self) -> [u8; 6] {
        self.bytes[4..10].try_into().expect("a frame has a receiver")
    }

    /// The time between two beacons, if it is one. [802.11-2020 §9.3.3.2]
    pub(crate) fn beacon_interval(&self) -> Option<Duration> {
        const BEACON: u8 = 0x80;
        const INTERVAL: std::ops::Range<usize> = 32..34;
        const TIME_UNIT: Duration = Duration::from_micros(1024);
        let units = self.bytes.get(INTERVAL).filter(|_| self.bytes[0] == BEACON)?;
        Some(TIME_UNIT * u64::from(u16::from_le_bytes([units[0], units[1]])))
    }

    /// The centre of its channel in MHz.
    pub(crate) fn mhz(&self) -> Option<u32> {
        self.frequency.map(u32::from_ne_bytes)
    }

    /// Returns whether it is for all that hear it.
    pub(crate) fn is_for_all(&self) -> bool {
        self.bytes[4] & 1 != 0 || self.flags & NO_ACK != 0
    }

    /// The answer that refuses it, if it asks for a Block Ack agreement: an ADDBA Response. [802.11-2020 §9.6.4.2, §9.6.4.3]
    fn refusal(&self) -> Option<RadioFrame> {
        const ACTION: u8 = 0xd0;
        const CATEGORY: u8 = 3;
        const REQUEST: u8 = 0;
        const RESPONSE: u8 = 1;
        // REQUEST_DECLINED [802.11-2020 Table 9-50]
        const DECLINED: u8 = 37;
        let (header, body) = self.bytes.split_at_checked(24)?;
        let &[CATEGORY, REQUEST, token, first, second, ref timeout @ ..] = body else { return None };
        if header[..2] != [ACTION, 0] {
            return None;
        }
        let mut bytes = header.to_vec();
        bytes[4..10].copy_from_slice(&header[10..16]);
        bytes[10..16].copy_from_slice(&header[4..10]);
        bytes.extend([CATEGORY, RESPONSE, token, DECLINED, 0, first, second]);
        bytes.extend(timeout.iter().take(2));
        Some(RadioFrame { bytes, ..self.clone() })
    }

    /// Its user priority, from its QoS Control field; frames of management have the highest, others the lowest.
    pub(crate) fn tid(&self) -> u8 {
        const MANAGEMENT: u8 = 0;
        const DATA: u8 = 2;
        const QOS: u8 = 0x80;
        const BOTH_DS: u8 = 3;
        let (kind, has_fourth) = ((self.bytes[0] >> 2) & 3, self.bytes[1] & BOTH_DS == BOTH_DS);
        match kind {
            MANAGEMENT => 7,
            DATA if self.bytes[0] & QOS != 0 => {
                let place = if has_fourth { 30 } else { 24 };
                self.bytes.get(place).map_or(0, |control| control & 7)
            }
            _ => 0,
        }
    }
}

/// All radios of a run.
#[derive(Debug)]
pub(crate) struct Radios {
    netlink: GenericNetlink,
    family: u16,
    /// by address
    nodes: BTreeMap<[u8; 6], NodeId>,
    /// spatial streams of each node's BSS
    streams: Vec<u8>,
    /// whether radios leave frames in mac80211's queues, as those of `kernel/patches` do
    pub(crate) holds_back: bool,
}

/// The address of a node's radio, under which hwsim knows it too.
pub(crate) fn address_of(node: NodeId) -> [u8; 6] {
    Site::mac(node).0
}

impl Radios {
    /// Makes a radio for each of these namespaces, the nodes in their order, with a device `wlan0`, and becomes their air.
    /// `streams`: spatial streams of each.
    ///
    /// # Errors
    /// The kernel has no hwsim.
    pub(crate) fn make(namespaces: &[&Namespace], streams: Vec<u8>) -> Result<Radios> {
        let mut netlink = GenericNetlink::open(&Namespace::own()?)?;
        let family = netlink.family("MAC80211_HWSIM").map_err(|error| without_wifi(&error))?;
        for number in 0..USUAL_RADIOS {
            let which = Attributes::default().with(attribute::RADIO_ID, &number.to_ne_bytes());
            // One that is not there need not be removed.
            netlink.ask("a radio cannot be removed", family, command::DEL_RADIO, &which).ok();
        }
        let holds_back = hold_back()?;
        let mut nodes = BTreeMap::new();
        for (node, namespace) in (0..).map(NodeId).zip(namespaces) {
            let name = format!("lasthop{}", node.0);
            let setup = Attributes::default()
                .with(attribute::CHANNELS, &1u32.to_ne_bytes())
                .with(attribute::ADDRESS, &address_of(node))
                .with(attribute::CUSTOM_REGULATION, &REGULATION.to_ne_bytes())
                .with(attribute::RADIO_NAME, format!("{name}\0").as_bytes());
            netlink.ask("a radio cannot be made", family, command::NEW_RADIO, &setup)?;
            let place = format!("/sys/class/ieee80211/{name}/index");
            let number = std::fs::read_to_string(&place).context(|| place.clone())?;
            let number = number.trim().parse().map_err(|_| Error::new(format!("{place} holds no number")))?;
            give_radio(&mut netlink, number, namespace)?;
            nodes.insert(address_of(node), node);
        }
        netlink.ask("this process cannot be the air", family, command::REGISTER, &Attributes::default())?;
        Ok(Radios { netlink, family, nodes, streams, holds_back })
    }

    /// The next frame that a radio has sent.
    ///
    /// # Errors
    /// Frames were lost.
    pub(crate) fn next(&mut self) -> Result<Option<RadioFrame>> {
        let Radios { netlink, family, nodes, .. } = self;
        loop {
            match netlink.next(|message| frame_of(message, *family, nodes))? {
                None => return Ok(None),
                Some(Some(frame)) => return Ok(Some(frame)),
                Some(None) => {}
            }
        }
    }

    /// Lets the radio of `to` receive a frame at this signal in dBm. A frame that asks for a Block Ack agreement is refused in its name, since
    /// agreements are the model's: under one of a kernel's, minstrel_ht waits for the status of A-MPDUs, which hwsim lacks.
    ///
    /// # Errors
    /// The kernel does not take it.
    pub(crate) fn deliver(&mut self, frame: &RadioFrame, to: NodeId, signal: i8) -> Result<()> {
        if let Some(refusal) = frame.refusal() {
            return self.deliver(&refusal, frame.from, signal);
        }
        let mut bytes = frame.bytes.clone();
        limit_streams(&mut bytes, self.streams[frame.from.index()]);
        // The message has a place for rates without an MCS alone.
        let rate =
            frame.rates.first().filter(|rate| rate.kind == McsKind::None).map_or(0, |rate| u32::from(rate.index));
        let mut told = Attributes::default()
            .with(attribute::RECEIVER, &address_of(to))
            .with(attribute::FRAME, &bytes)
            .with(attribute::RX_RATE, &rate.to_ne_bytes())
            .with(attribute::SIGNAL, &i32::from(signal).to_ne_bytes());
        if let Some(frequency) = frame.frequency {
            told = told.with(attribute::FREQUENCY, &frequency);
        }
        self.netlink.tell(self.family, command::FRAME, &told)
    }

    /// Reports to a radio that its frame is done: whether it was acknowledged, the attempts in each of its rates, and, to one that
    /// holds frames back, its A-MPDU.
    ///
    /// # Errors
    /// The kernel does not take it.
    pub(crate) fn report(
        &mut self,
        frame: &RadioFrame,
        acknowledged: bool,
        tries: [u8; RATES],
        ampdu: Option<Ampdu>,
    ) -> Result<()> {
        let ampdu = ampdu.filter(|_| self.holds_back);
        let (status, tries) = match ampdu {
            Some(Ampdu::Here { frames, acknowledged, tries }) => (Some([frames, acknowledged]), tries),
            Some(Ampdu::Elsewhere) => (Some([0, 0]), tries),
            None => (None, tries),
        };
        let mut info = [0; 2 * RATES];
        for (place, used) in tries.iter().enumerate() {
            let index = if *used > 0 { frame.indices[place] } else { u8::MAX };
            info[2 * place..2 * place + 2].copy_from_slice(&[index, *used]);
        }
        let flags = frame.flags & (WANTS_STATUS | NO_ACK) | if acknowledged { WAS_ACKNOWLEDGED } else { 0 };
        let mut told = Attributes::default()
            .with(attribute::TRANSMITTER, &address_of(frame.from))
            .with(attribute::FLAGS, &flags.to_ne_bytes())
            .with(attribute::SIGNAL, &NEAR.to_ne_bytes())
            .with(attribute::TX_INFO, &info)
            .with(attribute::COOKIE, &frame.cookie);
        if let Some(status) = status {
            told = told.with(attribute::TX_INFO_FLAGS, &status);
        }
        self.netlink.tell(self.family, command::TX_INFO_FRAME, &told)
    }
}

/// Lets radios that are made from now on take few frames at a time, if the kernel has the patch for that; returns whether it does.
fn hold_back() -> Result<bool> {
    const PARAMETER: &str = "/sys/module/mac80211_hwsim/parameters/hw_queue";
    /// Two A-MPDUs, of 64 MPDUs at most.
    const FRAMES: &str = "128";
    if !std::path::Path::new(PARAMETER).exists() {
        return Ok(false);
    }
    std::fs::write(PARAMETER, FRAMES).context(|| PARAMETER.to_owned())?;
    Ok(true)
}

impl AsFd for Radios {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.netlink.as_fd()
    }
}

/// The frame that a message of hwsim is about, if it is about one of a known radio.
fn frame_of(message: &Message<'_>, family: u16, nodes: &BTreeMap<[u8; 6], NodeId>) -> Option<RadioFrame> {
    /// Bytes of the shortest frame: an acknowledgement.
    const SHORTEST: usize = 10;
    if message.family != family || message.command != command::FRAME {
        return None;
    }
    let from = *nodes.get(message.get(attribute::TRANSMITTER)?)?;
    let bytes = message.get(attribute::FRAME).filter(|bytes| bytes.len() >= SHORTEST)?.to_vec();
    let flags = u32::from_ne_bytes(message.get(attribute::FLAGS)?.try_into().ok()?);
    let cookie = message.get(attribute::COOKIE)?.try_into().ok()?;
    let frequency = message.get(attribute::FREQUENCY).and_then(|value| value.try_into().ok());
    let info = message.get(attribute::TX_INFO)?;
    let of_rates = message.get(attribute::TX_INFO_FLAGS).unwrap_or_default();
    let mut indices = [u8::MAX; RATES];
    let mut rates = Vec::with_capacity(RATES);
    for (place, pair) in info.chunks_exact(2).take(RATES).enumerate() {
        let (index, tries) = (pair[0], pair[1]);
        if index as i8 >= 0 && tries > 0 && rates.len() == place {
            // Each entry is the index again and two bytes of flags.
            let flags =
                of_rates.get(3 * place + 1..3 * place + 3).map_or(0, |two| u16::from_ne_bytes([two[0], two[1]]));
            indices[place] = index;
            rates.push(rate_of(index, tries, flags));
        }
    }
    Some(RadioFrame { from, bytes, rates, flags, cookie, indices, frequency })
}

fn rate_of(index: u8, tries: u8, flags: u16) -> StackRate {
    let kind = if flags & IS_VHT != 0 {
        McsKind::Vht
    } else if flags & IS_HT != 0 {
        McsKind::Ht
    } else {
        McsKind::None
    };
    let (short_guard_interval, rts) = (flags & SHORT_GUARD_INTERVAL != 0, flags & USES_RTS != 0);
    StackRate { index, tries, kind, short_guard_interval, rts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_an_agreement_is_refused_with_its_token_and_parameters() {
        let mut bytes = vec![0; 24];
        bytes[0] = 0xd0;
        bytes[4..10].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        bytes[10..16].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
        bytes.extend([3, 0, 9, 0x02, 0x10, 0, 0, 0, 0]);
        let frame = RadioFrame {
            from: NodeId(1),
            bytes,
            rates: Vec::new(),
            flags: 0,
            cookie: [0; 8],
            indices: [u8::MAX; RATES],
            frequency: None,
        };
        let refusal = frame.refusal().unwrap().bytes;
        assert_eq!(refusal[4..16], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
        assert_eq!(refusal[24..], [3, 1, 9, 37, 0, 0x02, 0x10, 0, 0]);
        let beacon = RadioFrame { bytes: vec![0x80; 60], ..frame };
        assert!(beacon.refusal().is_none());
    }
}
