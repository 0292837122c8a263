"""Who used the medium: airtime of a station, sent to it or by it, as a share of all airtime, from a run of a result."""

from __future__ import annotations

from typing import Any


def shares(run: dict[str, Any]) -> dict[str, float]:
    """The share of each station's frames, both directions, in the airtime of all."""
    used: dict[str, float] = {}
    for link in run["links"]:
        station = link["peer"] if link["node"] == "ap" else link["node"]
        used[station] = used.get(station, 0.0) + link["airtime_fraction"]
    total = sum(used.values())
    return {station: airtime / total for station, airtime in used.items()}


def jain(values: list[float]) -> float:
    """Jain's index: 1 where all are equal, 1/n where one has all."""
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))
