//! Durations of PPDUs and of answers: taken from the PHYs of the simulator, so that there is one source of both.

use std::collections::BTreeMap;

use lasthop_units::{Bytes, DataRate, Duration};
use lasthop_wifi::phy::{ChannelWidth, GuardInterval, Mode as PhyMode, ModeId, Phy, PhyOptions, Preamble, Standard};
use lasthop_wire::radiotap::{Channel, Flags, HeFormat, LaterPhy, Radiotap};
use serde_json::{Value as Json, json};

/// The mode of a PPDU, as far as radiotap gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sending {
    format: Format,
    is_2_4_ghz: bool,
    /// MCS, or the rate in units of 500 kbit/s
    index: u8,
    streams: u8,
    width_mhz: u16,
    guard_ns: u16,
    has_short_preamble: bool,
    form: Form,
}

/// Forms of PPDUs of HT and VHT that the simulator does not send: only their durations differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    is_greenfield: bool,
    /// streams that space-time block coding adds
    coded_streams: u8,
}

impl Form {
    /// The longer preamble, in microseconds, negative if it is shorter. [802.11-2020 §19.3.9.4, §21.3.8.3.5]
    fn preamble_us(self, format: Format, streams: u8) -> i64 {
        const MIXED_LESS_GREENFIELD: i64 = 12;
        let fields = |streams: u8| match (format, streams) {
            (_, 0..=2) => i64::from(streams),
            (_, 3..=4) => 4,
            _ => i64::from(streams.next_multiple_of(2)),
        };
        let training = 4 * (fields(streams + self.coded_streams) - fields(streams));
        training - if self.is_greenfield { MIXED_LESS_GREENFIELD } else { 0 }
    }
}

/// The fields of the document that name a mode.
#[derive(Clone, Copy, Debug)]
pub struct ModeFields<'a> {
    /// "dsss", "ofdm", "ht", "vht" or "he".
    pub format: &'a str,
    /// True in the 2.4 GHz band.
    pub is_2_4_ghz: bool,
    /// Its MCS; formats without MCSs are named by the rate.
    pub mcs: Option<u8>,
    /// Its rate in bit/s.
    pub rate_bps: u64,
    /// Spatial streams.
    pub streams: u8,
    /// Width in MHz.
    pub width_mhz: u16,
    /// Guard interval in ns.
    pub guard_ns: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Format {
    Dsss,
    Ofdm,
    Ht,
    Vht,
    He,
}

/// A mode of a PHY of the simulator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    phy: usize,
    id: ModeId,
    /// microseconds that its preamble is longer
    preamble_us: i64,
    /// its symbols come in pairs
    has_pairs: bool,
}

/// The modes used so far.
#[derive(Default)]
pub(crate) struct Durations {
    phys: Vec<Phy>,
    modes: BTreeMap<Sending, Option<Mode>>,
}

impl Sending {
    /// From radiotap; none if fields that the duration depends on are missing.
    pub(crate) fn of(radiotap: &Radiotap) -> Option<Sending> {
        let is_2_4_ghz = radiotap.channel.is_some_and(|channel| channel.mhz < 3000);
        let flags = radiotap.flags.unwrap_or_default();
        let plain = Sending {
            format: Format::Ofdm,
            is_2_4_ghz,
            index: 0,
            streams: 1,
            width_mhz: 20,
            guard_ns: 800,
            has_short_preamble: false,
            form: Form::default(),
        };
        // Narrow channels stretch all times.
        if radiotap.channel.is_some_and(|channel| channel.flags & (Channel::HALF | Channel::QUARTER) != 0) {
            return None;
        }
        // Other formats of HE and later PHYs have other preambles.
        if radiotap.later_phy.is_some()
            || radiotap.he.is_some_and(|he| he.format != HeFormat::Su || he.dcm == Some(true) || he.stbc == Some(true))
        {
            return None;
        }
        if let Some(he) = radiotap.he {
            let (index, width_mhz) = (he.mcs?, he.bandwidth_mhz()?);
            let (streams, guard_ns) = (he.space_time_streams.max(1), he.guard_interval_ns()?);
            return Some(Sending { format: Format::He, index, streams, width_mhz, guard_ns, ..plain });
        }
        if let Some(vht) = radiotap.vht {
            let user = vht.users[0]?;
            let guard_ns = if vht.short_guard_interval? { 400 } else { 800 };
            let (index, streams, width_mhz) = (user.mcs, user.spatial_streams, vht.bandwidth_mhz()?);
            let coded_streams = if vht.stbc == Some(true) { streams } else { 0 };
            let form = Form { coded_streams, ..Form::default() };
            return Some(Sending { format: Format::Vht, index, streams, width_mhz, guard_ns, form, ..plain });
        }
        if let Some(ht) = radiotap.mcs {
            let index = ht.index.filter(|index| *index < 32)?;
            let guard_ns = if ht.short_guard_interval? { 400 } else { 800 };
            let (streams, width_mhz) = (index / 8 + 1, if ht.bandwidth? == 1 { 40 } else { 20 });
            let (is_greenfield, coded_streams) = (ht.greenfield == Some(true), ht.stbc_streams.unwrap_or(0));
            let form = Form { is_greenfield, coded_streams };
            return Some(Sending { format: Format::Ht, index, streams, width_mhz, guard_ns, form, ..plain });
        }
        let index = radiotap.rate_500kbps.filter(|rate| *rate > 0)?;
        let is_dsss = matches!(index, 2 | 4 | 11 | 22);
        let has_short_preamble = is_dsss && flags.contains(Flags::SHORT_PREAMBLE);
        Some(Sending { format: if is_dsss { Format::Dsss } else { Format::Ofdm }, index, has_short_preamble, ..plain })
    }

    /// From the fields of its form in the document.
    pub(crate) fn of_fields(fields: &ModeFields<'_>) -> Option<Sending> {
        let (format, has_mcs) = match fields.format {
            "dsss" => (Format::Dsss, false),
            "ofdm" => (Format::Ofdm, false),
            "ht" => (Format::Ht, true),
            "vht" => (Format::Vht, true),
            "he" => (Format::He, true),
            _ => return None,
        };
        let index = if has_mcs { fields.mcs? } else { u8::try_from(fields.rate_bps / 500_000).ok()? };
        let ModeFields { is_2_4_ghz, streams, width_mhz, guard_ns, .. } = *fields;
        let form = Form::default();
        Some(Sending { format, is_2_4_ghz, index, streams, width_mhz, guard_ns, has_short_preamble: false, form })
    }

    /// The duration that the L-SIG of a PPDU of HT or later gives.
    pub(crate) fn duration_by_l_sig(radiotap: &Radiotap) -> Option<Duration> {
        let is_later = radiotap.mcs.is_some() || radiotap.vht.is_some() || radiotap.he.is_some();
        let l_sig = radiotap.l_sig.filter(|_| is_later || radiotap.later_phy == Some(LaterPhy::Eht))?;
        l_sig.duration_us().map(|us| Duration::from_micros(us.into()))
    }

    /// Whether PPDUs of its format may be A-MPDUs. [802.11-2020 §9.7.1]
    pub(crate) fn aggregates(&self) -> bool {
        matches!(self.format, Format::Ht | Format::Vht | Format::He)
    }

    /// Its form in the document: the standard that introduced the format, then the fields that name the mode within it.
    pub(crate) fn to_json(self) -> Json {
        let format = match self.format {
            Format::Dsss => "dsss",
            Format::Ofdm => "ofdm",
            Format::Ht => "ht",
            Format::Vht => "vht",
            Format::He => "he",
        };
        let has_mcs = matches!(self.format, Format::Ht | Format::Vht | Format::He);
        json!({
            "format": format,
            "is_2_4_ghz": self.is_2_4_ghz,
            "mcs": has_mcs.then_some(self.index),
            "streams": self.streams,
            "width_mhz": self.width_mhz,
            "guard_ns": self.guard_ns,
            "has_short_preamble": self.has_short_preamble,
        })
    }

    /// Some mode, for tests.
    #[cfg(test)]
    pub(crate) fn example() -> Sending {
        Sending::of(&Radiotap { rate_500kbps: Some(108), ..Radiotap::default() }).expect("a rate names a mode")
    }

    /// All modes that differ only in MCS or rate, and in streams: up to two, or up to its own number.
    pub(crate) fn alike(&self) -> Vec<Sending> {
        let own = *self;
        let with = |index, streams| Sending { index, streams, ..own };
        let streams = own.streams.max(2);
        match own.format {
            Format::Dsss => [2, 4, 11, 22].map(|index| with(index, 1)).into(),
            Format::Ofdm => [12, 18, 24, 36, 48, 72, 96, 108].map(|index| with(index, 1)).into(),
            Format::Ht => (0..8 * streams).map(|index| with(index, index / 8 + 1)).collect(),
            Format::Vht => (1..=streams).flat_map(|streams| (0..10).map(move |index| with(index, streams))).collect(),
            Format::He => (1..=streams).flat_map(|streams| (0..12).map(move |index| with(index, streams))).collect(),
        }
    }

    fn options(&self) -> Option<PhyOptions> {
        let (standard, channel) = match self.format {
            Format::Dsss => ("802.11b", 6),
            Format::Ofdm if self.is_2_4_ghz => ("802.11g", 6),
            Format::Ofdm => ("802.11a", 36),
            Format::Ht => ("802.11n", if self.is_2_4_ghz { 6 } else { 36 }),
            Format::Vht => ("802.11ac", 36),
            Format::He => ("802.11ax", if self.is_2_4_ghz { 6 } else { 36 }),
        };
        let mut options = PhyOptions::new(Standard::named(standard).ok()?);
        options.channel = Some(channel);
        if self.has_short_preamble {
            options.preamble = Some(Preamble::Short);
        }
        if matches!(self.format, Format::Ht | Format::Vht | Format::He) {
            let is_he = self.format == Format::He;
            options.spatial_streams = Some(self.streams);
            options.channel_width = Some(match self.width_mhz {
                20 => ChannelWidth::Mhz20,
                40 => ChannelWidth::Mhz40,
                80 => ChannelWidth::Mhz80,
                _ => ChannelWidth::Mhz160,
            });
            options.guard_interval = Some(match (self.guard_ns, is_he) {
                (400, _) => GuardInterval::Short,
                (800, false) => GuardInterval::Long,
                (800, true) => GuardInterval::Us0_8,
                (1600, _) => GuardInterval::Us1_6,
                _ => GuardInterval::Us3_2,
            });
        }
        Some(options)
    }

    fn find(&self, phy: &Phy) -> Option<ModeId> {
        let place = match self.format {
            Format::Dsss | Format::Ofdm => {
                let rate = DataRate::from_bps(u64::from(self.index) * 500_000);
                phy.modes().iter().position(|mode| mode.mcs.is_none() && mode.rate == rate)
            }
            _ => phy.modes().iter().position(|mode| {
                mode.mcs_index() == Some(self.index)
                    && mode.streams == self.streams
                    && mode.guard_interval.as_nanos() == u64::from(self.guard_ns)
                    && mode.bandwidth_hz == f64::from(self.width_mhz) * 1e6
            }),
        };
        place.map(|place| ModeId(place as u16))
    }
}

impl Durations {
    /// The mode of a PPDU; none if the simulator lacks it.
    pub(crate) fn mode(&mut self, sending: Sending) -> Option<Mode> {
        if let Some(known) = self.modes.get(&sending) {
            return *known;
        }
        let phy = sending.options().and_then(|options| options.resolve("bss").ok());
        let found = phy.and_then(|phy| {
            let id = sending.find(&phy)?;
            self.phys.push(phy);
            let form = sending.form;
            let preamble_us = form.preamble_us(sending.format, sending.streams);
            Some(Mode { phy: self.phys.len() - 1, id, preamble_us, has_pairs: form.coded_streams > 0 })
        });
        self.modes.insert(sending, found);
        found
    }

    /// Airtime of a PPDU with this many bytes.
    pub(crate) fn ppdu(&self, mode: Mode, psdu: u32) -> Duration {
        let mixed = self.phys[mode.phy].ppdu_duration(mode.id, Bytes(psdu.into()));
        let longer_us = mode.preamble_us + if mode.has_pairs { self.pair_us(mode, psdu) } else { 0 };
        Duration::from_nanos(mixed.as_nanos().saturating_add_signed(1000 * longer_us))
    }

    /// The time that a last pair of symbols adds, of which the data need one. [802.11-2020 §19.3.11.4, m_STBC]
    fn pair_us(&self, mode: Mode, psdu: u32) -> i64 {
        let about = self.about(mode);
        let symbol_ns = 3200 + about.guard_interval.as_nanos();
        let bits = about.rate.as_bps() * symbol_ns / 1_000_000_000;
        // SERVICE and tail. Short guard intervals end at a multiple of 4 us.
        let symbols = (8 * u64::from(psdu) + 22).div_ceil(bits.max(1));
        let lasts_us = |symbols: u64| (symbols * symbol_ns).div_ceil(4000) * 4;
        (lasts_us(symbols.next_multiple_of(2)) - lasts_us(symbols)).cast_signed()
    }

    /// The time that an RTS in `rts` reserves after itself for a data PPDU with its answer. [802.11-2020 §9.2.5.2]
    pub(crate) fn behind_rts(&self, rts: Mode, mode: Mode, psdu: u32, is_ampdu: bool) -> Duration {
        let (announcing, phy) = (&self.phys[rts.phy], &self.phys[mode.phy]);
        let cts = announcing.ack_duration(rts.id);
        let answer = if is_ampdu { phy.block_ack_duration(mode.id) } else { phy.ack_duration(mode.id) };
        announcing.sifs() * 3 + cts + self.ppdu(mode, psdu) + answer
    }

    /// PHY rate of its PSDU in bit/s.
    pub(crate) fn rate(&self, mode: Mode) -> DataRate {
        self.phys[mode.phy].mode(mode.id).rate
    }

    /// The PHY's description of a mode.
    pub(crate) fn about(&self, mode: Mode) -> &PhyMode {
        self.phys[mode.phy].mode(mode.id)
    }

    /// A slot and SIFS.
    pub(crate) fn slot_and_sifs(&self, mode: Mode) -> (Duration, Duration) {
        let phy = &self.phys[mode.phy];
        (phy.slot(), phy.sifs())
    }

    /// The time after which an answer has begun, if there is one: SIFS and a slot.
    pub(crate) fn answer_begins(&self, mode: Mode) -> Duration {
        let phy = &self.phys[mode.phy];
        phy.sifs() + phy.slot()
    }
}
