//! A BSS with PPDUs of several users, for the medium and for the twin.

use std::sync::Arc;

use crate::cell::{self, Load, MediumConfig};
use crate::twin::{self, Acknowledged, Source, Times, Use, choose_stations, choose_use};
use lasthop_observe::NodeId;
use lasthop_registry::{Amount, Plugged, Value};
use lasthop_units::{Bytes, Dbm, Duration, Time};
use lasthop_wifi::multi_user::scheduler::{
    Offer, Scheduler, SchedulerContext, SchedulerKind, SchedulerMaker, Turn, Waiting, Won,
};
use lasthop_wifi::phy::{ChannelWidth, GuardInterval, ModeId, Phy, PhyOptions, Ru, RuPart, Standard, frame_size};
use lasthop_wifi::{
    AccessCategory, Acknowledge, Aggregation, Channel, ChannelAccess, EdcaParameters, Matrix, MuEdca, MultiUser,
};

/// A TID of each category, in order of falling priority.
const TIDS: [u8; 4] = [6, 5, 0, 1];

/// A BSS, for both implementations.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub ms: u64,
    pub stations: usize,
    pub width: ChannelWidth,
    pub guard: GuardInterval,
    pub mcs: u8,
    pub packet_bytes: u64,
    pub max_mpdus: u32,
    pub longest: Duration,
    pub category: usize,
    /// Parameters of the category at each node.
    pub edca: Vec<EdcaParameters>,
    pub max_users: u32,
    pub acknowledge: Acknowledge,
    pub uplink: bool,
    pub bsrp: bool,
    pub access_request: Option<Duration>,
    pub mu_edca: Option<MuEdca>,
    /// Of each node.
    pub sources: Vec<Source>,
}

/// Chooses as the twin does.
struct Chooser {
    width_mhz: u32,
    bsrp: bool,
    most: usize,
}

impl Chooser {
    fn choose(&self, now: Time, waiting: &[Waiting]) -> Vec<usize> {
        let mut places: Vec<usize> = waiting.iter().map(|of| of.place).collect();
        places.sort_unstable();
        let chosen = choose_stations(now.as_nanos(), &places, self.most, self.width_mhz);
        chosen.iter().map(|place| waiting.iter().position(|of| of.place == *place).expect("it waits")).collect()
    }
}

impl Scheduler for Chooser {
    fn turn(&mut self, won: &Won<'_>) -> Turn {
        match choose_use(won.now.as_nanos(), won.has_data, won.has_reports(), self.bsrp) {
            Use::Queue => Turn::Queue,
            Use::Question => Turn::Question,
            Use::Data => Turn::Data,
        }
    }
    fn downlink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        self.choose(offer.now, offer.waiting)
    }
    fn uplink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        self.choose(offer.now, offer.waiting)
    }
}

impl Case {
    pub fn phy(&self) -> Phy {
        let options = PhyOptions {
            channel_width: Some(self.width),
            guard_interval: Some(self.guard),
            ..PhyOptions::new(Standard::named("802.11ax").expect("a standard"))
        };
        options.resolve("bss").expect("a PHY")
    }

    fn width_mhz(&self) -> u32 {
        u32::from(self.width.mhz())
    }

    pub fn for_medium(&self, seed: u64) -> MediumConfig {
        let phy = self.phy();
        let rate = phy.mode(phy.mode_of_mcs(self.mcs).expect("an MCS")).rate;
        let mut config = cell::config(phy.clone(), self.stations);
        config.seed = seed;
        config.queues = cell::fifos(Amount::Unlimited);
        for (node, edca) in config.nodes.iter_mut().zip(&self.edca) {
            let mut all = AccessCategory::ALL.map(|category| EdcaParameters {
                txop_limit: Duration::ZERO,
                ..EdcaParameters::default_of(category, 15, 1023)
            });
            all[self.category] = *edca;
            node.access = ChannelAccess::Edca(all);
            node.retry_limit = Some(200);
        }
        for control in &mut config.rate_controls {
            *control = cell::fixed_rate(&phy, Some(rate));
        }
        if self.uplink {
            // Each node has a NAV of its own.
            config.channel = Channel::Matrix(Matrix::new(self.stations + 1, Dbm(-82.0), |_, _| Dbm(-20.0)));
        }
        let (width_mhz, bsrp, most) = (self.width_mhz(), self.bsrp, self.max_users as usize);
        let maker: Arc<SchedulerMaker> =
            Arc::new(move |_: SchedulerContext| Box::new(Chooser { width_mhz, bsrp, most }) as Box<dyn Scheduler>);
        let bss = &mut config.bss[0];
        bss.aggregation = Some(Aggregation {
            max_mpdus: self.max_mpdus,
            max_bytes: 6_500_631,
            max_duration: self.longest,
            max_amsdu: None,
            min_start_spacing: Duration::ZERO,
        });
        bss.multi_user = Some(MultiUser {
            downlink: true,
            uplink: self.uplink,
            max_users: self.max_users,
            acknowledge: self.acknowledge,
            bsrp: self.bsrp,
            access_request: self.access_request,
            holds_stations: self.mu_edca.is_some_and(|of| of.aifsn == 0),
            ..MultiUser::default()
        });
        bss.scheduler = SchedulerKind::Foreign(Plugged::new("chooser", Value::text("chooser"), maker));
        bss.mu_edca = self.mu_edca.map(|of| {
            let mut all = [None; 4];
            all[self.category] = Some(of);
            all
        });
        config
    }

    pub fn load(&self) -> Load {
        let mut load =
            Load { packet_bytes: self.packet_bytes as u32, keep_records: true, keep_details: true, ..Load::default() };
        let tid = TIDS[self.category];
        for (index, source) in self.sources.iter().enumerate() {
            let node = NodeId(index as u32);
            match *source {
                Source::Saturated => load.saturated.push((node, tid)),
                Source::Periodic { first_ns, interval_ns } => {
                    let times = (0..).map(|k| first_ns + k * interval_ns).take_while(|t| *t < self.ms * 1_000_000);
                    load.arrivals.extend(times.map(|t| (Time::from_nanos(t), node, tid)));
                }
                Source::Silent => {}
                Source::Bernoulli { .. } => unreachable!("the medium is not told of such"),
            }
        }
        load.arrivals.sort_unstable();
        load
    }

    pub fn for_twin(&self) -> twin::Config {
        let phy = self.phy();
        let ns = |d: Duration| d.as_nanos();
        let data = phy.mode_of_mcs(self.mcs).expect("an MCS");
        let response = phy.control_response_mode(data);
        let lasts = |bytes: Bytes| ns(phy.ppdu_duration(response, bytes));
        // The window of 802.11ax.
        let (window, bitmap_bytes) = (256, 32);
        let users = twin::Users {
            times: Box::new(PhyTimes::new(self)),
            width_mhz: self.width_mhz(),
            longest_ns: ns(self.longest),
            max_users: self.max_users as usize,
            max_mpdus: self.max_mpdus as usize,
            uplink: self.uplink,
            acknowledged: match self.acknowledge {
                Acknowledge::MuBar => Acknowledged::MuBar,
                Acknowledge::Bar => Acknowledged::Bar,
                Acknowledge::Aggregated => Acknowledged::Aggregated,
            },
            bsrp: self.bsrp,
            access_request_ns: self.access_request.map(ns),
            mu_edca: self.mu_edca.map(|of| twin::MuEdca {
                aifsn: u64::from(of.aifsn),
                cw_min: of.cw_min,
                cw_max: of.cw_max,
                timer_ns: ns(of.timer),
            }),
            category: self.category,
            packet_bytes: self.packet_bytes,
            max_bytes: 6_500_631,
            bitmap_bytes,
            tb_timeout_ns: ns(phy.ack_timeout(response)),
        };
        let bytes = |mpdus: u64| users.psdu_bytes(mpdus as usize);
        let duration = |mpdus: u64| ns(phy.ppdu_duration(data, Bytes(bytes(mpdus))));
        let fits = |mpdus: &u64| *mpdus == 1 || duration(*mpdus) <= ns(self.longest);
        let aggregation = twin::Aggregation {
            window,
            subframe_bytes: users.subframe_bytes(),
            t_block_ack_ns: lasts(Bytes(24 + bitmap_bytes)),
            t_request_ns: lasts(frame_size::BLOCK_ACK_REQ),
            t_cf_end_ns: lasts(frame_size::CF_END),
            preamble_ns: ns(phy.header_duration(data)),
            durations_ns: (1..=u64::from(self.max_mpdus)).take_while(fits).map(duration).collect(),
            rts_over_bytes: 0,
            multiple_protection: false,
            reorder_timeout_ns: 100_000_000,
        };
        let node = |index: usize| {
            let category = |category: usize| {
                let of = self.edca[index];
                let is_used = category == self.category;
                twin::Category {
                    source: if is_used { self.sources[index] } else { Source::Silent },
                    aifsn: u64::from(of.aifsn),
                    cw_min: of.cw_min,
                    cw_max: of.cw_max,
                    txop_limit_ns: ns(of.txop_limit),
                    to: Some(usize::from(index == 0)),
                }
            };
            twin::NodeConfig::edca([0, 1, 2, 3].map(category))
        };
        let nodes = self.stations + 1;
        twin::Config {
            slot_ns: ns(phy.slot()),
            sifs_ns: ns(phy.sifs()),
            difs_ns: ns(phy.difs()),
            eifs_ns: ns(phy.eifs(data)),
            t_data_ns: 0,
            t_ack_ns: lasts(frame_size::ACK),
            t_rts_ns: lasts(frame_size::RTS),
            t_cts_ns: lasts(frame_size::CTS),
            ack_timeout_ns: ns(phy.ack_timeout(response)),
            cts_timeout_ns: ns(phy.ack_timeout(response)),
            cw_min: phy.cw_min(),
            cw_max: phy.cw_max(),
            retry_limit: Some(200),
            countdown: twin::Countdown::Frozen,
            eifs: true,
            rts: false,
            nav_timeout_ns: None,
            capture: None,
            carrier: None,
            interferers: None,
            hears: vec![vec![true; nodes]; nodes],
            aggregation: Some(aggregation),
            users: Some(users),
            nodes: (0..nodes).map(node).collect(),
        }
    }
}

struct PhyTimes {
    phy: Phy,
    data: ModeId,
    /// For BlockAcks that answer a trigger.
    answer: ModeId,
    response: ModeId,
}

impl PhyTimes {
    fn new(case: &Case) -> PhyTimes {
        let phy = case.phy();
        let mode = |mcs: u8| phy.mode_of_mcs(mcs).expect("an MCS");
        let data = mode(case.mcs);
        // The rate of an acknowledgement, 24, 12 or 6 Mbit/s, as an MCS: 16-QAM 1/2, QPSK 1/2, BPSK 1/2.
        let answer = mode([0, 1, 1, 3][usize::from(case.mcs.min(3))]);
        let response = phy.control_response_mode(data);
        PhyTimes { data, answer, response, phy }
    }
}

fn unit(tones: u32) -> Ru {
    *Ru::ALL.iter().find(|ru| ru.tones() == tones).expect("a unit")
}

impl Times for PhyTimes {
    fn mu_ns(&self, tones: u32, psdus: &[u64]) -> u64 {
        let part = |psdu: &u64| RuPart { mode: self.data, ru: unit(tones), psdu: Bytes(*psdu) };
        self.phy.he_mu_duration(&psdus.iter().map(part).collect::<Vec<_>>()).as_nanos()
    }
    fn tb_ns(&self, tones: u32, users: usize, bytes: u64) -> u64 {
        let part = RuPart { mode: self.data, ru: unit(tones), psdu: Bytes(bytes) };
        self.phy.he_tb_duration(&vec![part; users]).as_nanos()
    }
    fn null_ns(&self, tones: u32, users: usize, bytes: u64) -> u64 {
        let slowest = self.phy.mode_of_mcs(0).expect("an MCS");
        let part = RuPart { mode: slowest, ru: unit(tones), psdu: Bytes(bytes) };
        self.phy.he_tb_duration(&vec![part; users]).as_nanos()
    }
    /// At 24 Mbit/s, the highest basic rate.
    fn trigger_ns(&self, bytes: u64) -> u64 {
        let fastest = *self.phy.allowed_modes().last().expect("a mode");
        self.phy.ppdu_duration(self.phy.control_response_mode(fastest), Bytes(bytes)).as_nanos()
    }
    fn tb_control_ns(&self, tones: u32, users: usize, bytes: u64) -> u64 {
        let part = RuPart { mode: self.answer, ru: unit(tones), psdu: Bytes(bytes) };
        self.phy.he_tb_duration(&vec![part; users]).as_nanos()
    }
    fn tb_longest_ns(&self, tones: u32, users: usize, room: u64) -> Option<u64> {
        let modes = vec![self.data; users];
        let around = self.phy.ru_overhead(&modes, unit(tones), true);
        let symbols = Duration::from_nanos(room.checked_sub(around.as_nanos())?);
        let whole = self.phy.whole_symbols(symbols);
        (whole > Duration::ZERO).then(|| (around + whole).as_nanos())
    }
    fn control_ns(&self, bytes: u64) -> u64 {
        self.phy.ppdu_duration(self.response, Bytes(bytes)).as_nanos()
    }
    /// [802.11ax-2021 §9.2.4.5.6]: a scaling factor of 2 bits, a value of 6 bits, rounded up; 62 with the largest: more.
    fn report(&self, bytes: u64) -> u64 {
        for (first, unit, values) in [(0, 16, 64), (1024, 256, 64), (17_408, 2048, 64), (148_480, 32_768, 62)] {
            let value = bytes.saturating_sub(first).div_ceil(unit);
            if value < values {
                return first + unit * value;
            }
        }
        148_480 + 62 * 32_768
    }
}
