"""The link of a station, measured by a sender that always has data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from ....data.recording import Recordings, Request
from ....data.selection import matching
from ....data.temporary import TemporaryFolder
from ....study.progress import Progress
from ....study.scenario import Scenario
from ....study.simulation import simulate
from ....study.warmup import seconds

if TYPE_CHECKING:
    import numpy
    import pyarrow

Direction = Literal["up", "down"]
DIRECTIONS: tuple[Direction, ...] = ("up", "down")
NAME = "link"
PACKET_BYTES = 1500
"""IP packets of the sender."""


@dataclass(frozen=True)
class Link:
    """One direction of a station's link. Times are nanoseconds from the start of the measurement, in order."""

    station: str
    direction: Direction
    length_ns: int
    delivered_ns: list[int]
    """when each packet was delivered on the far side of the air"""
    lost_ns: list[int]
    """when each packet that never arrived was given up"""
    wire_delay_ns: int
    """one way between access point and server, not included in `delivered_ns`"""

    @property
    def loss(self) -> float:
        """Share of the packets sent over the air that never arrived."""
        return len(self.lost_ns) / max(1, len(self.lost_ns) + len(self.delivered_ns))

    @property
    def rate_bps(self) -> float:
        """IP packets delivered, in bits a second."""
        return len(self.delivered_ns) * PACKET_BYTES * 8e9 / self.length_ns


def measure(scenario: Scenario, station: str, direction: Direction, seed: int, progress: Progress) -> Link:
    """Runs the scenario with a saturating sender at the link.

    Raises `LookupError` for an unknown station, `RuntimeError` if the run fails, and `ScenarioError`.
    """
    saturated = with_sender(scenario, station, direction)
    with TemporaryFolder("lasthop-link") as folder:
        recording = (folder.path, Request(("ppdu", "carries", "drop")))
        result = simulate(saturated, [seed], 1, None, progress, recording=recording)
        if result.interrupted:
            raise KeyboardInterrupt
        for failure in result.failures:
            raise RuntimeError(failure["error"])
        recordings, flow = Recordings(folder.path), f"{station}.{NAME}"
        delivered, lost = deliveries(recordings, seed, flow), losses(recordings, seed, flow)
    described = result.scenario
    begin, end, wire = (
        round(seconds(time) * 1e9) for time in (described["warmup"], described["duration"], described["wired"]["delay"])
    )
    delivered_ns, lost_ns = ([int(t) - begin for t in times if begin <= t < end] for times in (delivered, lost))
    return Link(station, direction, end - begin, delivered_ns, lost_ns, wire)


def with_sender(scenario: Scenario, station: str, direction: Direction) -> Scenario:
    """The scenario with a saturating UDP sender instead of the station's own flows."""
    resolved = scenario.resolve()
    stations = resolved.stations()
    if station not in stations:
        matching("station", station, stations, scenario.file_name)
        raise LookupError(f"{scenario.file_name}: {station!r} is a pattern; name one station, such as {stations[0]}")
    sender = {
        "name": NAME,
        "station": station,
        "direction": direction,
        "transport": "udp",
        "rate": "saturated",
        "packet_size": f"{PACKET_BYTES} B",
    }
    others = [flow for written in scenario.to_dict().get("flow", []) for flow in _without(written, station, stations)]
    return scenario.set("flow", [*others, sender])


def _without(flow: dict[str, Any], station: str, stations: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The flow at all other stations that match its pattern."""
    # Resolved flows have both keys; a file may have only one of them.
    section = {key: value for key, value in flow.items() if key != "packet_size" or flow.get("mss") is None}
    patterns = [flow["station"]] if isinstance(flow["station"], str) else flow["station"]
    named = [name for name in stations if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if station not in named:
        yield section
        return
    yield from ({**section, "station": other} for other in named if other != station)


def deliveries(recordings: Recordings, seed: int, flow: str) -> numpy.ndarray[Any, Any]:
    """When each packet of a flow was delivered on the far side of the air, in nanoseconds; in the order of packets,
    like the delivery of a Block Ack agreement.
    """
    import numpy

    ppdus = recordings.read("ppdu", seed, "the link", ("start_ns", "duration_ns"))
    ends = ppdus["start_ns"].to_numpy() + ppdus["duration_ns"].to_numpy()
    carried = _of(recordings.read("carries", seed, "the link", ("ppdu", "flow", "packet", "packets", "decoded")), flow)
    carried = carried.filter(carried["decoded"])
    packets = carried["packets"].to_numpy()
    first = carried["packet"].to_numpy().astype(numpy.int64)
    within = numpy.arange(packets.sum()) - numpy.repeat(numpy.cumsum(packets) - packets, packets)
    numbers = numpy.repeat(first, packets) + within
    times = numpy.repeat(ends[carried["ppdu"].to_numpy()], packets)
    # A packet that arrives twice counts at its first arrival.
    _, at = numpy.unique(numbers, return_index=True)
    return numpy.maximum.accumulate(times[at]) if at.size else times


def losses(recordings: Recordings, seed: int, flow: str) -> numpy.ndarray[Any, Any]:
    """When the MAC gave up each packet of a flow that never crossed the air, in nanoseconds."""
    dropped = _of(recordings.read("drop", seed, "the link", ("t_ns", "layer", "flow", "arrived")), flow)
    layers = dropped["layer"].to_pylist()
    arrived = dropped["arrived"].to_pylist()
    times = dropped["t_ns"].to_numpy()
    lost: numpy.ndarray[Any, Any] = times[
        [layer == "mac" and not ok for layer, ok in zip(layers, arrived, strict=True)]
    ]
    return lost


def _of(table: pyarrow.Table, flow: str) -> pyarrow.Table:
    import pyarrow.compute

    return table.filter(pyarrow.compute.equal(table["flow"].cast("string"), flow))
