//! A signal among others at a receiver: noise, interference, capture, and the result of the error model.
//!
//! Powers add up in milliwatts: the SINR of a stretch of a frame is the ratio of the signal to the noise within the
//! bandwidth of its mode plus all other signals on the air, whatever their bandwidth. Left out: cross-talk of channels
//! that overlap in part.

use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

use super::carrier_sense::{Capture, LEGIBLE_SIR};
use super::on_air::Transmission;
use crate::channel::Matrix;
use crate::phy::error_model::{ErrorModel, ReceivedFrame};
use crate::phy::fading::Quality;
use crate::phy::{Mode, ModeId};

/// A PPDU that overlaps another at a receiver, or a burst that does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    start: Time,
    end: Time,
    pub power_mw: f64,
    /// True if it is a burst of an interferer.
    is_energy: bool,
}

impl Other {
    /// A burst of an interferer.
    pub(super) fn energy(start: Time, end: Time, power_mw: f64) -> Other {
        Other { start, end, power_mw, is_energy: true }
    }
}

/// A signal and the signals around it, at a receiver; powers in milliwatts.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub signal_mw: f64,
    pub noise_mw: f64,
    /// The quality of the link and the mode, if subcarriers or antennas fade apart.
    pub quality: Option<Box<(Quality, Mode)>>,
    others: Vec<Other>,
    /// The power from which on another signal spoils a frame it overlaps, without capture.
    audible_mw: f64,
    capture: Option<Capture>,
}

/// A part of a PPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub from: Time,
    pub to: Time,
}

/// Probabilities that a frame is decoded: as it is, and if nothing overlapped it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Success {
    pub here: f64,
    pub in_silence: f64,
}

/// The spans of a PPDU's frames: they share the time after the header in proportion to their bytes.
pub(super) fn spans(header_ends: Time, end: Time, lengths: &[u32]) -> impl Iterator<Item = (u32, Span)> {
    let (time, bytes) = (end.since(header_ends).as_nanos(), lengths.iter().map(|&l| u64::from(l)).sum::<u64>());
    let after = move |sent: u64| header_ends + Duration::from_nanos(time * sent / bytes.max(1));
    let mut sent = 0;
    lengths.iter().map(move |&length| {
        let from = after(sent);
        sent += u64::from(length);
        (length, Span { from, to: after(sent) })
    })
}

impl Surroundings {
    /// The signals around one of this power in `ended` at `receiver`; `others` is a list to reuse.
    pub(super) fn of(
        matrix: &Matrix,
        ended: &Transmission,
        (signal_mw, receiver): (f64, NodeId),
        noise_mw: f64,
        capture: Option<Capture>,
        mut others: Vec<Other>,
    ) -> Surroundings {
        let all = ended.overlaps.iter().map(|o| Other {
            start: o.start,
            end: o.end,
            power_mw: matrix.power_mw(o.start, o.node, receiver),
            is_energy: false,
        });
        others.clear();
        others.extend(all.filter(|o| o.power_mw > 0.0));
        Surroundings { signal_mw, noise_mw, quality: None, others, audible_mw: matrix.audible_mw(), capture }
    }

    /// Adds bursts of interferers.
    pub(super) fn add(&mut self, bursts: impl Iterator<Item = Other>) {
        self.others.extend(bursts);
    }

    /// Returns whether preamble and header, which last for `span`, are stronger than all interferers at every moment.
    pub(super) fn is_legible(&self, span: Span) -> bool {
        let bursts = || self.others.iter().filter(|o| o.is_energy);
        // Interference is greatest when one of them has just begun.
        bursts().filter(|o| o.start < span.to && o.end > span.from).all(|latest| {
            let worst = latest.start.max(span.from);
            let sum: f64 = bursts().filter(|o| o.start <= worst && o.end > worst).map(|o| o.power_mw).sum();
            self.signal_mw >= LEGIBLE_SIR * sum
        })
    }

    /// Returns its list for reuse.
    pub(super) fn into_others(self) -> Vec<Other> {
        self.others
    }

    /// The SINR that decides, with this interference in milliwatts.
    pub(super) fn sinr(&self, interference_mw: f64) -> f64 {
        let mean = self.signal_mw / (self.noise_mw + interference_mw);
        self.quality.as_ref().map_or(mean, |link| link.0.effective_sinr(&link.1, mean))
    }

    /// Returns whether nothing overlaps the PPDU.
    pub(super) fn is_silent(&self) -> bool {
        self.others.is_empty()
    }

    /// Returns whether signals that overlap `span` leave it clear: none of them is audible, or with capture their sum
    /// is weaker by the threshold at every moment.
    pub(super) fn is_clear(&self, span: Span) -> bool {
        let reaches = |o: &&Other| !o.is_energy && o.power_mw >= self.audible_mw;
        let audible = |o: &&Other| reaches(o) && o.start < span.to && o.end > span.from;
        let mut others = self.others.iter().filter(audible);
        let Some(capture) = self.capture else { return others.next().is_none() };
        // Interference is greatest when one of the others has just begun.
        others.all(|latest| {
            let worst = latest.start.max(span.from);
            let present = self.others.iter().filter(audible).filter(|o| o.start <= worst && o.end > worst);
            capture.captures(self.signal_mw, present.map(|o| o.power_mw).sum())
        })
    }

    /// For each stretch of `span` with constant interference: its share of the whole, and the SINR.
    fn stretches(&self, span: Span) -> impl Iterator<Item = (f64, f64)> {
        let inside = |t: &Time| *t > span.from && *t < span.to;
        let changes = self.others.iter().flat_map(|o| [o.start, o.end]).filter(inside);
        let mut edges: Vec<Time> = [span.from, span.to].into_iter().chain(changes).collect();
        edges.sort_unstable();
        edges.dedup();
        let whole = span.to.since(span.from).as_secs_f64();
        (1..edges.len()).map(move |i| {
            let (from, to) = (edges[i - 1], edges[i]);
            let present = self.others.iter().filter(|o| o.start <= from && o.end >= to);
            let interference: f64 = present.map(|o| o.power_mw).sum();
            (to.since(from).as_secs_f64() / whole, self.sinr(interference))
        })
    }
}

/// The error model, and its previous results.
pub(super) struct Judge<'a> {
    model: &'a mut dyn ErrorModel,
    memory: &'a mut Memory,
    air: &'a Surroundings,
    /// The BSS, and the mode in the BSS's table.
    id: (usize, ModeId),
    /// True if the signal is above the sensitivity of the mode, if that decides.
    strong_enough: bool,
}

impl<'a> Judge<'a> {
    /// A judge of frames in a mode; `id`: the BSS in whose table the mode is, and its index there; `strong_enough`: the
    /// signal is above its sensitivity, if that decides.
    pub(super) fn new(
        model: &'a mut dyn ErrorModel,
        memory: &'a mut Memory,
        air: &'a Surroundings,
        id: (usize, ModeId),
        strong_enough: bool,
    ) -> Self {
        Judge { model, memory, air, id, strong_enough }
    }

    /// The success of `frame`, which lasts for `span`; its SINR is the one without interference.
    pub(super) fn success(&mut self, frame: &ReceivedFrame, span: Span) -> Success {
        let air = self.air;
        if !air.others.is_empty() && !air.is_clear(span) {
            return Success { here: 0.0, in_silence: 1.0 };
        }
        let in_silence = self.in_silence(frame);
        let disturbed = air.others.iter().any(|o| o.start < span.to && o.end > span.from);
        if !disturbed || !self.model.needs_sinr() {
            return Success { here: in_silence, in_silence };
        }
        let part = |(share, sinr): (f64, f64)| {
            let bits = libm::round(frame.bits as f64 * share) as u64;
            self.model.success_probability(&ReceivedFrame { bits, sinr, ..*frame })
        };
        Success { here: air.stretches(span).map(part).product(), in_silence }
    }

    /// Returns whether all frames of one length have one result, in any order.
    pub(super) fn repeats_itself(&self) -> bool {
        self.model.needs_sinr() || self.model.is_none()
    }

    /// The success of a frame without overlap.
    pub(super) fn success_in_silence(&mut self, frame: &ReceivedFrame) -> Success {
        let in_silence = self.in_silence(frame);
        Success { here: in_silence, in_silence }
    }

    fn in_silence(&mut self, frame: &ReceivedFrame) -> f64 {
        match (self.model.needs_sinr(), self.strong_enough) {
            (true, _) => self.memory.success_in_silence(self.id, frame, &mut *self.model),
            (false, true) => self.model.success_probability(frame),
            (false, false) => 0.0,
        }
    }
}

/// More bits than any PSDU has. [802.11ax-2021 Table 27-54]
const LONGEST_FRAME_BITS: u64 = 8 * 6_500_631;

/// Results of an error model that uses the SINR for frames without overlap. Such a model is a function of mode, length
/// and SINR, and few combinations recur throughout a run.
pub(crate) struct Memory {
    /// Results by a hash of their arguments; a later one replaces an earlier one.
    answers: Vec<Option<Answer>>,
    /// For each BSS and mode, the SINR from which on no frame is lost; NaN if it is not known yet.
    certain: Vec<Vec<f64>>,
}

#[derive(Clone, Copy)]
struct Answer {
    mode: (usize, ModeId),
    bits: u64,
    sinr: u64,
    probability: f64,
}

impl Memory {
    const ANSWERS: usize = 1 << 12;

    pub(crate) fn new() -> Self {
        Memory { answers: vec![None; Self::ANSWERS], certain: Vec::new() }
    }

    /// The result of a model that uses the SINR for a frame without overlap.
    pub(super) fn success_in_silence(
        &mut self,
        id: (usize, ModeId),
        frame: &ReceivedFrame,
        model: &mut dyn ErrorModel,
    ) -> f64 {
        if frame.sinr >= self.certain_from(id, frame, model) {
            return 1.0;
        }
        self.recall(id, frame, || model.success_probability(frame))
    }

    /// The SINR from which on even the longest frame is never lost in the model. A stronger signal or fewer bits do no
    /// harm, so the model is not evaluated above it.
    fn certain_from(&mut self, (bss, mode): (usize, ModeId), frame: &ReceivedFrame, model: &mut dyn ErrorModel) -> f64 {
        if self.certain.len() <= bss {
            self.certain.resize(bss + 1, Vec::new());
        }
        let known = &mut self.certain[bss];
        if known.len() <= mode.index() {
            known.resize(mode.index() + 1, f64::NAN);
        }
        if known[mode.index()].is_nan() {
            let longest = ReceivedFrame { bits: LONGEST_FRAME_BITS, ..*frame };
            let mut certain = |db: f64| {
                let sinr = libm::pow(10.0, db / 10.0);
                model.success_probability(&ReceivedFrame { sinr, ..longest }) >= 1.0
            };
            let (mut low, mut high) = (-10.0, 100.0);
            while high - low > 0.01 {
                let middle = (low + high) / 2.0;
                if certain(middle) { high = middle } else { low = middle }
            }
            known[mode.index()] = if certain(high) { libm::pow(10.0, high / 10.0) } else { f64::INFINITY };
        }
        known[mode.index()]
    }

    /// The same as [`certain_from`](Self::certain_from), if it is known; else infinite.
    #[inline(always)]
    pub(super) fn known_certain_from(&self, bss: usize, mode: ModeId) -> f64 {
        let known = self.certain.get(bss).and_then(|modes| modes.get(mode.index()));
        known.copied().filter(|sinr| !sinr.is_nan()).unwrap_or(f64::INFINITY)
    }

    fn recall(&mut self, mode: (usize, ModeId), frame: &ReceivedFrame, ask: impl FnOnce() -> f64) -> f64 {
        let (bits, sinr) = (frame.bits, frame.sinr.to_bits());
        let key = (sinr ^ bits.rotate_left(32) ^ u64::from(mode.1.0) ^ (mode.0 as u64) << 16)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = &mut self.answers[(key >> (64 - Self::ANSWERS.ilog2())) as usize];
        match *place {
            Some(known) if (known.mode, known.bits, known.sinr) == (mode, bits, sinr) => known.probability,
            _ => {
                let probability = ask();
                *place = Some(Answer { mode, bits, sinr, probability });
                probability
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::carrier_sense::LateCapture;
    use super::super::on_air::Overlap;
    use super::*;
    use crate::ids::{ExchangeId, TxId};
    use crate::phy::error_model::{Direction, ErrorModelKind, FrameKind, nist};
    use crate::phy::{Phy, PhyOptions, Standard};
    use crate::ppdu::{Part, Ppdu, PpduKind, To};
    use lasthop_observe::LinkId;
    use lasthop_units::{Db, Dbm};

    const NOISE_MW: f64 = 1e-10;

    fn phy() -> Phy {
        PhyOptions::new(Standard::named("802.11a").unwrap()).resolve("bss").unwrap()
    }
    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    /// A PPDU of node 1 from 0 to 3020 us, overlapped by PPDUs of others from and to these times.
    fn transmission(others: &[(u32, u64, u64)]) -> Transmission {
        let overlap =
            |&(node, from, to): &(u32, u64, u64)| Overlap { node: NodeId(node), start: us(from), end: us(to) };
        let ppdu = Ppdu {
            kind: PpduKind::Data,
            first: Part {
                from: NodeId(1),
                to: To::One(NodeId(0)),
                link: LinkId(0),
                mode: ModeId(4),
                bytes: 3000,
                ru: None,
            },
            more: None,
            airtime: Duration::from_micros(3020),
            reserves_until: us(0),
            exchange: ExchangeId(0),
            initiator: NodeId(1),
            of_several: false,
        };
        Transmission {
            id: TxId(0),
            ppdu,
            start: us(0),
            end: us(3020),
            is_disturbed: !others.is_empty(),
            came_second: false,
            overlaps: others.iter().map(overlap).collect(),
        }
    }

    /// At node 0, node 1 is heard at -50 dBm and node n at `levels[n - 2]`.
    fn air(levels: &[f64], others: &[(u32, u64, u64)], capture: Option<f64>) -> Surroundings {
        let power = |tx: NodeId, _| Dbm(if tx.0 < 2 { -50.0 } else { levels[tx.index() - 2] });
        let matrix = Matrix::new(levels.len() + 2, Dbm(-82.0), power);
        let capture = capture.map(|db| Capture { threshold: Db(db), late: LateCapture::Off });
        Surroundings::of(
            &matrix,
            &transmission(others),
            (matrix.power_mw(us(0), NodeId(1), NodeId(0)), NodeId(0)),
            NOISE_MW,
            capture,
            Vec::new(),
        )
    }

    /// For each of three equal MPDUs of 1000 bytes at 24 Mbit/s: true if it is sure to arrive, false if it is sure not
    /// to.
    fn fates(air: &Surroundings) -> Vec<bool> {
        let phy = phy();
        let mode = phy.mode(ModeId(4));
        let (mut model, mut memory) = (ErrorModelKind::Nist(nist::Params {}).build(1), Memory::new());
        let mut judge = Judge::new(&mut *model, &mut memory, air, (0, ModeId(4)), true);
        let fate = |(bytes, span): (u32, Span)| {
            let (kind, direction, sinr) = (FrameKind::Data, Direction::Up, air.signal_mw / air.noise_mw);
            let bits = u64::from(bytes) * 8;
            let frame = ReceivedFrame { at: us(3020), mode, kind, direction, link: 0, bits, sinr };
            let success = judge.success(&frame, span);
            assert!(success.here < 1e-9 || success.here > 1.0 - 1e-9, "{success:?}");
            assert!(success.in_silence > 1.0 - 1e-9);
            success.here > 0.5
        };
        spans(us(20), us(3020), &[1000; 3]).map(fate).collect()
    }

    #[test]
    fn mpdus_share_the_time_after_the_header_by_bytes() {
        let spans: Vec<_> = spans(us(20), us(3020), &[500, 1500, 1000]).map(|(_, s)| (s.from, s.to)).collect();
        assert_eq!(spans, [(us(20), us(520)), (us(520), us(2020)), (us(2020), us(3020))]);
    }

    #[test]
    fn burst_spoils_only_overlapped_mpdus() {
        // An interferer as strong as the signal, with capture and without.
        for capture in [None, Some(10.0)] {
            assert_eq!(fates(&air(&[-50.0], &[(2, 30, 1019)], capture)), [false, true, true]);
            assert_eq!(fates(&air(&[-50.0], &[(2, 30, 1020)], capture)), [false, true, true]);
            assert_eq!(fates(&air(&[-50.0], &[(2, 30, 1030)], capture)), [false, false, true]);
            assert_eq!(fates(&air(&[-50.0], &[(2, 1500, 1600)], capture)), [true, false, true]);
        }
    }

    #[test]
    fn without_capture_noticed_ppdus_spoil_and_others_only_interfere() {
        assert_eq!(fates(&air(&[-82.0], &[(2, 0, 4000)], None)), [false; 3]);
        assert_eq!(fates(&air(&[-82.1], &[(2, 0, 4000)], None)), [true; 3]);
    }

    #[test]
    fn powers_of_all_that_overlap_add_up() {
        // Three of -65 dBm are -60.23 dBm: 10.23 dB below the signal; a fourth makes -58.98.
        let others: Vec<(u32, u64, u64)> = (2..6).map(|node| (node, 100, 900)).collect();
        let whole = Span { from: us(20), to: us(1020) };
        assert!(air(&[-65.0; 3], &others[..3], Some(10.2)).is_clear(whole));
        assert!(!air(&[-65.0; 3], &others[..3], Some(10.3)).is_clear(whole));
        assert!(!air(&[-65.0; 4], &others, Some(10.2)).is_clear(whole));
        // They do not spoil it one after the other.
        let apart: Vec<(u32, u64, u64)> =
            (2..6).map(|node| (node, 200 * u64::from(node), 200 * u64::from(node) + 200)).collect();
        assert!(air(&[-65.0; 4], &apart, Some(14.9)).is_clear(whole));
    }

    #[test]
    fn sinr_of_each_stretch_has_noise_and_present_signals() {
        let air = air(&[-60.0, -70.0], &[(2, 270, 770), (3, 520, 4000)], Some(1.0));
        let found: Vec<_> = air.stretches(Span { from: us(20), to: us(1020) }).collect();
        // -50 dBm = 1e-5 mW over 1e-10 of noise, 1e-6 of the first interferer and 1e-7 of the second.
        let expected = [1e-10, 1.0001e-6, 1.1001e-6, 1.001e-7].map(|noise| (0.25, 1e-5 / noise));
        assert!(found.iter().zip(expected).all(|(f, e)| f.0 == e.0 && (f.1 / e.1 - 1.0).abs() < 1e-9), "{found:?}");
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn same_query_gives_the_same_answer_after_others() {
        let phy = phy();
        let mut memory = Memory::new();
        let mut model = ErrorModelKind::Nist(nist::Params {}).build(1);
        for k in 0..20_000u32 {
            let (mode, bits, sinr) = (ModeId((k % 8) as u16), u64::from(k % 7 * 800), f64::from(k % 301) / 10.0);
            let (kind, direction) = (FrameKind::Data, Direction::Up);
            let frame = ReceivedFrame { at: us(0), mode: phy.mode(mode), kind, direction, link: 0, bits, sinr };
            let asked = model.success_probability(&frame);
            assert_eq!(memory.recall((0, mode), &frame, || asked), asked);
        }
    }
}
