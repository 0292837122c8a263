//! A queue discipline that is a class in Python.
//!
//! The packets stay here. Python receives objects that represent them, and decides which is next and which
//! are dropped.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_link::queue_discipline::Ticket;
use lasthop_link::{Drop, Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, QueueMaker, Wanted};
use lasthop_observe::DropReason;
use lasthop_units::{Ecn, Time};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::class::Class;
use super::instance::Instance;
use super::source::{Source, shown};

/// A waiting packet, as a Python object.
#[pyclass(name = "Packet", module = "lasthop._core")]
pub(crate) struct Waiting {
    meta: PacketMeta,
    place: usize,
    /// its number among all packets of this queue, since places are reused
    number: u64,
    marked: bool,
}

#[pymethods]
impl Waiting {
    /// Size of the IP packet in bytes.
    #[getter]
    fn bytes(&self) -> u32 {
        self.meta.bytes
    }
    /// The number of its flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.meta.flow.0
    }
    /// The number of the station at the wireless end.
    #[getter]
    fn station(&self) -> u32 {
        self.meta.station.0
    }
    /// True on the way from the station to the server.
    #[getter]
    fn up(&self) -> bool {
        self.meta.up
    }
    /// User priority, 0 to 7.
    #[getter]
    fn tid(&self) -> u8 {
        self.meta.tid
    }
    /// A TCP segment without data, SYN, FIN or RST.
    #[getter]
    fn is_tcp_ack(&self) -> bool {
        self.meta.pure_ack
    }
    /// Whether it may be marked instead of dropped. [RFC 3168]
    #[getter]
    fn is_ecn_capable(&self) -> bool {
        self.meta.ecn.is_capable()
    }
    /// Marks it with CE; True if it is ECN-capable.
    fn mark(&mut self) -> bool {
        self.marked |= self.meta.ecn.is_capable();
        self.meta.ecn.is_capable()
    }
}

/// The packets that may be taken out: an A-MPDU takes those of one station and TID, out of order.
#[pyclass(frozen, name = "Wanted", module = "lasthop._core")]
pub(crate) struct Taken(Wanted);

#[pymethods]
impl Taken {
    /// Whether this packet may be taken out.
    fn includes(&self, packet: PyRef<'_, Waiting>) -> bool {
        self.0.includes(&packet.meta)
    }
    /// Whether any packet may be taken out.
    #[getter]
    fn any(&self) -> bool {
        self.0 == Wanted::ANY
    }
}

/// The facts that a queue receives at the start.
#[pyclass(name = "QueueContext", module = "lasthop._core")]
pub(crate) struct QueueContext(Stream);

#[pymethods]
impl QueueContext {
    /// A random number from 0 up to 1; the same seed gives the same numbers.
    fn random(&mut self) -> f64 {
        self.0.unit()
    }
}

/// A queue.
struct Queue {
    instance: Instance,
    /// whether the class has a `has_room` of its own
    limits: bool,
    places: Vec<Option<(u64, Packet<Ticket>)>>,
    free: Vec<usize>,
    taken_in: u64,
    packets: u32,
    tcp_acks: u32,
    marks: u64,
}

impl Class for QueueDisciplineKind {
    const BASE: &'static str = "QueueDiscipline";

    fn maker(source: Arc<Source>) -> Result<Arc<QueueMaker>, String> {
        let limits = Python::attach(|py| source.overrides(py, "has_room"));
        Queue::new(&source, limits, Stream::new(0, "queue", 0)).instance.check()?;
        Ok(Arc::new(move |random| Box::new(Queue::new(&source, limits, random))))
    }
}

impl Queue {
    /// An empty queue.
    fn new(source: &Arc<Source>, limits: bool, random: Stream) -> Queue {
        let instance = Instance::new(source, QueueContext(random));
        let (places, free) = (Vec::new(), Vec::new());
        let (taken_in, packets, tcp_acks, marks) = (0, 0, 0, 0);
        Queue { instance, limits, places, free, taken_in, packets, tcp_acks, marks }
    }

    fn keep(&mut self, packet: Packet<Ticket>) -> Waiting {
        let place = self.free.pop().unwrap_or(self.places.len());
        let number = self.taken_in;
        self.taken_in += 1;
        let waiting = Waiting { meta: packet.meta, place, number, marked: false };
        (self.packets, self.tcp_acks) = (self.packets + 1, self.tcp_acks + u32::from(packet.meta.pure_ack));
        match self.places.get_mut(place) {
            Some(empty) => *empty = Some((number, packet)),
            None => self.places.push(Some((number, packet))),
        }
        waiting
    }

    fn take(&mut self, (place, number): (usize, u64), marked: bool) -> Packet<Ticket> {
        let waiting = self.places.get_mut(place).and_then(|place| place.take_if(|(there, _)| *there == number));
        let Some((_, mut packet)) = waiting else {
            self.instance.fail(
                "a packet was taken out or dropped that does not wait any more: it has gone out or was dropped before",
            )
        };
        self.free.push(place);
        (self.packets, self.tcp_acks) = (self.packets - 1, self.tcp_acks - u32::from(packet.meta.pure_ack));
        if marked {
            packet.meta.ecn = Ecn::Ce;
            self.marks += 1;
        }
        packet
    }

    /// Drops the packets that the instance has chosen to drop since the last call.
    fn drop_chosen(&mut self, dropped: &mut Vec<Drop<Ticket>>) {
        let chosen: Vec<((usize, u64), bool)> = self.instance.ask(|queue| {
            let list = queue.getattr(intern!(queue.py(), "_dropped"))?;
            if list.len()? == 0 {
                return Ok(Vec::new());
            }
            let of = |entry: Bound<'_, PyAny>| {
                let (packet, early): (PyRef<'_, Waiting>, bool) = entry.extract()?;
                Ok(((packet.place, packet.number), early))
            };
            let chosen = list.try_iter()?.map(|entry| of(entry?)).collect::<PyResult<_>>()?;
            list.call_method0("clear")?;
            Ok(chosen)
        });
        for (place, early) in chosen {
            let reason = if early { DropReason::Early } else { DropReason::QueueFull };
            let packet = self.take(place, false);
            dropped.push((packet, reason));
        }
    }
}

const fn seconds(now: Time) -> f64 {
    now.as_nanos() as f64 / 1e9
}

impl QueueDiscipline<Ticket> for Queue {
    fn enqueue(&mut self, now: Time, packet: Packet<Ticket>, dropped: &mut Vec<Drop<Ticket>>) {
        let waiting = self.keep(packet);
        self.instance
            .ask(|queue| queue.call_method1(intern!(queue.py(), "enqueue"), (waiting, seconds(now))).map(drop));
        self.drop_chosen(dropped);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<Ticket>>) -> Option<Packet<Ticket>> {
        if self.packets == 0 {
            return None;
        }
        let next = self.instance.ask(|queue| {
            let next = queue.call_method1(intern!(queue.py(), "dequeue"), (Taken(wanted), seconds(now)))?;
            if next.is_none() {
                return Ok(None);
            }
            let next: PyRef<'_, Waiting> = next.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "dequeue gave {}; it gives one of the packets that wait, or None",
                    shown(&next)
                ))
            })?;
            Ok(Some(((next.place, next.number), next.marked, wanted.includes(&next.meta))))
        });
        self.drop_chosen(dropped);
        let Some((place, marked, is_wanted)) = next else {
            if wanted == Wanted::ANY && self.packets > 0 {
                self.instance.fail("dequeue gave no packet although some wait and any is wanted");
            }
            return None;
        };
        if !is_wanted {
            self.instance.fail("dequeue gave a packet that was not wanted; see Wanted.includes");
        }
        Some(self.take(place, marked))
    }

    fn packets(&self) -> u32 {
        self.packets
    }

    fn tcp_acks(&self) -> u32 {
        self.tcp_acks
    }

    fn has_room(&self, bytes: u32) -> bool {
        !self.limits
            || self.instance.ask(|queue| queue.call_method1(intern!(queue.py(), "has_room"), (bytes,))?.is_truthy())
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    fn failure(&self) -> Option<&str> {
        self.instance.failure()
    }
}
