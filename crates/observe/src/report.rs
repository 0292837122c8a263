//! Where metrics put their values.

use crate::Transport;

/// What there is to measure.
#[derive(Clone, Debug)]
pub struct Layout {
    /// the transport and the direction (true: up) of each flow
    pub flows: Vec<(Transport, bool)>,
    /// number of nodes, the APs included
    pub nodes: usize,
    /// number of APs: the first nodes
    pub aps: usize,
    /// number of directed links
    pub links: usize,
    /// number of channels
    pub channels: usize,
}

/// A value of a summary.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// how many
    Count(u64),
    /// how much
    Number(f64),
    /// a distribution
    List(Vec<f64>),
    /// there is none, e.g. the RTT of a flow that sent nothing
    Absent,
}

/// A named list of values.
#[derive(Clone, Debug, Default)]
pub struct Row(pub Vec<(&'static str, Cell)>);

impl Row {
    /// Adds a quantity; `None` and what is not finite are absent.
    pub fn put(&mut self, name: &'static str, value: impl Into<Option<f64>>) {
        let value = value.into().filter(|v| v.is_finite());
        self.0.push((name, value.map_or(Cell::Absent, Cell::Number)));
    }
    /// Adds a count.
    pub fn put_count(&mut self, name: &'static str, count: impl Into<Option<u64>>) {
        self.0.push((name, count.into().map_or(Cell::Absent, Cell::Count)));
    }
    /// Adds a list of quantities, all of them finite.
    pub fn put_list(&mut self, name: &'static str, values: Option<Vec<f64>>) {
        debug_assert!(values.iter().flatten().all(|v| v.is_finite()), "{name}: {values:?}");
        self.0.push((name, values.map_or(Cell::Absent, Cell::List)));
    }
    /// The number called `name`.
    pub fn get(&self, name: &str) -> Option<f64> {
        let (_, cell) = self.0.iter().find(|(n, _)| *n == name)?;
        match *cell {
            Cell::Count(count) => Some(count as f64),
            Cell::Number(number) => Some(number),
            Cell::List(_) | Cell::Absent => None,
        }
    }
}

/// The summary of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// by flow
    pub flows: Vec<Row>,
    /// over all flows
    pub totals: Row,
    /// by node
    pub nodes: Vec<Row>,
    /// by link
    pub links: Vec<Row>,
    /// of the channel
    pub medium: Row,
    /// of the wired link of each AP, up and down
    pub wires: Vec<[Row; 2]>,
}

impl Report {
    /// Empty rows for everything in `layout`.
    pub fn new(layout: &Layout) -> Self {
        Report {
            flows: vec![Row::default(); layout.flows.len()],
            totals: Row::default(),
            nodes: vec![Row::default(); layout.nodes],
            links: vec![Row::default(); layout.links],
            medium: Row::default(),
            wires: Vec::with_capacity(layout.aps),
        }
    }
}

/// What kind of thing a series belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// flows
    Flow,
    /// nodes
    Node,
    /// links
    Link,
}

/// One metric over time for all entities of a scope that have it.
#[derive(Clone, Debug)]
pub struct SeriesBlock {
    /// e.g. "goodput_bps"
    pub metric: &'static str,
    /// what the entities are
    pub scope: Scope,
    /// the indices of the entities
    pub entities: Vec<u32>,
    /// row-major: times x entities; NaN where there is no value
    pub values: Vec<f64>,
}

/// All series of a run.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// in the order of their first sample
    pub blocks: Vec<SeriesBlock>,
    expected_samples: usize,
    /// Samples of metrics that were nothing but zeros so far.
    silent: Vec<(&'static str, usize)>,
}

/// No more values than this are set aside at once, however many samples are expected.
const MOST_RESERVED: usize = 1 << 22;

impl Series {
    /// Room for so many samples, so that a series need not grow to twice its size.
    pub fn with_room_for(samples: usize) -> Self {
        Series { blocks: Vec::new(), expected_samples: samples, silent: Vec::new() }
    }

    /// As [`push`](Self::push) for what rarely happens: nothing is kept until the first value that is not zero.
    pub fn push_rare<I>(&mut self, metric: &'static str, scope: Scope, values: I)
    where
        I: Iterator<Item = (u32, f64)> + Clone,
    {
        let known = self.blocks.iter().any(|b| b.metric == metric && b.scope == scope);
        let place = self.silent.iter().position(|(name, _)| *name == metric);
        if !known && values.clone().all(|(_, value)| value == 0.0) {
            match place {
                Some(place) => self.silent[place].1 += 1,
                None => self.silent.push((metric, 1)),
            }
            return;
        }
        if let Some(place) = place.filter(|_| !known) {
            for _ in 0..self.silent[place].1 {
                self.push(metric, scope, values.clone().map(|(entity, _)| (entity, 0.0)));
            }
        }
        self.push(metric, scope, values);
    }

    /// Appends one row of values to the block of `metric`; the entities are those of the first row.
    pub fn push(&mut self, metric: &'static str, scope: Scope, values: impl Iterator<Item = (u32, f64)>) {
        match self.blocks.iter_mut().find(|b| b.metric == metric && b.scope == scope) {
            Some(block) => block.values.extend(values.map(|(_, v)| v)),
            None => {
                let (entities, first): (Vec<u32>, Vec<f64>) = values.unzip();
                let room = self.expected_samples.saturating_mul(first.len()).min(MOST_RESERVED);
                let mut values = Vec::with_capacity(room.max(first.len()));
                values.extend(first);
                self.blocks.push(SeriesBlock { metric, scope, entities, values });
            }
        }
    }
}
