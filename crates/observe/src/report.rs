//! The destination of the values of metrics.

use std::fmt;
use std::marker::PhantomData;

use crate::presence::{InEveryRow, InRareSeries, InSeries, InSummary, OfFeature};
use crate::{Definition, Form, NodeId, Places, Quantity, Scope, Transport, scope};

/// The entities to measure.
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
    /// nodes that take part in PPDUs of several users; empty if none does
    pub several_users: Vec<NodeId>,
    /// whether there are interferers
    pub interferers: bool,
}

/// A value of a summary.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// a whole number
    Count(u64),
    /// a number
    Number(f64),
    /// a distribution
    List(Vec<f64>),
    /// no value, e.g. the RTT of a flow that sent nothing
    Absent,
}

/// A type of values of quantities.
pub trait Value: Sized {
    /// its form
    const FORM: Form;
    /// The type it is read back as.
    type Read<'a>;
    /// Converts it to a cell; a value that is not finite is absent.
    fn into_cell(value: Option<Self>) -> Cell;
    /// Reads a cell.
    fn read(cell: &Cell) -> Option<Self::Read<'_>>;
}

impl Value for f64 {
    const FORM: Form = Form::Number;
    type Read<'a> = f64;
    fn into_cell(value: Option<f64>) -> Cell {
        value.filter(|v| v.is_finite()).map_or(Cell::Absent, Cell::Number)
    }
    fn read(cell: &Cell) -> Option<f64> {
        if let Cell::Number(number) = cell { Some(*number) } else { None }
    }
}

impl Value for u64 {
    const FORM: Form = Form::Count;
    type Read<'a> = u64;
    fn into_cell(value: Option<u64>) -> Cell {
        value.map_or(Cell::Absent, Cell::Count)
    }
    fn read(cell: &Cell) -> Option<u64> {
        if let Cell::Count(count) = cell { Some(*count) } else { None }
    }
}

impl Value for Vec<f64> {
    const FORM: Form = Form::List;
    type Read<'a> = &'a [f64];
    /// All values are finite.
    fn into_cell(value: Option<Vec<f64>>) -> Cell {
        debug_assert!(value.iter().flatten().all(|v| v.is_finite()), "{value:?}");
        value.map_or(Cell::Absent, Cell::List)
    }
    fn read(cell: &Cell) -> Option<&[f64]> {
        if let Cell::List(values) = cell { Some(values) } else { None }
    }
}

/// The values of one entity of scope `S`, in the order in which they were put.
pub struct Row<S> {
    values: Vec<(&'static Definition, Cell)>,
    scope: PhantomData<fn() -> S>,
}

impl<S> Row<S> {
    /// Adds the value of a quantity; `None` and non-finite values are absent.
    pub fn put<V: Value, P: InEveryRow>(&mut self, quantity: Quantity<S, V, P>, value: impl Into<Option<V>>) {
        self.values.push((quantity.definition(), V::into_cell(value.into())));
    }
    /// Adds the value of a quantity of a feature that is on. A feature that is off puts nothing, so that results lack
    /// its key.
    pub fn put_of_feature<V: Value, P: OfFeature>(&mut self, quantity: Quantity<S, V, P>, value: impl Into<Option<V>>) {
        self.values.push((quantity.definition(), V::into_cell(value.into())));
    }
    /// Replaces the value of a quantity, if it was put.
    pub fn replace<V: Value, P: InSummary>(&mut self, quantity: Quantity<S, V, P>, value: V) {
        let of = self.values.iter_mut().find(|(definition, _)| definition.is(quantity.definition()));
        if let Some((_, cell)) = of {
            *cell = V::into_cell(Some(value));
        }
    }
    /// Makes the value of a quantity absent, if it was put, because it cannot be known.
    pub fn withdraw<V: Value, P: InSummary>(&mut self, quantity: Quantity<S, V, P>) {
        let of = self.values.iter_mut().find(|(definition, _)| definition.is(quantity.definition()));
        if let Some((_, cell)) = of {
            *cell = Cell::Absent;
        }
    }
    /// The value of a quantity; `None` if it is absent, or this row has no such quantity.
    pub fn get<V: Value, P: InSummary>(&self, quantity: Quantity<S, V, P>) -> Option<V::Read<'_>> {
        let (_, cell) = self.values.iter().find(|(definition, _)| definition.is(quantity.definition()))?;
        V::read(cell)
    }
    /// Every quantity with its value.
    pub fn values(&self) -> impl Iterator<Item = (&'static Definition, &Cell)> {
        self.values.iter().map(|(definition, cell)| (*definition, cell))
    }
    /// Appends the values of `other`.
    pub fn append(&mut self, mut other: Row<S>) {
        self.values.append(&mut other.values);
    }
}

impl<S> Default for Row<S> {
    fn default() -> Self {
        Row { values: Vec::new(), scope: PhantomData }
    }
}

impl<S> Clone for Row<S> {
    fn clone(&self) -> Self {
        Row { values: self.values.clone(), scope: PhantomData }
    }
}

impl<S> fmt::Debug for Row<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.values.iter().map(|(definition, cell)| (definition.name, cell))).finish()
    }
}

/// The summary of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// by flow
    pub flows: Vec<Row<scope::Flow>>,
    /// over all flows
    pub totals: Row<scope::Totals>,
    /// by node
    pub nodes: Vec<Row<scope::Node>>,
    /// by link
    pub links: Vec<Row<scope::Link>>,
    /// of the channels
    pub medium: Row<scope::Medium>,
    /// of the interface queue of each node, once the run has ended
    pub queues: Vec<Row<scope::Queue>>,
    /// of the wired link of each AP, up and down
    pub wires: Vec<[Row<scope::Wire>; 2]>,
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
            queues: Vec::new(),
            wires: Vec::with_capacity(layout.aps),
        }
    }
}

impl<S> Row<S> {
    fn clear(&mut self) {
        self.values.clear();
    }
}

impl Report {
    /// Empties the rows of metrics, and keeps their room.
    pub(crate) fn clear(&mut self) {
        self.flows.iter_mut().for_each(Row::clear);
        self.totals.clear();
        self.nodes.iter_mut().for_each(Row::clear);
        self.links.iter_mut().for_each(Row::clear);
        self.medium.clear();
    }

    /// The number of a quantity of an entity, by its index; `None` if it is absent or no number.
    pub fn number(&self, quantity: &Definition, entity: usize) -> Option<f64> {
        match quantity.scope {
            Scope::Flow => self.flows.get(entity)?.number(quantity),
            Scope::Node => self.nodes.get(entity)?.number(quantity),
            Scope::Link => self.links.get(entity)?.number(quantity),
            Scope::Totals => self.totals.number(quantity),
            Scope::Medium => self.medium.number(quantity),
            Scope::Queue | Scope::Wire | Scope::Simulator => None,
        }
    }
}

impl<S> Row<S> {
    fn number(&self, quantity: &Definition) -> Option<f64> {
        let (_, cell) = self.values.iter().find(|(definition, _)| definition.is(quantity))?;
        match cell {
            Cell::Count(count) => Some(*count as f64),
            Cell::Number(number) => Some(*number),
            Cell::List(_) | Cell::Absent => None,
        }
    }
}

/// One quantity over time for all entities of its scope that have it.
#[derive(Clone, Debug)]
pub struct SeriesBlock {
    /// its definition
    pub quantity: &'static Definition,
    /// the indices of the entities
    pub entities: Vec<u32>,
    /// row-major: times x entities; NaN where there is no value
    pub values: Vec<f64>,
    /// the number of its first sample, counted over all quantities
    first: u64,
}

/// All series of a run.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// in the order of their first sample
    pub blocks: Vec<SeriesBlock>,
    expected_samples: usize,
    /// Number of samples of all quantities.
    pushed: u64,
    /// Quantities that have been zero throughout so far.
    silent: Vec<Silence>,
}

/// A quantity that has been zero throughout.
#[derive(Clone, Debug)]
struct Silence {
    quantity: &'static Definition,
    entities: Vec<u32>,
    samples: usize,
}

/// Limit on the values reserved at once, however many samples are expected.
const MOST_RESERVED: usize = 1 << 22;

impl Series {
    /// Reserves room for this many samples, so that a series need not grow to twice its size.
    pub fn with_room_for(samples: usize) -> Self {
        Series { expected_samples: samples, ..Series::default() }
    }

    /// Appends one row of values to the block of `quantity`; the entities are those of the first row.
    pub fn push<S, V, P: InSeries>(&mut self, quantity: Quantity<S, V, P>, values: impl Iterator<Item = (u32, f64)>) {
        self.append(quantity.definition(), values);
    }

    /// The same as [`push`](Self::push) for rare events: nothing is kept until the first non-zero value.
    pub fn push_rare<S, V, P, I>(&mut self, quantity: Quantity<S, V, P>, values: I)
    where
        P: InRareSeries,
        I: Iterator<Item = (u32, f64)> + Clone,
    {
        let quantity = quantity.definition();
        let known = self.blocks.iter().any(|b| b.quantity.is(quantity));
        let place = self.silent.iter().position(|silence| silence.quantity.is(quantity));
        if !known && values.clone().all(|(_, value)| value == 0.0) {
            self.pushed += 1;
            match place {
                Some(place) => self.silent[place].samples += 1,
                None => {
                    let entities = values.map(|(entity, _)| entity).collect();
                    self.silent.push(Silence { quantity, entities, samples: 1 });
                }
            }
            return;
        }
        if let Some(place) = place.filter(|_| !known) {
            let Silence { entities, samples, .. } = self.silent.swap_remove(place);
            let zeros = vec![0.0; entities.len() * samples];
            self.begin(quantity, entities, zeros);
        }
        self.append(quantity, values);
    }

    /// Forgets all values, and keeps their room.
    pub(crate) fn clear(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.values.clear());
        self.silent.iter_mut().for_each(|silence| silence.samples = 0);
    }

    /// The only sample of a quantity of an entity; `None` if there is none, or no value.
    pub(crate) fn number(&self, quantity: &Definition, entity: u32) -> Option<f64> {
        if let Some(block) = self.blocks.iter().find(|block| block.quantity.is(quantity)) {
            let place = block.entities.iter().position(|one| *one == entity)?;
            return block.values.get(place).copied().filter(|value| value.is_finite());
        }
        let silence = self.silent.iter().find(|silence| silence.quantity.is(quantity))?;
        silence.entities.contains(&entity).then_some(0.0)
    }

    fn append(&mut self, quantity: &'static Definition, values: impl Iterator<Item = (u32, f64)>) {
        match self.blocks.iter_mut().find(|b| b.quantity.is(quantity)) {
            Some(block) => block.values.extend(values.map(|(_, v)| v)),
            None => {
                let (entities, first) = values.unzip();
                self.begin(quantity, entities, first);
            }
        }
        self.pushed += 1;
    }

    /// Begins a block with its first values.
    fn begin(&mut self, quantity: &'static Definition, entities: Vec<u32>, first: Vec<f64>) {
        let room = self.expected_samples.saturating_mul(entities.len()).min(MOST_RESERVED);
        let mut values = Vec::with_capacity(room.max(first.len()));
        values.extend(first);
        self.blocks.push(SeriesBlock { quantity, entities, values, first: self.pushed });
    }

    /// The series of a run from those of its parts, which were sampled at the same times.
    pub(crate) fn joined<'a>(parts: impl Iterator<Item = (&'a Series, &'a Places)> + Clone) -> Series {
        let mut firsts: Vec<(u64, &'static Definition)> = Vec::new();
        for block in parts.clone().flat_map(|(series, _)| &series.blocks) {
            match firsts.iter_mut().find(|(_, known)| known.is(block.quantity)) {
                Some((first, _)) => *first = block.first.min(*first),
                None => firsts.push((block.first, block.quantity)),
            }
        }
        firsts.sort_by_key(|(first, _)| *first);
        let blocks = firsts.into_iter().map(|(first, quantity)| joined_block(quantity, first, parts.clone()));
        Series { blocks: blocks.collect(), ..Series::default() }
    }
}

/// The block of a quantity that some of the parts have.
fn joined_block<'a>(
    quantity: &'static Definition,
    first: u64,
    parts: impl Iterator<Item = (&'a Series, &'a Places)>,
) -> SeriesBlock {
    let mut columns: Vec<(u32, Column<'_>)> = Vec::new();
    let mut times = 0;
    for (series, places) in parts {
        let block = series.blocks.iter().find(|block| block.quantity.is(quantity));
        let silence = series.silent.iter().find(|silence| silence.quantity.is(quantity));
        let entities = block.map(|block| &block.entities).or(silence.map(|silence| &silence.entities));
        let entities = entities.map_or(&[][..], |entities| entities);
        times = times.max(block.map_or(0, |block| block.values.len().checked_div(entities.len()).unwrap_or(0)));
        let column =
            |(place, entity): (usize, &u32)| (place_of(places, quantity.scope, *entity), Column { block, place });
        columns.extend(entities.iter().enumerate().map(column));
    }
    columns.sort_by_key(|(entity, _)| *entity);
    let values = (0..times).flat_map(|time| columns.iter().map(move |(_, column)| column.at(time))).collect();
    SeriesBlock { quantity, entities: columns.iter().map(|(entity, _)| *entity).collect(), values, first }
}

/// The place of an entity with time series.
fn place_of(places: &Places, scope: Scope, entity: u32) -> u32 {
    let of = match scope {
        Scope::Flow => &places.flows,
        Scope::Node => &places.nodes,
        Scope::Link => &places.links,
        other => unreachable!("there are no time series of {}", other.table()),
    };
    of[entity as usize]
}

/// The values of an entity over time; zeros if there is no block.
struct Column<'a> {
    block: Option<&'a SeriesBlock>,
    place: usize,
}

impl Column<'_> {
    fn at(&self, time: usize) -> f64 {
        self.block.map_or(0.0, |block| block.values[time * block.entities.len() + self.place])
    }
}
