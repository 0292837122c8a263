//! Audibility and received power: path loss, walls, fading, hidden pairs and channels in one place.
//!
//! The power of a PPDU at a receiver is taken when the PPDU begins and is kept to its end. It is a function of that
//! instant alone, so looking it up more or less often changes nothing. Left out: changes within a PPDU, and propagation
//! delay.

use core::cell::Cell;
use std::sync::Arc;

use lasthop_observe::NodeId;
use lasthop_units::{Db, Dbm, Duration, Time};

use crate::phy::Mode;
use crate::phy::fading::{Fading, Quality};

/// Received powers between all nodes of a medium.
///
/// If every node hears every other node of its channel well enough for every mode, nothing is stored. This is the
/// common case in papers, and it is cheap for thousands of stations.
#[derive(Clone, Debug)]
pub enum Channel {
    /// all nodes of a group hear one another, above the sensitivity of every mode, and hear no other node
    Uniform {
        /// group of each node, counted from 0 without gaps
        group: Vec<u32>,
    },
    /// power from the matrix
    Matrix(Matrix),
}

impl Channel {
    /// A channel on which all nodes hear one another.
    pub fn uniform(nodes: usize) -> Channel {
        Channel::Uniform { group: vec![0; nodes] }
    }

    /// Returns whether nodes share views.
    pub fn is_uniform(&self) -> bool {
        matches!(self, Channel::Uniform { .. })
    }

    /// The number of views of the medium: one for each group of nodes that hear the same, or one for each node.
    pub fn views(&self) -> usize {
        match self {
            Channel::Uniform { group } => group.iter().max().map_or(0, |last| *last as usize + 1),
            Channel::Matrix(matrix) => matrix.nodes(),
        }
    }

    /// The view of `node`.
    pub fn view_of(&self, node: NodeId) -> usize {
        match self {
            Channel::Uniform { group } => group[node.index()] as usize,
            Channel::Matrix(_) => node.index(),
        }
    }

    /// For each node, the views that may ever hear it, its own included; empty lists where nodes share views.
    pub(crate) fn hearers(&self) -> Vec<Arc<[Hearer]>> {
        match self {
            Channel::Uniform { group } => vec![Arc::default(); group.len()],
            Channel::Matrix(matrix) => (0..matrix.nodes as u32).map(|tx| matrix.hearers_of(NodeId(tx))).collect(),
        }
    }

    /// Returns whether nodes of `view` hear a PPDU that `tx` begins to send at `began`.
    pub fn hears(&self, began: Time, view: usize, tx: NodeId) -> bool {
        match self {
            Channel::Uniform { group } => group[tx.index()] as usize == view,
            Channel::Matrix(matrix) => matrix.hears(began, NodeId(view as u32), tx),
        }
    }
}

/// A view that may hear a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearer {
    pub view: u32,
    /// The power in milliwatts with which it hears the node, if that power is constant.
    pub power_mw: f64,
}

/// Levels from which on a receiver notices a signal [802.11-2020 §17.3.10.6].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CcaLevels {
    /// lowest power of a PPDU whose preamble it receives
    pub preamble: Dbm,
    /// lowest power of any other signal
    pub energy: Dbm,
}

impl From<Dbm> for CcaLevels {
    /// One level for both: a receiver notices every audible signal, whatever it was doing when the signal began.
    fn from(level: Dbm) -> Self {
        CcaLevels { preamble: level, energy: level }
    }
}

/// Received power from each node at each node.
#[derive(Clone, Debug)]
pub struct Matrix {
    nodes: usize,
    /// mean power in milliwatts at the start, receiver-major; zero for pairs that do not hear one another
    power: Vec<f64>,
    /// lowest power at which a preamble is received
    pub(crate) preamble_mw: f64,
    /// lowest power at which any signal is noticed
    pub(crate) energy_mw: f64,
    varying: Option<Varying>,
}

/// Mean received powers where nodes move.
pub trait Movement: core::fmt::Debug + Send + Sync {
    /// Returns whether either of two nodes ever moves.
    fn moves(&self, tx: NodeId, rx: NodeId) -> bool;
    /// Mean power at `rx` of a signal of `tx` at the time `at`.
    fn mean_power(&self, at: Time, tx: NodeId, rx: NodeId) -> Dbm;
}

/// Causes of powers that change in time.
#[derive(Clone, Debug)]
struct Varying {
    fading: Option<Fading>,
    /// movement, and the interval at which positions are looked up
    movement: Option<(Arc<dyn Movement>, Duration)>,
    /// the latest power found, for each ordered pair
    memory: Vec<Cell<Found>>,
    /// changes during a run, if there may be any
    turned: Option<Turned>,
}

/// Powers and channels that change during a run: of each node, values and the times from which on PPDUs have them.
#[derive(Clone, Debug, Default)]
struct Turned {
    /// factors of transmit powers; empty if they do not change
    factors: Vec<Past<f64>>,
    /// channels; empty if they do not change
    channels: Vec<Past<u32>>,
}

type Past<T> = Vec<(Time, T)>;

/// The value at a time.
fn at_time<T: Copy>(past: &Past<T>, at: Time) -> Option<T> {
    past.iter().rev().find(|(from, _)| *from <= at).map(|(_, value)| *value)
}

/// Adds a value that holds from `now` on, and forgets those that no PPDU on the air has.
fn add_to<T: Copy>(past: &mut Past<T>, now: Time, value: T) {
    let old = past.iter().rposition(|(from, _)| now.since(*from) > LONGER_THAN_A_PPDU).unwrap_or(0);
    past.drain(..old);
    past.push((now, value));
}

/// A PPDU is shorter: values that ended before are forgotten.
const LONGER_THAN_A_PPDU: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
struct Found {
    block: u64,
    gain: f64,
    step: u64,
    mean_mw: f64,
}

/// `power` in milliwatts.
pub(crate) fn milliwatts(power: Dbm) -> f64 {
    power.to_milliwatts(|x| libm::pow(10.0, x)).0
}

impl Matrix {
    /// A matrix from `power(transmitter, receiver)`.
    pub fn new(nodes: usize, levels: impl Into<CcaLevels>, power: impl Fn(NodeId, NodeId) -> Dbm) -> Self {
        let pairs = (0..nodes * nodes).map(|i| (NodeId((i % nodes) as u32), NodeId((i / nodes) as u32)));
        let levels = levels.into();
        Matrix {
            nodes,
            power: pairs.map(|(tx, rx)| milliwatts(power(tx, rx))).collect(),
            preamble_mw: milliwatts(levels.preamble),
            energy_mw: milliwatts(levels.energy),
            varying: None,
        }
    }

    /// This matrix with `fading`, and with nodes that move; their positions are looked up every `interval`.
    pub fn varying(self, fading: Option<Fading>, movement: Option<(Arc<dyn Movement>, Duration)>) -> Self {
        if fading.is_none() && movement.is_none() {
            return self;
        }
        let memory = self.memory();
        Matrix { varying: Some(Varying { fading, movement, memory, turned: None }), ..self }
    }

    /// This matrix with transmit powers that may be changed during a run.
    pub fn with_turned_powers(self) -> Self {
        let factors = vec![Vec::new(); self.nodes];
        self.with_turned(|turned| turned.factors = factors)
    }

    /// This matrix with channels that may be changed during a run, and those of the start: its powers are those of nodes on one channel,
    /// and nodes on different channels do not hear one another.
    pub fn with_turned_channels(self, start: impl Iterator<Item = u32>) -> Self {
        let channels = start.map(|channel| vec![(Time::ZERO, channel)]).collect();
        self.with_turned(|turned| turned.channels = channels)
    }

    fn with_turned(self, change: impl FnOnce(&mut Turned)) -> Self {
        let fresh = Varying { fading: None, movement: None, memory: self.memory(), turned: None };
        let mut varying = self.varying.unwrap_or(fresh);
        change(varying.turned.get_or_insert_default());
        Matrix { varying: Some(varying), ..self }
    }

    /// Returns whether channels may be changed during a run.
    pub(crate) fn turns_channels(&self) -> bool {
        let turned = self.varying.as_ref().and_then(|varying| varying.turned.as_ref());
        turned.is_some_and(|turned| !turned.channels.is_empty())
    }

    /// Moves a node to another channel: PPDUs that begin from `now` on are sent and heard there.
    ///
    /// # Panics
    /// If channels may not be [turned](Self::with_turned_channels).
    pub(crate) fn set_channel(&mut self, now: Time, node: NodeId, channel: u32) {
        let turned = self.varying.as_mut().and_then(|varying| varying.turned.as_mut());
        let past = turned.and_then(|turned| turned.channels.get_mut(node.index()));
        add_to(past.expect("the channels of this matrix may be turned"), now, channel);
    }

    fn memory(&self) -> Vec<Cell<Found>> {
        let found = |&mean_mw: &f64| Cell::new(Found { block: u64::MAX, gain: 1.0, step: 0, mean_mw });
        self.power.iter().map(found).collect()
    }

    /// Raises the powers of PPDUs that `tx` begins from `now` on by `gain`, measured from the start of the run.
    ///
    /// # Panics
    /// If powers may not be [turned](Self::with_turned_powers).
    pub(crate) fn set_gain(&mut self, now: Time, tx: NodeId, gain: Db) {
        let turned = self.varying.as_mut().and_then(|varying| varying.turned.as_mut());
        let past = turned.and_then(|turned| turned.factors.get_mut(tx.index()));
        add_to(past.expect("the powers of this matrix may be turned"), now, libm::pow(10.0, gain.0 / 10.0));
    }

    /// Returns whether powers change with time.
    pub(crate) fn is_varying(&self) -> bool {
        self.varying.is_some()
    }

    /// Returns whether subcarriers or antennas fade apart.
    pub(crate) fn is_spread(&self) -> bool {
        self.varying.as_ref().and_then(|varying| varying.fading.as_ref()).is_some_and(Fading::is_spread)
    }

    /// The quality of the link for a PPDU that `tx` begins to send to `rx` at `began`, if its subcarriers or antennas fade
    /// apart.
    pub(crate) fn quality(&self, began: Time, tx: NodeId, rx: NodeId) -> Option<Quality> {
        let fading = self.varying.as_ref()?.fading.as_ref().filter(|_| tx != rx)?;
        fading.quality(tx.index(), rx.index(), began)
    }

    /// The SINR that decides about a PPDU in `mode`, from the one of the mean over subcarriers and antennas.
    pub(crate) fn effective_sinr(&self, began: Time, ends: [NodeId; 2], mode: &Mode, sinr: f64) -> f64 {
        self.quality(began, ends[0], ends[1]).map_or(sinr, |quality| quality.effective_sinr(mode, sinr))
    }

    /// Power in milliwatts at `rx` of a PPDU that `tx` begins to send at `began`.
    #[inline(always)]
    pub fn power_mw(&self, began: Time, tx: NodeId, rx: NodeId) -> f64 {
        let place = rx.index() * self.nodes + tx.index();
        match &self.varying {
            None => self.power[place],
            Some(varying) => varying.power_mw(place, began, tx, rx),
        }
    }

    /// Returns whether a PPDU that `tx` begins to send at `began` is strong enough at `rx` to be heard at all.
    pub fn hears(&self, began: Time, rx: NodeId, tx: NodeId) -> bool {
        rx == tx || self.power_mw(began, tx, rx) >= self.audible_mw()
    }

    /// Views that may ever hear `tx`: all of them where powers change.
    fn hearers_of(&self, tx: NodeId) -> Arc<[Hearer]> {
        let hears = |rx: &u32| self.is_varying() || self.hears(Time::ZERO, NodeId(*rx), tx);
        let hearer = |view| Hearer { view, power_mw: self.power[view as usize * self.nodes + tx.index()] };
        (0..self.nodes as u32).filter(hears).map(hearer).collect()
    }

    /// The power from which on any signal is heard at all.
    pub(crate) fn audible_mw(&self) -> f64 {
        self.preamble_mw.min(self.energy_mw)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

impl Varying {
    #[inline(never)]
    fn power_mw(&self, place: usize, at: Time, tx: NodeId, rx: NodeId) -> f64 {
        let mut found = self.memory[place].get();
        if tx == rx {
            return found.mean_mw;
        }
        if let Some((movement, interval)) = &self.movement {
            let step = at.as_nanos() / interval.as_nanos();
            if step != found.step && movement.moves(tx, rx) {
                let then = Time::from_nanos(step * interval.as_nanos());
                (found.step, found.mean_mw) = (step, milliwatts(movement.mean_power(then, tx, rx)));
            }
        }
        if let Some(fading) = self.fading.as_ref().filter(|_| found.mean_mw > 0.0) {
            let (a, b) = (tx.index(), rx.index());
            let block = fading.block(a, b, at);
            if block != found.block {
                (found.block, found.gain) = (block, fading.gain(a, b, block));
            }
        }
        self.memory[place].set(found);
        let power = found.mean_mw * found.gain;
        self.turned.as_ref().map_or(power, |turned| power * turned.factor(at, tx, rx))
    }
}

impl Turned {
    /// The factor of the power at `rx` of a PPDU that `tx` begins at `at`.
    fn factor(&self, at: Time, tx: NodeId, rx: NodeId) -> f64 {
        let channel = |node: NodeId| self.channels.get(node.index()).and_then(|past| at_time(past, at));
        if channel(tx) != channel(rx) {
            return 0.0;
        }
        self.factors.get(tx.index()).and_then(|past| at_time(past, at)).unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::fading::{Antenna, FadingKind, Spread};
    use crate::phy::path_loss::{Position, Way};

    #[test]
    fn nodes_of_a_group_hear_one_another_and_nobody_else() {
        let channel = Channel::Uniform { group: vec![0, 1, 0, 1, 2] };
        assert_eq!((channel.views(), channel.view_of(NodeId(3))), (3, 1));
        let heard = |view| (0..5).filter(|&tx| channel.hears(Time::ZERO, view, NodeId(tx))).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(heard), [vec![0, 2], vec![1, 3], vec![4]]);
    }

    #[test]
    fn a_matrix_has_a_view_for_each_node() {
        let power = |tx: NodeId, rx: NodeId| Dbm(if tx.0 + rx.0 == 1 { -82.0 } else { -82.1 });
        let channel = Channel::Matrix(Matrix::new(3, Dbm(-82.0), power));
        assert_eq!((channel.views(), channel.view_of(NodeId(2))), (3, 2));
        let heard = |view| (0..3).filter(|&tx| channel.hears(Time::ZERO, view, NodeId(tx))).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(heard), [vec![0, 1], vec![0, 1], vec![2]]);
    }

    /// Node 1 walks away from node 0 and loses 1 dB a second.
    #[derive(Debug)]
    struct Walk;

    impl Movement for Walk {
        fn moves(&self, tx: NodeId, rx: NodeId) -> bool {
            tx.0 == 1 || rx.0 == 1
        }
        fn mean_power(&self, at: Time, _: NodeId, _: NodeId) -> Dbm {
            Dbm(-50.0 - at.as_secs_f64())
        }
    }

    fn varying(fading: FadingKind) -> Matrix {
        let way = Way::from(Position::default());
        let antennas = ["ap", "a", "b"].map(|name| Antenna {
            name,
            way: &way,
            frequency_hz: 5.18e9,
            bandwidth_hz: 20e6,
            antennas: 1,
        });
        let movement: Arc<dyn Movement> = Arc::new(Walk);
        let still = Matrix::new(3, Dbm(-82.0), |_, _| Dbm(-50.0));
        still.varying(fading.build(&antennas, Spread::default(), 1), Some((movement, Duration::from_millis(100))))
    }

    #[test]
    fn powers_follow_the_places_of_nodes_in_steps() {
        let matrix = varying(FadingKind::None(Default::default()));
        let dbm = |ms: u64, tx, rx| {
            10.0 * libm::log10(matrix.power_mw(Time::from_nanos(ms * 1_000_000), NodeId(tx), NodeId(rx)))
        };
        let found =
            [dbm(0, 1, 0), dbm(99, 1, 0), dbm(100, 0, 1), dbm(31_999, 1, 0), dbm(32_100, 1, 0), dbm(32_100, 2, 0)];
        let expected = [-50.0, -50.0, -50.1, -81.9, -82.1, -50.0];
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9), "{found:?}");
        let heard =
            [32_000, 32_100].map(|ms: u64| matrix.hears(Time::from_nanos(ms * 1_000_000), NodeId(0), NodeId(1)));
        assert_eq!(heard, [true, false]);
    }

    #[test]
    fn nodes_on_different_channels_hear_one_another_only_while_they_share_one() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let mut matrix = Matrix::new(2, Dbm(-82.0), |_, _| Dbm(-50.0)).with_turned_channels([0, 1].into_iter());
        matrix.set_channel(at(5), NodeId(1), 0);
        matrix.set_channel(at(9), NodeId(0), 2);
        let heard = |matrix: &Matrix, ms| matrix.hears(at(ms), NodeId(1), NodeId(0));
        assert_eq!([4, 5, 8, 9].map(|ms| heard(&matrix, ms)), [false, true, true, false]);
        // A move that no PPDU on the air has seen is forgotten.
        matrix.set_channel(at(200), NodeId(1), 2);
        assert_eq!([199, 200].map(|ms| heard(&matrix, ms)), [false, true]);
        assert!(matrix.turns_channels() && matrix.hears(at(0), NodeId(1), NodeId(1)));
    }

    #[test]
    fn powers_do_not_depend_on_how_often_one_looks_nor_in_which_order() {
        let all = |matrix: &Matrix, times: &mut dyn Iterator<Item = u64>| {
            let mut found: Vec<_> = times
                .map(|t| {
                    (
                        t,
                        [(0, 1), (1, 0), (0, 2), (1, 2)]
                            .map(|(a, b)| matrix.power_mw(Time::from_nanos(t * 7_000_000), NodeId(a), NodeId(b))),
                    )
                })
                .collect();
            found.sort_by_key(|f| f.0);
            found
        };
        for fading in FadingKind::all() {
            let matrix = || varying(fading.clone());
            let forward = all(&matrix(), &mut (0..1000));
            assert_eq!(all(&matrix(), &mut (0..1000).rev()), forward, "{}", fading.name());
            let coarse = all(&matrix(), &mut (0..1000).step_by(10));
            assert!(coarse.iter().all(|found| forward[found.0 as usize] == *found), "{}", fading.name());
            assert!(forward.iter().all(|(_, powers)| powers[0] == powers[1]), "{}: both ways", fading.name());
        }
    }
}
