"""What queues dropped in the runs behind a number: at access points, at stations, on the wire.

A queue's share is what it dropped over what came to it: what it dropped and what was acknowledged of what it gave on.
Packets that still wait when a run ends, and those that the MAC gave up, are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from .measure import Missing
from .needs import Needs
from .paper import Point
from .recorded import Runs

WORTH_TELLING = 0.01
PLACES = ("APs", "stations", "wire")


@dataclass(frozen=True)
class Loss:
    """In how many settings queues of one kind dropped more than is worth telling, and the most that they did."""

    place: str
    settings: int
    of: int
    most: float
    worst: str


def losses(runs: Runs, needs: Iterable[tuple[Needs, Iterable[int]]]) -> tuple[Loss, ...]:
    """One for each kind of queue, over all settings that `needs` read; nothing where they read no run."""
    points: dict[Point, list[dict[str, float]]] = {}
    for need, seeds in needs:
        seeds = tuple(seeds)
        for point in need.points:
            if point not in points:
                points[point] = list(_of_runs(runs, point, seeds))
    found = {str(point): shares for point, shares in points.items() if shares}
    return tuple(_loss(place, found) for place in PLACES) if found else ()


def _of_runs(runs: Runs, point: Point, seeds: Iterable[int]) -> Iterable[dict[str, float]]:
    for seed in seeds:
        try:
            yield shares(runs.document(point, seed))
        except Missing:
            continue


def _loss(place: str, found: dict[str, list[dict[str, float]]]) -> Loss:
    mean = {point: fmean(run[place] for run in runs) for point, runs in found.items()}
    worst = max(mean, key=mean.__getitem__)
    return Loss(place, sum(share > WORTH_TELLING for share in mean.values()), len(mean), mean[worst], worst)


def shares(run: dict[str, Any]) -> dict[str, float]:
    """The share that each kind of queue dropped in one run."""
    passed: dict[str, float] = {}
    for link in run["links"]:
        sent = link["frames_sent"] * (link["mpdus_per_ampdu_mean"] or 0.0)
        passed[link["node"]] = passed.get(link["node"], 0.0) + sent * (1 - (link["mpdu_loss_fraction"] or 0.0))
    aps = [node for node in run["nodes"] if "wired_queue_drops" in node]
    stations = [node for node in run["nodes"] if "wired_queue_drops" not in node]
    at_aps, at_stations = (sum(node["queue_drops"] for node in nodes) for nodes in (aps, stations))
    on_wire = sum(node["wired_queue_drops"] for node in aps)
    by_aps, by_stations = (sum(passed.get(node["name"], 0.0) for node in nodes) for nodes in (aps, stations))
    return {
        "APs": _share(at_aps, by_aps),
        "stations": _share(at_stations, by_stations),
        # What came over it and was not dropped went on to the APs' queues, or came from the stations.
        "wire": _share(on_wire, by_aps + at_aps + by_stations),
    }


def _share(dropped: float, passed: float) -> float:
    return dropped / (dropped + passed) if dropped else 0.0
