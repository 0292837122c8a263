"""Drops of queues in the runs behind a number: at access points, at stations, on the wire.

A setting counts once for each kind of queue, by the queue that dropped the greatest share of its packets over all
seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data.queue_report import DROPPED_SHARE, queue_losses
from .measure import Missing
from .paper import Point
from .recorded import Runs
from .rehearsal import Needs

PLACES = {"AP": "APs", "station": "stations", "wired link": "wires"}


@dataclass(frozen=True)
class Loss:
    """The number of settings in which queues of one kind dropped a notable share, and the largest share."""

    place: str
    settings: int
    of: int
    most: float
    worst: str


def losses(runs: Runs, needs: Iterable[tuple[Needs, Iterable[int]]]) -> tuple[Loss, ...]:
    """The drops of each kind of queue, over all settings that `needs` read; empty without runs."""
    points: dict[Point, Sequence[int]] = {}
    for need, seeds in needs:
        seeds = tuple(seeds)
        points |= {point: seeds for point in need.points if len(seeds) > len(points.get(point, ()))}
    worst_by_point = {str(point): worst_shares(list(_documents(runs, point, seeds))) for point, seeds in points.items()}
    return tuple(_loss(PLACES[place], place, worst_by_point) for place in PLACES if any(worst_by_point.values()))


def worst_shares(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The greatest share that a queue of each kind dropped in the runs of one setting."""
    largest: dict[str, float] = {}
    for queue in queue_losses(runs):
        largest[queue.place] = max(queue.share, largest.get(queue.place, 0.0))
    return largest


def _documents(runs: Runs, point: Point, seeds: Iterable[int]) -> Iterator[Mapping[str, Any]]:
    for seed in seeds:
        try:
            yield runs.document(point, seed)
        except Missing:
            continue


def _loss(name: str, place: str, worst_by_point: Mapping[str, Mapping[str, float]]) -> Loss:
    shares = {point: worst.get(place, 0.0) for point, worst in worst_by_point.items()}
    worst = max(shares, key=shares.__getitem__)
    return Loss(name, sum(share > DROPPED_SHARE for share in shares.values()), len(shares), shares[worst], worst)
