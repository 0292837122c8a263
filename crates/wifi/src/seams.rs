//! Trials of the air, channel access and the senders for features that need many users or many links: these tests stand
//! for an OFDMA scheduler and for a station with two radios.

use std::sync::Arc;

use lasthop_engine::{Scheduler, Stream, Turn};
use lasthop_link::queue_discipline::fifo;
use lasthop_link::{Packet, PacketMeta, QueueDisciplineKind};
use lasthop_observe::{FlowId, LinkId, NodeId, Record};
use lasthop_units::{Dbm, Duration, Time};

use crate::access::function::{Function, State};
use crate::access::lane::{LaneKind, Spaces};
use crate::access::{Contention, Lanes, Requested};
use crate::air::carrier_sense::CarrierSense;
use crate::air::received::Reception;
use crate::air::{Air, AirConfig, Radio};
use crate::books::Books;
use crate::config::{BssConfig, NodeConfig};
use crate::ids::{ExchangeId, FunctionId, SenderId};
use crate::layout::Layout;
use crate::phy::error_model::{ErrorModelKind, none};
use crate::phy::{ModeId, Phy, PhyOptions, Standard};
use crate::ppdu::{Part, Ppdu, PpduKind, QOS_DATA_OVERHEAD, To};
use crate::rate_control::{PeerModes, RateControlKind, fixed};
use crate::sender::links::Links;
use crate::sender::psdu::Tried;
use crate::sender::psdu::{Grant, Psdu};
use crate::sender::{Sender, SenderConfig};
use crate::{AccessCategory, Agenda, Aggregation, Channel, Environment, Matrix, MediumEvent};

/// A PPDU is passed by value.
const _: () = assert!(size_of::<Ppdu>() <= 64 && size_of::<Function>() <= 128);

const AP: NodeId = NodeId(0);
const STATION: NodeId = NodeId(1);
const FAR: NodeId = NodeId(2);

#[derive(Default)]
struct World(Scheduler<MediumEvent>, Vec<u32>);

impl Agenda for World {
    fn schedule(&mut self, at: Time, event: MediumEvent) {
        self.0.at(at, event);
    }
    fn turn(&mut self) -> Turn {
        self.0.turn()
    }
    fn schedule_in_turn(&mut self, at: Time, turn: Turn, event: MediumEvent) {
        self.0.at_turn(at, turn, event);
    }
}

impl Environment<u32> for World {
    fn deliver(&mut self, _: Time, _: NodeId, packet: Packet<u32>) {
        self.1.push(packet.body);
    }
    fn pull(&mut self, _: Time, _: NodeId, _: Option<AccessCategory>) -> Option<Packet<u32>> {
        None
    }
    fn observe(&mut self, _: Time, _: Record) {}
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_micros(us)
}

fn phy() -> Phy {
    PhyOptions::new(Standard::named("802.11n").unwrap()).resolve("bss").unwrap()
}

/// Three radios; the AP and the station hear each other, and the third hears neither well enough.
fn air() -> Air {
    let power = |tx: NodeId, rx: NodeId| Dbm(if tx == FAR || rx == FAR { -95.0 } else { -50.0 });
    let channel = Channel::Matrix(Matrix::new(3, Dbm(-82.0), power));
    let radio = |node: u32| Radio { bss: 0, channel: 0, is_ap: node == AP.0, transmitting: false };
    Air::new(AirConfig {
        radios: (0..3).map(radio).collect(),
        phys: vec![Arc::new(phy())],
        noise_mw_per_hz: 5e-18,
        sense: CarrierSense::new(&channel, None, [None; 3]),
        channel,
        capture: None,
        error_model: ErrorModelKind::None(none::Params::default()).build(1),
        noise: (0..3).map(|n| Stream::new(1, "reception", n)).collect(),
        interferers: crate::interferer::Interferers::default(),
        seed: 1,
    })
}

/// Begins a PPDU at every receiver.
fn on_air(air: &mut Air, at: Time, ppdu: Ppdu) -> (crate::ids::TxId, Time) {
    let begun = air.begun(at, &ppdu);
    for hearer in &*air.hearers(begun.from) {
        air.notice(hearer, &begun, false);
    }
    air.begin(at, ppdu)
}

fn ppdu(first: Part, exchange: ExchangeId) -> Ppdu {
    let airtime = Duration::from_micros(100);
    let initiator = first.from;
    Ppdu {
        kind: PpduKind::Data,
        first,
        more: None,
        airtime,
        reserves_until: us(100),
        exchange,
        initiator,
        of_several: false,
    }
}

fn part(from: NodeId, to: NodeId) -> Part {
    Part { from, to: To::One(to), link: LinkId(1), mode: ModeId(0), bytes: 100, ru: None }
}

#[test]
fn a_ppdu_of_two_parts_is_received_by_each_receiver_for_itself() {
    let mut air = air();
    let more = air.keep_parts(&[part(AP, FAR)]);
    let both = Ppdu { more: Some(more), ..ppdu(part(AP, STATION), ExchangeId(0)) };
    let (id, end) = on_air(&mut air, us(0), both);
    let ended = air.end(id);
    let parts: Vec<Part> = air.parts(&ended.ppdu).copied().collect();
    let received: Vec<_> = parts.iter().map(|part| air.reception(end, &ended, part, part.to.one().unwrap())).collect();
    assert_eq!(received, [Reception::Decoded, Reception::Noisy]);
    air.forget(ended);
}

#[test]
fn a_ppdu_of_two_radios_begins_and_ends_with_both() {
    let mut air = air();
    let more = air.keep_parts(&[part(FAR, AP)]);
    let (id, _) = on_air(&mut air, us(0), Ppdu { more: Some(more), ..ppdu(part(STATION, AP), ExchangeId(0)) });
    assert!(air.is_sending(STATION) && air.is_sending(FAR) && !air.is_sending(AP));
    let ended = air.end(id);
    assert!(!air.is_sending(STATION) && !air.is_sending(FAR));
    air.forget(ended);
}

/// A sender of the station with three packets, and its environment.
struct Upload {
    sender: Sender<u32>,
    layout: Layout,
    links: Links,
    books: Books,
    world: World,
}

impl Upload {
    fn new() -> Upload {
        let (phy, error_model) = (phy(), &ErrorModelKind::None(none::Params::default()));
        let aggregation = Some(Aggregation {
            max_mpdus: 2,
            max_bytes: 65_535,
            max_duration: Duration::from_millis(5),
            max_amsdu: None,
            min_start_spacing: Duration::ZERO,
        });
        let (received, noise_figure) = (Dbm(-50.0), lasthop_units::Db(7.0));
        let peer = PeerModes { phy: &phy, modes: phy.allowed_modes(), received, noise_figure, error_model, seed: 1 };
        let control = || RateControlKind::Fixed(fixed::Params::default()).build(&peer, "rate_control").unwrap();
        let links = Links::new(vec![control(), control()]);
        let bss = BssConfig { aggregation, ..BssConfig::plain(Arc::new(phy)) };
        let layout = Layout::new(vec![bss], &["ap", "sta"].map(NodeConfig::plain));
        let queue = QueueDisciplineKind::Fifo(fifo::Params::default()).build(Stream::new(1, "queue", 0));
        let (category, retry_limit) = (None, Some(7));
        let (node, is_ap, driver, overhead) = (STATION, false, None, QOS_DATA_OVERHEAD);
        let config = SenderConfig { node, is_ap, category, retry_limit, aggregation, overhead, driver, queue };
        let sender = Sender::new(config);
        let mut upload = Upload { sender, layout, links, books: Books::default(), world: World::default() };
        for body in 0..3 {
            let packet = Packet::new(PacketMeta::plain(FlowId(0), STATION, true, 1500), body);
            upload.sender.enqueue(us(0), packet, &upload.layout, &mut upload.books, &mut upload.world);
        }
        upload
    }
    /// The next PSDU that `radio` of the station sends.
    fn next(&mut self, radio: NodeId, at: Time) -> Psdu {
        let mut psdu = Psdu::new(radio);
        let grant = Grant::first(radio, at, None);
        let with = (&self.layout, &mut self.links, &mut self.books);
        assert!(self.sender.next_psdu(at, &grant, with, &mut psdu, &mut self.world));
        psdu
    }
    /// Lets all of `psdu` arrive, and its BlockAck.
    fn arrives(&mut self, now: Time, mut psdu: Psdu) {
        let decoded = vec![true; psdu.lengths.len()];
        self.sender.receive_ampdu(now, SenderId(1), &psdu, &decoded, &mut self.books, &mut self.world);
        let tried = Tried { outcome: lasthop_observe::Outcome::Success, lost_to: None, began: now, snr: None };
        let with = (self.layout.bss_of(STATION), &mut self.links, &mut self.books);
        self.sender.ampdu_acknowledged(now, &mut psdu, &tried, with, &mut self.world);
    }
}

#[test]
fn two_radios_of_a_station_share_a_sender_and_an_agreement() {
    const OTHER_RADIO: NodeId = FAR;
    let mut upload = Upload::new();
    let first = upload.next(STATION, us(0));
    let second = upload.next(OTHER_RADIO, us(10));
    assert_eq!((first.lengths.len(), second.lengths.len()), (2, 1));
    assert_eq!((first.agreement, second.agreement), (0, 0));
    // The later PPDU arrives first, and waits for the other in the recipient's buffer.
    upload.arrives(us(100), second);
    assert_eq!((upload.world.1.len(), upload.sender.held()), (0, 3));
    upload.arrives(us(200), first);
    assert_eq!((upload.world.1.as_slice(), upload.sender.held()), ([0, 1, 2].as_slice(), 0));
}

#[test]
fn a_grant_makes_a_station_send_while_its_own_backoff_runs_on() {
    let mut upload = Upload::new();
    let own = FunctionId(0);
    let mut lanes = Lanes::default();
    let lane = lanes.place(LaneKind { offset: 0, counts_busy_slot: false });
    let backoff = Stream::new(1, "backoff", 0);
    let idle = State::Idle { ready_at: 5 };
    let (cw_min, cw_max, drawn, held_until) = (15, 1023, None, Time::ZERO);
    let function =
        Function { node: STATION, state: idle, lane, cw: cw_min, cw_min, cw_max, backoff, drawn, held_until };
    let spaces = Spaces { slot: Duration::from_micros(9), difs: Duration::from_micros(34) };
    let mut access = Contention::new(lanes, vec![spaces], vec![function], [(0, 0..0), (0, 0..1)].into_iter());
    assert_eq!(access.request(us(40), own, 5, false, &mut upload.world), Requested::Waits);
    let granted = upload.next(STATION, us(50));
    let mut air = air();
    let sent = granted.ppdu(us(50), Duration::from_micros(16), ExchangeId(8));
    let (id, end) = on_air(&mut air, us(50), sent);
    access.ppdu_starts(us(50), 0, STATION, &mut upload.world);
    let ended = air.end(id);
    upload.arrives(end, granted);
    access.ppdus_end(end, 0, 1, &mut upload.world);
    air.forget(ended);
    // One of its five slots after DIFS had passed, and one was in progress, which counts; three are left, after DIFS.
    assert_eq!(access.state(own), State::Contending);
    let due = end + spaces.difs + spaces.slot * 3;
    assert_eq!(access.view(0).awaited().map(|(at, _)| at), Some(due));
}
